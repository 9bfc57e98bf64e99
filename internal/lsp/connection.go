package lsp

import (
	"context"
	"encoding/json"
	"path/filepath"
	"sync"

	"github.com/creachadair/jrpc2"
)

// connection is the life of one connection with an editor: it begins with initialize, and ends with shutdown and exit.
type connection struct {
	options Options
	client  *client
	folders *folders
	checks  *checks
	search  *search
	exited  chan struct{}

	mu       sync.Mutex
	began    bool
	shutDown bool
}

// close ends the checks under way, and waits for them. The context of the connection has ended.
func (c *connection) close() {
	c.search.running.Wait()
	c.checks.close()
}

func (c *connection) isShutDown() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shutDown
}

// errNotInitialized and errInvalidRequest are the protocol's answers to messages at the wrong time.
var (
	errNotInitialized = jrpc2.Errorf(-32002, "initialize comes first")
	errInvalidRequest = jrpc2.Errorf(jrpc2.InvalidRequest, "the server was shut down")
)

// on is a method that is allowed between initialize and shutdown. A fault of the server is the answer to one request, and
// no end.
func on[P any](c *connection, answer func(ctx context.Context, params *P) (any, error)) jrpc2.Handler {
	return c.guarded(func(ctx context.Context, r *jrpc2.Request) (result any, err error) {
		var params P
		if r.HasParams() {
			if err := r.UnmarshalParams(&params); err != nil {
				return nil, jrpc2.Errorf(jrpc2.InvalidParams, "%v", err)
			}
		}
		return answer(ctx, &params)
	})
}

func (c *connection) guarded(answer jrpc2.Handler) jrpc2.Handler {
	return c.recovered(func(ctx context.Context, r *jrpc2.Request) (any, error) {
		c.mu.Lock()
		began, shutDown := c.began, c.shutDown
		c.mu.Unlock()
		switch {
		case r.IsNotification() && (!began || shutDown):
			return nil, nil // nobody answers a notification
		case !began:
			return nil, errNotInitialized
		case shutDown:
			return nil, errInvalidRequest
		}
		return answer(ctx, r)
	})
}

func (c *connection) recovered(answer jrpc2.Handler) jrpc2.Handler {
	return func(ctx context.Context, r *jrpc2.Request) (result any, err error) {
		defer func() {
			if fault := recover(); fault != nil {
				c.client.tellFault(r.Method(), fault)
				result, err = nil, jrpc2.Errorf(jrpc2.InternalError, "a fault of remit: %v", fault)
			}
		}()
		return answer(ctx, r)
	}
}

func ignored(context.Context, *json.RawMessage) (any, error) { return nil, nil }

func (c *connection) initialize(_ context.Context, r *jrpc2.Request) (any, error) {
	var params initializeParams
	if err := r.UnmarshalParams(&params); err != nil {
		return nil, jrpc2.Errorf(jrpc2.InvalidParams, "%v", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.began {
		return nil, jrpc2.Errorf(jrpc2.InvalidRequest, "initialize comes once")
	}
	c.began = true
	c.client.began(params.Capabilities)
	for _, f := range params.WorkspaceFolders {
		c.folders.add(f.URI)
	}
	if len(params.WorkspaceFolders) == 0 {
		c.folders.add(params.RootURI)
	}
	if folder, err := filepath.Abs(c.options.Folder); c.options.Folder != "" && err == nil {
		c.folders.addFirst(folder)
	}
	return initializeResult{capabilitiesOfServer(), serverInfo{"remit", c.options.Version}}, nil
}

func capabilitiesOfServer() capabilities {
	return capabilities{
		PositionEncoding: "utf-16",
		TextDocumentSync: syncOptions{OpenClose: true, Change: syncIncremental, Save: true},
		Workspace:        workspaceCaps{foldersCaps{Supported: true, ChangeNotifications: true}},
		Completion:       completionCaps{[]string{".", "\"", "{"}}, Signature: completionCaps{[]string{"(", ","}},
		Hover: true, Formatting: true, Definition: true, References: true, Symbols: true, InlayHints: true, CodeActions: true,
		Rename: renameCaps{true}, CodeLens: struct{}{}, Tokens: tokensCaps{tokensLegend{tokenTypes, []string{}}, true},
	}
}

func (c *connection) initialized(context.Context, *json.RawMessage) (any, error) {
	c.search.begin()
	return nil, nil
}

func (c *connection) shutdown(context.Context, *jrpc2.Request) (any, error) {
	c.mu.Lock()
	c.shutDown = true
	c.mu.Unlock()
	c.checks.end()
	return nil, nil
}

func (c *connection) exit(context.Context) error {
	select {
	case <-c.exited:
	default:
		close(c.exited)
	}
	return nil
}

// cancelled ends a request that the editor does not wait for any more.
func (c *connection) cancelled(_ context.Context, r *jrpc2.Request) error {
	var params struct {
		ID json.RawMessage `json:"id"`
	}
	if err := r.UnmarshalParams(&params); err != nil {
		return err
	}
	c.client.server.CancelRequest(string(params.ID))
	return nil
}
