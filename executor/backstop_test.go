package executor_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"remit/executor"
	"remit/executor/ratelimit"
	"remit/internal/transfer"
)

func TestARequestThatDoesNotEndIsEndedAfterTwoTimeouts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.settings.RateLimits = map[transfer.Operation]ratelimit.Limit{transfer.Internal: {Requests: 1, Window: 5 * time.Second}}
		took := make(chan time.Duration, 4)
		w.service.before = func(ctx context.Context, _ string, _ int) *executor.Answer {
			began := time.Now()
			<-ctx.Done()
			took <- time.Since(began)
			return timeout()
		}
		summary := w.apply(numbered(cap(took))...)
		if n := summary.Totals[executor.ResultInDoubt].Count(); n != cap(took) {
			t.Errorf("%d in doubt: %v", n, counts(summary))
		}
		timeout := w.settings.RequestTimeout
		for range cap(took) {
			if d := <-took; d < 2*timeout || d > 2*timeout+timeout/4 {
				t.Errorf("a request was ended after %v; its timeout is %v", d, timeout)
			}
		}
	})
}
