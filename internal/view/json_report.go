package view

import (
	"maps"
	"slices"
	"time"

	"remit/internal/accounts/report"
	"remit/state"
)

// reportAssetLine is what a period comes to in one asset.
type reportAssetLine struct {
	Type      string           `json:"type"` // "report_asset"
	Asset     string           `json:"asset"`
	Standings []reportStanding `json:"standings"`
	Buckets   []reportBucket   `json:"buckets"`
	Batches   []reportRow      `json:"batches"`
	To        []reportPartyRow `json:"destinations"`
}

type reportSum struct {
	Count int    `json:"count"`
	Sum   string `json:"sum"`
}

func reportSumOf(s report.Sum) reportSum { return reportSum{s.Count, sum(s.Sum)} }

type reportStanding struct {
	Standing report.Standing `json:"standing"`
	reportSum
	Fees *reportSum `json:"fees,omitempty"`
}

type reportBucket struct {
	From string `json:"from"` // a day
	reportSum
}

type reportRow struct {
	Batch  string `json:"batch"`
	Others int    `json:"others,omitempty"` // how many are in it, where it is the row of the rest
	reportSum
	Buckets []reportBucket `json:"buckets"`
}

type reportParty struct {
	ProfileID  string `json:"to_profile_id"`
	IdentityID string `json:"to_identity_id,omitempty"`
	AccountID  string `json:"to_account_id,omitempty"`
	Name       string `json:"to,omitempty"` // of the address book
}

type reportPartyRow struct {
	reportParty
	Others int `json:"others,omitempty"`
	reportSum
	Buckets []reportBucket `json:"buckets"`
}

// reportExceptionLine is one transfer that a person should look at.
type reportExceptionLine struct {
	Type     string          `json:"type"` // "report_exception"
	Standing report.Standing `json:"standing"`
	RefID    string          `json:"ref_id"`
	Batch    string          `json:"batch,omitempty"`
	reportParty
	At           time.Time    `json:"at"`
	Due          time.Time    `json:"due,omitzero"`
	Asset        string       `json:"asset"`
	Amount       string       `json:"amount"`
	Status       state.Status `json:"status"`
	RecordStatus string       `json:"record_status,omitempty"`
	Reason       string       `json:"reason,omitempty"`
}

// reportRunLine is a run that began in the period.
type reportRunLine struct {
	Type      string         `json:"type"` // "report_run"
	RunID     string         `json:"run_id"`
	Begun     time.Time      `json:"begun"`
	Ended     time.Time      `json:"ended,omitzero"`
	By        state.Holder   `json:"by"`
	Author    string         `json:"author,omitempty"`    // self-declared
	SignedBy  string         `json:"signed_by,omitempty"` // whose signature as the author counted
	Digest    string         `json:"digest,omitempty"`
	Approvers []string       `json:"approvers"`
	Outcomes  map[string]int `json:"outcomes,omitempty"`
	Error     string         `json:"error,omitempty"`
}

// reportLine is the last one.
type reportLine struct {
	Type        string                  `json:"type"` // "report"
	Environment string                  `json:"environment"`
	Protected   bool                    `json:"protected,omitempty"`
	Service     state.Identity          `json:"service"`
	Lineage     string                  `json:"lineage"`
	Serial      int64                   `json:"serial"`
	Head        string                  `json:"head"`
	From        time.Time               `json:"from"`
	Until       time.Time               `json:"until"`
	Timezone    string                  `json:"timezone"`
	Made        time.Time               `json:"made"`
	Totals      []reportTotals          `json:"totals"`
	Exceptions  map[report.Standing]int `json:"exceptions"`
	Older       map[report.Standing]int `json:"older"`
	Reversals   totalsLine              `json:"reversals"`
	BothSides   int                     `json:"both_sides"`
	Undated     int                     `json:"undated"`
	Runs        int                     `json:"runs"`
	Unapproved  int                     `json:"unapproved"`
	NeedsPerson int                     `json:"needs_person"`
}

type reportTotals struct {
	Standing report.Standing `json:"standing"`
	totalsLine
}

// Report writes a period, with the numbers of [ReportHTML] and as bounded: a "report_asset" for
// each asset, a "report_exception" for each that is listed, a "report_run" for each run that is,
// a "reconciliation" where an export was given, and a "report" at the end. It returns the first
// error of writing.
func (j *JSON) Report(r *report.Report, o ReportOptions) error {
	w := reportJSON{r, o}
	for i := range r.Assets {
		j.write(w.asset(&r.Assets[i]))
	}
	exceptions := make(map[report.Standing]int)
	for _, s := range exceptionsOrder() {
		if e := r.Exceptions[s]; e != nil {
			exceptions[s] = e.Totals.Count()
			for k := range e.Lines {
				j.write(w.exception(s, &e.Lines[k]))
			}
		}
	}
	for i := range r.Runs {
		j.write(w.run(&r.Runs[i]))
	}
	if s := o.Reconciled; s != nil {
		if err := j.Reconciliation(s, ReconciliationOptions{Meta: r.Meta, Files: o.Files}); err != nil {
			return err
		}
	}
	line := reportLine{
		Type: "report", Environment: r.Meta.Environment, Protected: j.protected, Service: r.Meta.Service, Lineage: r.Meta.Lineage, Serial: r.Meta.Serial, Head: r.Meta.Head,
		From: r.Period.From, Until: r.Period.Until, Timezone: r.Period.Zone.String(), Made: o.Made.UTC(), Totals: []reportTotals{},
		Exceptions: exceptions, Older: r.Older, Reversals: sumsOf(&r.Reversals), BothSides: r.BothSides, Undated: r.Undated,
		Runs: r.RunCount, Unapproved: r.Unapproved, NeedsPerson: r.NeedsPerson(),
	}
	for _, s := range report.Standings() {
		if totals := r.Totals[s]; totals.Count() > 0 {
			line.Totals = append(line.Totals, reportTotals{s, totalsOf(&totals)})
		}
	}
	j.write(line)
	return j.end()
}

// reportJSON makes the lines of one report.
type reportJSON struct {
	r *report.Report
	o ReportOptions
}

func (w *reportJSON) asset(a *report.Asset) reportAssetLine {
	line := reportAssetLine{Type: "report_asset", Asset: a.Code, Buckets: []reportBucket{}, Batches: []reportRow{}, To: []reportPartyRow{}}
	for _, s := range report.Standings() {
		if of := a.OfStanding(s); of.Count > 0 {
			standing := reportStanding{Standing: s, reportSum: reportSumOf(of)}
			if fees, has := a.Fees[s]; has {
				standing.Fees = new(reportSumOf(fees))
			}
			line.Standings = append(line.Standings, standing)
		}
	}
	for i, s := range a.Buckets {
		if s.Count > 0 {
			line.Buckets = append(line.Buckets, w.bucket(i, s))
		}
	}
	for i := range a.Batches {
		row := &a.Batches[i]
		line.Batches = append(line.Batches, reportRow{row.Name, row.Others, reportSumOf(row.Sum), w.buckets(row)})
	}
	for i := range a.Destinations {
		row := &a.Destinations[i]
		line.To = append(line.To, reportPartyRow{w.party(row.Party), row.Others, reportSumOf(row.Sum), w.buckets(row)})
	}
	return line
}

func (w *reportJSON) bucket(i int, s report.Sum) reportBucket {
	return reportBucket{w.r.Buckets[i].Format(time.DateOnly), reportSumOf(s)}
}

func (w *reportJSON) buckets(row *report.Subtotal) []reportBucket {
	list := []reportBucket{}
	for _, i := range slices.Sorted(maps.Keys(row.Buckets)) {
		list = append(list, w.bucket(i, row.Buckets[i]))
	}
	return list
}

func (w *reportJSON) party(p report.Party) reportParty {
	return reportParty{p.ProfileID, p.IdentityID, p.AccountID, w.o.Names[p.ProfileID]}
}

func (w *reportJSON) exception(s report.Standing, l *report.Exception) reportExceptionLine {
	line := reportExceptionLine{
		Type: "report_exception", Standing: s, RefID: l.RefID, Batch: l.Batch, reportParty: w.party(l.To), At: l.At.UTC(),
		Asset: l.Asset, Amount: sum(l.Amount), Status: l.Status, RecordStatus: string(l.Record), Reason: l.Reason,
	}
	if s == report.Late {
		line.Due = l.Due.UTC()
	}
	return line
}

func (*reportJSON) run(r *report.Run) reportRunLine {
	b := &r.Begun
	line := reportRunLine{
		Type: "report_run", RunID: b.RunID, Begun: r.BegunAt.UTC(), By: b.By, Author: b.Author, SignedBy: signedBy(b.Approvals, state.RoleAuthor), Digest: b.Digest, Approvers: []string{},
	}
	line.Approvers = append(line.Approvers, r.Approvers...)
	if r.Ended != nil {
		line.Ended, line.Outcomes, line.Error = r.EndedAt.UTC(), r.Ended.Outcomes, r.Ended.Error
	}
	return line
}
