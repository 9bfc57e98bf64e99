package cli_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"remit/internal/cli"
)

// TestATreeAsksTwoConfigurationsAtOnce has configurations that take different times: two of them are asked at once, never three, and the
// answers come in the order of the configurations. Memory is that of the two largest.
func TestATreeAsksTwoConfigurationsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const count = 50
		var now, most atomic.Int64
		work := func(i int) int {
			most.Store(max(most.Load(), now.Add(1)))
			time.Sleep(time.Duration(1+(count-i)*7%13) * time.Millisecond)
			now.Add(-1)
			return i
		}
		var want []int
		for i := range count {
			want = append(want, i)
		}
		if got := slices.Collect(cli.InOrder(t.Context(), count, work)); !slices.Equal(got, want) {
			t.Errorf("the answers come in the order %v", got)
		}
		if most.Load() != 2 {
			t.Errorf("%d were asked at once, want 2", most.Load())
		}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		asked := 0
		for range cli.InOrder(ctx, count, work) {
			if asked++; asked == 3 {
				stop()
			}
		}
		if asked >= count {
			t.Error("an interrupt ends nothing")
		}
		synctest.Wait()
		time.Sleep(time.Second) // those under way end
		if now.Load() != 0 {
			t.Errorf("%d are asked on after the end", now.Load())
		}
	})
}
