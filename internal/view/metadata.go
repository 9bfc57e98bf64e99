package view

import (
	"slices"
	"strconv"
	"strings"

	"remit/internal/transfer"
	"remit/planner"
)

// pairsText are pairs of metadata in words. Both sides are quoted, so that no value can pass
// for another pair.
func pairsText(pairs transfer.Metadata) string {
	parts := make([]string, len(pairs))
	for i, p := range pairs {
		parts[i] = strconv.Quote(p.Key) + " = " + strconv.Quote(p.Value)
	}
	return strings.Join(parts, ", ")
}

// pairsCell is pairsText in a cell of a spreadsheet: without the equals sign, before which the guard
// against formulas would put an apostrophe.
func pairsCell(pairs transfer.Metadata) string {
	parts := make([]string, len(pairs))
	for i, p := range pairs {
		parts[i] = strconv.Quote(p.Key) + ": " + strconv.Quote(p.Value)
	}
	return strings.Join(parts, ", ")
}

// metadataTexts are the texts sent with a transfer beside those of its columns.
func metadataTexts(r transfer.Request) []string {
	var texts []string
	for _, f := range transfer.ReadingOrder() {
		switch {
		case f.HasPairs() && len(r.Pairs(f)) > 0:
			texts = append(texts, f.Name()+": "+pairsText(r.Pairs(f)))
		case !f.HasColumn() && r.Text(f) != "":
			texts = append(texts, f.Name()+": "+strconv.Quote(r.Text(f)))
		}
	}
	return texts
}

// isMixed reports whether letters of a change may pass for others, in its metadata perhaps.
func isMixed(c *planner.Change) bool {
	return slices.ContainsFunc(c.Signals, func(s planner.Signal) bool { return s.Kind == planner.MixedScripts })
}
