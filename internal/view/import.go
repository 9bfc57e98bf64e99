package view

import (
	"fmt"
	"io"
	"strings"

	"remit/executor"
	"remit/internal/text/english"
	"remit/internal/transfer"
	"remit/state"
)

// Import is what an import would record, before it is written.
type Import struct {
	Meta     state.Meta // of the state into which it goes
	Records  int        // that count
	RefIDs   int        // of which there are records
	Repeated int        // further copies of a record, left out
	Without  int        // records without a ref_id that can be declared, left out
	Others   int        // ref_ids of nothing but deposits and withdrawals, which nobody declares, left out

	Listed      int // ref_ids of lists
	ListedTwice int // further copies of their lines, left out
	// LeftOut are ref_ids of lists that are not taken, at most [ImportLinesMax] and LeftOutCount in
	// all.
	LeftOut      []ImportLeftOut
	LeftOutCount int

	// Look are the transfers of the files that the state has in doubt, unverified or in conflict
	// already.
	Look int

	// Outcome is how the run would end, and Lines its first transfers that would be written, at
	// most [ImportLinesMax].
	Outcome executor.Summary
	Lines   []executor.Event
	Doubts  int // of which the import would write that they are in doubt: their records do not decide
	// Known are the transfers that the state has already, and Differing those of them of
	// which the file says something else, at most [ImportLinesMax] and DifferingCount in all.
	Known          transfer.Totals
	Differing      []ImportDifference
	DifferingCount int
}

// ImportLinesMax is how many transfers of an import are listed one by one.
const ImportLinesMax = linesMax

// ImportDifference is a transfer that the state has, and of which a file says something else.
type ImportDifference struct {
	RefID  string       `json:"ref_id"`
	Status state.Status `json:"status"` // as the state has it
	Reason string       `json:"reason"`
}

// ImportLeftOut is a ref_id of a list of which neither the list nor a declaration has the amount.
type ImportLeftOut struct {
	RefID string `json:"ref_id"`
	Place string `json:"place"` // file:line
}

// NeedsPerson reports whether a person should look at some of what the files have, whatever the
// import records.
func (i *Import) NeedsPerson() bool { return i.DifferingCount > 0 || i.LeftOutCount > 0 || i.Look > 0 }

// writes are the results that an import would write.
func (i *Import) writes() []executor.Result {
	return []executor.Result{
		executor.ResultRecorded, executor.ResultAdopted, executor.ResultUnverified, executor.ResultFailed, executor.ResultConflict,
	}
}

// Writes is how many transfers the import would write something of.
func (i *Import) Writes() int {
	n := i.Doubts
	for _, result := range i.writes() {
		if t := i.Outcome.Totals[result]; t != nil {
			n += t.Count()
		}
	}
	return n
}

// ImportPlan writes what an import would record: the count and the sums of each result and of
// transfers that are there already, each transfer where they are few and the exceptions else, and what the
// file says otherwise than the state. It returns only errors of w.
func ImportPlan(w io.Writer, i *Import, s Screen) error {
	p := newPage(w, s)
	p.environmentLine(i.Meta.Service.IsSandbox(), i.Meta.Environment, i.Meta.Service)
	p.line()
	p.paragraph("", "Import: "+i.files()+"."+i.leftOut(), toneNone)
	p.line()
	i.writeTotals(p)
	exceptions := i.Outcome
	exceptions.Exceptions = nil
	few := i.Writes() <= ImportLinesMax
	if few {
		i.writeLines(p)
	}
	for _, e := range i.Outcome.Exceptions {
		if e.Result == executor.ResultNotAttempted {
			continue // they are told apart
		}
		if !few || e.Result == executor.ResultInDoubt {
			exceptions.Exceptions = append(exceptions.Exceptions, e)
		}
	}
	p.exceptions(exceptions, "")
	i.writeAbsent(p)
	i.writeLeftOut(p)
	i.writeDiffering(p)
	p.line()
	p.paragraph("", i.sentence(), toneStrong)
	return p.Flush()
}

// writeLines writes a line for each transfer.
func (i *Import) writeLines(p *page) {
	if len(i.Lines) == 0 {
		return
	}
	p.line()
	r := Run{}
	for _, e := range i.Lines {
		r.ref = min(max(r.ref, displayWidth(e.RefID)), 48)
		r.amount.fit(p.amount(e.Amount, e.Asset))
	}
	for _, e := range i.Lines {
		r.line(p, e)
	}
}

// writeAbsent lists declared transfers that are not in the file: an apply may pay them.
func (i *Import) writeAbsent(p *page) {
	totals := i.Outcome.Totals[executor.ResultNotAttempted]
	if totals == nil || totals.Count() == 0 {
		return
	}
	p.line()
	p.line(span{"Declared, and not in the file: an apply submits it when it is due", toneDoubt})
	var refIDs []string
	for _, e := range i.Outcome.Exceptions {
		if e.Result == executor.ResultNotAttempted && len(refIDs) < exceptionsMax {
			refIDs = append(refIDs, e.RefID)
		}
	}
	for _, refID := range refIDs {
		p.line(plain("  " + Visible(refID)))
	}
	if more := totals.Count() - len(refIDs); more > 0 {
		p.line(dim(fmt.Sprintf("  and %d more", more)))
	}
}

// files says how much the files have.
func (i *Import) files() string {
	var parts []string
	if i.Records > 0 || i.Listed == 0 {
		parts = append(parts, fmt.Sprintf("%s of %s", english.Plural(i.Records, "record"), english.Plural(i.RefIDs, "transfer")))
	}
	if i.Listed > 0 {
		parts = append(parts, "a list of "+english.Plural(i.Listed, "transfer"))
	}
	return strings.Join(parts, ", and ")
}

// leftOut names the lines that do not count; "" where all do.
func (i *Import) leftOut() string {
	var parts []string
	if i.Repeated > 0 {
		parts = append(parts, fmt.Sprintf("%d that stand there twice", i.Repeated))
	}
	if i.ListedTwice > 0 {
		parts = append(parts, fmt.Sprintf("lines of the list that stand there twice: %d", i.ListedTwice))
	}
	if i.Without > 0 {
		parts = append(parts, fmt.Sprintf("%d without a ref_id that can be declared", i.Without))
	}
	if i.Others > 0 {
		parts = append(parts, english.Plural(i.Others, "ref_id")+" of deposits or withdrawals alone")
	}
	if len(parts) == 0 {
		return ""
	}
	return " Left out: " + strings.Join(parts, ", ") + "."
}

func (i *Import) writeTotals(p *page) {
	var rows []totalsRow
	for _, result := range i.writes() {
		rows = append(rows, totalsRow{label: []span{{resultWord(result), resultTone(result)}}, totals: i.Outcome.Totals[result]})
	}
	rows = append(rows,
		totalsRow{label: []span{plain("there already")}, totals: &i.Known},
		totalsRow{label: []span{plain("still in doubt")}, totals: i.Outcome.Totals[executor.ResultInDoubt]},
		totalsRow{label: []span{plain("not in the file")}, totals: i.Outcome.Totals[executor.ResultNotAttempted]},
	)
	p.totalsTable(rows, 0)
}

// writeLeftOut lists the lines of a list that lack an amount.
func (i *Import) writeLeftOut(p *page) {
	if i.LeftOutCount == 0 {
		return
	}
	p.line()
	p.line(span{"In the list, and not taken: declare it, or add the columns amount and asset", toneBad})
	for _, l := range i.LeftOut[:min(len(i.LeftOut), exceptionsMax)] {
		p.line(plain("  "+Visible(l.RefID)), dim("  "+Visible(l.Place)))
	}
	if more := i.LeftOutCount - exceptionsMax; more > 0 {
		p.line(dim(fmt.Sprintf("  and %d more. To see all of them, say --json.", more)))
	}
}

func (i *Import) writeDiffering(p *page) {
	if i.DifferingCount == 0 {
		return
	}
	p.line()
	p.line(span{"The state has it otherwise, and stays as it is", toneBad})
	for _, d := range i.Differing[:min(len(i.Differing), exceptionsMax)] {
		p.line(plain("  "+Visible(d.RefID)), dim("  "+d.Status.String()))
		p.paragraph("    ", Visible(d.Reason), toneNone)
	}
	if more := i.DifferingCount - exceptionsMax; more > 0 {
		p.line(dim(fmt.Sprintf("  and %d more. To see all of them, say --json.", more)))
	}
}

// sentence is the import in numbers.
func (i *Import) sentence() string {
	if i.Writes() == 0 && i.LeftOutCount > 0 {
		return fmt.Sprintf("Nothing to import: %s there already, %d not taken.", isOrAre(i.Known.Count(), "transfer"), i.LeftOutCount)
	}
	if i.Writes() == 0 {
		return fmt.Sprintf("Nothing to import: %s there already.", isOrAre(i.Known.Count(), "transfer"))
	}
	var parts []string
	for _, result := range i.writes() {
		if t := i.Outcome.Totals[result]; t != nil && t.Count() > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", t.Count(), resultWord(result)))
		}
	}
	if i.Doubts > 0 {
		parts = append(parts, fmt.Sprintf("%d %s", i.Doubts, resultWord(executor.ResultInDoubt)))
	}
	return "To record: " + strings.Join(parts, ", ") + ". Nothing is sent."
}

func isOrAre(count int, noun string) string {
	if count == 1 {
		return "1 " + noun + " is"
	}
	return fmt.Sprintf("%d %ss are", count, noun)
}

// importLine is a transfer of which an import would write something, or of which the file has
// nothing.
type importLine struct {
	Type   string          `json:"type"` // "import_line"
	RefID  string          `json:"ref_id"`
	Result executor.Result `json:"result"`
	Group  string          `json:"group_id,omitempty"`
	Amount transfer.Amount `json:"amount"`
	Asset  string          `json:"asset"`
	Reason string          `json:"reason,omitempty"`
	Next   string          `json:"next,omitempty"`
}

// ImportLine writes an event of the run as it would be.
func (j *JSON) ImportLine(e executor.Event) {
	j.write(importLine{"import_line", e.RefID, e.Result, e.Group, e.Amount, e.Asset, e.Reason, j.command(e.Next)})
}

type importDifferenceLine struct {
	Type string `json:"type"` // "import_difference"
	ImportDifference
}

// ImportDiffering writes a transfer that the state has otherwise.
func (j *JSON) ImportDiffering(d ImportDifference) {
	j.write(importDifferenceLine{"import_difference", d})
}

type importLeftOutLine struct {
	Type string `json:"type"` // "import_left_out"
	ImportLeftOut
}

// ImportLeftOut writes a ref_id of a list that is not taken.
func (j *JSON) ImportLeftOut(l ImportLeftOut) { j.write(importLeftOutLine{"import_left_out", l}) }

// importPlanLine ends what an import would do.
type importPlanLine struct {
	Type      string       `json:"type"` // "import_plan"
	Records   int          `json:"records"`
	RefIDs    int          `json:"ref_ids"`
	Repeated  int          `json:"repeated"`
	Without   int          `json:"without_ref_id"`
	Writes    int          `json:"writes"`
	Results   []totalsLine `json:"results"`
	Known     totalsLine   `json:"known"`
	Listed    int          `json:"listed"`
	LeftOut   int          `json:"left_out"`
	Differing int          `json:"differing"`
}

// ImportPlan writes the totals of what an import would do.
func (j *JSON) ImportPlan(i *Import) error {
	line := importPlanLine{
		Type: "import_plan", Records: i.Records, RefIDs: i.RefIDs, Repeated: i.Repeated, Without: i.Without,
		Writes: i.Writes(), Known: totalsOf(&i.Known), Listed: i.Listed, LeftOut: i.LeftOutCount, Differing: i.DifferingCount,
	}
	for _, result := range executor.Results() {
		totals := totalsOf(i.Outcome.Totals[result])
		totals.Result = string(result)
		line.Results = append(line.Results, totals)
	}
	j.write(line)
	return j.end()
}
