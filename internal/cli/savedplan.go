package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"remit/internal/approval"
	"remit/internal/cli/exit"
	"remit/internal/files/confined"
	"remit/internal/files/wholefile"
	"remit/internal/text/shell"
	"remit/planner"
)

// savedPlan is a plan as it was read from a file.
type savedPlan struct {
	*planner.Plan
	name   string // as the command line has it
	path   string
	digest *approval.Digest // of exactly the bytes that were read; nil where nobody may approve
}

// openPlan reads a saved plan.
func (w *workspace) openPlan(name string) (*planner.Plan, error) { return w.readPlan(name, io.Discard) }

// openSigned reads a saved plan that may have signatures. Its bytes are hashed while they are
// read, so that those that were signed are those that are used, whatever becomes of the file.
func (w *workspace) openSigned(name string) (*savedPlan, error) {
	saved := &savedPlan{name: name, path: w.within(name)}
	into := io.Discard
	if len(w.approvalBlocks()) > 0 {
		saved.digest = approval.NewDigest()
		into = saved.digest
	}
	var err error
	saved.Plan, err = w.readPlan(name, into)
	return saved, err
}

// readPlan reads a saved plan, and writes its bytes to into as well.
func (w *workspace) readPlan(name string, into io.Writer) (*planner.Plan, error) {
	file, err := confined.OpenNamed(w.dir, name)
	if err != nil {
		return nil, fmt.Errorf("open the plan %s: %w", name, err)
	}
	defer func() { _ = file.Close() }() // only read
	plan, err := planner.Open(io.TeeReader(file, into))
	if err != nil {
		err = fmt.Errorf("%s cannot be used as a saved plan; nothing was sent: %w", name, err)
		if isPlan, _ := isReplaceable(w.within(name), planStart()); !isPlan {
			return nil, err // a new plan would not replace it
		}
		return nil, exit.WithHint(err, w.command("plan --out="+shell.Word(name)))
	}
	return plan, nil
}

// planStart is how every saved plan begins.
func planStart() string {
	format, _, _ := strings.Cut(planner.Format, "/")
	return `{"format":"` + format + "/"
}

// isForSandbox reports whether a plan was made with --sandbox.
func isForSandbox(plan *planner.Plan) bool {
	return plan.Header.Service.IsSandbox()
}

// unfit says why a saved plan can't be used now, and how to make a new one.
func (s *source) unfit(file, outcome string, err error) error {
	code := exit.Error
	var obstacle *planner.ObstacleError
	if errors.As(err, &obstacle) {
		code = exitOf(obstacle.Obstacles)
	}
	var other *planner.ControlsError
	if errors.As(err, &other) && other.Lacks() && len(s.policyDirs) == 0 {
		err = fmt.Errorf("%w, or, where it was made with --policy-dir or REMIT_POLICY_DIR, name that directory here too", err)
	}
	return exit.New(fmt.Errorf("%s %s: %w", file, outcome, err), s.command("plan --out="+shell.Word(file)), code)
}

// savePlan writes the plan to a file, which only its owner may read, and its bytes to also.
func (w *workspace) savePlan(ctx context.Context, plan *planner.Plan, name string, also io.Writer) error {
	defer w.streams.Quiet()
	var err error
	if plan.Header.Origin, err = w.origin(); err != nil {
		return fmt.Errorf("save the plan to %s: %w", name, err)
	}
	if err := wholefile.Replace(w.within(name), 0o600, func(file io.Writer) error {
		return plan.Save(exit.Interruptible(ctx, io.MultiWriter(file, also)))
	}); err != nil {
		return fmt.Errorf("save the plan to %s: %w", name, err)
	}
	return nil
}
