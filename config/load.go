package config

import (
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"remit/config/eval"
	"remit/config/functions"
	"remit/config/meter"
	"remit/config/mistake"
	"remit/config/syntax"
	"remit/internal/text/terraform"
)

// Load reads, parses and checks everything in dir but the data rows that transfers are made
// of, which [Configuration.Transfers] streams. The diagnostics carry warnings too. Where one
// is an error, the mistakes of the rows are among them as well, so that an author sees all
// in one go; the configuration then is good for [Configuration.Files] alone. It is never
// nil.
func Load(dir string, opts Options) (*Configuration, hcl.Diagnostics) {
	if opts.Getenv == nil {
		opts.Getenv = func(string) string { return "" }
	}
	c, diags, ok := load(dir, opts, false)
	if !ok {
		c, diags, _ = load(dir, opts, true)
	}
	return c, diags
}

// load is Load. It is false where a part of a file could not be parsed, which does not
// happen where files are parsed whole.
func load(dir string, opts Options, whole bool) (*Configuration, hcl.Diagnostics, bool) {
	c := &Configuration{Dir: dir, Environment: environmentDefault, options: opts, open: map[string]bool{}, data: map[*eval.Node]*dataSource{}}
	var diags hcl.Diagnostics
	c.sources, diags = openSources(dir, whole)
	if diags.HasErrors() {
		return c, diags, true
	}
	l := &loader{
		config: c, names: map[string]hcl.Range{}, contexts: map[string]*hcl.EvalContext{},
		policyFiles: map[string]bool{}, batches: map[string]*batchBlock{}, usedNow: map[*eval.Node]bool{}, usedLater: map[*eval.Node]bool{},
	}
	m := meter.New(opts.Done)
	c.scope = eval.NewScope(functions.TableOf(c.sources.root, c.sources.noteRead, m), m, attributes(), dataTypes())
	c.Service, c.State = serviceDefaults(), stateDefaults()
	c.assets = scales{}

	if l.openPolicyDirs(); !l.needsControls() {
		l.diags = nil
	} else if l.diags.HasErrors() {
		return c, l.diags, true // what lacks a name may have it there
	}
	l.readBlocks()
	l.overrideData()
	if opts.Need != NeedAll {
		l.parseTransfers()
	}
	l.assign()
	l.settle()
	if diags := l.evaluateRemit(); diags.HasErrors() {
		return c, diags, true // what else is wrong may be right in the version that is required
	}
	l.evaluateState()
	l.evaluateService()
	if l.needsSandbox() {
		l.evaluateAssets()
		l.evaluateSandbox()
	}
	l.evaluateApprovals()
	if l.needsControls() {
		l.evaluateLimits()
		l.evaluatePolicies()
	}
	switch {
	case opts.Need == NeedAll:
		l.evaluateControls()
		l.compileTransfers()
	case l.needsControls():
		l.tryControls()
	}
	if l.unreadable {
		_ = c.sources.root.Close()
		for _, d := range l.policyDirs {
			_ = d.Root.Close()
		}
		return c, nil, false
	}
	l.requireVariables()

	var all mistake.Set
	all.Add(l.diags)
	if all.HasErrors() {
		for _, more := range c.stream(context.Background()) {
			all.Add(more)
		}
	}
	c.sound = !all.HasErrors()
	return c, all.Diagnostics(), true
}

// loader is one Load under way. Each step adds what it finds to diags and goes on.
type loader struct {
	config *Configuration
	diags  hcl.Diagnostics
	names  map[string]hcl.Range // what is declared, by address

	policyDirs  []*policyDir
	policyFiles map[string]bool // by the names that diagnostics use

	variables []*variable
	batches   map[string]*batchBlock
	remit     *eval.Block // nil where there is none
	state     *eval.Block
	service   *eval.Block
	sandbox   *eval.Block
	assets    []*eval.Block
	approvals []*eval.Block
	limits    []*eval.Block
	policies  []*eval.Block
	transfers []transferSource
	contexts  map[string]*hcl.EvalContext // of transfer blocks, by what they name
	// unreadable says that a part of a file could not be parsed.
	unreadable bool

	usedNow, usedLater map[*eval.Node]bool // variables without a value, by when they are needed
}

func (l *loader) report(diags ...*hcl.Diagnostic) { l.diags = append(l.diags, diags...) }

// readBlocks takes every block of every file in, in declaration order.
func (l *loader) readBlocks() {
	openers, kinds, readers := map[string]*eval.Opener{}, map[string]eval.Kind{}, l.readers()
	root := &hcl.BodySchema{}
	for _, kind := range blockKinds() {
		openers[kind.Name], kinds[kind.Name] = eval.NewOpener(kind, l.config.scope.Meter), kind
		root.Blocks = append(root.Blocks, hcl.BlockHeaderSchema{Type: kind.Name, LabelNames: kind.Labels})
	}
	read := func(body hcl.Body, in *eval.PolicyDir) (blocks int) {
		content, rest, diags := body.PartialContent(root)
		l.report(diags...)
		l.refuseOthers(body, rest, slices.Collect(maps.Keys(kinds)))
		for _, from := range content.Blocks {
			if kind := kinds[from.Type]; in == nil || kind.Policy {
				l.readBlock(kind, openers[from.Type], from, in, readers[from.Type])
			} else if l.needsControls() {
				l.refuseInPolicyDir(from.Type, from.DefRange)
			}
		}
		return len(content.Blocks)
	}
	for _, d := range l.policyDirs {
		for _, source := range d.parsed {
			if blocks := read(source.file.Body, d.PolicyDir); blocks == 0 && l.needsControls() {
				l.report(noControl(source.name))
			}
		}
	}
	for _, source := range l.config.sources.parsed {
		if source.parts == nil {
			read(source.file.Body, nil)
		}
		for _, p := range source.parts {
			if p.TransfersOnly {
				l.transfers = append(l.transfers, transferSource{part: p})
			} else {
				read(p.Body, nil)
			}
		}
	}
}

func (l *loader) readBlock(kind eval.Kind, open *eval.Opener, from *hcl.Block, in *eval.PolicyDir, read func(*eval.Block)) {
	if !l.reads(kind.Name) {
		before := len(l.diags)
		defer func() { l.diags = l.diags[:before] }()
	}
	b, diags := open.Open(from)
	b.StandIn(in)
	l.report(diags...)
	if kind.Single && !l.declare(from.Type+" block", b.At) {
		return
	}
	read(b)
}

// refuseOthers reports what stands at the top of a file and is no block of this version.
func (l *loader) refuseOthers(body, rest hcl.Body, known []string) {
	refuse := func(name string, r hcl.Range) {
		why, isTerraform := terraform.Block(name)
		switch {
		case slices.Contains(known, name):
		case isTerraform:
			l.report(mistake.New(r, "No "+name+" block", "%s", why))
		default:
			l.report(mistake.New(r, "Unsupported block type", "There is no block of type %q.%s", name, mistake.DidYouMean(name, known)))
		}
	}
	if native, ok := body.(*hclsyntax.Body); ok {
		for _, inner := range native.Blocks {
			refuse(inner.Type, inner.TypeRange)
		}
		for _, attribute := range native.Attributes {
			l.report(mistake.New(attribute.NameRange, "Unsupported argument",
				"Arguments stand in blocks. Is %q meant to be in a locals block?", attribute.Name))
		}
		return
	}
	attributes, diags := rest.JustAttributes()
	if diags.HasErrors() { // a list of objects: HCL names what is extraneous in them
		_, diags = rest.Content(&hcl.BodySchema{})
		l.report(diags...)
		return
	}
	for name, attribute := range attributes {
		refuse(name, attribute.NameRange)
	}
}

// declare notes that something stands at r. Where it stood elsewhere already, it reports
// both places and returns false.
func (l *loader) declare(address string, r hcl.Range) bool {
	if first, ok := l.names[address]; ok {
		d := mistake.New(r, "Declared twice", "%s was already declared at %s.", address, mistake.At(first))
		if l.policyFiles[first.Filename] && !l.policyFiles[r.Filename] {
			d.Detail += " That is in a policy directory, which the configuration can't override: give this one another name, or remove it."
		}
		l.report(d)
		return false
	}
	l.names[address] = r
	return true
}

// declareNamed is declare for a block whose last label is its name, which must be an
// identifier because references name it.
func (l *loader) declareNamed(b *eval.Block, address string) bool {
	last := len(b.Labels) - 1
	if last < 0 || !l.checkIdentifier(b.Labels[last], b.LabelAt[last]) {
		return false
	}
	return l.declare(address, b.At)
}

func (l *loader) checkIdentifier(name string, r hcl.Range) bool {
	if hclsyntax.ValidIdentifier(name) {
		return true
	}
	l.report(mistake.New(r, "Invalid name",
		"A name that is referred to begins with a letter and has letters, digits, '_' and '-' only; %q does not.", name))
	return false
}

// settle evaluates everything that has a name, each after what it depends on.
func (l *loader) settle() {
	scope := l.config.scope
	wrong := make(map[*eval.Node]hcl.Diagnostics)
	for _, n := range scope.InOrder {
		for _, a := range n.Arguments {
			within := eval.WideReach()
			within.Row, within.Policy = a.Row, n.Policy
			refs, diags := scope.Resolve(a.Expr, within)
			a.Refs = refs
			wrong[n] = append(wrong[n], diags...)
		}
	}
	needed := l.needed()
	for _, n := range scope.InOrder {
		l.reportOf(n, needed, wrong[n])
	}
	order, diags := scope.Sorted()
	l.report(diags...)
	for _, n := range order {
		l.reportOf(n, needed, n.Settle())
	}
	l.validate()
}

// resolveBlock finds what the arguments of b, and of the blocks in it, refer to.
func (l *loader) resolveBlock(b *eval.Block, within eval.Reach) {
	within.Policy = b.Policy != nil
	for _, a := range b.All() {
		l.resolveArgument(a, within, false)
	}
}

// resolveArgument finds what a refers to. Later says that a is not evaluated before a token
// is needed.
func (l *loader) resolveArgument(a *eval.Argument, within eval.Reach, later bool) {
	_, isText := syntax.LiteralText(a.Expr)
	if _, isObject := syntax.LiteralObject(a.Expr); isText || isObject {
		a.Refs = &eval.References{}
		return
	}
	refs, diags := l.config.scope.Resolve(a.Expr, within)
	l.report(diags...)
	a.Refs = refs
	for _, n := range refs.Nodes {
		l.use(n, later)
	}
}

// narrowReader resolves and returns a reader of a block that may refer to variables and
// locals only.
func (l *loader) narrowReader(b *eval.Block, secret bool) *eval.Reader {
	l.resolveBlock(b, eval.NarrowReach())
	return &eval.Reader{Scope: l.config.scope, Block: b, Secret: secret}
}
