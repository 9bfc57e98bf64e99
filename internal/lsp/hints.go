package lsp

import (
	"context"
	"strings"
	"time"
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

// hints show beside a text what a check found.
type hints struct{ sources *sources }

// inlayHint shows behind the header of a block what its transfers come to, and when the next one is due. It shows nothing of a
// configuration that has mistakes: sums of a part would deceive.
func (f hints) inlayHint(_ context.Context, p *rangeParams) (any, error) {
	hints := []inlayHint{}
	d := f.sources.native(p.TextDocument.URI)
	if d == nil {
		return hints, nil
	}
	snapshot, _ := f.sources.checks.snapshotOf(d.path)
	if snapshot == nil || len(snapshot.checked) != 1 || snapshot.hasErrors() {
		return hints, nil
	}
	for _, c := range f.sources.outline(d).chunks {
		for _, b := range c.tree.body.Blocks {
			at := d.position(c.start + b.OpenBraceRange.End.Byte)
			f := snapshot.factsOf(b)
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
func (f hints) codeLens(_ context.Context, p *documentParams) (any, error) {
	lenses := []codeLensItem{}
	d := f.sources.documents.at(p.TextDocument.URI)
	if d == nil || d.path == "" || isNative(d.path) {
		return lenses, nil
	}
	if readers := f.sources.readersOf(d); len(readers) > 0 {
		lenses = append(lenses, codeLensItem{Command: command{Title: "read by " + strings.Join(readers, ", ")}})
	}
	return lenses, nil
}
