package planner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"strings"
	"time"

	"remit/internal/transfer"
	"remit/state"
)

// ErrCompleted says that the plan was carried out before: each line has an outcome.
var ErrCompleted = errors.New("the plan was carried out already: every line of it has an outcome; make a new one to see what is left to do")

// StaleError says that ref_ids are no longer as they were planned, other than by an earlier
// run of the same plan.
type StaleError struct {
	Lines []StaleLine // at most 20 of them
	Count int
}

// StaleLine is one ref_id that is no longer as planned.
type StaleLine struct {
	RefID   string
	Planned string // in words, such as "nothing recorded"
	Now     string // in words, such as "recorded in run R"
}

// Error names the ref_ids.
func (e *StaleError) Error() string {
	var b strings.Builder
	are := "are"
	if e.Count == 1 {
		are = "is"
	}
	fmt.Fprintf(&b, "%d of the plan's transfers %s no longer as planned; make a new plan", e.Count, are)
	for _, line := range e.Lines {
		fmt.Fprintf(&b, "\n  %q: planned as %s, now %s", line.RefID, line.Planned, line.Now)
	}
	return b.String()
}

// BorrowedError says that a run carried out other bytes under the ID of a plan: one of the two files has the
// plan_id of the other.
type BorrowedError struct{ PlanID, RunID string }

// Error names the run and says what to do.
func (e *BorrowedError) Error() string {
	return fmt.Sprintf("the run %s carried out another plan with the same plan_id, %q: somebody changed one of the two files. "+
		"Make a new plan, and review that", e.RunID, e.PlanID)
}

// ObstacleError says that a plan is not applicable: it was not when it was made, or it is
// not any more.
type ObstacleError struct{ Obstacles []Obstacle }

// Error has each obstacle with its remedy.
func (e *ObstacleError) Error() string {
	var b strings.Builder
	b.WriteString("the plan is not applicable")
	for _, o := range e.Obstacles {
		b.WriteString("\n  " + o.Detail)
		if o.Remedy != "" {
			b.WriteString("\n    " + strings.ReplaceAll(o.Remedy, "\n", "\n    "))
		}
	}
	return b.String()
}

// History is a record whose journal can be read; a [state.Past] is one.
type History interface {
	Record
	Transfers(ctx context.Context) iter.Seq2[state.Transfer, error]
	Events(ctx context.Context, after int64, refID string) iter.Seq2[state.Event, error]
	// Then returns the rows of ref_ids as they were when the newest event had a number, in the order of
	// the ref_ids, without those that were not known.
	Then(ctx context.Context, serial int64, refIDs ...string) ([]state.Detail, error)
}

// Recheck computes a plan again and compares it with the file (see again), and then with the state
// as it is now: under the lock, before the first request. Each line must be as it was planned, unless an earlier run of this very plan
// made it otherwise, and nothing may have come up that the plan does not show: a conflict,
// or a look-alike of a transfer that is still to be sent.
//
// It returns the rest that is to be done: the plan itself, or a copy with the same header and digest
// without the lines to which an earlier run of this plan gave an outcome. A line that
// such a run left in doubt stays as it was planned.
//
// The error is an *[ObstacleError], an *[OtherError], a *[ControlsError], a *[StaleError],
// a *[DifferentError], a *[ControlBlockError], a *[BorrowedError], [ErrExpired] or [ErrCompleted], or that of a failed read. The controls are
// those that are declared now.
func (p *Plan) Recheck(ctx context.Context, record History, under Controls, now time.Time) (*Plan, error) {
	if err := p.CheckHeader(record.Meta(), under.Declared, now); err != nil {
		return nil, err
	}
	past, err := p.readPast(ctx, record)
	if err != nil {
		return nil, err
	}
	if past.complete {
		return nil, ErrCompleted
	}
	v, err := p.verify(ctx, record, under, past, now)
	if err != nil {
		return nil, err
	}
	return v.Left(ctx, now)
}

// Verified is a saved plan that was computed again and agrees with its file.
type Verified struct {
	Plan *Plan // as it was computed

	record History
	under  Controls
	past   past
}

// Left is what [Plan.Recheck] says once the plan was computed again, against the record that it was
// computed from, and with its errors.
func (v *Verified) Left(ctx context.Context, now time.Time) (*Plan, error) {
	p, record, past, controls := v.Plan, v.record, v.past, v.under.Declared
	if err := p.CheckHeader(record.Meta(), controls, now); err != nil {
		return nil, err
	}
	if past.complete {
		return nil, ErrCompleted
	}
	moments, err := newMoments(ctx, record, now)
	if err != nil {
		return nil, err
	}
	limits := newLimitTally(controls.Limits, moments)
	r := recheck{limits: limits, plan: p, past: past, now: now, lines: make(map[string]int)}
	if err := r.read(ctx, record); err != nil {
		return nil, err
	}
	left, err := r.left(ctx, record, v.under)
	if err != nil {
		return nil, err
	}
	obstacles, err := r.checkLimits(ctx, record)
	if err != nil {
		return nil, err
	}
	failing, err := p.checkPolicies(controls.Policies)
	switch obstacles = append(obstacles, failing...); {
	case err != nil:
		return nil, err
	case len(obstacles) > 0:
		return nil, &ObstacleError{obstacles}
	}
	obstacles, err = reversalObstacles(ctx, record, left.Changes.submitsThatReverse())
	switch {
	case err != nil:
		return nil, err
	case len(obstacles) > 0:
		return nil, &ObstacleError{obstacles}
	}
	return left, nil
}

// Verify computes a saved plan again, as [Plan.Recheck] does first, and compares: that is all of it
// that can be said of a plan that is not applicable, of which nothing is sent, or whose time is over (see
// [Plan.CheckTime]). The error is an *[OtherError], a *[ControlsError], a *[ControlBlockError], a
// *[BorrowedError] or a *[DifferentError], or that of a failed read. The record is kept for [Verified.Left].
func (p *Plan) Verify(ctx context.Context, record History, under Controls, now time.Time) (*Verified, error) {
	if err := p.checkHeader(record.Meta(), under.Declared, now); err != nil {
		return nil, err
	}
	past, err := p.readPast(ctx, record)
	if err != nil {
		return nil, err
	}
	return p.verify(ctx, record, under, past, now)
}

func (p *Plan) verify(ctx context.Context, record History, under Controls, past past, now time.Time) (*Verified, error) {
	computed, err := p.again(ctx, record, under, past, now)
	if err != nil {
		return nil, err
	}
	if err := computed.markBegun(ctx, record, past); err != nil {
		return nil, err
	}
	return &Verified{computed, record, under, past}, nil
}

// IsOf reports whether a run carries out this very plan (see [state.Begun.IsSamePlan]).
func (p *Plan) IsOf(begun state.Begun) bool {
	return begun.IsSamePlan(state.Begun{PlanID: p.Header.PlanID, PlanSHA256: p.SHA256, Digest: p.Digest})
}

// past has the events of a state since a plan was made from it.
type past struct {
	runs     map[string]bool // of this very plan
	order    []string        // the same, as they began
	complete bool            // one of them gave every line an outcome
	own      map[string]bool // ref_ids with events of these runs
	foreign  map[string]bool // ref_ids with other events
	isErased bool            // the display names were removed
}

func (p *Plan) readPast(ctx context.Context, record History) (past, error) {
	since := past{runs: make(map[string]bool), own: make(map[string]bool), foreign: make(map[string]bool)}
	for event, err := range record.Events(ctx, p.Header.Serial, "") {
		if err != nil {
			return past{}, fmt.Errorf("read the events since the plan: %w", err)
		}
		switch event.Kind {
		case state.KindBegun:
			var begun state.Begun
			if err := json.Unmarshal(event.Data, &begun); err != nil {
				return past{}, fmt.Errorf("read event %d: %w", event.Seq, err)
			}
			switch {
			case p.IsOf(begun):
				since.runs[begun.RunID] = true
				since.order = append(since.order, begun.RunID)
			case begun.PlanID != "" && begun.PlanID == p.Header.PlanID:
				return past{}, &BorrowedError{begun.PlanID, begun.RunID}
			}
		case state.KindEnded:
			var ended state.Ended
			if err := json.Unmarshal(event.Data, &ended); err != nil {
				return past{}, fmt.Errorf("read event %d: %w", event.Seq, err)
			}
			since.complete = since.complete || since.runs[ended.RunID] && ended.Complete
		case state.KindIntent, state.KindOutcome:
			if since.runs[event.RunID] {
				since.own[event.RefID] = true
				break
			}
			since.foreign[event.RefID] = true
		case state.KindErased:
			since.isErased = true
		case state.KindCreated, state.KindUnlocked, state.KindRebound, state.KindClock, state.KindAsked:
		}
	}
	return since, nil
}

// touched are the ref_ids that events came of since.
func (p *past) touched() map[string]bool {
	all := maps.Clone(p.own)
	maps.Copy(all, p.foreign)
	return all
}

// ours reports whether a ref_id is as it is by runs of this plan: the latest attempt is theirs,
// even if another run settled it, or only runs of this plan touched it.
func (p *past) ours(t *state.Transfer) bool {
	return p.runs[t.RunID] || p.own[t.RefID] && !p.foreign[t.RefID]
}

// recheck holds what Recheck needs while it runs.
type recheck struct {
	plan  *Plan
	past  past
	now   time.Time
	lines map[string]int // index of each Submit and Resolve

	limits  *limitTally             // nil where there is none
	current map[int]*state.Transfer // of the lines
}

func (r *recheck) read(ctx context.Context, record History) error {
	r.current = make(map[int]*state.Transfer)
	for i, c := range r.plan.Changes.All() {
		if c.Action != Submit && c.Action != Resolve {
			continue
		}
		r.lines[c.RefID] = i
	}
	if r.limits.isDaily() {
		var err error
		if r.limits.otherwise, err = readAccepted(ctx, record); err != nil {
			return err
		}
	}
	for t, err := range record.Transfers(ctx) {
		if err != nil {
			return fmt.Errorf("read the recorded transfers: %w", err)
		}
		if r.limits.isDaily() {
			o := t.Outline()
			r.limits.recorded(&o)
		}
		if line, isLine := r.lines[t.RefID]; isLine {
			r.current[line] = &t
		}
	}
	return nil
}

// left judges each line, and then what else came up.
func (r *recheck) left(ctx context.Context, record History, under Controls) (*Plan, error) {
	var stale StaleError
	done := make(map[int]bool)
	for _, i := range r.lines {
		switch r.judge(i) {
		case lineLeft:
		case lineDone:
			done[i] = true
		case lineStale:
			if t := r.current[i]; t == nil || t.Status != state.Conflict { // which is an obstacle
				stale.Count++
			}
		}
	}
	if stale.Count > 0 {
		r.nameStale(&stale)
		return nil, &stale
	}
	if len(done) > 0 && len(done) == len(r.lines) {
		return nil, ErrCompleted
	}
	obstacles, err := r.sinceObstacles(ctx, record, under)
	if err != nil {
		return nil, err
	}
	if o := r.windowObstacle(done); o.Count > 0 {
		obstacles = append(obstacles, o)
	}
	if len(obstacles) > 0 {
		return nil, &ObstacleError{obstacles}
	}
	if len(done) == 0 {
		return r.plan, nil
	}
	return r.plan.without(done)
}

// nameStale lists stale lines in the plan's order.
func (r *recheck) nameStale(stale *StaleError) {
	for i, c := range r.plan.Changes.All() {
		if len(stale.Lines) == refIDsMax {
			return
		}
		if _, ok := r.lines[c.RefID]; !ok || r.judge(i) != lineStale {
			continue
		}
		line := StaleLine{c.RefID, "nothing recorded", "nothing recorded"}
		if c.Recorded != nil {
			line.Planned = inRun(c.Recorded.Status, c.Recorded.RunID)
		}
		if t := r.current[i]; t != nil {
			line.Now = inRun(t.Status, t.RunID)
		}
		stale.Lines = append(stale.Lines, line)
	}
}

func inRun(s state.Status, runID string) string {
	if runID == "" {
		return s.String()
	}
	return s.String() + " in run " + runID
}

// lineState is the result of a line.
type lineState uint8

const (
	lineLeft  lineState = iota // as planned, or unfinished by an earlier run of this plan
	lineDone                   // an earlier run of this plan gave it an outcome
	lineStale                  // somebody else changed it
)

func (r *recheck) judge(i int) lineState {
	c, t := r.plan.Changes.At(i), r.current[i]
	planned := state.Status(0)
	if c.Recorded != nil {
		planned = c.Recorded.Status
	}
	if t == nil {
		// A recorded transfer can only vanish with the state that recorded it.
		if planned == 0 {
			return lineLeft
		}
		return lineStale
	}
	if r.past.ours(t) {
		return r.judgeOurs(&c, t)
	}
	same := false
	switch planned {
	case 0, state.Unsent:
		same = t.Status == state.Unsent
	case state.Refused:
		same = t.Status == state.Refused && t.RunID == c.Recorded.RunID
	case state.InDoubt:
		same = t.Status == state.InDoubt && t.Fingerprint.String() == c.Recorded.Fingerprint
	case state.Recorded, state.Adopted, state.Unverified, state.Conflict, state.Tombstone:
	}
	if same {
		return lineLeft
	}
	return lineStale
}

func (r *recheck) judgeOurs(c *Change, t *state.Transfer) lineState {
	request, err := c.InForce()
	if err != nil || request.Fingerprint() != t.Fingerprint {
		return lineStale
	}
	switch t.Status {
	case state.Unsent, state.InDoubt:
		return lineLeft
	case state.Recorded, state.Adopted, state.Unverified, state.Refused, state.Tombstone:
		return lineDone
	case state.Conflict:
	}
	return lineStale
}

// without copies a plan without some of its lines.
func (p *Plan) without(done map[int]bool) (*Plan, error) {
	left := *p
	left.Changes = Changes{}
	left.Totals = make(map[Action]*transfer.Totals)
	for i, c := range p.Changes.All() {
		if !done[i] {
			left.Changes.Add(c)
		}
	}
	if err := left.addTotals(); err != nil {
		return nil, err
	}
	for _, action := range []Action{None, Undeclared} {
		if t := p.Totals[action]; t != nil {
			left.Totals[action] = t
		}
	}
	return &left, nil
}
