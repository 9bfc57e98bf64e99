package lsp

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/creachadair/jrpc2"
)

// client is the editor at the other end of the connection.
type client struct {
	ctx    context.Context
	server *jrpc2.Server // is set before the first message is read

	mu  sync.Mutex
	can clientCapabilities
}

// began keeps what the editor says that it can do.
func (c *client) began(can clientCapabilities) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.can = can
}

// notify tells the editor something. An editor that went away is told nothing.
func (c *client) notify(method string, params any) {
	_ = c.server.Notify(c.ctx, method, params)
}

// refresh has the editor ask anew for what a check may have changed, if it wants that.
func (c *client) refresh() {
	c.mu.Lock()
	of := c.can.Workspace
	c.mu.Unlock()
	if of.InlayHint.RefreshSupport {
		go c.ask("workspace/inlayHint/refresh")
	}
	if of.CodeLens.RefreshSupport {
		go c.ask("workspace/codeLens/refresh")
	}
}

// ask is a request without parameters, of which nobody reads the answer.
func (c *client) ask(method string) {
	_, _ = c.server.Callback(c.ctx, method, nil) // what it answers changes nothing
}

// tellFault writes a fault of the server to the editor's log.
func (c *client) tellFault(what string, fault any) {
	c.notify("window/logMessage", messageParams{1, fmt.Sprintf("A fault of remit in %s: %v\n%s", what, fault, debug.Stack())})
}
