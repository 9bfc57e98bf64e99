package view

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"remit/internal/text/english"
	"remit/planner"
)

// How much of a plan its page lists before all transfers, and draws.
const (
	htmlTransfers = 10
	htmlFirsts    = 20
	htmlAttention = 20
	htmlBatches   = 200
	htmlObstacles = 200
	htmlArrows    = 16
)

// PlanHTML writes a plan as one page that needs nothing else: it loads nothing, can be read
// without its script, which sorts and filters the transfers, and printed. It has every
// transfer, and takes no more memory for more of them. It returns only errors of w.
func PlanHTML(w io.Writer, p *planner.Plan, o PlanOptions) error {
	o.Scales = p.Header.Scales
	h := newPlanPage(w, p, o)
	h.begin("plan", "Plan "+h.digest()+" for "+h.environment())
	h.head(h.pageHead())
	h.sections()
	return h.end(h.ending())
}

func newPlanPage(w io.Writer, p *planner.Plan, o PlanOptions) *htmlPlan {
	h := &htmlPlan{htmlPage: newHTMLPage(w, o.Screen), plan: p, options: o, signals: p.Signals()}
	h.over = newOverview(p, overviewOptions{firsts: htmlFirsts + htmlTransfers, largest: htmlTransfers})
	return h
}

// sections writes the page below the head.
func (h *htmlPlan) sections() {
	h.against()
	h.obstacles()
	h.approvals()
	if h.plan.Changes.Len() > 0 {
		h.toLookAt()
		h.largest()
		h.firsts()
	}
	h.movements()
	if h.plan.Changes.Len() > 0 {
		h.batches()
		h.flow()
		h.transfers()
	}
}

// htmlPlan is the page of one plan.
type htmlPlan struct {
	htmlPage
	plan    *planner.Plan
	options PlanOptions
	signals []planner.SignalCount
	over    *overview
	rows    htmlRows

	isServed bool // its script changes the page once an approval was given
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
		return "No changes. " + nothingToSend(h.plan)
	}
	return "Plan: " + counts(h.plan)
}

func (h *htmlPlan) pageHead() *pageHead {
	about := h.plan.Header
	head := &pageHead{
		isSandbox: h.options.Sandbox, environment: about.Environment, service: about.Service,
		title:   fmt.Sprintf("Plan: %d to submit, %d to resolve", h.plan.Count(planner.Submit), h.plan.Count(planner.Resolve)),
		counted: "Count and sum of each action", none: nothingToSend(h.plan),
		sums: totalsRows(h.plan), sumsNote: controlLines(h.plan),
		needs: h.toDo(), calm: "Nothing blocks this plan.",
		lists: []namedList{{"Partial plan (--target)", about.Targets}},
	}
	head.lists = append(append(head.lists, acceptedLists("Accepted", about.Accepted)...), namedList{checkedTitle, checkedAgainst(h.plan, h.options.Saved)}, namedList{readTitle, readWarnings(h.plan)}, namedList{lackTitle, lackOf(h.plan)})
	for i := range head.sumsNote {
		head.sumsNote[i] = "Batch " + head.sumsNote[i]
	}
	if count := h.plan.Count(planner.Undeclared); count > 0 {
		label := []span{{planner.Undeclared.Symbol(), toneDim}, plain("no longer declared")}
		head.sums = append(head.sums, totalsRow{label, h.plan.Totals[planner.Undeclared]})
	}
	if hash := sentHash(h.plan); hash != "" {
		head.sumsNote = append([]string{"Hash total " + hash}, head.sumsNote...)
	}
	if !h.plan.Applicable() {
		head.said = span{notApplicable, toneBad}
	} else if h.options.Expired {
		head.said = span{expiredText, toneBad}
	} else if h.plan.Empty() {
		head.said = plain(h.ending())
	}
	head.digest = Visible(h.plan.Digest)
	if h.options.Saved {
		head.about = append(head.about, field{"Plan", about.PlanID}, field{"Author", h.options.author(about, " (self-declared)")},
			field{"Created", moment(about.Created)}, field{"Expires", moment(about.Expires)})
	}
	if h.plan.Changes.HaveNames() {
		head.notes = []string{namesNote}
	}
	return head
}

// toDo lists the tasks of a reviewer: the obstacles of the plan, the approvals that it needs, and
// the signals.
func (h *htmlPlan) toDo() []need {
	var needs []need
	kinds := obstacleKinds(h.plan)
	for _, o := range kinds[:min(len(kinds), largeObstacles)] {
		text := "Blocked: " + string(o.Kind)
		if o.Count > 0 {
			text += fmt.Sprintf(" (%s)", english.Plural(o.Count, "transfer"))
		}
		needs = append(needs, need{text: text, tone: toneBad})
	}
	if more := len(kinds) - largeObstacles; more > 0 {
		needs = append(needs, need{text: fmt.Sprintf("Blocked: %d more kinds of obstacles", more), tone: toneBad})
	}
	if text := begunText(h.plan, Visible) + begunAdvice(h.plan); text != "" {
		needs = append(needs, need{text: text, tone: toneDoubt})
	}
	if a := h.options.Against; a != nil && !a.IsEmpty() {
		needs = append(needs, need{text: a.title(), tone: toneDoubt})
	}
	for i := range h.options.Approvals {
		a := &h.options.Approvals[i]
		needs = append(needs, need{text: a.Ask(), tone: a.tone(), mark: h.mark("approval", i)})
	}
	for _, text := range h.options.warnings() {
		needs = append(needs, need{text: text, tone: toneDoubt})
	}
	for _, signal := range allSignals(h.plan, false) {
		needs = append(needs, need{text: signal, tone: toneNone})
	}
	return needs
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

func (h *htmlPlan) flow() {
	f := NewFlow(h.plan, h.options.Names)
	if f.Edges() == 0 {
		return
	}
	h.put("<section>\n<h2 id=\"flow\">Flow of funds</h2>\n<div class=\"wide flow-picture\" role=\"region\" aria-labelledby=\"flow\" tabindex=\"0\">\n")
	_ = f.picture(h, htmlArrows) // into the page, which keeps the error
	h.put("</div>\n<div class=\"flow-list\">\n")
	d := f.money(htmlArrows)
	t := h.table("stack", "", column{title: "To"}, column{title: "Transfers"}, column{title: "From"})
	for _, a := range d.arrows {
		t.row()
		t.headOf(func() { h.box(d.boxes[a.to]) })
		t.cell(a.label)
		t.cellOf("", func() { h.box(d.boxes[a.from]) })
	}
	t.end()
	for _, note := range d.notes {
		h.put("<p>%</p>\n", note)
	}
	h.put("</div>\n")
	h.put("</section>\n")
}

// box writes the text of a box of the flow.
func (h *htmlPlan) box(b box) {
	lines := b.lines
	if b.isNamed {
		h.put("<b>%</b> ", lines[0])
		lines = lines[1:]
	}
	for _, line := range lines {
		h.put("<span class=\"id\"><code>%</code></span>", line)
	}
}

// largest lists the largest transfers to submit, where the whole list is longer.
func (h *htmlPlan) largest() {
	if h.plan.Changes.Len() > htmlTransfers {
		h.changesTable("largest", h.over.topTitle(htmlTransfers), h.over.topTransfers(htmlTransfers), "")
	}
}

// firsts lists transfers to destinations to which nothing was paid before, without those that are among the
// largest.
func (h *htmlPlan) firsts() {
	if h.plan.Changes.Len() <= htmlTransfers || h.over.firstsAll.Count() == 0 {
		return
	}
	if h.over.isEachFirst() {
		h.put("<p>%</p>\n", everyFirst)
		return
	}
	top := h.over.topTransfers(htmlTransfers)
	listed := h.over.topFirsts(htmlFirsts, top)
	var others []string
	if beyond := h.over.firstsBeyond(h.options.Screen, htmlBatches, top, listed); beyond != "" {
		others = append(others, beyond)
	}
	above := 0
	for i := range top {
		if slices.ContainsFunc(top[i].Signals, isFirst) {
			above++
		}
	}
	if above > 0 {
		others = append(others, fmt.Sprintf("and %d listed above", above))
	}
	h.changesTable("firsts", h.over.firstsTitle()+", the largest not listed above", listed, strings.Join(others, ", "))
}

// changesTable lists a few transfers, and says what it does not list; "" for nothing.
func (h *htmlPlan) changesTable(id, title string, changes []planner.Change, others string) {
	if len(changes) == 0 {
		return
	}
	h.put("<section>\n<h2 id=\"%\">%</h2>\n", id, title)
	t := h.wideTable(title, "stack", "", column{title: "ref_id"}, column{title: "To"}, column{title: "Amount", isNumber: true}, column{title: "Asset"}, column{title: "Signals and reasons"})
	most := 0
	for i := range changes {
		r := moved(&changes[i])
		most = max(most, places(h.options.amount(r.Amount, r.Asset)))
	}
	for i := range changes {
		c := &changes[i]
		r := moved(c)
		t.row()
		t.head(c.RefID)
		t.cellOf("", func() { h.party(payee(c, r), h.options.Names) })
		t.number(h.options.amount(r.Amount, r.Asset), most)
		t.cell(r.Asset)
		t.cellOf("found", func() { h.reasons(c) })
	}
	t.end()
	if others != "" {
		h.put("<p>%</p>\n", others)
	}
	h.put("</section>\n")
}

// reasons says of a transfer in a short list what its other columns do not.
func (h *htmlPlan) reasons(c *planner.Change) {
	if c.Action != planner.Submit {
		h.put("<p class=\"%\">%</p>", actionTone(c.Action).class(), strings.TrimSpace(c.Action.Symbol()+" "+string(c.Action)))
	}
	if slices.ContainsFunc(c.Signals, isFirst) {
		h.put("<p class=\"%\">%</p>", toneDoubt.class(), string(planner.FirstDestination))
	}
	for _, note := range changeNotes(c) {
		h.put("<p class=\"%\">%</p>", note.tone.class(), note.text)
	}
}

func (h *htmlPlan) batches() {
	b := &h.over.batches
	if len(b.names) == 1 && b.names[0] == "" {
		return // the totals say it
	}
	h.put("<section>\n<h2>Batches</h2>\n")
	t := h.table("narrow stack", "Count and sum of each batch and action", column{title: "Batch"}, column{title: "Action"},
		column{title: "Transfers", isNumber: true}, column{title: "Asset"}, column{title: "Sum", isNumber: true})
	most := 0
	for _, name := range b.names[:min(len(b.names), htmlBatches)] {
		most = max(most, h.mostPlaces(b.rows(name)))
	}
	for _, name := range b.names[:min(len(b.names), htmlBatches)] {
		shown := name
		if name == "" {
			shown = "(no batch)"
		}
		t.body()
		for _, r := range b.rows(name) {
			lines := totalsLines([]totalsRow{r})
			t.row()
			t.put("<th scope=\"row\" rowspan=\"%\">%</th><td data-label=\"Action\" rowspan=\"%\">", strconv.Itoa(lines), shown, strconv.Itoa(lines))
			t.label(r.label[1:])
			t.put("</td>")
			t.at = 2
			t.sums(r.totals, lines, most)
		}
	}
	t.end()
	if more := len(b.names) - htmlBatches; more > 0 {
		h.put("<p>and % more</p>\n", strconv.Itoa(more))
	}
	h.put("</section>\n")
}
