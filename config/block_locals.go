package config

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
)

func localsKind() eval.Kind {
	return eval.Kind{Name: "locals", Free: true, Shared: true}
}

func readLocals(c *checker, b *eval.Block) {
	for _, a := range b.InOrder {
		if !c.checkIdentifier(a.Name, a.NameAt) || !c.declare("local."+a.Name, a.NameAt) {
			continue
		}
		scope := c.scope
		if a.Broken {
			scope.Add(&eval.Node{Root: "local", Name: a.Name, At: a.NameAt, Progress: eval.Failed})
			continue
		}
		scope.Add(&eval.Node{
			Root: "local", Name: a.Name, At: a.NameAt, Arguments: []*eval.Argument{a},
			Compute: func() (cty.Value, hcl.Diagnostics) {
				value, _, diags := scope.Value(a)
				return value, diags
			},
		})
	}
}
