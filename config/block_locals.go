package config

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

func localsKind() blockKind {
	return blockKind{name: "locals", free: true, read: (*loader).readLocals}
}

func (l *loader) readLocals(b *block) {
	for _, a := range b.inOrder {
		if !l.checkIdentifier(a.name, a.nameAt) || !l.declare("local."+a.name, a.nameAt) {
			continue
		}
		scope := l.config.scope
		if a.broken {
			scope.add(&node{root: "local", name: a.name, at: a.nameAt, progress: failed})
			continue
		}
		scope.add(&node{
			root: "local", name: a.name, at: a.nameAt, arguments: []*argument{a},
			compute: func() (cty.Value, hcl.Diagnostics) {
				value, _, diags := scope.value(a)
				return value, diags
			},
		})
	}
}
