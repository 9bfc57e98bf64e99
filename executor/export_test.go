package executor

import "time"

// DateStart is when a request that the journal dates at may have started at the latest, as a run sees it that began now.
func DateStart(now, at time.Time) time.Time { return (&recentStarts{now: now}).dated(at, "") }
