package view

import (
	"strconv"

	"remit/internal/text/english"
)

// column is one of a table: its title, which a phone shows beside each cell, and what it holds.
type column struct {
	title    string
	isNumber bool
}

// htmlTable writes a table, cell after cell.
type htmlTable struct {
	htmlPage
	columns          []column
	at               int  // the column of the next cell
	inBody, inRow    bool // the open parts
	isInFoot, isWide bool
}

// table opens a table of some classes with its caption; "" for none. With class stack, its cells are
// below each other on a phone; with class rows, the filters of the page apply to it.
func (h htmlPage) table(class, caption string, columns ...column) *htmlTable {
	t := &htmlTable{htmlPage: h, columns: columns}
	t.put("<table class=\"%\">\n", class)
	if caption != "" {
		t.put("<caption>%</caption>\n", caption)
	}
	t.put("<thead><tr>")
	for _, c := range columns {
		switch {
		case c.title == "":
			t.put("<td></td>")
		case c.isNumber:
			t.put("<th scope=\"col\" class=\"number\">%</th>", c.title)
		default:
			t.put("<th scope=\"col\">%</th>", c.title)
		}
	}
	t.put("</tr></thead>\n")
	return t
}

// wideTable is [htmlPage.table] in a region that scrolls where it is wider than the window.
func (h htmlPage) wideTable(label, class, caption string, columns ...column) *htmlTable {
	h.put("<div class=\"wide\" role=\"region\" aria-label=\"%\" tabindex=\"0\">\n", label)
	t := h.table(class, caption, columns...)
	t.isWide = true
	return t
}

// body closes the open part, and opens a group of rows.
func (t *htmlTable) body() {
	t.closeBody()
	t.put("<tbody>\n")
	t.inBody = true
}

// foot closes the open part, and opens the totals.
func (t *htmlTable) foot() {
	t.closeBody()
	t.put("<tfoot>\n")
	t.inBody, t.isInFoot = true, true
}

func (t *htmlTable) closeRow() {
	if t.inRow {
		t.put("</tr>\n")
		t.inRow = false
	}
}

func (t *htmlTable) closeBody() {
	t.closeRow()
	switch {
	case t.inBody && t.isInFoot:
		t.put("</tfoot>\n")
	case t.inBody:
		t.put("</tbody>\n")
	}
	t.inBody, t.isInFoot = false, false
}

// row opens a row.
func (t *htmlTable) row() { t.rowAs("<tr>") }

// rowOf opens a row of a kind, by which a filter chooses it.
func (t *htmlTable) rowOf(kind string) { t.rowAs("<tr data-kind=\"%\">", kind) }

func (t *htmlTable) rowAs(markup string, texts ...string) {
	t.closeRow()
	if !t.inBody {
		t.body()
	}
	t.put(markup, texts...)
	t.inRow, t.at = true, 0
}

// head writes the cell that names its row.
func (t *htmlTable) head(text string) {
	t.put("<th scope=\"row\">%</th>", text)
	t.at++
}

// headOf is [htmlTable.head] with content that write writes.
func (t *htmlTable) headOf(write func()) {
	t.put("<th scope=\"row\">")
	write()
	t.put("</th>")
	t.at++
}

// cell writes a text.
func (t *htmlTable) cell(text string) { t.cellOf("", func() { t.put("%", text) }) }

// cellOf writes a cell of a class, "" for none, with content that write writes.
func (t *htmlTable) cellOf(class string, write func()) {
	label := t.columns[t.at].title
	switch {
	case class != "" && label != "":
		t.put("<td class=\"%\" data-label=\"%\">", class, label)
	case class != "":
		t.put("<td class=\"%\">", class)
	case label != "":
		t.put("<td data-label=\"%\">", label)
	default:
		t.put("<td>")
	}
	write()
	t.put("</td>")
	t.at++
}

// number writes a number of a column whose most precise one has so many decimals.
func (t *htmlTable) number(number string, most int) { t.numberOf("", number, most) }

// numberOf is [htmlTable.number] in a cell of a class.
func (t *htmlTable) numberOf(class, number string, most int) {
	const lengthy = 20 // characters, for which a phone has no room in a line
	if class != "" {
		class = " " + class
	}
	if len(number)+max(0, most-places(number)) > lengthy {
		class += " lengthy"
	}
	t.cellOf("number"+class, func() { t.htmlPage.number(number, most) })
}

// count writes a whole number.
func (t *htmlTable) count(n int) { t.number(strconv.Itoa(n), 0) }

// end closes the table.
func (t *htmlTable) end() {
	t.closeBody()
	t.put("</table>\n")
	if t.isWide {
		t.put("</div>\n")
	}
}

// htmlFilter is a choice among the rows of a page.
type htmlFilter struct {
	id, label string
	choices   []htmlChoice
}

// htmlChoice is a value that rows carry, and its name.
type htmlChoice struct{ value, name string }

// filters writes a search and some choices, which the script shows, and what they leave: so many of a noun.
func (h htmlPage) filters(search string, count int, noun string, filters ...htmlFilter) {
	h.put("<form id=\"filters\" role=\"search\" hidden>\n<p><label for=\"text\">%</label> <input id=\"text\" type=\"search\" autocomplete=\"off\" spellcheck=\"false\"></p>\n", search)
	for _, f := range filters {
		if len(f.choices) == 0 {
			continue
		}
		h.put("<p><label for=\"%\">%</label> <select id=\"%\"><option value=\"\">all</option>", f.id, f.label, f.id)
		for _, c := range f.choices {
			h.put("<option value=\"%\">%</option>", c.value, c.name)
		}
		h.put("</select></p>\n")
	}
	h.put("<p><button type=\"reset\">Show all</button></p>\n</form>\n<p id=\"shown\" role=\"status\">%</p>\n", english.Plural(count, noun))
}
