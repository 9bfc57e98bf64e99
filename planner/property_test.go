package planner_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"remit/config"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// world is a declaration over a record, both drawn.
type world struct {
	declared []config.Transfer
	memory   *memory
	controls planner.Controls
}

func drawWorld(t *rapid.T, statuses []state.Status) world {
	w := world{memory: newMemory(), controls: planner.Controls{AllowEmpty: true, AcceptDuplicates: make(map[string]int)}}
	n := rapid.IntRange(0, 10).Draw(t, "declared")
	for i := range n + rapid.IntRange(0, 3).Draw(t, "recorded only") {
		d := drawTransfer(t, i)
		if status := rapid.SampledFrom(statuses).Draw(t, "status"); status != 0 {
			w.memory.details[d.Request.RefID] = drawRecord(t, d, status)
			if status.Made() && rapid.IntRange(0, 3).Draw(t, "otherwise") == 0 {
				w.memory.letStand(d.Request.RefID, rapid.SampledFrom([]string{"70", "80.000"}).Draw(t, "made"))
			}
		}
		if i < n {
			w.declared = append(w.declared, d)
		}
		if rapid.Bool().Draw(t, "accepted") {
			w.controls.AcceptDuplicate = append(w.controls.AcceptDuplicate, d.Request.RefID)
		}
	}
	for _, batch := range []string{"pay", "other"} {
		if rapid.Bool().Draw(t, "batch accepted") {
			w.controls.AcceptDuplicates[batch] = rapid.IntRange(0, 3).Draw(t, "count")
		}
	}
	return w
}

// drawTransfer depends on earlier ones only, so that there is no circle.
func drawTransfer(t *rapid.T, i int) config.Transfer {
	d := declare(fmt.Sprintf("t%02d", i), inBatch(rapid.SampledFrom([]string{"", "pay", "other"}).Draw(t, "batch")))
	d.FromLabel = rapid.Bool().Draw(t, "label")
	if rapid.IntRange(0, 2).Draw(t, "twin") == 0 {
		twin(&d)
	}
	switch rapid.IntRange(0, 9).Draw(t, "time") {
	case 0:
		d.NotBefore = now.Add(day)
	case 1:
		d.Expires = now
	}
	if rapid.Bool().Draw(t, "window") {
		d.DuplicateWithin = 0
	}
	for range rapid.IntRange(0, 2).Draw(t, "dependencies") {
		if i > 0 {
			d.DependsOn = append(d.DependsOn, config.Dependency{
				Block: fmt.Sprintf("transfer.internal.t%02d", rapid.IntRange(0, i-1).Draw(t, "on")),
			})
		}
	}
	if i > 0 && rapid.Bool().Draw(t, "argument") {
		d.AcceptDuplicateOf = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			return fmt.Sprintf("t%02d", rapid.IntRange(0, 12).Draw(t, "of"))
		}), 0, 4).Draw(t, "accept_duplicate_of")
	}
	return d
}

func drawRecord(t *rapid.T, d config.Transfer, status state.Status) state.Detail {
	if rapid.IntRange(0, 7).Draw(t, "edited") == 0 {
		amount("70")(&d.Request)
	}
	r := record(d, status)
	if status.Made() {
		r.RecordStatus = rapid.SampledFrom([]transfer.RecordStatus{transfer.Completed, transfer.Completed, transfer.Pending, transfer.Failed}).Draw(t, "record status")
	}
	return r
}

// isMadeAs reports whether a person let a record stand that has the movement of a request.
func (w *world) isMadeAs(refID string, r transfer.Request) bool {
	for _, e := range w.memory.told {
		if e.RefID != refID {
			continue
		}
		request, err := transfer.ParseRequest(r.Operation, []byte(w.memory.details[refID].Intent.Body), "")
		if err != nil {
			panic(err)
		}
		var outcome state.Outcome
		if err := json.Unmarshal(e.Data, &outcome); err != nil {
			panic(err)
		}
		request.Amount = transfer.MustAmount(outcome.Differences[0].Answered)
		if request.IsTwin(&r) {
			return true
		}
	}
	return false
}

// apply is an apply in which every answer is COMPLETED.
func (w *world) apply(p *planner.Plan) {
	byRef := make(map[string]config.Transfer)
	for _, d := range w.declared {
		byRef[d.Request.RefID] = d
	}
	for _, c := range p.Changes.All() {
		switch c.Action {
		case planner.Submit:
			w.memory.details[c.RefID] = record(byRef[c.RefID], state.Recorded, intended(0))
		case planner.Resolve:
			d := w.memory.details[c.RefID]
			d.Status, d.RecordStatus = state.Recorded, transfer.Completed
			w.memory.details[c.RefID] = d
		case planner.None, planner.Wait, planner.Expired, planner.Conflict, planner.Failed, planner.Undeclared:
		}
	}
	for refID, d := range w.memory.details {
		if d.RecordStatus == transfer.Pending {
			d.RecordStatus = transfer.Completed
			w.memory.details[refID] = d
		}
	}
}

// TestApplyingAPlanLeavesNothingToSubmit is the promise that a second run does nothing. A
// plan that settles doubts may leave the transfers that waited for them to a second run, and no
// more.
func TestApplyingAPlanLeavesNothingToSubmit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		certain := rapid.Bool().Draw(t, "no doubts")
		statuses := []state.Status{0, 0, state.Unsent, state.Recorded, state.Adopted, state.Refused, state.Tombstone}
		if !certain {
			statuses = append(statuses, state.InDoubt)
		}
		w := drawWorld(t, statuses)
		p := newPlan(t, w, w.declared)
		w.apply(p)
		again := newPlan(t, w, w.declared)
		if !certain {
			if n := again.Count(planner.Resolve); n != 0 {
				t.Fatalf("%d are still to be resolved: %v", n, actions(again))
			}
			w.apply(again)
			again = newPlan(t, w, w.declared)
		}
		if !again.Empty() {
			t.Fatalf("something is left to do: %v", actions(again))
		}
	})
}

// TestOrderAndNamesOfFilesMeanNothing shuffles a declaration over files of other names.
func TestOrderAndNamesOfFilesMeanNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t, append(state.Statuses(), 0, 0, 0, 0, 0, 0))
		shuffled := rapid.Permutation(w.declared).Draw(t, "order")
		shuffled = slices.Clone(shuffled)
		for i := range shuffled {
			shuffled[i].Place = config.Place{File: fmt.Sprintf("f%d.hcl", i), Line: i + 1}
		}
		a, b := newPlan(t, w, w.declared), newPlan(t, w, shuffled)
		if diff := cmp.Diff(meaning(a), meaning(b)); diff != "" {
			t.Fatalf("the order changes the plan (-as drawn +shuffled):\n%s", diff)
		}
		if a.Digest != b.Digest {
			t.Fatal("the order changes the digest")
		}
	})
}

// meaning is all of a plan but its order and its places.
func meaning(p *planner.Plan) map[string]any {
	all := map[string]any{"digest": p.Digest, "accepted": p.Header.Accepted, "unused": p.Unused, "marks": marks(p)}
	slices.Sort(all["marks"].([]string))
	for _, c := range p.Changes.All() {
		after := slices.Sorted(slices.Values(c.After))
		all[c.RefID] = fmt.Sprint(c.Action, c.Again, c.Until, after, len(c.Differences))
	}
	var kinds []string
	for _, o := range p.Obstacles {
		refIDs := slices.Sorted(slices.Values(o.RefIDs))
		kinds = append(kinds, fmt.Sprint(o.Kind, o.Count, refIDs))
	}
	slices.Sort(kinds)
	all["obstacles"] = kinds
	for action, totals := range p.Totals {
		all[string(action)] = fmt.Sprint(totals.Count(), totals.Sum("USD"))
	}
	return all
}

// TestEveryRefIDHasOneAction counts declared and recorded transfers.
func TestEveryRefIDHasOneAction(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t, append(state.Statuses(), 0, 0, 0))
		p := newPlan(t, w, w.declared)
		want := make(map[string]bool)
		for _, d := range w.declared {
			want[d.Request.RefID] = true
		}
		for refID, d := range w.memory.details {
			if d.Status.MayBeMade() {
				want[refID] = true
			}
		}
		got := 0
		for _, action := range planner.Actions() {
			got += p.Count(action)
		}
		if got != len(want) {
			t.Fatalf("%d ref_ids have %d actions: %v", len(want), got, actions(p))
		}
	})
}

// TestNothingIsSubmittedThatMayBeMade holds for every draw: a submitted transfer was never made, a
// resolved one is in doubt, and both move what the rules allow.
func TestNothingIsSubmittedThatMayBeMade(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t, append(state.Statuses(), 0, 0, 0))
		p := newPlan(t, w, w.declared)
		submitted := make(map[string]bool)
		for _, c := range p.Changes.All() {
			submitted[c.RefID] = c.Action == planner.Submit
		}
		for _, c := range p.Changes.All() {
			d, known := w.memory.details[c.RefID]
			switch {
			case c.Action == planner.Submit && known && d.Status != state.Unsent && d.Status != state.Refused:
				t.Fatalf("%q is %s and would be submitted", c.RefID, d.Status)
			case c.Action == planner.Resolve && d.Status != state.InDoubt:
				t.Fatalf("%q is %s and would be resolved", c.RefID, d.Status)
			}
			for _, refID := range c.After {
				if c.Action == planner.Submit && !submitted[refID] && !w.memory.details[refID].Status.Made() {
					t.Fatalf("%q is submitted after %q, which is not", c.RefID, refID)
				}
			}
		}
	})
}

// TestUnacceptedTwinsBlock compares the look-alikes that stop a plan with a slow and simple
// search for two transfers that move the same, of which nothing accepts either.
func TestUnacceptedTwinsBlock(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t, []state.Status{0, 0, 0, state.Recorded, state.Adopted, state.Refused})
		w.controls.AcceptDuplicates = nil
		for i := range w.declared {
			w.declared[i].AcceptDuplicateOf = nil
			w.declared[i].FromLabel = false
		}
		p := newPlan(t, w, w.declared)
		unaccepted := func(c *planner.Change) bool {
			return c.Action == planner.Submit && c.DuplicateWithin > 0 && !slices.Contains(w.controls.AcceptDuplicate, c.RefID)
		}
		want := false
		all := p.Changes.Slice()
		for i := range all {
			c := &all[i]
			if !unaccepted(c) {
				continue
			}
			for j := range all[:i] {
				want = want || unaccepted(&all[j]) && all[j].Request.Twin() == c.Request.Twin()
			}
			for _, d := range w.memory.details {
				want = want || d.Status.MayBeMade() && d.RecordStatus != transfer.Failed && (d.Twin == c.Request.Twin() || w.isMadeAs(d.RefID, c.Request))
			}
		}
		got := slices.ContainsFunc(p.Obstacles, func(o planner.Obstacle) bool { return o.Kind == planner.ObstacleLookAlike })
		if got != want {
			t.Fatalf("blocked %v, want %v: %v %v", got, want, actions(p), marks(p))
		}
	})
}

// TestDifferencesAreFingerprints draws two requests that differ in some fields.
func TestDifferencesAreFingerprints(t *testing.T) {
	text := rapid.SampledFrom([]string{"", "x", "y"})
	draw := func(t *rapid.T) transfer.Request {
		pairs := rapid.MapOfN(rapid.SampledFrom([]string{"k", "l"}), text, 0, 2)
		r := transfer.Request{
			Operation: rapid.SampledFrom(transfer.Operations()).Draw(t, "operation"), RefID: text.Draw(t, "ref_id"),
			FromProfileID: text.Draw(t, "from"), FromIdentityID: text.Draw(t, "from identity"), FromAccountID: text.Draw(t, "from account"),
			ToProfileID: text.Draw(t, "to"), ToIdentityID: text.Draw(t, "to identity"), ToAccountID: text.Draw(t, "to account"),
			Amount: transfer.MustAmount(rapid.SampledFrom([]string{"1", "1.0", "2"}).Draw(t, "amount")), Asset: text.Draw(t, "asset"),
			Metadata: transfer.NewMetadata(pairs.Draw(t, "metadata")), RecipientMetadata: transfer.NewMetadata(pairs.Draw(t, "recipient_metadata")),
		}
		return r
	}
	rapid.Check(t, func(t *rapid.T) {
		a := draw(t)
		b := a
		switch rapid.IntRange(0, 3).Draw(t, "change") {
		case 0:
			b = draw(t)
		case 1:
			b.Amount = draw(t).Amount
		case 2:
			b.Metadata = draw(t).Metadata
		case 3:
			b.RecipientMetadata = draw(t).RecipientMetadata
		}
		if same, differences := a.Fingerprint() == b.Fingerprint(), planner.Differences(a, b); same != (len(differences) == 0) {
			t.Fatalf("one fingerprint %v, differences %v", same, differences)
		}
	})
}

func newPlan(t *rapid.T, w world, declared []config.Transfer) *planner.Plan {
	p, err := planner.New(t.Context(), slices.Values(declared), w.memory, w.controls, now)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
