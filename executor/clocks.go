package executor

import (
	"context"
	"slices"
	"sync"
	"time"

	"remit/state"
)

const (
	clockSkewMax = 5 * time.Minute // between the service's clock and ours (docs/contract.md, row clock)
	dateGrain    = time.Second     // that the Date of an answer leaves out: it has whole seconds
)

// reading is the time by all clocks at one moment.
type reading struct {
	state.Clocks
	local time.Time
	boot  Boot
}

// timekeeper knows the time by clocks that nobody who runs remit can turn. It is safe for
// concurrent use.
type timekeeper struct {
	clock     Clock
	submitter Submitter
	server    state.Timekeeper // nil where no server keeps the state
	settings  Settings
	life      *lifetime

	renewing sync.Mutex // one at a time reads them anew
	failed   error      // why they could not be, guarded by renewing
	failedAt reading    // likewise

	mu    sync.Mutex
	begin reading                 // with which the events of this runner are dated
	last  reading                 // the newest
	runs  map[string]state.Clocks // of the runs of which something is in doubt
}

// read gets a token, and with it the service's Date, and asks the server that keeps the state,
// if there is one. The reading is the newest from then on.
func (k *timekeeper) read(ctx context.Context) error {
	from := k.local()
	date, err := k.submitter.Ready(ctx)
	if err != nil {
		return err
	}
	var server time.Time
	if k.server != nil {
		if server, err = k.server.ServerTime(ctx); err != nil {
			return err
		}
	}
	r := k.local()
	r.WithinMS = since(from, r).Milliseconds()
	if !date.IsZero() {
		r.Date = date.UTC()
	}
	if !server.IsZero() {
		r.Server = server.UTC().Truncate(time.Millisecond)
	}
	k.keep(r)
	return nil
}

// renew reads the clocks again if the newest reading is older than the timeout of a request: they
// decide whether a doubt is sent again.
func (k *timekeeper) renew() error {
	k.renewing.Lock()
	defer k.renewing.Unlock()
	k.mu.Lock()
	last := k.last
	k.mu.Unlock()
	timeout := k.settings.RequestTimeout
	if since(last, k.local()) <= timeout {
		return nil
	}
	if k.failed != nil && since(k.failedAt, k.local()) <= timeout {
		return k.failed // the attempts that wait behind this one need not ask again
	}
	ctx, cancel := k.life.bounded(k.life.flight, 2*timeout)
	defer cancel()
	k.failed, k.failedAt = k.read(ctx), k.local()
	return k.failed
}

// ofRuns returns the clocks that the given runs kept when they began, by run ID. begun is this run.
func (k *timekeeper) ofRuns(ctx context.Context, snapshot state.Snapshot, begun *state.Begun, runIDs []string) (map[string]state.Clocks, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.runs == nil {
		k.runs = make(map[string]state.Clocks)
	}
	k.runs[begun.RunID] = begun.Clocks
	isUnknown := func(runID string) bool { _, isKnown := k.runs[runID]; return !isKnown }
	if slices.ContainsFunc(runIDs, isUnknown) {
		for run, err := range snapshot.Runs(ctx) {
			if err != nil {
				return nil, err
			}
			k.runs[run.Begun.RunID] = run.Begun.Clocks
		}
	}
	found := make(map[string]state.Clocks, len(runIDs))
	for _, runID := range runIDs {
		found[runID] = k.runs[runID]
	}
	return found, nil
}

// local reads the machine's own clocks.
func (k *timekeeper) local() reading { return localReading(k.clock) }

func localReading(clock Clock) reading {
	r := reading{local: clock.Now(), boot: clock.Boot()}
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

// begun returns the reading at the begin of the run; zero before it.
func (k *timekeeper) begun() reading {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.begin
}

// now returns the newest reading, brought up to this moment.
func (k *timekeeper) now() reading {
	k.mu.Lock()
	last := k.last
	k.mu.Unlock()
	now := k.local()
	if last.local.IsZero() {
		return now
	}
	passed := since(last, now)
	now.Date, now.Server, now.WithinMS = last.Date, last.Server, last.WithinMS
	if !now.Date.IsZero() {
		now.Date = now.Date.Add(passed)
	}
	if !now.Server.IsZero() {
		now.Server = now.Server.Add(passed)
	}
	return now
}

// counted returns the time of a reading by the local clock at the begin of the run and what has passed since:
// a clock that somebody sets while the run goes on does not change it.
func (k *timekeeper) counted(now reading) time.Time {
	begin := k.begun()
	if begin.local.IsZero() {
		return now.local
	}
	return begin.local.Round(0).Add(since(begin, now))
}

// sinceBegin returns how long ago the run began, at least: 0 if only a clock that can be turned knows.
func (k *timekeeper) sinceBegin() time.Duration {
	begin, now := k.begun(), k.clock.Boot()
	if begin.Boot == "" || begin.Boot != now.ID {
		return 0
	}
	return max(0, now.Up-begin.boot.Up)
}

// since returns the time from one reading to a later one in the same process, at most.
func since(from, to reading) time.Duration {
	if from.Boot != "" && from.Boot == to.Boot {
		return max(0, to.boot.Up-from.boot.Up)
	}
	// The monotonic clock stops while a machine sleeps; the wall clock does not.
	return max(0, to.local.Sub(from.local), to.local.Round(0).Sub(from.local.Round(0)))
}

// wait is the time that has passed by one clock since an attempt.
type wait struct {
	clock  string // in words
	passed time.Duration
}

// elapsed returns how long ago a reading was, at least, by each clock that knows it.
func elapsed(then, now state.Clocks, within time.Duration) []wait {
	var passed []wait
	if !then.Server.IsZero() && !now.Server.IsZero() {
		passed = append(passed, wait{"the clock of the PostgreSQL server", now.Server.Sub(then.Server) - within})
	}
	if !then.Date.IsZero() && !now.Date.IsZero() {
		passed = append(passed, wait{"the service's clock", now.Date.Sub(then.Date) - within - dateGrain})
	}
	if then.Boot != "" && then.Boot == now.Boot {
		passed = append(passed, wait{"the time since this machine booted", now.SinceBoot() - then.SinceBoot()})
	}
	return passed
}

// inWords returns a duration to the second.
func inWords(d time.Duration) string { return d.Round(time.Second).String() }
