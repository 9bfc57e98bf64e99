package lsp_test

import (
	"context"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/creachadair/jrpc2"
	"github.com/creachadair/jrpc2/channel"

	"remit/internal/cli"
)

// editor is a client of the server that remit lsp is, in this process.
type editor struct {
	t        *testing.T
	client   *jrpc2.Client
	folder   string
	versions map[string]int
	ended    chan int

	mu        sync.Mutex
	published map[string][]diagnostic
	messages  []string
	cancel    context.CancelFunc
}

type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

type span struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

type diagnostic struct {
	Range    span   `json:"range"`
	Severity int    `json:"severity"`
	Message  string `json:"message"`
	Related  []struct {
		Location struct {
			URI   string `json:"uri"`
			Range span   `json:"range"`
		} `json:"location"`
		Message string `json:"message"`
	} `json:"relatedInformation"`
}

// object is a part of a message.
type object = map[string]any

// newEditor opens a folder.
func newEditor(t *testing.T, folder string) *editor {
	t.Helper()
	return startEditor(t, folder, nil)
}

// startEditor opens a folder, with an environment.
func startEditor(t *testing.T, folder string, environment map[string]string) *editor {
	t.Helper()
	e := editorOf(t, folder)
	toServer, fromEditor := io.Pipe()
	toEditor, fromServer := io.Pipe()
	ctx, cancel := context.WithCancel(context.Background())
	e.cancel = cancel
	lookup := func(name string) (string, bool) {
		value, isSet := environment[name]
		return value, isSet
	}
	go func() {
		e.ended <- cli.Run(ctx, []string{"lsp"}, toServer, fromServer, io.Discard, lookup)
		_ = toServer.Close()
		_ = fromServer.Close()
	}()
	t.Cleanup(func() {
		cancel()
		_ = fromEditor.Close()
		_ = toEditor.Close()
		_ = e.client.Close()
	})
	e.connect(toEditor, fromEditor)
	return e
}

func editorOf(t *testing.T, folder string) *editor {
	return &editor{t: t, folder: folder, versions: map[string]int{}, ended: make(chan int, 1), published: map[string][]diagnostic{}}
}

// connect opens the folder in a server, of which it notes what that tells.
func (e *editor) connect(from io.Reader, to io.WriteCloser) {
	e.t.Helper()
	e.client = jrpc2.NewClient(channel.LSP(from, to), &jrpc2.ClientOptions{OnNotify: e.noted})
	e.begin()
}

// begin opens the folder.
func (e *editor) begin() {
	e.t.Helper()
	e.call("initialize", object{
		"rootUri": nil, "capabilities": object{"workspace": object{"workspaceEdit": object{"documentChanges": true}}},
		"workspaceFolders": []object{{"uri": uri(e.folder), "name": "payments"}},
	}, nil)
	e.tell("initialized", object{})
}

func uri(path string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
}

func (e *editor) noted(r *jrpc2.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch r.Method() {
	case "textDocument/publishDiagnostics":
		var p struct {
			URI         string       `json:"uri"`
			Diagnostics []diagnostic `json:"diagnostics"`
		}
		if err := r.UnmarshalParams(&p); err != nil {
			e.t.Error(err)
		}
		e.published[p.URI] = p.Diagnostics
	case "window/logMessage", "window/showMessage":
		var p struct {
			Type    int    `json:"type"`
			Message string `json:"message"`
		}
		if err := r.UnmarshalParams(&p); err != nil || p.Type == 1 {
			e.t.Error("the server tells of a fault: ", p.Message, err)
		}
		e.messages = append(e.messages, p.Message)
	}
}

// call is a request that must be answered; result may be nil.
func (e *editor) call(method string, params, result any) {
	e.t.Helper()
	response, err := e.client.Call(context.Background(), method, params)
	if err != nil {
		e.t.Fatalf("%s: %v", method, err)
	}
	if result != nil {
		if err := response.UnmarshalResult(result); err != nil {
			e.t.Fatalf("%s: %v", method, err)
		}
	}
}

func (e *editor) tell(method string, params any) {
	e.t.Helper()
	if err := e.client.Notify(context.Background(), method, params); err != nil {
		e.t.Fatalf("%s: %v", method, err)
	}
}

func (e *editor) path(name string) string { return filepath.Join(e.folder, filepath.FromSlash(name)) }

func (e *editor) name(name string) object { return object{"uri": uri(e.path(name))} }

// open opens a file with a text, which may be another one than the file has.
func (e *editor) open(name, text string) {
	e.t.Helper()
	e.versions[name] = 1
	e.tell("textDocument/didOpen", object{"textDocument": object{"uri": uri(e.path(name)), "languageId": "hcl", "version": 1, "text": text}})
}

// openSaved opens a file with its own text.
func (e *editor) openSaved(name string) string {
	e.t.Helper()
	text, err := os.ReadFile(e.path(name))
	if err != nil {
		e.t.Fatal(err)
	}
	e.open(name, string(text))
	return string(text)
}

// change replaces the whole text.
func (e *editor) change(name, text string) {
	e.t.Helper()
	e.edit(name, object{"text": text})
}

// edit makes one change, as the protocol writes it.
func (e *editor) edit(name string, change object) {
	e.t.Helper()
	e.versions[name]++
	e.tell("textDocument/didChange", object{"textDocument": object{"uri": uri(e.path(name)), "version": e.versions[name]}, "contentChanges": []object{change}})
}

// diagnostics are those of a file when its newest text was checked.
func (e *editor) diagnostics(name string) []diagnostic {
	e.t.Helper()
	var report struct{ Items []diagnostic }
	e.call("textDocument/diagnostic", object{"textDocument": e.name(name)}, &report)
	return report.Items
}

// all are the diagnostics of all files, by their names, when the newest text of one was checked.
func (e *editor) all(name string) map[string][]diagnostic {
	e.t.Helper()
	e.diagnostics(name)
	found := map[string][]diagnostic{}
	err := filepath.WalkDir(e.folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		below, err := filepath.Rel(e.folder, path)
		if list := e.diagnostics(filepath.ToSlash(below)); len(list) > 0 {
			found[filepath.ToSlash(below)] = list
		}
		return err
	})
	if err != nil {
		e.t.Fatal(err)
	}
	return found
}

// awaitPublished waits until the server has told of a file what want says.
func (e *editor) awaitPublished(name string, want func([]diagnostic) bool) {
	e.t.Helper()
	for range 30_000 {
		e.mu.Lock()
		is := want(e.published[uri(e.path(name))])
		e.mu.Unlock()
		if is {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	e.t.Fatalf("of %s the server did not tell what it should", name)
}

// stop ends the server as an editor does, and returns the exit code.
func (e *editor) stop() int {
	e.t.Helper()
	e.call("shutdown", nil, nil)
	e.tell("exit", nil)
	return <-e.ended
}

// write writes files of a folder.
func write(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
