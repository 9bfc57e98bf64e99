package config

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/config/rows"
	"remit/config/syntax"
	"remit/internal/transfer"
)

// transferBlock is one transfer block, ready to be evaluated for each of its instances.
type transferBlock struct {
	block      *eval.Block
	operation  transfer.Operation
	name       string
	address    string
	at         hcl.Range
	configured *configured

	fields        map[string]*field
	preconditions []precondition
	dependsOn     []dependency
	memberOf      []string // batches, as far as known
	shared        map[string][]Dependency

	repeated bool                      // has for_each
	data     *dataSource               // whose rows are the whole for_each
	elements []element                 // of any other for_each
	rowsRead rowsRead                  // by such a for_each
	dates    map[string][]*Occurrence  // of the schedules of which for_each is made
	through  *goneThrough              // by for_each; nil where it goes through no dates
	waits    map[time.Time]*Occurrence // of what elements were made, by the not_before that they share; of dates that for_each goes through
	ctx      *hcl.EvalContext
	naming   *naming       // of its ref_ids; nil where they are the label, or written as they are
	held     []*dataSource // whose rows an expression of for_each goes through
	broken   bool          // a mistake keeps every instance from being evaluated
	windows  map[windowsOf][]*Window
	// settled is the one transfer of the block, but for what it depends on; nil where it is
	// evaluated when it is read.
	settled *Transfer

	// checked is the type of each.value for which the amount has no numbers; NilType
	// before the first.
	checked cty.Type
}

// configured has the values that all transfer blocks of a configuration share.
type configured struct {
	scope          *eval.Scope
	files          map[string]*hcl.File // for what their authors wrote
	data           *rows.Directory
	assets         scales
	currencies     map[string]string // that files say in the place of assets
	fingerprintKey string            // "" for none
	memberships    *memberships
	book           *addressBook
	schedules      []*Schedule
}

// field is one argument of a transfer block.
type field struct {
	*eval.Argument
	broken   bool // a mistake in it was reported
	constant bool // does not refer to each
	secret   bool // a sensitive value could flow in
	done     bool // value holds the constant
	value    cty.Value
	diags    hcl.Diagnostics // of a constant
	column   string          // from which alone the value comes; "" where there is no such column
}

// precondition is one precondition block.
type precondition struct{ condition, message *field }

// element is one element of for_each.
type element struct {
	key   string
	value cty.Value
}

func transferKind() eval.Kind {
	return eval.Kind{
		Name: "transfer", Labels: []string{"operation", "name"},
		Required: []string{"amount", "asset"},
		Optional: []string{
			"for_each", "ref_id", "batch",
			"from", "from_profile_id", "from_identity_id", "from_account_id",
			"to", "to_profile_id", "to_identity_id", "to_account_id",
			"metadata", "recipient_metadata", "display_name",
			"not_before", "expires", "window", "depends_on", "duplicate_within", "accept_duplicate_of", "reverses",
		},
		Nested: []eval.Kind{{Name: "precondition", Required: []string{"condition", "error_message"}}},
	}
}

// transferReader makes transfer blocks ready to be evaluated.
type transferReader struct {
	*checker
	configured *configured
	kept       *keeper // nil where nothing is kept
	parts      []transferPart
	data       map[*eval.Node]*dataSource
	contexts   map[string]*hcl.EvalContext // by what transfer blocks name
	merged     *mergedRows
	// unreadable says that a part of a file could not be parsed.
	unreadable bool
}

// compileAll makes every transfer block ready and makes the checks that need no data row.
func (r *transferReader) compileAll() {
	m := r.configured.memberships
	for b := range r.transferBlocks() {
		if b.kept != nil {
			r.recall(b.kept, syntax.PlaceOf(b.part))
			continue
		}
		keep := r.keepable(b.part, b.block)
		keep(r.take(b.block))
	}
	if !r.diags.HasErrors() && !r.unreadable {
		r.report(m.unnamed(r.configured.scope)...)
	}
	for _, t := range m.inOrder {
		t.dependsOn = checkDependencies(r.checker, t.address, t.dependsOn, m.blocks, m.batches)
	}
	for _, b := range m.batchesInOrder {
		b.dependsOn = checkDependencies(r.checker, "batch."+b.Name, b.dependsOn, m.blocks, m.batches)
	}
	r.report(m.cycles()...)
}

// noteBatch notes the batch that a block names, where it names one alone.
func (r *transferReader) noteBatch(t *transferBlock) {
	f := t.fields["batch"]
	if f == nil || f.broken {
		return
	}
	if path := syntax.Traversal(f.Expr); len(path) == 2 && path.RootName() == "batch" {
		name, _ := eval.StepName(path[1], true)
		r.configured.memberships.note(name, t)
	}
}

// settle evaluates a block that is one transfer and has no mistake, and lets go of its
// tree: there may be a million of them.
func (t *transferBlock) settle() {
	if t.repeated || t.broken || t.block.Incomplete {
		return
	}
	out, ok, _ := t.evaluate(instance{address: t.address, ctx: t.ctx})
	if !ok || t.configured.book.posing(out.DisplayName, out.Request.ToProfileID) != nil {
		return // the mistakes are told when the transfers are read
	}
	refID := t.fields["ref_id"]
	t.settled, t.block, t.fields, t.preconditions, t.ctx = &out, nil, nil, nil, nil
	if refID != nil {
		t.fields = map[string]*field{"ref_id": refID}
	}
}

// warnUnmeetable warns once of a dependency: without lookups, it may never be met without a person.
func (r *transferReader) warnUnmeetable(m *memberships) {
	for _, t := range m.inOrder {
		if len(t.dependsOn) > 0 {
			r.report(mistake.Warning(t.dependsOn[0].at, "Dependency without lookup",
				"Without lookup_path in the service block, only an answer that says COMPLETED, or remit resolve, meets a dependency. A transfer whose answer says PENDING holds up what depends on it:\n\n  remit resolve REF_ID --recorded FILE"))
			return
		}
	}
}

// newTransferBlock reads the labels; nil where they make no sense.
func (r *transferReader) newTransferBlock(b *eval.Block) *transferBlock {
	if len(b.Labels) < 2 {
		return nil
	}
	operation, hint := knownOperation(b.Label(0), b.Label(1))
	if operation == "" {
		r.report(mistake.New(b.LabelAt[0], "Unknown operation", "A transfer is %s, not %q.%s", strings.Join(mistake.QuotedAll(transfer.OperationWords()), " or "), b.Label(0), hint))
		return nil
	}
	name := b.Label(1)
	if err := transfer.CheckDeclaredRefID(name); err != nil {
		r.report(mistake.New(b.LabelAt[1], "Invalid name of a transfer", "The name, which is the ref_id where no other is given, %s", mistake.Sentence(err)))
		return nil
	}
	address := blockAddress(string(operation), name)
	if !r.declare(address, b.At) {
		return nil
	}
	return &transferBlock{
		block: b, operation: operation, name: name, address: address, at: b.At, configured: r.configured,
		dependsOn: readDependencies(r.checker, b), fields: map[string]*field{},
	}
}

// compile resolves the arguments of t and evaluates its for_each, unless that streams rows.
func (r *transferReader) compile(t *transferBlock) {
	within := eval.WideReach()
	forEach := t.block.Arguments["for_each"]
	if forEach != nil {
		t.repeated = true
		within.Each = true
		inForEach := eval.WideReach()
		inForEach.NoEach = "each is what for_each makes; it does not exist in for_each itself."
		r.resolveArgument(forEach, inForEach, false)
		if within.Columns = r.findData(t, forEach); within.Columns != nil {
			within.Headers = t.data.headers()
		}
	}
	for _, a := range t.block.All() {
		if a != forEach {
			r.resolveArgument(a, within, false)
		}
	}
	for name, a := range t.block.Arguments {
		if a != forEach {
			t.fields[name] = t.newField(a)
		}
	}
	for _, b := range t.block.NestedOf("precondition") {
		if !b.Incomplete {
			t.preconditions = append(t.preconditions, precondition{t.newField(b.Arguments["condition"]), t.newField(b.Arguments["error_message"])})
		}
	}
	r.checkArguments(t)
	r.makeContext(t)
	if forEach != nil && t.data == nil {
		r.expand(t, forEach)
		t.rowsRead = rowsReadBy(r.scope, r.data, forEach, len(t.elements))
		t.through = schedulesOf(forEach, t.dates, r.configured.schedules, r.scope, r.data)
		t.held = sourcesUnder(r.data, forEach.Refs)
	}
	lost := r.merged.check(t.address, forEach, t.block.Arguments["amount"])
	r.report(lost...)
	t.broken = t.broken || len(lost) > 0
	if forEach != nil && !t.broken {
		r.checkPosition(t, forEach)
	}
	readNaming(r.scope, r.data, t)
	r.warnOfPeriod(t)
	r.warnOfAmount(t)
	if f := t.fields["amount"]; f != nil && !f.broken && !t.broken && (f.constant || t.data != nil) {
		diags := checkDecimal(r.scope, f.Expr, t.ctx)
		r.report(diags...)
		f.broken = diags.HasErrors()
	}
}

// newField notes of what an argument is made.
func (t *transferBlock) newField(a *eval.Argument) *field {
	f := &field{Argument: a, broken: !a.Refs.Ready(), constant: !a.Refs.Each, secret: a.Refs.Sensitive()}
	if t.data == nil {
		return f
	}
	columns := slices.Compact(slices.Sorted(slices.Values(a.Refs.Columns)))
	switch {
	case len(columns) == 1 && !a.Refs.Key:
		f.column = columns[0]
	case len(columns) == 0 && a.Refs.Key:
		f.column = t.data.file.Key
	}
	return f
}

// findData returns the columns of the data source whose rows are for_each, alone; nil where
// it is anything else.
func (r *transferReader) findData(t *transferBlock, forEach *eval.Argument) []string {
	path := syntax.Traversal(forEach.Expr)
	if len(path) != 4 || path.RootName() != "data" || len(forEach.Refs.Nodes) != 1 {
		return nil
	}
	n := forEach.Refs.Nodes[0]
	t.data = r.data[n]
	if n.Progress != eval.Known {
		t.broken = true
		return nil
	}
	return t.data.columns
}

// makeContext gathers the values that the arguments of t name.
func (r *transferReader) makeContext(t *transferBlock) {
	all := eval.References{}
	add := func(f *field) {
		if f.broken {
			return
		}
		for _, n := range f.Refs.Nodes {
			if !slices.Contains(all.Nodes, n) {
				all.Nodes = append(all.Nodes, n)
			}
		}
		all.Whole = append(all.Whole, f.Refs.Whole...)
	}
	for _, f := range t.fields {
		add(f)
	}
	for _, p := range t.preconditions {
		add(p.condition)
		add(p.message)
	}
	ctx, ok, diags := r.context(&all)
	r.report(diags...)
	t.ctx, t.broken = ctx, t.broken || !ok
}

// context is that of the scope, made once for all blocks that name the same.
func (r *transferReader) context(refs *eval.References) (*hcl.EvalContext, bool, hcl.Diagnostics) {
	slices.SortFunc(refs.Nodes, func(a, b *eval.Node) int { return strings.Compare(a.Address(), b.Address()) })
	var key strings.Builder
	for _, n := range refs.Nodes {
		key.WriteString(n.Address() + " ")
	}
	for _, root := range refs.Whole {
		key.WriteString(root + " ")
	}
	if ctx, ok := r.contexts[key.String()]; ok {
		return ctx, true, nil
	}
	ctx, ok, diags := r.scope.Context(refs)
	if ok {
		r.contexts[key.String()] = ctx
	}
	return ctx, ok, diags
}

// checkArguments reports arguments that are missing or exclude each other, whatever their
// values.
func (r *transferReader) checkArguments(t *transferBlock) {
	if t.repeated && t.fields["ref_id"] == nil {
		r.report(mistake.New(t.at, "Missing required argument",
			"With for_each, ref_id is required: each transfer needs an ID of its own, such as \"%s-${each.key}\".", t.name))
	}
	for _, side := range []string{"from", "to"} {
		whole := t.fields[side]
		if whole == nil && t.fields[side+"_profile_id"] == nil {
			r.report(mistake.New(t.at, "Missing required argument", "%s or %s_profile_id is required.", side, side))
		}
		for _, part := range []string{"_profile_id", "_identity_id", "_account_id"} {
			if f := t.fields[side+part]; f != nil && whole != nil {
				r.report(mistake.New(f.NameAt, "Arguments exclude each other", "%s says all of the profile; it can't stand beside %s%s. Keep %[1]s where a profile block has the ID, and %[2]s%[3]s where a text or a column has it.", side, side, part))
			}
		}
	}
	if f := t.fields["recipient_metadata"]; f != nil && t.operation != transfer.Platform {
		r.report(mistake.New(f.NameAt, "Metadata of the recipient", "recipient_metadata exists on platform transfers only."))
	}
}

// expand evaluates a for_each that is not streamed.
func (r *transferReader) expand(t *transferBlock, forEach *eval.Argument) {
	if texts := r.textsOfSet(forEach); texts != nil {
		t.dates = datesOf(forEach.Refs)
		t.elements = make([]element, len(texts))
		for i, text := range texts {
			t.elements[i] = element{text.AsString(), text}
		}
		return
	}
	value, ok, diags := r.scope.Value(forEach)
	if bare, _ := eval.Unmark(value); ok && eval.ContainsMarked(bare) {
		ok, diags = false, append(diags, eval.SensitiveHere(forEach.Expr.Range()))
	}
	r.report(diags...)
	if !ok {
		t.broken = true
		return
	}
	t.dates = datesOf(forEach.Refs)
	value, marks := value.Unmark() // the marks of values that move the keys
	r.checkMovingKeys(t, len(marks) > 0)
	ty := value.Type()
	if name := wholeSchedule(forEach.Expr); name != "" {
		r.report(mistake.New(forEach.Expr.Range(), "Not a map or a set",
			"for_each names a schedule, and makes a transfer of each of its dates. Write:\n\n  for_each = schedule.%s.occurrences", name))
		t.broken = true
		return
	}
	isMap := ty.IsMapType() || ty.IsObjectType()
	isSet := ty.IsSetType() && (ty.ElementType() == cty.String || value.LengthInt() == 0)
	if value.IsNull() || !isMap && !isSet {
		what, remedy := mistake.Kind(ty), ""
		if value.IsNull() {
			what, remedy = "null", nullInstead(forEach.Expr)
		} else {
			remedy = setInstead(value)
		}
		r.report(mistake.New(forEach.Expr.Range(), "Not a map or a set",
			"for_each is a map, a set of strings, or the rows of a data source, not %s. %s", what, remedy))
		t.broken = true
		return
	}
	for key, item := range value.Elements() {
		if key.IsNull() || item.IsNull() && isSet {
			r.report(mistake.New(forEach.Expr.Range(), "Not a map or a set", "for_each may not have null in its set."))
			t.broken = true
			return
		}
		if isSet {
			key = item
		}
		t.elements = append(t.elements, element{key.AsString(), item})
	}
}

// textsOfSet are the elements of toset(LIST) in the order of a set, where that is what a for_each says and all
// of them are plain texts; else nil. No set is made: each walk through one sorts it anew, with comparisons
// that cost more than all else of a transfer.
func (r *transferReader) textsOfSet(forEach *eval.Argument) []cty.Value {
	call, ok := syntax.Unwrap(forEach.Expr).(*hclsyntax.FunctionCallExpr)
	if !ok || call.Name != "toset" || len(call.Args) != 1 || call.ExpandFinal {
		return nil
	}
	list := *forEach
	list.Expr = call.Args[0]
	value, ok, _ := r.scope.Value(&list)
	if !ok || value.IsNull() || value.IsMarked() || !value.Type().IsTupleType() && !value.Type().IsListType() {
		return nil // the mistake is reported for the whole
	}
	texts := value.AsValueSlice()
	for _, text := range texts {
		if !syntax.IsText(text) {
			return nil
		}
	}
	slices.SortFunc(texts, func(a, b cty.Value) int { return strings.Compare(a.AsString(), b.AsString()) })
	return slices.CompactFunc(texts, func(a, b cty.Value) bool { return a.AsString() == b.AsString() })
}

// checkMovingKeys refuses ref_ids that are made of keys which a holiday would change.
func (r *transferReader) checkMovingKeys(t *transferBlock, areMoving bool) {
	if f := t.fields["ref_id"]; areMoving && f != nil && f.Refs != nil && f.Refs.Key {
		r.report(mistake.New(f.Expr.Range(), movingRefID, "each.key depends on adjusted_date or due_at here. %s", movingWhy))
		f.broken = true
	}
}

// checkPosition refuses ref_ids that are made of the position of a row: a row that is put
// in above would rename all below it, and pay them again.
func (r *transferReader) checkPosition(t *transferBlock, forEach *eval.Argument) {
	f := t.fields["ref_id"]
	if f == nil || f.broken || !f.Refs.Each {
		return
	}
	if t.data != nil {
		forEach = nil
	}
	var arguments []*eval.Argument
	for _, other := range t.fields {
		if !other.broken && other.Refs.Each {
			arguments = append(arguments, other.Argument)
		}
	}
	isSet := len(t.elements) > 0 && syntax.IsText(t.elements[0].value) && t.elements[0].value.AsString() == t.elements[0].key
	made := ""
	r.scope.Meter.Aside(func() { made = countsRows(r.scope, forEach, f.Argument, isSet, arguments, t.ctx) })
	if made == "" {
		return
	}
	part, ofTexts := "ref_id", ""
	if made == "each.key" {
		part = "key"
	}
	if len(t.elements) > 0 && syntax.IsText(t.elements[0].value) && !isSet {
		ofTexts = " A list of texts has no column: write it as a map, such as { T1 = \"100.00\", T2 = \"200.00\" }, whose keys stay."
	}
	r.report(mistake.New(f.Expr.Range(), "ref_id depends on a row's position",
		"%s counts rows here. A row added above would give every row below it another ref_id, and they would be paid again. Make the %s from a column, as in { for row in rows : row.id => row }.%s", made, part, ofTexts))
}

// instanceAddress is how a transfer of a block with for_each is called.
func (t *transferBlock) instanceAddress(key string) string {
	return string(t.appendAddress(nil, key))
}

func (t *transferBlock) appendAddress(b []byte, key string) []byte {
	b = append(append(b, t.address...), '[')
	if transfer.Plain(key) && strings.IndexByte(key, '"') < 0 && strings.IndexByte(key, '\\') < 0 {
		b = append(append(append(b, '"'), key...), '"')
	} else {
		b = strconv.AppendQuote(b, key)
	}
	return append(b, ']')
}
