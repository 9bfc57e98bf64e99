package executor_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"remit/executor"
	"remit/internal/transfer"
	"remit/state"
)

const day = 24 * time.Hour

// TestTheWeekOfALookAgainBeginsWithTheOutcome has a service return a transfer ten days after it was sent, and a person settle a doubt as
// late. A refresh finds for a week from then on that it was made after all.
func TestTheWeekOfALookAgainBeginsWithTheOutcome(t *testing.T) {
	tests := map[string]struct {
		settle   func(t *testing.T) *world
		conflict int
	}{
		"it FAILED": {func(t *testing.T) *world {
			w := pendingWorld(t, request("a"))
			time.Sleep(10 * day)
			w.service.remade("a", ended("a", "FAILED", "FAILED")...)
			w.refresh()
			return w
		}, 1},
		"a person settled it as not made": {func(t *testing.T) *world {
			w := newWorld(t)
			w.lookup = true
			w.service.after = func(_ string, _ int, _ executor.Answer) executor.Answer { return *timeout() }
			w.service.find = func([]string) (map[string][]transfer.Record, error) { return nil, nil }
			w.apply(request("a"))
			time.Sleep(10 * day)
			if _, err := executor.ResolveNotMade(t.Context(), w.resolution("a")); err != nil {
				t.Fatal(err)
			}
			w.service.find = nil
			return w
		}, 0},
	}
	for name, test := range tests {
		for age, again := range map[time.Duration]int{6 * day: 1, 8 * day: 0} {
			t.Run(name+", after "+age.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := test.settle(t)
					time.Sleep(age)
					w.service.remade("a", ended("a", transfer.Completed, transfer.Completed)...)
					found := w.refresh()
					if found.Again.Count() != again || found.Conflicts.Count() != again*test.conflict || found.AgainCounted != again {
						t.Errorf("found %+v", found)
					}
					if row := w.journal.row("a"); again*test.conflict == 1 && row.Status != state.Conflict {
						t.Errorf("it is %v, %s", row.Status, row.RecordStatus)
					}
				})
			})
		}
	}
}

// TestARecordThatAPersonGaveIsAskedAboutAgain has a person give a record that FAILED, which a lookup bears out, denies, or does not list.
func TestARecordThatAPersonGaveIsAskedAboutAgain(t *testing.T) {
	give := func(t *testing.T, w *world, records []transfer.Record) {
		t.Helper()
		if _, err := executor.ResolveRecorded(t.Context(), w.resolution("a"), records); err != nil {
			t.Fatal(err)
		}
	}
	tests := map[string]func(t *testing.T, w *world){
		"and denied": func(t *testing.T, w *world) {
			if found := w.refresh(); found.Conflicts.Count() != 1 || w.journal.row("a").Status != state.Conflict {
				t.Fatalf("found %+v", found)
			}
			if _, err := executor.ResolveAcceptRecord(t.Context(), w.resolution("a"), ended("a", "FAILED", "FAILED")); err != nil {
				t.Fatal(err)
			}
			if found := w.refresh(); found.Again.Count() != 0 || w.journal.row("a").RecordStatus != transfer.Failed {
				t.Errorf("against a person who chose between both it found %+v", found)
			}
		},
		"and borne out": func(t *testing.T, w *world) {
			w.service.remade("a", ended("a", "FAILED", "FAILED")...)
			for n := range 2 {
				found := w.refresh()
				if by := w.detail(t, "a").Outcome.Source; found.Again.Count() != 1 || found.Conflicts.Count() != 0 || by != state.SourceLookup {
					t.Errorf("refresh %d found %+v; it is by %s", n, found, by)
				}
			}
		},
		"and not listed": func(t *testing.T, w *world) {
			w.service.remade("a")
			found := w.refresh()
			isTold := slices.ContainsFunc(w.events, func(e executor.Event) bool {
				return e.Type == executor.EventNotice && e.RefID == "a" && strings.HasPrefix(e.Reason, "The record that a person gave says that it FAILED, and the service does not list it.")
			})
			if found.Again.Count() != 1 || !isTold || w.detail(t, "a").Outcome.Source != state.SourcePerson {
				t.Errorf("found %+v; it was told: %v", found, isTold)
			}
		},
		"and after a week": func(t *testing.T, w *world) {
			time.Sleep(8 * day)
			if found := w.refresh(); found.Again.Count() != 0 {
				t.Errorf("found %+v", found)
			}
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.lookup = true
				w.apply(request("a"))
				give(t, w, ended("a", "FAILED", "FAILED"))
				test(t, w)
			})
		})
	}
}
