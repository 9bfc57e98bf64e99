package view

import (
	"fmt"

	"remit/internal/text/english"
	"remit/internal/transfer"
)

// rowsHeaded is how many rows have a heading: to fewer it says nothing that they can't say themselves.
const rowsHeaded = 3

// htmlRows is the table of all transfers of a plan or of a run, in groups: the heading of a group has what
// its rows share. The roles are there because the style lays rows out as grids, so that those that are not
// to be seen cost nothing.
type htmlRows struct {
	htmlPage
	names  map[string]string
	places int // decimals of the most precise amount
	group  *rowGroup
	inBody bool
}

// rowGroup is what the rows of a group share.
type rowGroup struct {
	sharing
	title    string
	totals   transfer.Totals
	isHeaded bool
}

// begin opens the table.
func (h *htmlRows) begin(caption string, first, notes string) {
	h.put("<table id=\"all\" class=\"rows\" role=\"table\">\n<caption>%</caption>\n<thead role=\"rowgroup\"><tr role=\"row\">", caption)
	for _, title := range []string{first, "ref_id", "To", "Amount", "Asset", notes, "Declared at"} {
		h.put("<th scope=\"col\" role=\"columnheader\">%</th>", title)
	}
	h.put("</tr></thead>\n")
}

// end closes it.
func (h *htmlRows) end() { h.put("</tbody>\n</table>\n") }

// open begins a group. Rows without a heading go on below each other.
func (h *htmlRows) open(g *rowGroup) {
	isAfterPlain := h.inBody && h.group != nil && !h.group.isHeaded
	h.group = g
	if g.isHeaded = g.count >= rowsHeaded; !g.isHeaded {
		g.sharing = sharing{count: g.count}
		if isAfterPlain {
			return
		}
	}
	if h.inBody {
		h.put("</tbody>\n")
	}
	h.inBody = true
	if !g.isHeaded {
		h.put("<tbody role=\"rowgroup\" class=\"alone\">\n")
		return
	}
	h.put("<tbody role=\"rowgroup\" data-group>\n<tr role=\"row\" class=\"group\"><th role=\"rowheader\" scope=\"rowgroup\" colspan=\"7\"><p><b>")
	if g.title != "" {
		h.put("%: ", g.title)
	}
	h.put("%%</b></p><p>", english.Plural(g.count, "transfer"), commaAnd(h.screen.sums(&g.totals)))
	h.shares(g)
	h.put("</p>")
	for _, note := range g.heads {
		h.put("<p class=\"%\">%</p>", note.tone.class(), note.text)
	}
	for _, text := range itemTexts(g.metadata) {
		h.put("<p class=\"dim\">%</p>", text)
	}
	h.put("</th></tr>\n")
}

// shares says from whom all of a group are, and what else they have in common.
func (h *htmlRows) shares(g *rowGroup) {
	separator := ""
	say := func(markup string, texts ...string) {
		h.put(separator)
		h.put(markup, texts...)
		separator = "; "
	}
	if g.from != nil && *g.from != (party{}) {
		say("from ")
		h.party(*g.from, h.names)
	}
	if g.isOneKind && g.operation != "" {
		say("%", string(g.operation))
	}
	if g.isOneTo {
		say(oneDestination)
	}
	if g.allFirst {
		say("<span class=\"doubt\">each to a first-time destination</span>")
	}
	if g.place != "" {
		say("declared at %", g.place)
	} else if g.file != "" {
		say("in %", g.file)
	}
}

// row is what a row has, whatever page it is in.
type row struct {
	refID, batch, place string
	request             transfer.Request
	to                  party
	isFirst             bool
	tone                tone
	symbol, word        string // of its action or result
	kind, signal        string // by which the filters know it
	hasMore             bool   // than fits a column
}

// write writes a row; notes writes what its columns do not have.
func (h *htmlRows) write(r *row, notes func()) {
	const next = "</td><td role=\"cell\">"
	g := h.group
	class := ""
	if r.hasMore {
		class = " class=\"long\""
	}
	h.put("<tr role=\"row\""+class+" data-action=\"%\" data-signal=\"%\"><td role=\"cell\" class=\"%\">", r.kind, r.signal, r.tone.class())
	if r.symbol != "" {
		h.put("<span class=\"symbol\">%</span>", r.symbol)
	}
	h.put("%</td><th scope=\"row\" role=\"rowheader\">%", r.word, r.refID)
	if !g.isOneKind && r.request.Operation != "" {
		h.put(" <small>%</small>", string(r.request.Operation))
	}
	h.put("</th><td role=\"cell\">")
	h.party(r.to, h.names)
	if r.isFirst && !g.allFirst {
		h.put(" <span class=\"first\">%</span>", "first-time destination")
	}
	if from := sender(r.request); g.from == nil && from != (party{}) {
		h.put("<p><small>from</small> ")
		h.party(from, h.names)
		h.put("</p>")
	}
	h.put(next)
	h.number(h.screen.amount(r.request.Amount, r.request.Asset), h.places)
	h.put(next+"%"+next, r.request.Asset)
	if !g.isHeaded && r.batch != "" {
		h.put("<p class=\"dim\">%</p>", "batch "+r.batch)
	}
	notes()
	h.put(next+"%</td></tr>\n", lineOf(g.ownPlace(r.place)))
}

// lineOf is a place, or a line of the file that the heading has.
func lineOf(place string) string {
	if len(place) > 1 && place[0] == ':' {
		return fmt.Sprintf("line %s", place[1:])
	}
	return place
}
