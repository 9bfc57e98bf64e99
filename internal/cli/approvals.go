package cli

import (
	"fmt"
	"slices"
	"strings"

	"remit/config"
	"remit/internal/approval"
	"remit/internal/cli/exit"
	"remit/internal/cli/host"
	"remit/internal/cli/workspace"
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
		return a.mustBeSaved(a.planning.approvals)
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
func (a *applying) mustBeSaved(approvals []view.Approval) error {
	how := "apply without a saved plan sends what nobody else has seen"
	switch {
	case a.digest != "":
		how = "--plan-digest says what was reviewed, and not by whom"
	case a.autoApprove:
		how = "--auto-approve is nobody's approval"
	}
	need := &approvals[0].Need
	return exit.New(
		fmt.Errorf("this plan needs %s; nothing was sent: %s (rule at %s). %s. Save it, and have it approved",
			need.Wants(), need.Because, need.Rule.Place, strings.ToUpper(how[:1])+how[1:]),
		a.planning.dir.CommandWithPractice("plan --out=FILE"+a.planning.typed()), exit.Control,
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
