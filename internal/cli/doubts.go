package cli

import (
	"context"
	"sync"

	"remit/executor"
	"remit/internal/doubt"
	"remit/state"
)

// tooOld says of doubts what the next apply on this machine says of their age. It reads earlier runs once, at the
// first doubt, and only while the snapshot is open.
func tooOld(ctx context.Context, w *opened, snapshot state.Snapshot) func(*state.Detail) (doubt.Hold, error) {
	read := sync.OnceValues(func() (*executor.DoubtAges, error) {
		service := w.config.Service
		return executor.ReadDoubtAges(ctx, snapshot.Runs(ctx), w.host.Clock(), executor.Settings{
			ReplayWindow: service.ReplayWindow, RequestTimeout: service.Timeout,
		})
	})
	return func(d *state.Detail) (doubt.Hold, error) {
		ages, err := read()
		if err != nil {
			return doubt.Hold{}, w.state.Error(err)
		}
		return ages.TooOld(d), nil
	}
}

// doubtsOf describes doubts as far as the state and this machine's clock can tell, while the snapshot is open.
func doubtsOf(ctx context.Context, w *opened, snapshot state.Snapshot) func(*state.Detail) (doubt.Doubt, error) {
	old := tooOld(ctx, w, snapshot)
	return func(d *state.Detail) (u doubt.Doubt, err error) {
		u = doubt.Of(d, w.service.CanLookUp())
		switch {
		case u.Hold.Holds():
		case w.config.Service.HoldDoubt:
			u.Hold = doubt.OnDoubt()
		default:
			u.Hold, err = old(d)
		}
		return u, err
	}
}
