package cli

import (
	"context"
	"iter"

	"remit/state"
)

// unmade is the snapshot of a sandbox's state that no apply has made yet: empty.
type unmade struct{}

func (unmade) Meta() state.Meta {
	return state.Meta{Environment: state.Sandbox, Service: state.SandboxIdentity()}
}

func (unmade) Holder() (state.Holder, bool) { return state.Holder{}, false }

func (unmade) Transfers(context.Context) iter.Seq2[state.Transfer, error] {
	return func(func(state.Transfer, error) bool) {}
}

func (unmade) Outlines(context.Context) iter.Seq2[state.Outline, error] {
	return func(func(state.Outline, error) bool) {}
}

func (unmade) Details(context.Context, ...string) ([]state.Detail, error) { return nil, nil }

func (unmade) Events(context.Context, int64, string) iter.Seq2[state.Event, error] {
	return func(func(state.Event, error) bool) {}
}

func (unmade) Runs(context.Context) iter.Seq2[state.Run, error] {
	return func(func(state.Run, error) bool) {}
}

func (unmade) Jumps(context.Context) iter.Seq2[state.Jump, error] {
	return func(func(state.Jump, error) bool) {}
}

func (unmade) Clocks(context.Context) iter.Seq2[state.Event, error] {
	return func(func(state.Event, error) bool) {}
}

func (unmade) Names(context.Context) iter.Seq2[state.Name, error] {
	return func(func(state.Name, error) bool) {}
}

func (unmade) Close() error { return nil }
