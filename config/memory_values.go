package config

import (
	"reflect"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
	"remit/config/functions"
	"remit/config/syntax"
)

// keeper compares the values of one check with those of which a memory has something.
type keeper struct {
	memory   *environmentMemory
	scope    *eval.Scope
	versions map[*eval.Node]uint64                      // of the values in the scope; 0 for one that has none
	batch    func(name string) (of batchState, ok bool) // false where nothing may be kept of its transfers
}

// namedValue is a value that an expression names, in one of its versions.
type namedValue struct {
	address string
	version uint64
}

// knownValue is the newest version of a value that has a name.
type knownValue struct {
	version uint64
	used    uint64 // the last check that asked for it
	state   valueState
}

// valueState is all of a node that a transfer which names it may hang on.
type valueState struct {
	value     cty.Value
	sensitive bool
	policy    bool
	book      string
	batch     batchState
}

// batchState is what a transfer has from its batch beside the value that names it. Its zero value is of no batch.
type batchState struct {
	notBefore, expires, within string
	window                     any // a [Window]; two are equal where they are made of the same
}

// versionOf is the version of a node's value; false where nothing may be kept that was made with it: it has no value, or one
// of which two can't be compared.
func (k *keeper) versionOf(n *eval.Node) (uint64, bool) {
	if version, isKnown := k.versions[n]; isKnown {
		return version, version != 0
	}
	version := uint64(0)
	if state, ok := k.stateOf(n); ok {
		m := k.memory
		known := m.values[n.Address()]
		if known == nil || !known.state.equal(state) {
			m.version++
			known = &knownValue{version: m.version, state: state}
			m.values[n.Address()] = known
		}
		known.used, version = m.check, known.version
	}
	k.versions[n] = version
	return version, version != 0
}

func (k *keeper) stateOf(n *eval.Node) (valueState, bool) {
	if n.Progress != eval.Known || n.Root == "data" || n.Root == "schedule" || n.Demand != nil || n.Value == cty.NilVal {
		return valueState{}, false
	}
	state := valueState{value: n.Value, sensitive: n.Sensitive, policy: n.Policy}
	if n.Book != nil {
		state.book = n.Book.Name
	}
	if n.Root != "batch" {
		return state, true
	}
	var ok bool
	state.batch, ok = k.batch(n.Name)
	return state, ok
}

func (s valueState) equal(other valueState) bool {
	a, b := s.batch, other.batch
	windows := [2]any{a.window, b.window}
	a.window, b.window = nil, nil
	return s.sensitive == other.sensitive && s.policy == other.policy && s.book == other.book && a == b &&
		sameValue(s.value, other.value) && reflect.DeepEqual(windows[0], windows[1])
}

// sameValue reports whether two values are equal, marks and types included. Two windows, or two calendars, are equal where they
// are made of the same.
func sameValue(a, b cty.Value) bool {
	if a.RawEquals(b) {
		return true
	}
	ty := a.Type()
	if !ty.IsCapsuleType() || !ty.Equals(b.Type()) || a.IsMarked() || b.IsMarked() || a.IsNull() || b.IsNull() || !a.IsKnown() || !b.IsKnown() {
		return false
	}
	return reflect.DeepEqual(a.EncapsulatedValue(), b.EncapsulatedValue())
}

// valuesOf are the versions of nodes, in their order; false where one of them has none.
func (k *keeper) valuesOf(all []namedValue, nodes []*eval.Node) ([]namedValue, bool) {
	for _, n := range nodes {
		version, ok := k.versionOf(n)
		if !ok {
			return nil, false
		}
		all = append(all, namedValue{n.Address(), version})
	}
	return all, true
}

// nodeAt is the node that an expression names so; nil for none.
func (k *keeper) nodeAt(address string) *eval.Node {
	root, name, _ := strings.Cut(address, ".")
	return k.scope.Nodes[root][name]
}

// current reports whether the values are still those that were named.
func (k *keeper) current(values []namedValue) bool {
	for _, v := range values {
		n := k.nodeAt(v.address)
		if n == nil {
			return false
		}
		if version, ok := k.versionOf(n); !ok || version != v.version {
			return false
		}
	}
	return true
}

// isKeepable reports whether an expression computes with the values that it names and nothing else: with no file.
func isKeepable(a *eval.Argument) bool {
	if _, isText := syntax.LiteralText(a.Expr); isText {
		return true
	}
	if _, isName := a.Expr.(*hclsyntax.ScopeTraversalExpr); isName {
		return true
	}
	return !hclsyntax.VisitAll(a.Expr, func(node hclsyntax.Node) hcl.Diagnostics {
		if call, ok := node.(*hclsyntax.FunctionCallExpr); ok && functions.ReadsFiles(call.Name) {
			return hcl.Diagnostics{&hcl.Diagnostic{Severity: hcl.DiagError}}
		}
		return nil
	}).HasErrors()
}
