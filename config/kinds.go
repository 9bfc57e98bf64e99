package config

import (
	"remit/config/eval"
)

// blockKinds lists the blocks of the language, as design section 4 orders them. Every block has a
// file of its own that makes its kind, a line here, and one in [loader.readers].
func blockKinds() []eval.Kind {
	return []eval.Kind{
		remitKind(), stateKind(), serviceKind(), sandboxKind(), variableKind(), localsKind(),
		profileKind(), assetKind(), limitKind(), policyKind(), dataBlockKind(), transferKind(), batchKind(), approvalKind(),
		calendarKind(), scheduleKind(), windowKind(),
	}
}

// readers take the blocks of each kind in.
func (l *loader) readers() map[string]func(*eval.Block) {
	return map[string]func(*eval.Block){
		"remit":    func(b *eval.Block) { l.remit = b },
		"state":    func(b *eval.Block) { l.state = b },
		"service":  func(b *eval.Block) { l.service = b },
		"sandbox":  func(b *eval.Block) { l.sandbox = b },
		"variable": l.readVariable,
		"locals":   l.readLocals,
		"profile":  l.readProfile,
		"asset":    func(b *eval.Block) { l.assets = append(l.assets, b) },
		"limit":    func(b *eval.Block) { l.limits = l.appendNamed(l.limits, b) },
		"policy":   func(b *eval.Block) { l.policies = l.appendNamed(l.policies, b) },
		"data":     l.readData,
		"transfer": func(b *eval.Block) { l.transfers = append(l.transfers, transferSource{block: b}) },
		"batch":    l.readBatch,
		"approval": l.readApproval,
		"calendar": l.readCalendar,
		"schedule": l.readSchedule,
		"window":   l.readWindow,
	}
}

// appendNamed appends a block whose name is not declared yet.
func (l *loader) appendNamed(blocks []*eval.Block, b *eval.Block) []*eval.Block {
	if !l.declareNamed(b, b.Kind+"."+b.Label(0)) {
		return blocks
	}
	return append(blocks, b)
}

// attributes are what the values of blocks have, by the roots of their references. A calendar and a
// window have none.
func attributes() map[string][]string {
	return map[string][]string{
		"profile": profileAttributes(), "schedule": scheduleAttributes(), "batch": {"name", "description"},
	}
}
