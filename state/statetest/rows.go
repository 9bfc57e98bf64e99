package statetest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"remit/internal/transfer"
	"remit/state"
)

func newState(t *testing.T, b *bench) {
	v := b.look(b.create())
	b.same("the state's word on itself", state.Meta{
		Lineage: Created().Lineage, Serial: 1, Environment: "test", Service: Created().Service,
		Head: v.Events[0].Hash, CreatedAt: start.Add(time.Second), At: start.Add(time.Second),
	}, v.Meta)
	b.same("the journal", []state.Entry{Created()}, v.entries(t))
	if len(v.Rows) != 0 || len(v.Runs) != 0 {
		t.Errorf("there are %d rows and %d runs", len(v.Rows), len(v.Runs))
	}
}

func story(t *testing.T, b *bench) {
	s := b.create()
	j := b.lock(s)
	refused := Outcome("b", "run", state.SourceAnswer, state.Refused)
	refused.Reason, refused.HTTPStatus = "insufficient funds", 422
	entries := []state.Entry{
		state.Begun{RunID: "run", By: Holder("apply"), Digest: "d"},
		Intent("b", "run", "20.00"), refused,
		Intent("a", "run", "10.00"), Outcome("a", "run", state.SourceAnswer, state.Recorded),
		Intent("c", "run", "30.00"),
	}
	for _, entry := range entries {
		b.append(j, entry)
	}
	for when, from := range map[string]snapshotter{"of the journal": j, "of the store": s} {
		v := b.look(from)
		b.same("the entries "+when, append([]state.Entry{Created()}, entries...), v.entries(t))
		b.same("the rows "+when, fold(t, v.Events), v.Rows)
		b.same("the customer "+when, Customer, v.Meta.Service.CustomerID)
	}
	snap, err := j.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	details, err := snap.Details(t.Context(), "c", "b")
	if err != nil || len(details) != 2 {
		t.Fatalf("%d details, %v", len(details), err)
	}
	b.same("the request of an open attempt", Intent("c", "run", "30.00"), details[0].Intent)
	if details[0].Outcome != nil || !details[0].Open() {
		t.Errorf("an open attempt has an outcome: %v", details[0])
	}
	b.same("the refused request", Intent("b", "run", "20.00"), details[1].Intent)
	b.same("the refusal", &refused, details[1].Outcome)
	b.unlock(j)
}

// fold makes rows of a journal, as every store must.
func fold(t *testing.T, events []state.Event) []state.Transfer {
	t.Helper()
	rows := make(map[string]state.Transfer)
	for _, e := range events {
		if e.RefID == "" {
			continue
		}
		draft, err := e.Draft()
		if err != nil {
			t.Fatal(err)
		}
		row, err := rows[e.RefID].Apply(draft, e.Seq, e.Time)
		if err != nil {
			t.Fatal(err)
		}
		rows[e.RefID] = row
	}
	return sorted(rows)
}

func sorted(rows map[string]state.Transfer) []state.Transfer {
	var list []state.Transfer
	for _, row := range rows {
		list = append(list, row)
	}
	slices.SortFunc(list, func(a, b state.Transfer) int {
		if a.RefID < b.RefID {
			return -1
		}
		return 1
	})
	return list
}

func wholeOrNothing(t *testing.T, b *bench) {
	s := b.create()
	j := b.lock(s)
	b.append(j, Intent("made", "run", "10.00"), Outcome("made", "run", state.SourceAnswer, state.Recorded))
	before := b.look(s)
	for name, c := range map[string]struct {
		entries []state.Entry
		want    error
	}{
		"a rule broken at the end":   {[]state.Entry{Intent("x", "run", "1.00"), Intent("made", "run", "10.00")}, state.ErrRecorded},
		"a rule broken at the start": {[]state.Entry{Intent("made", "run", "10.00"), Intent("x", "run", "1.00")}, state.ErrRecorded},
		"a rule broken by the call itself": {[]state.Entry{
			Intent("x", "run", "1.00"), Intent("x", "run", "2.00"),
		}, state.ErrDifferent},
		"a run that ends without having begun": {[]state.Entry{Intent("x", "run", "1.00"), state.Ended{RunID: "other"}}, state.ErrRun},
		"a run that begins twice in one call": {[]state.Entry{
			state.Begun{RunID: "other"}, state.Begun{RunID: "other"},
		}, state.ErrRun},
	} {
		if err := j.Append(t.Context(), c.entries...); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
		b.same("after "+name, before, b.look(s))
	}
	if err := j.Append(t.Context(), Intent("x", "run", "1.00"), state.Intent{RefID: "y"}); err == nil {
		t.Error("an intent without a request was accepted")
	}
	if err := j.Append(t.Context()); err != nil {
		t.Errorf("nothing could not be appended: %v", err)
	}
	b.same("after all", before, b.look(s))
	b.unlock(j)
}

func callerGone(t *testing.T, b *bench) {
	s := b.create()
	j := b.lock(s)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := j.Append(ctx, Intent("a", "run", "10.00")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	b.append(j, Intent("b", "run", "10.00"))
	if v := b.look(s); v.Meta.Serial != 2 || v.row("a").Status != 0 {
		t.Errorf("something was written: %v", v.Rows)
	}
	b.unlock(j)
}

func oneOwner(t *testing.T, b *bench) {
	s := b.create()
	j := b.lock(s)
	answer := func(refID, recordID string) state.Outcome {
		o := Outcome(refID, "run", state.SourceAnswer, state.Recorded)
		o.Records[0] = Record(refID, recordID, Customer, "10.00", transfer.Completed)
		return o
	}
	duplicate := func(when string, j state.Journal, entries ...state.Entry) {
		t.Helper()
		var duplicate *state.DuplicateRecordError
		if err := j.Append(t.Context(), entries...); !errors.As(err, &duplicate) {
			t.Errorf("%s: got %v", when, err)
			return
		}
		b.same(when, &state.DuplicateRecordError{RecordID: "r", RefID: "a"}, duplicate)
	}
	b.append(j, Intent("a", "run", "10.00"), answer("a", "r"))
	b.append(j, Intent("b", "run", "10.00"))
	duplicate("at once", j, answer("b", "r"))
	duplicate("with its intent", j, Intent("c", "run", "10.00"), answer("c", "r"))
	b.unlock(j)
	j = b.lock(b.open())
	duplicate("after the next lock", j, Intent("c", "run", "10.00"), answer("c", "r"))
	lost := answer("b", "r")
	lost.Source = state.SourceLookup
	duplicate("by a lookup of what another run left", j, lost)
	b.append(j, Outcome("b", "", state.SourceLookup, state.Conflict))
	lost.Source, lost.Reason, lost.By = state.SourcePerson, "sure", &state.Holder{User: "ada"}
	duplicate("by a person", j, lost)
	b.append(j, Outcome("a", "", state.SourcePerson, state.Tombstone))
	duplicate("after its owner was forgotten", j, lost)
	lost.Differences = []transfer.Difference{transfer.ReusedID("r", "a"), transfer.SharedGroup("g-r", "a")}
	b.append(j, lost)
	b.unlock(j)
	b.sharesID(s)
	j = b.lock(b.open())
	later := lost
	later.Source, later.By, later.Differences = state.SourceLookup, nil, nil
	b.append(j, later)
	duplicate("after a person let another one have the id", j, Intent("c", "run", "10.00"), answer("c", "r"))

	var own *state.DuplicateRecordError
	err := j.Append(t.Context(), Intent("d", "run", "10.00"), answer("d", "s"), Intent("e", "run", "10.00"), answer("e", "s"))
	if !errors.As(err, &own) || own.RefID != "d" {
		t.Errorf("twice in one call: got %v", err)
	}
	b.unlock(j)
}

// sharesID reads that a person let b have the id of the record of a, in each way in which rows are read.
func (b *bench) sharesID(s state.Store) {
	b.t.Helper()
	v := b.look(s)
	snap, err := s.Snapshot(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = snap.Close() }() // it was only read
	for _, refID := range []string{"a", "b"} {
		details, err := snap.Details(b.t.Context(), refID)
		if err != nil || len(details) != 1 {
			b.t.Fatal(details, err)
		}
		for _, row := range []state.Transfer{v.row(refID), details[0].Transfer} {
			if row.RecordID != "r" || row.SharesID != (refID == "b") {
				b.t.Errorf("%q has the record %q, as another one: %v", refID, row.RecordID, row.SharesID)
			}
		}
	}
}

func otherCustomer(t *testing.T, b *bench) {
	s := b.create()
	j := b.lock(s)
	b.append(j, Intent("a", "run", "10.00"), Outcome("a", "run", state.SourceAnswer, state.Recorded))
	other := Outcome("b", "run", state.SourceAnswer, state.Recorded)
	other.Records[0] = Record("b", "r-b", "someone else", "10.00", transfer.Completed)
	b.append(j, Intent("b", "run", "10.00"))
	var customer *state.CustomerError
	if err := j.Append(t.Context(), other); !errors.As(err, &customer) || customer.Want != Customer || customer.Got != "someone else" {
		t.Errorf("got %v", err)
	}
	b.unlock(j)
	j = b.lock(b.open())
	other.Source = state.SourceLookup
	if err := j.Append(t.Context(), other); !errors.As(err, &customer) {
		t.Errorf("after the next lock: got %v", err)
	}
	b.same("the customer", Customer, b.look(s).Meta.Service.CustomerID)
	b.unlock(j)
}

// listed has rows that a list alone made, and has their records come later.
func listed(t *testing.T, b *bench) {
	s := b.create()
	j := b.lock(s)
	b.append(j, Intent("declared", "run", "10.00"), Listed("declared", "run", state.SourceImport, state.Unverified))
	b.append(j, Listed("alone", "run", state.SourceImport, state.Unverified))
	b.append(j, Intent("vouched", "run", "10.00"), Listed("vouched", "run", state.SourceImport, state.Unverified))
	b.append(j, Intent("doubt", "run", "10.00"))
	if err := j.Append(t.Context(), Listed("doubt", "run", state.SourceImport, state.Unverified)); err != nil {
		t.Errorf("directly behind its intent: %v", err)
	}
	b.append(j, Intent("older", "run", "10.00"), Intent("newer", "run", "10.00"))
	if err := j.Append(t.Context(), Listed("older", "run", state.SourceImport, state.Unverified)); !errors.Is(err, state.ErrNoAttempt) {
		t.Errorf("behind another's intent: %v", err)
	}
	b.unlock(j)
	if got := b.look(s).Meta.Service.CustomerID; got != "" {
		t.Errorf("a list made %q the customer", got)
	}
	j = b.lock(b.open())
	for _, refID := range []string{"declared", "alone", "vouched"} {
		if err := j.Append(t.Context(), Intent(refID, "run 2", "10.00")); !errors.Is(err, state.ErrRecorded) {
			t.Errorf("%q can be intended: %v", refID, err)
		}
		other := Outcome(refID, "", state.SourceLookup, state.Adopted)
		other.Records[0] = Record(refID, "of another group", Customer, "10.00", transfer.Completed)
		if err := j.Append(t.Context(), other); !errors.Is(err, state.ErrRecorded) {
			t.Errorf("%q takes a record of another group_id: %v", refID, err)
		}
	}
	b.append(j, Listed("vouched", "", state.SourcePerson, state.Adopted))
	b.append(j, Outcome("declared", "", state.SourceLookup, state.Adopted), Outcome("alone", "", state.SourceLookup, state.Unverified))
	v := b.look(j)
	for refID, want := range map[string]struct {
		status   state.Status
		recordID string
	}{"declared": {state.Adopted, "r-declared"}, "alone": {state.Unverified, "r-alone"}, "vouched": {state.Adopted, ""}} {
		if row := v.row(refID); row.Status != want.status || row.RecordID != want.recordID || row.GroupID != "g-r-"+refID || row.Amount.String() != "10.00" {
			t.Errorf("%q: %+v", refID, row)
		}
	}
	b.unlock(j)
}

func byteOrder(_ *testing.T, b *bench) {
	s := b.create()
	j := b.lock(s)
	refIDs := []string{"b", "Z", "a-10", "a-9", "ä", "a", "é'\"<&", "日本"}
	for _, refID := range refIDs {
		b.append(j, Intent(refID, "run", "10.00"))
	}
	b.unlock(j)
	j = b.lock(s)
	b.append(j, Intent("aa", "run", "10.00"), Intent("zz", "run", "10.00"), Outcome("b", "", state.SourceLookup, state.Recorded))
	want := append(slices.Clone(refIDs), "aa", "zz")
	slices.Sort(want)
	for when, from := range map[string]snapshotter{"locked": j, "read": s} {
		var got []string
		for _, row := range b.look(from).Rows {
			got = append(got, row.RefID)
		}
		b.same(when, want, got)
	}
	b.unlock(j)
}

func detailsOrder(t *testing.T, b *bench) {
	s := b.create()
	j := b.lock(s)
	var all []string
	for i := range 1200 { // more than any store asks for at once
		all = append(all, "ref-"+string(rune('a'+i%26))+"-"+time.Duration(i).String())
	}
	var entries []state.Entry
	for _, refID := range all {
		entries = append(entries, Intent(refID, "run", "10.00"))
	}
	b.append(j, entries[:600]...)
	b.unlock(j)
	j = b.lock(s)
	b.append(j, entries[600:]...)
	named := Intent("ref-named", "run", "10.00")
	named.DisplayName = "A name"
	b.append(j, named, Outcome(all[0], "run", state.SourceAnswer, state.Recorded), Outcome(all[700], "run", state.SourceAnswer, state.Refused))
	all = append(all, named.RefID)
	snap, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	slices.Reverse(all)
	details, err := snap.Details(t.Context(), append([]string{"unknown"}, all...)...)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range details {
		got = append(got, d.RefID)
		if d.Intent.RefID != d.RefID {
			t.Errorf("the request of %q is that of %q", d.RefID, d.Intent.RefID)
		}
	}
	b.same("the order", all, got)
	slices.Sort(all)
	b.streams(snap, all)
	b.unlock(j)
}

// streams holds a stream of all details against those that are asked for by name, in the order of ref_ids: also for a reader who
// stops, or is interrupted.
func (b *bench) streams(snap state.Snapshot, all []string) {
	t := b.t
	t.Helper()
	asked, err := snap.Details(t.Context(), all...)
	if err != nil {
		t.Fatal(err)
	}
	var streamed []state.Detail
	for d, err := range state.AllDetails(t.Context(), snap) {
		if err != nil {
			t.Fatal(err)
		}
		streamed = append(streamed, *d)
	}
	b.same("all of them", asked, streamed)
	for _, wanted := range []int{1, 700} {
		seen := 0
		for _, err := range state.AllDetails(t.Context(), snap) {
			if seen++; seen == wanted || err != nil {
				break
			}
		}
		b.same("a reader who stops", wanted, seen)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	failures, after := 0, 0
	for _, err := range state.AllDetails(ctx, snap) {
		cancel()
		switch {
		case errors.Is(err, context.Canceled):
			failures++
		case err != nil:
			t.Error(err)
		case failures > 0:
			after++
		}
	}
	b.same("what a cancelled reader is told", []int{1, 0}, []int{failures, after})
	if none, err := snap.Details(ctx, "unknown"); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled question was answered with %v, %v", none, err)
	}
	if none, err := snap.Details(t.Context()); err != nil || len(none) != 0 {
		t.Errorf("nothing asked for: %v, %v", none, err)
	}
}

func readerStops(t *testing.T, b *bench) {
	s := b.create()
	j := b.lock(s)
	for _, refID := range []string{"a", "b", "c"} {
		b.append(j, Intent(refID, "run", "10.00"))
	}
	b.unlock(j)
	snap, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	for row, err := range snap.Transfers(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		// A reader may ask for more while it reads.
		if details, err := snap.Details(t.Context(), row.RefID); err != nil || len(details) != 1 {
			t.Errorf("%d details while reading, %v", len(details), err)
		}
		break
	}
	for outline, err := range snap.Outlines(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if details, err := snap.Details(t.Context(), outline.RefID); err != nil || len(details) != 1 {
			t.Errorf("%d details while reading outlines, %v", len(details), err)
		}
		break
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range snap.Transfers(ctx) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("read on although nobody wants it: %v", err)
		}
	}
	var last error
	for _, last = range snap.Outlines(ctx) {
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("read outlines on although nobody wants them: %v", last)
	}
	if got := len(b.read(snap).Rows); got != 3 {
		t.Errorf("%d rows afterwards", got)
	}
}
