package lsp

import (
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"remit/config"
)

// mention is a place that names a declaration.
type mention struct {
	source *source
	at     hcl.Range // of the last part of the name, in the piece
	start  int
	isKey  bool // it is written in brackets and quotation marks
}

// mentionsIn are the places of sources that name a value or a transfer.
func mentionsIn(sources []source, root, name string) []mention {
	var all []mention
	for i := range sources {
		for _, c := range sources[i].outline.chunks {
			if !strings.Contains(c.tree.text, root) {
				continue
			}
			if root == "var" && config.IsTest(filepath.Base(sources[i].path)) {
				for _, at := range setIn(c.tree.body, name) {
					all = append(all, mention{&sources[i], at, c.start, false})
				}
			}
			eachTraversal(c.tree.body, func(t hcl.Traversal) {
				r, n, last := mentioned(t)
				if r != root || n != name {
					return
				}
				_, isKey := last.(hcl.TraverseIndex)
				all = append(all, mention{&sources[i], stepRange(last), c.start, isKey})
			})
		}
	}
	return all
}

// mentioned is addressOf, also of a limit or a policy, which tests name, and of plan.batches.NAME.
func mentioned(t hcl.Traversal) (root, name string, last hcl.Traverser) {
	root = t.RootName()
	switch {
	case root == "plan" && len(t) > 2:
		if batches, _ := stepName(t[1]); batches == "batches" {
			name, _ = stepName(t[2])
			return "batch", name, t[2]
		}
	case (root == "limit" || root == "policy") && len(t) > 1:
		name, _ = stepName(t[1])
		return root, name, t[1]
	}
	return addressOf(t)
}

// setIn are the names of a variable to which a file of tests gives a value.
func setIn(body *hclsyntax.Body, name string) []hcl.Range {
	var all []hcl.Range
	for _, b := range body.Blocks {
		switch a := b.Body.Attributes[name]; {
		case b.Type == "run":
			all = append(all, setIn(b.Body, name)...)
		case b.Type == "variables" && a != nil:
			all = append(all, a.NameRange)
		}
	}
	return all
}

// textIn is where a policy or a test has a text by itself; false where none has.
func textIn(sources []source, text string) (from *source, line int, ok bool) {
	for i := range sources {
		for _, c := range sources[i].outline.chunks {
			for _, b := range c.tree.body.Blocks {
				if b.Type != "policy" && b.Type != "run" {
					continue
				}
				_ = hclsyntax.VisitAll(b.Body, func(node hclsyntax.Node) hcl.Diagnostics {
					if e, isText := node.(*hclsyntax.TemplateExpr); isText && e.IsStringLiteral() && !ok {
						if v, diags := e.Value(nil); !diags.HasErrors() && v.AsString() == text {
							from, line, ok = &sources[i], c.line+e.SrcRange.Start.Line, true
						}
					}
					return nil
				})
			}
		}
	}
	return from, line, ok
}

// eachTraversal calls use for each reference in the values of a body.
func eachTraversal(body *hclsyntax.Body, use func(hcl.Traversal)) {
	for _, a := range body.Attributes {
		for _, t := range a.Expr.Variables() {
			use(t)
		}
	}
	for _, b := range body.Blocks {
		if b.Body != nil {
			eachTraversal(b.Body, use)
		}
	}
}
