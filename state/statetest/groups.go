package statetest

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"remit/internal/transfer"
	"remit/state"
)

// inGroup is an outcome with a record of a given group_id.
func inGroup(refID, groupID string, source state.Source, says state.Status) state.Outcome {
	o := Outcome(refID, "run", source, says)
	record := string(Record(refID, "r-"+refID, Customer, "10.00", transfer.Completed))
	o.Records[0] = json.RawMessage(strings.Replace(record, `"g-r-`+refID+`"`, `"`+groupID+`"`, 1))
	return o
}

func oneGroup(t *testing.T, b *bench) {
	s := b.create()
	j := b.lock(s)
	shared := func(when string, j state.Journal, owner string, entries ...state.Entry) {
		t.Helper()
		var duplicate *state.DuplicateGroupError
		if err := j.Append(t.Context(), entries...); !errors.As(err, &duplicate) {
			t.Errorf("%s: got %v", when, err)
			return
		}
		if owner == "" { // any of several
			owner = duplicate.RefID
		}
		last, _ := entries[len(entries)-1].Subject()
		b.same(when, &state.DuplicateGroupError{GroupID: "g", RefID: owner, Asked: last}, duplicate)
	}
	answer := func(refID string) state.Outcome { return inGroup(refID, "g", state.SourceAnswer, state.Recorded) }
	b.append(j, Intent("b", "run", "10.00"), answer("b"))
	b.append(j, Intent("c", "run", "10.00"))
	shared("at once", j, "b", answer("c"))
	shared("with its intent", j, "b", Intent("d", "run", "10.00"), answer("d"))
	b.unlock(j)
	j = b.lock(b.open())
	found := inGroup("c", "g", state.SourceLookup, state.Adopted)
	shared("by a lookup after the next lock", j, "b", found)

	found.Status = state.Unverified
	found.Differences = []transfer.Difference{transfer.SharedGroup("g", "b")}
	b.append(j, found)
	found.Status, found.Differences = state.Adopted, nil
	shared("by a lookup of what is unverified", j, "b", found)
	found.Source, found.Reason, found.By = state.SourcePerson, "sure", &state.Holder{User: "ada"}
	shared("by a person who does not say so", j, "b", found)
	found.Differences = []transfer.Difference{transfer.SharedGroup("g", "b")}
	b.append(j, found)

	again := inGroup("b", "g", state.SourceLookup, state.Recorded)
	b.append(j, again) // of whom it was first is no news
	shared("a third", j, "", Intent("e", "run", "10.00"), answer("e"))

	err := j.Append(t.Context(), Intent("f", "run", "10.00"), inGroup("f", "h", state.SourceAnswer, state.Recorded),
		Intent("i", "run", "10.00"), inGroup("i", "h", state.SourceAnswer, state.Recorded))
	var own *state.DuplicateGroupError
	if !errors.As(err, &own) || own.RefID != "f" {
		t.Errorf("twice in one call: got %v", err)
	}
	b.append(j, Intent("i", "run", "10.00"), inGroup("i", "h", state.SourceAnswer, state.Recorded)) // nothing of that call was written
	b.unlock(j)
}

func whole(t *testing.T, b *bench) {
	s := b.create()
	j := b.lock(s)
	b.append(j, Intent("a", "run", "10.00"))
	short := Outcome("a", "run", state.SourceAnswer, state.Recorded)
	record := string(short.Records[0])
	for field, changed := range map[string]string{
		"group_id": strings.Replace(record, `"g-r-a"`, `""`, 1),
		"total":    strings.Replace(record, `"total":"10.00"`, `"total":"99.00"`, 1),
	} {
		short.Records = []json.RawMessage{json.RawMessage(changed)}
		if err := j.Append(t.Context(), short); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("a record without its %s is recorded: %v", field, err)
		}
	}
	short.Records = []json.RawMessage{json.RawMessage(record)}
	b.append(j, short)
	newer := Outcome("a", "", state.SourceLookup, state.Unverified)
	newer.Records = []json.RawMessage{json.RawMessage(strings.Replace(record, `"total":"10.00"`, `"total":"99.00"`, 1))}
	newer.Differences = []transfer.Difference{{Field: "total", Asked: "10.00", Answered: "99.00"}}
	b.append(j, newer)
	if got := b.look(s).row("a").Status; got != state.Unverified {
		t.Errorf("a newer copy that falls short leaves it %s", got)
	}
	b.unlock(j)
}
