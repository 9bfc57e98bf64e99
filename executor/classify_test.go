package executor_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/executor"
	"remit/internal/transfer"
	"remit/state"
)

// doubtful leaves the transfer in doubt before the attempt that is tested.
func doubtful(w *world) {
	w.service.before = func(context.Context, string, int) *executor.Answer { return timeout() }
	w.apply(request("rent"))
	if got := w.journal.row("rent").Status; got != state.InDoubt {
		w.t.Fatalf("the transfer is %v, not in doubt", got)
	}
}

// unwritten leaves the transfer unsent before the attempt that is tested.
func unwritten(w *world) {
	w.service.before = func(context.Context, string, int) *executor.Answer { return &executor.Answer{Kind: executor.Unwritten} }
	w.apply(request("rent"))
	if got := w.journal.row("rent").Status; got != state.Unsent {
		w.t.Fatalf("the transfer is %v, not unsent", got)
	}
}

// TestAnswersAreClassifiedAsDesigned covers every row of the table in docs/states.md, on a
// first attempt and after a doubt.
func TestAnswersAreClassifiedAsDesigned(t *testing.T) {
	now := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // when a synctest bubble begins
	rent := request("rent")
	old := now.Add(-time.Hour)
	problem := json.RawMessage(`{"type":"about:blank"}`)
	credit := sides(rent, now, transfer.Completed)[1]
	answered := func(r *transfer.Record) executor.Answer {
		return executor.Answer{Kind: executor.Answered, HTTPStatus: 201, Record: r}
	}
	lists := func(records ...transfer.Record) func([]string) (map[string][]transfer.Record, error) {
		return func([]string) (map[string][]transfer.Record, error) {
			return map[string][]transfer.Record{"rent": records}, nil
		}
	}
	tests := map[string]struct {
		after  func(*world) // the answer before; nil for nothing
		answer executor.Answer
		find   func([]string) (map[string][]transfer.Record, error)

		want     executor.Result
		status   state.Status
		stops    bool
		reason   string // a part of it
		requests int    // 1 where it is 0
	}{
		"a 2xx with an agreeing record is recorded": {
			answer: answered(debit(rent, now)),
			want:   executor.ResultRecorded, status: state.Recorded,
		},
		"a rescaled amount agrees": {
			answer: answered(edited(*debit(rent, now), map[string]string{"amount": "80.00000000"})),
			want:   executor.ResultRecorded, status: state.Recorded,
		},
		"unknown fields and values are tolerated": {
			answer: answered(edited(*debit(rent, now), map[string]string{"status": "SETTLING", "colour": "green"})),
			want:   executor.ResultRecorded, status: state.Recorded,
		},
		"a record of the service's own status FAILED is failed": {
			answer: answered(&sides(rent, now, transfer.Failed)[0]),
			want:   executor.ResultFailed, status: state.Recorded, reason: "FAILED",
		},
		"a record that is five minutes older may still be ours": {
			answer: answered(debit(rent, now.Add(-5*time.Minute))),
			want:   executor.ResultRecorded, status: state.Recorded,
		},
		"a record that is older than that is another's, and proves no destination": {
			answer: answered(debit(rent, now.Add(-5*time.Minute-time.Second))),
			want:   executor.ResultUnverified, status: state.Unverified,
		},
		"an older record whose credit side a lookup finds is adopted": {
			answer: answered(debit(rent, old)), find: lists(sides(rent, old, transfer.Completed)...),
			want: executor.ResultAdopted, status: state.Adopted,
		},
		"an older record whose credit side went elsewhere is a conflict": {
			answer: answered(debit(rent, old)),
			find:   lists(*debit(rent, old), *edited(credit, map[string]string{"profile_id": "thief"})),
			want:   executor.ResultConflict, status: state.Conflict, stops: true, reason: "answered profile_id thief, asked staff-rent",
		},
		"a 2xx with another amount is a conflict and stops the run": {
			answer: answered(edited(*debit(rent, now), map[string]string{"amount": "70.00"})),
			want:   executor.ResultConflict, status: state.Conflict, stops: true, reason: "answered amount 70.00, asked 80.00",
		},
		"a 2xx with another ref_id is a conflict": {
			answer: answered(edited(*debit(rent, now), map[string]string{"ref_id": "other"})),
			want:   executor.ResultConflict, status: state.Conflict, stops: true, reason: "ref_id",
		},
		"a 2xx for another customer is a conflict": {
			after:  func(w *world) { w.apply(request("first")) },
			answer: answered(edited(*debit(rent, now), map[string]string{"customer_id": "stranger"})),
			want:   executor.ResultConflict, status: state.Conflict, stops: true, reason: "customer_id stranger, asked customer",
		},
		"a record that is recorded under another ref_id is a conflict": {
			after:  func(w *world) { w.apply(request("first")) },
			answer: answered(edited(*debit(rent, now), map[string]string{"id": "debit-of-first", "ref_id": ""})),
			want:   executor.ResultConflict, status: state.Conflict, stops: true, reason: `recorded under ref_id "first"`,
		},
		"a record with an id that was given again is a conflict": {
			after:  func(w *world) { w.apply(request("first")) },
			answer: answered(edited(*debit(rent, now), map[string]string{"id": "debit-of-first"})),
			want:   executor.ResultConflict, status: state.Conflict, stops: true, reason: `debit-of-first, which the record of ref_id "first" has as well`,
		},
		"a credit side alone proves nothing": {
			answer: answered(&credit),
			want:   executor.ResultInDoubt, status: state.InDoubt, reason: "credit side",
		},
		"a credit side that went elsewhere is a conflict": {
			answer: answered(edited(credit, map[string]string{"profile_id": "thief"})),
			want:   executor.ResultConflict, status: state.Conflict, stops: true,
		},
		"no readable answer leaves it in doubt": {
			answer: executor.Answer{Kind: executor.Unclear, HTTPStatus: 503, Problem: problem, Reason: "It answered 503."},
			want:   executor.ResultInDoubt, status: state.InDoubt, reason: "503",
		},
		"a redirect leaves it in doubt and stops the run": {
			answer: executor.Answer{Kind: executor.Unclear, HTTPStatus: 303, Stop: true, Reason: "It answered 303."},
			want:   executor.ResultInDoubt, status: state.InDoubt, stops: true,
		},
		"nothing written is unsent after its tries": {
			answer: executor.Answer{Kind: executor.Unwritten, Reason: "No connection."},
			want:   executor.ResultNotAttempted, status: state.Unsent, reason: "No connection", requests: 6,
		},
		"a service that takes nothing leaves it unsent after its tries": {
			answer: executor.Answer{Kind: executor.NotProcessed, HTTPStatus: 429, RetryAfter: time.Second, Reason: "Too many."},
			want:   executor.ResultNotAttempted, status: state.Unsent, requests: 12,
		},
		"a token that is refused stops the run without further tries": {
			answer: executor.Answer{Kind: executor.Unwritten, Stop: true, Reason: "There is no token."},
			want:   executor.ResultNotAttempted, status: state.Unsent, stops: true,
		},
		"a definite no is refused": {
			answer: executor.Answer{Kind: executor.Rejected, HTTPStatus: 422, Problem: problem, Reason: "It refused."},
			want:   executor.ResultRefused, status: state.Refused, reason: "It refused",
		},
		"a second 401 and a wrong path are refused and stop the run": {
			answer: executor.Answer{Kind: executor.Rejected, HTTPStatus: 401, Stop: true, Reason: "It refused the token."},
			want:   executor.ResultRefused, status: state.Refused, stops: true,
		},
		"a 409 without lookup is in doubt, with the reason": {
			answer: executor.Answer{Kind: executor.Exists, HTTPStatus: 409, Reason: "It knows the ref_id."},
			want:   executor.ResultInDoubt, status: state.InDoubt, reason: "It knows the ref_id",
		},
		"a 409 that the lookup does not know is in doubt": {
			answer: executor.Answer{Kind: executor.Exists, HTTPStatus: 409, Reason: "It knows the ref_id."}, find: lists(),
			want: executor.ResultInDoubt, status: state.InDoubt,
		},
		"a 409 on a first attempt that the lookup proves is adopted": {
			answer: executor.Answer{Kind: executor.Exists, HTTPStatus: 409}, find: lists(sides(rent, now, transfer.Completed)...),
			want: executor.ResultAdopted, status: state.Adopted,
		},
		"a 409 on a first attempt that carries only the debit is unverified": {
			answer: executor.Answer{Kind: executor.Exists, HTTPStatus: 409, Record: debit(rent, now)},
			want:   executor.ResultUnverified, status: state.Unverified,
		},
		"a 409 whose record differs is a conflict": {
			answer: executor.Answer{Kind: executor.Exists, HTTPStatus: 409, Record: edited(*debit(rent, now), map[string]string{"asset": "EUR"})},
			want:   executor.ResultConflict, status: state.Conflict, reason: "answered asset EUR, asked USD",
		},

		"after nothing was written, a 409 that carries the debit alone is that of the first intent": {
			after: unwritten, answer: executor.Answer{Kind: executor.Exists, HTTPStatus: 409, Record: debit(rent, now)},
			want: executor.ResultAdopted, status: state.Adopted, requests: 7,
		},
		"after nothing was written, a 409 with a debit from before the first intent is unverified": {
			after: unwritten, answer: executor.Answer{Kind: executor.Exists, HTTPStatus: 409, Record: debit(rent, old)},
			want: executor.ResultUnverified, status: state.Unverified, requests: 7,
		},

		"after a doubt, an agreeing record ends it": {
			after: doubtful, answer: answered(debit(rent, now)),
			want: executor.ResultRecorded, status: state.Recorded, requests: 2,
		},
		"after a doubt, a 409 with the record is our own": {
			after: doubtful, answer: executor.Answer{Kind: executor.Exists, HTTPStatus: 409, Record: debit(rent, now)},
			want: executor.ResultRecorded, status: state.Recorded, requests: 2,
		},
		"after a doubt, a 409 with a record from before the intent is not our own": {
			after: doubtful, answer: executor.Answer{Kind: executor.Exists, HTTPStatus: 409, Record: debit(rent, old)},
			want: executor.ResultUnverified, status: state.Unverified, requests: 2,
		},
		"after a doubt, a difference is a conflict": {
			after: doubtful, answer: answered(edited(*debit(rent, now), map[string]string{"amount": "8000.00"})),
			want: executor.ResultConflict, status: state.Conflict, stops: true, requests: 2,
		},
		"after a doubt, a refusal does not end it": {
			after: doubtful, answer: executor.Answer{Kind: executor.Rejected, HTTPStatus: 422, Reason: "It refused."},
			want: executor.ResultInDoubt, status: state.InDoubt, requests: 2,
		},
		"after a doubt, a 503 does not end it": {
			after: doubtful, answer: executor.Answer{Kind: executor.Unclear, HTTPStatus: 503},
			want: executor.ResultInDoubt, status: state.InDoubt, requests: 2,
		},
		"after a doubt, a 303 does not end it": {
			after: doubtful, answer: executor.Answer{Kind: executor.Unclear, HTTPStatus: 303, Stop: true},
			want: executor.ResultInDoubt, status: state.InDoubt, stops: true, requests: 2,
		},
		"after a doubt, nothing written does not end it": {
			after: doubtful, answer: executor.Answer{Kind: executor.Unwritten},
			want: executor.ResultInDoubt, status: state.InDoubt, requests: 7,
		},
		"after a doubt, a 429 does not end it": {
			after: doubtful, answer: executor.Answer{Kind: executor.NotProcessed, HTTPStatus: 429},
			want: executor.ResultInDoubt, status: state.InDoubt, requests: 13,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				if test.after != nil {
					test.after(w)
				}
				w.service.before = func(context.Context, string, int) *executor.Answer { return &test.answer }
				w.service.find, w.lookup = test.find, test.find != nil
				summary := w.apply(rent)
				if diff := cmp.Diff(map[string]executor.Result{"rent": test.want}, w.results()); diff != "" {
					t.Errorf("results (-want +got):\n%s", diff)
				}
				if got := w.journal.row("rent").Status; got != test.status {
					t.Errorf("the state says %v, want %v", got, test.status)
				}
				if stopped := summary.Stopped != ""; stopped != test.stops {
					t.Errorf("stopped: %q", summary.Stopped)
				}
				if got := w.reason("rent"); !strings.Contains(got, test.reason) {
					t.Errorf("reason %q lacks %q", got, test.reason)
				}
				if got := w.service.requests("rent"); got != max(1, test.requests) {
					t.Errorf("%d requests", got)
				}
			})
		})
	}
}

func TestTheAnswerIsKeptWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		problem := json.RawMessage(`{"type":"https://service.test/insufficient-funds"}`)
		w.service.before = func(context.Context, string, int) *executor.Answer {
			return &executor.Answer{Kind: executor.Rejected, HTTPStatus: 422, Problem: problem, Reason: "It refused."}
		}
		w.apply(request("rent"))
		snapshot, err := w.journal.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		details, err := snapshot.Details(t.Context(), "rent")
		if err != nil {
			t.Fatal(err)
		}
		want := &state.Outcome{
			RefID: "rent", RunID: "run-1", Status: state.Refused, Source: state.SourceAnswer,
			Reason: "It refused.", HTTPStatus: 422, Problem: problem,
		}
		if diff := cmp.Diff(want, details[0].Outcome); diff != "" {
			t.Errorf("outcome (-want +got):\n%s", diff)
		}
	})
}
