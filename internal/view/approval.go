package view

import (
	"fmt"
	"slices"
	"strings"

	"remit/internal/approval"
	"remit/internal/text/english"
	"remit/planner"
)

// Approval is what an approval block asks of a plan, and who gave it.
type Approval struct {
	approval.Verdict
	// Saved says that the plan is in a file, beside which signatures were looked for.
	Saved bool
	// Rehearsed says that the plan is for the sandbox, where only a practising apply waits for an approval.
	Rehearsed bool
}

// Ask is the request for approvals, in one line.
func (a *Approval) Ask() string {
	why := fmt.Sprintf("%s (rule at %s)", a.Need.Because, Visible(a.Need.Rule.Place))
	text := fmt.Sprintf("Needs %s: %s.", a.Need.Wants(), why)
	switch {
	case !a.Saved:
		text += fmt.Sprintf(" Without its author's signature, which --sign makes, it needs %d.", a.Need.Approvers+1) + a.tooFew()
	case a.Enough():
		text = fmt.Sprintf("Approved by %d of %s: %s.", len(a.Approvers), english.Plural(a.Needed(), "approver"), why)
	default:
		text = fmt.Sprintf("Not approved yet: %d of %s: %s.", len(a.Approvers), english.Plural(a.Needed(), "approver"), why)
	}
	if a.Rehearsed {
		text += " The sandbox waits for it with --practice-approvals only."
	}
	return text
}

// tooFew says that fewer people could approve the plan now than it needs; "" where there are enough.
func (a *Approval) tooFew() string {
	if len(a.Could) >= a.Need.Approvers {
		return ""
	}
	if len(a.Could) == 0 {
		return " Nobody can approve it now: every key but the author's is out of date, revoked or for another use."
	}
	return fmt.Sprintf(" Only %s can approve it now: other keys are out of date, revoked or for another use.", Visible(some(a.Could, len(a.Could))))
}

// AssetsToType are the assets of a plan in the order in which an approver types their totals.
func AssetsToType(plan *planner.Plan, asked []Approval) []string {
	var needs []approval.Need
	for i := range asked {
		needs = append(needs, asked[i].Need)
	}
	return approval.AssetsToType(plan.Sent(), needs)
}

// ApprovalNow is an [Approval] for the script of a page that asked for one.
type ApprovalNow struct {
	Ask     string   `json:"ask"`
	Details []string `json:"details"`
	Enough  bool     `json:"enough"`
}

// ApprovalsNow are the approvals as they are once one more was given.
func ApprovalsNow(asked []Approval) []ApprovalNow {
	now := []ApprovalNow{}
	for i := range asked {
		now = append(now, ApprovalNow{asked[i].Ask(), asked[i].details(), asked[i].Enough()})
	}
	return now
}

// mark is the attribute by which the script of a served page finds a text about an approval; "" on other pages.
func (h *htmlPlan) mark(of string, i int) string {
	if !h.isServed {
		return ""
	}
	return fmt.Sprintf(" data-%s=\"%d\"", of, i)
}

// details are who signed, which signatures do not count, and who could sign: a line each.
func (a *Approval) details() []string {
	if !a.Saved {
		return nil
	}
	signed := func(role string, c *approval.Counted) string {
		return fmt.Sprintf("%s %s, in %s", role, Visible(c.Principal), Visible(c.File.Name))
	}
	lines := []string{"unsigned by its author, so one more approver is needed"}
	if a.Author != nil {
		lines[0] = signed("signed by its author", a.Author)
	}
	for i := range a.Approvers {
		lines = append(lines, signed("approved by", &a.Approvers[i]))
	}
	for _, d := range a.Discounted {
		lines = append(lines, fmt.Sprintf("does not count: %s: %s", Visible(d.File), Visible(d.Detail)))
	}
	if could := a.could(); could != "" && !a.Enough() {
		lines = append(lines, could)
	}
	return lines
}

// could is who could still approve.
func (a *Approval) could() string {
	if len(a.Could) == 0 {
		return "could still approve: nobody"
	}
	const most = 20
	text := strings.Join(a.Could[:min(len(a.Could), most)], ", ")
	if more := len(a.Could) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return "could still approve: " + Visible(text)
}

// approvals writes what approval blocks ask of a plan, and who gave it.
func (p *page) approvals(o PlanOptions) {
	for i := range o.Approvals {
		a := &o.Approvals[i]
		p.paragraph("  ", a.Ask(), a.tone())
		p.approvalLines(a)
	}
	p.approvalsEnd(o)
}

// approvalsInBrief writes a line for each block.
func (p *page) approvalsInBrief(o PlanOptions) {
	for i := range o.Approvals {
		p.paragraph("  ", o.Approvals[i].Ask(), o.Approvals[i].tone())
	}
	p.approvalsEnd(o)
}

// approvalDetails writes what approvalsInBrief left out.
func (p *page) approvalDetails(o PlanOptions) {
	for i := range o.Approvals {
		if a := &o.Approvals[i]; a.Saved {
			p.line(strong("Approval of the rule at " + Visible(a.Need.Rule.Place)))
			p.approvalLines(a)
			p.line()
		}
	}
}

func (p *page) approvalLines(a *Approval) {
	for _, line := range a.details() {
		p.paragraph("    ", line, toneNone)
	}
}

func (p *page) approvalsEnd(o PlanOptions) {
	texts := o.warnings()
	for _, text := range texts {
		p.paragraph("  ", text, toneDoubt)
	}
	if len(texts) > 0 || len(o.Approvals) > 0 {
		p.line()
	}
}

func (a *Approval) tone() tone {
	if a.Saved && a.Enough() {
		return toneGood
	}
	return toneDoubt
}

// noTier says which assets no approval rule has an amount for; "" for none.
func (o PlanOptions) noTier() string {
	if len(o.NoTier) == 0 {
		return ""
	}
	return fmt.Sprintf("Warning: no approval rule has an amount for %[1]s. Name %[1]s in above of a rule, or write a rule without above.",
		Visible(some(o.NoTier, len(o.NoTier))))
}

// noLimit says which assets no limit counts; "" for none.
func (o PlanOptions) noLimit() string {
	if len(o.NoLimit) == 0 {
		return ""
	}
	return fmt.Sprintf("Warning: no limit has an amount for %[1]s. Write a limit block with asset = %[2]q, or correct the asset of one.",
		Visible(some(o.NoLimit, len(o.NoLimit))), Visible(o.NoLimit[0]))
}

// otherBlocks says which control blocks of the plan are not those of the configuration.
func (o PlanOptions) otherBlocks() []string {
	var texts []string
	for _, b := range o.OtherBlocks[:min(len(o.OtherBlocks), largeBatches)] {
		texts = append(texts, fmt.Sprintf("Warning: the control block of batch %s has %s in this plan, and %s in the configuration. One of them was edited since; apply refuses this plan.",
			Visible(b.Batch), Visible(b.Said), Visible(b.Here)))
	}
	if more := len(o.OtherBlocks) - largeBatches; more > 0 {
		texts = append(texts, fmt.Sprintf("Warning: the control blocks of %d batches more are others here.", more))
	}
	return texts
}

// warnings are those of assets that no approval rule and no limit looks at, and of control blocks that were edited.
func (o PlanOptions) warnings() []string {
	return append(o.otherBlocks(), slices.DeleteFunc([]string{o.noTier(), o.noLimit()}, func(text string) bool { return text == "" })...)
}

func (m *markdown) approvals() {
	for i := range m.options.Approvals {
		a := &m.options.Approvals[i]
		m.printf("**Approval:** %s\n\n", codeSpan(a.Ask()))
		if lines := a.details(); len(lines) > 0 {
			m.printf("%s", codeBlock(strings.Join(lines, "\n")+"\n", markdownObstacles))
		}
	}
	for _, text := range m.options.warnings() {
		m.printf("%s\n\n", codeSpan(text))
	}
}

func (h *htmlPlan) approvals() {
	if len(h.options.Approvals) == 0 && len(h.options.warnings()) == 0 {
		return
	}
	h.put("<section class=\"approvals\">\n<h2>Approval</h2>\n")
	for i := range h.options.Approvals {
		a := &h.options.Approvals[i]
		h.put("<p"+h.mark("approval", i)+">%</p>\n", a.Ask())
		if lines := a.details(); len(lines) > 0 {
			h.put("<ul" + h.mark("signed", i) + ">\n")
			for _, line := range lines {
				h.put("<li>%</li>\n", line)
			}
			h.put("</ul>\n")
		}
	}
	for _, text := range h.options.warnings() {
		h.put("<p>%</p>\n", text)
	}
	h.put("</section>\n")
}

// approvalLine is an [Approval] for programs.
type approvalLine struct {
	Type       string           `json:"type"` // "approval"
	Rule       string           `json:"rule"` // file:line
	Because    string           `json:"because"`
	Needed     int              `json:"needed"` // approvers, one more where nobody signed as the author
	Enough     bool             `json:"enough"`
	Author     *signatureLine   `json:"author,omitempty"`
	Approvers  []signatureLine  `json:"approvers,omitempty"`
	Discounted []discountedLine `json:"discounted,omitempty"`
	Could      []string         `json:"could,omitempty"` // principals
}

type signatureLine struct {
	Principal   string `json:"principal"`
	Fingerprint string `json:"fingerprint"`
	File        string `json:"file"`
}

type discountedLine struct {
	File      string `json:"file"`
	Principal string `json:"principal,omitempty"`
	Why       string `json:"why"`
	Detail    string `json:"detail"`
}

func (j *JSON) approval(a *Approval) { j.write(newApprovalLine(a)) }

func newApprovalLine(a *Approval) approvalLine {
	line := approvalLine{
		Type: "approval", Rule: a.Need.Rule.Place, Because: a.Need.Because,
		Needed: a.Needed(), Enough: a.Enough(), Could: a.Could,
	}
	signed := func(c *approval.Counted) signatureLine {
		return signatureLine{c.Principal, c.Key.Fingerprint(), c.File.Name}
	}
	if a.Author != nil {
		author := signed(a.Author)
		line.Author = &author
	}
	for i := range a.Approvers {
		line.Approvers = append(line.Approvers, signed(&a.Approvers[i]))
	}
	for _, d := range a.Discounted {
		line.Discounted = append(line.Discounted, discountedLine{d.File, d.Principal, string(d.Why), d.Detail})
	}
	return line
}
