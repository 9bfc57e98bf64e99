package workspace

import (
	"context"
	"iter"

	"remit/state"
)

// empty is the snapshot of a sandbox's state before its first apply.
type empty struct{ environment string }

// Meta has the environment, and the identity of every sandbox.
func (e empty) Meta() state.Meta {
	return state.Meta{Environment: e.environment, Service: state.SandboxIdentity()}
}

// Holder returns false: nobody holds a lock of it.
func (empty) Holder() (state.Holder, bool) { return state.Holder{}, false }

// Transfers yields nothing, and no error, as all iterators below.
func (empty) Transfers(context.Context) iter.Seq2[state.Transfer, error] {
	return func(func(state.Transfer, error) bool) {}
}

// Outlines yields nothing.
func (empty) Outlines(context.Context) iter.Seq2[state.Outline, error] {
	return func(func(state.Outline, error) bool) {}
}

// Details knows no ref_id.
func (empty) Details(context.Context, ...string) ([]state.Detail, error) { return nil, nil }

// Events yields nothing: there is no journal.
func (empty) Events(context.Context, int64, string) iter.Seq2[state.Event, error] {
	return func(func(state.Event, error) bool) {}
}

// Runs yields nothing.
func (empty) Runs(context.Context) iter.Seq2[state.Run, error] {
	return func(func(state.Run, error) bool) {}
}

// Jumps yields nothing.
func (empty) Jumps(context.Context) iter.Seq2[state.Jump, error] {
	return func(func(state.Jump, error) bool) {}
}

// Clocks yields nothing.
func (empty) Clocks(context.Context) iter.Seq2[state.Event, error] {
	return func(func(state.Event, error) bool) {}
}

// Told yields nothing.
func (empty) Told(context.Context) iter.Seq2[state.Event, error] {
	return func(func(state.Event, error) bool) {}
}

// Names yields nothing.
func (empty) Names(context.Context) iter.Seq2[state.Name, error] {
	return func(func(state.Name, error) bool) {}
}

func (empty) Close() error { return nil }
