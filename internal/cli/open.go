package cli

import (
	"context"

	"remit/config"
	"remit/internal/cli/host"
	"remit/internal/cli/terminal"
	"remit/internal/cli/workspace"
	"remit/state"
)

// opened is a configuration together with the state that it is bound to and the service that it names.
type opened struct {
	host    *host.Host
	streams *terminal.Streams
	dir     *workspace.Directory
	config  *config.Configuration
	state   *workspace.State
	service *workspace.Service
}

func newOpened(p *process, dir workspace.Directory, loaded *config.Configuration) *opened {
	st := workspace.NewState(p.host, p.streams, &dir, loaded)
	sv := workspace.NewService(st)
	sv.OnRequest = p.onRequest
	return &opened{host: p.host, streams: p.streams, dir: &dir, config: loaded, state: st, service: sv}
}

// open reads the configuration and finds out which state it is bound to. Nothing is made.
func open(p *process, dir *workspace.Directory) (*opened, error) {
	if err := dir.CheckPractice(); err != nil {
		return nil, err
	}
	loaded, err := workspace.Load(p.ctx, p.host, p.streams, dir)
	if err != nil {
		return nil, err
	}
	w := newOpened(p, *dir, loaded)
	return w, w.state.Find()
}

// openInto is open behind [writeInto]: the file has the mistakes of the configuration as well.
func openInto(p *process, dir *workspace.Directory, into string) (*opened, error) {
	if err := writeInto(p.streams, dir, into); err != nil {
		return nil, err
	}
	return open(p, dir)
}

// openRead opens the state for reading as well, until done is called.
func openRead(ctx context.Context, p *process, dir *workspace.Directory) (w *opened, snapshot state.Snapshot, done func(), err error) {
	if w, err = open(p, dir); err != nil {
		return nil, nil, nil, err
	}
	snapshot, done, err = w.state.Read(ctx)
	return w, snapshot, done, err
}
