package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/handler"
)

// server is one connection with an editor.
type server struct {
	options       Options
	ctx           context.Context
	cancel        context.CancelFunc
	notify        func(method string, params any)
	ask           func(method string) // a request without parameters, of which nobody reads the answer
	cancelRequest func(id string)
	exited        chan struct{}
	running       sync.WaitGroup // checks and searches

	outlining sync.Mutex // is held before mu
	mu        sync.Mutex
	began     bool
	shutDown  bool
	over      bool
	client    initializeParams
	folders   []string             // absolute
	documents map[string]*document // by path, or by URI where they are no files
	projects  map[string]*project  // by directory
	shown     map[string]string    // the last diagnostics of a URI
	outlines  map[string]*outline  // by path
	includers map[string][]string  // the directories that include one
	turn      chan struct{}        // the check under way holds its one place
}

func newServer(ctx context.Context, o Options) *server {
	s := &server{
		options: o, exited: make(chan struct{}), documents: map[string]*document{}, projects: map[string]*project{},
		shown: map[string]string{}, includers: map[string][]string{}, outlines: map[string]*outline{}, turn: make(chan struct{}, 1),
	}
	s.ctx, s.cancel = context.WithCancel(ctx)
	return s
}

// close ends the checks and answers under way, and waits for them.
func (s *server) close() {
	s.cancel()
	s.mu.Lock()
	s.over = true
	for _, p := range s.projects {
		p.stop()
	}
	s.mu.Unlock()
	s.running.Wait()
	for _, p := range s.projects {
		p.snapshot.close()
	}
}

// dropProjects forgets the checks of other folders. It is called with mu held.
func (s *server) dropProjects() {
	for directory, p := range s.projects {
		if s.folderHolding(directory) == "" {
			p.stop()
			p.shown = nil
			delete(s.projects, directory)
			go p.snapshot.close()
		}
	}
	s.publish()
}

func (s *server) isShutDown() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shutDown
}

// errNotInitialized and errInvalidRequest are the protocol's answers to messages at the wrong time.
var (
	errNotInitialized = jrpc2.Errorf(-32002, "initialize comes first")
	errInvalidRequest = jrpc2.Errorf(jrpc2.InvalidRequest, "the server was shut down")
)

// methods are what the server answers to.
func (s *server) methods() handler.Map {
	methods := handler.Map{
		"initialize":                          s.first(s.initialize),
		"initialized":                         on(s, s.initialized),
		"shutdown":                            s.guarded(s.shutdown),
		"exit":                                handler.New(s.exit),
		"$/cancelRequest":                     handler.New(s.cancelled),
		"$/setTrace":                          on(s, ignored),
		"textDocument/didOpen":                on(s, s.didOpen),
		"textDocument/didChange":              on(s, s.didChange),
		"textDocument/didSave":                on(s, s.didSave),
		"textDocument/didClose":               on(s, s.didClose),
		"workspace/didChangeWorkspaceFolders": on(s, s.didChangeFolders),
		"workspace/didChangeWatchedFiles":     on(s, s.didChangeFiles),
		"workspace/didChangeConfiguration":    on(s, ignored),
		"textDocument/diagnostic":             on(s, s.diagnostic),
		"textDocument/completion":             on(s, s.completion),
		"textDocument/hover":                  on(s, s.hover),
		"textDocument/signatureHelp":          on(s, s.signatureHelp),
		"textDocument/formatting":             on(s, s.formatting),
		"textDocument/definition":             on(s, s.definition),
		"textDocument/references":             on(s, s.references),
		"textDocument/documentSymbol":         on(s, s.documentSymbol),
		"textDocument/prepareRename":          on(s, s.prepareRename),
		"textDocument/rename":                 on(s, s.rename),
		"textDocument/inlayHint":              on(s, s.inlayHint),
		"textDocument/codeAction":             on(s, s.codeAction),
		"textDocument/codeLens":               on(s, s.codeLens),
		"textDocument/semanticTokens/full":    on(s, s.semanticTokens),
	}
	return methods
}

func ignored(context.Context, *json.RawMessage) (any, error) { return nil, nil }

// on is a method that is allowed between initialize and shutdown. A fault of the server is the answer to one request, and
// no end.
func on[P any](s *server, answer func(ctx context.Context, params *P) (any, error)) jrpc2.Handler {
	return s.guarded(func(ctx context.Context, r *jrpc2.Request) (result any, err error) {
		var params P
		if r.HasParams() {
			if err := r.UnmarshalParams(&params); err != nil {
				return nil, jrpc2.Errorf(jrpc2.InvalidParams, "%v", err)
			}
		}
		return answer(ctx, &params)
	})
}

func (s *server) guarded(answer jrpc2.Handler) jrpc2.Handler {
	return s.recovered(func(ctx context.Context, r *jrpc2.Request) (any, error) {
		s.mu.Lock()
		began, shutDown := s.began, s.shutDown
		s.mu.Unlock()
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

func (s *server) first(answer jrpc2.Handler) jrpc2.Handler { return s.recovered(answer) }

func (s *server) recovered(answer jrpc2.Handler) jrpc2.Handler {
	return func(ctx context.Context, r *jrpc2.Request) (result any, err error) {
		defer func() {
			if fault := recover(); fault != nil {
				s.tellFault(r.Method(), fault)
				result, err = nil, jrpc2.Errorf(jrpc2.InternalError, "a fault of remit: %v", fault)
			}
		}()
		return answer(ctx, r)
	}
}

// tellFault writes a fault of the server to the editor's log.
func (s *server) tellFault(what string, fault any) {
	s.notify("window/logMessage", messageParams{1, fmt.Sprintf("A fault of remit in %s: %v\n%s", what, fault, debug.Stack())})
}

func (s *server) initialize(_ context.Context, r *jrpc2.Request) (any, error) {
	var params initializeParams
	if err := r.UnmarshalParams(&params); err != nil {
		return nil, jrpc2.Errorf(jrpc2.InvalidParams, "%v", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.began {
		return nil, jrpc2.Errorf(jrpc2.InvalidRequest, "initialize comes once")
	}
	s.began, s.client = true, params
	for _, f := range params.WorkspaceFolders {
		s.addFolder(f.URI)
	}
	if len(params.WorkspaceFolders) == 0 {
		s.addFolder(params.RootURI)
	}
	if folder, err := filepath.Abs(s.options.Folder); len(s.folders) == 0 && s.options.Folder != "" && err == nil {
		s.folders = append(s.folders, folder)
	}
	return initializeResult{s.capabilities(), serverInfo{"remit", s.options.Version}}, nil
}

func (s *server) capabilities() capabilities {
	return capabilities{
		PositionEncoding: "utf-16",
		TextDocumentSync: syncOptions{OpenClose: true, Change: syncIncremental, Save: true},
		Workspace:        workspaceCaps{foldersCaps{Supported: true, ChangeNotifications: true}},
		Completion:       completionCaps{[]string{".", "\"", "{"}}, Signature: completionCaps{[]string{"(", ","}},
		Hover: true, Formatting: true, Definition: true, References: true, Symbols: true, InlayHints: true, CodeActions: true,
		Rename: renameCaps{true}, CodeLens: struct{}{}, Tokens: tokensCaps{tokensLegend{tokenTypes, []string{}}, true},
	}
}

// addFolder is called with mu held.
func (s *server) addFolder(uri string) {
	if path := pathOf(uri); path != "" && !slices.Contains(s.folders, path) {
		s.folders = append(s.folders, path)
	}
}

func (s *server) initialized(context.Context, *json.RawMessage) (any, error) {
	s.search()
	return nil, nil
}

func (s *server) shutdown(context.Context, *jrpc2.Request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shutDown = true
	for _, p := range s.projects {
		p.stop()
	}
	return nil, nil
}

func (s *server) exit(context.Context) error {
	select {
	case <-s.exited:
	default:
		close(s.exited)
	}
	return nil
}

// cancelled ends a request that the editor does not wait for any more.
func (s *server) cancelled(_ context.Context, r *jrpc2.Request) error {
	var params struct {
		ID json.RawMessage `json:"id"`
	}
	if err := r.UnmarshalParams(&params); err != nil {
		return err
	}
	s.cancelRequest(string(params.ID))
	return nil
}

func (s *server) didOpen(_ context.Context, p *didOpenParams) (any, error) {
	text := strings.ToValidUTF8(p.TextDocument.Text, string(utf8.RuneError))
	d := newDocument(p.TextDocument.URI, p.TextDocument.Version, text)
	d.saved = s.isSaved(d)
	s.mu.Lock()
	if len(s.folders) == 0 && d.path != "" { // one file was opened, and no folder
		s.folders = append(s.folders, filepath.Dir(d.path))
	}
	s.documents[keyOf(d.uri)] = d
	s.mu.Unlock()
	s.changed(d.path)
	return nil, nil
}

// keyOf is the key of a document: two URIs of one file are one document.
func keyOf(uri string) string {
	if path := pathOf(uri); path != "" {
		return path
	}
	return uri
}

func (s *server) didChange(_ context.Context, p *didChangeParams) (any, error) {
	s.mu.Lock()
	d := s.documents[keyOf(p.TextDocument.URI)]
	if d == nil {
		s.mu.Unlock()
		return nil, jrpc2.Errorf(jrpc2.InvalidParams, "the document is not open")
	}
	d = d.edited(p.TextDocument.Version, p.ContentChanges)
	s.documents[keyOf(d.uri)] = d
	s.mu.Unlock()
	s.changed(d.path)
	return nil, nil
}

func (s *server) didSave(_ context.Context, p *documentParams) (any, error) {
	s.mu.Lock()
	if d := s.documents[keyOf(p.TextDocument.URI)]; d != nil {
		saved := *d
		saved.saved = true
		s.documents[keyOf(d.uri)] = &saved
	}
	s.mu.Unlock()
	s.changed(pathOf(p.TextDocument.URI))
	return nil, nil
}

func (s *server) didClose(_ context.Context, p *documentParams) (any, error) {
	s.mu.Lock()
	delete(s.documents, keyOf(p.TextDocument.URI))
	delete(s.outlines, keyOf(p.TextDocument.URI))
	s.mu.Unlock()
	s.changed(pathOf(p.TextDocument.URI))
	return nil, nil
}

func (s *server) didChangeFiles(_ context.Context, p *filesParams) (any, error) {
	for _, c := range p.Changes {
		s.changed(pathOf(c.URI))
	}
	return nil, nil
}

func (s *server) didChangeFolders(_ context.Context, p *foldersParams) (any, error) {
	s.mu.Lock()
	for _, f := range p.Event.Removed {
		s.folders = slices.DeleteFunc(s.folders, func(path string) bool { return path == pathOf(f.URI) })
	}
	for _, f := range p.Event.Added {
		s.addFolder(f.URI)
	}
	var open []string
	for _, d := range s.documents {
		open = append(open, d.path)
	}
	s.dropProjects()
	s.mu.Unlock()
	s.search()
	for _, path := range open {
		s.changed(path)
	}
	return nil, nil
}

// document is an open text; nil where it is not open.
func (s *server) document(uri string) *document {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.documents[keyOf(uri)]
}

// savedBytesMax bounds a file that is compared with a text that was opened.
const savedBytesMax = 64 << 20

// isSaved reports whether the file of a document has its text, whatever mark of byte order and encoding it has: a text that an
// editor shows of a file that is not UTF-8 is not what the file says, and is not read in its place.
func (s *server) isSaved(d *document) bool {
	folder := s.folderOf(d.path)
	if folder == "" {
		return false
	}
	content, err := readBelow(folder, d.path, savedBytesMax)
	if err != nil {
		return !os.IsNotExist(err)
	}
	const mark = "\ufeff"
	return !utf8.Valid(content) || strings.TrimPrefix(string(content), mark) == strings.TrimPrefix(d.text, mark)
}
