package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"path/filepath"
	"sync/atomic"

	"remit/config"
	"remit/internal/cli/exit"
	"remit/internal/cli/workspace"
	"remit/internal/tree"
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
	skips     []string // names of --var that it does not declare
	sensitive []string // texts to hide
}

// entry asks one configuration, as if a command had been given its directory alone.
func (r *recursion) entry(ctx context.Context, p *process, directory string) answered {
	var told, lines capture
	streams := p.streams.Apart(&told, &lines)
	apart := &process{host: p.host, streams: streams, ctx: ctx, typed: p.typed}
	o := planning{dir: r.within(directory)}
	e := answered{Entry: tree.Entry{Directory: directory, Entity: tree.EntityOf(directory, r.dir.Path)}}
	loaded, err := r.brief(ctx, apart, &o, &e.Entry)
	e.ExitCode = streams.End(ctx, err)
	streams.Close()
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
		e.isRead, e.skips, e.sensitive = true, loaded.Unassigned, loaded.SensitiveTexts()
	}
	e.Told, e.Lines = told.text(), lines.objects()
	return e
}

// brief plans, and keeps of the plan what an entry has of it. The configuration is nil where it can't be read.
func (r *recursion) brief(ctx context.Context, p *process, o *planning, e *tree.Entry) (*config.Configuration, error) {
	w, err := open(p, &o.dir, false)
	if w == nil {
		return nil, err
	}
	e.Environment = w.config.Environment
	if r.dir.Sandbox {
		e.Environment = w.state.Binding.Environment
	}
	if err != nil {
		return w.config, err
	}
	plan, err := o.plan(ctx, w, false)
	if err != nil {
		return w.config, o.planError(err)
	}
	e.Brief = tree.BriefOf(plan)
	for i := range o.approvals {
		e.Brief.Approvals = append(e.Brief.Approvals, o.approvals[i].Ask())
	}
	if next := e.Brief.Next(); next != "" {
		e.Next = o.dir.Here(next)
	}
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

// within is the directory of the command line for one configuration below it.
func (r *recursion) within(directory string) workspace.Directory {
	one := workspace.Directory{Path: filepath.Join(r.dir.Path, filepath.FromSlash(directory)), Sandbox: r.dir.Sandbox}
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
	for _, name := range r.dir.PolicyDirs {
		one.PolicyDirs = append(one.PolicyDirs, from(name))
	}
	if r.dir.Root != "" {
		one.Root = from(r.dir.Root)
	}
	return one
}

// relativeTo is the name of a path in a directory.
func relativeTo(dir, path string) string {
	if relative, err := filepath.Rel(dir, path); err == nil {
		return relative
	}
	return path
}

// captureMax bounds what is kept of what one configuration tells.
const captureMax = 64 << 10

// capture keeps what is written to it, up to [captureMax] bytes in whole lines.
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

// text is what was kept, and how many lines were not.
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
