package view

import (
	_ "embed" // the style and the script of the page
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"remit/planner"
)

//go:embed html.css
var htmlStyle string

//go:embed html.js
var htmlScript string

// How much of a plan its page lists before all transfers.
const (
	htmlTransfers = 10
	htmlFirsts    = 20
	htmlBatches   = 200
	htmlObstacles = 200
)

// PlanHTML writes a plan as one page that needs nothing else: it loads nothing, can be read
// without its script, which sorts and filters the transfers, and printed. It has every
// transfer, and takes no more memory for more of them. It returns only errors of w.
func PlanHTML(w io.Writer, p *planner.Plan, o PlanOptions) error {
	o.Scales = p.Header.Scales
	h := &htmlPlan{htmlPage: newHTMLPage(w), plan: p, options: o, signals: signalCounts(&p.Changes)}
	h.begin("Plan "+h.digest()+" for "+h.environment(), htmlStyle, htmlScript)
	h.head()
	h.put("<main>\n")
	h.against()
	h.totals()
	h.marks()
	h.movements()
	h.obstacles()
	h.approvals()
	if p.Changes.Len() > 0 {
		v := newOverview(p, overviewOptions{firsts: htmlFirsts, largest: htmlTransfers})
		h.largest(v)
		h.firsts(v)
		h.batches(&v.batches)
		h.flow()
		h.transfers()
	}
	h.put("</main>\n")
	h.put("<footer><p>%</p></footer>\n", h.ending())
	return h.end(htmlScript)
}

// htmlPlan is the page of one plan.
type htmlPlan struct {
	htmlPage
	plan    *planner.Plan
	options PlanOptions
	signals []signalCount
}

func (h *htmlPlan) digest() string { return takeStart(Visible(h.plan.Digest), digestShown) }

func (h *htmlPlan) environment() string {
	if h.options.Sandbox {
		return "sandbox"
	}
	return h.plan.Header.Environment
}

// ending is the plan in a sentence.
func (h *htmlPlan) ending() string {
	if h.plan.Empty() && h.plan.Applicable() {
		return "No changes. " + standing(h.plan)
	}
	return "Plan: " + counts(h.plan)
}

func (h *htmlPlan) head() {
	about := h.plan.Header
	h.put("<header>\n")
	if h.options.Sandbox {
		h.put("<p class=\"environment good\">SANDBOX: no money moves</p>\n")
	} else {
		h.put("<p class=\"environment\">Environment: <strong>%</strong> (%)</p>\n", about.Environment, serviceName(about))
	}
	h.put("<h1>Plan: % to submit, % to resolve</h1>\n", strconv.Itoa(h.plan.Count(planner.Submit)), strconv.Itoa(h.plan.Count(planner.Resolve)))
	if !h.plan.Applicable() {
		h.put("<p class=\"bad\"><strong>%</strong></p>\n", notApplicable)
	} else if h.plan.Empty() {
		h.put("<p>%</p>\n", h.ending())
	}
	h.put("<dl>\n<dt>Digest</dt><dd><code><strong>%</strong>%</code></dd>\n", h.digest(), Visible(h.plan.Digest)[len(h.digest()):])
	if hash := sentHash(h.plan); hash != "" {
		h.put("<dt>Hash total</dt><dd>%</dd>\n", hash)
	}
	if h.options.Saved {
		h.put("<dt>Plan</dt><dd><code>%</code></dd>\n<dt>Author</dt><dd>% <small>(self-declared)</small></dd>\n", about.PlanID, about.Author)
		h.put("<dt>Created</dt><dd>%</dd>\n<dt>Expires</dt><dd>%</dd>\n", moment(about.Created), moment(about.Expires))
	}
	h.named("Partial plan (--target)", about.Targets)
	h.named("Accepted", about.Accepted)
	h.put("</dl>\n")
	if h.plan.Changes.HaveNames() {
		h.put("<p>%</p>\n", namesNote)
	}
	h.put("</header>\n")
}

func (h *htmlPlan) obstacles() {
	if h.plan.Applicable() {
		return
	}
	h.put("<section class=\"obstacles\">\n<h2>What blocks this plan</h2>\n")
	for _, o := range h.plan.Obstacles[:min(len(h.plan.Obstacles), htmlObstacles)] {
		h.put("<h3>%%</h3>\n", string(o.Kind), obstacleScope(o))
		h.put("<p>%</p>\n", o.Detail)
		if len(o.RefIDs) > someMost {
			h.put("<details><summary>Transfers concerned</summary><ul class=\"names\">")
			for _, refID := range o.RefIDs {
				h.put("<li><code>%</code></li>", refID)
			}
			h.put("</ul></details>\n")
		}
		for line := range strings.Lines(o.Remedy) {
			h.put("<p class=\"command\"><code>%</code></p>\n", Command(h.options.here(strings.TrimRight(line, "\n"))))
		}
	}
	if more := len(h.plan.Obstacles) - htmlObstacles; more > 0 {
		h.put("<p>and % more</p>\n", strconv.Itoa(more))
	}
	h.put("</section>\n")
}

func (h *htmlPlan) totals() {
	rows := totalsRows(h.plan)
	if count := h.plan.Count(planner.Undeclared); count > 0 {
		label := []span{{planner.Undeclared.Symbol(), toneDim}, plain("no longer declared")}
		rows = append(rows, totalsRow{label, h.plan.Totals[planner.Undeclared]})
	}
	if len(rows) > 0 {
		h.put("<section>\n<h2>Control totals</h2>\n<table>\n<caption>Count and sum of each action</caption>\n")
		h.put("<thead><tr><th scope=\"col\">Action</th><th scope=\"col\" class=\"number\">Count</th><th scope=\"col\">Asset</th><th scope=\"col\" class=\"number\">Sum</th></tr></thead>\n")
		for _, r := range rows {
			h.put("<tbody>\n")
			h.totalsRow(r, nil)
			h.put("</tbody>\n")
		}
		h.put("</table>\n")
		for _, text := range controlLines(h.plan) {
			h.put("<p>Batch %</p>\n", text)
		}
		h.put("</section>\n")
	}
}

// marks counts the signals.
func (h *htmlPlan) marks() {
	signals := allSignals(h.plan, false)
	if len(signals) == 0 {
		return
	}
	h.put("<section>\n<h2>Signals for the reviewer</h2>\n<ul>\n")
	for _, signal := range signals {
		h.put("<li>%</li>\n", signal)
	}
	h.put("</ul>\n</section>\n")
}

// totalsRow writes a row for each asset of one action, under the same heads.
func (h *htmlPlan) totalsRow(r totalsRow, batch *string) {
	lines := strconv.Itoa(totalsLines([]totalsRow{r}))
	h.put("<tr>")
	if batch != nil {
		h.put("<th scope=\"row\" rowspan=\"%\">%</th>", lines, *batch)
		h.put("<td rowspan=\"%\">", lines)
	} else {
		h.put("<th scope=\"rowgroup\" rowspan=\"%\">", lines)
	}
	h.put("<span class=\"%\"><span class=\"symbol\">%</span>%</span>", r.label[0].tone.class(), r.label[0].text, r.label[1].text)
	if batch != nil {
		h.put("</td>")
	} else {
		h.put("</th>")
	}
	h.put("<td class=\"number\" rowspan=\"%\">%</td>", lines, strconv.Itoa(r.totals.Count()))
	start := ""
	for total := range r.totals.All() {
		h.put(start)
		h.put("<td>%</td><td class=\"number\">%</td></tr>\n", total.Asset, h.options.money(total.Sum, total.Asset))
		start = "<tr>"
	}
}

// class is the tone's in the page's style.
func (t tone) class() string {
	switch t {
	case toneGood:
		return "good"
	case toneDoubt:
		return "doubt"
	case toneBad:
		return "bad"
	case toneDim:
		return "dim"
	case toneStrong:
		return "strong"
	case toneNone:
	}
	return "none"
}

func (h *htmlPlan) flow() {
	f := NewFlow(h.plan, h.options.Names)
	if f.Edges() == 0 {
		return
	}
	h.put("<section>\n<h2 id=\"flow\">Flow of funds</h2>\n<div class=\"wide tall\" role=\"region\" aria-labelledby=\"flow\" tabindex=\"0\">\n")
	_ = f.SVG(h) // into the page, which keeps the error
	h.put("</div>\n</section>\n")
}

func (h *htmlPlan) largest(v *overview) {
	h.changesTable("largest", v.topTitle(htmlTransfers), "The largest transfers to submit", v.topTransfers(htmlTransfers))
}

func (h *htmlPlan) firsts(v *overview) {
	h.changesTable("firsts", fmt.Sprintf("First-time destinations: %s", plural(v.firstsAll, "transfer")),
		"The largest transfers to destinations to which nothing was paid before", v.firsts)
}

// changesTable lists a few transfers.
func (h *htmlPlan) changesTable(id, title, caption string, changes []planner.Change) {
	if len(changes) == 0 {
		return
	}
	h.put("<section>\n<h2 id=\"%\">%</h2>\n", id, title)
	h.put("<div class=\"wide\" role=\"region\" aria-labelledby=\"%\" tabindex=\"0\">\n<table>\n<caption>%</caption>\n", id, caption)
	h.put("<thead><tr><th scope=\"col\" class=\"number\">Amount</th><th scope=\"col\">Asset</th><th scope=\"col\">ref_id</th><th scope=\"col\">To</th><th scope=\"col\">Signals</th></tr></thead>\n<tbody>\n")
	for i := range changes {
		c := &changes[i]
		h.put("<tr><td class=\"number\">%</td><td>%</td><th scope=\"row\">%</th><td>", h.options.amount(c.Request.Amount, c.Request.Asset), c.Request.Asset, c.RefID)
		h.party(payee(c, c.Request), h.options.Names)
		h.put("</td><td>%</td></tr>\n", signalsText(c))
	}
	h.put("</tbody>\n</table>\n</div>\n</section>\n")
}

func (h *htmlPlan) batches(b *batchSums) {
	h.put("<section>\n<h2>Batches</h2>\n<table>\n<caption>Count and sum of each batch and action</caption>\n")
	h.put("<thead><tr><th scope=\"col\">Batch</th><th scope=\"col\">Action</th><th scope=\"col\" class=\"number\">Count</th><th scope=\"col\">Asset</th><th scope=\"col\" class=\"number\">Sum</th></tr></thead>\n<tbody>\n")
	for _, name := range b.names[:min(len(b.names), htmlBatches)] {
		shown := name
		if name == "" {
			shown = "(no batch)"
		}
		for _, r := range b.rows(name) {
			h.totalsRow(totalsRow{r.label[1:], r.totals}, &shown)
		}
	}
	h.put("</tbody>\n</table>\n")
	if more := len(b.names) - htmlBatches; more > 0 {
		h.put("<p>and % more</p>\n", strconv.Itoa(more))
	}
	h.put("</section>\n")
}

// transfers writes a row for each transfer, and what the script needs to filter them.
func (h *htmlPlan) transfers() {
	h.put("<section class=\"all\">\n<h2 id=\"transfers\">Transfers</h2>\n")
	h.filters()
	h.put("<p id=\"shown\" role=\"status\">%</p>\n", plural(h.plan.Changes.Len(), "transfer"))
	h.put("<div class=\"wide\" role=\"region\" aria-labelledby=\"transfers\" tabindex=\"0\">\n<table id=\"all\" role=\"table\">\n<caption>Every transfer of the plan, in declaration order</caption>\n<thead role=\"rowgroup\"><tr role=\"row\">")
	for _, column := range []string{"Action", "ref_id", "Batch", "From", "To", "Amount", "Asset", "Signals and reasons", "Declared at"} {
		h.put("<th scope=\"col\" role=\"columnheader\">%</th>", column)
	}
	h.put("</tr></thead>\n<tbody role=\"rowgroup\">\n")
	for _, c := range h.plan.Changes.All() {
		h.change(c)
	}
	h.put("</tbody>\n</table>\n</div>\n</section>\n")
}

// filters are for the script, which shows them.
func (h *htmlPlan) filters() {
	h.put("<form id=\"filters\" hidden>\n<p><label for=\"text\">Text</label> <input id=\"text\" type=\"search\" autocomplete=\"off\" spellcheck=\"false\"></p>\n")
	h.put("<p><label for=\"action\">Action</label> <select id=\"action\"><option value=\"\">all</option>")
	for _, a := range listed() {
		if h.plan.Count(a) > 0 {
			h.put("<option>%</option>", string(a))
		}
	}
	h.put("</select></p>\n<p><label for=\"signal\">Signal</label> <select id=\"signal\"><option value=\"\">all</option>")
	for i, of := range h.signals {
		h.put("<option value=\"%\">%</option>", strconv.Itoa(i), string(of.kind))
	}
	h.put("</select></p>\n<p><button type=\"reset\">Show all</button></p>\n</form>\n")
}

// change writes the row of a transfer. The roles are there because the style lays rows out as
// grids, so that those that are not to be seen cost nothing.
func (h *htmlPlan) change(c *planner.Change) {
	const cell, next = "<td role=\"cell\">", "</td><td role=\"cell\">"
	r := moved(c)
	class := ""
	if hasMore(c) {
		class = "long"
	}
	h.put("<tr role=\"row\" class=\"%\" data-action=\"%\" data-signals=\"%\">", class, string(c.Action), h.signalNumbers(c))
	h.put("<td role=\"cell\" class=\"%\"><span class=\"symbol\">%</span>%</td>", actionTone(c.Action).class(), c.Action.Symbol(), string(c.Action))
	h.put("<th scope=\"row\" role=\"rowheader\">% <small>%</small></th>"+cell+"%"+next, c.RefID, string(r.Operation), c.Batch)
	h.party(sender(r), h.options.Names)
	h.put(next)
	h.party(payee(c, r), h.options.Names)
	h.put(next+"%"+next+"%"+next, h.options.amount(r.Amount, r.Asset), r.Asset)
	h.notes(c)
	h.put(next+"%</td></tr>\n", c.Place)
}

// signalNumbers are the places of a change's signals among all kinds.
func (h *htmlPlan) signalNumbers(c *planner.Change) string {
	var numbers []string
	for i, of := range h.signals {
		if slices.ContainsFunc(c.Signals, func(s planner.Signal) bool { return s.Kind == of.kind }) {
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
	for _, s := range c.Signals {
		if isFirst(s) {
			h.put("<p class=\"doubt\">%</p>", string(s.Kind))
		}
	}
	for _, note := range changeNotes(c) {
		h.put("<p class=\"%\">%</p>", note.tone.class(), note.text)
	}
	for _, text := range metadataTexts(moved(c)) {
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

// differences writes every field that disagrees, with both values and where they stand.
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
