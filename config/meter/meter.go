// Package meter bounds what the evaluation of expressions may cost, in steps and not in
// seconds, so that a configuration is evaluated on every machine or on none, and lets an
// interrupt end an evaluation in its middle.
//
// A step is one part of an expression in one pass of a loop, one element of a value that is
// compared, converted or handed to a function, or BytesAStep bytes of text. Values share
// their parts, so a short text may make a value that is huge for a function that walks it; a value
// is weighed before anything walks it.
package meter

import (
	"fmt"
	"sync/atomic"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

const (
	// StepsMax bounds everything that is evaluated once: named values and arguments of blocks. It
	// keeps the memory below a gigabyte and the time below some seconds.
	StepsMax = 10_000_000
	// RowStepsMax bounds the evaluation for one transfer, row, or subject of a policy.
	RowStepsMax = 1_000_000

	// BytesAStep is how much text is made in a step.
	BytesAStep = 16
)

// Meter counts the steps of one configuration. A nil Meter bounds nothing. Several goroutines
// may use it at once.
type Meter struct {
	left atomic.Int64
	over atomic.Pointer[hcl.Diagnostic]
	done <-chan struct{}
}

// New returns a meter with [StepsMax]. Where done is closed, evaluation ends; nil never is.
func New(done <-chan struct{}) *Meter {
	m := &Meter{done: done}
	m.left.Store(StepsMax)
	return m
}

// Begin lets the next evaluation take so many steps, and returns how many were left before, for
// [Meter.Resume]. A meter that is over stays over.
func (m *Meter) Begin(steps int64) (before int64) {
	if m == nil {
		return 0
	}
	return m.left.Swap(steps)
}

// Resume goes on with the steps that [Meter.Begin] returned.
func (m *Meter) Resume(before int64) {
	if m != nil {
		m.left.Store(before)
	}
}

// Aside lets f evaluate with [StepsMax] of its own, of which nothing is counted. Where f takes more, its own evaluation ends, and that
// of the configuration goes on.
func (m *Meter) Aside(f func()) {
	if m == nil {
		f()
		return
	}
	over, before := m.over.Load(), m.left.Swap(StepsMax)
	f()
	m.left.Store(before)
	m.over.Store(over)
}

// Left is how many steps may still be taken.
func (m *Meter) Left() int64 {
	if m == nil {
		return 0
	}
	return m.left.Load()
}

// Reset forgets the steps so far, and that they were too many.
func (m *Meter) Reset() {
	m.over.Store(nil)
	m.left.Store(StepsMax)
}

// Over is why evaluation ended; nil while it goes on.
func (m *Meter) Over() *hcl.Diagnostic {
	if m == nil {
		return nil
	}
	return m.over.Load()
}

// Interrupted reports whether done is closed.
func (m *Meter) Interrupted() bool {
	if m == nil {
		return false
	}
	select {
	case <-m.done:
		return true
	default:
		return false
	}
}

// Spend takes steps, and reports false where evaluation is to end, which then was at a place
// of the configuration; nil for an unknown one.
func (m *Meter) Spend(steps int64, at *hcl.Range) bool {
	switch {
	case m == nil:
		return true
	case m.over.Load() != nil:
		return false
	case m.Interrupted():
		m.over.CompareAndSwap(nil, &hcl.Diagnostic{
			Severity: hcl.DiagError, Summary: "Interrupted", Subject: at,
			Detail: "Evaluation was interrupted before all values were known.",
		})
		return false
	case m.left.Add(-steps) < 0:
		m.over.CompareAndSwap(nil, tooMuch(at))
		return false
	}
	return true
}

func tooMuch(at *hcl.Range) *hcl.Diagnostic {
	return &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: "Evaluation takes too many steps", Subject: at,
		Detail: fmt.Sprintf("Expressions may take %d million steps in all, and %d million for each transfer or row: "+
			"a step is a part of a loop's body in one pass, an element of a value, or %d bytes of text. "+
			"Loop over fewer elements, or make a value of which fewer copies are needed.",
			StepsMax/1_000_000, RowStepsMax/1_000_000, BytesAStep),
	}
}

// Weigh takes a step for every share-th element of a value, however deep, and for its text.
func (m *Meter) Weigh(value cty.Value, share int64, at *hcl.Range) bool {
	if m == nil {
		return true
	}
	if text, ok := plainText(value); ok {
		return m.Spend(1+int64(len(text))/(BytesAStep*share), at)
	}
	if value == cty.NilVal || value.Type().IsPrimitiveType() {
		return m.Over() == nil
	}
	w := walk{most: max(m.left.Load(), 0)*share + 1}
	w.value(value)
	return m.Spend(w.steps/share, at)
}

// plainText is the text that a value is without a mark.
func plainText(value cty.Value) (string, bool) {
	if value == cty.NilVal || value.Type() != cty.String || value.IsMarked() || !value.IsKnown() || value.IsNull() {
		return "", false
	}
	return value.AsString(), true
}

// walk counts the elements of a value until they are too many.
type walk struct{ steps, most int64 }

func (w *walk) value(value cty.Value) {
	w.steps++
	if value == cty.NilVal || w.steps > w.most {
		return
	}
	value, _ = value.Unmark()
	if text, ok := plainText(value); ok {
		w.steps += int64(len(text)) / BytesAStep
		return
	}
	if value.IsNull() || !value.CanIterateElements() {
		return
	}
	if ty := value.Type(); ty.IsSetType() && ty.ElementType().IsPrimitiveType() {
		w.steps += int64(value.LengthInt()) // to look through a set sorts it; its texts were weighed where they were made
		return
	}
	for it := value.ElementIterator(); w.steps <= w.most && it.Next(); {
		_, element := it.Element()
		w.value(element)
	}
}
