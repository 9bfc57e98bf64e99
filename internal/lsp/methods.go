package lsp

import (
	"context"

	"github.com/creachadair/jrpc2/handler"
)

// newServer makes the parts of a server, and the table of the methods that they answer to.
func newServer(ctx context.Context, o Options) (*connection, handler.Map) {
	editor, open, texts := &client{ctx: ctx}, newFolders(), newDocuments()
	check := newChecks(ctx, o, editor, open, texts)
	includes := &search{ctx: ctx, folders: open, documents: texts, checks: check}
	s := &sources{documents: texts, folders: open, outlines: newOutlines(), checks: check}
	c := &connection{options: o, client: editor, folders: open, checks: check, search: includes, exited: make(chan struct{})}
	synced := synchronization{documents: texts, folders: open, outlines: s.outlines, checks: check, search: includes}
	leads, renames, shown := navigation{s}, renaming{s, editor}, hints{s}
	return c, handler.Map{
		"initialize":                          c.recovered(c.initialize),
		"initialized":                         on(c, c.initialized),
		"shutdown":                            c.guarded(c.shutdown),
		"exit":                                handler.New(c.exit),
		"$/cancelRequest":                     handler.New(c.cancelled),
		"$/setTrace":                          on(c, ignored),
		"textDocument/didOpen":                on(c, synced.didOpen),
		"textDocument/didChange":              on(c, synced.didChange),
		"textDocument/didSave":                on(c, synced.didSave),
		"textDocument/didClose":               on(c, synced.didClose),
		"workspace/didChangeWorkspaceFolders": on(c, synced.didChangeFolders),
		"workspace/didChangeWatchedFiles":     on(c, synced.didChangeFiles),
		"workspace/didChangeConfiguration":    on(c, ignored),
		"textDocument/diagnostic":             on(c, check.diagnostic),
		"textDocument/completion":             on(c, completion{s}.list),
		"textDocument/hover":                  on(c, hovers{s}.hover),
		"textDocument/signatureHelp":          on(c, signatures{s}.help),
		"textDocument/formatting":             on(c, formatting{s}.edits),
		"textDocument/definition":             on(c, leads.definition),
		"textDocument/references":             on(c, leads.references),
		"textDocument/documentSymbol":         on(c, symbols{s}.all),
		"textDocument/prepareRename":          on(c, renames.prepare),
		"textDocument/rename":                 on(c, renames.rename),
		"textDocument/inlayHint":              on(c, shown.inlayHint),
		"textDocument/codeAction":             on(c, actions{s}.codeAction),
		"textDocument/codeLens":               on(c, shown.codeLens),
		"textDocument/semanticTokens/full":    on(c, tokens{s}.all),
	}
}
