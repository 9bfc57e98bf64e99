package planner

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"remit/state"
)

// A plan is computed again twice: as of its serial, and as of now. Both times by the builder that made it. As
// of now, what an earlier run of the plan did is taken back, so that its lines are judged together as they
// were reviewed; what others did since is there, and nothing of it was accepted.
//
// A plan that its own runs left unfinished is not stopped by their transfers. So each check of [Verified.Left] judges against one
// of three records, and says which:
//
//   - the record as it is now tells the outcome of each line, and the sums of a day, to which no line adds that was sent already
//     (see [limitTally]);
//   - [recheck.beforeRuns] is for all lines together, beside the transfers of others;
//   - [recheck.beforeRest] is for the lines that are left, beside the finished ones as they were made.

// since is what a builder of now leaves out, because it was judged when the plan was made.
type since struct {
	plan    *Plan
	touched map[string]bool // ref_ids of which others' events came since
	done    map[string]bool // lines that an earlier run of the plan finished
	begun   map[string]bool // lines that one left in doubt
}

// sinceKinds are the obstacles that may have come up since. The others hang on the plan alone, or are
// compared with the rest of it.
func sinceKinds() []ObstacleKind {
	return []ObstacleKind{ObstacleConflict, ObstacleRename, ObstacleLookAlike, ObstacleLate}
}

// sinceObstacles are what a plan of the same lines would have now and the plan does not show, by [recheck.beforeRuns].
func (r *recheck) sinceObstacles(ctx context.Context, record History, under Controls) ([]Obstacle, error) {
	s := &since{plan: r.plan, touched: r.past.foreign, done: make(map[string]bool), begun: make(map[string]bool)}
	for refID, i := range r.lines {
		s.done[refID], s.begun[refID] = r.judge(i) == lineDone, r.isBegun(i)
	}
	taken := r.taken()
	if len(r.past.foreign) == 0 && len(r.past.own) == len(taken) && !r.plan.hasDates() {
		return nil, nil // nothing but time came since
	}
	was, err := r.beforeRuns(ctx, record, taken)
	if err != nil {
		return nil, err
	}
	under, err = r.plan.controls(under, false)
	if err != nil {
		return nil, err
	}
	under.AcceptDuplicate, under.AcceptDuplicates, under.AcceptRenames, under.AcceptLate = nil, nil, nil, 0
	under.Declared.Limits, under.Declared.Policies = nil, nil
	b, err := r.plan.builder(ctx, was, under, r.now)
	if err != nil {
		return nil, err
	}
	b.word.since = s
	var failed error
	if err := b.build(ctx, b.word.declared(ctx, was, &failed)); err != nil || failed != nil {
		return nil, firstError(err, failed)
	}
	return newObstacles(b.plan.Obstacles), nil
}

// beforeRuns is the record as it is now, but that the plan's own runs did nothing: the taken ref_ids are as they were before.
func (r *recheck) beforeRuns(ctx context.Context, record History, taken map[string]bool) (*then, error) {
	return newThen(ctx, record, r.plan, taken)
}

// beforeRest is the record as it is now, but that no run of the plan began a line that is left. A finished line is there
// as it was made, which may be otherwise than it was asked for.
func (r *recheck) beforeRest(ctx context.Context, record History) (*then, error) {
	begun := make(map[string]bool)
	for refID, i := range r.lines {
		if r.isBegun(i) {
			begun[refID] = true
		}
	}
	return newThen(ctx, record, r.plan, begun)
}

// reversalObstacles judges the reversals that are left, by [recheck.beforeRest].
func (r *recheck) reversalObstacles(ctx context.Context, record History, left *Plan) ([]Obstacle, error) {
	back := slices.Collect(left.Changes.submitsThatReverse())
	if len(back) == 0 {
		return nil, nil
	}
	was, err := r.beforeRest(ctx, record)
	if err != nil {
		return nil, fmt.Errorf("read what the plan's runs left in doubt: %w", err)
	}
	return reversalObstacles(ctx, was, slices.Values(back))
}

// taken are the ref_ids that the plan's own runs touched, and nobody else.
func (r *recheck) taken() map[string]bool {
	taken := make(map[string]bool)
	for refID := range r.past.own {
		taken[refID] = !r.past.foreign[refID]
	}
	for refID, i := range r.lines {
		if t := r.current[i]; t != nil && r.past.ours(t) {
			taken[refID] = t.Status != state.Conflict // which nobody takes back
		}
	}
	maps.DeleteFunc(taken, func(_ string, is bool) bool { return !is })
	return taken
}

// newObstacles are those of all that may come up after a plan was made.
func newObstacles(all []Obstacle) []Obstacle {
	var obstacles []Obstacle
	for _, o := range all {
		if !slices.Contains(sinceKinds(), o.Kind) {
			continue
		}
		o.Detail += " This came up since the plan was made: make a new one."
		if o.Kind != ObstacleConflict { // flags accept it in the new plan alone
			o.Remedy, o.DuplicateWithin = "", ""
		}
		obstacles = append(obstacles, o)
	}
	return obstacles
}

// hasDates reports whether a line to submit is of a schedule's date, which time alone makes late.
func (p *Plan) hasDates() bool {
	for c := range p.Changes.Kinds() {
		if c.Action == Submit && !c.Due.IsZero() {
			return true
		}
	}
	return false
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// isUntouched reports whether a row is as it was when the plan was made.
func (b *builder) isUntouched(r *row) bool {
	return b.word != nil && b.word.since != nil && !b.word.since.touched[b.rows.refID(r)]
}

// isJudged reports whether the plan shows a recorded twin of a line, or an earlier run finished the line.
func (b *builder) isJudged(c *Change, r *row) bool {
	if b.word == nil || b.word.since == nil {
		return false
	}
	s := b.word.since
	return s.done[c.RefID] ||
		slices.ContainsFunc(c.saidSignals(b.word), func(s Signal) bool { return s.RefID == b.rows.refID(r) && (s.Kind == LookAlike || s.Kind == Rename) })
}

// isOfRename reports whether the plan shows a line as a rename, and a recorded twin is declared no longer. A new plan
// lists such a twin among what the line was before, whatever the line's window is; who accepted the rename never saw it.
func (b *builder) isOfRename(c *Change, r *row) bool {
	return b.judgesApart() && !r.is(markDeclared) &&
		slices.ContainsFunc(c.saidSignals(b.word), func(s Signal) bool { return s.Kind == Rename })
}

// saidSignals are the marks of the file's line with the same ref_id.
func (c *Change) saidSignals(w *word) []Signal { return w.lineOf(c.RefID).Signals }

// isLateAlready reports whether the plan shows that a line comes late, or an earlier run sent it.
func (b *builder) isLateAlready(c *Change) bool {
	if b.word == nil || b.word.since == nil {
		return false
	}
	s := b.word.since
	return s.done[c.RefID] || s.begun[c.RefID] || b.word.lineOf(c.RefID).isLate()
}

// judgesApart reports whether the lines of a plan, which were reviewed together, are no look-alikes of each
// other any more.
func (b *builder) judgesApart() bool { return b.word != nil && b.word.since != nil }
