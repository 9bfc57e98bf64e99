// Package lsp is a language server: what an editor shows of the files while somebody writes them.
//
// Its one invariant: it shows what the commands would say, and does nothing. It has no schema of its own, starts no
// program, asks no network, reads no state, and reads no file outside of the folders that are open in the editor.
package lsp

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/creachadair/jrpc2"
	"github.com/hashicorp/hcl/v2"

	"remit/config"
	"remit/internal/files/confined"
)

// Checked is one environment of a directory, as remit validate has it.
type Checked struct {
	Environment   string // "" where the directory has one without a name
	Configuration *config.Configuration
	Facts         map[string]*config.BlockFacts // by the address of the block; nil where the configuration has mistakes
	Diagnostics   hcl.Diagnostics               // that no earlier environment has
	Files         map[string]*hcl.File          // into which diagnostics point, by the names that they use; nil without diagnostics
}

// Checking names the directory of a check.
type Checking struct {
	Directory string
	Folder    string // of the editor; nothing outside of it is read
	Unsaved   *confined.Unsaved
	Memory    *config.Memory // of the checks of this directory
}

// Options are what the server needs of the program. All of them are required.
type Options struct {
	// Check checks a directory as remit validate does: every environment, in declaration order. An error is the end of ctx.
	// The caller closes the configurations.
	Check   func(ctx context.Context, of Checking) ([]Checked, error)
	Now     func() time.Time
	Version string
	Folder  string // that is open where the editor names none; "" for none
}

// requestsAtOnce is how many requests of an editor are answered at once.
const requestsAtOnce = 16

// errExit says that the client ended the server without asking it to shut down first.
var errExit = errors.New("the editor ended the connection without a shutdown")

// Serve answers an editor until it says exit, the input ends or ctx does. An error says that the editor broke the
// protocol: that it went away without a shutdown, or sent something that is no message.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	s := newServer(ctx, o)
	server := jrpc2.NewServer(s.methods(), &jrpc2.ServerOptions{
		AllowPush: true, DisableBuiltin: true, Concurrency: requestsAtOnce, NewContext: func() context.Context { return s.ctx },
	})
	s.notify = func(method string, params any) {
		_ = server.Notify(s.ctx, method, params) // an editor that went away is told nothing
	}
	s.ask = func(method string) {
		_, _ = server.Callback(s.ctx, method, nil) // what it answers changes nothing
	}
	s.cancelRequest = server.CancelRequest
	server.Start(newOrderly(ctx, newFrames(in, nopCloser{out})))
	done := make(chan error, 1)
	go func() { done <- server.Wait() }()
	var err error
	select {
	case err = <-done:
	case <-s.exited:
		server.Stop()
	case <-ctx.Done():
		server.Stop()
	}
	s.close()
	if !s.isShutDown() && ctx.Err() == nil && err == nil {
		err = errExit
	}
	return err
}

// nopCloser is a writer that others close.
type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
