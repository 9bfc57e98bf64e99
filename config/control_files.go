package config

import (
	"maps"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"remit/config/eval"
	"remit/config/functions"
)

// filesOf finds the files that arguments read, by themselves and by the locals that they name.
type filesOf struct {
	scope   *eval.Scope
	data    map[*eval.Node]*dataSource
	sources *sourceFiles
	isAll   bool // each file that is read; else only those from which a collection comes
	seen    map[*eval.Argument]bool
	files   map[string]bool
}

func newFilesOf(s *eval.Scope, data map[*eval.Node]*dataSource, sources *sourceFiles, isAll bool) *filesOf {
	return &filesOf{s, data, sources, isAll, map[*eval.Argument]bool{}, map[string]bool{}}
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
	if ctx, ok, _ := f.scope.Context(a.Refs); ok {
		maps.Copy(f.files, f.sources.readBy(func() { _, _ = f.scope.Evaluate(a.Expr, a.Refs, ctx) }))
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
		if local := localNamed(w.scope, path[:min(2, len(path))]); local != nil {
			w.add(local)
		}
	case "data":
		for n, d := range w.data {
			if isNamed(path, n.Name) && d.file != nil {
				w.files[d.file.Name] = true
			}
		}
	}
}
