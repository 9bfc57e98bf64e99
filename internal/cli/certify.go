package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"remit/config"
	"remit/executor"
	"remit/executor/ratelimit"
	"remit/internal/approval"
	"remit/internal/cli/exit"
	"remit/internal/cli/host"
	"remit/internal/cli/terminal"
	"remit/internal/cli/workspace"
	"remit/internal/files/confined"
	"remit/internal/sandbox"
	"remit/internal/service"
	"remit/internal/service/certify"
	"remit/internal/service/contract"
	"remit/internal/text/shell"
	"remit/internal/transfer"
	"remit/internal/view"
	"remit/planner"
	"remit/state"
)

// certifyName is where certify keeps its states, below the configuration's directory.
const certifyName = ".remit/certify"

// certifying is one remit certify.
type certifying struct {
	dir                  workspace.Directory
	from, to, platformTo string
	amounts              []string
	tooMuch, asset       string
	resume               bool
	wait                 time.Duration
	autoApprove          bool
	faults               []string // of the sandbox
}

func newCertify(p *process) *cobra.Command {
	c := certifying{dir: workspace.Directory{Need: config.NeedControls}}
	cmd := &cobra.Command{
		Use:   "certify",
		Short: "Try a service, in a test environment, against what remit needs of it",
		Long: "Try a service against docs/contract.md, row by row, and say of each row whether it holds, differs\n" +
			"or is unknown. It makes transfers of the amounts that you name, some ten of them, so it is for\n" +
			"a test environment, and for a directory whose state has no transfer. It keeps a state of its\n" +
			"own in " + certifyName + "; after an interrupt the next certify settles what was in doubt first.\n\n" +
			"How long the service protects a ref_id from a second transfer takes that long to find out: type\n" +
			"the same with --resume once replay_window is over.\n\n" +
			"Exit codes: 0 no row differs; 1 an error, nothing was sent; 3 a row differs; 4 interrupted while some\n" +
			"of its transfers are in doubt, which the next certify settles, or its state failed; 5 a limit or a\n" +
			"policy said no, nothing was sent; 129, 130, 143 interrupted, nothing in doubt.",
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd.Context(), p) },
	}
	directoryFlags(&c.dir, cmd)
	flags := cmd.Flags()
	flags.StringVar(&c.from, "from", "", "the `profile` that pays: the name of a profile block, or a profile ID")
	flags.StringVar(&c.to, "to", "", "the `profile` that internal transfers pay; without it they are not tried")
	flags.StringVar(&c.platformTo, "platform-to", "", "the `profile` that platform transfers pay; without it they are not tried")
	flags.StringArrayVar(&c.amounts, "amount", nil, "the `amount` of each transfer; with a second one, both are tried")
	flags.StringVar(&c.asset, "asset", "", "the asset of each transfer")
	flags.StringVar(&c.tooMuch, "too-much", "", "an `amount` that the profile does not have, which the service has to refuse")
	flags.BoolVar(&c.resume, "resume", false, "make no new transfer: only send again what an earlier certify kept for that")
	flags.DurationVar(&c.wait, "wait", time.Minute, "how long the service may take to list a transfer, and to complete it")
	flags.BoolVar(&c.autoApprove, "auto-approve", false, "don't ask")
	inputFlag(cmd, p.streams)
	flags.BoolVar(&p.streams.AsJSON, "json", false, "write JSON Lines")
	flags.StringArrayVar(&c.faults, "fault", nil, "with --sandbox: misbehave, as `KIND=VALUE`, such as lost-answer=2%; may be repeated")
	return cmd
}

func (c *certifying) run(ctx context.Context, p *process) error {
	if p.streams.AsJSON {
		p.streams.JSON() // errors are told there too
	}
	if err := c.check(p); err != nil {
		return err
	}
	w, err := open(p, &c.dir)
	if err != nil {
		return err
	}
	options, err := c.options(w.config)
	if err != nil {
		return err
	}
	if c.dir.Sandbox {
		w.state.SandboxDir = filepath.Join(c.dir.Path, filepath.FromSlash(certifyName), w.dir.Block(), "sandbox")
		return c.withStates(ctx, w, w.state.SandboxDir, options)
	}
	protected, err := w.dir.ProtectedBy(w.state.Binding.Service)
	if err != nil {
		return err
	}
	if protected != "" {
		return fmt.Errorf("environment %q is protected, and so are its client and its service: certify makes transfers to see what becomes of them, so it is for a test environment; nothing was sent", protected)
	}
	if isProduction(w.config.Environment) {
		return fmt.Errorf("environment %q: certify makes transfers to see what becomes of them, so it is for a test environment; nothing was sent", w.config.Environment)
	}
	// The lock keeps an apply from making the state's first transfer meanwhile.
	err = w.state.Locked(ctx, w.host.Holder("remit certify"), 0, func(_ state.Journal, snapshot state.Snapshot) error {
		if err := refuseUsed(ctx, w.config, w.state, snapshot); err != nil {
			return err
		}
		return c.withStates(ctx, w, filepath.Join(c.dir.Path, filepath.FromSlash(certifyName), w.dir.Block()), options)
	})
	return err
}

// missing are the flags without which there is nothing to send.
func (c *certifying) missing() []string {
	var flags []string
	for _, f := range []struct {
		name    string
		isGiven bool
	}{
		{"--from", c.from != ""},
		{"--amount", len(c.amounts) > 0},
		{"--asset", c.asset != ""},
		{"--to or --platform-to", c.to+c.platformTo != ""},
	} {
		if !f.isGiven {
			flags = append(flags, f.name)
		}
	}
	return flags
}

// check refuses, before anything is read, a trial that could not be made.
func (c *certifying) check(p *process) error {
	switch {
	case len(c.missing()) > 0:
		return exit.WithHint(fmt.Errorf("certify needs %s as well; nothing was sent", strings.Join(c.missing(), ", ")), "remit certify --help")
	case c.wait < 0:
		return fmt.Errorf("--wait=%v is no length of time to wait; it takes 0s or more", c.wait)
	case !c.autoApprove && !p.streams.Interactive():
		return errors.New("cannot ask here (no terminal, CI is set, or --input=false), so certify needs --auto-approve; nothing was sent")
	case len(c.faults) > 0 && !c.dir.Sandbox:
		return errors.New("--fault is for --sandbox: a real service has its own")
	}
	_, err := sandbox.ParseFaults(c.faults...)
	return err
}

// isProduction reports whether an environment is called one in which money moves for good.
func isProduction(environment string) bool {
	words := strings.FieldsFunc(strings.ToLower(environment), func(r rune) bool { return !unicode.IsLetter(r) })
	return slices.ContainsFunc(words, func(word string) bool {
		return slices.Contains([]string{"production", "prod", "prd", "live"}, word)
	})
}

// refuseUsed refuses a directory whose state has a transfer: an environment that is used for transfers that
// count has others' records in it.
func refuseUsed(ctx context.Context, loaded *config.Configuration, st *workspace.State, snapshot state.Snapshot) error {
	for _, err := range snapshot.Outlines(ctx) {
		if err != nil {
			return st.Error(err)
		}
		return fmt.Errorf("the state %s has transfers, so %s is in use; nothing was sent. certify is for a test environment, in a directory of its own: "+
			"copy the service block and the profiles there, write the base_url of the test environment, and type remit init", st.Name, loaded.Service.BaseURL)
	}
	return nil
}

// options reads what the flags name.
func (c *certifying) options(loaded *config.Configuration) (certify.Options, error) {
	o := certify.Options{Asset: c.asset, Resume: c.resume, Wait: c.wait, Controls: controlsOf(loaded, c.dir.Sandbox)}
	var failures []error
	for _, side := range []struct {
		flag, name string
		party      *certify.Party
	}{{"--from", c.from, &o.From}, {"--to", c.to, &o.To}, {"--platform-to", c.platformTo, &o.PlatformTo}} {
		party, err := party(loaded, side.flag, side.name)
		failures = append(failures, err)
		*side.party = party
		if side.party != &o.From && party == o.From {
			failures = append(failures, fmt.Errorf("%s=%s is the profile that pays", side.flag, side.name))
		}
	}
	for _, text := range c.amounts {
		amount, err := transfer.ParseAmount(text)
		if err != nil {
			failures = append(failures, fmt.Errorf("--amount=%s: %w", text, err))
		}
		o.Amounts = append(o.Amounts, amount)
	}
	if c.tooMuch != "" {
		var err error
		if o.TooMuch, err = transfer.ParseAmount(c.tooMuch); err != nil {
			failures = append(failures, fmt.Errorf("--too-much=%s: %w", c.tooMuch, err))
		}
	}
	if len(o.Amounts) > certify.AmountsMax {
		failures = append(failures, fmt.Errorf("--amount is given %d times; it takes %d at most", len(o.Amounts), certify.AmountsMax))
	}
	if err := errors.Join(failures...); err != nil {
		return o, fmt.Errorf("%w; nothing was sent", err)
	}
	service := loaded.Service
	limits := make(map[transfer.Operation]ratelimit.Limit, len(service.RateLimits))
	for op, limit := range service.RateLimits {
		limits[op] = ratelimit.Limit(limit)
	}
	o.Settings = executor.Settings{
		Operator: service.Operator, FingerprintKey: service.FingerprintKey, ReplayWindow: service.ReplayWindow,
		RequestTimeout: service.Timeout, RateLimits: limits,
	}
	return o, nil
}

// party is the profile block of a name, or the profile with that ID; none where nothing is named.
func party(loaded *config.Configuration, flag, name string) (certify.Party, error) {
	if name == "" {
		return certify.Party{}, nil
	}
	known := loaded.ProfileNames()
	if !slices.Contains(slices.Collect(maps.Values(known)), name) {
		if err := transfer.CheckText(name); err != nil {
			return certify.Party{}, fmt.Errorf("%s=%s %w", flag, name, err)
		}
		return certify.Party{ProfileID: name}, nil
	}
	value, diags := loaded.Eval("profile." + name)
	if diags.HasErrors() {
		return certify.Party{}, fmt.Errorf("%s=%s: %w", flag, name, diags)
	}
	text := func(attribute string) string {
		if v := value.GetAttr(attribute); !v.IsNull() {
			return v.AsString()
		}
		return ""
	}
	return certify.Party{ProfileID: text("profile_id"), IdentityID: text("identity_id"), AccountID: text("account_id")}, nil
}

// withStates runs the trial on the states in a directory, which are made where they are missing.
func (c *certifying) withStates(ctx context.Context, w *opened, dir string, o certify.Options) error {
	root, err := os.OpenRoot(c.dir.Path)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // nothing was written through it
	if err := confined.CheckDirectory(root, certifyName); err != nil {
		return fmt.Errorf("certify cannot keep its state in %s: %w; remove it", certifyName, err)
	}
	trial := &certify.Trial{
		Options: o, Clock: w.host.Clock(), Random: rand.Float64, By: w.host.Holder("remit certify"), RunID: uuid.NewString,
		Tell: func(doing string) { w.streams.Begin(doing) },
	}
	var done []func()
	defer func() {
		for _, f := range slices.Backward(done) {
			f()
		}
	}()
	for name, journal := range map[string]*state.Journal{"remit.db": &trial.Journal, "other.db": &trial.Other} {
		locked, unlock, err := c.lockOwn(ctx, w.host, w.state, filepath.Join(dir, name))
		if err != nil {
			return err
		}
		done = append(done, unlock)
		*journal = locked
	}
	return c.try(ctx, w, trial)
}

// lockOwn opens one of certify's own states under its lock.
func (c *certifying) lockOwn(ctx context.Context, h *host.Host, st *workspace.State, path string) (state.Journal, func(), error) {
	place := workspace.NewSQLite(path, h.Now)
	by := h.Holder("remit certify")
	switch there, err := place.Look(ctx); {
	case err != nil:
		return nil, nil, err
	case !there:
		created := state.Created{Lineage: uuid.NewString(), Environment: st.Binding.Environment, Service: st.Binding.Service, By: by}
		if err := place.Create(ctx, created); err != nil {
			return nil, nil, fmt.Errorf("make the state %s: %w; nothing was sent", path, err)
		}
	}
	store, err := place.Open(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("open the state %s: %w; nothing was sent", path, err)
	}
	journal, err := store.Lock(ctx, by, 0)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("lock state %s: %w; nothing was sent", path, err), store.Close())
	}
	unlock := func() {
		_ = journal.Unlock() // every append was durable when it returned
		_ = store.Close()
	}
	snapshot, err := journal.Snapshot(ctx)
	if err == nil {
		err = snapshot.Meta().Check(st.Binding.Environment, "", st.Binding.Service)
		_ = snapshot.Close() // it was only read
	}
	if err != nil {
		unlock()
		return nil, nil, fmt.Errorf("%s is the state of trials of another service: %w; nothing was sent. Move %s away, and keep it", path, err, certifyName)
	}
	return journal, unlock, nil
}

// try shows the transfers, asks, and sends them.
func (c *certifying) try(ctx context.Context, w *opened, trial *certify.Trial) error {
	streams, sv := w.streams, w.service
	plan, err := trial.Plan(ctx)
	if err != nil {
		return err
	}
	for _, o := range plan.Obstacles {
		if o.Kind == planner.ObstacleLimit || o.Kind == planner.ObstaclePolicy {
			return exit.New(fmt.Errorf("%s: %s Nothing was sent", o.Address, o.Detail), "", exit.Control)
		}
	}
	if err := refuseUnapproved(w, plan); err != nil {
		return err
	}
	if err := c.confirm(ctx, streams, sv, plan); err != nil {
		return err
	}
	sv.OnRequest = func(s service.Seen) {
		if s.Token || s.Method == "GET" {
			trial.Watch(certify.Exchange{Token: s.Token, Status: s.Status, Life: s.Life, Lacks: s.Lacks})
		}
	}
	sv.WatchList = func(l service.List) {
		trial.Watch(certify.Exchange{IsPage: true, Length: l.Length, Asked: l.Asked, Alone: l.Alone, Others: l.Others, More: l.More})
	}
	connection, err := sv.Connect(ctx, 1, c.faults...)
	if err != nil {
		return err
	}
	defer connection.Close()
	trial.Submitter, trial.Finder, trial.Balances = connection.Submitter, connection.Finder, connection.Balances
	report, failed := trial.Run(ctx)
	streams.Quiet()
	shown := c.show(streams, sv, report)
	return tried(ctx, report, failed, shown)
}

// refuseUnapproved refuses a trial that an approval rule applies to: nobody could approve it, since it is no saved plan.
func refuseUnapproved(w *opened, plan *planner.Plan) error {
	if !w.dir.WaitsForApprovals() {
		return nil
	}
	for _, block := range approvalBlocks(w.config) {
		if need, applies := approval.Needed(block.Rules, plan.Sent()); applies {
			return exit.New(fmt.Errorf("these transfers need %s: %s (rule at %s), and nobody can approve the transfers of certify. Nothing was sent. "+
				"Name amounts below the rule, or certify in a test environment that has no such rule", need.Wants(), need.Because, need.Rule.Place), "", exit.Control)
		}
	}
	return nil
}

// tried is how the command ends after a trial, which may have failed, and which may not have been shown.
func tried(ctx context.Context, report contract.Report, failed, shown error) error {
	switch {
	case errors.Is(failed, executor.ErrJournal):
		return exit.New(fmt.Errorf("certify's own state failed: %w", failed), "", exit.Look)
	case failed != nil && ctx.Err() == nil && report.Requests == 0:
		return fmt.Errorf("%w; nothing was sent", failed)
	case failed != nil && ctx.Err() == nil:
		return exit.New(failed, "", exit.Look)
	case shown != nil:
		return shown
	case ctx.Err() != nil && len(report.LeftOpen) == 0:
		return exit.Code(exit.CodeOf(ctx))
	case ctx.Err() == nil && report.Count(contract.Differs) > 0:
		return exit.Code(exit.Partial)
	case len(report.LeftOpen) > 0:
		return exit.Code(exit.Look)
	}
	return nil
}

// confirm shows the transfers and asks.
func (c *certifying) confirm(ctx context.Context, streams *terminal.Streams, service *workspace.Service, plan *planner.Plan) error {
	o := view.CertifyOptions{Screen: streams.Screen(streams.Err), Destination: service.Destination(), Resume: c.resume, Sandbox: c.dir.Sandbox}
	if err := view.Certifying(streams.Err, plan.Totals[planner.Submit], o); err != nil || c.autoApprove {
		return err
	}
	return streams.Confirm(ctx, "Do you want to make these transfers at "+view.Visible(service.Destination())+"?", "certify was not approved. Nothing was sent")
}

func (c *certifying) show(streams *terminal.Streams, service *workspace.Service, report contract.Report) error {
	o := view.CertifyOptions{Screen: streams.Screen(streams.Out), Destination: service.Destination(), Resume: c.resume, Sandbox: c.dir.Sandbox}
	if report.Kept > 0 && !c.dir.Sandbox {
		o.Next = c.dir.Command(c.words() + " --resume")
	}
	if streams.AsJSON {
		return streams.JSON().Certified(report, o)
	}
	return view.Certified(streams.Out, report, o)
}

// words are the command and the flags that choose its rows.
func (c *certifying) words() string {
	words := "certify"
	add := func(flag, value string) {
		if value != "" {
			words += " --" + flag + "=" + shell.Word(value)
		}
	}
	add("from", c.from)
	add("to", c.to)
	add("platform-to", c.platformTo)
	for _, amount := range c.amounts {
		add("amount", amount)
	}
	add("asset", c.asset)
	return words
}
