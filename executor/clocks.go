package executor

import (
	"context"
	"fmt"
	"sync"
	"time"

	"remit/state"
)

// reading is what all clocks said at one moment.
type reading struct {
	state.Clocks
	local time.Time
	boot  Boot
}

// timekeeper knows the time by clocks that nobody who runs remit can turn. It is safe for
// concurrent use.
type timekeeper struct {
	clock Clock

	renewing sync.Mutex // one at a time reads them anew
	failed   error      // why they could not be, guarded by renewing
	failedAt reading    // likewise

	mu    sync.Mutex
	begin reading                 // with which the events of this runner are dated
	last  reading                 // the newest
	runs  map[string]state.Clocks // of the runs of which something is in doubt
}

// readClocks gets a token, and with it the service's Date, and asks the server that keeps the
// state, where there is one.
func (c *course) readClocks(ctx context.Context) error {
	from := c.timekeeper.local()
	date, err := c.run.Submitter.Ready(ctx)
	if err != nil {
		return fmt.Errorf("get a token: %w", err)
	}
	return c.keepReading(ctx, from, date)
}

// keepReading completes a reading that began with from, and keeps it.
func (c *course) keepReading(ctx context.Context, from reading, date time.Time) error {
	var server time.Time
	if journal, ok := c.run.Journal.(state.Timekeeper); ok {
		var err error
		if server, err = journal.ServerTime(ctx); err != nil {
			return err
		}
	}
	r := c.timekeeper.local()
	r.WithinMS = since(from, r).Milliseconds()
	if !date.IsZero() {
		r.Date = date.UTC()
	}
	if !server.IsZero() {
		r.Server = server.UTC().Truncate(time.Millisecond)
	}
	c.timekeeper.keep(r)
	return nil
}

// local reads the machine's own clocks.
func (k *timekeeper) local() reading {
	r := reading{local: k.clock.Now(), boot: k.clock.Boot()}
	r.Boot, r.Machine, r.BootMS = r.boot.ID, r.boot.Machine, r.boot.Up.Milliseconds()
	return r
}

func (k *timekeeper) keep(r reading) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.last = r
	if k.begin.local.IsZero() {
		k.begin = r
	}
}

// begun is the reading at the begin of the run; zero before it.
func (k *timekeeper) begun() reading {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.begin
}

// sinceBegin is how long ago that was, at least: 0 where only a clock knows that can be turned.
func (k *timekeeper) sinceBegin() time.Duration {
	begin, now := k.begun(), k.clock.Boot()
	if begin.Boot == "" || begin.Boot != now.ID {
		return 0
	}
	return max(0, now.Up-begin.boot.Up)
}

// since is how long it was from one reading to a later one in the same process, at most.
func since(from, to reading) time.Duration {
	if from.Boot != "" && from.Boot == to.Boot {
		return max(0, to.boot.Up-from.boot.Up)
	}
	// The monotonic clock stands still while a machine sleeps; the wall clock does not.
	return max(0, to.local.Sub(from.local), to.local.Round(0).Sub(from.local.Round(0)))
}
