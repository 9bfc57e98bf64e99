package executor

import (
	"context"
	"hash/maphash"
	"slices"
	"time"

	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// detailsMax is how many ref_ids are read in full at once.
const detailsMax = 500

// survey holds the rows of the state that a run reads once, before it begins.
type survey struct {
	// rows are those of the plan's lines and of what they depend on.
	rows map[string]state.Transfer
	// doubts are all doubts, in byte order of ref_id.
	doubts []*unsettled
	// outside are the requests of dependencies that the plan does not have.
	outside map[string]transfer.Request
	// starts are when recent requests of each operation started at the latest, oldest first.
	starts map[transfer.Operation][]time.Time
}

// takeSurvey scans the state once.
func takeSurvey(ctx context.Context, run *Run, clocks *timekeeper, all lines) (*survey, error) {
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
	recent := recentStarts{now: run.Clock.Now(), limits: run.Settings.RateLimits}
	if err := recent.readShifts(ctx, snapshot, clocks.now()); err != nil {
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
	if err := learnClocks(ctx, clocks, snapshot, &run.Begun, s.doubts); err != nil {
		return nil, err
	}
	if err := s.readOutside(ctx, run, snapshot, outside); err != nil {
		return nil, err
	}
	s.starts, err = recent.byOperation(ctx, snapshot)
	return s, err
}

// split parts lines that are still to be sent from those in doubt: an earlier run of the same plan may have left one so that was
// to be submitted. A nil survey knows of none.
func (s *survey) split(all lines) (open, doubts lines) {
	inDoubt := make(map[string]bool)
	if s != nil {
		for _, u := range s.doubts {
			inDoubt[u.refID] = true
		}
	}
	open.of, doubts.of = all.of, all.of
	for i, change := range all.all() {
		into := &open
		if change.Action == planner.Resolve || inDoubt[change.RefID] {
			into = &doubts
		}
		into.numbers = append(into.numbers, all.numbers[i])
	}
	return open, doubts
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

func (s *survey) readDoubts(ctx context.Context, run *Run, snapshot state.Snapshot, refIDs []string) error {
	return eachDetail(ctx, snapshot, refIDs, func(d state.Detail) {
		s.doubts = append(s.doubts, newUnsettled(d, run.Begun.RunID, run.Settings))
	})
}

func (s *survey) readOutside(ctx context.Context, run *Run, snapshot state.Snapshot, refIDs []string) error {
	return eachDetail(ctx, snapshot, refIDs, func(d state.Detail) { s.addOutside(d, run.Settings) })
}

// addOutside keeps the request of a dependency. An imported transfer has none: it can't be polled.
func (s *survey) addOutside(d state.Detail, settings Settings) {
	if d.Intent.Body == "" {
		return
	}
	if request, err := transfer.ParseRequest(d.Intent.Operation, []byte(d.Intent.Body), settings.FingerprintKey); err == nil {
		s.outside[d.RefID] = request
	}
}

// detailed returns what a state has of ref_ids; a [state.Snapshot] does.
type detailed interface {
	Details(ctx context.Context, refIDs ...string) ([]state.Detail, error)
}

// eachDetail reads ref_ids in full, [detailsMax] at a time.
func eachDetail(ctx context.Context, archive detailed, refIDs []string, use func(state.Detail)) error {
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
