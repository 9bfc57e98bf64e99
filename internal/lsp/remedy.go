package lsp

import (
	"encoding/json"
	"slices"
	"strings"
)

type actionParams struct {
	TextDocument documentName `json:"textDocument"`
	Range        span         `json:"range"`
	Context      struct {
		Diagnostics []diagnostic `json:"diagnostics"`
		Only        []string     `json:"only"`
	} `json:"context"`
}

type codeActionItem struct {
	Title       string          `json:"title"`
	Kind        string          `json:"kind"`
	Diagnostics []diagnostic    `json:"diagnostics,omitempty"`
	Edit        json.RawMessage `json:"edit"`
}

func appendAction(actions []codeActionItem, d *document, told diagnostic, title string, edits []textEdit) []codeActionItem {
	return appendActionTo(actions, d.uri, told, title, edits)
}

func appendActionTo(actions []codeActionItem, uri string, told diagnostic, title string, edits []textEdit) []codeActionItem {
	if len(edits) == 0 {
		return actions
	}
	edit, err := json.Marshal(workspaceEdit{map[string][]textEdit{uri: edits}})
	if err != nil {
		panic(err)
	}
	return append(actions, codeActionItem{title, "quickfix", []diagnostic{told}, edit})
}

// remedied is the edit that gives an argument its remedy, where the place of the mistake is in a block that may have it.
func remedied(s *sources, d *document, offset int, name, value string) ([]textEdit, string) {
	at := pointedAt(s.outline(d), offset)
	if len(at.blocks) == 0 {
		return nil, ""
	}
	inner := at.blocks[len(at.blocks)-1]
	title := "Write " + name + " = " + value
	if a := inner.Body.Attributes[name]; a != nil {
		r := a.Expr.Range()
		return []textEdit{{d.span(at.start+r.Start.Byte, at.start+r.End.Byte), value}}, title
	}
	kind, ok := kindAt(at.kinds())
	if !ok || !slices.Contains(slices.Concat(kind.Required, kind.Optional), name) {
		return nil, ""
	}
	end := at.start + inner.CloseBraceRange.Start.Byte
	if inner.CloseBraceRange.End.Byte == 0 || d.position(end).Line == d.position(at.start+inner.OpenBraceRange.End.Byte).Line {
		return nil, ""
	}
	indent := strings.Repeat("  ", len(at.blocks))
	line := d.lines[d.position(end).Line]
	return []textEdit{{d.span(line, line), indent + name + " = " + value + "\n"}}, title
}
