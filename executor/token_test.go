package executor_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/executor"
	"remit/executor/ratelimit"
	"remit/internal/transfer"
)

// tokenRefused is an answer of 401, after which the Submitter has another token.
func tokenRefused() *executor.Answer {
	return &executor.Answer{Kind: executor.TokenRefused, HTTPStatus: 401, Reason: "The service refused the token."}
}

func TestARequestIsSentAgainWithARenewedTokenInTheSameAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.settings.RateLimits = map[transfer.Operation]ratelimit.Limit{transfer.Internal: {Requests: 1, Window: 10 * time.Second}}
		w.service.before = func(_ context.Context, _ string, try int) *executor.Answer {
			if try == 1 {
				return tokenRefused()
			}
			return nil
		}
		summary := w.apply(request("rent"))
		if summary.Requests != 2 || summary.Totals[executor.ResultRecorded].Count() != 1 {
			t.Errorf("%v after %d requests", counts(summary), summary.Requests)
		}
		if diff := cmp.Diff([]string{"intent", "answer: recorded"}, w.journal.kinds("rent")); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		if span := w.service.starts[1].Sub(w.service.starts[0]); span < 10*time.Second {
			t.Errorf("the second request started %v after the first, which the limit does not allow", span)
		}
	})
}

func TestASecondRefusalOfTheTokenIsARefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.settings.InFlightMax = 1
		w.service.before = func(context.Context, string, int) *executor.Answer { return tokenRefused() }
		summary := w.apply(numbered(3)...)
		want := map[string]executor.Result{
			"t-000": executor.ResultRefused, "t-001": executor.ResultNotAttempted, "t-002": executor.ResultNotAttempted,
		}
		if diff := cmp.Diff(want, w.results()); diff != "" || summary.Requests != 2 {
			t.Errorf("%d requests (-want +got):\n%s", summary.Requests, diff)
		}
		if reason := w.reason("t-000"); !strings.Contains(reason, "A renewed token was refused as well") || summary.Stopped != strings.TrimSuffix(reason, ".") {
			t.Errorf("reason %q, stopped by %q", reason, summary.Stopped)
		}
	})
}

// TestATokenThatAnotherRequestUsedUpRefusesNothing has tokens that are good for one request: a refusal of one says nothing of
// the transfer, and the next run sends it.
func TestATokenThatAnotherRequestUsedUpRefusesNothing(t *testing.T) {
	for use, want := range map[executor.TokenUse]struct {
		result executor.Result
		reason string
	}{
		executor.TokenUsed:        {executor.ResultNotAttempted, "--parallelism=1"},
		executor.TokenPerhapsUsed: {executor.ResultRefused, "Either the client may not do this, or a token is good for one request"},
		executor.TokenUnused:      {executor.ResultRefused, "the client may not do this"},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.service.before = func(context.Context, string, int) *executor.Answer {
				answer := tokenRefused()
				answer.TokenUse = use
				return answer
			}
			summary := w.apply(request("rent"))
			if got := w.results()["rent"]; got != want.result || summary.Requests != 2 {
				t.Errorf("use %d: %s after %d requests", use, got, summary.Requests)
			}
			if reason := w.reason("rent"); !strings.Contains(reason, want.reason) || summary.Stopped != strings.TrimSuffix(reason, ".") {
				t.Errorf("use %d: reason %q, stopped by %q", use, reason, summary.Stopped)
			}
		})
	}
}

func TestNothingIsSentAgainWithARenewedTokenWhere(t *testing.T) {
	tests := map[string]struct {
		spoil  func(w *world, interrupt func())
		reason string
	}{
		"the lock was taken away meanwhile": {func(w *world, _ func()) { w.journal.fence() }, "taken away"},
		"the run was interrupted meanwhile": {func(_ *world, interrupt func()) { interrupt() }, "The service refused the token."},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.settings.RateLimits = map[transfer.Operation]ratelimit.Limit{transfer.Internal: {Requests: 1, Window: time.Minute}}
				ctx, interrupt := context.WithCancel(t.Context())
				defer interrupt()
				w.service.before = func(context.Context, string, int) *executor.Answer {
					test.spoil(w, interrupt)
					return tokenRefused()
				}
				_, _ = executor.Apply(ctx, w.run(w.plan(request("rent"))))
				if n := w.service.requests("rent"); n != 1 {
					t.Errorf("%d requests were sent", n)
				}
				if reason := w.reason("rent"); !strings.Contains(reason, test.reason) {
					t.Errorf("the reason is %q", reason)
				}
			})
		})
	}
}

func TestAnEarlierDoubtOutlivesARefusedToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.service.before = func(_ context.Context, _ string, try int) *executor.Answer {
			if try == 1 {
				return timeout()
			}
			return tokenRefused()
		}
		w.apply(request("rent"))
		w.apply(request("rent"))
		if diff := cmp.Diff(map[string]executor.Result{"rent": executor.ResultInDoubt}, w.results()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestATokenIsRenewedAnewAfterABusyService has a token be refused again, long after it was renewed: the service was busy between.
func TestATokenIsRenewedAnewAfterABusyService(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.service.before = func(_ context.Context, _ string, try int) *executor.Answer {
			switch try {
			case 1, 3:
				return tokenRefused()
			case 2:
				return &executor.Answer{Kind: executor.NotProcessed, HTTPStatus: 503, Reason: "It is busy."}
			}
			return nil
		}
		summary := w.apply(request("rent"))
		if got := w.results()["rent"]; got != executor.ResultRecorded || summary.Requests != 4 {
			t.Errorf("%s after %d requests: %s", got, summary.Requests, w.reason("rent"))
		}
	})
}
