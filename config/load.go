package config

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"remit/config/eval"
	"remit/config/meter"
	"remit/config/mistake"
	"remit/internal/text/english"
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
	c := &Configuration{
		Dir: dir, Environment: environmentDefault, Service: serviceDefaults(), State: stateDefaults(""),
		options: opts, open: map[string]bool{}, data: map[*eval.Node]*dataSource{},
	}
	var diags hcl.Diagnostics
	c.sources, diags = openSources(dir, whole, c.options.Unsaved, c.options.Memory.known())
	if c.sources.root != nil {
		c.roots = append(c.roots, c.sources.root)
	}
	if diags.HasErrors() {
		return c, mistake.Gathered(diags), true
	}
	m := meter.New(opts.Done)
	c.scope = eval.NewScope(c.sources.functions(c.sources.root, "", m), m, attributes(), dataTypes())
	l := newLoader(c)
	l.policyDirs = openPolicyDirs(l.checker, opts, dir, c.sources, &c.controls)
	for _, d := range l.policyDirs {
		c.roots = append(c.roots, d.Root)
	}
	if !opts.needsControls() {
		l.diags = nil
	} else if l.diags.HasErrors() {
		return c, l.diags, true // a missing name may be there
	}
	l.report(diags...) // warnings of the files
	l.included, diags = openIncluded(l.checker, dir, opts, c.sources, l.policyDirs)
	for _, b := range l.included {
		c.roots = append(c.roots, b.Root)
	}
	if diags.HasErrors() {
		l.report(diags...)
		return c, l.diags, true
	}
	l.report(diags...)
	for _, b := range l.included {
		c.Includes = append(c.Includes, b.Name)
	}
	l.readBlocks()
	if diags := l.choose(); diags.HasErrors() {
		return c, mistake.Gathered(append(l.diags, diags...)), true // the rest may be right in the one that is meant
	}
	l.overrideData()
	if opts.Need != NeedAll {
		l.transfers.parse()
	}
	l.variables.hasEnvironments = len(l.environments) > 0 || l.remit != nil && l.remit.Arguments["environment"] != nil
	l.variables.assign(opts, dir, c.sources, l.environments, l.chosen)
	c.Unassigned, c.Unread = l.variables.unassigned, l.variables.unread(opts)
	l.settle()
	if diags := l.evaluate(); diags.HasErrors() {
		return c, diags, true // what else is wrong may be right in the version that is required
	}
	if l.transfers.unreadable {
		Close(c)
		return c, nil, false
	}
	l.variables.require(opts.Need)

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

// loader is one Load under way: the blocks, as they are read and before they are evaluated.
type loader struct {
	*checker
	config *Configuration

	policyDirs []*policyDir
	included   []*includedDir
	variables  *variables
	transfers  *transferReader
	schedules  []*Schedule
	controls   map[string][]*eval.Block // of batches, by their names

	environments []*eval.Block
	chosen       *eval.Block   // of environments; nil where there are none
	passedOver   []*eval.Block // state and service blocks that the chosen environment does not use

	remit     *eval.Block // nil where there is none
	state     *eval.Block // of the chosen environment, or else of the top level
	stateTop  *eval.Block // of the top level
	service   *eval.Block
	sandbox   *eval.Block
	assets    []*eval.Block
	approvals []*eval.Block
	limits    []*eval.Block
	policies  []*eval.Block
}

func newLoader(c *Configuration) *loader {
	check := newChecker(c.scope)
	c.assets, c.currencies, c.memberships = scales{}, map[string]string{}, newMemberships()
	return &loader{
		checker: check, config: c, controls: map[string][]*eval.Block{},
		variables: &variables{checker: check, open: c.open},
		transfers: &transferReader{
			checker: check, data: c.data, contexts: map[string]*hcl.EvalContext{}, merged: newMergedRows(c.scope, c.data),
			configured: &configured{
				scope: c.scope, files: c.sources.files, data: c.sources.data, assets: c.assets, currencies: c.currencies, memberships: c.memberships,
			},
		},
	}
}

// evaluate evaluates the blocks that no expression names, in the order in which they need one
// another. It returns an error only where another version of the program is required.
func (l *loader) evaluate() hcl.Diagnostics {
	c, opts := l.config, l.config.options
	named, diags := evaluateRemit(l.checker, l.remit, opts.Version)
	if diags.HasErrors() {
		return diags
	}
	if len(l.environments) == 0 {
		c.Environment = named
	}
	l.refuseInRemit()
	l.checkAsked()
	l.useLaterElsewhere()
	c.stateBlock = l.state
	c.State = evaluateState(l.checker, l.state, stateDefaults(l.blockName()), c.Environment, opts.Sandbox)
	l.checkStates()
	c.Service, c.service = evaluateService(l.checker, l.service, opts)
	if opts.needsSandbox() {
		evaluateAssets(l.checker, l.assets, c.assets, c.currencies)
		c.Sandbox.OpeningBalances = evaluateSandbox(l.checker, l.sandbox, c.assets, c.sources.files)
	} else {
		tryAssets(l.checker, l.assets, c.assets, c.currencies)
	}
	controls := &controlReader{
		checker: l.checker, root: c.sources.root, files: c.sources.files, assets: c.assets, need: opts.Need, zone: opts.Zone, found: &c.controls,
	}
	controls.evaluateApprovals(l.approvals)
	c.approvalsBroken = controls.broken
	if opts.needsControls() {
		controls.evaluateLimits(l.limits)
		controls.evaluatePolicies(l.policies)
	}
	switch {
	case opts.Need == NeedAll:
		evaluateControls(l.checker, c.Batches, l.controls)
		told := len(l.diags)
		l.compileTransfers()
		if len(controls.addresses) > 0 && !l.diags[told:].HasErrors() { // else a block may lack its address
			l.report(checkAddresses(controls.addresses, c.memberships.addresses())...)
		}
	case opts.needsControls():
		tryControls(l.checker, c.Batches, l.controls)
	}
	return nil
}

func (l *loader) compileTransfers() {
	c := l.config
	l.transfers.configured.fingerprintKey = c.Service.FingerprintKey
	book, diags := newAddressBook(l.scope)
	l.report(diags...)
	l.transfers.configured.book = book
	controls := l.controlFiles()
	if len(controls) == 0 { // else each transfer is looked at
		c.kept = newKeeper(c)
	}
	l.transfers.kept = c.kept
	l.transfers.configured.schedules = l.schedules
	l.transfers.compileAll()
	l.checkControlFiles(controls)
	c.transfers = c.memberships.inOrder
	if c.Service.LookupPath == "" && !c.options.Sandbox && l.service != nil {
		l.transfers.warnUnmeetable(c.memberships)
	}
}

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
				f := newFilesOf(l.scope, l.config.data, l.config.sources, true)
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
		rows := newFilesOf(l.scope, l.config.data, l.config.sources, false)
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
				"%s comes from %s, whose rows batch %q pays. A total out of the file of the rows controls nothing: who changes the rows can change it with them, and one that is computed from them agrees with whatever they are. %s", c.argument.Name, english.List(both), c.batch, controlRemedy))
		}
	}
}

// newKeeper begins a check with what earlier ones left; nil where nothing is kept.
func newKeeper(c *Configuration) *keeper {
	m := c.options.Memory
	if m == nil || c.options.Need != NeedAll {
		return nil
	}
	common := commonInputs{c.Dir, c.options.Sandbox, c.Service.FingerprintKey, maps.Clone(c.assets), maps.Clone(c.currencies)}
	return &keeper{
		memory: m.begin(c.options.Environment, common), scope: c.scope, versions: map[*eval.Node]uint64{}, batch: c.memberships.stateOf,
	}
}

// readBlocks takes every block of every file in, in declaration order.
func (l *loader) readBlocks() {
	openers, kinds, readers := map[string]*eval.Opener{}, map[string]eval.Kind{}, l.readers()
	root := &hcl.BodySchema{}
	for _, kind := range blockKinds() {
		openers[kind.Name], kinds[kind.Name] = eval.NewOpener(kind, l.scope.Meter), kind
		root.Blocks = append(root.Blocks, hcl.BlockHeaderSchema{Type: kind.Name, LabelNames: kind.Labels})
	}
	read := func(body hcl.Body, in *eval.PolicyDir, of *eval.IncludedDir) (blocks int) {
		content, rest, diags := body.PartialContent(root)
		l.report(explainLabels(diags)...)
		l.refuseOthers(body, rest, slices.Collect(maps.Keys(kinds)))
		for _, from := range content.Blocks {
			switch kind := kinds[from.Type]; {
			case of != nil && !kind.Shared:
				refuseInIncluded(l.checker, from.Type, from.DefRange)
			case in == nil || kind.Policy:
				l.readBlock(kind, openers[from.Type], from, in, of, readers[from.Type])
			case l.config.options.needsControls():
				refuseInPolicyDir(l.checker, from.Type, from.DefRange)
			}
		}
		return len(content.Blocks)
	}
	l.report(emptyBlocks(l.config.sources.parsed, blockKinds())...)
	for _, d := range l.policyDirs {
		l.report(emptyBlocks(d.parsed, blockKinds())...)
		for _, source := range d.parsed {
			if blocks := read(source.file.Body, d.PolicyDir, nil); blocks == 0 && l.config.options.needsControls() {
				l.report(noControl(source.name))
			}
		}
	}
	for _, b := range l.included {
		l.report(emptyBlocks(b.parsed, blockKinds())...)
		for _, source := range b.parsed {
			read(source.file.Body, nil, b.IncludedDir)
		}
	}
	for _, source := range l.config.sources.parsed {
		if source.parts == nil {
			read(source.file.Body, nil, nil)
		}
		for _, p := range source.parts {
			if p.TransfersOnly {
				l.transfers.parts = append(l.transfers.parts, transferPart{part: p})
			} else {
				read(p.Body, nil, nil)
			}
		}
	}
}

func (l *loader) readBlock(kind eval.Kind, open *eval.Opener, from *hcl.Block, in *eval.PolicyDir, of *eval.IncludedDir, read func(*eval.Block)) {
	if !l.config.options.reads(kind.Name) {
		before := len(l.diags)
		defer func() { l.diags = l.diags[:before] }()
	}
	b, diags := open.Open(from)
	b.StandIn(in, of)
	if from.Type == "data" && len(from.Labels) > 0 && !slices.Contains(dataTypes(), from.Labels[0]) {
		diags = nil // nobody knows which arguments it has
	}
	l.report(explainLabels(diags)...)
	if kind.Single && !l.declare(from.Type+" block", b.At) {
		return
	}
	declared := len(l.scope.InOrder)
	read(b)
	for _, n := range l.scope.InOrder[declared:] {
		n.Book = of
	}
}

// refuseOthers reports unknown blocks, and arguments outside of blocks.
func (l *loader) refuseOthers(body, rest hcl.Body, known []string) {
	refuse := func(name string, r hcl.Range) {
		why, isTerraform := terraform.Block(name)
		switch {
		case slices.Contains(known, name):
		case isTerraform:
			l.report(mistake.New(r, "No "+name+" block", "%s%s", why, terraformTest(r.Filename)))
		default:
			l.report(mistake.New(r, "Unsupported block type", "There is no block of type %q.%s", name, meantBlock(name, known)))
		}
	}
	if native, ok := body.(*hclsyntax.Body); ok {
		for _, inner := range native.Blocks {
			refuse(inner.Type, inner.TypeRange)
		}
		for _, attribute := range native.Attributes {
			l.report(outsideOfBlock(native, attribute))
		}
		return
	}
	attributes, diags := rest.JustAttributes()
	if diags.HasErrors() { // a list of objects: HCL names their extraneous members
		_, diags = rest.Content(&hcl.BodySchema{})
		l.report(diags...)
		return
	}
	for name, attribute := range attributes {
		refuse(name, attribute.NameRange)
	}
}

// outsideOfBlock refuses an argument at the top of a file. A file with nothing else has values of variables, or what
// another program reads.
func outsideOfBlock(body *hclsyntax.Body, a *hclsyntax.Attribute) *hcl.Diagnostic {
	if why, isTerraform := terraform.Block(a.Name); isTerraform {
		return mistake.New(a.NameRange, "Unsupported argument", "%q is outside of a block. %s", a.Name, why)
	}
	if len(body.Blocks) == 0 {
		file := a.NameRange.Filename
		d := mistake.New(a.NameRange, "Unsupported argument", "%q is outside of a block, and %s has no block. remit reads each file that ends in .hcl. If this one has values of variables, name it:\n\n  %s", a.Name, file, strings.TrimSuffix(file, ".hcl")+".auto.hclvars")
		d.Extra = &mistake.Origin{Block: file}
		return d
	}
	return mistake.New(a.NameRange, "Unsupported argument",
		"%q is outside of a block. Write arguments between the braces of one, such as:\n\n%s", a.Name, placeOfArgument(a.Name))
}

// settle evaluates everything that has a name, each after what it depends on.
func (l *loader) settle() {
	notePayments(l.config.data, l.transfers.parts)
	scope := l.scope
	wrong := make(map[*eval.Node]hcl.Diagnostics)
	for _, n := range scope.InOrder {
		for _, a := range n.Arguments {
			within := eval.WideReach()
			within.Row, within.Policy, within.Included = a.Row, n.Policy, n.Book
			if d := noNameOfColumn(n, a); d != nil {
				a.Refs, wrong[n] = &eval.References{Wrong: true}, append(wrong[n], d)
				continue
			}
			refs, diags := scope.Resolve(a.Expr, within)
			diags = append(diags, quotedReferences(scope, a)...)
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
	l.variables.validate()
	for _, s := range l.schedules {
		l.config.Schedules = append(l.config.Schedules, *s)
	}
	for _, b := range l.config.memberships.batchesInOrder {
		l.config.Batches = append(l.config.Batches, b.Batch)
	}
}

// readers take the blocks of each kind in.
func (l *loader) readers() map[string]func(*eval.Block) {
	check, c := l.checker, l.config
	return map[string]func(*eval.Block){
		"remit":       func(b *eval.Block) { l.remit = b },
		"environment": l.readEnvironment,
		"state":       func(b *eval.Block) { l.state, l.stateTop = b, b },
		"service":     func(b *eval.Block) { l.service = b },
		"sandbox":     func(b *eval.Block) { l.sandbox = b },
		"variable":    l.variables.read,
		"locals":      func(b *eval.Block) { readLocals(check, b) },
		"profile":     func(b *eval.Block) { readProfile(check, b) },
		"asset":       func(b *eval.Block) { l.assets = append(l.assets, b) },
		"limit":       func(b *eval.Block) { l.limits = l.appendNamed(l.limits, b) },
		"policy":      func(b *eval.Block) { l.policies = l.appendNamed(l.policies, b) },
		"data": func(b *eval.Block) {
			if n, d := readData(check, c.sources, b); n != nil {
				c.data[n] = d
			}
		},
		"transfer": func(b *eval.Block) { l.transfers.parts = append(l.transfers.parts, transferPart{block: b}) },
		"batch": func(b *eval.Block) {
			if batch := readBatch(check, b); batch != nil {
				c.memberships.add(batch)
				l.controls[batch.Name] = b.NestedOf("control")
			}
		},
		"approval": func(b *eval.Block) {
			if declareApproval(check, b) {
				l.approvals = append(l.approvals, b)
			}
		},
		"calendar": func(b *eval.Block) { readCalendar(check, c.sources, b) },
		"schedule": func(b *eval.Block) { l.schedules = append(l.schedules, readSchedule(check, b)) },
		"window":   func(b *eval.Block) { readWindow(check, b) },
	}
}

// appendNamed appends a block whose name is not declared yet.
func (l *loader) appendNamed(blocks []*eval.Block, b *eval.Block) []*eval.Block {
	if !l.declareNamed(b, b.Kind+"."+b.Label(0)) {
		return blocks
	}
	return append(blocks, b)
}

// overrideData makes data sources read the files of [Options.DataFiles].
func (l *loader) overrideData() {
	for _, over := range l.config.options.DataFiles {
		n := l.scope.Nodes["data"][strings.TrimPrefix(over.Address, "data.")]
		if n == nil {
			var names []string
			for _, name := range l.scope.Names("data") {
				names = append(names, "data."+name)
			}
			l.report(mistake.New(over.At, "Unknown data source", "%s is not declared.%s", over.Address, mistake.DidYouMean(over.Address, names)))
			continue
		}
		l.config.data[n].override = &over
	}
}
