package view

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"remit/config"
	"remit/internal/text/english"
	"remit/internal/text/shell"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// linesMax is how many transfers a plan lists one by one unless all are asked for.
const linesMax = 200

// PlanOptions say how to show a plan.
type PlanOptions struct {
	Screen
	Sandbox bool // the plan is for the embedded service
	ShowAll bool // list every transfer, undeclared ones included, however many there are
	Saved   bool // the plan is in a file: say whose it is and until when it holds
	Expired bool // its time is over: no apply takes it any more

	// Approvals are what the rules that apply ask of the plan; NoTier the assets that they have
	// no amount for.
	Approvals []Approval
	NoTier    []string

	// NoLimit are the assets of the plan that no limit counts, where there are limits.
	NoLimit []string

	// OtherBlocks are the control blocks of a saved plan that are not those of the configuration.
	OtherBlocks []planner.ControlBlock

	// All is the command that lists every transfer; "" for all of a plan that is not saved.
	All string

	// Against has the changes since an earlier plan; nil where nobody asks. It takes the place of the lines,
	// unless all are asked for.
	Against *Against

	// MayLack says that the state lacks events or may, which a person has to bring in.
	MayLack bool

	// Reviewed says that approvers signed exactly this plan, which is sent now: on a terminal its lines are
	// left out, unless all are asked for.
	Reviewed bool

	// Names are the labels of profiles by profile_id. They are shown beside the ID, never
	// in its place. nil for none.
	Names map[string]string
}

// Plan writes a plan for a person: the environment, then totals, then the obstacles in the
// way, then one line a transfer in declaration order, or a summary where there are more
// than 200, and at the end the counts once more with the beginning of the digest. It
// returns only errors of w.
func Plan(w io.Writer, p *planner.Plan, o PlanOptions) error {
	o.Scales = p.Header.Scales
	page := newPage(w, o.Screen)
	page.planHead(p, o)
	if o.Against != nil {
		page.against(o.Against, o.Names, o.mostOfKind())
	}
	switch {
	case isQuiet(p):
	case o.Against != nil && !o.ShowAll:
		page.totals(p, 0)
		page.controlled(p)
		page.signals(p)
		page.obstacles(p)
		page.approvals(o)
	case o.isLarge(p):
		page.large(p, o)
		page.line()
	default:
		page.totals(p, 0)
		page.controlled(p)
		page.signals(p)
		page.movements(p, false, o)
		page.obstacles(p)
		page.approvals(o)
		if o.Reviewed && o.Terminal && !o.ShowAll {
			page.reviewed(p, o)
		} else {
			page.planBody(p, o)
		}
	}
	page.planEnd(p, o)
	return page.Flush()
}

// reviewed stands in the place of the lines of a plan that its approvers have read.
func (p *page) reviewed(plan *planner.Plan, o PlanOptions) {
	p.line(dim("Its approvers signed these " + english.Plural(plan.Changes.Len(), "transfer") + ". To see all of them:"))
	p.command("", p.here(o.all()))
	p.line()
}

// planScreen shows amounts as a plan has them shown.
func planScreen(plan *planner.Plan) Screen { return Screen{Scales: plan.Header.Scales} }

// isLarge reports whether a plan is shown as a summary.
func (o PlanOptions) isLarge(plan *planner.Plan) bool {
	return plan.Changes.Len() > linesMax && !o.ShowAll
}

func (o PlanOptions) all() string {
	if o.All == "" {
		return "remit plan --show=all"
	}
	return o.All
}

// author names who made a plan: the signer, where a signature as the author counted, with the name that the plan says
// where that is another one; else who it says, with a remark on that.
func (o PlanOptions) author(h planner.Header, unproven string) string {
	for i := range o.Approvals {
		if signed := o.Approvals[i].Author; signed != nil {
			return signedAuthor(signed.Principal, h.Author)
		}
	}
	return h.Author + unproven
}

// expiredText warns a reviewer of a plan whose time is over.
const expiredText = "The plan has expired: no apply takes it any more. Make a new one."

// isQuiet reports whether a plan has nothing to list: everything declared is recorded.
func isQuiet(p *planner.Plan) bool { return p.Changes.Len() == 0 && p.Applicable() }

// planHead is the head of a plan, for those who review it.
func (p *page) planHead(plan *planner.Plan, o PlanOptions) {
	p.headWith(plan, o, checkedAgainst(plan, o.Saved), readWarnings(plan))
}

// headWith is the head of a plan, and of an answer about it, with these controls and warnings of its data files.
func (p *page) headWith(plan *planner.Plan, o PlanOptions, checked, warnings []string) {
	h := plan.Header
	p.environmentLine(o.Sandbox, h.Environment, h.Service)
	if o.Saved {
		p.paragraph("", Visible(fmt.Sprintf("Plan %s by %s, created %s, expires %s",
			h.PlanID, o.author(h, ""), moment(h.Created), moment(h.Expires))), toneDim)
	}
	if o.Expired {
		p.paragraph("", expiredText, toneBad)
	}
	p.named("Partial plan (--target)", h.Targets, o.isLarge(plan))
	p.accepted(h.Accepted, o.isLarge(plan))
	p.namedIn(checkedTone(checked), checkedTitle, checked, o.isLarge(plan))
	p.named(readTitle, warnings, false)
	p.named(lackTitle, lackOf(plan), false)
	if text := begunText(plan, Visible); text != "" {
		p.paragraph("", text+begunAdvice(plan), toneDoubt)
	}
	p.line()
}

// serviceName says for which service a plan is.
func serviceName(h planner.Header) string {
	if h.Service == state.NoService() {
		return "no service block"
	}
	return h.Service.BaseURL
}

// listed are the actions in the order in which totals name them: those that move money first.
func listed() []planner.Action {
	return []planner.Action{
		planner.Submit, planner.Resolve, planner.Conflict, planner.Failed,
		planner.Expired, planner.Wait, planner.None,
	}
}

// totals writes the count and the sum per asset of each action that occurs, of at most so
// many assets each; 0 for all.
func (p *page) totals(plan *planner.Plan, assets int) {
	rows := totalsRows(plan)
	if len(rows) > 0 {
		p.totalsTable(rows, assets)
		p.line()
	}
}

// signals counts the marks for the reviewer.
func (p *page) signals(plan *planner.Plan) {
	signals := allSignals(plan, true)
	if len(signals) > 0 {
		p.paragraph("  ", "Signals: "+strings.Join(signals, ", "), toneDoubt)
		p.line()
	}
	if plan.Changes.HaveNames() {
		p.paragraph("  ", namesNote, toneDim)
		p.line()
	}
}

// allSignals are the counted marks, and what else on top a reviewer should know.
func allSignals(plan *planner.Plan, isMarked bool) []string {
	signals := countSignals(plan.Signals(), isMarked)
	if n := plan.Shortened(); n > 0 {
		signals = append(signals, fmt.Sprintf("%d with a shorter duplicate check (%s)", n, shortestCheck(plan)))
	}
	return signals
}

// shortestCheck is the shortest time in which a look-alike of a transfer to submit stops the plan.
func shortestCheck(plan *planner.Plan) string {
	shortest := config.DuplicateWithinDefault
	for c := range plan.Changes.Kinds() {
		if c.Action == planner.Submit {
			shortest = min(shortest, c.DuplicateWithin)
		}
	}
	const day = 24 * time.Hour
	switch {
	case shortest == 0:
		return "none"
	case shortest%day == 0:
		return english.Plural(int(shortest/day), "day")
	}
	return shortest.String()
}

// totalsRows are the totals of each action that occurs.
func totalsRows(plan *planner.Plan) []totalsRow {
	var rows []totalsRow
	for _, a := range listed() {
		if plan.Count(a) == 0 {
			continue
		}
		rows = append(rows, totalsRow{
			label:  []span{{a.Symbol(), actionTone(a)}, plain(string(a))},
			totals: plan.Totals[a],
		})
	}
	return rows
}

// totalsRow is one line of a table of counts and sums.
type totalsRow struct {
	label  []span
	totals *transfer.Totals // nil counts nothing
}

// totalsLines is how many lines a table of all assets has.
func totalsLines(rows []totalsRow) int {
	lines := 0
	for _, r := range rows {
		for range r.totals.All() {
			lines++
		}
	}
	return lines
}

// totalsTable aligns counts and sums, and leaves out rows of no transfer; further assets of a row are below its first, at
// most so many in all, with 0 for all.
func (p *page) totalsTable(rows []totalsRow, assets int) {
	rows = slices.DeleteFunc(rows, func(r totalsRow) bool { return r.totals == nil || r.totals.Count() == 0 })
	var numbers point
	for _, r := range rows {
		for total := range r.totals.All() {
			numbers.fit(p.money(total.Sum, total.Asset))
		}
	}
	var cells [][]span
	for _, r := range rows {
		row := append(append([]span{}, r.label...), strong(fmt.Sprint(r.totals.Count())))
		n := 0
		for total := range r.totals.All() {
			if n++; assets > 0 && n > assets {
				continue
			}
			cells = append(cells, append(row, plain(total.Asset), strong(numbers.align(p.money(total.Sum, total.Asset)))))
			row = make([]span, len(row))
		}
		if more := n - assets; assets > 0 && more > 0 {
			last := &cells[len(cells)-1]
			*last = append(*last, dim("and "+english.Plural(more, "more asset")))
		}
	}
	right := 0
	if len(rows) > 0 {
		right = len(rows[0].label)
	}
	p.table("  ", cells, right)
}

// signalText counts marks of a kind.
func signalText(kind planner.SignalKind, count int) string {
	return fmt.Sprintf("%d %s", count, Visible(kind.Noun(count)))
}

// countSignals says how many marks of each kind there are, and where isMarked, by what sign a
// line says so.
func countSignals(counts []planner.SignalCount, isMarked bool) []string {
	var parts []string
	for _, of := range counts {
		part := signalText(of.Kind, of.Count)
		if isMarked && of.Kind == planner.FirstDestination {
			part += " (marked " + firstMark + ")"
		}
		if of.Accepted > 0 {
			part += fmt.Sprintf(" (%d accepted)", of.Accepted)
		}
		parts = append(parts, part)
	}
	return parts
}

// obstacles writes why the plan can't be applied, each reason with its remedy.
func (p *page) obstacles(plan *planner.Plan) {
	if plan.Applicable() {
		return
	}
	p.line(span{notApplicable, toneBad})
	p.line()
	p.obstacleList(plan.Obstacles)
}

func (p *page) obstacleList(obstacles []planner.Obstacle) {
	for _, o := range obstacles {
		p.line(span{"  " + string(o.Kind), toneBad}, plain(obstacleScope(o)))
		p.paragraph("    ", o.Detail, toneNone)
		if o.Remedy != "" {
			p.line()
			for line := range strings.SplitSeq(strings.TrimRight(o.Remedy, "\n"), "\n") {
				p.command("    ", p.here(line))
			}
		}
		p.line()
	}
}

const notApplicable = "This plan cannot be applied."

func obstacleScope(o planner.Obstacle) string {
	if len(o.RefIDs) == 0 {
		return ""
	}
	return fmt.Sprintf(": %s (%s)", english.Plural(max(o.Count, len(o.RefIDs)), "transfer"), some(o.RefIDs, o.Count))
}

func (p *page) planBody(plan *planner.Plan, o PlanOptions) {
	if plan.Changes.Len() > 0 {
		isCut := p.grouped(plan.Changes.Slice(), o)
		p.line()
		if isCut {
			p.line(dim("To see all of them:"))
			p.command("", p.here(o.all()))
			p.line()
		}
	}
}

// notApplicable names the obstacles of a plan, if there are any.
func (p *page) notApplicable(plan *planner.Plan) {
	if plan.Applicable() {
		return
	}
	var kinds []string
	for _, o := range plan.Obstacles {
		kinds = append(kinds, Visible(string(o.Kind)))
	}
	p.paragraph("", "This plan cannot be applied: "+strings.Join(kinds, ", ")+".", toneBad)
}

func (p *page) planEnd(plan *planner.Plan, o PlanOptions) {
	p.undeclared(plan, o)
	if plan.Empty() && plan.Applicable() {
		p.paragraph("", "No changes. "+nothingToSend(plan), toneStrong)
		return
	}
	p.paragraph("", "Plan: "+counts(plan), toneStrong)
	if text := begunText(plan, Visible); text != "" {
		p.paragraph("", text, toneDoubt)
	}
	p.notApplicable(plan)
	if hash := sentHash(plan); hash != "" {
		p.line(plain("Hash total: " + hash))
	}
	if len(plan.Digest) >= digestShown {
		p.line(plain("Digest: " + plan.Digest[:digestShown]))
	}
}

// sentHash is the hash total of the submits and resolves; "" where there are none.
func sentHash(plan *planner.Plan) string {
	sent := plan.Sent()
	if sent.Count() == 0 {
		return ""
	}
	return hashTotalShown(&sent)
}

// controlled writes the control totals of the batches that have a control block.
func (p *page) controlled(plan *planner.Plan) {
	lines := controlLines(plan)
	for _, text := range lines[:min(len(lines), largeBatches)] {
		p.paragraph("  ", "Batch "+Visible(text), toneNone)
	}
	if more := len(lines) - largeBatches; more > 0 {
		p.line(dim(fmt.Sprintf("  and %d more batches", more)))
	}
	if len(lines) > 0 {
		p.line()
	}
}

// controlLines are the control totals of each batch that has a control block.
func controlLines(plan *planner.Plan) []string {
	var lines []string
	for i := range plan.Batches {
		if b := &plan.Batches[i]; b.Controlled {
			lines = append(lines, b.Name+" as declared: "+planScreen(plan).controlText(&b.Totals))
		}
	}
	return lines
}

// digestShown is how many characters of a plan's digest identify it: so many that nobody finds two plans with the
// same ones, which takes 2^64 tries. 12 take seconds.
const digestShown = 32

func (p *page) undeclared(plan *planner.Plan, o PlanOptions) {
	p.unmade(plan)
	count := plan.Count(planner.Undeclared)
	if count == 0 {
		return
	}
	text := "recorded transfers are no longer declared"
	if count == 1 {
		text = "recorded transfer is no longer declared"
	}
	text = fmt.Sprintf("# %d %s%s", count, text, inBrackets(Visible(p.sums(plan.Totals[planner.Undeclared]))))
	if failed := p.undeclaredFailed(plan); failed != "" {
		text += ". Of these " + failed
	}
	if !o.ShowAll {
		p.paragraph("", text+". "+map[bool]string{true: "To see it:", false: "To see them:"}[count == 1], toneDim)
		p.command("", p.here("remit plan --show=all")) // a saved plan has no line for them
		p.line()
		return
	}
	p.paragraph("", text, toneDim)
	p.line()
	if len(plan.Undeclared) > 0 {
		p.changes(plan.Undeclared, o)
		p.line()
	}
}

// unmade lists transfers that were refused or never sent, and are no longer declared: nobody asks for them any more, and nobody has paid them.
func (p *page) unmade(plan *planner.Plan) {
	count := plan.Unmade.Count()
	if count == 0 {
		return
	}
	text := fmt.Sprintf("# %s no longer declared%s: %s", english.Plural(count, "transfer")+map[bool]string{true: " was not made, and is", false: " were not made, and are"}[count == 1],
		inBrackets(Visible(p.sums(&plan.Unmade.Totals))), Visible(strings.Join(plan.Unmade.RefIDs, ", ")))
	if more := count - len(plan.Unmade.RefIDs); more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	p.paragraph("", text+". Declare again what is still to be paid, and settle the rest:", toneDim)
	p.command("", p.here("remit state forget "+shell.Word(plan.Unmade.RefIDs[0])))
	p.line()
}

// undeclaredFailed says how many of the transfers that are no longer declared FAILED; "" for none.
func (p *page) undeclaredFailed(plan *planner.Plan) string {
	failed := &plan.UndeclaredFailed
	if failed.Count() == 0 {
		return ""
	}
	return fmt.Sprintf("%d FAILED%s", failed.Count(), inBrackets(Visible(p.sums(failed))))
}

// counts is the plan in one sentence.
func counts(plan *planner.Plan) string {
	parts := []string{
		fmt.Sprintf("%d to submit%s", plan.Count(planner.Submit), inBrackets(Visible(planScreen(plan).sums(plan.Totals[planner.Submit])))),
		fmt.Sprintf("%d to resolve%s", plan.Count(planner.Resolve), inBrackets(Visible(planScreen(plan).sums(plan.Totals[planner.Resolve])))),
	}
	return strings.Join(append(parts, countsIdle(plan)...), ", ") + "."
}
