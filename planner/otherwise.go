package planner

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sort"

	"remit/internal/transfer"
	"remit/state"
)

// A service may make another movement than it was asked for: another amount, another asset, or between other parties. A
// person may let that stand. Then both movements are judged: nobody knows which of them the next payment repeats.

// told is the part of a [state.Snapshot] that has what persons said of transfers.
type told interface {
	Told(ctx context.Context) iter.Seq2[state.Event, error]
}

// otherwiseMade is a transfer that was made otherwise than it was asked for.
type otherwiseMade struct {
	asked transfer.Request
	made  []transfer.Request // as the service's records have it, none of them a twin of asked
}

// isMadeAs reports whether a record of the transfer has the movement of a request.
func (o *otherwiseMade) isMadeAs(r *transfer.Request) bool {
	return slices.ContainsFunc(o.made, func(made transfer.Request) bool { return made.IsTwin(r) })
}

// readAccepted reads, by ref_id, the transfers that a person accepted as another movement than was asked for. It reads
// nothing of others.
func readAccepted(ctx context.Context, record Record) (map[string]*otherwiseMade, error) {
	if s, isAlone := record.(*said); isAlone {
		return maps.Clone(s.otherwise), nil
	}
	from, ok := within[told](record)
	if !ok {
		return nil, nil
	}
	records := make(map[string][]json.RawMessage) // of the newest word that has any
	for event, err := range from.Told(ctx) {
		if err != nil {
			return nil, fmt.Errorf("read what persons said of transfers: %w", err)
		}
		entry, err := event.Entry()
		if err != nil {
			return nil, err
		}
		outcome, ok := entry.(state.Outcome)
		if _, isOlder := records[event.RefID]; !ok || isOlder || !outcome.Status.Made() {
			continue
		}
		records[event.RefID] = outcome.Records
		if !isOtherMovement(outcome.Differences) {
			records[event.RefID] = nil
		}
	}
	maps.DeleteFunc(records, func(_ string, of []json.RawMessage) bool { return len(of) == 0 })
	return readOtherwise(ctx, record, slices.Sorted(maps.Keys(records)), func(d *state.Detail) []json.RawMessage { return records[d.RefID] })
}

// readOtherwise reads what of some transfers was made otherwise, by the records that of has of each.
func readOtherwise(ctx context.Context, record Record, refIDs []string, of func(*state.Detail) []json.RawMessage) (map[string]*otherwiseMade, error) {
	all := make(map[string]*otherwiseMade)
	err := eachDetail(ctx, record, refIDs, func(d *state.Detail) error {
		o, err := newOtherwiseMade(d, of(d))
		if o != nil {
			all[d.RefID] = o
		}
		return err
	})
	return all, err
}

// withOtherwise adds how a transfer was made, which may be nil, to a map that may be nil. One that a person accepted, and
// that is in conflict since, was made in both ways.
func withOtherwise(all map[string]*otherwiseMade, refID string, o *otherwiseMade) map[string]*otherwiseMade {
	if o == nil {
		return all
	}
	if all == nil {
		all = make(map[string]*otherwiseMade)
	}
	if before := all[refID]; before != nil {
		o = &otherwiseMade{o.asked, slices.Concat(before.made, o.made)}
	}
	all[refID] = o
	return all
}

// keptRecords are the records that the latest outcome of a transfer has.
func keptRecords(d *state.Detail) []json.RawMessage {
	if d.Outcome == nil {
		return nil
	}
	return d.Outcome.Records
}

// isOtherMovement reports whether a field of the movement is among differences.
func isOtherMovement(differences []transfer.Difference) bool {
	return slices.ContainsFunc(differences, func(d transfer.Difference) bool {
		switch d.Field {
		case "amount", "asset", "balance_asset", "profile_id", "identity_id", "account_id":
			return true
		}
		return false
	})
}

// newOtherwiseMade is nil where the records have the movement that was asked for, and where nobody knows that. A record
// that can't be read says nothing: it was kept as it came.
func newOtherwiseMade(d *state.Detail, raws []json.RawMessage) (*otherwiseMade, error) {
	if d.Intent.Body == "" || len(raws) == 0 {
		return nil, nil
	}
	asked, err := newRecorded(d).Request()
	if err != nil {
		return nil, fmt.Errorf("read the recorded request of %q: %w", d.RefID, err)
	}
	var records []transfer.Record
	for _, raw := range raws {
		if r, err := transfer.ParseKept(raw); err == nil {
			records = append(records, r)
		}
	}
	o := &otherwiseMade{asked: asked}
	for i := range records {
		made := movementOf(&asked, records, &records[i])
		if !made.IsTwin(&asked) && !o.isMadeAs(&made) {
			o.made = append(o.made, made)
		}
	}
	if len(o.made) == 0 {
		return nil, nil
	}
	return o, nil
}

// movementOf is the movement of a record: its amount and asset, between its own party and that of the other side of
// its group_id. The rest is as it was asked for.
func movementOf(asked *transfer.Request, records []transfer.Record, of *transfer.Record) transfer.Request {
	made := *asked
	for i := range records {
		r := &records[i]
		if r.ID != of.ID && (r.GroupID == "" || r.GroupID != of.GroupID || r.Direction == of.Direction) {
			continue
		}
		if r.Direction == transfer.Credit {
			made.ToProfileID, made.ToIdentityID, made.ToAccountID = partyOf(r, asked.ToProfileID, asked.ToIdentityID, asked.ToAccountID)
		} else {
			made.FromProfileID, made.FromIdentityID, made.FromAccountID = partyOf(r, asked.FromProfileID, asked.FromIdentityID, asked.FromAccountID)
		}
	}
	if amount, err := transfer.ParseRecorded(of.Amount); err == nil {
		made.Amount = amount
	}
	made.Asset = of.Asset
	return made
}

// partyOf is the party of a record, in as much detail as was asked for: a service may name the identity and the account
// of a profile although nobody did.
func partyOf(r *transfer.Record, profile, identity, account string) (profileID, identityID, accountID string) {
	profileID, identityID, accountID = profile, identity, account
	if !transfer.IsSameParty(r.ProfileID, profile) {
		profileID = r.ProfileID
	}
	if identity != "" && r.IdentityID != "" {
		identityID = r.IdentityID
	}
	if account != "" && r.AccountID != "" {
		accountID = r.AccountID
	}
	return profileID, identityID, accountID
}

// Told implements told: what persons said before the plan, of the ref_ids that are as they were then.
func (t *then) Told(ctx context.Context) iter.Seq2[state.Event, error] {
	return func(yield func(state.Event, error) bool) {
		from, ok := within[told](t.History)
		if !ok {
			return
		}
		for event, err := range from.Told(ctx) {
			if err == nil && event.Seq > t.meta.Serial && t.since[event.RefID] {
				continue
			}
			if !yield(event, err) {
				return
			}
		}
	}
}

// otherwiseRow is a recorded transfer that was made otherwise, with the twin of a movement that was made.
type otherwiseRow struct {
	twin transfer.Twin
	row  *row
}

// readMadeOtherwise keeps which of the recorded transfers were made otherwise than they were asked for: those that a
// person accepted so, and conflicts, by whose records nobody has settled it.
func (b *builder) readMadeOtherwise(ctx context.Context, accepted map[string]*otherwiseMade) error {
	conflicts, err := readOtherwise(ctx, b.record, b.rows.conflicts, keptRecords)
	if err != nil {
		return err
	}
	all := maps.Clone(accepted)
	for refID, o := range conflicts {
		all = withOtherwise(all, refID, o)
	}
	if len(all) == 0 {
		return nil
	}
	b.otherwise = make(map[*row]*otherwiseMade)
	for _, refID := range slices.Sorted(maps.Keys(all)) {
		at := sort.Search(b.rows.len(), func(i int) bool { return b.rows.refID(b.rows.at(i)) >= refID })
		if at == b.rows.len() || b.rows.refID(b.rows.at(at)) != refID {
			continue
		}
		r, o := b.rows.at(at), all[refID]
		b.otherwise[r] = o
		for i := range o.made {
			b.otherwiseRows = append(b.otherwiseRows, otherwiseRow{o.made[i].Twin(), r})
		}
	}
	return nil
}

// addOtherwise adds to the recorded twins of due transfers, which are in order of twin, those that are twins by their
// records alone. None of them is a rename: its words are those of the request.
func (b *builder) addOtherwise(due []twinned, recorded map[transfer.Twin][]*row) {
	for _, o := range b.otherwiseRows {
		if !o.row.is(markMayBeMade) || b.isUntouched(o.row) || slices.Contains(recorded[o.twin], o.row) {
			continue
		}
		at := sort.Search(len(due), func(i int) bool { return due[i].twin >= o.twin })
		if at < len(due) && due[at].twin == o.twin {
			recorded[o.twin] = append(recorded[o.twin], o.row)
		}
	}
}

// isByRecord reports whether a recorded transfer is a twin of a line by its record alone: it was asked for otherwise.
func (b *builder) isByRecord(c *Change, r *row) bool {
	o := b.otherwise[r]
	return o != nil && !o.asked.IsTwin(&c.Request)
}

// otherRecord says of a twin of a line that its record alone makes it one; "" of any other twin.
func (c *Change) otherRecord(twin string) string {
	for i := range c.Signals {
		if s := &c.Signals[i]; s.RefID == twin && s.isByRecord() {
			return fmt.Sprintf(" %q was asked for otherwise, and the service's record of it has this movement.", twin)
		}
	}
	return ""
}

// byRecordDetail stands behind a look-alike that is one by its record alone.
const byRecordDetail = "; its record has this movement, and its request another one"
