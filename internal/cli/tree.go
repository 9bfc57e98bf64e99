package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"remit/config"
	"remit/internal/cli/exit"
	"remit/internal/cli/workspace"
	"remit/internal/files/confined"
	"remit/internal/files/lockfile"
	"remit/internal/files/wholefile"
	"remit/internal/text/english"
	"remit/internal/tree"
	"remit/internal/view"
	"remit/planner"
)

// recursion is what plan and status are told about the configurations below their directory.
type recursion struct {
	isAsked bool
	asked   tree.Question
	dir     *workspace.Directory // of the command line
	into    string
	changed string                  // the file of changed paths; "" for none
	files   map[string]string       // of faces, by their names
	plan    *planning               // of the command line: its author and how long a saved plan may be applied
	out     string                  // the directory for saved plans; "" for none
	exitOf  func(*planner.Plan) int // of the command for one configuration
}

// besideRecursive are the flags that go with --recursive. Each other flag of plan and status is about one plan.
func besideRecursive() []string {
	return append(onlyRecursive(), "recursive", "out", "author", "expires-in", "chdir", "policy-dir", "root", "environment", "var", "sandbox", "json", "json-into", "detailed-exitcode", "no-color", "help")
}

// onlyRecursive are those that go with nothing else.
func onlyRecursive() []string { return append(treeFaces().names(), "changed") }

func (r *recursion) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&r.isAsked, "recursive", false, "do it for each configuration of this directory and of those below it, side by side")
	cmd.Flags().StringVar(&r.changed, "changed", "", "with --recursive: only what these paths touch, in a `file` of git diff --no-renames --name-only; - for standard input")
	r.files = make(map[string]string)
	for _, f := range treeFaces() {
		cmd.Flags().Var(treeFile{r.files, f.name}, f.name, f.usage)
	}
}

// treeFile is the flag of a face: the file to which it goes.
type treeFile struct {
	files map[string]string
	face  string
}

// Set takes the name of the file of a face. It refuses an empty one.
func (f treeFile) Set(name string) error {
	if name == "" {
		return errors.New("an empty name of a file")
	}
	f.files[f.face] = name
	return nil
}

func (f treeFile) String() string { return f.files[f.face] }

// Type is the word of the usage text.
func (f treeFile) Type() string { return "string" }

// isMeant reports whether the flags ask for all configurations. It refuses those that go with nothing else.
func (r *recursion) isMeant(cmd *cobra.Command) (bool, error) {
	for _, name := range onlyRecursive() {
		if !r.isAsked && cmd.Flags().Changed(name) {
			hint := cmd.CommandPath() + " --recursive"
			if name != "changed" {
				hint = "remit show --" + name + " PLAN"
			}
			return false, exit.WithHint(fmt.Errorf("--%s goes with --recursive", name), hint)
		}
	}
	return r.isAsked, nil
}

// check refuses flags that are about one plan.
func (r *recursion) check(cmd *cobra.Command) error {
	var wrong []string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(besideRecursive(), f.Name) {
			wrong = append(wrong, "--"+f.Name)
		}
	})
	if len(wrong) == 0 {
		return nil
	}
	return exit.WithHint(fmt.Errorf("--recursive can't go with %s, which is about one configuration: name that one with --chdir, and leave --recursive out",
		english.List(wrong)), cmd.CommandPath()+" --help")
}

// run asks each configuration, and writes the answers.
func (r *recursion) run(cmd *cobra.Command, p *process) error {
	if err := r.check(cmd); err != nil {
		return err
	}
	if err := r.dir.CheckDirectory(); err != nil {
		return err
	}
	if err := r.checkFiles(); err != nil {
		return err
	}
	if err := r.checkOut(); err != nil {
		return err
	}
	if err := writeInto(p.streams, r.dir, r.into); err != nil {
		return err
	}
	var answer *tree.Tree
	err := exit.OrInterrupted(cmd.Context(), func() (err error) {
		answer, err = r.ask(cmd.Context(), p)
		return err
	})
	p.streams.Quiet()
	switch {
	case cmd.Context().Err() != nil:
		return exit.Interrupted("before all configurations were read")
	case err != nil:
		return err
	}
	if err := r.write(p, answer); err != nil {
		return unshown(err, answer.ExitCode())
	}
	if code := answer.ExitCode(); code != exit.Done {
		return exit.Code(code)
	}
	return nil
}

// ask finds the configurations and asks two of them at once. The notes of each are shown as soon as those
// before it have shown theirs.
func (r *recursion) ask(ctx context.Context, p *process) (*tree.Tree, error) {
	if p.streams.AsJSON {
		p.streams.JSON() // failures are told there too
	}
	p.streams.Begin("looking for configurations")
	found, err := tree.Find(ctx, r.dir.Path, isLockFile)
	if err != nil {
		return nil, err
	}
	if len(found.Configurations) == 0 {
		return nil, fmt.Errorf("there is no configuration in %s or below it: no file declares a transfer, a state or a service", r.dir.Path)
	}
	change, err := r.change(p)
	if err != nil {
		return nil, err
	}
	t := &tree.Tree{Top: r.dir.Path, Asked: r.asked, At: p.host.Now().UTC(), Sandbox: r.dir.Sandbox, Found: found}
	directories := found.Configurations
	if change != nil {
		directories, t.Untouched = change.Split(directories, r.includes)
		t.Gone = change.Gone(found, isLockFile)
	}
	everywhere, unread, err := r.askEach(ctx, p, r.places(p, directories), t)
	if err != nil {
		return nil, err
	}
	if asked := r.environment(p); asked != "" && len(t.Entries) == 0 && len(t.Untouched) == 0 {
		return nil, fmt.Errorf("no configuration in %s or below it has the environment %q", r.dir.Path, asked)
	}
	if len(everywhere) > 0 && len(t.Untouched) == 0 {
		return nil, fmt.Errorf("--var names %q, which no configuration declares", everywhere[0])
	}
	if len(unread) > 0 && len(t.Untouched) == 0 {
		if err := p.streams.ReportIn(nil, hcl.Diagnostics{config.NotDeclared(unread, nil)}); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// askEach adds the answers of places to a tree. It returns the variables of the command line, and those of the environment, that
// no configuration declares.
func (r *recursion) askEach(ctx context.Context, p *process, places []place, t *tree.Tree) (undeclared, unread []string, err error) {
	undeclared = r.variables()
	var accounts []account
	var unplanned []place
	at, isFirst := 0, true
	beginning := func(n int) {
		p.streams.Begin(fmt.Sprintf("%s %d of %d: %s", r.asked, n+1, len(places), view.Visible(places[n].directory)))
	}
	for e := range inOrder(ctx, len(places), func(n int) answered {
		beginning(n)
		return r.entry(ctx, p, places[n])
	}) {
		if ctx.Err() != nil {
			break
		}
		undeclared = slices.DeleteFunc(undeclared, func(name string) bool { return !e.isRead || !slices.Contains(e.skips, name) })
		if isFirst {
			unread = e.unread
		}
		unread = slices.DeleteFunc(unread, func(name string) bool { return !e.isRead || !slices.Contains(e.unread, name) })
		isFirst = false
		p.streams.Hide(e.sensitive)
		at++
		if e.account.state != nil {
			accounts = append(accounts, e.account)
		} else if e.Brief == nil {
			unplanned = append(unplanned, places[at-1])
		}
		if e.isOther {
			t.Others = append(t.Others, e.Directory)
			continue
		}
		if err := r.tell(p, &e.Entry); err != nil {
			return nil, nil, err
		}
		if e.account.state != nil {
			accounts[len(accounts)-1].entry = len(t.Entries)
		}
		t.Entries = append(t.Entries, e.Entry)
	}
	if ctx.Err() != nil {
		return nil, nil, context.Cause(ctx)
	}
	unplanned = append(unplanned, r.places(p, t.Untouched)...)
	if err := r.findElsewhere(ctx, p, t, accounts, unplanned); err != nil {
		return nil, nil, err
	}
	return undeclared, unread, r.removeBlocked(t)
}

// isLockFile reports whether a file of the name binds a directory to a state.
func isLockFile(name string) bool {
	_, isLock := lockfile.EnvironmentOf(name)
	return isLock
}

// place is a configuration in one of its environments.
type place struct {
	directory   string
	environment string // of an environment block; "" where the directory has none
}

// places are the environments of all directories, in their order. A directory whose environments can't be read is one
// place: its mistakes are shown there.
func (r *recursion) places(p *process, directories []string) []place {
	asked := r.environment(p)
	var all []place
	for _, directory := range directories {
		declared, _ := config.Environments(filepath.Join(r.dir.Path, filepath.FromSlash(directory)), config.Options{})
		if len(declared) == 0 {
			all = append(all, place{directory, ""})
			continue
		}
		for _, e := range declared {
			if asked == "" || asked == e.Name {
				all = append(all, place{directory, e.Name})
			}
		}
	}
	return all
}

// environment is the one to which --environment or the environment variable limits the tree; "" for all.
func (r *recursion) environment(p *process) string {
	return cmp.Or(r.dir.Environment, p.host.Getenv(config.EnvironmentVariable))
}

// changedMax bounds a list of changed paths.
const changedMax = 64 << 20

// change reads the list of --changed; nil where there is none.
func (r *recursion) change(p *process) (*tree.Change, error) {
	if r.changed == "" {
		return nil, nil
	}
	list, err := r.readChanged(p)
	if err != nil {
		return nil, fmt.Errorf("--changed: %w", err)
	}
	paths, err := tree.ParseChanged(list)
	if err != nil {
		return nil, fmt.Errorf("--changed=%s: %w", r.changed, err)
	}
	root, err := filepath.Abs(r.root(p))
	if err != nil {
		return nil, err
	}
	below, err := belowRoot(root, r.dir.Path)
	if err != nil {
		return nil, fmt.Errorf("--changed: its paths are relative to the root %s, which does not hold %s. Name one that does with --root", root, r.dir.Path)
	}
	change := &tree.Change{Root: root, Top: below, Paths: paths}
	for _, dir := range r.policyDirs(p) {
		if below, err := belowRoot(root, r.dir.Within(dir)); err == nil {
			change.Also = append(change.Also, below)
		}
	}
	return change, nil
}

// root is the directory to which changed paths are relative: that of --root or REMIT_ROOT, else that of --chdir.
func (r *recursion) root(p *process) string {
	return r.dir.Within(cmp.Or(r.dir.Root, p.host.Getenv("REMIT_ROOT")))
}

// belowRoot is a directory relative to an absolute root, with slashes. It returns an error for one that is not below it, by
// its name or by what that leads to.
func belowRoot(root, dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	below, err := filepath.Rel(root, dir)
	if err == nil && filepath.IsLocal(below) {
		return filepath.ToSlash(below), nil
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return "", err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", err
	}
	if below, err = filepath.Rel(root, dir); err != nil || !filepath.IsLocal(below) {
		return "", fmt.Errorf("%s is not below %s", dir, root)
	}
	return filepath.ToSlash(below), nil
}

func (r *recursion) readChanged(p *process) ([]byte, error) {
	if r.changed == "-" {
		return confined.ReadAtMost(p.streams.In, changedMax)
	}
	return readNamed(r.dir.Path, r.changed, changedMax)
}

// includes are the directories that a configuration includes, relative to its own.
func (r *recursion) includes(directory string) (includes []string, isKnown bool) {
	return config.Includes(filepath.Join(r.dir.Path, filepath.FromSlash(directory)))
}

// checkFiles refuses files that a face must not replace: only an earlier one of its kind or an empty file is lost
// without loss.
func (r *recursion) checkFiles() error {
	for _, f := range treeFaces() {
		name := r.files[f.name]
		if name == "" {
			continue
		}
		path := r.dir.Within(name)
		if strings.HasSuffix(path, ".hcl") || strings.HasSuffix(path, ".hcl.json") {
			return fmt.Errorf("--%s=%s: a file of that name would be read as configuration; name another one", f.name, name)
		}
		replaceable, err := isReplaceable(path, f.start)
		if err != nil {
			return fmt.Errorf("--%s: %w", f.name, err)
		}
		if !replaceable {
			return fmt.Errorf("--%s=%s: it is there already and was not written by this flag, so it is not replaced; name another file", f.name, name)
		}
	}
	return nil
}

// checkOut makes the directory for saved plans. One with anything in it is refused: an old plan beside the new ones
// could be taken for one of them.
func (r *recursion) checkOut() error {
	if r.out == "" {
		return nil
	}
	if r.plan.expiresIn <= 0 {
		return fmt.Errorf("--expires-in=%s leaves no time to apply a plan; say a longer one, such as 72h", r.plan.expiresIn)
	}
	path := r.dir.Within(r.out)
	if err := os.MkdirAll(path, 0o700); err != nil {
		return fmt.Errorf("--out=%s: with --recursive it names a directory: %w", r.out, confined.Plain(err))
	}
	there, err := os.ReadDir(path)
	if err != nil {
		return fmt.Errorf("--out=%s: %w", r.out, confined.Plain(err))
	}
	if len(there) > 0 {
		return fmt.Errorf("--out=%s: the directory has something in it, such as %s. An older plan there could be taken for a new one: name another directory, or empty this one",
			r.out, view.Visible(there[0].Name()))
	}
	return nil
}

// variables are the names of --var.
func (r *recursion) variables() []string {
	var names []string
	for _, a := range r.dir.Assignments {
		name, _, _ := strings.Cut(a.Var, "=")
		names = append(names, name)
	}
	return names
}

// tell shows what a configuration told a person, under its name.
func (r *recursion) tell(p *process, e *tree.Entry) error {
	if e.Told == "" || p.streams.AsJSON {
		return nil
	}
	p.streams.Quiet()
	return view.TreeTold(p.streams.Err, e, p.streams.Screen(p.streams.Err))
}

// write writes the answers as text or as lines.
func (r *recursion) write(p *process, t *tree.Tree) error {
	for _, f := range treeFaces() {
		if name := r.files[f.name]; name != "" {
			err := wholefile.Replace(r.dir.Within(name), 0o600, func(to io.Writer) error {
				return p.streams.WriteHidden(to, func(to io.Writer) error { return f.write(to, t, view.Screen{}) })
			})
			if err != nil {
				return fmt.Errorf("write %s: %w", name, err)
			}
		}
	}
	if p.streams.WantsLines() {
		if err := p.streams.JSON().Tree(t); p.streams.AsJSON || err != nil {
			return err
		}
	}
	return view.Tree(p.streams.Out, t, p.streams.Screen(p.streams.Out))
}
