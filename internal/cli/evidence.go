package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"remit/config"
	"remit/executor"
	"remit/internal/approval"
	"remit/internal/cli/exit"
	"remit/internal/cli/workspace"
	"remit/internal/evidence"
	"remit/internal/text/shell"
	"remit/internal/view"
	"remit/state"
)

func newAuditExport(p *process) *cobra.Command {
	from := workspace.Directory{Need: config.NeedState}
	var runID, dir, plan string
	cmd := &cobra.Command{
		Use:   "export --run=RUN_ID --out=DIR",
		Short: "Write a proof of a run that others can check",
		Long: "Write what proves a run to a new directory: the saved plan, who approved it, the part of\n" +
			"the journal that is about the run with the proof that it is part of the whole, what became\n" +
			"of each transfer, and a manifest of hashes. remit audit verify DIR checks it, and so do\n" +
			"sha256sum and ssh-keygen.",
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if p.streams.AsJSON {
				p.streams.JSON() // errors are told there too
			}
			if runID == "" || dir == "" {
				return errors.New("audit export needs --run, the run to prove, and --out, the directory to write; for the newest run say --run=latest")
			}
			return exportRun(cmd.Context(), p, &from, runID, dir, plan)
		},
	}
	directoryFlags(&from, cmd)
	cmd.Flags().StringVar(&runID, "run", "", "the `run` to prove: its ID, the first 8 characters of it or more, or the word latest")
	cmd.Flags().StringVar(&dir, "out", "", "write to this `directory`, which must be new or empty")
	cmd.Flags().StringVar(&plan, "plan", "", "the `file` of the run's saved plan (the name that apply was given)")
	cmd.Flags().BoolVar(&p.streams.AsJSON, "json", false, "write JSON Lines")
	return cmd
}

// exportRun writes a pack of a run that does not go on any more.
func exportRun(ctx context.Context, p *process, from *workspace.Directory, name, dir, plan string) error {
	w, snapshot, done, err := openRead(ctx, p, from)
	if err != nil {
		return err
	}
	defer done()
	runID, err := findRun(ctx, w.dir, w.state, snapshot, name)
	if err != nil {
		return err
	}
	if holder, isHeld := snapshot.Holder(); isHeld && holder.RunID == runID {
		return fmt.Errorf("the run %s goes on right now; export it when it has ended", runID)
	}
	run, err := runOf(ctx, snapshot, runID)
	if err != nil {
		return w.state.Error(err)
	}
	if plan == "" {
		plan = run.Begun.PlanFile
	} else if w.dir.Block() != "" {
		if _, err := openPlan(ctx, w, plan); err != nil { // of which environment it is
			return err
		}
	}
	if plan != "" {
		plan = w.dir.Within(plan)
	}
	w.streams.Begin("writing the evidence")
	defer w.streams.Quiet()
	defer boundGarbage(w.host.Getenv)()
	exported, err := evidence.Export(ctx, w.dir.Within(dir), evidence.Material{
		Journal: snapshot, RunID: runID, Plan: plan, Faces: packFaces(), Version: readVersion().Version,
	})
	if err != nil {
		return exportError(w.dir, w.state, err, dir, plan, runID)
	}
	w.streams.Quiet()
	told := view.Exported{
		Dir: dir, RunID: runID, Files: exported.Files, Manifest: exported.Manifest,
		Events: exported.Facts.Journal.Shown, Withheld: exported.Facts.Journal.Withheld, Head: exported.Facts.Journal.HeadHash,
		NoPlan: exported.Facts.Plan.Absent, Approvals: len(exported.Facts.Approvals),
	}
	if p.streams.AsJSON {
		return p.streams.JSON().Exported(told)
	}
	return view.AuditExported(p.streams.Out, told, "remit audit verify "+shell.File(w.dir.Within(dir))+" --manifest="+exported.Manifest, p.streams.Screen(p.streams.Out))
}

// runOf is a run that the state has.
func runOf(ctx context.Context, snapshot state.Snapshot, runID string) (state.Run, error) {
	for run, err := range snapshot.Runs(ctx) {
		if err != nil || run.Begun.RunID == runID {
			return run, err
		}
	}
	return state.Run{}, executor.ErrUnknownRun
}

// exportError says why a pack can't be written, and what to do about it.
func exportError(from *workspace.Directory, st *workspace.State, err error, dir, plan, runID string) error {
	again := from.Command("audit export --run=" + shell.Word(runID) + " --out=" + shell.Word(dir) + " --plan=FILE")
	var broken *state.ChainError
	switch {
	case errors.Is(err, evidence.ErrNotEmpty):
		return fmt.Errorf("--out=%s: %w", dir, err)
	case errors.Is(err, evidence.ErrOtherPlan):
		return exit.WithHint(fmt.Errorf("nothing was written: %w", err), again)
	case errors.Is(err, fs.ErrNotExist) && plan != "":
		return exit.WithHint(fmt.Errorf("nothing was written: %w. The run carried out the saved plan %s, which is part of its evidence. Say where that file is now", err, plan), again)
	case errors.As(err, &broken):
		return verifyError(st, err)
	}
	return fmt.Errorf("export run %s to %s: %w", runID, dir, err)
}

// packCheck is what audit verify is told to hold a journal or a pack against.
type packCheck struct {
	head, manifest             string
	signers, passkeys, revoked string
}

func (c *packCheck) flags(cmd *cobra.Command) {
	c.headFlag(cmd)
	flags := cmd.Flags()
	flags.StringVar(&c.manifest, "manifest", "", "with DIR: the `hash` of its SHA256SUMS that was kept elsewhere")
	flags.StringVar(&c.signers, "allowed-signers", "", "with DIR: a `file` that says whose key is whose")
	flags.StringVar(&c.passkeys, "allowed-passkeys", "", "with DIR: a `file` that says whose passkey is whose")
	flags.StringVar(&c.revoked, "revoked-keys", "", "with DIR and --allowed-signers: a `file` of keys that count no more")
}

func (c *packCheck) headFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.head, "head", "", "a `hash` of the journal that was kept elsewhere")
}

// read checks the flags: a hash that is none, or one for another kind of audit, would check
// nothing.
func (c *packCheck) read(cmd *cobra.Command, isPack bool) error {
	changed := cmd.Flags().Changed
	if changed("head") && !isHash(c.head) { // an empty one would prove nothing
		return fmt.Errorf("--head=%s is not a head of a journal, which has %d hexadecimal digits", c.head, 2*sha256.Size)
	}
	if changed("manifest") && !isHash(c.manifest) {
		return fmt.Errorf("--manifest=%s is not the SHA-256 of a manifest, which has %d hexadecimal digits", c.manifest, 2*sha256.Size)
	}
	c.head, c.manifest = strings.ToLower(c.head), strings.ToLower(c.manifest)
	for _, name := range []string{"manifest", "allowed-signers", "allowed-passkeys", "revoked-keys"} {
		if changed(name) && !isPack {
			return fmt.Errorf("--%s is about a pack of evidence: name its directory, as remit audit verify DIR", name)
		}
	}
	switch {
	case changed("allowed-signers") && c.signers == "":
		return errors.New("--allowed-signers is empty, which names no file. Is a variable of the shell not set?")
	case changed("allowed-passkeys") && c.passkeys == "":
		return errors.New("--allowed-passkeys is empty, which names no file. Is a variable of the shell not set?")
	case changed("revoked-keys") && c.revoked == "":
		return errors.New("--revoked-keys is empty, which names no file. Is a variable of the shell not set?")
	case changed("revoked-keys") && c.signers == "":
		return errors.New("--revoked-keys says which keys count no more; --allowed-signers says whose they are, and is missing")
	}
	return nil
}

func isHash(text string) bool {
	raw, err := hex.DecodeString(text)
	return err == nil && len(raw) == sha256.Size
}

// verifyPack checks a pack, which needs nothing but itself.
func verifyPack(ctx context.Context, p *process, from *workspace.Directory, dir string, check packCheck) error {
	options := evidence.Options{Faces: packFaces(), Version: readVersion().Version, Manifest: check.manifest, Head: check.head}
	var err error
	if options.Signers, options.Revoked, err = check.keys(from); err != nil {
		return err
	}
	p.streams.Begin("checking the evidence")
	defer p.streams.Quiet()
	defer boundGarbage(p.host.Getenv)()
	report, err := evidence.Verify(ctx, from.Within(dir), options)
	if err != nil {
		return fmt.Errorf("verify %s: %w", dir, err)
	}
	if of := report.Facts.Environment; from.Environment != "" && of != "" && of != from.Environment {
		return fmt.Errorf("%s proves a run of the environment %q, and --environment says %q; nothing of it counts there", dir, of, from.Environment)
	}
	p.streams.Quiet()
	told := packVerified(dir, report)
	told.ManifestProven = check.manifest != "" && (report.Whole() || report.OnlyKeys())
	told.SignersProven = options.Signers != nil && report.Whole() && coversAll(options.Signers, report.Facts.Approvals)
	if p.streams.AsJSON {
		err = p.streams.JSON().PackVerified(told)
	} else {
		err = view.AuditPackVerified(p.streams.Out, told, p.streams.Screen(p.streams.Out))
	}
	if err == nil && !report.Whole() {
		return exit.Code(exit.Error)
	}
	return err
}

// coversAll reports whether files of keys say whose keys are whose of each kind with which somebody approved.
func coversAll(signers *approval.Signers, approvals []evidence.Approval) bool {
	return !slices.ContainsFunc(approvals, func(a evidence.Approval) bool {
		key, err := approval.ParseKey(a.Key)
		return err != nil || !signers.Covers(key)
	})
}

// packVerified is a report as it is shown.
func packVerified(dir string, r *evidence.Report) view.VerifiedPack {
	f := r.Facts
	v := view.VerifiedPack{
		Dir: dir, Whole: r.Whole(), RunID: f.Run.RunID, Files: r.Files, Manifest: r.Manifest,
		Head: f.Journal.HeadHash, HeadProven: r.HeadProven, SignedBy: r.SignedBy, Environment: f.Environment, Digest: f.Run.Digest,
	}
	for _, a := range f.Approvals {
		if a.Role == state.RoleApprover {
			v.Approvers = append(v.Approvers, a.Principal)
		}
	}
	for _, result := range f.Results {
		told := view.PackResult{Result: result.Result, Count: result.Count, Assets: []view.PackAsset{}}
		for _, asset := range result.Assets {
			told.Assets = append(told.Assets, view.PackAsset(asset))
		}
		v.Results = append(v.Results, told)
	}
	for _, finding := range r.Findings {
		v.Findings = append(v.Findings, view.PackFinding(finding))
	}
	return v
}

// keys reads the files that say whose key is whose.
func (c *packCheck) keys(from *workspace.Directory) (*approval.Signers, *approval.Revoked, error) {
	var passkeys *approval.Signers
	if c.passkeys != "" {
		content, err := readNamed(from.Path, c.passkeys, approval.SignersBytesMax)
		if err != nil {
			return nil, nil, fmt.Errorf("--allowed-passkeys: %w", err)
		}
		var mistakes []approval.Mistake
		if passkeys, mistakes = approval.ParsePasskeys(content, time.Local); len(mistakes) > 0 {
			return nil, nil, mistakeIn("--allowed-passkeys", c.passkeys, mistakes[0])
		}
	}
	if c.signers == "" {
		return passkeys, nil, nil
	}
	content, err := readNamed(from.Path, c.signers, approval.SignersBytesMax)
	if err != nil {
		return nil, nil, fmt.Errorf("--allowed-signers: %w", err)
	}
	signers, mistakes := approval.ParseSigners(content, time.Local) // as ssh-keygen reads it
	if len(mistakes) > 0 {
		return nil, nil, mistakeIn("--allowed-signers", c.signers, mistakes[0])
	}
	signers = approval.Join(signers, passkeys)
	if c.revoked == "" {
		return signers, nil, nil
	}
	if content, err = readNamed(from.Path, c.revoked, approval.SignersBytesMax); err != nil {
		return nil, nil, fmt.Errorf("--revoked-keys: %w", err)
	}
	revoked, mistakes := approval.ParseRevoked(content)
	if len(mistakes) > 0 {
		return nil, nil, mistakeIn("--revoked-keys", c.revoked, mistakes[0])
	}
	return signers, revoked, nil
}

// mistakeIn names the file of a flag, and the line where the mistake is in one.
func mistakeIn(flag, name string, m approval.Mistake) error {
	if m.Line > 0 {
		name = fmt.Sprintf("%s, line %d", name, m.Line)
	}
	return fmt.Errorf("%s=%s: %s", flag, name, m.Text)
}
