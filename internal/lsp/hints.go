package lsp

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"remit/internal/text/lazyregexp"
)

type inlayHint struct {
	Position    position `json:"position"`
	Label       string   `json:"label"`
	PaddingLeft bool     `json:"paddingLeft"`
}

type rangeParams struct {
	TextDocument documentName `json:"textDocument"`
	Range        span         `json:"range"`
}

// inlayHint shows behind the header of a block what its transfers come to, and when the next one is due. It shows nothing of a
// configuration that has mistakes: sums of a part would deceive.
func (s *server) inlayHint(_ context.Context, p *rangeParams) (any, error) {
	hints := []inlayHint{}
	d := s.document(p.TextDocument.URI)
	if d == nil || !isNative(d.path) || !s.isActive(d.path) {
		return hints, nil
	}
	snapshot, _ := s.snapshotOf(d.path)
	if snapshot == nil || len(snapshot.checked) != 1 || s.hasErrors(snapshot) {
		return hints, nil
	}
	for _, c := range s.outline(d).chunks {
		for _, b := range c.tree.body.Blocks {
			at := d.position(c.start + b.OpenBraceRange.End.Byte)
			f := s.factsOf(d, b)
			if b.Type != "transfer" || f == nil || at.Line < p.Range.Start.Line || at.Line > p.Range.End.Line {
				continue
			}
			label := summaryOf(f)
			if due := f.NextDue(snapshot.now); !due.IsZero() {
				label += ", next due " + due.Format(time.RFC3339)
			}
			hints = append(hints, inlayHint{at, label, true})
		}
	}
	return hints, nil
}

type codeLensItem struct {
	Range   span    `json:"range"`
	Command command `json:"command"`
}

type command struct {
	Title   string `json:"title"`
	Command string `json:"command"`
}

// codeLens says above a data file which blocks read it.
func (s *server) codeLens(_ context.Context, p *documentParams) (any, error) {
	lenses := []codeLensItem{}
	d := s.document(p.TextDocument.URI)
	if d == nil || d.path == "" || isNative(d.path) {
		return lenses, nil
	}
	if readers := s.readersOf(d); len(readers) > 0 {
		lenses = append(lenses, codeLensItem{Command: command{Title: "read by " + strings.Join(readers, ", ")}})
	}
	return lenses, nil
}

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

var (
	remedyForm = lazyregexp.New(`(?m)^  ([a-z_]+) += (.+)$`)
	meantForm  = lazyregexp.New(`Did you mean "?([A-Za-z0-9_.-]+)"?\?`)
)

// codeAction offers what a mistake says is to be written: an argument, in the place of the one that is there, or into the block; or the
// word that was meant.
func (s *server) codeAction(_ context.Context, p *actionParams) (any, error) {
	actions := []codeActionItem{}
	d := s.document(p.TextDocument.URI)
	if d == nil || !s.isActive(d.path) {
		return actions, nil
	}
	if !isNative(d.path) {
		return s.actionsOfData(d, p.Context.Diagnostics), nil
	}
	for _, told := range p.Context.Diagnostics {
		if told.Source != "remit" && told.Source != "" {
			continue
		}
		from, to := d.offset(told.Range.Start), d.offset(told.Range.End)
		var edits []textEdit
		var title string
		if remedies := remedyForm.FindAllStringSubmatch(told.Message, -1); len(remedies) > 0 {
			for _, remedy := range remedies {
				edits, title = s.remedied(d, from, remedy[1], remedy[2])
				actions = appendAction(actions, d, told, title, edits)
			}
			continue
		}
		if meant := meantForm.FindStringSubmatch(told.Message); meant != nil && from < to && !strings.Contains(d.text[from:to], "\n") {
			text := meant[1]
			if strings.HasPrefix(d.text[from:to], `"`) {
				text = quoted(text)
			} else if i := strings.LastIndexByte(d.text[from:to], '.'); i >= 0 && !strings.Contains(text, ".") {
				from += i + 1 // behind the names that are right
			}
			actions = appendAction(actions, d, told, "Write "+text, []textEdit{{d.span(from, to), text}})
		}
	}
	return append(actions, s.rewrites(d, p)...), nil
}

// dataBlockForm is how a mistake in a data file names the block that can leave its row out.
var dataBlockForm = lazyregexp.New(`leave it out of data\.([a-z0-9_]+\.[A-Za-z0-9_-]+)`)

// actionsOfData offers what a mistake in a data file says is to be written into the block that reads it.
func (s *server) actionsOfData(d *document, mistakes []diagnostic) []codeActionItem {
	actions := []codeActionItem{}
	for _, told := range mistakes {
		of := dataBlockForm.FindStringSubmatch(told.Message)
		if of == nil || told.Source != "remit" && told.Source != "" {
			continue
		}
		for _, remedy := range remedyForm.FindAllStringSubmatch(told.Message, -1) {
			for _, found := range namesIn(s.sources(d.path)) {
				if found.root != "data" || found.name != of[1] {
					continue
				}
				text := newDocument(s.uriOf(found.source.path), 0, found.source.outline.text)
				edits, title := s.remedied(text, found.start+found.block.OpenBraceRange.End.Byte+1, remedy[1], remedy[2])
				actions = appendActionTo(actions, text.uri, told, title+" in data."+of[1], edits)
			}
		}
	}
	return actions
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
func (s *server) remedied(d *document, offset int, name, value string) ([]textEdit, string) {
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

// tokenTypes are the types of semantic tokens, by their numbers.
var tokenTypes = []string{"keyword", "class", "property", "function", "namespace", "variable"}

const (
	tokenKeyword = iota
	tokenClass
	tokenProperty
	tokenFunction
	tokenNamespace
	tokenVariable
)

type tokensResult struct {
	Data []int `json:"data"`
}

// token is a part of a text with its type, on one line.
type token struct{ from, to, kind int }

func (s *server) semanticTokens(ctx context.Context, p *documentParams) (any, error) {
	result := tokensResult{Data: []int{}}
	d := s.document(p.TextDocument.URI)
	if d == nil || !isNative(d.path) || !s.isActive(d.path) {
		return result, nil
	}
	last := position{}
	for _, c := range s.outline(d).chunks {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		tokens := tokensOf(c.tree.body, nil)
		slices.SortFunc(tokens, func(a, b token) int { return a.from - b.from })
		for _, t := range tokens {
			at, end := d.position(c.start+t.from), d.position(c.start+t.to)
			if at.Line != end.Line || end.Character <= at.Character || at.Line == last.Line && at.Character < last.Character {
				continue
			}
			column := at.Character
			if at.Line == last.Line {
				column -= last.Character
			}
			result.Data = append(result.Data, at.Line-last.Line, column, end.Character-at.Character, t.kind, 0)
			last = at
		}
	}
	return result, nil
}

// tokensOf are those of a body: blocks, labels, arguments, functions and references.
func tokensOf(body *hclsyntax.Body, all []token) []token {
	add := func(r hcl.Range, kind int) { all = append(all, token{r.Start.Byte, r.End.Byte, kind}) }
	for _, a := range body.Attributes {
		add(a.NameRange, tokenProperty)
		_ = hclsyntax.VisitAll(a.Expr, func(node hclsyntax.Node) hcl.Diagnostics {
			switch e := node.(type) {
			case *hclsyntax.FunctionCallExpr:
				add(e.NameRange, tokenFunction)
			case *hclsyntax.ScopeTraversalExpr:
				for i, step := range e.Traversal {
					switch step.(type) {
					case hcl.TraverseRoot:
						if len(e.Traversal) > 1 {
							add(stepRange(step), tokenNamespace)
						}
					case hcl.TraverseAttr:
						add(stepRange(step), map[bool]int{true: tokenVariable, false: tokenProperty}[i == 1])
					}
				}
			}
			return nil
		})
	}
	for _, b := range body.Blocks {
		add(b.TypeRange, tokenKeyword)
		for _, r := range b.LabelRanges {
			add(r, tokenClass)
		}
		if b.Body != nil {
			all = tokensOf(b.Body, all)
		}
	}
	return all
}
