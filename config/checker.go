package config

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/config/syntax"
)

// checker is the reading of blocks under way: it declares their names, finds what their arguments
// refer to, and gathers their mistakes.
type checker struct {
	scope *eval.Scope
	diags hcl.Diagnostics
	names map[string]hcl.Range // places of declarations, by address

	policyFiles   map[string]bool // by the names that diagnostics use
	includedFiles map[string]bool // of included directories

	profiles map[string]*eval.Block // by their IDs, where these are written out

	usedNow, usedLater map[*eval.Node]bool // variables without a value, by when they are needed
}

func newChecker(scope *eval.Scope) *checker {
	return &checker{
		scope: scope, names: map[string]hcl.Range{}, policyFiles: map[string]bool{}, includedFiles: map[string]bool{}, profiles: map[string]*eval.Block{},
		usedNow: map[*eval.Node]bool{}, usedLater: map[*eval.Node]bool{},
	}
}

// report adds mistakes, and goes on.
func (c *checker) report(diags ...*hcl.Diagnostic) { c.diags = append(c.diags, diags...) }

// declare notes the place r of an address. Where the address had another place already, it reports
// both and returns false.
func (c *checker) declare(address string, r hcl.Range) bool {
	if first, ok := c.names[address]; ok {
		d := mistake.New(r, "Declared twice", "%s was already declared at %s.", address, mistake.At(first))
		if first.Filename != r.Filename {
			d.Extra = &mistake.Origin{Column: first.Filename, Reason: r.Filename}
		}
		switch {
		case c.policyFiles[first.Filename] && !c.policyFiles[r.Filename]:
			d.Detail += " That is in a policy directory, which the configuration can't override: give this one another name, or remove it."
		case c.includedFiles[first.Filename]:
			d.Detail += " That is in an included directory, and nothing declared there can be declared again: give one of them another name, or remove it."
		case first.Filename != r.Filename:
			d.Detail += fmt.Sprintf(" remit reads all files of the directory whose names end in .hcl. Where one is a copy of the other, delete %s or %s.", first.Filename, r.Filename)
		case strings.HasPrefix(address, "transfer."):
			d.Detail += " Where this is another payment, give it a name of its own; else delete one of them."
		}
		c.report(d)
		return false
	}
	c.names[address] = r
	return true
}

// declareNamed is declare for a block whose last label is its name, which must be an
// identifier because references name it.
func (c *checker) declareNamed(b *eval.Block, address string) bool {
	last := len(b.Labels) - 1
	if last < 0 || !c.checkIdentifier(b.Labels[last], b.LabelAt[last]) {
		return false
	}
	return c.declare(address, b.At)
}

func (c *checker) checkIdentifier(name string, r hcl.Range) bool {
	if hclsyntax.ValidIdentifier(name) {
		return true
	}
	c.report(mistake.New(r, "Invalid name",
		"A name that is referred to begins with a letter and has letters, digits, '_' and '-' only; %q does not.", name))
	return false
}

// resolveBlock finds what the arguments of b, and of the blocks in it, refer to.
func (c *checker) resolveBlock(b *eval.Block, within eval.Reach) {
	within = b.Within(within)
	for _, a := range b.All() {
		c.resolveArgument(a, within, false)
	}
}

// resolveArgument finds what a refers to. Later says that a is not evaluated before a token
// is needed.
func (c *checker) resolveArgument(a *eval.Argument, within eval.Reach, later bool) {
	c.report(quotedReferences(c.scope, a)...)
	text, isText := syntax.LiteralText(a.Expr)
	if isText && a.Name == "error_message" && strings.TrimSpace(text.AsString()) == "" {
		c.report(mistake.New(a.Expr.Range(), "Message is empty", "People read error_message where the condition does not hold. Write a sentence, such as:\n\n  error_message = \"The payroll has at most 200 rows.\""))
	}
	if _, isObject := syntax.LiteralObject(a.Expr); isText || isObject {
		a.Refs = &eval.References{}
		return
	}
	refs, diags := c.scope.Resolve(a.Expr, within)
	c.report(diags...)
	a.Refs = refs
	for _, n := range refs.Nodes {
		c.use(n, later)
	}
}

// narrowReader resolves and returns a reader of a block that may refer to variables and
// locals only.
func (c *checker) narrowReader(b *eval.Block, secret bool) *eval.Reader {
	c.resolveBlock(b, eval.NarrowReach())
	return &eval.Reader{Scope: c.scope, Block: b, Secret: secret}
}

// use notes which variables without a value n needs, now or not before a token is needed.
func (c *checker) use(n *eval.Node, later bool) {
	for _, missing := range n.Missing {
		if later {
			c.usedLater[missing] = true
		} else {
			c.usedNow[missing] = true
		}
	}
}
