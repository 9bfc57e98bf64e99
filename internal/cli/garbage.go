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
	garbagePercent    = 100
	garbagePercentMax = 400
	garbageEvery      = 250 * time.Millisecond
)

// moreGarbage lets the process leave more garbage until it is called back. As what it keeps
// grows, it has the less of it. An environment with GOGC knows better.
func moreGarbage(getenv func(string) string) (back func()) {
	if getenv("GOGC") != "" {
		return func() {}
	}
	percent := percentOfGarbage(liveBytes())
	before := debug.SetGCPercent(percent)
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
			if now := percentOfGarbage(liveBytes()); now != percent {
				percent = now
				debug.SetGCPercent(percent)
			}
		}
	}()
	return func() {
		close(done)
		<-ended
		debug.SetGCPercent(before)
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
