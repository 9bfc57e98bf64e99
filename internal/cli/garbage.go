package cli

import (
	"math"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"sync"
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

// paceGarbage has collections follow percentOf the bytes that the last one left, until it is called back. An environment
// with GOGC knows better.
func paceGarbage(getenv func(string) string, percentOf func(live uint64) int) (back func()) {
	if getenv("GOGC") != "" {
		return func() {}
	}
	return pacing.begin(percentOf)
}

// pacing is that of this process: a command and a part of it may both pace it, and so may several plans at once.
var pacing = pacer{set: debug.SetGCPercent}

// pacer sets the percentage of the collector to the least that anyone asks for.
type pacer struct {
	set     func(percent int) (before int)
	mu      sync.Mutex
	asked   []*func(live uint64) int
	percent int           // that was set last; 0 before the first time
	ended   chan struct{} // is closed once nobody asks any more
}

func (p *pacer) begin(percentOf func(live uint64) int) (back func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, &percentOf)
	if len(p.asked) == 1 {
		p.ended = make(chan struct{})
		go p.follow(p.ended)
	}
	p.pace()
	return func() { p.end(&percentOf) }
}

func (p *pacer) end(percentOf *func(live uint64) int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = slices.DeleteFunc(p.asked, func(f *func(uint64) int) bool { return f == percentOf })
	if len(p.asked) == 0 {
		close(p.ended)
	}
	p.pace()
}

// follow sets the percentage again and again, until ended is closed.
func (p *pacer) follow(ended <-chan struct{}) {
	ticker := time.NewTicker(garbageEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ended:
			return
		case <-ticker.C:
		}
		p.mu.Lock()
		p.pace()
		p.mu.Unlock()
	}
}

// pace sets the percentage. It is called with the lock held.
func (p *pacer) pace() {
	percent := math.MaxInt
	live := liveBytes()
	for _, percentOf := range p.asked {
		percent = min(percent, (*percentOf)(live))
	}
	if len(p.asked) == 0 {
		percent = garbagePercent // Go's own: without GOGC nothing else was set
	}
	if percent != p.percent {
		p.percent = percent
		p.set(percent)
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
