package executor

import (
	"context"
	"time"
)

// DateStart is when a request that the journal dates at may have started at the latest, as a run sees it that began now.
func DateStart(now, at time.Time) time.Time { return (&recentStarts{now: now}).dated(at, "") }

// RefreshInPasses is [Refresh] with at most so many transfers in memory.
func RefreshInPasses(ctx context.Context, run Run, most int) (Refreshed, error) {
	return refresh(ctx, run, 0, nil, most)
}
