package report

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"remit/internal/transfer"
	"remit/state"
)

// Archive is what a report reads; a [state.Snapshot] is one.
type Archive interface {
	Meta() state.Meta
	Transfers(ctx context.Context) iter.Seq2[state.Transfer, error]
	Details(ctx context.Context, refIDs ...string) ([]state.Detail, error)
	Runs(ctx context.Context) iter.Seq2[state.Run, error]
}

// pageMax is how many details are in memory at once.
const pageMax = 500

// Gather reads the state once. It holds a page of transfers, and the totals of each batch and
// destination. A transfer belongs to the time that the service's record says it was created at,
// and one without a record to that of its first attempt.
func Gather(ctx context.Context, archive Archive, period Period) (*Report, error) {
	g := &gatherer{
		report: &Report{
			Meta: archive.Meta(), Period: period,
			Totals: make(map[Standing]transfer.Totals), Exceptions: make(map[Standing]*Exceptions), Older: make(map[Standing]int),
		},
		assets: make(map[string]*asset),
		totals: make(map[Standing]*transfer.Totals),
	}
	g.report.Buckets, g.report.AreMonths = period.Buckets()
	page := make([]string, 0, pageMax)
	take := func() error {
		details, err := archive.Details(ctx, page...)
		page = page[:0]
		for i := range details {
			g.add(&details[i])
		}
		return err
	}
	for row, err := range archive.Transfers(ctx) {
		if err != nil {
			return nil, err
		}
		if page = append(page, row.RefID); len(page) == pageMax {
			if err := take(); err != nil {
				return nil, err
			}
		}
	}
	if err := take(); err != nil {
		return nil, err
	}
	for run, err := range archive.Runs(ctx) {
		if err != nil {
			return nil, err
		}
		g.addRun(run)
	}
	return g.finish(), nil
}

type gatherer struct {
	report *Report
	assets map[string]*asset
	totals map[Standing]*transfer.Totals
}

type asset struct {
	Asset
	byBatch, byParty tallies
}

// made is what the report needs of one transfer.
type made struct {
	detail    *state.Detail
	request   transfer.Request
	standing  Standing
	at        time.Time
	fee       string
	bothSides bool
}

// read says what became of a transfer and when.
func read(d *state.Detail) made {
	m := made{detail: d, at: d.IntendedAt, standing: standingOf(d)}
	if r, err := transfer.ParseRequest(d.Intent.Operation, []byte(d.Intent.Body), ""); err == nil {
		m.request = r
	}
	m.request.RefID, m.request.Asset, m.request.Amount = d.RefID, d.Asset, d.Amount
	if d.RecordID == "" || d.Outcome == nil {
		return m.dated()
	}
	for i, raw := range d.Outcome.Records {
		record, err := transfer.ParseRecord(json.RawMessage(strings.Clone(string(raw))))
		switch {
		case err != nil:
		case i == 0:
			m.at, m.fee = record.CreatedAt, record.Fee
			m.book(record)
			if m.request.FromProfileID == "" && record.Direction == transfer.Debit {
				m.request.FromProfileID = record.ProfileID
			}
		case record.Direction == transfer.Credit:
			m.bothSides = true
			if m.request.ToProfileID == "" {
				m.request.ToProfileID, m.request.ToIdentityID, m.request.ToAccountID = record.ProfileID, record.IdentityID, record.AccountID
			}
		}
	}
	return m.dated()
}

// book takes the amount and the asset of the record over where a person accepted a record that
// has others than were asked for: that is what was paid.
func (m *made) book(record transfer.Record) {
	amount, err := transfer.ParseAmount(record.Amount)
	if err != nil || !m.detail.Status.Made() || record.Asset == m.detail.Asset && transfer.SameNumber(record.Amount, m.detail.Amount.String()) {
		return
	}
	booked := *m.detail
	booked.Asset, booked.Amount = strings.Clone(record.Asset), amount
	m.detail = &booked
	m.request.Asset, m.request.Amount = booked.Asset, amount
}

// dated is m with the time of its outcome where nothing else says one.
func (m made) dated() made {
	if m.at.IsZero() {
		m.at = m.detail.SettledAt
	}
	return m
}

// standingOf is "" for what was never sent.
func standingOf(d *state.Detail) Standing {
	switch d.Status {
	case state.InDoubt:
		return InDoubt
	case state.Conflict:
		return Conflict
	case state.Refused:
		return Refused
	case state.Unsent:
		return ""
	case state.Tombstone:
		if d.RecordID == "" {
			return NotMade
		}
	case state.Unverified:
		if d.RecordStatus != transfer.Failed {
			return Unverified
		}
	case state.Recorded, state.Adopted:
	}
	switch d.RecordStatus {
	case transfer.Completed:
		return Paid
	case transfer.Failed:
		return Failed
	case transfer.Pending:
	}
	return Pending
}

// add counts one transfer, where it is of the period.
func (g *gatherer) add(d *state.Detail) {
	m := read(d)
	r := g.report
	switch {
	case m.standing == "":
		return
	case m.at.IsZero():
		r.Undated++
		return
	case m.at.Before(r.Period.From):
		switch m.standing {
		case InDoubt, Unverified, Conflict, Pending:
			r.Older[m.standing]++
		case Paid, Failed, Refused, NotMade, Late:
		}
		return
	case !r.Period.Contains(m.at):
		return
	}
	a := g.asset(m.detail.Asset)
	amount := m.detail.Amount.Decimal()
	a.Scale = max(a.Scale, -amount.Exponent())
	sum := a.Standings[m.standing]
	sum.add(amount)
	a.Standings[m.standing] = sum
	g.total(m.standing).AddRequest(&m.request)
	switch m.standing {
	case Paid:
		g.addPaid(a, m, amount)
	case Pending, Unverified, InDoubt, Conflict, Failed, Refused:
		g.addException(m.standing, m, amount)
	case NotMade, Late:
	}
}

// total is the totals of one standing. What has no destination of its own has no hash total.
func (g *gatherer) total(s Standing) *transfer.Totals {
	t := g.totals[s]
	if t == nil {
		t = new(transfer.Totals)
		g.totals[s] = t
	}
	return t
}

func (g *gatherer) asset(code string) *asset {
	a := g.assets[code]
	if a == nil {
		code = strings.Clone(code)
		a = &asset{
			Asset:   Asset{Code: code, Standings: make(map[Standing]Sum), Buckets: make([]Sum, len(g.report.Buckets))},
			byBatch: make(tallies), byParty: make(tallies),
		}
		g.assets[code] = a
	}
	return a
}

func (g *gatherer) addPaid(a *asset, m made, amount decimal.Decimal) {
	r := g.report
	bucket, found := slices.BinarySearchFunc(r.Buckets, m.at, func(start, at time.Time) int { return start.Compare(at) })
	if !found {
		bucket--
	}
	a.Buckets[bucket].add(amount)
	if fee, err := decimal.NewFromString(m.fee); err == nil {
		a.Fees = a.Fees.Add(fee)
		a.Scale = max(a.Scale, -fee.Exponent())
	} else {
		r.UnreadFees++
	}
	if m.bothSides {
		r.BothSides++
	}
	intent := &m.detail.Intent
	if intent.Reverses != "" {
		r.Reversals.Add(m.detail.Asset, m.detail.Amount)
	}
	if !intent.Due.IsZero() && m.at.Sub(intent.Due) > lateBy {
		g.addException(Late, m, amount)
	}
	a.byBatch.add(intent.Batch, bucket, m.detail.Amount)
	a.byParty.add(keyOf(m.request), bucket, m.detail.Amount)
}

func (g *gatherer) addException(s Standing, m made, amount decimal.Decimal) {
	e := g.report.Exceptions[s]
	if e == nil {
		e = new(Exceptions)
		g.report.Exceptions[s] = e
	}
	d := m.detail
	e.Totals.Add(d.Asset, d.Amount)
	line := Line{
		RefID: d.RefID, Batch: d.Intent.Batch, At: m.at, Due: d.Intent.Due, Asset: d.Asset, Amount: amount, Status: d.Status, Record: d.RecordStatus,
		To: Party{m.request.ToProfileID, m.request.ToIdentityID, m.request.ToAccountID},
	}
	if d.Outcome != nil && !d.Open() {
		line.Reason = d.Outcome.Reason
	}
	byTime := func(a, b Line) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.RefID, b.RefID)) }
	at, _ := slices.BinarySearchFunc(e.Lines, line, byTime)
	if at < LinesMax {
		e.Lines = slices.Insert(e.Lines, at, line)
		e.Lines = e.Lines[:min(len(e.Lines), LinesMax)]
	}
}

func (g *gatherer) addRun(run state.Run) {
	r := g.report
	if !r.Period.Contains(run.BegunAt) {
		return
	}
	listed := Run{Run: run, Approvers: approvers(run.Begun)}
	if listed.Made() > 0 && len(listed.Approvers) == 0 {
		r.Unapproved++
	}
	if r.RunCount++; len(r.Runs) < RunsMax {
		listed.Begun.Origin, listed.Begun.ControlList = state.Origin{}, nil
		r.Runs = append(r.Runs, listed)
	}
}

// finish sorts and cuts.
func (g *gatherer) finish() *Report {
	r := g.report
	for standing, totals := range g.totals {
		r.Totals[standing] = *totals
	}
	for _, a := range g.assets {
		a.Batches, a.Destinations = a.top(a.byBatch, batchRow), a.top(a.byParty, partyRow)
		r.Assets = append(r.Assets, a.Asset)
	}
	slices.SortFunc(r.Assets, func(a, b Asset) int { return cmp.Compare(a.Code, b.Code) })
	return r
}
