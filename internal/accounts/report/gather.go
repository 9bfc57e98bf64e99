package report

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"
	"time"

	"remit/internal/accounts/books"
	"remit/internal/transfer"
	"remit/state"
)

// Archive is what a report reads; a [state.Snapshot] is one, whose contract its
// methods have: order, completeness and errors.
type Archive interface {
	books.Archive
	Meta() state.Meta
	Runs(ctx context.Context) iter.Seq2[state.Run, error]
}

// Gather reads the state once, as the books do, so that a payment here is booked
// there. It holds a page of transfers, and the totals of each batch and destination. A transfer
// belongs to the time of its entry: see [books.Entry].
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
	for e, err := range books.All(ctx, archive) {
		if err != nil {
			return nil, err
		}
		g.add(e)
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

// standingOf is that of an entry of the books; "" for a transfer that was never sent.
func standingOf(cause books.Cause) Standing {
	switch cause {
	case books.CauseUnfinished:
		return Pending
	case books.CauseUnknown:
		return Unknown
	case books.CauseUnverified, books.CauseListed:
		return Unverified
	case books.CauseInDoubt:
		return InDoubt
	case books.CauseConflict:
		return Conflict
	case books.CauseConversion:
		return Conversion
	case books.CauseUnreadable:
		return Unreadable
	case books.CauseFailed:
		return Failed
	case books.CauseRefused:
		return Refused
	case books.CauseNotMade:
		return NotMade
	case books.CauseUnsent:
		return ""
	}
	return Paid
}

// add counts one transfer, where it is of the period.
func (g *gatherer) add(e *books.Entry) {
	r, standing := g.report, standingOf(e.Cause)
	switch {
	case standing == "":
		return
	case e.At.IsZero():
		r.Undated++
		return
	case e.At.Before(r.Period.From):
		if standing.IsOpen() || standing == Pending {
			r.Older[standing]++
		}
		return
	case !r.Period.Contains(e.At):
		return
	}
	a := g.asset(transfer.AssetSpelled(e.Asset)) // as every total counts it
	a.Scale = max(a.Scale, -e.Amount.Exponent())
	a.Standings[standing] = a.Standings[standing].plusOne(e.Amount)
	if fees := e.Fees(); !fees.IsZero() {
		a.Fees[standing] = a.Fees[standing].plusOne(fees)
		a.Scale = max(a.Scale, -fees.Exponent())
	}
	g.addTotal(standing, e)
	switch standing {
	case Paid:
		g.addPaid(a, e)
	case Pending, Unknown, Unverified, InDoubt, Conflict, Conversion, Unreadable, Failed, Refused:
		g.addException(standing, e)
	case NotMade, Late:
	}
}

// addTotal counts a transfer in the totals of its standing. Where nothing says whom one of them
// was for, they have no hash total.
func (g *gatherer) addTotal(s Standing, e *books.Entry) {
	t := g.totals[s]
	if t == nil {
		t = new(transfer.Totals)
		g.totals[s] = t
	}
	if e.To == "" {
		t.AddTotal(transfer.Total{Asset: e.Asset, Count: 1, Sum: e.Amount})
		return
	}
	t.AddWeighted(e.Asset, e.Amount, transfer.HashWeight(e.To, e.ToIdentityID, e.ToAccountID))
}

func (g *gatherer) asset(code string) *asset {
	a := g.assets[code]
	if a == nil {
		code = strings.Clone(code)
		a = &asset{
			Asset:   Asset{Code: code, Standings: make(map[Standing]Sum), Fees: make(map[Standing]Sum), Buckets: make([]Sum, len(g.report.Buckets))},
			byBatch: make(tallies), byParty: make(tallies),
		}
		g.assets[code] = a
	}
	return a
}

func (g *gatherer) addPaid(a *asset, e *books.Entry) {
	r := g.report
	bucket, found := slices.BinarySearchFunc(r.Buckets, e.At, func(start, at time.Time) int { return start.Compare(at) })
	if !found {
		bucket--
	}
	a.Buckets[bucket] = a.Buckets[bucket].plusOne(e.Amount)
	if e.BothSides {
		r.BothSides++
	}
	if e.Reverses != "" {
		r.Reversals.AddTotal(transfer.Total{Asset: e.Asset, Count: 1, Sum: e.Amount})
	}
	if !e.Due.IsZero() && e.At.Sub(e.Due) > lateBy {
		g.addException(Late, e)
	}
	a.byBatch.add(e.Batch, bucket, e.Amount)
	a.byParty.add(keyOf(e), bucket, e.Amount)
}

func (g *gatherer) addException(s Standing, entry *books.Entry) {
	e := g.report.Exceptions[s]
	if e == nil {
		e = new(Exceptions)
		g.report.Exceptions[s] = e
	}
	e.Totals.AddTotal(transfer.Total{Asset: entry.Asset, Count: 1, Sum: entry.Amount})
	line := Exception{
		RefID: entry.RefID, Batch: entry.Batch, At: entry.At, Due: entry.Due, Asset: entry.Asset, Amount: entry.Amount,
		Status: entry.Status, Record: entry.RecordStatus, Reason: entry.Reason,
		To: Party{entry.To, entry.ToIdentityID, entry.ToAccountID},
	}
	byTime := func(a, b Exception) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.RefID, b.RefID)) }
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
