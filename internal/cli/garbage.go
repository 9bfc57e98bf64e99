package cli

import (
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// An apply makes 22 KB of garbage a transfer, and keeps little. At Go's usual pace, a
// collection whenever the heap has doubled, it collected once for every 800 transfers and
// looked at hundreds of stacks each time (50,000 transfers, 256 in flight). It may have more memory instead, though not in
// proportion: a large plan keeps much, and takes long to double as it is.
const (
	garbageMax        = 128 << 20
	garbagePercent    = 100 // Go's own
	garbagePercentMax = 400
	garbageEvery      = 250 * time.Millisecond
)

// planPercentMin ends that for a plan. One of ten million transfers keeps 1.2 GB, and at Go's usual pace would leave as
// much garbage before its last collection: it may have garbageMax too, and collects the more often. As each collection
// looks at what is kept, there is an end to that.
const planPercentMin = 10

// moreGarbage lets an apply leave more garbage until it is called back. As what it keeps grows, it has the less of it.
func moreGarbage(getenv func(string) string) (back func()) {
	return paceGarbage(getenv, percentOfGarbage)
}

// boundGarbage has a command that keeps a line for each transfer leave no more garbage than garbageMax, as far as that is possible, until it is called back.
func boundGarbage(getenv func(string) string) (back func()) {
	return paceGarbage(getenv, percentOfPlan)
}

// paceGarbage has collections follow percentOf the bytes that the last one left. An environment with GOGC knows better.
func paceGarbage(getenv func(string) string, percentOf func(live uint64) int) (back func()) {
	if getenv("GOGC") != "" {
		return func() {}
	}
	percent := percentOf(liveBytes())
	debug.SetGCPercent(percent)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(garbageEvery)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
			}
			if now := percentOf(liveBytes()); now != percent {
				percent = now
				debug.SetGCPercent(percent)
			}
		}
	}()
	return func() {
		close(done)
		<-ended
		debug.SetGCPercent(garbagePercent) // Go's own: without GOGC nothing else was set
	}
}

// liveBytes is what the last collection left.
func liveBytes() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// percentOfGarbage is the GOGC with which a heap with so many live bytes has garbageMax of
// garbage, within bounds.
func percentOfGarbage(live uint64) int {
	percent := garbageMax * 100 / max(live, 1)
	return int(min(max(percent, garbagePercent), garbagePercentMax))
}

// percentOfPlan is percentOfGarbage for a plan: never more than Go's own.
func percentOfPlan(live uint64) int {
	return int(min(max(garbageMax*100/max(live, 1), planPercentMin), garbagePercent))
}
