package lsp_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"remit/config"
	"remit/internal/lsp"
)

// framed is a message as the protocol frames it.
func framed(messages ...string) string {
	var all strings.Builder
	for _, m := range messages {
		fmt.Fprintf(&all, "Content-Length: %d\r\n\r\n%s", len(m), m)
	}
	return all.String()
}

// FuzzInput breaks the protocol: broken frames, absurd lengths, requests at the wrong time, and any text of a document. The
// server ends with its input, and tells of no fault of its own.
func FuzzInput(f *testing.F) {
	const begin, open = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}`,
		`{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"untitled:a","version":1,"text":"transfer \"internal\" \"x\" {\n"}}}`
	for _, input := range []string{
		"", "\r\n\r\n", "Content-Length: 99999999999999999999\r\n\r\n{}", "Content-Length: 9223372036854775807\r\n\r\n{}",
		"Content-Length: -1\r\n\r\n{}", "Content-Length: 2\r\nContent-Length: 5\r\n\r\n{}", "Content-Type: x\r\n\r\n{}", "Content-Length: 2\n\n{}", "Content-Length: 100\r\n\r\n{}",
		framed(`{"jsonrpc":"2.0","id":1,"method":"textDocument/hover","params":{}}`), framed(begin, begin), framed("[]"), framed("null"), framed("{"), framed(`[{"id":{}}]`),
		framed(begin, open, `{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"untitled:a","version":-5},"contentChanges":[{"range":{"start":{"line":-1,"character":-9},"end":{"line":99999999999,"character":7}},"text":"\u0000"}]}}`),
		framed(begin, open, `{"jsonrpc":"2.0","id":"x","method":"textDocument/documentSymbol","params":{"textDocument":{"uri":"untitled:a"}}}`, `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"x"}}`),
		framed(begin, `{"jsonrpc":"2.0","id":2,"method":"shutdown"}`, `{"jsonrpc":"2.0","id":3,"method":"textDocument/hover"}`, `{"jsonrpc":"2.0","method":"exit"}`),
		framed(begin, `{"jsonrpc":"2.0","0d":1,"method":"initialize","params":{}}`), framed(`{"jsonrpc":"1","method":"exit"}`), framed(begin, `[{"jsonrpc":"2.0","method":7}]`),
		framed(begin, `{"jsonrpc":"2.0","id":2,"method":"shutdown"}`, `{"jsonrpc":"2.0","method":"textDocument/didClose","params":{}}`), framed(`{"jsonrpc":"2.0","method":"exit"}`, "{", "{"),
		framed(begin, `{"jsonrpc":"2.0","id":null,"method":"textDocument/hover","params":{}}`), framed(begin, `{"jsonrpc":"2.0","id":"<","method":"textDocument/hover","params":{}}`),
		framed(begin, `{"jsonrpc":"2.0","id":"\u0061\/","method":"textDocument/hover","params":{}}`), framed(begin, `{"jsonrpc":"2.0","id":1,"ID":2,"method":"textDocument/hover"}`),
		framed(begin, `{"jsonrpc":"2.0","id":2,"method":"textDocument/hover","params":[1,2]}`, `{"jsonrpc":"2.0","method":"textDocument/didOpen","params":7}`),
	} {
		f.Add([]byte(input))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		var out bytes.Buffer
		_ = lsp.Serve(t.Context(), bytes.NewReader(input), &out, lsp.Options{ // an error says that the input is no protocol
			Check: func(ctx context.Context, of lsp.Checking) ([]lsp.Checked, error) {
				loaded, diags := config.Load(of.Directory, config.Options{Unsaved: of.Unsaved, Done: ctx.Done()})
				return []lsp.Checked{{Configuration: loaded, Diagnostics: diags, Files: loaded.Files()}}, ctx.Err()
			},
			Now: time.Now, Version: "0.0.0",
		})
		if strings.Contains(out.String(), "fault of remit") {
			t.Errorf("the server tells of a fault: %s", &out)
		}
	})
}
