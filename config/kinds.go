package config

import (
	"remit/config/eval"
)

// blockKinds lists the blocks of the language in the order in which documents and lists of blocks show them.
// Every block has a file of its own that makes its kind, a line here, and one in [loader.readers].
func blockKinds() []eval.Kind {
	return []eval.Kind{
		remitKind(), environmentKind(), stateKind(), serviceKind(), sandboxKind(), variableKind(), localsKind(),
		profileKind(), assetKind(), limitKind(), policyKind(), dataBlockKind(), transferKind(), batchKind(), approvalKind(),
		calendarKind(), scheduleKind(), windowKind(),
	}
}

// attributes are what the values of blocks have, by the roots of their references. A calendar and a
// window have none.
func attributes() map[string][]string {
	return map[string][]string{
		"profile": profileAttributes(), "schedule": scheduleAttributes(), "batch": {"name", "description"},
	}
}
