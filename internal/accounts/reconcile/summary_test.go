package reconcile_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"remit/internal/accounts/reconcile"
	"remit/state"
)

// TestWordsOfUnknownStatusesAreBounded has more statuses that no document lists than a summary keeps apart.
func TestWordsOfUnknownStatusesAreBounded(t *testing.T) {
	const transfers, words = 25, 20
	w := newWorld(t, 0)
	var export []row
	w.append(t, func(add func(...state.Entry)) {
		for i := range transfers {
			r := request(i)
			novel := sides(r, i)
			for side := range novel {
				novel[side] = novel[side].with("status", fmt.Sprintf("NOVEL_%02d", i))
			}
			add(intent(r), recorded(r.RefID, state.Recorded, state.SourceAnswer, novel[0]))
			export = append(export, novel...)
		}
	})
	s := w.reconciled(t, reconcile.Options{ListMax: 10}, format(0, export))
	if s.Matched != transfers || len(s.Unknown) != words+1 || s.Unknown[reconcile.UnknownOthers] != transfers-words {
		t.Errorf("%d match; unknown are %v", s.Matched, s.Unknown)
	}
}

// TestTheSpanOfTheRecordsIsThatOfAll has the records in three orders: the oldest and the newest are the same.
func TestTheSpanOfTheRecordsIsThatOfAll(t *testing.T) {
	w := newWorld(t, 5)
	backwards := slices.Clone(w.export)
	slices.Reverse(backwards)
	middle := slices.Concat(w.export[4:], w.export[:4])
	for name, export := range map[string][]row{"oldest first": w.export, "newest first": backwards, "from the middle": middle} {
		s := w.reconciled(t, reconcile.Options{ListMax: 10}, format(0, export))
		first, last := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 11, 1, 0, 0, 4, 0, time.UTC)
		if !s.First.Equal(first) || !s.Last.Equal(last) {
			t.Errorf("%s: from %s to %s", name, s.First, s.Last)
		}
	}
}

// TestATransferMayConcernAPeriodLongAfterIt says which transfers a lookup asks about: one whose record may be of
// the period although its run was not. A person may have accepted a record of another day.
func TestATransferMayConcernAPeriodLongAfterIt(t *testing.T) {
	const day = 24 * time.Hour
	from := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	r := reconcile.New(reconcile.Options{From: from, Until: from.Add(30 * day), TempDir: t.TempDir()})
	defer r.Close()
	for name, test := range map[string]struct {
		status            state.Status
		intended, settled time.Time
		want              bool
	}{
		"in the period":               {state.Recorded, from.Add(day), from.Add(day), true},
		"settled 40 days before it":   {state.Recorded, from.Add(-40 * day), from.Add(-40 * day), true},
		"settled 50 days before it":   {state.Recorded, from.Add(-50 * day), from.Add(-50 * day), false},
		"intended 40 days after it":   {state.Recorded, from.Add(70 * day), from.Add(71 * day), true},
		"intended 50 days after it":   {state.Recorded, from.Add(80 * day), from.Add(81 * day), false},
		"begun before, settled in it": {state.Recorded, from.Add(-50 * day), from.Add(day), true},
		"a doubt of long ago":         {state.InDoubt, from.Add(-50 * day), time.Time{}, true},
		"adopted long ago":            {state.Adopted, from.Add(-50 * day), from.Add(-50 * day), true},
		"imported long ago":           {state.Recorded, time.Time{}, from.Add(-50 * day), true},
		"recorded at no time":         {state.Recorded, from.Add(-50 * day), time.Time{}, true},
	} {
		if got := r.MayConcern(&state.Transfer{RefID: "a", Status: test.status, IntendedAt: test.intended, SettledAt: test.settled}); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestAnAttemptIsNoTimeOfARecord has a transfer that was tried in the period and, by the service's record, made long
// before it: when it was tried says nothing of the record, so it is left out like others of that time.
func TestAnAttemptIsNoTimeOfARecord(t *testing.T) {
	w := newWorld(t, 0)
	r := request(0)
	w.append(t, func(add func(...state.Entry)) {
		add(intent(r), recorded(r.RefID, state.InDoubt, state.SourceAnswer))
	})
	export := sides(r, 0)
	for side := range export {
		export[side] = export[side].with("created_at", "2026-09-01T00:00:00Z", "updated_at", "2026-09-01T00:00:00Z")
	}
	november := reconcile.Options{From: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), Until: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC), ListMax: 10}
	if s := w.reconciled(t, november, format(0, export)); s.Differ != 0 || s.OutOfPeriod == 0 {
		t.Errorf("%d differ, %d are out of the period", s.Differ, s.OutOfPeriod)
	}
	if s := w.reconciled(t, reconcile.Options{ListMax: 10}, format(0, export)); s.Gravest[reconcile.InDoubt] != 1 {
		t.Errorf("without a period it is %v", s.Gravest)
	}
}

// TestWhatDiffersIsNotCountedAsPending has two transfers that are PENDING, of which the service has one with another amount.
func TestWhatDiffersIsNotCountedAsPending(t *testing.T) {
	w := newWorld(t, 0)
	var export []row
	w.append(t, func(add func(...state.Entry)) {
		for i := range 2 {
			r := request(i)
			pending := sides(r, i)
			for side := range pending {
				pending[side] = pending[side].with("status", "PENDING")
			}
			add(intent(r), recorded(r.RefID, state.Recorded, state.SourceAnswer, pending[0]))
			export = append(export, pending...)
		}
	})
	export[0], export[1] = export[0].plus("1"), export[1].plus("1")
	if s := w.reconciled(t, reconcile.Options{ListMax: 10}, format(0, export)); s.Matched != 1 || s.Differ != 1 || s.Pending != 1 {
		t.Errorf("%d match, %d differ, %d of those that match are PENDING", s.Matched, s.Differ, s.Pending)
	}
}
