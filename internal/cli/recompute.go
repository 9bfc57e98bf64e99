package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"remit/config"
	"remit/internal/cli/exit"
	"remit/internal/cli/host"
	"remit/internal/cli/workspace"
	"remit/internal/text/shell"
	"remit/internal/view"
	"remit/planner"
	"remit/state"
)

// recomputed is a saved plan that was computed again and agrees with its file.
type recomputed struct {
	plan     *planner.Plan
	verified *planner.Verified // nil where the state is not at hand
	meta     state.Meta        // as far as it is known without the state
	close    func()
}

// recompute computes a saved plan again before anybody reads it: with the state where that is at hand, and
// otherwise what the plan alone allows, which it tells in a line. The error says what cannot be done then. Nobody signs
// without a state that is there and cannot be read.
func recompute(ctx context.Context, w *opened, plan *planner.Plan, use planUse) (*recomputed, error) {
	return recomputeUnder(ctx, w, controlsOf(w.config, w.dir.Sandbox), plan, use)
}

// recomputeUnder is recompute under such controls.
func recomputeUnder(ctx context.Context, w *opened, controls planner.Controls, plan *planner.Plan, use planUse) (*recomputed, error) {
	switch there, err := w.state.Backend.Look(ctx); {
	case err != nil && use.signs && ctx.Err() == nil:
		// An approver knows of a missing state, and not of one that somebody keeps from being read.
		return nil, exit.WithHint(fmt.Errorf("%s %s: %w. Sign where it can be read. If you have no access to it, and take the author's word for earlier payments, say so", use.file, use.outcome, w.state.Error(err)),
			w.dir.Command(use.words+" "+shell.File(use.file)+" --without-state"))
	case err != nil:
		return recomputeAlone(ctx, w, controls, plan, use, "the state cannot be read here: "+view.Visible(strings.TrimSuffix(err.Error(), ".")))
	case !there:
		return recomputeAlone(ctx, w, controls, plan, use, "no state found here")
	}
	snapshot, done, err := w.state.Read(ctx)
	if err != nil {
		return nil, err
	}
	if w.dir.Sandbox && plan.Header.Lineage == "" {
		plan.Header.Lineage = snapshot.Meta().Lineage // planned before the sandbox had a state
	}
	w.streams.Begin("computing the plan again")
	verified, err := plan.Verify(ctx, state.Past{Snapshot: snapshot}, controls, w.host.Now())
	w.streams.Quiet()
	if err != nil {
		done()
		return nil, unfit(ctx, w, use, err)
	}
	return &recomputed{plan: verified.Plan, verified: verified, close: done}, nil
}

// recomputeAlone is recompute without the state, for a reason.
func recomputeAlone(ctx context.Context, w *opened, controls planner.Controls, plan *planner.Plan, use planUse, why string) (*recomputed, error) {
	w.streams.Begin("computing the plan again")
	alone, err := plan.Alone(ctx, controls)
	w.streams.Quiet()
	if err != nil {
		return nil, unfit(ctx, w, use, err)
	}
	_, err = fmt.Fprintf(w.streams.Err, "Notice: %s, so only what the plan says by itself was computed again. What was recorded and paid before is the word of its author; apply computes all of it before it sends anything.\n", why)
	return &recomputed{plan: alone, meta: boundMeta(w.state, plan.Header), close: func() {}}, err
}

// remaining is the part of the plan that an apply would send now: all of it, as far as is known without the state.
func (c *recomputed) remaining(ctx context.Context, h *host.Host, loaded *config.Configuration) (*planner.Plan, error) {
	if c.verified == nil {
		return c.plan, c.plan.CheckHeader(c.meta, loaded.Controls(), h.Now())
	}
	return c.verified.Left(ctx, h.Now())
}

// findStateOf is where the state of a plan may be, as the directory is bound to it. why says why that is
// not known; "" where it is.
func findStateOf(w *opened, plan *planner.Plan) (why string) {
	if isForSandbox(plan) {
		w.dir.Sandbox = true
		w.state.UseSandbox(w.dir.SandboxDirectory())
		return ""
	}
	bound, isBound, err := w.dir.ReadLock()
	if w.state.Binding = bound; err != nil || !isBound {
		return "this directory has no state"
	}
	w.state.UseBackend(workspace.BackendOf(w.config, w.dir, w.host))
	if w.dir.Need > config.NeedControls {
		return "the controls of the plan are not known here"
	}
	return ""
}

// isForged reports whether a plan was refused for what its file says, whatever the controls here are.
func isForged(err error) bool {
	_, isDifferent := errors.AsType[*planner.DifferentError](err)
	_, isBorrowed := errors.AsType[*planner.BorrowedError](err)
	return isDifferent || isBorrowed
}

// recomputeToShow is recompute for a reader. The plan may be older than this directory's files, or of another
// directory: then only the plan itself can be computed. Its own control blocks count, and each face
// says where they are not those of the configuration.
func recomputeToShow(ctx context.Context, w *opened, file string, plan *planner.Plan) (*planner.Plan, error) {
	use := planUse{file, "show", "cannot be shown", &plan.Header, false}
	why := findStateOf(w, plan)
	var controls planner.Controls
	if w.dir.Need <= config.NeedControls {
		controls = controlsOf(w.config, w.dir.Sandbox)
	}
	controls.OwnBlocks = true
	if why == "" {
		found, err := recomputeUnder(ctx, w, controls, plan, use)
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
		case isForged(err) || ctx.Err() != nil:
			return nil, err
		default:
			why = "the state cannot be read here"
		}
	}
	found, err := recomputeAlone(ctx, w, controls, plan, use, why)
	if err != nil {
		return nil, err
	}
	return found.plan, nil
}

// boundMeta describes the state without opening it: as the lock file binds this directory
// to, and otherwise what the plan says itself.
func boundMeta(st *workspace.State, h planner.Header) state.Meta {
	meta := state.Meta{Environment: st.Binding.Environment, Lineage: st.Binding.Lineage, Service: st.Binding.Service, Serial: h.Serial}
	meta.Service.CustomerID = h.Service.CustomerID
	if meta.Lineage == "" {
		meta.Lineage = h.Lineage // the sandbox's state is bound to nothing
	}
	return meta
}
