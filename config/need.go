package config

import (
	"slices"

	"github.com/hashicorp/hcl/v2"

	"remit/config/eval"
)

// Need is what a caller of [Load] uses of a configuration.
type Need uint8

// What is needed. Where it is not NeedAll, [Configuration.Transfers] may not be called, and
// what else has a name is evaluated as far as it goes.
const (
	NeedAll      Need = iota // everything
	NeedControls             // what NeedService is, and the controls
	NeedService              // the remit, state and service blocks, and what the sandbox is where it stands in
	NeedState                // the remit and state blocks, and of the service block what has a value
)

// reads reports whether mistakes in blocks of a kind concern whoever loads.
func (l *loader) reads(kind string) bool {
	switch kind {
	case "remit", "state", "service", "variable", "locals":
		return true
	case "sandbox", "asset", "profile", "batch", "data", "calendar", "schedule", "window": // opening balances may name them
		return l.needsSandbox()
	}
	if kind == "approval" || kind == "limit" || kind == "policy" {
		return l.needsControls()
	}
	return l.config.options.Need == NeedAll
}

// needsControls reports whether what a plan is checked against concerns whoever loads.
func (l *loader) needsControls() bool { return l.config.options.Need <= NeedControls }

func (l *loader) needsSandbox() bool {
	o := l.config.options
	return o.Need == NeedAll || o.Need <= NeedService && o.Sandbox
}

// needed are the nodes whose mistakes concern whoever loads: variables, and what the blocks
// that are read refer to, directly or not. It is nil for all of them.
func (l *loader) needed() map[*eval.Node]bool {
	if l.config.options.Need == NeedAll {
		return nil
	}
	var starts []*eval.Node
	for _, v := range l.variables {
		starts = append(starts, v.Node)
	}
	blocks := []*eval.Block{l.remit, l.state, l.service}
	if l.needsSandbox() {
		blocks = append(blocks, l.sandbox)
	}
	if l.needsControls() {
		blocks = slices.Concat(blocks, l.approvals, l.limits, l.policies)
		if slices.ContainsFunc(l.policies, func(b *eval.Block) bool { return b.Arguments["only_profiles"] != nil }) {
			starts = append(starts, l.profileNodes(true)...)
			starts = append(starts, l.profileNodes(false)...)
		}
	}
	for _, b := range blocks {
		if b == nil {
			continue
		}
		for _, a := range b.All() {
			refs, _ := l.config.scope.Resolve(a.Expr, eval.WideReach()) // reported where the block is evaluated
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

// reportOf reports what was found in a node, where that concerns whoever loads.
func (l *loader) reportOf(n *eval.Node, needed map[*eval.Node]bool, diags hcl.Diagnostics) {
	if needed == nil || needed[n] {
		l.report(diags...)
	}
}
