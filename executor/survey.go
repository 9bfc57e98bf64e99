package executor

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"slices"
	"time"

	"remit/executor/ratelimit"
	"remit/internal/doubt"
	"remit/internal/transfer"
	"remit/state"
)

// detailsMax is how many ref_ids are read in full at once.
const detailsMax = 500

// survey is what a run reads of the state, once, before it begins.
type survey struct {
	// rows are those of the plan's lines and of what they depend on.
	rows map[string]state.Transfer
	// doubts are all that is in doubt, in byte order of ref_id.
	doubts []*unsettled
	// outside are the requests of dependencies that the plan does not have.
	outside map[string]transfer.Request
	// starts are when recent requests of each operation started at the latest, oldest first.
	starts map[transfer.Operation][]time.Time
}

// unsettled is a transfer in doubt.
type unsettled struct {
	known
	intent  state.Intent // of this run, with the recorded request
	dated   state.Intent // the first one of that request
	firstBy string       // the run of that
	amiss   string       // why its request can't be compared; "" where it can
	undue   doubt.Hold   // why it must not be sent again, as its latest lookup has it
}

// takeSurvey scans the state once.
func (c *course) takeSurvey(ctx context.Context, all lines) (*survey, error) {
	run := c.run
	snapshot, err := run.Journal.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	wanted := newWanted(all)
	s := &survey{
		rows:    make(map[string]state.Transfer),
		outside: make(map[string]transfer.Request),
		starts:  make(map[transfer.Operation][]time.Time),
	}
	recent := recentStarts{now: run.Clock.Now(), limits: run.Policy.RateLimits}
	if err := recent.readShifts(ctx, snapshot, c.timekeeper.now()); err != nil {
		return nil, err
	}
	var inDoubt, outside []string
	for row, err := range snapshot.Transfers(ctx) {
		if err != nil {
			return nil, err
		}
		recent.note(row)
		line, isWanted := wanted.of(row.RefID)
		if isWanted {
			s.rows[row.RefID] = row
		}
		switch {
		case row.Status == state.InDoubt:
			inDoubt = append(inDoubt, row.RefID)
		case isWanted && !line:
			outside = append(outside, row.RefID)
		}
	}
	if err := s.readDoubts(ctx, run, snapshot, inDoubt); err != nil {
		return nil, err
	}
	if err := c.learnClocks(ctx, snapshot, s.doubts); err != nil {
		return nil, err
	}
	if err := s.readOutside(ctx, run, snapshot, outside); err != nil {
		return nil, err
	}
	s.starts, err = recent.byOperation(ctx, snapshot)
	return s, err
}

// wanted are the ref_ids of lines and of what they depend on, by a hash: of the rows of a
// state it lets all of these through, and of others next to none.
type wanted struct {
	seed maphash.Seed
	line map[uint64]bool // false: only a dependency
}

func newWanted(all lines) wanted {
	w := wanted{maphash.MakeSeed(), make(map[uint64]bool, all.len())}
	for _, change := range all.all() {
		for _, refID := range change.After {
			if hash := maphash.String(w.seed, refID); !w.line[hash] {
				w.line[hash] = false
			}
		}
		w.line[maphash.String(w.seed, change.RefID)] = true
	}
	return w
}

func (w wanted) of(refID string) (line, isWanted bool) {
	line, isWanted = w.line[maphash.String(w.seed, refID)]
	return line, isWanted
}

func (s *survey) readDoubts(ctx context.Context, run Run, snapshot state.Snapshot, refIDs []string) error {
	return eachDetail(ctx, snapshot, refIDs, func(d state.Detail) {
		s.doubts = append(s.doubts, newUnsettled(d, run.Begun.RunID, run.Policy))
	})
}

func newUnsettled(d state.Detail, runID string, policy Policy) *unsettled {
	u := &unsettled{intent: d.Intent, dated: d.Intent, firstBy: d.Intent.RunID}
	u.intent.RunID, u.intent.Found, u.intent.AfterMS, u.intent.Clocks = runID, false, 0, state.Clocks{}
	u.known = known{
		refID: d.RefID, runID: runID,
		first: d.IntendedAt, earlier: !d.Intent.Found, found: d.Intent.Found, doubted: true,
		operator: policy.Operator, since: sent{at: d.IntendedAt},
	}
	if d.IsListed() {
		u.group, u.found, u.earlier = d.GroupID, true, false
		u.alone = d.Intent.Body == ""
	}
	if u.alone {
		u.request = transfer.Request{RefID: d.RefID, Asset: d.Asset, Amount: d.Amount}
		return u
	}
	request, err := transfer.ParseRequest(d.Intent.Operation, []byte(d.Intent.Body), policy.FingerprintKey)
	if err != nil {
		u.amiss = fmt.Sprintf("Its recorded request cannot be read: %v.", err)
		request = transfer.Request{RefID: d.RefID, Asset: d.Asset, Amount: d.Amount}
	}
	u.request = request
	return u
}

func (s *survey) readOutside(ctx context.Context, run Run, snapshot state.Snapshot, refIDs []string) error {
	return eachDetail(ctx, snapshot, refIDs, func(d state.Detail) {
		request, err := transfer.ParseRequest(d.Intent.Operation, []byte(d.Intent.Body), run.Policy.FingerprintKey)
		if err == nil { // an imported one has no request: it can't be polled
			s.outside[d.RefID] = request
		}
	})
}

func eachDetail(ctx context.Context, archive interface {
	Details(ctx context.Context, refIDs ...string) ([]state.Detail, error)
}, refIDs []string, use func(state.Detail),
) error {
	for chunk := range slices.Chunk(refIDs, detailsMax) {
		details, err := archive.Details(ctx, chunk...)
		if err != nil {
			return err
		}
		for _, d := range details {
			use(d)
		}
	}
	return nil
}

// recentStarts gathers when recent requests started, as far as the state knows: not after
// their outcome, and where there is none, not after now.
type recentStarts struct {
	now    time.Time
	limits map[transfer.Operation]ratelimit.Limit
	list   []recentStart

	// shifts are how far the local clock went ahead of the others since a run began, by its ID: so much
	// later than it is dated may be what that run did.
	shifts map[string]time.Duration
}

type recentStart struct {
	refID  string
	latest time.Time
}

// readShifts learns how the local clock went since the runs of the state began, by what no restart and no person
// turns: boottime within one boot, else the service's Date or the server's clock. A clock that was behind then has
// its run's requests look older than they are.
func (r *recentStarts) readShifts(ctx context.Context, snapshot state.Snapshot, now reading) error {
	if len(r.limits) == 0 {
		return nil
	}
	r.shifts = make(map[string]time.Duration)
	for run, err := range snapshot.Runs(ctx) {
		if err != nil {
			return fmt.Errorf("read the runs: %w", err)
		}
		then := run.Begun.Clocks
		if then.Boot != "" && then.Boot == now.Boot { // to the millisecond, where the others have seconds
			then = state.Clocks{Boot: then.Boot, BootMS: then.BootMS}
		}
		passed := elapsed(then, now.Clocks, time.Duration(then.WithinMS+now.WithinMS)*time.Millisecond)
		if len(passed) == 0 {
			continue
		}
		least := slices.MinFunc(passed, func(a, b wait) int { return cmp.Compare(a.passed, b.passed) }).passed
		if shift := now.local.Round(0).Sub(run.BegunAt) - least; shift > 0 {
			r.shifts[run.Begun.RunID] = shift
		}
	}
	return nil
}

// dated is when something of a run may have been at the latest that is dated at.
func (r *recentStarts) dated(at time.Time, runID string) time.Time {
	if at = at.Add(r.shifts[runID]); at.After(r.now) {
		return r.now
	}
	return at
}

func (r *recentStarts) note(row state.Transfer) {
	if len(r.limits) == 0 || row.AttemptedAt.IsZero() {
		return
	}
	latest := row.AttemptedAt
	switch {
	case row.Open():
		latest = r.now
	case !row.SettledAt.Before(latest):
		latest = row.SettledAt.Add(time.Millisecond) // the state's times are cut to milliseconds
	}
	latest = r.dated(latest, row.RunID)
	for _, limit := range r.limits {
		if r.now.Sub(latest) < limit.Window {
			r.list = append(r.list, recentStart{row.RefID, latest})
			return
		}
	}
}

// byOperation returns the latest starts of each limited operation, oldest first: at least as many as it
// allows, where there were so many, and of a ref_id every attempt that the journal has.
func (r *recentStarts) byOperation(ctx context.Context, snapshot state.Snapshot) (map[transfer.Operation][]time.Time, error) {
	slices.SortFunc(r.list, func(a, b recentStart) int { return cmp.Or(b.latest.Compare(a.latest), cmp.Compare(a.refID, b.refID)) })
	starts := make(map[transfer.Operation][]time.Time)
	refIDs := make(map[transfer.Operation]int) // each has a start that is later than those of all that follow
	for _, start := range r.list {
		if r.enough(refIDs) {
			break
		}
		operation, attempts, err := r.attempts(ctx, snapshot, start)
		if err != nil {
			return nil, err
		}
		starts[operation] = append(starts[operation], attempts...)
		refIDs[operation]++
	}
	for _, list := range starts {
		slices.SortFunc(list, time.Time.Compare)
	}
	return starts, nil
}

// attempts are when the requests of a ref_id started at the latest, of all that the journal has. An
// attempt ended with its answer or, where its run died, before the next one began.
func (r *recentStarts) attempts(ctx context.Context, snapshot state.Snapshot, start recentStart) (transfer.Operation, []time.Time, error) {
	var operation transfer.Operation
	var starts []time.Time
	isOpen := false
	end := func(at time.Time) {
		if isOpen {
			starts = append(starts, at)
		}
		isOpen = false
	}
	for event, err := range snapshot.Events(ctx, 0, start.refID) {
		if err != nil {
			return "", nil, err
		}
		switch event.Kind {
		case state.KindIntent:
			end(r.dated(event.Time, event.RunID))
			entry, err := event.Entry()
			if err != nil {
				return "", nil, err
			}
			operation, isOpen = entry.(state.Intent).Operation, true
		case state.KindOutcome:
			end(r.dated(event.Time.Add(time.Millisecond), event.RunID)) // the state's times are cut to milliseconds
		case state.KindCreated, state.KindBegun, state.KindEnded, state.KindUnlocked, state.KindRebound, state.KindClock, state.KindAsked:
		}
	}
	end(start.latest)
	if len(starts) > 0 {
		starts[len(starts)-1] = start.latest
	}
	return operation, starts, nil
}

func (r *recentStarts) enough(refIDs map[transfer.Operation]int) bool {
	for op, limit := range r.limits {
		if refIDs[op] < limit.Requests {
			return false
		}
	}
	return true
}
