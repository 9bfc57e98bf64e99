package config

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"remit/config/eval"
	"remit/config/syntax"
)

func (w *namingWriter) traversal(path hcl.Traversal, b bound) string {
	if name, ok := b.find(path.RootName()); ok {
		return name + w.steps(path[1:])
	}
	root, name := path.RootName(), ""
	if len(path) > 1 {
		name, _ = eval.StepName(path[1], true)
	}
	switch n := w.scope.Nodes[root][name]; {
	case root == "local" && n != nil:
		return w.local(n, path[2:])
	case blockAttributes(root) != nil && n != nil:
		return w.block(n, path[2:])
	case blockAttributes(root) != nil && len(path) == 1:
		return w.blocks(root, nil)
	case root == "data" && len(path) > 2:
		second, _ := eval.StepName(path[2], true)
		if n := w.scope.Nodes["data"][name+"."+second]; n != nil && w.sources[n] != nil {
			steps := path[min(len(path), 4):]
			return w.rows(w.sources[n], w.taken && len(steps) == 0) + w.steps(steps)
		}
	}
	return root + w.steps(path[1:])
}

// blockAttributes are what the values of blocks of a kind have; nil for a kind whose values
// have no attributes, or are written otherwise.
func blockAttributes(root string) []string {
	switch root {
	case "profile":
		return profileAttributes()
	case "batch":
		return []string{"name", "description"}
	case "schedule":
		return scheduleAttributes()
	}
	return nil
}

// block is what a block says: of the attribute that the first step names, or of all of them.
func (w *namingWriter) block(n *eval.Node, rest hcl.Traversal) string {
	known := blockAttributes(n.Root)
	if len(rest) > 0 {
		if name, ok := eval.StepName(rest[0], true); ok && slices.Contains(known, name) {
			return w.attribute(n, name) + w.steps(rest[1:])
		}
	}
	texts := make([]string, len(known))
	for i, name := range known {
		texts[i] = name + " = " + w.attribute(n, name)
	}
	return "{" + strings.Join(texts, ", ") + "}" + w.steps(rest)
}

func (w *namingWriter) attribute(n *eval.Node, name string) string {
	at := slices.IndexFunc(n.Arguments, func(a *eval.Argument) bool { return a.Name == name })
	switch {
	case name == "name":
		return quoted(n.Name)
	case name == "occurrences":
		return n.Address() + ".occurrences"
	case at < 0:
		return "null"
	}
	return w.inline(n.Arguments[at].Expr)
}

// blocks are all blocks of a kind, by their names, with what steps behind one of them lead to.
func (w *namingWriter) blocks(root string, steps hcl.Traversal) string {
	var texts []string
	for _, n := range w.scope.InOrder {
		if n.Root == root {
			texts = append(texts, quoted(n.Name)+" = "+w.block(n, steps))
		}
	}
	slices.Sort(texts)
	return shortened("{" + strings.Join(texts, ", ") + "}")
}

// picked is an attribute of a block that is only known with a row, such as
// profile[each.value.department].account_id: all that it may be.
func (w *namingWriter) picked(e *hclsyntax.RelativeTraversalExpr, b bound) (string, bool) {
	index, ok := syntax.Unwrap(e.Source).(*hclsyntax.IndexExpr)
	if !ok {
		return "", false
	}
	from, ok := syntax.Unwrap(index.Collection).(*hclsyntax.ScopeTraversalExpr)
	if !ok || len(from.Traversal) != 1 || blockAttributes(from.Traversal.RootName()) == nil {
		return "", false
	}
	if _, isBound := b.find(from.Traversal.RootName()); isBound {
		return "", false
	}
	return w.blocks(from.Traversal.RootName(), e.Traversal) + "[" + w.single(index.Key, b) + "]", true
}

// rows are those of a data source. Where a ref_id looks one of them up, which rows of which file
// are read is a part of its words; but a file whose name is written as it is may be replaced by
// one of another name, as by one of the same name.
func (w *namingWriter) rows(d *dataSource, taken bool) string {
	if !slices.Contains(w.data, d) {
		w.data = append(w.data, d)
	}
	w.names[d.file.Key] = true
	text := "rows(key = " + quoted(d.file.Key)
	if taken {
		return text + ")"
	}
	if a := d.block.Arguments["file"]; a != nil {
		if file := w.inline(a.Expr); !isPlainText(file) {
			text += ", file = " + file
		}
	}
	if d.where != nil {
		text += ", where = " + w.inline(d.where.Expr)
	}
	return text + ")"
}

// local is what a local says, as far as the steps behind its name can be followed in it.
func (w *namingWriter) local(n *eval.Node, rest hcl.Traversal) string {
	expr := n.Arguments[0].Expr
	for len(rest) > 0 {
		object, ok := syntax.Unwrap(expr).(*hclsyntax.ObjectConsExpr)
		name, isName := eval.StepName(rest[0], true)
		if !ok || !isName {
			break
		}
		at := slices.IndexFunc(object.Items, func(item hclsyntax.ObjectConsItem) bool {
			key, ok := syntax.LiteralKey(item.KeyExpr)
			return ok && key == name
		})
		if at < 0 {
			break
		}
		expr, rest = object.Items[at].ValueExpr, rest[1:]
	}
	if alias, ok := syntax.Unwrap(expr).(*hclsyntax.ScopeTraversalExpr); ok && len(rest) > 0 {
		return w.traversal(slices.Concat(alias.Traversal, rest), nil)
	}
	return w.inline(expr) + w.steps(rest)
}

// inline is an expression that stands for its name.
func (w *namingWriter) inline(expr hclsyntax.Expression) string {
	key := inlining{expr, w.taken}
	text, ok := w.inlined[key]
	if !ok {
		text = shortened(w.text(expr, nil))
		w.inlined[key] = text
	}
	return text
}

// shortened keeps names that stand for names from growing without bound.
func shortened(text string) string {
	if len(text) <= inlineMax {
		return text
	}
	sum := sha256.Sum256([]byte(text))
	return "sha256(" + hex.EncodeToString(sum[:]) + ")"
}
