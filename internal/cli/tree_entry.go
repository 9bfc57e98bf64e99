package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"

	"remit/config"
	"remit/internal/cli/exit"
	"remit/internal/cli/workspace"
	"remit/internal/doubt"
	"remit/internal/files/confined"
	"remit/internal/text/shell"
	"remit/internal/tree"
	"remit/planner"
)

// treeAtOnce is how many configurations are asked at once: what they hold in memory adds up.
const treeAtOnce = 2

// inOrder does work for 0 to count-1, [treeAtOnce] of them at once, and yields the results in that order.
func inOrder[T any](ctx context.Context, count int, work func(i int) T) iter.Seq[T] {
	return func(yield func(T) bool) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		done := make([]chan T, count)
		for i := range done {
			done[i] = make(chan T, 1)
		}
		var next atomic.Int64
		for range min(treeAtOnce, count) {
			go func() {
				for i := int(next.Add(1)) - 1; i < count && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
					done[i] <- work(i)
				}
			}()
		}
		for i := range done {
			select {
			case result := <-done[i]:
				if !yield(result) {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}

// answered is an entry, and what the whole tree needs to know of its configuration.
type answered struct {
	tree.Entry
	isRead    bool     // the configuration
	isOther   bool     // it is of another environment than the one that was asked for
	skips     []string // names of --var that it does not declare
	unread    []string // variables of the environment whose names it does not declare
	sensitive []string // texts to hide
	account   account
}

// errOther says that a configuration has another environment than the one that was asked for.
var errOther = errors.New("another environment")

// entry asks one configuration, as if a command had been given its directory and environment alone.
func (r *recursion) entry(ctx context.Context, p *process, at place) answered {
	var told, lines capture
	streams := p.streams.Apart(&told, &lines)
	machine := *p.host
	machine.LookupEnv = func(name string) (string, bool) {
		if name == config.EnvironmentVariable || name == policyVariable {
			return "", false // the place says the one, and a relative path of the other was read in the tree's directory
		}
		return p.host.LookupEnv(name)
	}
	apart := &process{host: &machine, streams: streams, ctx: ctx, typed: p.typed}
	o := planning{dir: r.within(p, at)}
	if r.plan != nil {
		o.author, o.expiresIn = r.plan.author, r.plan.expiresIn
	}
	e := answered{Entry: tree.Entry{Directory: at.directory, Environment: at.environment, Entity: tree.EntityOf(at.directory, r.dir.Path)}}
	loaded, err := r.brief(ctx, apart, &o, at, &e, r.environment(p))
	if errors.Is(err, errOther) {
		return answered{Entry: tree.Entry{Directory: at.directory}, account: e.account, isOther: true, isRead: true, skips: loaded.Unassigned, unread: loaded.Unread, sensitive: loaded.SensitiveTexts()}
	}
	e.ExitCode = streams.End(ctx, err)
	_ = streams.Close() // into memory
	if e.Brief == nil {
		e.Error, e.Next = "no plan could be made", streams.FailedHint
		if streams.Failed != nil {
			e.Error = streams.Redact(streams.Failed.Error())
		}
		if e.Next == "" {
			e.Next = o.dir.Command("validate")
		}
	}
	if loaded != nil {
		e.isRead, e.skips, e.unread, e.sensitive = true, loaded.Unassigned, loaded.Unread, loaded.SensitiveTexts()
	}
	e.Told, e.Lines = told.text(), lines.objects()
	return e
}

// brief plans, and keeps of the plan what an entry has of it. The configuration is nil where it can't be read.
func (r *recursion) brief(ctx context.Context, p *process, o *planning, at place, e *answered, asked string) (*config.Configuration, error) {
	w, err := open(p, &o.dir)
	if w == nil {
		return nil, err
	}
	e.Environment, e.Protected = w.config.Environment, w.config.Protected && !r.dir.Sandbox
	if asked != "" && asked != w.config.Environment {
		e.account = r.accountOf(w, at, nil)
		return w.config, errOther
	}
	if r.dir.Sandbox {
		e.Environment = w.state.Binding.Environment
	}
	if err != nil {
		return w.config, err
	}
	plan, err := o.plan(ctx, w)
	if err != nil {
		return w.config, o.planError(err)
	}
	e.Brief = tree.BriefOf(plan)
	for i := range o.approvals {
		e.Brief.Approvals = append(e.Brief.Approvals, o.approvals[i].Ask())
	}
	next := e.Brief.Next()
	if next == doubt.Apply {
		next = cmp.Or(o.finishing, next)
	}
	if saved, err := r.save(ctx, w, plan, &e.Entry); err != nil {
		e.Brief = nil
		return w.config, err
	} else if saved != "" && plan.Applicable() {
		next = "remit apply " + shell.File(saved)
		if len(e.Brief.Approvals) > 0 {
			next = "remit approve " + shell.File(saved)
		}
	}
	if next != "" {
		e.Next = o.dir.Here(next)
	}
	e.account = r.accountOf(w, at, plan)
	for i := range e.Brief.Groups {
		if next := &e.Brief.Groups[i].Next; *next != "" {
			*next = o.dir.Here(*next)
		}
	}
	if code := r.exitOf(plan); code != exit.Done {
		return w.config, exit.Code(code)
	}
	return w.config, nil
}

// save saves a plan that would send something, below the directory of --out, and returns the name of its file for the
// configuration's directory; "" where nothing is saved.
func (r *recursion) save(ctx context.Context, w *opened, plan *planner.Plan, e *tree.Entry) (string, error) {
	if r.out == "" || plan.Empty() {
		return "", nil
	}
	file := "remit.plan"
	if block := w.dir.Block(); block != "" {
		file = "remit." + block + ".plan"
	}
	below := filepath.Join(filepath.FromSlash(e.Directory), file)
	path := filepath.Join(r.dir.Within(r.out), below)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("save the plan: %w", confined.Plain(err))
	}
	name := path
	if !filepath.IsAbs(r.out) {
		name = relativeTo(w.dir.Path, path)
	}
	if err := savePlan(ctx, w, plan, name, io.Discard); err != nil {
		return "", err
	}
	e.Brief.SavedAs = filepath.ToSlash(filepath.Join(r.out, below))
	return name, nil
}

// within is the directory of the command line for one configuration below it.
func (r *recursion) within(p *process, at place) workspace.Directory {
	one := workspace.Directory{Path: filepath.Join(r.dir.Path, filepath.FromSlash(at.directory)), Environment: at.environment, Sandbox: r.dir.Sandbox, OneOfSeveral: true}
	for _, a := range r.dir.Assignments {
		a.IfDeclared = true
		one.Assignments = append(one.Assignments, a)
	}
	from := func(name string) string {
		if filepath.IsAbs(name) {
			return name
		}
		return relativeTo(one.Path, filepath.Join(r.dir.Path, name))
	}
	for _, name := range r.policyDirs(p) {
		if name != "" { // an empty one is a mistake, which is told of each
			name = from(name)
		}
		one.PolicyDirs = append(one.PolicyDirs, name)
	}
	if root := cmp.Or(r.dir.Root, p.host.Getenv("REMIT_ROOT")); root != "" { // relative to the directory of the tree
		one.Root = from(root)
	}
	return one
}

// policyVariable is the environment variable that names a policy directory.
const policyVariable = "REMIT_POLICY_DIR"

// policyDirs are the policy directories of the command line and of the environment variable, relative to the tree's directory.
func (r *recursion) policyDirs(p *process) []string {
	dirs := slices.Clone(r.dir.PolicyDirs)
	if dir, isSet := p.host.LookupEnv(policyVariable); isSet {
		dirs = append(dirs, dir)
	}
	return dirs
}

// relativeTo is the name of a path in a directory.
func relativeTo(dir, path string) string {
	if relative, err := filepath.Rel(dir, path); err == nil {
		return relative
	}
	return path
}

// captureMax bounds the kept output of one configuration.
const captureMax = 64 << 10

// capture keeps its input, up to [captureMax] bytes in whole lines.
type capture struct {
	bytes.Buffer
	cut int // lines that were left out
}

// Write implements io.Writer, and never fails.
func (c *capture) Write(text []byte) (int, error) {
	for line := range bytes.Lines(text) {
		if c.cut > 0 || c.Len()+len(line) > captureMax {
			c.cut++
			continue
		}
		_, _ = c.Buffer.Write(line) // into memory
	}
	return len(text), nil
}

// text returns the kept lines, and how many were dropped.
func (c *capture) text() string {
	if c.cut > 0 {
		return c.String() + fmt.Sprintf("and %d more lines\n", c.cut)
	}
	return c.String()
}

// objects are the kept lines as objects of JSON, without the first one, which says the format.
func (c *capture) objects() []json.RawMessage {
	var all []json.RawMessage
	for line := range bytes.Lines(c.Bytes()) {
		if json.Valid(line) {
			all = append(all, bytes.Clone(bytes.TrimSpace(line)))
		}
	}
	return all[min(1, len(all)):]
}
