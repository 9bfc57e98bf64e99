package config

import (
	"slices"

	"github.com/hashicorp/hcl/v2"

	"remit/config/eval"
)

// needed are the nodes whose mistakes concern the caller: variables, and what the blocks that are
// read refer to, directly or not. It is nil for all of them.
func (l *loader) needed() map[*eval.Node]bool {
	if l.config.options.Need == NeedAll {
		return nil
	}
	var starts []*eval.Node
	for _, v := range l.variables.all {
		starts = append(starts, v.Node)
	}
	blocks := []*eval.Block{l.remit, l.state, l.service}
	if l.config.options.needsSandbox() {
		blocks = append(blocks, l.sandbox)
	}
	if l.config.options.needsControls() {
		blocks = slices.Concat(blocks, l.approvals, l.limits, l.policies)
		if slices.ContainsFunc(l.policies, func(b *eval.Block) bool { return b.Arguments["only_profiles"] != nil }) {
			starts = append(starts, profileNodes(l.scope, true)...)
			starts = append(starts, profileNodes(l.scope, false)...)
		}
	}
	for _, b := range blocks {
		if b == nil {
			continue
		}
		for _, a := range b.All() {
			refs, _ := l.scope.Resolve(a.Expr, eval.WideReach()) // reported where the block is evaluated
			starts = append(starts, refs.Nodes...)
		}
	}
	reached, _ := eval.Walk(starts, (*eval.Node).Dependencies) // so are cycles
	needed := make(map[*eval.Node]bool, len(reached))
	for _, n := range reached {
		needed[n] = true
	}
	return needed
}

// reportOf reports the mistakes of a node that the caller of Load needs.
func (l *loader) reportOf(n *eval.Node, needed map[*eval.Node]bool, diags hcl.Diagnostics) {
	if needed == nil || needed[n] {
		l.report(diags...)
	}
}
