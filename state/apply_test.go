package state_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"remit/internal/transfer"
	"remit/state"
	"remit/state/statetest"
)

var start = time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC)

// apply applies entries one after the other, a minute apart.
func apply(t state.Transfer, entries ...state.Entry) (state.Transfer, error) {
	seq := max(t.IntentSeq, t.OutcomeSeq)
	for _, entry := range entries {
		draft, err := state.NewDraft(entry)
		if err != nil {
			return t, err
		}
		seq++
		if t, err = t.Apply(draft, seq, start.Add(time.Duration(seq)*time.Minute)); err != nil {
			return t, err
		}
	}
	return t, nil
}

func must(t *testing.T, entries ...state.Entry) state.Transfer {
	t.Helper()
	row, err := apply(state.Transfer{}, entries...)
	if err != nil {
		t.Fatal(err)
	}
	return row
}

func intent() state.Intent { return statetest.Intent("a", "run", "10.00") }

func outcome(source state.Source, says state.Status) state.Outcome {
	return statetest.Outcome("a", "run", source, says)
}

func listed(source state.Source, says state.Status) state.Outcome {
	return statetest.Listed("a", "run", source, says)
}

// everyRow reaches each status in each way that the edges tell apart.
func everyRow(t *testing.T) map[string]state.Transfer {
	answer := func(says state.Status) state.Entry { return outcome(state.SourceAnswer, says) }
	rows := map[string]state.Transfer{
		"unknown":                  {},
		"in doubt, open":           must(t, intent()),
		"in doubt, closed":         must(t, intent(), answer(state.InDoubt)),
		"in doubt, open, doubted":  must(t, intent(), intent()),
		"in doubt, closed doubted": must(t, intent(), intent(), answer(state.Refused)),
		"tombstone":                must(t, intent(), outcome(state.SourcePerson, state.Tombstone)),
		"tombstone with a record":  must(t, intent(), answer(state.Recorded), outcome(state.SourcePerson, state.Tombstone)),
		"conflict with a record":   must(t, intent(), answer(state.Recorded), outcome(state.SourceLookup, state.Conflict)),
		"imported":                 must(t, outcome(state.SourceImport, state.Unverified)),
		"listed alone":             must(t, listed(state.SourceImport, state.Unverified)),
		"listed":                   must(t, intent(), listed(state.SourceImport, state.Unverified)),
		"listed, with a record":    must(t, intent(), listed(state.SourceImport, state.Unverified), outcome(state.SourceLookup, state.Unverified)),
		"listed, vouched for":      must(t, intent(), listed(state.SourceImport, state.Unverified), listed(state.SourcePerson, state.Adopted)),
		"listed otherwise":         must(t, intent(), listed(state.SourceImport, state.Conflict)),
		"listed, found otherwise":  must(t, intent(), listed(state.SourceImport, state.Unverified), outcome(state.SourceLookup, state.Conflict)),
		"listed, forgotten":        must(t, listed(state.SourceImport, state.Unverified), outcome(state.SourcePerson, state.Tombstone)),
	}
	for _, says := range []state.Status{state.Unsent, state.Recorded, state.Adopted, state.Unverified, state.Refused, state.Conflict} {
		rows[says.String()] = must(t, intent(), answer(says))
	}
	return rows
}

func TestApplyAllowsWhatEdgesListAndNothingElse(t *testing.T) {
	type cause struct {
		source state.Source
		says   state.Status
		listed bool
	}
	causes := []cause{{}}
	for _, source := range []state.Source{state.SourceAnswer, state.SourceLookup, state.SourcePerson, state.SourceImport} {
		for _, says := range state.Statuses() {
			causes = append(causes, cause{source, says, false}, cause{source, says, true})
		}
	}
	used := make(map[state.Edge]bool)
	for name, row := range everyRow(t) {
		for _, c := range causes {
			t.Run(fmt.Sprintf("%s/%s says %s, by a list: %v", name, c.source, c.says, c.listed), func(t *testing.T) {
				var want []state.Edge
				for _, e := range state.Edges() {
					if e.From == row.Status && e.Source == c.source && e.Says == c.says && e.Listed == c.listed &&
						(!e.Open || row.Open() && e.Doubted == row.Doubted) &&
						(!e.Listed || e.From == 0 || e.From == state.InDoubt || row.IsListed()) {
						want = append(want, e)
						used[e] = true
					}
				}
				if len(want) > 1 {
					t.Fatalf("listed more than once: %v", want)
				}
				entry := state.Entry(intent())
				switch {
				case c.listed:
					entry = listed(c.source, c.says)
				case c.source != "":
					entry = outcome(c.source, c.says)
				}
				got, err := apply(row, entry)
				switch {
				case len(want) == 0 && err == nil:
					t.Errorf("became %s although no edge says so", got.Status)
				case len(want) == 0:
					if diff := cmp.Diff(row, got, exact()); diff != "" {
						t.Errorf("refused and changed all the same:\n%s", diff)
					}
				case err != nil:
					t.Errorf("refused although an edge says %s: %v", want[0].To, err)
				case got.Status != want[0].To:
					t.Errorf("became %s, the edge says %s", got.Status, want[0].To)
				}
			})
		}
	}
	for _, e := range state.Edges() {
		if !used[e] {
			t.Errorf("no row walks %+v", e)
		}
		if e.Cause == "" {
			t.Errorf("no cause: %+v", e)
		}
	}
}

func exact() cmp.Option {
	return cmp.Comparer(func(a, b transfer.Amount) bool { return a == b })
}

func TestApplyRefusesWithTheErrorThatItsCallerNeeds(t *testing.T) {
	rows := everyRow(t)
	otherBytes := statetest.Intent("a", "run", "10.0") // the same money in other digits
	otherRecord := outcome(state.SourceLookup, state.Recorded)
	otherRecord.Records[0] = statetest.Record("a", "another", statetest.Customer, "10.00", transfer.Completed)
	otherPerson := outcome(state.SourcePerson, state.Recorded)
	otherPerson.Records = otherRecord.Records
	otherGroup := listed(state.SourcePerson, state.Adopted)
	otherGroup.Listed.GroupID = "another"
	listedOfAnother := listed(state.SourceImport, state.Unverified)
	listedOfAnother.RunID = "another"
	otherRun := outcome(state.SourceAnswer, state.Recorded)
	otherRun.RunID = "another"
	for name, c := range map[string]struct {
		row   string
		entry state.Entry
		want  error
	}{
		"an intent of what is recorded":                      {"recorded", intent(), state.ErrRecorded},
		"an intent of what is adopted":                       {"adopted", intent(), state.ErrRecorded},
		"an intent of what is unverified":                    {"unverified", intent(), state.ErrRecorded},
		"an intent of a conflict":                            {"conflict", intent(), state.ErrRecorded},
		"an intent of a tombstone":                           {"tombstone", intent(), state.ErrTombstone},
		"an intent of a doubt with other bytes":              {"in doubt, closed", otherBytes, state.ErrDifferent},
		"an intent of an open doubt with other bytes":        {"in doubt, open", otherBytes, state.ErrDifferent},
		"an answer to nothing":                               {"unknown", outcome(state.SourceAnswer, state.Recorded), state.ErrNoAttempt},
		"an answer to an attempt that has one":               {"in doubt, closed", outcome(state.SourceAnswer, state.Recorded), state.ErrNoAttempt},
		"an answer to an attempt of another run":             {"in doubt, open", otherRun, state.ErrNoAttempt},
		"a lookup of nothing":                                {"unknown", outcome(state.SourceLookup, state.Adopted), state.ErrNoAttempt},
		"a lookup of a tombstone":                            {"tombstone", outcome(state.SourceLookup, state.Adopted), state.ErrTombstone},
		"a lookup that finds another record":                 {"recorded", otherRecord, state.ErrRecorded},
		"a person who gives another record":                  {"conflict with a record", otherPerson, state.ErrRecorded},
		"a person who gives another record of the forgotten": {"tombstone with a record", otherPerson, state.ErrRecorded},
		"a second tombstone":                                 {"tombstone", outcome(state.SourcePerson, state.Tombstone), state.ErrTombstone},
		"an import over something":                           {"refused", outcome(state.SourceImport, state.Adopted), state.ErrRecorded},
		"an intent of what is listed":                        {"listed", intent(), state.ErrRecorded},
		"an intent of what is listed and vouched for":        {"listed, vouched for", intent(), state.ErrRecorded},
		"a list about an attempt that has an outcome":        {"in doubt, closed", listed(state.SourceImport, state.Unverified), state.ErrNoAttempt},
		"a list about an attempt after a doubt":              {"in doubt, open, doubted", listed(state.SourceImport, state.Unverified), state.ErrNoAttempt},
		"a list about another run's attempt":                 {"in doubt, open", listedOfAnother, state.ErrNoAttempt},
		"a list over a refusal":                              {"refused", listed(state.SourceImport, state.Unverified), state.ErrRecorded},
		"a list over a list":                                 {"listed", listed(state.SourceImport, state.Unverified), state.ErrRecorded},
		"a lookup of another group_id than was listed":       {"listed", otherRecord, state.ErrRecorded},
		"a person who vouches for another group_id":          {"listed", otherGroup, state.ErrRecorded},
		"a person who vouches for what has a record":         {"unverified", listed(state.SourcePerson, state.Adopted), state.ErrRecorded},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := apply(rows[c.row], c.entry); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
	t.Run("a lookup that says refused", func(t *testing.T) {
		var edge *state.EdgeError
		if _, err := apply(rows["in doubt, closed"], outcome(state.SourceLookup, state.Refused)); !errors.As(err, &edge) {
			t.Errorf("got %v", err)
		}
	})
}

func TestApplyKeepsWhatARowIsMadeOf(t *testing.T) {
	minute := func(n int) time.Time { return start.Add(time.Duration(n) * time.Minute) }
	request := statetest.Request("a", "10.00")
	open := state.Transfer{
		RefID: "a", Status: state.InDoubt, Fingerprint: request.Fingerprint(), Twin: request.Twin(),
		Destination: request.Destination(), Asset: "USD", Amount: request.Amount, FromLabel: true,
		IntendedAt: minute(1), AttemptedAt: minute(1), RunID: "run", IntentSeq: 1,
	}
	made := open
	made.Status, made.SettledAt, made.OutcomeSeq = state.Recorded, minute(2), 2
	made.RecordID, made.GroupID, made.RecordStatus = "r-a", "g-r-a", transfer.Completed
	again := open
	again.Doubted, again.AttemptedAt, again.RunID = true, minute(3), "run 2"
	again.OutcomeSeq = 2 // of the attempt before
	for name, c := range map[string]struct {
		entries []state.Entry
		want    state.Transfer
	}{
		"an intent": {[]state.Entry{intent()}, open},
		"a record":  {[]state.Entry{intent(), outcome(state.SourceAnswer, state.Recorded)}, made},
		"a second attempt after a doubt keeps the request and the time of the first": {
			[]state.Entry{intent(), outcome(state.SourceAnswer, state.InDoubt), statetest.Intent("a", "run 2", "10.00")}, again,
		},
		"a corrected request after a refusal starts anew": {
			[]state.Entry{statetest.Intent("a", "run 0", "99.00"), statetest.Outcome("a", "run 0", state.SourceAnswer, state.Refused), intent()},
			func() state.Transfer {
				row := open
				row.IntendedAt, row.AttemptedAt, row.IntentSeq = minute(3), minute(3), 3
				return row
			}(),
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := must(t, c.entries...)
			if got.RequestDigest == (state.RequestDigest{}) {
				t.Error("the digest of the request is missing")
			}
			got.RequestDigest = state.RequestDigest{}
			if diff := cmp.Diff(c.want, got, exact()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A list settles an intent that nobody can have sent: the one that was written together with what the list says.
func TestAListSettlesTheIntentDirectlyBeforeItAlone(t *testing.T) {
	says, err := state.NewDraft(listed(state.SourceImport, state.Unverified))
	if err != nil {
		t.Fatal(err)
	}
	open := must(t, intent())
	if _, err := open.Apply(says, open.IntentSeq+2, start); !errors.Is(err, state.ErrNoAttempt) {
		t.Errorf("after another event: got %v, want %v", err, state.ErrNoAttempt)
	}
	if row, err := open.Apply(says, open.IntentSeq+1, start); err != nil || row.Status != state.Unverified {
		t.Errorf("directly after it: got %s, %v", row.Status, err)
	}
}

func TestApplyKeepsAGroupUntilItIsSettledAsWrong(t *testing.T) {
	answer := outcome(state.SourceAnswer, state.Recorded)
	newer := outcome(state.SourceLookup, state.Recorded)
	newer.Records = []json.RawMessage{json.RawMessage(strings.Replace(string(newer.Records[0]), `"g-r-a"`, `""`, 1))}
	forgotten := outcome(state.SourcePerson, state.Tombstone)
	for name, c := range map[string]struct {
		entries []state.Entry
		want    string
	}{
		"a newer copy that does not name it":            {[]state.Entry{intent(), answer, newer}, "g-r-a"},
		"a record, forgotten":                           {[]state.Entry{intent(), answer, forgotten}, "g-r-a"},
		"listed, forgotten":                             {[]state.Entry{intent(), listed(state.SourceImport, state.Unverified), forgotten}, "g-r-a"},
		"listed with another amount than was asked for": {[]state.Entry{intent(), listed(state.SourceImport, state.Conflict)}, "g-r-a"},
		"listed so, and settled as not made":            {[]state.Entry{intent(), listed(state.SourceImport, state.Conflict), forgotten}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := must(t, c.entries...).GroupID; got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestApplyLetsNoStaleListUndoAnEnd(t *testing.T) {
	found := func(status transfer.RecordStatus) state.Outcome {
		o := outcome(state.SourceLookup, state.Recorded)
		o.Records[0] = statetest.Record("a", "r-a", statetest.Customer, "10.00", status)
		return o
	}
	answered := outcome(state.SourceAnswer, state.Recorded)
	answered.Records[0] = statetest.Record("a", "r-a", statetest.Customer, "10.00", transfer.Pending)
	for name, c := range map[string]struct {
		found []transfer.RecordStatus
		want  transfer.RecordStatus
	}{
		"pending stays pending":                  {[]transfer.RecordStatus{transfer.Pending}, transfer.Pending},
		"pending becomes completed":              {[]transfer.RecordStatus{transfer.Completed}, transfer.Completed},
		"pending becomes failed":                 {[]transfer.RecordStatus{transfer.Failed}, transfer.Failed},
		"completed stays when a list lags":       {[]transfer.RecordStatus{transfer.Completed, transfer.Pending}, transfer.Completed},
		"completed becomes failed":               {[]transfer.RecordStatus{transfer.Completed, transfer.Failed}, transfer.Failed},
		"an unknown status of the service stays": {[]transfer.RecordStatus{"REVIEW"}, "REVIEW"},
	} {
		t.Run(name, func(t *testing.T) {
			row := must(t, intent(), answered)
			for _, status := range c.found {
				var err error
				if row, err = apply(row, found(status)); err != nil {
					t.Fatal(err)
				}
			}
			if row.RecordStatus != c.want {
				t.Errorf("got %s, want %s", row.RecordStatus, c.want)
			}
		})
	}
}

// TestDoubtIsSticky plays random histories of one ref_id and keeps its own account of which
// attempts might have made the transfer.
func TestDoubtIsSticky(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var row state.Transfer
		doubt := false // an attempt before the latest, or the latest, is without a definite no
		open := false
		amount := ""
		for i := range rapid.IntRange(1, 12).Draw(t, "length") {
			run := rapid.SampledFrom([]string{"run 1", "run 2"}).Draw(t, "run")
			if rapid.Bool().Draw(t, "intent") {
				asked := rapid.SampledFrom([]string{"10.00", "20.00"}).Draw(t, "amount")
				next, err := apply(row, statetest.Intent("a", run, asked))
				if err != nil {
					continue
				}
				if doubt && asked != amount {
					t.Fatalf("step %d: a doubt of %s was intended with %s", i, amount, asked)
				}
				doubt = doubt || open // an attempt that nobody heard of again
				row, open, amount = next, true, asked
				continue
			}
			source := rapid.SampledFrom([]state.Source{state.SourceAnswer, state.SourceLookup, state.SourcePerson}).Draw(t, "source")
			says := rapid.SampledFrom(state.Statuses()).Draw(t, "says")
			said := statetest.Outcome("a", run, source, says)
			isList := rapid.IntRange(0, 3).Draw(t, "list") == 0
			if isList {
				source, says = state.SourceImport, state.Unverified
				said = listed(source, says)
				said.RunID = run
			}
			next, err := apply(row, said)
			if err != nil {
				continue
			}
			if isList && doubt {
				t.Fatalf("step %d: a list settled a doubt", i)
			}
			row = next
			switch {
			case source == state.SourceAnswer && says == state.InDoubt:
				doubt = true
			case source == state.SourceLookup && says == state.InDoubt:
				doubt = doubt || open
			case row.Status.Made() || row.Status == state.Conflict || row.Status == state.Tombstone:
				doubt = false
			}
			open = false
			if doubt && row.Status != state.InDoubt {
				t.Fatalf("step %d: a doubt became %s by a %s that says %s", i, row.Status, source, says)
			}
		}
	})
}
