package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/crypto/ssh"

	"remit/config"
	"remit/internal/approval"
	"remit/internal/approval/sshkey"
	"remit/internal/cli/exit"
	"remit/internal/cli/host"
	"remit/internal/cli/terminal"
	"remit/internal/cli/workspace"
	"remit/internal/text/english"
	"remit/internal/text/lazyregexp"
	"remit/internal/text/shell"
	"remit/internal/transfer"
	"remit/internal/view"
)

// approving is one remit approve.
type approving struct {
	command  string // approve, or review
	planning planning
	file     string
	key      string
	count    int      // with total
	totals   []string // each ASSET:AMOUNT; none where a person is asked

	withoutState bool // one that cannot be read stops nothing

	register registering
}

func newApprove(p *process) *cobra.Command {
	a := approving{command: "approve", planning: planning{dir: workspace.Directory{Need: config.NeedControls}}}
	cmd := &cobra.Command{
		Use:   "approve PLAN",
		Short: "Sign a saved plan, so that it may be applied",
		Long: "Sign a saved plan, so that it may be applied. It shows the plan, asks for the number of\n" +
			"transfers and the total of each asset, and writes an SSH signature beside the file, which\n" +
			"ssh-keygen -Y verify -n remit-plan can check. It sends nothing.\n\n" +
			"The key is a file, one that ssh-agent holds, or a security key.\n" +
			"allowed_signers of an approval block maps keys to people. remit review approves in\n" +
			"a browser, with a passkey that --register made.",
		Args: oneArgAtMost("PLAN"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.register.wanted {
				if err := a.register.check(len(args) > 0); err != nil {
					return err
				}
				if err := checkPort(cmd, a.register.port); err != nil {
					return err
				}
				return a.register.run(cmd.Context(), p)
			}
			if err := exactArgs("PLAN")(cmd, args); err != nil {
				return err
			}
			if a.file = args[0]; a.file == "" {
				return errors.New("the name of the plan is empty. Is a variable of the shell not set?")
			}
			if cmd.Flags().Changed("key") && a.key == "" {
				return errors.New("--key is empty: it takes the name of a file. Is a variable of the shell not set?")
			}
			return a.run(cmd.Context(), p)
		},
	}
	directoryFlags(&a.planning.dir, cmd)
	practiceFlag(&a.planning.dir, cmd)
	a.stateFlag(cmd)
	flags := cmd.Flags()
	wordFlag(flags, &a.planning.show, "show", "with `all`, list every transfer however many there are", "all")
	flags.StringVar(&a.key, "key", "", "sign with the key of this `file`; of a .pub file, with that key of ssh-agent (the one of ssh-agent)")
	flags.IntVar(&a.count, "count", 0, "don't ask: the plan moves so many transfers")
	flags.StringArrayVar(&a.totals, "total", nil, "don't ask: the total of an asset, as `ASSET:AMOUNT`; repeated for each asset of the plan, and each must be right")
	flags.BoolVar(&a.register.wanted, "register", false, "make a passkey in the browser, and print its line of allowed_passkeys")
	flags.StringVar(&a.register.person, "person", "", "with --register: the `name` by which allowed_passkeys calls you")
	flags.IntVar(&a.register.port, "port", portDefault, "with --register: serve the page at this port of localhost")
	a.register.asking.flags(cmd)
	together(cmd, "count", "total")
	saidOnce(cmd, "count")
	inputFlag(cmd, p.streams)
	return cmd
}

// stateFlag adds the flag by which an approver says that they sign without a look at the state.
func (a *approving) stateFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.withoutState, "without-state", false, "sign although the state cannot be read here")
}

func (a *approving) run(ctx context.Context, p *process) error {
	if len(a.totals) == 0 && !p.streams.Interactive() {
		if _, err := os.Stat(a.planning.dir.Within(a.file)); a.file != "" && errors.Is(err, fs.ErrNotExist) {
			return exit.WithHint(fmt.Errorf("open the plan %s: there is no such file; nothing was signed", a.file), a.planning.dir.CommandWithPractice("plan --out="+shell.Word(a.file)))
		}
		return errors.New("cannot ask here (no terminal, CI is set, or --input=false), so approve needs --count and --total; nothing was signed")
	}
	if err := checkTotalFlags(a.totals); err != nil {
		return err
	}
	if err := planElsewhere(&a.planning.dir, a.file, "approve"); err != nil {
		return err
	}
	w, err := open(p, &a.planning.dir)
	if err != nil {
		return a.placeFirst(ctx, w, err)
	}
	if len(approvalBlocks(w.config)) == 0 {
		return errors.New("there is no approval block that says who may approve; nothing was signed")
	}
	plan, err := a.open(ctx, w)
	if err != nil {
		return err
	}
	key, err := a.findKey(ctx, w, plan)
	if err != nil {
		return err
	}
	if err := a.confirm(ctx, w.streams, w.service, plan); err != nil {
		return err
	}
	return a.sign(ctx, w, plan, key)
}

// open reads, shows and checks the plan.
func (a *approving) open(ctx context.Context, w *opened) (*savedPlan, error) {
	return a.read(ctx, w, func(plan *savedPlan) error {
		a.planning.all = showAllOf(a.file)
		options := planOptions(w, &a.planning, plan.Header.Targets)
		options.Saved = true
		return view.Plan(w.streams.Out, plan.Plan, options)
	})
}

// read reads and checks the plan, and shows it as far as it could be computed again.
func (a *approving) read(ctx context.Context, w *opened, show func(*savedPlan) error) (*savedPlan, error) {
	plan, err := openSigned(ctx, w, a.file)
	if err != nil {
		return nil, err
	}
	if err := a.otherPlace(plan); err != nil {
		return nil, err
	}
	use := planUse{a.file, a.command, "cannot be approved; nothing was signed", &plan.Header, !a.withoutState}
	found, err := recompute(ctx, w, plan.Plan, use) // before anybody reads it
	if err != nil {
		return nil, err
	}
	defer found.close()
	plan.Plan = found.plan
	if err := a.planning.findApprovals(w, plan.Plan, plan); err != nil {
		return nil, err
	}
	if err := show(plan); err != nil {
		return nil, err
	}
	if _, err := found.remaining(ctx, w.host, w.config); err != nil {
		return nil, unfit(ctx, w, use, err)
	}
	if plan.Empty() {
		return nil, fmt.Errorf("%s sends nothing, so there is nothing to approve", a.file)
	}
	return plan, nil
}

// placeFirst says of a plan that it is one of another state before it says, with err, why no state can be used.
func (a *approving) placeFirst(ctx context.Context, w *opened, err error) error {
	if w == nil {
		return err
	}
	plan, unread := openPlan(ctx, w, a.file)
	if unread != nil || !isForSandbox(plan) {
		return err
	}
	return cmp.Or(a.otherPlace(&savedPlan{Plan: plan}), err)
}

// otherPlace refuses a plan of the sandbox where money moves, and the other way round.
func (a *approving) otherPlace(plan *savedPlan) error {
	if isForSandbox(plan.Plan) == a.planning.dir.Sandbox {
		return nil
	}
	here := inSandbox(a.planning.dir, a.file)
	if a.planning.dir.Sandbox {
		here.Sandbox, here.Practice = false, false
	}
	return exit.WithHint(fmt.Errorf("%s was made for another state than this one; nothing was signed. Approve it there", a.file),
		here.CommandWithPractice(a.command+" "+shell.File(a.file)))
}

// findKey finds the key to sign with, of somebody whose approval would count.
func (a *approving) findKey(ctx context.Context, w *opened, plan *savedPlan) (*sshkey.Key, error) {
	useless := func(key ssh.PublicKey) error { return a.useless(w.host, w.config, plan, approval.SSHKey(key)) }
	key, err := newKeyring(w, "--key").Open(ctx, a.key, func(key ssh.PublicKey) bool { return useless(key) == nil })
	if err != nil {
		return nil, fmt.Errorf("%w; nothing was signed", err)
	}
	if err := useless(key.Public); err != nil {
		return nil, fmt.Errorf("an approval with the key %s would not count; nothing was signed: %w", key.Fingerprint(), err)
	}
	return key, nil
}

// useless says why a signature by a key would count in no approval block; nil where it counts
// in one.
func (a *approving) useless(h *host.Host, loaded *config.Configuration, plan *savedPlan, key approval.Key) error {
	var first error
	for _, block := range approvalBlocks(loaded) {
		err := a.uselessIn(block, plan, key, h.Now())
		if err == nil {
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return first
}

func (a *approving) uselessIn(block config.Approval, plan *savedPlan, key approval.Key, now time.Time) error {
	if use := block.Signers.Use(key, block.Revoked, now); use.Why != "" {
		if use.Why == approval.UnknownKey {
			return fmt.Errorf("%s. To let its owner approve, add a line to that file: a name, and behind it the text of the .pub file of the key", use.Detail)
		}
		return errors.New(use.Detail)
	}
	person, _ := block.Signers.Owner(key)
	name := block.Signers.Name(person)
	if author, isNamed := block.Signers.OwnerOf(plan.Header.AuthorKey); isNamed && author == person {
		return fmt.Errorf("%s is the plan's author, and another person must approve it", name)
	}
	for i := range a.planning.approvals {
		for _, c := range a.planning.approvals[i].Approvers {
			if owner, ok := block.Signers.Owner(c.Key); ok && owner == person {
				return fmt.Errorf("%s approved it already, in %s", name, c.File.Name)
			}
		}
	}
	return nil
}

// confirm gets the number of transfers and the total of each asset from the approver, as proof of reading them.
func (a *approving) confirm(ctx context.Context, streams *terminal.Streams, service *workspace.Service, plan *savedPlan) error {
	count, typed := strconv.Itoa(a.count), a.totals
	if len(typed) == 0 {
		var err error
		if count, err = streams.AskText(ctx, fmt.Sprintf("\nTo approve it for %s, type what it moves.\n  Number of transfers: ", view.Visible(service.Destination()))); err != nil {
			return err
		}
		for _, asset := range view.AssetsToType(plan.Plan, a.planning.approvals) {
			total, err := streams.AskText(ctx, fmt.Sprintf("  Total of %s: ", view.Visible(asset)))
			if err != nil {
				return err
			}
			typed = append(typed, asset+":"+total)
		}
	}
	return a.checkTyped(plan, count, typed...)
}

// checkTyped holds the number of transfers and the total of each asset, as ASSET:AMOUNT, against the plan's. No error says
// a number of the plan: it is to be read there.
func (a *approving) checkTyped(plan *savedPlan, count string, typed ...string) error {
	totals := plan.Sent()
	if transfer.Ungrouped(count) != strconv.Itoa(totals.Count()) {
		return fmt.Errorf("the plan does not move %s transfers; nothing was signed. Read the plan, and type its number of transfers", strconv.Quote(count))
	}
	var given []string
	for _, total := range typed {
		asset, err := checkTotal(totals, total)
		if err != nil {
			return err
		}
		given = append(given, transfer.AssetSpelled(asset))
	}
	for _, asset := range view.AssetsToType(plan.Plan, a.planning.approvals) {
		if !slices.Contains(given, asset) {
			return fmt.Errorf("the total of %s is missing; nothing was signed. The plan moves %s: type the total of each", asset, assetsOf(totals))
		}
	}
	return nil
}

// checkTotal holds one total, as ASSET:AMOUNT, against the plan's.
func checkTotal(totals transfer.Totals, total string) (asset string, err error) {
	cut := strings.LastIndexByte(total, ':')
	asset, typed := total[:cut], strings.TrimSpace(total[cut+1:])
	if plain, sign := transfer.PlainOfOtherSigns(typed); sign != "" {
		return "", fmt.Errorf("%s is not read, as in %s; write %s or %s; nothing was signed", sign, strconv.Quote(typed), plain, transfer.Grouped(plain))
	}
	amount, err := transfer.ParseAmount(transfer.Ungrouped(typed))
	if _, wrong := transfer.ParseAmount(transfer.Ungrouped(asset)); wrong == nil {
		return "", fmt.Errorf("--total=%s has its amount in front; write the asset first, as in --total=USD:1200.50; nothing was signed", shell.Word(total))
	}
	sum := totals.Sum(asset)
	switch {
	case sum.IsZero() && err == nil:
		return "", fmt.Errorf("the plan moves no %s, but %s; nothing was signed", asset, assetsOf(totals))
	case err != nil || !amount.Decimal().Equal(sum):
		return "", fmt.Errorf("the plan does not move %s of %s in all; nothing was signed. Read the plan, and type its total of %[2]s", strconv.Quote(typed), asset)
	}
	return asset, nil
}

// assetsOf lists the assets of a plan.
func assetsOf(totals transfer.Totals) string {
	var assets []string
	for t := range totals.All() {
		assets = append(assets, t.Asset)
	}
	return english.List(assets)
}

// isTotal reports whether a text has the form ASSET:AMOUNT.
func isTotal(text string) bool { return strings.IndexByte(text, ':') > 0 }

// checkTotalFlags refuses a --total of another form before the plan is read and shown.
func checkTotalFlags(totals []string) error {
	for _, total := range totals {
		meant := meantTotals(total)
		switch {
		case len(meant) > 1:
			return fmt.Errorf("--total=%s has several assets, and --total takes one. Write %s; nothing was signed", shell.Word(total), strings.Join(meant, " "))
		case !isTotal(total) && meant != nil:
			return fmt.Errorf("--total=%s is not ASSET:AMOUNT. Write %s; nothing was signed", shell.Word(total), meant[0])
		case !isTotal(total):
			return fmt.Errorf("--total=%s is not ASSET:AMOUNT, such as --total=USD:1200.50; nothing was signed", shell.Word(total))
		}
	}
	return nil
}

var (
	assetBefore = lazyregexp.New(`^([A-Za-z]{2,})\s*[:= ]?\s*(\d[\d.,']*)$`)
	assetBehind = lazyregexp.New(`^(\d[\d.,']*)\s*[:= ]?\s*([A-Za-z]{2,})$`)
	nextTotal   = lazyregexp.New(`\s*[,;+&]\s*([A-Za-z])|\s+([A-Za-z]{2,}\s*[:=]?\s*\d)`)
)

// meantTotals are the flags that somebody meant with one text: several assets, an amount in front, or another sign between the two. It is nil
// for a text that is none of these.
func meantTotals(text string) []string {
	var flags []string
	for _, part := range strings.Split(nextTotal.ReplaceAllString(text, "\n$1$2"), "\n") {
		part = strings.TrimSpace(part)
		asset, amount := "", ""
		if m := assetBefore.FindStringSubmatch(part); m != nil {
			asset, amount = m[1], m[2]
		} else if m := assetBehind.FindStringSubmatch(part); m != nil {
			asset, amount = m[2], m[1]
		} else {
			return nil
		}
		flags = append(flags, "--total="+asset+":"+amount)
	}
	return flags
}

// sign writes the signature beside the plan and names the approvals that are still missing.
func (a *approving) sign(ctx context.Context, w *opened, plan *savedPlan, key *sshkey.Key) error {
	text, err := key.Sign(ctx, plan.path, plan.digest)
	if err != nil {
		return fmt.Errorf("%w; nothing was signed", err)
	}
	who := principal(w.host, w.config, approval.SSHKey(key.Public))
	name, err := writeSignature(plan.path, who, approval.SSHKey(key.Public), text)
	if err != nil {
		return err
	}
	if err := a.planning.findApprovals(w, plan.Plan, plan); err != nil {
		return err
	}
	approved := fmt.Sprintf("Approved by %s with %s, in %s.", view.Visible(who), key.Fingerprint(), view.Visible(name))
	if _, err := fmt.Fprintf(w.streams.Out, "\n%s\n", w.streams.Sentences(approved)); err != nil {
		return err
	}
	return a.sayNext(w.streams, w.dir)
}

func (a *approving) sayNext(streams *terminal.Streams, dir *workspace.Directory) error {
	for i := range a.planning.approvals {
		if text := notApproved(&a.planning.approvals[i]); text != "" {
			lines := strings.Split("Not enough yet: "+text, "\n")
			for i := range lines {
				lines[i] = view.Visible(lines[i])
			}
			_, err := fmt.Fprintln(streams.Out, streams.Sentences(strings.Join(lines, "\n")))
			return err
		}
	}
	_, err := fmt.Fprintf(streams.Out, "To send exactly this:\n\n    %s\n", view.Command(dir.CommandWithPractice("apply "+shell.File(a.file))))
	return err
}
