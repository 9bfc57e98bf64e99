package executor_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"remit/executor"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

func TestAnIntentIsDurableBeforeItsRequestLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var once sync.Once // the others say the same
		w.service.before = func(_ context.Context, refID string, _ int) *executor.Answer {
			if row := w.journal.row(refID); !row.Open() || row.RunID != "run-1" {
				status := "none"
				if row.Status != 0 {
					status = row.Status.String()
				}
				once.Do(func() {
					t.Errorf("the request of %q left before its intent was durable: its status in the state is %s, of run %q. "+
						"Append the intent to the journal before the request is handed over: writeIntents in executor/attempt.go", refID, status, row.RunID)
				})
			}
			return nil
		}
		w.apply(numbered(20)...)
		if t.Failed() {
			return
		}
		for _, r := range numbered(20) {
			if diff := cmp.Diff([]string{"intent", "answer: recorded"}, w.journal.kinds(r.RefID)); diff != "" {
				t.Errorf("events of %q (-want +got):\n%s", r.RefID, diff)
			}
		}
	})
}

// TestAnUnclearAnswerIsNotSentAgain holds the law of the second send within a run: the request may have moved money.
func TestAnUnclearAnswerIsNotSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.service.before = func(context.Context, string, int) *executor.Answer {
			return &executor.Answer{Kind: executor.Unclear, Reason: "the connection broke"}
		}
		if s := w.apply(numbered(1)...); s.Requests != 1 {
			t.Errorf("%d requests of one transfer whose first answer was unclear: it may have moved money, so a lookup comes before another one", s.Requests)
		}
	})
}

func TestASecondRunDoesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		plan := w.plan(numbered(3)...)
		first := w.applyPlan(plan)
		if !first.Complete || first.Requests != 3 || first.Totals[executor.ResultRecorded].Count() != 3 {
			t.Errorf("first run: %+v", first)
		}
		if got := first.Totals[executor.ResultRecorded].Sum("USD").String(); got != "240" {
			t.Errorf("its sum is %s", got)
		}
		if again := w.apply(numbered(3)...); again.Requests != 0 || !again.Complete || len(w.results()) != 0 {
			t.Errorf("second run: %+v", again)
		}
		// Even the same plan once more sends nothing.
		if again := w.applyPlan(plan); again.Requests != 0 || again.Totals[executor.ResultRecorded].Count() != 3 {
			t.Errorf("the same plan again: %+v", again)
		}
	})
}

func TestTheRunIsInTheJournal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.service.before = func(_ context.Context, refID string, _ int) *executor.Answer {
			if refID == "t-001" {
				return timeout()
			}
			return nil
		}
		summary := w.apply(numbered(3)...)
		want := &state.Ended{RunID: "run-1", Outcomes: map[string]int{"recorded": 2, "in_doubt": 1}}
		if diff := cmp.Diff(want, w.journal.ended("run-1"), cmpopts.IgnoreFields(state.Ended{}, "Clocks")); diff != "" {
			t.Errorf("ended (-want +got):\n%s", diff)
		}
		if summary.Complete || summary.Head != w.journal.meta.Head || summary.Head == "" {
			t.Errorf("summary: %+v", summary)
		}
		if len(summary.Exceptions) != 1 || summary.Exceptions[0].RefID != "t-001" || summary.Exceptions[0].Next == "" {
			t.Errorf("exceptions: %+v", summary.Exceptions)
		}
	})
}

func TestNothingIsSentWhere(t *testing.T) {
	tests := map[string]struct {
		spoil func(*world)
		want  error
	}{
		"there is no token": {func(w *world) {
			w.service.ready = func() (time.Time, error) { return time.Time{}, errToken }
		}, errToken},
		"the service's clock is six minutes ahead": {func(w *world) {
			w.service.ready = func() (time.Time, error) { return time.Now().Add(6 * time.Minute), nil }
		}, executor.ErrClock},
		"the service's clock is six minutes behind": {func(w *world) {
			w.service.ready = func() (time.Time, error) { return time.Now().Add(-6 * time.Minute), nil }
		}, executor.ErrClock},
		"the run cannot be written down": {func(w *world) {
			w.journal.before = func(effect string) error { return failOn(effect, "append begun") }
		}, executor.ErrJournal},
		"the state cannot be read": {func(w *world) {
			w.journal.before = func(effect string) error { return failOn(effect, "snapshot") }
		}, errDisk},
		"intents cannot be written down": {func(w *world) {
			w.journal.before = func(effect string) error { return failOn(effect, "append intent") }
		}, executor.ErrJournal},
		"the lock was taken away": {func(w *world) { w.journal.fence() }, state.ErrFenced},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				test.spoil(w)
				summary, err := executor.Apply(t.Context(), w.run(w.plan(numbered(10)...)))
				if !errors.Is(err, test.want) {
					t.Errorf("error %v, want %v", err, test.want)
				}
				if len(w.service.bodies) > 0 || summary.Requests > 0 {
					t.Errorf("%d requests were sent", len(w.service.bodies))
				}
			})
		})
	}
}

// TestNothingIsSentBeforeThePlansOwnTime: a plan calls a line due by the clock of the machine that made it.
func TestNothingIsSentBeforeThePlansOwnTime(t *testing.T) {
	tests := map[string]struct {
		ahead time.Duration
		sent  int
		waits time.Duration
	}{
		"made a minute ago":                  {-time.Minute, 3, 0},
		"made by a clock four minutes ahead": {4 * time.Minute, 3, 4 * time.Minute},
		"made by a clock ten hours ahead":    {10 * time.Hour, 0, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				plan := w.plan(numbered(3)...)
				begun := time.Now()
				plan.Header.Created = begun.Add(test.ahead)
				if _, err := executor.Apply(t.Context(), w.run(plan)); (err == nil) != (test.sent > 0) {
					t.Errorf("apply: %v", err)
				}
				if len(w.service.bodies) != test.sent {
					t.Errorf("%d requests were sent, want %d", len(w.service.bodies), test.sent)
				}
				if waited := time.Since(begun).Truncate(time.Minute); waited != test.waits {
					t.Errorf("it waited %v, want %v", waited, test.waits)
				}
			})
		})
	}
}

// TestAnInterruptEndsTheWaitForAPlansTime: nothing is written down.
func TestAnInterruptEndsTheWaitForAPlansTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		plan := w.plan(numbered(3)...)
		plan.Header.Created = time.Now().Add(4 * time.Minute)
		ctx, interrupt := context.WithTimeout(t.Context(), time.Second)
		defer interrupt()
		summary, err := executor.Apply(ctx, w.run(plan))
		if !errors.Is(err, context.DeadlineExceeded) || summary.RunID != "" || len(w.service.bodies) > 0 {
			t.Errorf("apply: %+v, %v; %d requests", summary, err, len(w.service.bodies))
		}
	})
}

var (
	errToken = errors.New("no token")
	errDisk  = errors.New("disk full")
)

func failOn(effect, broken string) error {
	if effect == broken {
		return errDisk
	}
	return nil
}

func TestAnOutcomeThatCannotBeWrittenIsInDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.settings.InFlightMax = 1
		w.journal.before = func(effect string) error { return failOn(effect, "append outcome") }
		summary, err := executor.Apply(t.Context(), w.run(w.plan(numbered(3)...)))
		if !errors.Is(err, executor.ErrJournal) || !errors.Is(err, errDisk) {
			t.Errorf("error %v", err)
		}
		want := map[string]executor.Result{
			"t-000": executor.ResultInDoubt, "t-001": executor.ResultNotAttempted, "t-002": executor.ResultNotAttempted,
		}
		if diff := cmp.Diff(want, w.results()); diff != "" {
			t.Errorf("results (-want +got):\n%s", diff)
		}
		if summary.Requests != 1 || summary.Stopped == "" {
			t.Errorf("summary: %+v", summary)
		}
	})
}

func TestAFencedRunStartsNoRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		// The limiter holds requests back after their intents are written, by a pause that
		// begins with the first answer; meanwhile the lock is taken away.
		w.service.before = func(context.Context, string, int) *executor.Answer {
			time.Sleep(time.Second)
			w.journal.fence()
			return &executor.Answer{Kind: executor.NotProcessed, HTTPStatus: 429, RetryAfter: 10 * time.Second}
		}
		_, err := executor.Apply(t.Context(), w.run(w.plan(numbered(1)...)))
		if !errors.Is(err, state.ErrFenced) || !errors.Is(err, executor.ErrJournal) {
			t.Errorf("error %v", err)
		}
		if n := len(w.service.bodies); n != 1 {
			t.Errorf("%d requests started, of which only the first may", n)
		}
	})
}

func TestARefusal(t *testing.T) {
	for name, stop := range map[string]bool{"does not stop a run": false, "stops a run that is told so": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.settings.InFlightMax, w.settings.StopOnRefusal = 1, stop
				w.service.before = func(_ context.Context, refID string, _ int) *executor.Answer {
					if refID == "t-001" {
						return &executor.Answer{Kind: executor.Rejected, HTTPStatus: 422, Reason: "It refused."}
					}
					return nil
				}
				summary := w.apply(numbered(4)...)
				want := map[bool]int{false: 4, true: 2}[stop]
				if summary.Requests != want || (summary.Stopped != "") != stop || summary.Complete == stop {
					t.Errorf("summary: %+v", summary)
				}
			})
		})
	}
}

// TestWhatWasRefusedBeforeHoldsUpNothing has a run that leaves it, one that follows, and one that does not leave it.
func TestWhatWasRefusedBeforeHoldsUpNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		refusedBefore(w)
		w.settings.LeaveRefused = true
		for _, also := range []string{"one", "two"} {
			summary := w.apply(request("rent"), request(also))
			want := map[executor.Result]int{executor.ResultNotAttempted: 1, executor.ResultRecorded: 1}
			if diff := cmp.Diff(want, counts(summary)); diff != "" || summary.Requests != 1 || summary.Idle != 1 {
				t.Errorf("%d requests, %d idle, results (-want +got):\n%s", summary.Requests, summary.Idle, diff)
			}
			if left := summary.Exceptions[0]; left.RefID != "rent" || left.Next != executor.NextRefused {
				t.Errorf("left: %+v", left)
			}
		}
		w.settings.LeaveRefused = false
		if diff := cmp.Diff(map[executor.Result]int{executor.ResultRecorded: 1}, counts(w.apply(request("rent")))); diff != "" {
			t.Errorf("results of who submits it again (-want +got):\n%s", diff)
		}
	})
}

func TestNoMoreAreInFlightThanAllowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.settings.InFlightMax = 3
		w.service.before = func(context.Context, string, int) *executor.Answer {
			time.Sleep(time.Second)
			return nil
		}
		begun := time.Now()
		w.apply(numbered(30)...)
		if w.service.busyMax != 3 {
			t.Errorf("%d were in flight at once, want 3", w.service.busyMax)
		}
		if took := time.Since(begun); took != 10*time.Second {
			t.Errorf("30 transfers of a second each, 3 at once, took %v", took)
		}
	})
}

func TestADoubtHoldsUpNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.lookup = true
		doubtful(w)
		w.service.before = nil
		// The lookup never lists the doubt, so that it is asked for again for 23 s.
		w.service.find = func([]string) (map[string][]transfer.Record, error) { return nil, nil }
		begun := time.Now()
		w.apply(append(numbered(20), request("rent"))...)
		for _, start := range w.service.starts[1 : len(w.service.starts)-1] {
			if took := start.Sub(begun); took > 0 {
				t.Errorf("an unrelated transfer was sent %v after the beginning", took)
			}
		}
		if took := time.Since(begun); took != 23*time.Second {
			t.Errorf("the lists were given %v to catch up, want 1+2+5+15 s", took)
		}
		if got := w.results()["rent"]; got != executor.ResultRecorded {
			t.Errorf("the doubt is %s, want recorded by sending it again", got)
		}
	})
}

func TestAnInterruptDrainsWhatIsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.settings.InFlightMax = 2
		inFlight := make(chan string, 2)
		w.service.before = func(ctx context.Context, refID string, _ int) *executor.Answer {
			wait := 2 * time.Second // answered within the drain
			if inFlight <- refID; len(inFlight) == 2 {
				wait = time.Minute // not answered within it
			}
			if (clock{}).Sleep(ctx, wait) != nil {
				return timeout()
			}
			return nil
		}
		ctx, interrupt := context.WithCancel(t.Context())
		begun := time.Now()
		time.AfterFunc(time.Second, interrupt)
		summary, err := executor.Apply(ctx, w.run(w.plan(numbered(10)...)))
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begun); took != 6*time.Second {
			t.Errorf("the run ended %v after its beginning, want 1 s and a drain of 5 s", took)
		}
		if !summary.Interrupted || summary.Requests != 2 {
			t.Errorf("summary: %+v", summary)
		}
		want := map[executor.Result]int{executor.ResultRecorded: 1, executor.ResultInDoubt: 1, executor.ResultNotAttempted: 8}
		if diff := cmp.Diff(want, counts(summary)); diff != "" {
			t.Errorf("results (-want +got):\n%s", diff)
		}
		first, second := w.journal.row(<-inFlight), w.journal.row(<-inFlight)
		if first.Status != state.Recorded || second.Status != state.InDoubt || second.Open() {
			t.Errorf("the outcomes were not written: %+v", w.journal.rows)
		}
		if w.journal.ended("run-1") == nil {
			t.Error("the run did not end in the journal")
		}
	})
}

func TestAnInterruptMarksWhatHasNotBegunUnsent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.service.before = func(context.Context, string, int) *executor.Answer {
			return &executor.Answer{Kind: executor.NotProcessed, HTTPStatus: 429, RetryAfter: time.Minute}
		}
		ctx, interrupt := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, interrupt)
		summary, err := executor.Apply(ctx, w.run(w.plan(numbered(10)...)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[executor.Result]int{executor.ResultNotAttempted: 10}, counts(summary)); diff != "" {
			t.Errorf("results (-want +got):\n%s", diff)
		}
		for refID, row := range w.journal.rows {
			if row.Status != state.Unsent {
				t.Errorf("%q is %v, want unsent", refID, row.Status)
			}
		}
	})
}

func counts(s executor.Summary) map[executor.Result]int {
	n := make(map[executor.Result]int)
	for result, totals := range s.Totals {
		n[result] = totals.Count()
	}
	return n
}

func TestAServiceThatCannotBeReachedStopsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.service.before = func(context.Context, string, int) *executor.Answer {
			return &executor.Answer{Kind: executor.Unwritten, Reason: "No connection."}
		}
		summary := w.apply(numbered(1000)...)
		if summary.Stopped != "No connection" || summary.Requests > 6*2*w.settings.InFlightMax || !summary.Out {
			t.Errorf("%d requests, stopped by %q, out: %t", summary.Requests, summary.Stopped, summary.Out)
		}
	})
}

// TestTheEndSaysWhetherTheServiceWasOut has too few transfers for an outage to stop the run.
func TestTheEndSaysWhetherTheServiceWasOut(t *testing.T) {
	for name, test := range map[string]struct {
		kind executor.AnswerKind
		back int // the try that is answered
		out  bool
	}{
		"no connection":               {executor.Unwritten, 100, true},
		"nothing is processed":        {executor.NotProcessed, 100, true},
		"an outage that ends in time": {executor.Unwritten, 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.service.before = func(_ context.Context, _ string, try int) *executor.Answer {
					if try >= test.back {
						return nil
					}
					return &executor.Answer{Kind: test.kind, Reason: "Nothing."}
				}
				if summary := w.apply(numbered(1)...); summary.Stopped != "" || summary.Out != test.out {
					t.Errorf("stopped by %q, out: %t, want %t", summary.Stopped, summary.Out, test.out)
				}
			})
		})
	}
}

// TestAServiceThatAnswersNothingClearStopsTheRun has a service that is down behind its door:
// a plan of hundreds must not end in doubt as a whole.
func TestAServiceThatAnswersNothingClearStopsTheRun(t *testing.T) {
	down := func(context.Context, string, int) *executor.Answer {
		return &executor.Answer{Kind: executor.Unclear, HTTPStatus: 503, Reason: "The service answered 503."}
	}
	tests := map[string]struct {
		inFlight int
		before   func(context.Context, string, int) *executor.Answer
		doubts   int
		stops    bool
	}{
		"after ten":                         {1, down, 10, true},
		"and what is in flight":             {4, down, 13, true},
		"or after as many as are in flight": {30, down, 59, true},
		"but not where a tenth has an answer": {1, func(ctx context.Context, refID string, try int) *executor.Answer {
			if refID[len(refID)-1] == '9' {
				return nil
			}
			return down(ctx, refID, try)
		}, 90, false},
		"nor where it is a no": {1, func(ctx context.Context, refID string, try int) *executor.Answer {
			if refID[len(refID)-1] == '9' {
				return &executor.Answer{Kind: executor.Rejected, HTTPStatus: 422}
			}
			return down(ctx, refID, try)
		}, 90, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.settings.InFlightMax = test.inFlight
				w.service.before = func(ctx context.Context, refID string, try int) *executor.Answer {
					time.Sleep(time.Second) // so that all in flight begin together
					return test.before(ctx, refID, try)
				}
				summary := w.apply(numbered(100)...)
				if got := summary.Totals[executor.ResultInDoubt].Count(); got > test.doubts || !test.stops && got != test.doubts {
					t.Errorf("%d are in doubt, want %d", got, test.doubts)
				}
				if stopped := strings.Contains(summary.Stopped, "had no clear answer"); stopped != test.stops {
					t.Errorf("stopped by %q", summary.Stopped)
				}
			})
		})
	}
}

func TestARetryAfterTooManyRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		begun := time.Now()
		w.service.before = func(_ context.Context, _ string, try int) *executor.Answer {
			if try == 1 {
				return &executor.Answer{Kind: executor.NotProcessed, HTTPStatus: 429, RetryAfter: 3 * time.Second}
			}
			if time.Since(begun) < 3*time.Second {
				t.Errorf("sent again after %v", time.Since(begun))
			}
			return nil
		}
		summary := w.apply(request("rent"))
		if summary.Requests != 2 || counts(summary)[executor.ResultRecorded] != 1 {
			t.Errorf("summary: %+v", summary)
		}
		if diff := cmp.Diff([]string{"intent", "answer: recorded"}, w.journal.kinds("rent")); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		if w.service.bodies[0] != w.service.bodies[1] {
			t.Errorf("the second request has other bytes: %q", w.service.bodies)
		}
	})
}

func TestAPauseThatIsTooLongStopsTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		begun := time.Now()
		w.service.before = func(context.Context, string, int) *executor.Answer {
			return &executor.Answer{Kind: executor.NotProcessed, HTTPStatus: 429, RetryAfter: time.Hour}
		}
		if summary := w.apply(numbered(10)...); summary.Stopped == "" || time.Since(begun) > time.Minute {
			t.Errorf("stopped by %q after %v", summary.Stopped, time.Since(begun))
		}
		for _, e := range w.events {
			if e.Type == executor.EventWaiting {
				t.Errorf("it says that it waits: %s", e.Reason)
			}
		}
	})
}

func TestAnExpiredTransferIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		plan := w.plan(request("rent"))
		plan.Changes.Update(0, func(c *planner.Change) { c.Expires = time.Now().Add(time.Minute) })
		w.service.ready = func() (time.Time, error) {
			time.Sleep(2 * time.Minute)
			return time.Now(), nil
		}
		w.applyPlan(plan)
		if len(w.service.bodies) > 0 || w.journal.row("rent").Status != 0 || !strings.Contains(w.reason("rent"), "expired") {
			t.Errorf("%d requests, %q", len(w.service.bodies), w.reason("rent"))
		}
	})
}

// TestNothingStartsOutsideOfItsWindow closes a window in the middle of a run: requests in flight
// end, and the run leaves the others to the next one.
func TestNothingStartsOutsideOfItsWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.settings.InFlightMax = 1
		w.settings.RequestTimeout = time.Hour
		w.service.before = func(context.Context, string, int) *executor.Answer {
			time.Sleep(40 * time.Second)
			return nil
		}
		plan := w.plan(request("first"), request("second"), request("third"), request("free"))
		closes := time.Now().Add(time.Minute)
		plan.Header.Windows = []planner.WindowHours{{
			Name: "hours", Until: closes.Add(time.Hour),
			Open: []planner.Interval{{Opens: closes.Add(-time.Hour), Closes: closes}},
		}}
		for i := range 3 {
			plan.Changes.Update(i, func(c *planner.Change) { c.Windows = []string{"hours"} })
		}
		w.applyPlan(plan)
		for refID, want := range map[string]executor.Result{
			"first": executor.ResultRecorded, "second": executor.ResultRecorded, // it began in time
			"third": executor.ResultNotAttempted, "free": executor.ResultRecorded,
		} {
			if got := w.results()[refID]; got != want {
				t.Errorf("%s is %s, want %s: %s", refID, got, want, w.reason(refID))
			}
		}
		if row := w.journal.row("third"); row.Status != 0 || !strings.Contains(w.reason("third"), "window hours is closed") {
			t.Errorf("third: %v, %q", row.Status, w.reason("third"))
		}
	})
}

func TestASavedPlanDoesNotRepeatARefusalThatItDoesNotShow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		plan := w.plan(request("rent"))
		w.service.before = func(context.Context, string, int) *executor.Answer {
			return &executor.Answer{Kind: executor.Rejected, HTTPStatus: 422, Reason: "It refused."}
		}
		w.applyPlan(plan)
		w.service.before = nil
		again := w.run(plan)
		again.Saved = true
		if _, err := executor.Apply(t.Context(), again); err != nil {
			t.Fatal(err)
		}
		if got := w.results()["rent"]; got != executor.ResultRefused || w.service.requests("rent") != 1 {
			t.Errorf("%s after %d requests", got, w.service.requests("rent"))
		}
		shown := w.run(w.plan(request("rent")))
		shown.Saved = true
		if _, err := executor.Apply(t.Context(), shown); err != nil {
			t.Fatal(err)
		}
		if got := w.results()["rent"]; got != executor.ResultRecorded {
			t.Errorf("a plan that shows the refusal made it %s", got)
		}
	})
}

// A line that an earlier run settled stays settled, although that run met what it waits for.
func TestALineThatStandsIsNotSentWhenWhatItDependsOnIsMet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		plan := w.plan(request("funding"), request("payout"))
		after(plan, "payout", "funding")
		w.service.before = func(_ context.Context, refID string, _ int) *executor.Answer {
			if refID == "payout" {
				return &executor.Answer{Kind: executor.Rejected, HTTPStatus: 422, Reason: "It refused."}
			}
			return nil
		}
		w.applyPlan(plan)
		w.service.before = nil
		again := w.run(plan)
		again.Saved = true
		if _, err := executor.Apply(t.Context(), again); err != nil {
			t.Fatal(err)
		}
		if got := w.results()["payout"]; got != executor.ResultRefused || w.service.requests("payout") != 1 {
			t.Errorf("payout is %s after %d requests", got, w.service.requests("payout"))
		}
	})
}

func TestLookupBeforeFirstSending(t *testing.T) {
	long := time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC)
	rent := request("rent")
	both := sides(rent, long, transfer.Completed)
	tests := map[string]struct {
		records []transfer.Record
		want    executor.Result
		events  []string
	}{
		"what is absent is sent":                         {nil, executor.ResultRecorded, []string{"intent", "answer: recorded"}},
		"what is proven is adopted":                      {both, executor.ResultAdopted, []string{"intent", "lookup: adopted"}},
		"what does not prove whom it paid is unverified": {both[:1], executor.ResultUnverified, []string{"intent", "lookup: unverified"}},
		"what differs is a conflict": {
			[]transfer.Record{*edited(both[0], map[string]string{"amount": "1.00"})},
			executor.ResultConflict,
			[]string{"intent", "lookup: conflict"},
		},
		"a credit side alone is in doubt": {both[1:], executor.ResultInDoubt, []string{"intent", "lookup: in doubt"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.lookup, w.settings.LookUpFirst = true, true
				w.service.find = func([]string) (map[string][]transfer.Record, error) {
					return map[string][]transfer.Record{"rent": test.records}, nil
				}
				w.apply(rent)
				if got := w.results()["rent"]; got != test.want {
					t.Errorf("it is %s, want %s", got, test.want)
				}
				if diff := cmp.Diff(test.events, w.journal.kinds("rent")); diff != "" {
					t.Errorf("events (-want +got):\n%s", diff)
				}
				if sent := w.service.requests("rent") > 0; sent != (test.records == nil) {
					t.Errorf("sent: %v", sent)
				}
			})
		})
	}
}

func TestAStateThatWasLostPaysNothingAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.lookup, w.settings.LookUpFirst = true, true
		w.apply(numbered(250)...)
		lookups := len(w.service.finds)
		if lookups != 3 {
			t.Errorf("250 ref_ids were looked up in %d calls", lookups)
		}
		w.journal = newMemory(t, time.Now)
		w.service.bodies = nil
		time.Sleep(time.Hour)
		summary := w.apply(numbered(250)...)
		if diff := cmp.Diff(map[executor.Result]int{executor.ResultAdopted: 250}, counts(summary)); diff != "" || summary.Requests > 0 {
			t.Errorf("%d requests; results (-want +got):\n%s", summary.Requests, diff)
		}
		if got := w.journal.row("t-117").GroupID; got != "group-of-t-117" {
			t.Errorf("group_id %q", got)
		}
	})
}

func TestNothingIsSentWithoutItsLookup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.lookup, w.settings.LookUpFirst = true, true
		w.service.find = func([]string) (map[string][]transfer.Record, error) { return nil, errDisk }
		summary := w.apply(numbered(10)...)
		if summary.Requests > 0 || !strings.Contains(summary.Stopped, "lookup") || counts(summary)[executor.ResultNotAttempted] != 10 {
			t.Errorf("summary: %+v", summary)
		}
	})
}

func TestEventsAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.apply(request("rent"))
		var types []executor.EventType
		for _, e := range w.events {
			types = append(types, e.Type)
		}
		want := []executor.EventType{executor.EventBegun, executor.EventIntended, executor.EventSettled}
		if diff := cmp.Diff(want, types); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		last := w.events[len(w.events)-1]
		if last.Group != "group-of-rent" || last.Amount.String() != "80.00" || last.Asset != "USD" || last.Detail == nil || last.Time.IsZero() {
			t.Errorf("settled: %+v", last)
		}
	})
}

func TestExceptionsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.service.before = func(context.Context, string, int) *executor.Answer {
			return &executor.Answer{Kind: executor.Rejected, HTTPStatus: 422}
		}
		requests := make([]transfer.Request, 1200)
		for i := range requests {
			requests[i] = request(fmt.Sprintf("t-%04d", i))
		}
		summary := w.apply(requests...)
		if len(summary.Exceptions) != 1000 || counts(summary)[executor.ResultRefused] != 1200 {
			t.Errorf("%d exceptions, %v", len(summary.Exceptions), counts(summary))
		}
		if !slices.IsSortedFunc(summary.Exceptions, func(a, b executor.Event) int { return a.Time.Compare(b.Time) }) {
			t.Error("the exceptions are not in the order of time")
		}
	})
}

func TestATransferThatExpiresWhileItWaitsIsNotSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		plan := w.plan(request("rent"))
		plan.Changes.Update(0, func(c *planner.Change) { c.Expires = time.Now().Add(2 * time.Second) })
		w.service.before = func(context.Context, string, int) *executor.Answer {
			return &executor.Answer{Kind: executor.NotProcessed, HTTPStatus: 429, RetryAfter: 3 * time.Second}
		}
		w.applyPlan(plan)
		if n := w.service.requests("rent"); n != 1 || w.journal.row("rent").Status != state.Unsent || !strings.Contains(w.reason("rent"), "expired") {
			t.Errorf("%d requests, %v, %q", n, w.journal.row("rent").Status, w.reason("rent"))
		}
	})
}

func TestARecordFoundTwiceBeforeFirstSending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.lookup, w.settings.LookUpFirst = true, true
		w.service.find = func(refIDs []string) (map[string][]transfer.Record, error) {
			found := map[string][]transfer.Record{}
			for _, refID := range refIDs {
				found[refID] = []transfer.Record{*edited(*debit(request(refID), time.Now()), map[string]string{"id": "one-and-the-same"})}
			}
			return found, nil
		}
		summary := w.apply(numbered(2)...)
		want := map[executor.Result]int{executor.ResultUnverified: 1, executor.ResultConflict: 1}
		if diff := cmp.Diff(want, counts(summary)); diff != "" || summary.Requests > 0 || summary.Stopped == "" {
			t.Errorf("summary %+v; results (-want +got):\n%s", summary, diff)
		}
		if w.journal.row("t-000").Status != state.Unverified || w.journal.row("t-001").Status != state.Conflict {
			t.Errorf("the state says %+v", w.journal.rows)
		}
	})
}

// TestAnInterruptIsHeardByWhoeverSeesItFirst interrupts the wait for the first token, and the wait
// is over before anyone else has heard of it.
func TestAnInterruptIsHeardByWhoeverSeesItFirst(t *testing.T) {
	w := newWorld(t)
	ctx := &deafContext{Context: t.Context(), done: make(chan struct{})}
	w.service.ready = func() (time.Time, error) {
		close(ctx.done)
		return time.Time{}, context.Canceled
	}
	summary, err := executor.Apply(ctx, w.run(w.plan(request("rent"))))
	if err == nil || !summary.Interrupted || w.service.begun() != 0 {
		t.Errorf("interrupted %t, %d requests, %v", summary.Interrupted, w.service.begun(), err)
	}
}

// deafContext is a context whose functions never run although it has ended.
type deafContext struct {
	context.Context
	done chan struct{}
}

func (c *deafContext) Done() <-chan struct{} { return c.done }

func (c *deafContext) Err() error {
	select {
	case <-c.done:
		return context.Canceled
	default:
		return nil
	}
}

func (c *deafContext) AfterFunc(func()) (stop func() bool) { return func() bool { return true } }
