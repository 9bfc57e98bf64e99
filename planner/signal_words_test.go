package planner_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"remit/config"
)

// A policy may name each signal that a plan can have, and no other.
func TestPoliciesNameTheSignalsOfPlans(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "signals.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	ast.Inspect(file, func(node ast.Node) bool {
		if spec, isSpec := node.(*ast.ValueSpec); isSpec {
			if name, isName := spec.Type.(*ast.Ident); isName && name.Name == "SignalKind" {
				text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
				if err != nil {
					t.Error(err)
				}
				kinds = append(kinds, text)
			}
		}
		return true
	})
	words := slices.Sorted(slices.Values(config.Words("policy", "signals")))
	slices.Sort(kinds)
	if diff := cmp.Diff(kinds, words); diff != "" || len(kinds) == 0 {
		t.Errorf("signals of plans, and those that a policy may name (-plans +policies):\n%s", diff)
	}
}
