package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"remit/config"
	"remit/internal/approval"
	"remit/internal/cli/exit"
	"remit/internal/cli/host"
	"remit/internal/cli/workspace"
	"remit/internal/doubt"
	"remit/internal/text/shell"
	"remit/internal/transfer"
	"remit/internal/view"
	"remit/planner"
	"remit/state"
)

// approvalsOf are what the approval blocks whose rules apply ask of a plan, and who gave it. The
// whole plan is judged, whatever an earlier run of it did. A plan that is not saved has no
// signatures.
func approvalsOf(w *opened, plan *planner.Plan, saved *savedPlan) ([]view.Approval, error) {
	blocks := approvalBlocks(w.config)
	if len(blocks) == 0 {
		return nil, nil
	}
	of := approval.Case{Plan: approval.NewDigest(), AuthorKey: plan.Header.AuthorKey, Now: w.host.Now()}
	if saved != nil {
		files, err := saved.signatures()
		if err != nil {
			return nil, err
		}
		of.Plan, of.Files = saved.digest, files
	}
	var list []view.Approval
	for _, block := range blocks {
		need, applies := approval.Needed(block.Rules, plan.Sent())
		if !applies {
			continue
		}
		of.Need, of.Signers, of.Revoked, of.Origins = need, block.Signers, block.Revoked, block.Origins
		list = append(list, view.Approval{Verdict: approval.Decide(of), Saved: saved != nil, Rehearsed: !w.dir.WaitsForApprovals() || isForSandbox(plan) && !w.dir.Sandbox})
	}
	return list, nil
}

// findApprovals keeps what approvalsOf finds, and which assets the rules and the limits forgot.
func (o *planning) findApprovals(w *opened, plan *planner.Plan, saved *savedPlan) (err error) {
	o.approvals, err = approvalsOf(w, plan, saved)
	o.noTier = assetsWithoutTier(w.config, plan)
	o.noLimit = assetsWithoutLimit(w.config.Controls().Limits, plan.Sent())
	return err
}

// assetsWithoutLimit are the assets of a plan that no limit counts, in order, where there are limits: what
// their author forgot.
func assetsWithoutLimit(limits []config.Limit, totals transfer.Totals) []string {
	if len(limits) == 0 {
		return nil
	}
	counted := map[string]bool{}
	for i := range limits {
		if limits[i].Asset == "" {
			return nil // it counts the transfers of every asset
		}
		counted[transfer.AssetSpelled(limits[i].Asset)] = true
	}
	var forgotten []string
	for total := range totals.All() {
		if !counted[total.Asset] {
			forgotten = append(forgotten, total.Asset)
		}
	}
	return forgotten
}

// assetsWithoutTier are the assets of a plan that approval rules forgot.
func assetsWithoutTier(loaded *config.Configuration, plan *planner.Plan) []string {
	var assets []string
	for i, block := range approvalBlocks(loaded) {
		unnamed := approval.Unnamed(block.Rules, plan.Sent())
		if i == 0 {
			assets = unnamed
			continue
		}
		assets = slices.DeleteFunc(assets, func(asset string) bool { return !slices.Contains(unnamed, asset) })
	}
	return assets
}

// checkApprovals refuses a plan that lacks approvals, before anything is sent. In the sandbox no
// money moves, and only practice waits for them.
func (a *applying) checkApprovals(dir *workspace.Directory, loaded *config.Configuration, plan *planner.Plan) error {
	if !dir.WaitsForApprovals() || len(a.planning.approvals) == 0 || plan.Empty() {
		return nil
	}
	if a.file == "" {
		return a.mustBeSaved(loaded, a.planning.approvals)
	}
	var texts []string
	for i := range a.planning.approvals {
		if text := notApproved(&a.planning.approvals[i]); text != "" {
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	return exit.New(
		fmt.Errorf("%s is not approved; nothing was sent: %s", a.file, strings.Join(texts, "\n")),
		a.planning.dir.CommandWithPractice(approveCommand(loaded, a.planning.approvals)+shell.File(a.file)), exit.Control,
	)
}

// mustBeSaved is why a plan that nobody can have signed is not sent.
func (a *applying) mustBeSaved(loaded *config.Configuration, approvals []view.Approval) error {
	how := "apply without a saved plan sends what nobody else has seen"
	switch {
	case a.digest != "":
		how = "--plan-digest says what was reviewed, and not by whom"
	case a.autoApprove:
		how = "--auto-approve is nobody's approval"
	}
	do, next := "Save it, and have it approved", planToApprove(loaded)+a.planning.typed()+a.planning.dir.PracticeWord()
	if a.planning.finishes() {
		do, next = "It goes on with doubts that a run of a saved plan left: apply that plan first", a.planning.finishing
	}
	need := &approvals[0].Need
	return exit.New(
		fmt.Errorf("this plan needs %s; nothing was sent: %s (rule at %s). %s. %s",
			need.Wants(), need.Because, need.Rule.Place, strings.ToUpper(how[:1])+how[1:], do),
		a.planning.dir.Here(next), exit.Control,
	)
}

// notApproved says what a plan lacks, and every signature that does not count, each with its
// reason; "" where nothing is missing.
func notApproved(a *view.Approval) string {
	missing := a.Missing()
	if missing == "" {
		return ""
	}
	lines := []string{missing + "."}
	for _, d := range a.Discounted {
		lines = append(lines, fmt.Sprintf("%s does not count: %s.", view.Visible(d.File), d.Detail))
	}
	could := "Nobody else could approve it: there is no other key that counts now."
	if len(a.Could) > 0 {
		could = "Could still approve: " + strings.Join(a.Could, ", ") + "."
	}
	return strings.Join(append(lines, could), "\n")
}

// journalled are the signatures that counted, each once, the author's first.
func journalled(approvals []view.Approval) []state.Approval {
	var authors, approvers []state.Approval
	seen := map[string]bool{}
	add := func(to *[]state.Approval, role state.ApprovalRole, c *approval.Counted) {
		if c == nil || seen[c.File.Name] {
			return
		}
		seen[c.File.Name] = true
		*to = append(*to, state.Approval{
			Role: role, Principal: c.Principal, Fingerprint: c.Key.Fingerprint(), Key: c.Key.Text(),
			File: c.File.Name, SHA256: c.SHA256(), Signature: string(c.File.Content),
		})
	}
	for i := range approvals {
		v := &approvals[i]
		add(&authors, state.RoleAuthor, v.Author)
		for n := range v.Approvers {
			add(&approvers, state.RoleApprover, &v.Approvers[n])
		}
	}
	return append(authors, approvers...)
}

// approveCommand is the command with which people approve a plan, behind "remit": in the browser where none of those who could
// has an SSH key.
func approveCommand(loaded *config.Configuration, approvals []view.Approval) string {
	var could []string
	for i := range approvals {
		could = append(could, approvals[i].Could...)
	}
	for _, block := range approvalBlocks(loaded) {
		if block.Origins == nil || block.Signers.HasSSHOf(could) {
			return "approve "
		}
	}
	return "review "
}

// approvalBlocks are the approval blocks that could be read. A command that sends or signs
// loads them with its configuration, where one that can't be read is a mistake.
func approvalBlocks(loaded *config.Configuration) []config.Approval {
	blocks, whole := loaded.Approvals()
	if !whole {
		return nil
	}
	return blocks
}

// principal is whose key it is, in the first approval block that knows it; "" for nobody's.
func principal(h *host.Host, loaded *config.Configuration, key approval.Key) string {
	for _, block := range approvalBlocks(loaded) {
		if name := block.Signers.Use(key, block.Revoked, h.Now()).Principal; name != "" {
			return name
		}
	}
	return ""
}

// An approval rule refuses an apply that plans by itself, so remit apply ends no doubt there. The saved plan that left
// the doubts does: it was approved, and its lines have the recorded requests.

// planToApprove is the command that saves a plan for its approvers. Without its author's signature it would need one more of them.
func planToApprove(loaded *config.Configuration) string {
	return savingSigned(loaded, "FILE")
}

func savingSigned(loaded *config.Configuration, file string) string {
	words := "remit plan --out=" + file
	if slices.ContainsFunc(approvalBlocks(loaded), func(b config.Approval) bool { return b.Signers.HasSSH() }) {
		words += " --sign"
	}
	return words
}

// findNeeds is findApprovals for a plan that is not saved. It also keeps the command that goes on with the plan, or only with
// the line of a ref_id, where a rule wants approvers: see [finishing].
func (o *planning) findNeeds(ctx context.Context, w *opened, snapshot state.Snapshot, plan *planner.Plan, only string) error {
	err := o.findApprovals(w, plan, nil)
	if err != nil || len(o.approvals) == 0 || !w.dir.WaitsForApprovals() {
		return err
	}
	var runIDs []string
	for _, c := range plan.Changes.All() {
		if only != "" && c.RefID != only {
			continue
		}
		if c.Next == doubt.Apply && c.Recorded != nil && !slices.Contains(runIDs, c.Recorded.RunID) {
			runIDs = append(runIDs, c.Recorded.RunID)
		}
	}
	o.finishing, err = finishing(ctx, w, snapshot, runIDs)
	return err
}

// finishing is the command that goes on with the doubts of some runs where approvers are needed: that with the first saved plan of
// these runs that is at hand and has not expired, and otherwise the one that saves a plan for approvers.
func finishing(ctx context.Context, w *opened, snapshot state.Snapshot, runIDs []string) (string, error) {
	begun := make(map[string]state.Begun, len(runIDs))
	if len(runIDs) > 0 {
		for run, err := range snapshot.Runs(ctx) {
			if err != nil {
				return "", w.state.Error(err)
			}
			if slices.Contains(runIDs, run.Begun.RunID) {
				begun[run.Begun.RunID] = run.Begun
			}
		}
	}
	name := "FILE"
	for _, runID := range runIDs {
		run := begun[runID]
		header, isKnown := headerOf(w.dir, run.PlanFile)
		switch {
		case run.PlanFile == "":
		case isKnown && header.PlanID == run.PlanID && (header.Expires.IsZero() || w.host.Now().Before(header.Expires)):
			return doubt.Apply + " " + shell.File(run.PlanFile) + w.dir.PracticeWord(), nil
		case name == "FILE" && (isKnown || !strings.ContainsAny(run.PlanFile, `/\`)):
			name = shell.Word(newName(ctx, w, run.PlanFile))
		}
	}
	return savingSigned(w.config, name) + w.dir.PracticeWord(), nil
}

// finishes reports whether a saved plan that is at hand ends doubts.
func (o *planning) finishes() bool { return strings.HasPrefix(o.finishing, doubt.Apply+" ") }

// settling is the command that goes on with one doubt, of which that says next: where a saved plan left it and approvers may be
// needed, see [finishing].
func settling(ctx context.Context, w *opened, snapshot state.Snapshot, d *state.Detail, next string) (string, error) {
	if next != doubt.Apply || len(approvalBlocks(w.config)) == 0 || !w.dir.WaitsForApprovals() {
		return next, nil
	}
	for run, err := range snapshot.Runs(ctx) {
		if err != nil {
			return "", w.state.Error(err)
		}
		if run.Begun.RunID == d.RunID && run.Begun.PlanFile != "" {
			return finishing(ctx, w, snapshot, []string{d.RunID})
		}
	}
	return next, nil
}

// screen is the reader's, on which an apply is the one that ends doubts: see [finishing].
func (o *planning) screen(w *opened, targets []string) view.Screen {
	screen := partScreen(w.streams.Screen(w.streams.Out), w.dir, targets)
	here := screen.Here
	if here == nil || o.finishing == "" {
		return screen
	}
	screen.Here = func(command string) string {
		if command == doubt.Apply {
			command = o.finishing
		}
		return here(command)
	}
	return screen
}
