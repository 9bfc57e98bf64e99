package workspace

import (
	"context"
	"iter"

	"remit/state"
)

// empty is the snapshot of a sandbox's state before its first apply.
type empty struct{ environment string }

func (e empty) Meta() state.Meta {
	return state.Meta{Environment: e.environment, Service: state.SandboxIdentity()}
}

func (empty) Holder() (state.Holder, bool) { return state.Holder{}, false }

func (empty) Transfers(context.Context) iter.Seq2[state.Transfer, error] {
	return func(func(state.Transfer, error) bool) {}
}

func (empty) Outlines(context.Context) iter.Seq2[state.Outline, error] {
	return func(func(state.Outline, error) bool) {}
}

func (empty) Details(context.Context, ...string) ([]state.Detail, error) { return nil, nil }

func (empty) Events(context.Context, int64, string) iter.Seq2[state.Event, error] {
	return func(func(state.Event, error) bool) {}
}

func (empty) Runs(context.Context) iter.Seq2[state.Run, error] {
	return func(func(state.Run, error) bool) {}
}

func (empty) Jumps(context.Context) iter.Seq2[state.Jump, error] {
	return func(func(state.Jump, error) bool) {}
}

func (empty) Clocks(context.Context) iter.Seq2[state.Event, error] {
	return func(func(state.Event, error) bool) {}
}

func (empty) Names(context.Context) iter.Seq2[state.Name, error] {
	return func(func(state.Name, error) bool) {}
}

func (empty) Close() error { return nil }
