package view

import (
	"fmt"
	"io"
	"strings"
	"time"

	"remit/internal/rehearsal"
	"remit/internal/text/english"
	"remit/internal/transfer"
	"remit/planner"
)

// How much a rehearsal lists unless all is asked for.
const (
	rehearsalAccounts = 20
	rehearsalFailures = 20
)

// RehearsalOptions say how to show a rehearsal.
type RehearsalOptions struct {
	Plan PlanOptions // whose ShowAll lists every account and failure
	// BalancesAt is when the service said the opening balances; zero where they are declared.
	BalancesAt time.Time
}

// Rehearsal writes for a person what a plan does to balances: the verdict, the transfers that
// would fail, and the accounts that pay, those with the lowest balance first. It returns only
// errors of w.
func Rehearsal(w io.Writer, plan *planner.Plan, r *rehearsal.Result, o RehearsalOptions) error {
	o.Plan.Scales = plan.Header.Scales
	p := newPage(w, o.Plan.Screen)
	p.planHead(plan, o.Plan)
	shown := rehearsed{r, o}
	shown.writeHead(p, plan)
	shown.writeFailures(p)
	shown.writeAccounts(p)
	shown.writeVerdict(p)
	return p.Flush()
}

// rehearsed is a rehearsal as a page shows it.
type rehearsed struct {
	*rehearsal.Result
	options RehearsalOptions
}

func (r rehearsed) writeHead(p *page, plan *planner.Plan) {
	from := "No opening balance is declared, so every profile has enough."
	if r.Funded {
		from = "From the declared opening balances, one transfer after the other."
	}
	if !r.options.BalancesAt.IsZero() {
		from = "From the balances that the service said at " + moment(r.options.BalancesAt) + ", one transfer after the other. Others may pay too."
	}
	p.paragraph("", "Rehearsal. Nothing was sent. "+from, toneStrong)
	if r.Doubts > 0 {
		p.paragraph("", english.Plural(r.Doubts, "transfer")+" in doubt counted as made first: where it was made before, the opening balances have it already.", toneDoubt)
	}
	p.notApplicable(plan)
	p.line()
	rows := []totalsRow{{[]span{{"made", toneGood}}, &r.Made}, {[]span{{"would fail", toneBad}}, &r.Failed}, {[]span{{"not attempted", toneBad}}, &r.NotAttempted}}
	p.totalsTable(rows, 0)
	p.line()
}

func (r rehearsed) writeFailures(p *page) {
	if len(r.Failures) == 0 {
		return
	}
	p.line(span{"Would fail for lack of funds", toneBad})
	listed := r.Failures
	if !r.options.Plan.ShowAll {
		listed = listed[:min(len(listed), rehearsalFailures)]
	}
	for i := range listed {
		f := &listed[i]
		p.line(plain("  "+Visible(f.RefID)+"  "), strong(Visible(f.Asset)+" "+p.amount(f.Amount, f.Asset)), dim("  "+Visible(f.Place)))
		p.paragraph("    ", r.failureReason(f), toneNone)
	}
	if more := r.Failed.Count() + r.NotAttempted.Count() - len(listed); more > 0 {
		p.line(dim(fmt.Sprintf("  and %d more", more)))
	}
	p.line()
}

// failureReason says why a transfer would not be made.
func (r rehearsed) failureReason(f *rehearsal.Failure) string {
	if f.Cause != "" {
		return fmt.Sprintf("It depends on %q, which would fail.", f.Cause)
	}
	return fmt.Sprintf("%s would have %s, which is %s too little.", profileText(f.From, r.options.Plan.Names), r.options.Plan.money(f.Has, f.Asset), r.options.Plan.money(f.Amount.Decimal().Sub(f.Has), f.Asset))
}

// profileText is a profile's name with its ID.
func profileText(profileID string, names map[string]string) string {
	if name := names[profileID]; name != "" {
		return Visible(name) + " (" + Visible(profileID) + ")"
	}
	return Visible(profileID)
}

// writeAccounts writes those that pay. A profile that only receives can't lack money.
func (r rehearsed) writeAccounts(p *page) {
	var paying []*rehearsal.Account
	for i := range r.Accounts {
		if a := &r.Accounts[i]; r.options.Plan.ShowAll || !a.Out.IsZero() || a.LowestOfAll.LessThan(a.Opening) {
			paying = append(paying, a)
		}
	}
	listed := paying
	if !r.options.Plan.ShowAll {
		listed = listed[:min(len(listed), rehearsalAccounts)]
	}
	for _, a := range listed {
		r.writeAccount(p, a)
	}
	if more := len(paying) - len(listed); more > 0 {
		p.line(dim("  and " + moreAccounts(more, "pays", "pay")))
	}
	if more := len(r.Accounts) - len(paying); more > 0 {
		p.line(dim("  and " + moreAccounts(more, "only receives", "only receive")))
	}
	if len(r.Accounts) > 0 {
		p.line()
	}
}

// moreAccounts counts accounts that are not listed, and says what they do.
func moreAccounts(n int, one, many string) string {
	if n == 1 {
		return "1 more account that " + one
	}
	return fmt.Sprintf("%d more accounts that %s", n, many)
}

func (r rehearsed) writeAccount(p *page, a *rehearsal.Account) {
	p.line(strong("  "+Visible(a.Asset)+" "), plain("of "+profileText(a.ProfileID, r.options.Plan.Names)))
	rows := [][2]string{{"in", p.money(a.In, a.Asset)}, {"out", p.money(a.Out, a.Asset)}, {"net", p.money(a.Net(), a.Asset)}}
	if r.Funded {
		rows = [][2]string{{"opening", p.money(a.Opening, a.Asset)}, {"in", p.money(a.In, a.Asset)}, {"out", p.money(a.Out, a.Asset)}, {"closing", p.money(a.Closing, a.Asset)}, {"lowest", p.money(a.Lowest, a.Asset)}, {"lowest in any order", p.money(a.LowestOfAll, a.Asset)}}
	}
	var numbers point
	for _, row := range rows {
		numbers.fit(row[1])
	}
	var cells [][]span
	for _, row := range rows {
		cell := strong(numbers.align(row[1]))
		if strings.HasPrefix(row[1], "-") && row[0] != "net" {
			cell.tone = toneDoubt
		}
		cells = append(cells, []span{plain(row[0]), cell, dim(remarkOf(row[0], a))})
	}
	p.table("    ", cells)
}

// remarkOf is the text beside a number of an account.
func remarkOf(row string, a *rehearsal.Account) string {
	switch {
	case row == "lowest" && a.LowestAfter != "":
		return "after " + Visible(a.LowestAfter)
	case row == "lowest in any order" && !a.LowestKnown:
		return "or higher: the dependencies are too many to say"
	case row == "lowest in any order" && a.LowestOfAll.IsNegative() && !a.Lowest.IsNegative():
		return "an order exists in which it is not enough"
	}
	return ""
}

func (r rehearsed) writeVerdict(p *page) {
	if r.Complete() {
		switch n := r.Made.Count(); n {
		case 0:
			p.paragraph("", "There is nothing to send.", toneGood)
		case 1:
			p.paragraph("", "The transfer would be made.", toneGood)
		default:
			p.paragraph("", fmt.Sprintf("All %s would be made.", english.Plural(n, "transfer")), toneGood)
		}
		return
	}
	p.paragraph("", fmt.Sprintf("%s would fail for lack of funds, and %d would not be attempted.",
		english.Plural(r.Failed.Count(), "transfer"), r.NotAttempted.Count()), toneBad)
}

type accountLine struct {
	Type        string `json:"type"` // "account"
	ProfileID   string `json:"profile_id"`
	Asset       string `json:"asset"`
	Opening     string `json:"opening,omitempty"`
	In          string `json:"in"`
	Out         string `json:"out"`
	Closing     string `json:"closing,omitempty"`
	Net         string `json:"net"`
	Lowest      string `json:"lowest,omitempty"`
	LowestAfter string `json:"lowest_after,omitempty"`
	LowestOfAll string `json:"lowest_of_all,omitempty"`
	LowestKnown bool   `json:"lowest_known"`
}

type failureLine struct {
	Type   string          `json:"type"` // "failure"
	RefID  string          `json:"ref_id"`
	Place  string          `json:"place,omitempty"`
	From   string          `json:"from_profile_id"`
	Asset  string          `json:"asset"`
	Amount transfer.Amount `json:"amount"`
	Has    string          `json:"has"`
	Cause  string          `json:"cause,omitempty"`
}

type rehearsalLine struct {
	Type       string       `json:"type"` // "rehearsal"
	Applicable bool         `json:"applicable"`
	Funded     bool         `json:"funded"`
	Complete   bool         `json:"complete"`
	InDoubt    int          `json:"in_doubt"`
	Totals     []totalsLine `json:"totals"`
	Digest     string       `json:"digest"`
	BalancesAt time.Time    `json:"balances_at,omitzero"` // when the service said the opening balances
}

// Rehearsal writes the plan's "header", a "failure" for each transfer that would not be made, an
// "account" for each profile and asset, and a "rehearsal". It returns the first error of
// writing.
func (j *JSON) Rehearsal(plan *planner.Plan, r *rehearsal.Result, o RehearsalOptions) error {
	j.write(headerLine{"header", o.Plan.Sandbox, j.protected, plan.Header, plan.Begun})
	for i := range r.Failures {
		f := &r.Failures[i]
		j.write(failureLine{"failure", f.RefID, f.Place, f.From, f.Asset, f.Amount, sum(f.Has), f.Cause})
	}
	for i := range r.Accounts {
		a := &r.Accounts[i]
		line := accountLine{
			Type: "account", ProfileID: a.ProfileID, Asset: a.Asset, In: sum(a.In), Out: sum(a.Out), Net: sum(a.Net()),
			LowestKnown: a.LowestKnown,
		}
		if r.Funded {
			line.Opening, line.Closing = sum(a.Opening), sum(a.Closing)
			line.Lowest, line.LowestAfter, line.LowestOfAll = sum(a.Lowest), a.LowestAfter, sum(a.LowestOfAll)
		}
		j.write(line)
	}
	end := rehearsalLine{Type: "rehearsal", Applicable: plan.Applicable(), Funded: r.Funded, Complete: r.Complete(), InDoubt: r.Doubts, Digest: plan.Digest, BalancesAt: o.BalancesAt}
	for _, of := range []struct {
		result string
		totals *transfer.Totals
	}{{"made", &r.Made}, {"failed", &r.Failed}, {"not_attempted", &r.NotAttempted}} {
		line := totalsOf(of.totals)
		line.Result = of.result
		end.Totals = append(end.Totals, line)
	}
	j.write(end)
	return j.end()
}
