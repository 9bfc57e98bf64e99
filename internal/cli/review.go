package cli

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"remit/config"
	"remit/internal/approval"
	"remit/internal/approval/ask"
	"remit/internal/cli/exit"
	"remit/internal/cli/host"
	"remit/internal/cli/workspace"
	"remit/internal/text/shell"
	"remit/internal/view"
)

// reviewing is one remit review.
type reviewing struct {
	approving approving
	port      int // 0 for that of the passkeys block
	asking    asking
}

func newReview(p *process) *cobra.Command {
	r := reviewing{approving: approving{command: "review", planning: planning{dir: workspace.Directory{Need: config.NeedControls}}}}
	planning := &r.approving.planning
	cmd := &cobra.Command{
		Use:   "review PLAN",
		Short: "Read a saved plan in the browser, and approve it with a passkey",
		Long: "Read a saved plan in the browser, and approve it with a passkey. It serves one page on\n" +
			"this machine, prints its address, and ends with the approval: a file beside the plan.\n" +
			"The page has no credentials of the service, and no way to send anything.\n\n" +
			"The passkeys block of an approval block says whose passkeys count.",
		Args: exactArgs("PLAN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if r.approving.file = args[0]; r.approving.file == "" {
				return errors.New("the name of the plan is empty. Is a variable of the shell not set?")
			}
			if err := checkPort(cmd, r.port); err != nil {
				return err
			}
			return r.run(cmd, p)
		},
	}
	directoryFlags(&planning.dir, cmd)
	practiceFlag(&planning.dir, cmd)
	planning.againstFlag(cmd)
	r.approving.stateFlag(cmd)
	cmd.Flags().IntVar(&r.port, "port", 0, "serve the page at this port of localhost (that of the passkeys block)")
	r.asking.flags(cmd)
	return cmd
}

func (r *reviewing) run(cmd *cobra.Command, p *process) error {
	ctx := cmd.Context()
	a := &r.approving
	w, err := open(p, &a.planning.dir)
	if err != nil {
		return err
	}
	if err := r.findPort(w.dir, w.config); err != nil {
		return err
	}
	plan, err := a.read(ctx, w, func(*savedPlan) error { return nil })
	if err != nil {
		return err
	}
	before, err := a.planning.readEarlier(cmd, p, w.dir, w.config)
	if err != nil {
		return err
	}
	if err := a.planning.compare(ctx, w.state, before, plan.Plan, "show --show=all "+shell.File(a.file)); err != nil {
		return err
	}
	options := planOptions(w, &a.planning, plan.Header.Targets)
	options.Saved, options.ShowAll = true, true
	asked := view.Passkeys{RPID: localhost, Challenge: base64.RawURLEncoding.EncodeToString(plan.digest.Challenge()), IDs: a.usable(w.host, w.config, plan)}
	var said string
	page := &ask.Page{
		Port:  r.port,
		Write: func(to io.Writer) error { return view.ReviewHTML(to, plan.Plan, options, asked) },
		Answer: func(_ context.Context, answer []byte) (ask.Taken, error) {
			var err error
			said, err = a.approveByPasskey(w, plan, answer)
			return ask.Taken{Said: said, Now: view.ApprovalsNow(a.planning.approvals)}, err
		},
	}
	r.asking.dir = a.planning.dir.Path
	if err := r.asking.serve(ctx, p, page, "Read and approve the plan at", "nothing was approved"); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(w.streams.Out, view.Visible(said)); err != nil {
		return err
	}
	return a.sayNext(w.streams, w.dir)
}

// localhost is the RP ID of pages of this machine.
const localhost = "localhost"

// findPort finds the port, and checks that some approval block takes passkeys that a page there asks for.
func (r *reviewing) findPort(dir *workspace.Directory, loaded *config.Configuration) error {
	hasPasskeys := false
	for _, block := range approvalBlocks(loaded) {
		if block.Origins == nil {
			continue
		}
		hasPasskeys = true
		if r.port == 0 {
			r.port = block.Port
		}
		if slices.Contains(block.Origins[localhost], ask.Origin(r.port)) {
			return nil
		}
	}
	if !hasPasskeys {
		return exit.WithHint(errors.New("no approval block has a passkeys block, which says whose passkeys count; nothing is served. SSH keys approve with remit approve"),
			dir.CommandWithPractice("approve "+shell.File(r.approving.file)))
	}
	return fmt.Errorf("the passkeys block does not allow a page at %s: add it to origins, for the RP ID %s, or give another --port; nothing is served", ask.Origin(r.port), localhost)
}

// usable are the credentials of people who could approve the plan now.
func (a *approving) usable(h *host.Host, loaded *config.Configuration, plan *savedPlan) []string {
	var ids []string
	seen := map[string]bool{}
	for _, block := range approvalBlocks(loaded) {
		for _, p := range block.Signers.Passkeys() {
			id := base64.RawURLEncoding.EncodeToString(p.ID)
			if p.RPID == localhost && !seen[id] && a.useless(h, loaded, plan, approval.PasskeyKey(p)) == nil {
				seen[id] = true
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// passkeyAnswer is the answer of the page.
type passkeyAnswer struct {
	Count             string   `json:"count"`
	Totals            []string `json:"totals"` // of each asset, as ASSET:AMOUNT
	CredentialID      string   `json:"credential_id"`
	ClientData        []byte   `json:"client_data_json"`
	AuthenticatorData []byte   `json:"authenticator_data"`
	Signature         []byte   `json:"signature"`
}

// approveByPasskey checks what the page answers as apply will, and writes the approval beside the plan.
func (a *approving) approveByPasskey(w *opened, plan *savedPlan, text []byte) (string, error) {
	var answer passkeyAnswer
	if err := json.Unmarshal(text, &answer); err != nil {
		return "", errors.New("the page's answer cannot be read; nothing was approved")
	}
	if len(answer.Totals) == 0 || slices.ContainsFunc(answer.Totals, func(total string) bool { return !isTotal(total) }) {
		return "", errors.New("the page's answer has no total; nothing was approved")
	}
	if err := a.checkTyped(plan, answer.Count, answer.Totals...); err != nil {
		return "", err
	}
	id, err := base64.RawURLEncoding.DecodeString(answer.CredentialID)
	if err != nil {
		return "", errors.New("the page's answer cannot be read; nothing was approved")
	}
	assertion, err := approval.NewAssertion(localhost, id, answer.ClientData, answer.AuthenticatorData, answer.Signature)
	if err != nil {
		return "", fmt.Errorf("%w; nothing was approved", err)
	}
	key, err := a.countsNow(w.host, w.config, plan, assertion)
	if err != nil {
		return "", fmt.Errorf("this approval would not count: %w; nothing was approved", err)
	}
	who := principal(w.host, w.config, key)
	name, err := writeSignature(plan.path, who, key, assertion.Text())
	if err != nil {
		return "", err
	}
	if err := a.planning.findApprovals(w, plan.Plan, plan); err != nil {
		return "", err
	}
	return fmt.Sprintf("Approved by %s with the passkey %s, in %s.", who, key.Fingerprint(), name), nil
}

// countsNow says whose passkey made an assertion that counts in some approval block, beside the approvals that are there already.
func (a *approving) countsNow(h *host.Host, loaded *config.Configuration, plan *savedPlan, assertion *approval.Assertion) (approval.Key, error) {
	const name = "this approval" + approval.PasskeySuffix
	first := errors.New("no approval block applies to this plan")
	for i, block := range approvalBlocks(loaded) {
		passkey := block.Signers.PasskeyOf(assertion.RPID, assertion.CredentialID)
		if passkey != nil {
			if err := a.uselessIn(block, plan, approval.PasskeyKey(passkey), h.Now()); err != nil {
				first = err
				continue
			}
		}
		need, applies := approval.Needed(block.Rules, plan.Sent())
		if !applies {
			need = approval.Need{}
		}
		verdict := approval.Decide(approval.Case{
			Need: need, Signers: block.Signers, Revoked: block.Revoked, Origins: block.Origins, Plan: plan.digest,
			AuthorKey: plan.Header.AuthorKey, Files: []approval.File{{Name: name, Content: assertion.Text()}}, Now: h.Now(),
		})
		for _, c := range verdict.Approvers {
			return c.Key, nil
		}
		for _, d := range verdict.Discounted {
			if i == 0 || passkey != nil {
				first = errors.New(d.Detail)
			}
		}
	}
	return approval.Key{}, first
}
