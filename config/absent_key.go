package config

import (
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
	"remit/config/mistake"
)

// absentKey explains an expression of a policy that reads a key which a map of its subject does not have, such as one of metadata, and says
// how it is read where it may be missing; "" where no such key is found.
func absentKey(expr hclsyntax.Expression, scope PolicyScope, subject cty.Value) string {
	for _, path := range expr.Variables() {
		if len(path) < 3 || path.RootName() != scope.subject() {
			continue
		}
		attribute, isAttribute := eval.StepName(path[1], true)
		key, isKey := eval.StepName(path[2], true)
		if !isAttribute || !isKey || !subject.Type().IsObjectType() || !subject.Type().HasAttribute(attribute) {
			continue
		}
		of := subject.GetAttr(attribute)
		if of.IsNull() || !of.IsKnown() || !of.Type().IsMapType() && !of.Type().IsObjectType() {
			continue
		}
		has := slices.Sorted(maps.Keys(of.AsValueMap()))
		if slices.Contains(has, key) {
			continue
		}
		return missingKey(scope.subject()+"."+attribute, key, has, len(path) == 3 && isOfText(scope, attribute))
	}
	return ""
}

// isOfText reports whether a map of a policy's subject has texts, of which one stands for a missing one.
func isOfText(scope PolicyScope, attribute string) bool {
	return scope == ScopeTransfer || attribute == "totals"
}

// missingKey says that a map has no such key, which one is meant, and how one is read that may be missing.
func missingKey(of, key string, has []string, isText bool) string {
	text := fmt.Sprintf("%s has no key %q.", of, key)
	if of == "plan.transfers" {
		text += " Its keys are the ref_ids of the lines of the plan."
	}
	const shown = 10
	if near := mistake.DidYouMean(key, has); near != "" {
		text += near
	} else if len(has) > 0 {
		text += fmt.Sprintf(" It has %s.", mistake.Listed(mistake.QuotedAll(has), shown))
	}
	otherwise := `""`
	switch {
	case !isText:
		return text + fmt.Sprintf(" Where it may be missing, write can(%s[%q]) before it.", of, key)
	case of == "plan.totals":
		otherwise = `"0"`
	}
	return text + fmt.Sprintf(" Where it may be missing, write lookup(%s, %q, %s).", of, key, otherwise)
}
