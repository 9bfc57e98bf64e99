package view

import (
	"strconv"
	"unicode"
	"unicode/utf8"

	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// pageHead is how every page begins: where it belongs, what it is, how much that comes to, and the
// tasks of its reader.
type pageHead struct {
	isSandbox   bool
	environment string
	service     state.Identity
	place       string // the directory, of a page about several environments; "" for one about the environment
	title       string
	said        span // in a sentence; "" for none

	sums     []totalsRow // how much, by what it is
	counted  string      // what the sums count: "Count and sum of each action"
	sumsNote []string
	none     string // where there are no sums

	needs []need
	calm  string // where nothing needs the reader

	digest string // of a plan, of which the beginning stands for it; "" for none
	about  []field
	lists  []namedList
	notes  []string // at its end
}

// need is something that a reader should do, or should know before doing anything.
type need struct {
	text    string
	tone    tone
	command string // to type; "" for none
	mark    string // an attribute by which the page's script finds it; "" for none
}

// namedList is a list under a name, such as the targets of a plan.
type namedList struct {
	name  string
	items []string
}

// head writes the head, and opens the page's main part.
func (h htmlPage) head(p *pageHead) {
	h.put("<header>\n")
	if p.isSandbox {
		h.put("<p class=\"environment good\">%</p>\n", sandboxLine(p.environment))
	} else if h.screen.Protected {
		h.put("<p class=\"environment protected\">Environment: <strong>%</strong> (%)</p>\n", h.screen.environmentWord(p.environment), serviceName(planner.Header{Service: p.service}))
	} else if p.place != "" {
		h.put("<p class=\"environment\">Directory: <strong>%</strong></p>\n", p.place)
	} else {
		h.put("<p class=\"environment\">Environment: <strong>%</strong> (%)</p>\n", p.environment, serviceName(planner.Header{Service: p.service}))
	}
	h.put("<h1>%</h1>\n", p.title)
	if p.said.text != "" {
		h.put("<p class=\"lead %\">%</p>\n", p.said.tone.class(), p.said.text)
	}
	h.put("<div class=\"panels\">\n")
	h.howMuch(p)
	h.needs(p)
	h.put("</div>\n<dl>\n")
	if p.digest != "" {
		start := takeStart(p.digest, digestShown)
		h.put("<dt>Digest</dt><dd><code><strong>%</strong>%</code></dd>\n", start, p.digest[len(start):])
	}
	for _, f := range p.about {
		if f.value != "" {
			h.put("<dt>%</dt><dd>%</dd>\n", capital(f.name), f.value)
		}
	}
	for _, list := range p.lists {
		h.named(capital(list.name), list.items)
	}
	h.put("</dl>\n")
	for _, note := range p.notes {
		h.put("<p class=\"dim\">%</p>\n", note)
	}
	h.put("</header>\n<main>\n")
}

// capital is a label of a page, which begins with a capital letter as all others do; terminals show some of
// them within a line.
func capital(label string) string {
	first, size := utf8.DecodeRuneInString(label)
	return string(unicode.ToUpper(first)) + label[size:]
}

func (h htmlPage) howMuch(p *pageHead) {
	h.put("<div class=\"panel\">\n<h2>How much</h2>\n")
	if len(p.sums) == 0 {
		h.put("<p>%</p>\n", p.none)
	} else {
		h.totals("", p.counted, p.sums)
	}
	for _, note := range p.sumsNote {
		h.put("<p>%</p>\n", note)
	}
	h.put("</div>\n")
}

// needs writes the tasks of the reader, in the tone of the gravest one.
func (h htmlPage) needs(p *pageHead) {
	gravest := toneNone
	for _, n := range p.needs {
		if n.tone == toneBad || n.tone == toneDoubt && gravest != toneBad {
			gravest = n.tone
		}
	}
	h.put("<div class=\"panel needs %\">\n<h2>What needs you</h2>\n", gravest.class())
	if len(p.needs) == 0 {
		h.put("<p>%</p>\n</div>\n", p.calm)
		return
	}
	h.put("<ul>\n")
	for _, n := range p.needs {
		h.put("<li><span class=\"%\""+n.mark+">%</span>", n.tone.class(), n.text)
		if n.command != "" {
			h.put("<p class=\"command\"><code>%</code></p>", Command(h.screen.here(n.command)))
		}
		h.put("</li>\n")
	}
	h.put("</ul>\n</div>\n")
}

// totals writes a table with a row for each asset of each row that counts something, under the title of
// their first column; "" for none.
func (h htmlPage) totals(title, caption string, rows []totalsRow) {
	t := h.table("narrow fit", caption, column{title: title}, column{title: "Transfers", isNumber: true}, column{title: "Asset"}, column{title: "Sum", isNumber: true})
	most := h.mostPlaces(rows)
	for _, r := range rows {
		if r.totals == nil || r.totals.Count() == 0 {
			continue
		}
		t.body()
		t.totalsRow(r, most)
	}
	t.end()
}

// mostPlaces are the decimals of the most precise sum.
func (h htmlPage) mostPlaces(rows []totalsRow) int {
	most := 0
	for _, r := range rows {
		for total := range r.totals.All() {
			most = max(most, places(h.screen.money(total.Sum, total.Asset)))
		}
	}
	return most
}

// totalsRow writes what one row comes to in each asset.
func (t *htmlTable) totalsRow(r totalsRow, most int) {
	lines := totalsLines([]totalsRow{r})
	t.row()
	t.put("<th scope=\"rowgroup\" rowspan=\"%\">", strconv.Itoa(max(1, lines)))
	t.label(r.label)
	t.put("</th>")
	t.at++
	t.sums(r.totals, lines, most)
}

// sums writes the count of a row and what it comes to, and the rows of its further assets.
func (t *htmlTable) sums(of *transfer.Totals, lines, most int) {
	t.put("<td class=\"number\" data-label=\"%\" rowspan=\"%\">%</td>", t.columns[t.at].title, strconv.Itoa(max(1, lines)), strconv.Itoa(of.Count()))
	t.at++
	asset, first := t.at, true
	for total := range of.All() {
		if !first {
			t.row()
			t.at = asset
		}
		first = false
		t.cell(total.Asset)
		t.number(t.screen.money(total.Sum, total.Asset), most)
	}
}

// label writes the label of a row: the symbol of its action, if it has one, and its name.
func (t *htmlTable) label(label []span) {
	last := label[len(label)-1]
	t.put("<span class=\"%\">", label[0].tone.class())
	if len(label) > 1 {
		t.put("<span class=\"symbol\">%</span>", label[0].text)
	}
	t.put("%</span>", last.text)
}
