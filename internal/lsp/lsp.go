// Package lsp is a language server: what an editor shows of the files while somebody writes them.
//
// Its one invariant: it shows what the commands would say, and does nothing. It has no schema of its own, starts no
// program, asks no network, reads no state, and reads no file outside of the folders that are open in the editor.
package lsp

import (
	"context"
	"errors"
	"io"

	"github.com/creachadair/jrpc2"
)

// requestsAtOnce is how many requests of an editor are answered at once.
const requestsAtOnce = 16

// errExit says that the client ended the server without asking it to shut down first.
var errExit = errors.New("the editor ended the connection without a shutdown")

// Serve answers an editor until it says exit, the input ends or ctx does. An error says that the editor broke the
// protocol: that it went away without a shutdown, or sent something that is no message.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	of, cancel := context.WithCancel(ctx)
	c, methods := newServer(of, o)
	server := jrpc2.NewServer(methods, &jrpc2.ServerOptions{
		AllowPush: true, DisableBuiltin: true, Concurrency: requestsAtOnce, NewContext: func() context.Context { return of },
	})
	c.client.server = server
	server.Start(newOrderly(ctx, newFrames(in, nopCloser{out})))
	done := make(chan error, 1)
	go func() { done <- server.Wait() }()
	var err error
	select {
	case err = <-done:
	case <-c.exited:
		server.Stop()
	case <-ctx.Done():
		server.Stop()
	}
	cancel()
	c.close()
	if !c.isShutDown() && ctx.Err() == nil && err == nil {
		err = errExit
	}
	return err
}

// nopCloser is a writer that others close.
type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
