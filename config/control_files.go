package config

import (
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"remit/config/eval"
	"remit/config/functions"
	"remit/config/mistake"
	"remit/internal/text/english"
)

// controlledBy is an argument of a control block with the files that it is computed from.
type controlledBy struct {
	batch    string
	argument *eval.Argument
	files    map[string]bool
}

// controlFiles are the arguments of control blocks that read files.
func (l *loader) controlFiles() []controlledBy {
	var all []controlledBy
	for i := range l.config.Batches {
		batch := l.config.Batches[i].Name
		for _, b := range l.controls[batch] {
			for _, a := range b.All() {
				if a.Refs == nil || !a.Refs.Ready() {
					continue // which was told
				}
				f := newFilesOf(l, true)
				l.scope.Meter.Aside(func() { f.add(a) })
				if len(f.files) > 0 {
					all = append(all, controlledBy{batch, a, f.files})
				}
			}
		}
	}
	return all
}

// checkControlFiles refuses a control total that is computed from a file whose rows its batch pays: it agrees with whatever they are. A
// file of totals that came beside the rows is another one.
func (l *loader) checkControlFiles(controls []controlledBy) {
	for _, c := range controls {
		rows := newFilesOf(l, false)
		for _, t := range l.config.memberships.inOrder {
			if t.repeated && !t.broken && (slices.Contains(t.memberOf, c.batch) || t.fields["batch"] != nil && t.fields["batch"].Refs.Each) {
				l.scope.Meter.Aside(func() { rows.add(t.block.Arguments["for_each"]) })
			}
		}
		var both []string
		for _, name := range slices.Sorted(maps.Keys(c.files)) {
			if rows.files[name] {
				both = append(both, name)
			}
		}
		if both != nil {
			l.report(mistake.New(c.argument.Expr.Range(), "Control total of the rows themselves",
				"%s is computed from %s, whose rows batch %q pays: a total that is computed from the rows agrees with whatever they are, also where the file is cut off. %s", c.argument.Name, english.List(both), c.batch, controlRemedy))
		}
	}
}

// controlRemedy says where a control total comes from.
const controlRemedy = "Take it from where the file came from, as a value or by --var:\n\n  count  = 118\n  totals = { USD = \"412850.22\" }"

// filesOf finds the files that arguments read, by themselves and by the locals that they name.
type filesOf struct {
	loader *loader
	isAll  bool // whatever is read; else only what a collection comes from
	seen   map[*eval.Argument]bool
	files  map[string]bool
}

func newFilesOf(l *loader, isAll bool) *filesOf {
	return &filesOf{l, isAll, map[*eval.Argument]bool{}, map[string]bool{}}
}

func (f *filesOf) add(a *eval.Argument) {
	if a == nil || a.Refs == nil || f.seen[a] {
		return
	}
	f.seen[a] = true
	w := &filesWalk{filesOf: f}
	_ = hclsyntax.Walk(a.Expr, w)
	if !w.reads {
		return
	}
	sources := f.loader.config.sources
	if ctx, ok, _ := f.loader.scope.Context(a.Refs); ok {
		maps.Copy(f.files, sources.readBy(func() { _, _ = f.loader.scope.Evaluate(a.Expr, a.Refs, ctx) }))
	}
}

// filesWalk goes through the expression of an argument.
type filesWalk struct {
	*filesOf
	within int  // bodies of loops around the node
	reads  bool // a function in it reads files
}

// Enter is called before the nodes below a node.
func (w *filesWalk) Enter(node hclsyntax.Node) hcl.Diagnostics {
	switch node := node.(type) {
	case hclsyntax.ChildScope:
		w.within++
	case *hclsyntax.FunctionCallExpr:
		w.reads = w.reads || functions.ReadsFiles(node.Name)
	case *hclsyntax.ScopeTraversalExpr:
		if w.isAll || w.within == 0 { // the body of a loop only adds to its rows
			w.named(node.Traversal)
		}
	}
	return nil
}

// Exit is called after them.
func (w *filesWalk) Exit(node hclsyntax.Node) hcl.Diagnostics {
	if _, ok := node.(hclsyntax.ChildScope); ok {
		w.within--
	}
	return nil
}

// named adds the files of what a reference names.
func (w *filesWalk) named(path hcl.Traversal) {
	switch path.RootName() {
	case "local":
		if local := w.loader.transfers.localNamed(path[:min(2, len(path))]); local != nil {
			w.add(local)
		}
	case "data":
		for n, d := range w.loader.config.data {
			if isNamed(path, n.Name) && d.file != nil {
				w.files[d.file.Name] = true
			}
		}
	}
}
