package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"remit/config"
	"remit/internal/approval"
	"remit/internal/cli/exit"
	"remit/internal/cli/workspace"
	"remit/internal/files/confined"
	"remit/internal/files/wholefile"
	"remit/internal/text/shell"
	"remit/internal/text/terraform"
	"remit/planner"
	"remit/state"
)

// savedPlan is a plan as it was read from a file.
type savedPlan struct {
	*planner.Plan
	name   string // as the command line has it
	path   string
	digest *approval.Digest // of exactly the bytes that were read; nil where nobody may approve
}

// openPlan reads a saved plan.
func openPlan(ctx context.Context, w *opened, name string) (*planner.Plan, error) {
	return readPlan(ctx, w, name, io.Discard)
}

// openSigned reads a saved plan that may have signatures. Its bytes are hashed while they are
// read, so that the signed bytes are the ones that are used, even if the file changes.
func openSigned(ctx context.Context, w *opened, name string) (*savedPlan, error) {
	saved := &savedPlan{name: name, path: w.dir.Within(name)}
	into := io.Discard
	if len(approvalBlocks(w.config)) > 0 {
		saved.digest = approval.NewDigest()
		into = saved.digest
	}
	var err error
	saved.Plan, err = readPlan(ctx, w, name, into)
	return saved, err
}

// readPlan reads a saved plan, and writes its bytes to into as well.
func readPlan(ctx context.Context, w *opened, name string, into io.Writer) (*planner.Plan, error) {
	file, err := confined.OpenNamed(w.dir.Path, name)
	if err != nil {
		if answer, known := terraform.File(name); known {
			return nil, exit.WithHint(errors.New(answer.Text), w.dir.Here(answer.Next))
		}
		if near := planNearby(w.dir, name); near != "" && errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("open the plan %s: %w. Did you mean %q?", name, err, near)
		}
		if info, errAt := os.Stat(w.dir.Within(name)); errAt == nil && info.IsDir() {
			return nil, exit.WithHint(fmt.Errorf("open the plan %s: it is a directory. Name the file that plan --out saved", name), w.dir.CommandWithPractice("plan --out=november.plan"))
		}
		if errors.Is(err, fs.ErrNotExist) && filepath.Ext(name) == "" && !strings.ContainsRune(name, filepath.Separator) { // which may be a ref_id
			return nil, exit.WithHint(fmt.Errorf("open the plan %s: %w. A plan is a file that plan --out saved; state show says what became of a ref_id", name, err), w.dir.Command("state show "+shell.Word(name)))
		}
		return nil, exit.WithHint(fmt.Errorf("open the plan %s: %w", name, err), w.dir.CommandWithPractice("plan --out="+shell.Word(name)))
	}
	defer func() { _ = file.Close() }() // only read
	w.streams.Begin("reading the plan")
	plan, err := planner.Open(io.TeeReader(exit.InterruptibleReader(ctx, file), into))
	w.streams.Quiet()
	if ctx.Err() != nil {
		return nil, exit.Interrupted("while it read the plan")
	}
	if err != nil {
		err = fmt.Errorf("%s cannot be used as a saved plan; nothing was sent: %w", name, err)
		if isPage, _ := isReplaceable(w.dir.Within(name), pageStart); isPage && !isSavedPlan(w.dir, name) {
			return nil, fmt.Errorf("%s is a page that remit wrote, and no saved plan; nothing was sent. Name the file of the plan, which plan --out saved", name)
		}
		if of := planOfFile(w.dir, name); of != "" {
			return nil, fmt.Errorf("%s cannot be used as a saved plan; nothing was sent. It was made of a plan, which is %s. Name that one", name, of)
		}
		if isPlan, _ := isReplaceable(w.dir.Within(name), planStart()); !isPlan { // a new plan would not replace it
			return nil, exit.WithHint(fmt.Errorf("%s cannot be used as a saved plan; nothing was sent. A plan is made of the files of the directory, and plan --out saves it", name),
				w.dir.CommandWithPractice("plan --out=november.plan"))
		}
		header, _ := headerOf(w.dir, name)
		return nil, exit.WithHint(err, saveAnew(ctx, w, name, "", header.AuthorKey))
	}
	if err := ofEnvironment(w.dir, w.config, plan, name); err != nil {
		return nil, err
	}
	return plan, nil
}

// planElsewhere refuses a plan of another directory where this one has no configuration: its files are there.
func planElsewhere(dir *workspace.Directory, name, command string) error {
	there := filepath.Dir(name)
	if name == "" || there == "." || hasConfiguration(dir.Path) || !hasConfiguration(dir.Within(there)) {
		return nil
	}
	in := *dir
	in.Path = dir.Within(there)
	return exit.WithHint(fmt.Errorf("this directory has no configuration, and that of %s has one; nothing was sent. Work there", name),
		in.Command(command+" "+shell.File(filepath.Base(name))))
}

// hasConfiguration reports whether a directory has a file of the configuration.
func hasConfiguration(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && slices.ContainsFunc(entries, func(entry os.DirEntry) bool { return config.IsSource(entry.Name()) })
}

// planNearby is a saved plan beside one that does not exist, of which somebody may have misspelt the name, or
// left out its end; "" where there is none.
func planNearby(dir *workspace.Directory, name string) string {
	entries, err := os.ReadDir(filepath.Dir(dir.Within(name)))
	if err != nil {
		return ""
	}
	near := newNearest(filepath.Base(name))
	for _, entry := range entries {
		path := filepath.Join(filepath.Dir(name), entry.Name())
		if strings.TrimSuffix(entry.Name(), filepath.Ext(entry.Name())) == filepath.Base(name) && isSavedPlan(dir, path) {
			return path
		}
		if isSavedPlan(dir, path) {
			near.try(entry.Name(), "")
		}
	}
	if near.refID == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(name), near.refID)
}

// isSavedPlan reports whether a file begins as a plan does, and is not empty.
func isSavedPlan(dir *workspace.Directory, name string) bool {
	info, err := os.Stat(dir.Within(name))
	isPlan, _ := isReplaceable(dir.Within(name), planStart())
	return err == nil && info.Mode().IsRegular() && info.Size() > 0 && isPlan
}

// planOfFile is the saved plan of which a file was made that is none: a signature, or the page that show writes;
// "" where there is none.
func planOfFile(dir *workspace.Directory, name string) string {
	for _, end := range []string{".sig", ".passkey"} {
		for of := strings.TrimSuffix(name, end); of != name && strings.Contains(filepath.Base(of), "."); of = strings.TrimSuffix(of, filepath.Ext(of)) {
			if isSavedPlan(dir, of) {
				return of
			}
		}
	}
	for _, end := range []string{".html", ".md", ".csv", ".json", ".jsonl"} {
		if of := strings.TrimSuffix(name, end) + ".plan"; strings.HasSuffix(name, end) && isSavedPlan(dir, of) {
			return of
		}
	}
	return ""
}

// ofEnvironment refuses a plan of another environment, before anything else of it is believed. Without environment
// blocks the state of the directory says it.
func ofEnvironment(dir *workspace.Directory, loaded *config.Configuration, plan *planner.Plan, name string) error {
	here := loaded.Environment
	if isForSandbox(plan) {
		here = dir.SandboxEnvironment()
	}
	if dir.Block() == "" || plan.Header.Environment == here {
		return nil
	}
	return fmt.Errorf("%s is a plan of environment %q, and this command works on environment %q; nothing was sent, and nothing of the plan was used. "+
		"Name the environment of the plan, or a plan of this one", name, plan.Header.Environment, here)
}

// pageStart is how every page begins that remit writes.
const pageStart = "<!doctype html>\n<html lang=\"en\" data-remit="

// planStart is how every saved plan begins.
func planStart() string {
	format, _, _ := strings.Cut(planner.Format, "/")
	return `{"format":"` + format + "/"
}

// isForSandbox reports whether a plan was made with --sandbox.
func isForSandbox(plan *planner.Plan) bool {
	return plan.Header.Service.IsSandbox()
}

// inSandbox is the sandbox of a directory. A plan that its author signed is there to practise approvals.
func inSandbox(dir workspace.Directory, name string) workspace.Directory {
	dir.Sandbox = true
	_, err := os.Stat(dir.Within(name) + authorSuffix)
	dir.Practice = dir.Practice || err == nil
	return dir
}

// planUse says which command reads a saved plan, for an error that says that it cannot be used.
type planUse struct {
	file    string
	words   string          // the command and its flags, without the file
	outcome string          // the step that cannot be taken, and the one that was not
	header  *planner.Header // of the plan
	signs   bool            // the command signs it, and only after a look at the state where there is one
}

// useOf is that of apply.
func useOf(a *applying, plan *planner.Plan) planUse {
	return planUse{a.file, a.verb(), "cannot be applied; nothing was sent", &plan.Header, false}
}

// unfit says why a saved plan can't be used now, and how to make a new one.
func unfit(ctx context.Context, w *opened, use planUse, err error) error {
	if ctx.Err() != nil {
		return exit.Interrupted("while it computed the plan again")
	}
	code := exit.Error
	var obstacle *planner.ObstacleError
	if errors.As(err, &obstacle) {
		code = exitOf(obstacle.Obstacles)
	}
	var other *planner.ControlsError
	if errors.As(err, &other) && other.Lacks() && len(w.dir.PolicyDirs) == 0 {
		err = fmt.Errorf("%w, or, where it was made with --policy-dir or REMIT_POLICY_DIR, name that directory here too", err)
	}
	if home := homeOf(w.dir, use.file); home != "" && obstacle == nil {
		return fromHome(w.dir, home, use, err, code)
	}
	if obstacle != nil && !obstacle.From().IsZero() { // a new plan would have none of the approvals
		return exit.New(fmt.Errorf("%s %s: %w", use.file, use.outcome, err), w.dir.CommandWithPractice(use.words+" "+shell.File(use.file)), code)
	}
	return exit.New(fmt.Errorf("%s %s: %w", use.file, use.outcome, err),
		saveAnew(ctx, w, use.file, flagWords("target", use.header.Targets), use.header.AuthorKey), code)
}

// saveAnew is the command that saves a plan in the place of one that can't be used. Where the author of that one signed it, the new one is
// signed as well: without its author's signature a plan needs one approver more.
func saveAnew(ctx context.Context, w *opened, name, targets, authorKey string) string {
	words := "plan --out=" + shell.Word(newName(ctx, w, name)) + targets
	if authorKey != "" {
		words += " --sign"
	}
	return w.dir.CommandWithPractice(words)
}

// homeOf is the directory of a saved plan where that is another one than the command works in, and has a configuration
// of its own; "" for any other. The plan belongs there: no command writes a new one over it from here.
func homeOf(dir *workspace.Directory, name string) string {
	if name == "" {
		return ""
	}
	home := filepath.Dir(dir.Within(name))
	there, err := os.Stat(home)
	here, errHere := os.Stat(dir.Path)
	if err != nil || errHere != nil || os.SameFile(there, here) || !hasConfiguration(home) {
		return ""
	}
	return home
}

// fromHome refuses a saved plan that can't be used here, and names the directory where it lies.
func fromHome(dir *workspace.Directory, home string, use planUse, err error, code int) error {
	there := *dir
	there.Path = home
	why, _, _ := strings.Cut(strings.NewReplacer("; make a new one", "", "; make a new plan", "").Replace(err.Error()), "\n")
	return exit.New(fmt.Errorf("%s lies in %s, which has a configuration of its own. Here it %s: %s", use.file, home, use.outcome, why),
		there.Command(use.words+" "+shell.File(filepath.Base(use.file))), code)
}

// savePlan writes the plan to a file, which only its owner may read, and its bytes to also.
func savePlan(ctx context.Context, w *opened, plan *planner.Plan, name string, also io.Writer) error {
	defer w.streams.Quiet()
	var err error
	if plan.Header.Origin, err = originOf(w.dir, w.config); err != nil {
		return fmt.Errorf("save the plan to %s: %w", name, err)
	}
	if err := wholefile.Replace(w.dir.Within(name), 0o600, func(file io.Writer) error {
		return plan.Save(exit.Interruptible(ctx, io.MultiWriter(file, also)))
	}); err != nil {
		return fmt.Errorf("save the plan to %s: %w", name, notWritten(w.dir.Within(name), err))
	}
	return nil
}

// checkKept refuses to replace a saved plan that somebody signed or that a run carried out: with it the approvals
// and the evidence of the run would be lost. The signature of the author who signs the new plan as well is no
// reason: it is replaced with the plan. The flags are those of the new one.
func checkKept(ctx context.Context, w *opened, name string, author *approval.Key, flags string) error {
	why, err := whyKept(ctx, w, name, author)
	if err != nil || why == "" {
		return err
	}
	return exit.WithHint(fmt.Errorf("save the plan: %s %s; nothing was written. Save the new plan under another name. "+
		"Or, if nobody needs the old one any more, delete it and the signatures beside it by hand", name, why),
		w.dir.CommandWithPractice("plan --out="+shell.Word(otherName(w.dir, name))+flags))
}

// whyKept says why a file must not be replaced by a new plan; "" where it may be.
func whyKept(ctx context.Context, w *opened, name string, author *approval.Key) (string, error) {
	path := w.dir.Within(name)
	if !isSavedPlan(w.dir, name) {
		return "", nil
	}
	if home := homeOf(w.dir, name); home != "" {
		return "may be a plan of " + home + ", which has a configuration of its own", nil
	}
	saved := &savedPlan{name: name, path: path}
	files, err := saved.signatures()
	if err != nil {
		return "", err
	}
	var names []string
	for _, file := range files {
		if author == nil || file.Name != filepath.Base(path)+authorSuffix || !isSignatureBy(path+authorSuffix, *author) {
			names = append(names, file.Name)
		}
	}
	if len(names) > 0 {
		return "has signatures beside it (" + strings.Join(names, ", ") + "), which count for that plan alone", nil
	}
	return whyEvidence(ctx, w, name)
}

// authorSuffix is the end of the name of the author's signature, behind that of the plan.
const authorSuffix = ".author.sig"

// whyEvidence says which run carried out the plan of a file; "" for none. Where that can't be found out, the file
// may be evidence.
func whyEvidence(ctx context.Context, w *opened, name string) (string, error) {
	header, isKnown := headerOf(w.dir, name)
	if !isKnown { // nobody can apply it, and it proves nothing
		return "", nil
	}
	of := stateOfPlan(w, header)
	if of == nil {
		return fmt.Sprintf("is a plan of environment %q, and it is not known here whether a run of that one carried it out", header.Environment), nil
	}
	if of.Backend == nil { // the directory has no state
		return "", nil
	}
	there, err := of.Backend.Look(ctx)
	if err == nil && !there {
		return "", nil
	}
	var snapshot state.Snapshot
	done := func() {}
	if err == nil {
		snapshot, done, err = of.Read(ctx)
	}
	if err != nil {
		if ctx.Err() != nil {
			return "", err
		}
		return "may be the plan of a run, and the state that knows it cannot be read here", nil
	}
	defer done()
	for run, err := range snapshot.Runs(ctx) {
		if err != nil {
			return "", w.state.Error(err)
		}
		if run.Begun.PlanID != header.PlanID {
			continue
		}
		if hasBytes(w.dir, name, run.Begun.PlanSHA256) {
			return fmt.Sprintf("is the plan that the run %.8s carried out, and part of its evidence", run.Begun.RunID), nil
		}
		return fmt.Sprintf("has the plan_id of the plan that the run %.8s carried out, and other bytes: somebody changed one of the two files", run.Begun.RunID), nil
	}
	return "", nil
}

// hasBytes reports whether the bytes of a saved plan have a SHA-256.
func hasBytes(dir *workspace.Directory, name, sum string) bool {
	file, err := confined.OpenNamed(dir.Path, name)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }() // only read
	hash := sha256.New()
	_, err = io.Copy(hash, file)
	return err == nil && hex.EncodeToString(hash.Sum(nil)) == sum
}

// planHeader is what the first line of a saved plan says of where it belongs.
type planHeader struct {
	PlanID      string         `json:"plan_id"`
	Environment string         `json:"environment"`
	Service     state.Identity `json:"service"`
	AuthorKey   string         `json:"author_key"`
	Expires     time.Time      `json:"expires"`
}

// headerOf reads the first line of a saved plan of any version, and nothing else of it: the rest may be large.
func headerOf(dir *workspace.Directory, name string) (header planHeader, isKnown bool) {
	file, err := confined.OpenNamed(dir.Path, name)
	if err != nil {
		return header, false
	}
	defer func() { _ = file.Close() }() // only read
	const most = 1 << 20
	err = json.NewDecoder(io.LimitReader(file, most)).Decode(&header)
	return header, err == nil && header.PlanID != ""
}

// stateOfPlan is the state that a plan was made against, which may be that of the sandbox where the command is for
// real money, or the other way round; nil where it is that of another environment.
func stateOfPlan(w *opened, header planHeader) *workspace.State {
	dir := *w.dir
	dir.Sandbox = header.Service.IsSandbox()
	here := w.config.Environment
	if dir.Sandbox {
		here = dir.SandboxEnvironment()
	}
	if dir.Block() != "" && header.Environment != here {
		return nil
	}
	of := workspace.NewState(w.host, w.streams, &dir, w.config)
	findStateOf(&opened{host: w.host, streams: w.streams, dir: &dir, config: w.config, state: of}, &planner.Plan{Header: planner.Header{Service: header.Service}})
	return of
}

// otherName is a name like that of a file, of a file that does not exist.
func otherName(dir *workspace.Directory, name string) string {
	if homeOf(dir, name) != "" {
		name = filepath.Base(name)
		if _, err := os.Lstat(dir.Within(name)); err != nil {
			return name
		}
	}
	end := filepath.Ext(name)
	for n := 2; ; n++ {
		other := strings.TrimSuffix(name, end) + "-" + strconv.Itoa(n) + end
		if _, err := os.Lstat(dir.Within(other)); err != nil {
			return other
		}
	}
}

// newName is the name for a plan in the place of one that can't be used: its own where a new plan may
// replace it.
func newName(ctx context.Context, w *opened, name string) string {
	if why, err := whyKept(ctx, w, name, nil); err != nil || why != "" {
		return otherName(w.dir, name)
	}
	return name
}

// checkPlace refuses a plan of the sandbox where money moves.
func (a *applying) checkPlace(plan *planner.Plan) error {
	if !isForSandbox(plan) || a.planning.dir.Sandbox {
		return nil
	}
	here := inSandbox(a.planning.dir, a.file)
	return exit.WithHint(fmt.Errorf("%s was made with --sandbox, where no money moves; nothing was sent. Apply it there", a.file),
		here.CommandWithPractice(a.verb()+" "+shell.File(a.file)))
}

// sandboxFirst says of a saved plan that it is one of the sandbox before it says, with err, why no state can be used.
func (a *applying) sandboxFirst(ctx context.Context, w *opened, err error) error {
	if w == nil || a.file == "" {
		return err
	}
	saved, unread := openPlan(ctx, w, a.file)
	if unread != nil {
		return err
	}
	return cmp.Or(a.checkPlace(saved), err)
}
