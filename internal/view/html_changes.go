package view

import (
	"slices"
	"strconv"
	"strings"

	"remit/planner"
)

// transfers writes a row for each transfer, and what the script needs to filter them.
func (h *htmlPlan) transfers() {
	h.put("<section class=\"all\">\n<h2 id=\"transfers\">Transfers</h2>\n")
	h.planFilters()
	h.rows = htmlRows{htmlPage: h.htmlPage, names: h.options.Names}
	for asset, written := range h.over.decimals {
		scale, _ := h.options.Scales.Of(asset)
		h.rows.places = max(h.rows.places, scale, written)
	}
	h.rows.begin("Every transfer of the plan, in declaration order", "Action", "Signals and reasons")
	for at, n := 0, h.plan.Changes.Len(); at < n; {
		g, end := h.groupFrom(at)
		h.rows.open(g)
		for ; at < end; at++ {
			c := h.plan.Changes.At(at)
			h.change(&c)
		}
	}
	h.rows.end()
	h.put("</section>\n")
}

func (h *htmlPlan) planFilters() {
	actions := htmlFilter{id: "action", label: "Action"}
	for _, a := range listed() {
		if h.plan.Count(a) > 0 {
			actions.choices = append(actions.choices, htmlChoice{string(a), string(a)})
		}
	}
	signals := htmlFilter{id: "signal", label: "Signal"}
	for i, of := range h.signals {
		signals.choices = append(signals.choices, htmlChoice{strconv.Itoa(i), string(of.Kind)})
	}
	h.filters(searchLabel, h.plan.Changes.Len(), "transfer", actions, signals)
}

// searchLabel names the search, which finds whatever a row says.
const searchLabel = "Search name, ref_id or destination"

// groupFrom gathers what the group that begins with a line shares, and says where it ends. The groups are
// those of [groupLines], and never held.
func (h *htmlPlan) groupFrom(first int) (*rowGroup, int) {
	all := &h.plan.Changes
	g := new(rowGroup)
	add := func(c *planner.Change) {
		g.add(c)
		if r := moved(c); !r.Amount.IsZero() {
			g.totals.Add(r.Asset, r.Amount)
		}
	}
	head := all.At(first)
	add(&head)
	at, n := first+1, all.Len()
	isBlock := false
	for ; at < n; at++ {
		c := all.At(at)
		if at == first+1 {
			isBlock = isOfBlock(&head, &c)
		}
		if !isBeside(&head, &c) || isBlock && blockOf(&c) != blockOf(&head) {
			break
		}
		if !isBlock && at+1 < n {
			after := all.At(at + 1)
			if isOfBlock(&c, &after) {
				break
			}
		}
		add(&c)
	}
	g.finish()
	g.title = h.groupTitle(&head, g, isBlock)
	return g, at
}

// groupTitle names the batch of a group, alone where all of it is there, and else its block as well.
func (h *htmlPlan) groupTitle(head *planner.Change, g *rowGroup, isBlock bool) string {
	block := ""
	if isBlock {
		block = "lock " + blockOf(head)
	}
	switch {
	case head.Batch != "" && h.over.batches.count(head.Batch) == g.count:
		return "Batch " + head.Batch
	case head.Batch != "" && block != "":
		return "Of batch " + head.Batch + ", b" + block
	case head.Batch != "":
		return "Of batch " + head.Batch
	case block != "":
		return "B" + block
	}
	return ""
}

// change writes the row of a transfer.
func (h *htmlPlan) change(c *planner.Change) {
	r := moved(c)
	h.rows.write(&row{
		refID: c.RefID, batch: c.Batch, place: c.Place, request: r, to: payee(c, r), isFirst: slices.ContainsFunc(c.Signals, isFirst),
		tone: actionTone(c.Action), symbol: c.Action.Symbol(), word: string(c.Action),
		kind: string(c.Action), signal: h.signalNumbers(c), hasMore: hasMore(c),
	}, func() { h.notes(c) })
}

// signalNumbers are the places of a change's signals among all kinds.
func (h *htmlPlan) signalNumbers(c *planner.Change) string {
	if len(c.Signals) == 0 {
		return ""
	}
	var numbers []string
	for i, of := range h.signals {
		if slices.ContainsFunc(c.Signals, func(s planner.Signal) bool { return s.Kind == of.Kind }) {
			numbers = append(numbers, strconv.Itoa(i))
		}
	}
	return strings.Join(numbers, " ")
}

// hasMore reports whether there is more to say of a transfer than fits a column.
func hasMore(c *planner.Change) bool {
	return len(c.Differences) > 0 || c.Recorded != nil && (c.Action == planner.Resolve || c.Action == planner.Conflict)
}

// notes says what the other columns do not, as the terminal's face does.
func (h *htmlPlan) notes(c *planner.Change) {
	for _, note := range h.rows.group.ownNotes(c) {
		h.put("<p class=\"%\">%</p>", note.tone.class(), note.text)
	}
	for _, text := range itemTexts(h.rows.group.ownMetadata(moved(c))) {
		h.put("<p class=\"dim\">%</p>", text)
	}
	h.differences(c)
	if r := c.Recorded; r != nil && (c.Action == planner.Resolve || c.Action == planner.Conflict) {
		h.put("<p>state: %", r.Status.String())
		for _, part := range []struct{ name, value string }{
			{"", string(r.RecordStatus)}, {"since ", momentOrNone(r.At)}, {"run ", r.RunID}, {"group_id ", r.GroupID}, {"declared at ", r.Place}, {"", r.Reason},
		} {
			if part.value != "" {
				h.put(", %%", part.name, part.value)
			}
		}
		h.put("</p>")
		if c.Action == planner.Resolve && r.Body != "" {
			h.put("<p>recorded request: POST <code>%</code> <code>", r.Path)
			for _, part := range chop(Visible(r.Body), spanWidthMax) {
				h.put("%", part)
			}
			h.put("</code></p>")
		}
	}
	if c.Next != "" {
		h.put("<p class=\"command\"><code>%</code></p>", Command(h.options.here(c.Next)))
	}
}

// differences writes every field that disagrees, with both values and their places.
func (h *htmlPlan) differences(c *planner.Change) {
	if len(c.Differences) == 0 {
		return
	}
	asked, answered := versions(c)
	asked += at(c.Place)
	if c.Recorded != nil {
		answered += at(c.Recorded.Place)
	}
	h.put("<table class=\"differences\"><tbody><tr><th scope=\"col\">field</th><th scope=\"col\">%</th><th scope=\"col\">%</th></tr>", asked, answered)
	for _, d := range c.Differences {
		h.put("<tr><th scope=\"row\">%</th><td>%</td><td>%</td></tr>", d.Field, value(h.options.valueOf(d.Field, d.Asked, c.Request.Asset)).text, value(h.options.valueOf(d.Field, d.Answered, c.Request.Asset)).text)
	}
	h.put("</tbody></table>")
}
