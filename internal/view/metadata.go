package view

import (
	"slices"
	"strconv"
	"strings"

	"remit/internal/transfer"
	"remit/planner"
)

// pairsCell are pairs of metadata in a cell of a spreadsheet. Both sides are quoted, so that no value can
// pass for another pair. There is no equals sign, before which the guard against formulas would put an
// apostrophe.
func pairsCell(pairs transfer.Metadata) string {
	parts := make([]string, len(pairs))
	for i, p := range pairs {
		parts[i] = strconv.Quote(p.Key) + ": " + strconv.Quote(p.Value)
	}
	return strings.Join(parts, ", ")
}

// metadataItem is one thing sent with a transfer beside its columns: a text, or a pair of
// metadata. Both sides of a pair are quoted, so that no value can pass for another pair.
type metadataItem struct{ field, key, value string }

// metadataItems are these of a request.
func metadataItems(r transfer.Request) []metadataItem {
	var items []metadataItem
	for _, f := range transfer.ReadingOrder() {
		switch {
		case f.HasPairs():
			for _, pair := range r.Pairs(f) {
				items = append(items, metadataItem{f.Name(), strconv.Quote(pair.Key), strconv.Quote(pair.Value)})
			}
		case !f.HasColumn() && r.Text(f) != "":
			items = append(items, metadataItem{f.Name(), "", strconv.Quote(r.Text(f))})
		}
	}
	return items
}

// metadataTexts are the texts sent with a transfer beside those of its columns.
func metadataTexts(r transfer.Request) []string { return itemTexts(metadataItems(r)) }

// itemTexts writes the items of one field in one text.
func itemTexts(items []metadataItem) []string {
	var texts []string
	last := ""
	for _, item := range items {
		text := item.value
		if item.key != "" {
			text = item.key + " = " + item.value
		}
		if len(texts) > 0 && item.field == last {
			texts[len(texts)-1] += ", " + text
			continue
		}
		texts, last = append(texts, item.field+": "+text), item.field
	}
	return texts
}

// isMixed reports whether letters of a change may pass for others, in its metadata perhaps.
func isMixed(c *planner.Change) bool {
	return slices.ContainsFunc(c.Signals, func(s planner.Signal) bool { return s.Kind == planner.MixedScripts })
}
