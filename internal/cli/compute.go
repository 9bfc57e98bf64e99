package cli

import (
	"context"
	"errors"
	"fmt"

	"remit/config"
	"remit/internal/files/lockfile"
	"remit/planner"
	"remit/state"
)

// computed is a saved plan that was computed again and agrees with its file.
type computed struct {
	plan     *planner.Plan
	verified *planner.Verified // nil where the state is not at hand
	meta     state.Meta        // as far as it is known without the state
	close    func()
}

// compute computes a saved plan again before anybody reads it: with the state where that is at hand, and
// otherwise what the plan alone allows, which it tells in a line. The error says the outcome.
func (w *workspace) compute(ctx context.Context, plan *planner.Plan, file, outcome string) (*computed, error) {
	if there, err := w.place.Look(ctx); err != nil || !there {
		return w.computeAlone(ctx, plan, file, outcome, "the state is not here")
	}
	snapshot, done, err := w.read(ctx)
	if err != nil {
		return nil, err
	}
	if w.sandbox && plan.Header.Lineage == "" {
		plan.Header.Lineage = snapshot.Meta().Lineage // planned before the sandbox had a state
	}
	verified, err := plan.Verify(ctx, state.Past{Snapshot: snapshot}, w.controlsNow(), w.host.Now())
	if err != nil {
		done()
		return nil, w.unfit(file, outcome, err)
	}
	return &computed{plan: verified.Plan, verified: verified, close: done}, nil
}

// computeAlone is compute without the state, for a reason.
func (w *workspace) computeAlone(ctx context.Context, plan *planner.Plan, file, outcome, why string) (*computed, error) {
	var controls planner.Controls
	if w.need <= config.NeedControls {
		controls = w.controlsNow()
	}
	alone, err := plan.Alone(ctx, controls)
	if err != nil {
		return nil, w.unfit(file, outcome, err)
	}
	_, err = fmt.Fprintf(w.streams.Err, "Notice: %s, so only what the plan says by itself was computed again. What was recorded and paid before is the word of its author; apply computes all of it before it sends anything.\n", why)
	return &computed{plan: alone, meta: w.boundMeta(plan.Header), close: func() {}}, err
}

// left is what an apply would send of the plan now. Without the state that is all of it.
func (c *computed) left(ctx context.Context, w *workspace) (*planner.Plan, error) {
	if c.verified == nil {
		return c.plan, c.plan.CheckHeader(c.meta, w.config.Controls(), w.host.Now())
	}
	return c.verified.Left(ctx, w.host.Now())
}

// findStateOf is where the state of a plan may be, as the directory is bound to it. why says why that is
// not known; "" where it is.
func (w *workspace) findStateOf(plan *planner.Plan) (why string) {
	if isForSandbox(plan) {
		w.sandbox = true
		w.inSandbox(sandboxDirectory(w.dir))
		return ""
	}
	bound, isBound, err := lockfile.Read(w.dir)
	if w.binding = bound; err != nil || !isBound {
		return "this directory has no state"
	}
	w.at(w.statePlace())
	if w.need > config.NeedControls {
		return "the controls of the plan are not known here"
	}
	return ""
}

func isDifferent(err error) bool {
	_, ok := errors.AsType[*planner.DifferentError](err)
	return ok
}

// computeToShow is compute for who only reads. A plan may be older than what stands in this
// directory now, or of another one; its own words are then all that there is.
func (w *workspace) computeToShow(ctx context.Context, file string, plan *planner.Plan) (*planner.Plan, error) {
	const outcome = "cannot be shown"
	why := w.findStateOf(plan)
	if why == "" {
		found, err := w.compute(ctx, plan, file, outcome)
		var other *planner.OtherError
		var controls *planner.ControlsError
		switch {
		case err == nil:
			found.close()
			return found.plan, nil
		case errors.As(err, &other):
			why = "the plan is of another " + other.What + " than the state here"
		case errors.As(err, &controls):
			why = "the plan was made under other controls than those here"
		case isDifferent(err) || ctx.Err() != nil:
			return nil, err
		default:
			why = "the state cannot be read here"
		}
	}
	found, err := w.computeAlone(ctx, plan, file, outcome, why)
	if err != nil {
		return nil, err
	}
	return found.plan, nil
}

// boundMeta is what is known of the state without it: what the lock file binds this directory
// to, and otherwise what the plan says itself.
func (w *workspace) boundMeta(h planner.Header) state.Meta {
	meta := state.Meta{Environment: w.binding.Environment, Lineage: w.binding.Lineage, Service: w.binding.Service, Serial: h.Serial}
	meta.Service.CustomerID = h.Service.CustomerID
	if meta.Lineage == "" {
		meta.Lineage = h.Lineage // the sandbox's state is bound to nothing
	}
	return meta
}
