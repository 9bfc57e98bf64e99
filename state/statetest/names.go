package statetest

import (
	"bytes"
	"errors"
	"testing"

	"remit/state"
)

// Named is an Intent with a display name.
func Named(refID, runID, name string) state.Intent {
	i := Intent(refID, runID, "10.00")
	i.DisplayName = name
	return i
}

func named(t *testing.T, b *bench) {
	s := b.create()
	j := b.lock(s)
	b.append(j, Named("a", "run", "Jürgen Müller"), Intent("b", "run", "10.00"))
	b.append(j, Outcome("a", "run", state.SourceAnswer, state.Refused))
	// Refused, and written down again: the request in force has its own name.
	b.append(j, Named("a", "run", "Müller GmbH"))
	// In doubt, and sent again: it is the request of before, and so is its name.
	b.append(j, Named("a", "run", "somebody else"))
	both := []state.Name{{Seq: 2, RefID: "a", Text: "Jürgen Müller"}, {Seq: 5, RefID: "a", Text: "Müller GmbH"}}
	b.same("the names as the holder sees them", both, b.look(j).Names)
	for name, broken := range map[string]string{"a line break": "a\nb", "a direction": "a\u202eb", "a space at its end": "a "} {
		if err := j.Append(t.Context(), Named("c", "run", broken)); err == nil {
			t.Errorf("a display name with %s was written", name)
		}
	}
	// Of a call that fails nothing is left.
	if err := j.Append(t.Context(), Named("d", "run", "Ada"), Outcome("nobody", "run", state.SourceAnswer, state.Recorded)); !errors.Is(err, state.ErrNoAttempt) {
		t.Errorf("got %v", err)
	}
	b.unlock(j)
	other := b.open()
	v := b.look(other)
	b.same("the names as another process sees them", both, v.Names)
	for _, e := range v.Events {
		if bytes.Contains(e.Data, []byte("ller")) || bytes.Contains(e.Data, []byte("somebody")) {
			t.Errorf("event %d has a name: %s", e.Seq, e.Data)
		}
	}
	snap, err := other.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	details, err := snap.Details(t.Context(), "b", "a")
	if err != nil || len(details) != 2 {
		t.Fatal(details, err)
	}
	b.same("the name of b", "", details[0].Intent.DisplayName)
	b.same("the name of a", "Müller GmbH", details[1].Intent.DisplayName)
}

func erased(t *testing.T, b *bench) {
	s := b.create()
	j := b.lock(s)
	b.append(j, Named("a", "run", "Jürgen Müller"), Named("b", "run", "Ada"), Outcome("b", "run", state.SourceAnswer, state.Recorded))
	before := b.look(j)
	gone := state.Erased{Names: 2, By: Holder("state erase-names"), Reason: "they asked for it"}
	for name, wrong := range map[string]state.Erased{
		"another number": {Names: 3, By: gone.By, Reason: gone.Reason},
		"no name":        {By: gone.By, Reason: gone.Reason},
		"no reason":      {Names: 2, By: gone.By},
	} {
		if err := j.Append(t.Context(), wrong); err == nil {
			t.Errorf("with %s it was written", name)
		}
	}
	// A call that fails removes nothing.
	if err := j.Append(t.Context(), gone, Outcome("nobody", "run", state.SourceAnswer, state.Recorded)); !errors.Is(err, state.ErrNoAttempt) {
		t.Errorf("got %v", err)
	}
	b.same("the names after calls that failed", before.Names, b.look(j).Names)
	b.append(j, gone)
	if scrubber, ok := j.(state.Scrubber); ok {
		if err := scrubber.Scrub(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	b.append(j, Named("c", "run", "Grace"))
	b.unlock(j)
	v := b.look(b.open())
	b.same("the names", []state.Name{{Seq: 6, RefID: "c", Text: "Grace"}}, v.Names)
	b.same("the rows of before", before.Rows, v.Rows[:2])
	b.same("the events of before", before.Events, v.Events[:4])
	b.same("the entry", state.Entry(gone), v.entries(t)[4])
}
