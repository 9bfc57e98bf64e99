package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"remit/internal/cli/exit"
	"remit/internal/cli/workspace"
	"remit/internal/files/lockfile"
	"remit/internal/tree"
	"remit/internal/view"
	"remit/planner"
)

// recursion is what plan and status are told about the configurations below their directory.
type recursion struct {
	isAsked bool
	asked   tree.Question
	dir     *workspace.Directory // of the command line
	asJSON  bool
	into    string
	exitOf  func(*planner.Plan) int // of the command for one configuration
}

// besideRecursive are the flags that go with --recursive. Each other flag of plan and status is about one plan.
var besideRecursive = []string{"recursive", "chdir", "policy-dir", "root", "var", "sandbox", "json", "json-into", "detailed-exitcode", "no-color", "help"}

func (r *recursion) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&r.isAsked, "recursive", false, "do it for each configuration of this directory and of those below it, side by side")
}

// check refuses flags that are about one plan.
func (r *recursion) check(cmd *cobra.Command) error {
	var wrong []string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(besideRecursive, f.Name) {
			wrong = append(wrong, "--"+f.Name)
		}
	})
	if len(wrong) == 0 {
		return nil
	}
	return exit.WithHint(fmt.Errorf("--recursive can't go with %s, which is about one configuration: name that one with --chdir, and leave --recursive out",
		strings.Join(wrong, " and ")), cmd.CommandPath()+" --help")
}

// run asks each configuration, and writes the answers.
func (r *recursion) run(cmd *cobra.Command, p *process) error {
	if err := r.check(cmd); err != nil {
		return err
	}
	if err := r.dir.CheckDirectory(); err != nil {
		return err
	}
	if err := writeInto(p.streams, r.dir, r.into, r.asJSON); err != nil {
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
		return err
	}
	if code := answer.ExitCode(); code != exit.Done {
		return exit.Code(code)
	}
	return nil
}

// ask finds the configurations and asks two of them at once. What each tells a person is shown as soon as those
// before it have told theirs.
func (r *recursion) ask(ctx context.Context, p *process) (*tree.Tree, error) {
	if r.asJSON {
		p.streams.JSON() // what goes wrong is told there too
	}
	p.streams.Begin("looking for configurations")
	found, err := tree.Find(ctx, r.dir.Path, func(name string) bool { return name == lockfile.Name })
	if err != nil {
		return nil, err
	}
	if len(found.Configurations) == 0 {
		return nil, fmt.Errorf("there is no configuration in %s or below it: no file declares a transfer, a state or a service", r.dir.Path)
	}
	t := &tree.Tree{Top: r.dir.Path, Asked: r.asked, At: p.host.Now().UTC(), Sandbox: r.dir.Sandbox, Found: found}
	everywhere := r.variables() // that no configuration declares, as far as is known
	beginning := func(n int) {
		p.streams.Begin(fmt.Sprintf("%s %d of %d: %s", r.asked, n+1, len(found.Configurations), view.Visible(found.Configurations[n])))
	}
	for e := range inOrder(ctx, len(found.Configurations), func(n int) answered {
		beginning(n)
		return r.entry(ctx, p, found.Configurations[n])
	}) {
		if ctx.Err() != nil {
			break
		}
		everywhere = slices.DeleteFunc(everywhere, func(name string) bool { return !e.isRead || !slices.Contains(e.skips, name) })
		p.streams.Hide(e.sensitive)
		if err := r.tell(p, &e.Entry); err != nil {
			return nil, err
		}
		t.Entries = append(t.Entries, e.Entry)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if len(everywhere) > 0 {
		return nil, fmt.Errorf("--var names %q, which no configuration declares", everywhere[0])
	}
	return t, nil
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
	if e.Told == "" || r.asJSON {
		return nil
	}
	p.streams.Quiet()
	return view.TreeTold(p.streams.Err, e, p.streams.Screen(p.streams.Err))
}

// write writes the answers as text or as lines.
func (r *recursion) write(p *process, t *tree.Tree) error {
	if p.streams.WantsLines(r.asJSON) {
		if err := p.streams.JSON().Tree(t); r.asJSON || err != nil {
			return err
		}
	}
	return view.Tree(p.streams.Out, t, p.streams.Screen(p.streams.Out))
}
