package state_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/internal/transfer"
	"remit/state"
	"remit/state/statetest"
)

// journal chains entries as a store does.
func journal(t *testing.T, entries ...state.Entry) []state.Event {
	t.Helper()
	var events []state.Event
	head := ""
	for i, entry := range entries {
		draft, err := state.NewDraft(entry)
		if err != nil {
			t.Fatal(err)
		}
		refID, runID := entry.Subject()
		e := state.Event{Seq: int64(i + 1), Time: start, Kind: entry.Kind(), RefID: refID, RunID: runID, Data: draft.Data}
		e.Hash = e.Chain(head)
		head = e.Hash
		events = append(events, e)
	}
	return events
}

func each(events []state.Event) iter.Seq2[state.Event, error] {
	return func(yield func(state.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func fiveEvents(t *testing.T) []state.Event {
	return journal(t, statetest.Created(),
		state.Begun{RunID: "run", By: statetest.Holder("apply"), Digest: "d"},
		intent(), outcome(state.SourceAnswer, state.Recorded),
		state.Ended{RunID: "run", Outcomes: map[string]int{"recorded": 1}, Complete: true})
}

func TestVerifyNamesTheFirstEventThatIsWrong(t *testing.T) {
	rechained := func(events []state.Event) []state.Event {
		head := ""
		for i := range events {
			events[i].Hash = events[i].Chain(head)
			head = events[i].Hash
		}
		return events
	}
	kept := fiveEvents(t)[4].Hash
	for name, c := range map[string]struct {
		tamper func([]state.Event) []state.Event
		head   string
		want   int64 // the event that is found, or with a head how many there are; 0 for no mistake
	}{
		"an untouched journal": {tamper: func(e []state.Event) []state.Event { return e }},
		"an untouched journal and its head": {
			tamper: func(e []state.Event) []state.Event { return e }, head: kept,
		},
		"an untouched journal and an older head": {
			tamper: func(e []state.Event) []state.Event { return e }, head: fiveEvents(t)[2].Hash,
		},
		"a payload that was changed": {tamper: func(e []state.Event) []state.Event {
			e[2].Data = slices.Clone(e[2].Data)
			e[2].Data[20] ^= 1
			return e
		}, want: 3},
		"a time that was changed": {tamper: func(e []state.Event) []state.Event {
			e[3].Time = e[3].Time.Add(time.Millisecond)
			return e
		}, want: 4},
		"a kind that was changed":    {tamper: func(e []state.Event) []state.Event { e[3].Kind = state.KindIntent; return e }, want: 4},
		"a ref_id that was changed":  {tamper: func(e []state.Event) []state.Event { e[3].RefID = "b"; return e }, want: 4},
		"a run that was changed":     {tamper: func(e []state.Event) []state.Event { e[1].RunID = "b"; return e }, want: 2},
		"a hash that was changed":    {tamper: func(e []state.Event) []state.Event { e[1].Hash = e[0].Hash; return e }, want: 2},
		"an event that was removed":  {tamper: func(e []state.Event) []state.Event { return slices.Delete(e, 2, 3) }, want: 3},
		"an event that was repeated": {tamper: func(e []state.Event) []state.Event { return slices.Insert(e, 2, e[1]) }, want: 3},
		"events that were swapped":   {tamper: func(e []state.Event) []state.Event { e[1], e[2] = e[2], e[1]; return e }, want: 2},
		"a first event that was cut": {tamper: func(e []state.Event) []state.Event { return e[1:] }, want: 1},
		"nothing":                    {tamper: func([]state.Event) []state.Event { return nil }, want: 1},
		"a tail that was cut, without a head": {
			tamper: func(e []state.Event) []state.Event { return e[:4] },
		},
		"a tail that was cut, with a head": {
			tamper: func(e []state.Event) []state.Event { return e[:4] }, head: kept, want: 4,
		},
		"a chain written anew, without a head": {tamper: func(e []state.Event) []state.Event {
			e[1].Time = e[1].Time.Add(time.Millisecond)
			e[2].Time, e[3].Time, e[4].Time = e[1].Time, e[1].Time, e[1].Time
			return rechained(e)
		}},
		"a chain written anew, with a head": {tamper: func(e []state.Event) []state.Event {
			e[4].Time = e[4].Time.Add(time.Millisecond)
			return rechained(e)
		}, head: kept, want: 5},
		"a time that goes back, as a wrong clock makes it": {tamper: func(e []state.Event) []state.Event {
			e[2].Time = start.Add(-time.Hour)
			return rechained(e)
		}},
		"a payload of another ref_id": {tamper: func(e []state.Event) []state.Event {
			e[2].RefID = "b"
			return rechained(e)
		}, want: 3},
		"a second first event": {tamper: func(e []state.Event) []state.Event {
			e[1].Kind, e[1].RunID, e[1].Data = state.KindCreated, "", e[0].Data
			return rechained(e)
		}, want: 2},
	} {
		t.Run(name, func(t *testing.T) {
			err := state.Verify(each(c.tamper(fiveEvents(t))), c.head)
			var broken *state.ChainError
			var lost *state.HeadError
			switch {
			case c.want == 0 && err != nil:
				t.Error(err)
			case c.want == 0:
			case c.head != "":
				if !errors.As(err, &lost) || lost.Head != c.head || lost.Events != c.want {
					t.Errorf("the head was not missed: %v", err)
				}
			case !errors.As(err, &broken):
				t.Errorf("not found: %v", err)
			case broken.Seq != c.want:
				t.Errorf("found at event %d, want %d: %v", broken.Seq, c.want, err)
			}
		})
	}
}

// TestChainHasTheDocumentedLayout is what another program that checks a journal relies on.
func TestChainHasTheDocumentedLayout(t *testing.T) {
	e := state.Event{Seq: 2, Time: time.UnixMilli(258), Kind: "begun", RunID: "r", Data: json.RawMessage("{}")}
	event := sha256.Sum256([]byte("\x00\x00\x00\x00\x00\x00\x00\x0dremit-event/2" +
		"\x00\x00\x00\x00\x00\x00\x00\x08\x00\x00\x00\x00\x00\x00\x00\x02" +
		"\x00\x00\x00\x00\x00\x00\x00\x08\x00\x00\x00\x00\x00\x00\x01\x02" +
		"\x00\x00\x00\x00\x00\x00\x00\x05begun" +
		"\x00\x00\x00\x00\x00\x00\x00\x00" +
		"\x00\x00\x00\x00\x00\x00\x00\x01r" +
		"\x00\x00\x00\x00\x00\x00\x00\x02{}"))
	sum := sha256.Sum256([]byte("\x00\x00\x00\x00\x00\x00\x00\x0dremit-chain/2" +
		"\x00\x00\x00\x00\x00\x00\x00\x02ab" +
		"\x00\x00\x00\x00\x00\x00\x00\x20" + string(event[:])))
	if got, want := e.Chain("ab"), hex.EncodeToString(sum[:]); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestEventsGiveTheirEntriesBack(t *testing.T) {
	by := statetest.Holder("resolve")
	person := state.Outcome{
		RefID: "a", Status: state.Conflict, Source: state.SourceLookup, Reason: "1 < 2 & \u2028",
		HTTPStatus: 409, Problem: json.RawMessage(`{"type":"x","detail":"<b>"}`),
		Records:     []json.RawMessage{json.RawMessage(`{"id":"<1>"}`)},
		Differences: []transfer.Difference{{Field: "amount", Asked: "1", Answered: "2"}}, By: &by,
	}
	entries := []state.Entry{
		statetest.Created(),
		state.Begun{RunID: "run", By: by, PlanID: "p", Digest: "d", Author: "ada", Controls: "c", Accepted: []string{"x"}},
		intent(), person,
		state.Ended{RunID: "run", Outcomes: map[string]int{"recorded": 1}, Error: "none"},
		state.Unlocked{From: by, By: by, Reason: "gone"},
		state.Rebound{Before: state.SandboxIdentity(), After: statetest.Created().Service, By: by, Reason: "moved"},
	}
	for i, e := range journal(t, entries...) {
		got, err := e.Entry()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(entries[i], got); diff != "" {
			t.Errorf("%s:\n%s", e.Kind, diff)
		}
	}
}

func FuzzEntry(f *testing.F) {
	for _, kind := range []state.Kind{state.KindCreated, state.KindIntent, state.KindOutcome, "other"} {
		f.Add(string(kind), []byte(`{"ref_id":"a","records":[{}],"status":"recorded","source":"answer"}`))
	}
	f.Fuzz(func(_ *testing.T, kind string, data []byte) {
		e := state.Event{Seq: 1, Kind: state.Kind(kind), Data: data}
		draft, err := e.Draft()
		if err != nil {
			return
		}
		// A readable entry can be applied or refused; it does not take the program down.
		switch draft.Entry.(type) {
		case state.Intent, state.Outcome:
			refID, _ := draft.Entry.Subject()
			if again, err := state.NewDraft(draft.Entry); err == nil {
				_, _ = state.Transfer{}.Apply(again, 1, start)
				_, _ = state.Transfer{RefID: refID, Status: state.InDoubt}.Apply(again, 1, start)
			}
		}
	})
}
