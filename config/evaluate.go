package config

import (
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/config/syntax"
	"remit/internal/transfer"
)

// instance is one transfer of a block: the value of each, and its place.
type instance struct {
	address string
	ctx     *hcl.EvalContext
	each    cty.Value // each.value; NilVal without for_each
	row     *row      // nil where it is made of no data row
	element *element  // nil where it is made of no element of for_each
}

// evaluator makes the transfer of one instance. It goes on after a mistake, to find all of them.
type evaluator struct {
	block *transferBlock
	in    instance
	diags hcl.Diagnostics
	// wrong says that a mistake was found here or reported before: there is no transfer.
	wrong bool
	empty []*field // that a row has no text for, in the order in which they were found
	// notBefore are the occurrences of which not_before was made.
	notBefore []*Occurrence
	// elsewhere are the places of profiles of other directories, by side.
	elsewhere map[string]Place
}

// evaluate makes one transfer of one instance. It is the only place that does, so that a
// faster way has one oracle. Where it returns false there is no transfer, and diagnostics
// say why, unless they were returned when the block was compiled.
func (t *transferBlock) evaluate(in instance) (Transfer, bool, hcl.Diagnostics) {
	e := &evaluator{block: t, in: in}
	out := Transfer{
		Address: in.address, Block: t.address, Place: placeOf(t.at),
		DuplicateWithin: DuplicateWithinDefault,
	}
	if in.row != nil {
		out.Place = Place{File: in.row.Table.Name, Sheet: in.row.Table.Sheet, Line: in.row.Line}
	}
	r := &out.Request
	r.Operation = t.operation
	r.FingerprintKey = t.configured.fingerprintKey
	r.RefID, out.FromLabel = e.refID()
	out.Naming = t.nameOf(out.FromLabel, in.element)
	r.FromProfileID, r.FromIdentityID, r.FromAccountID = e.party("from")
	r.ToProfileID, r.ToIdentityID, r.ToAccountID = e.party("to")
	out.FromPlace, out.ToPlace = e.elsewhere["from"], e.elsewhere["to"]
	out.DisplayName = e.displayName()
	r.Asset = e.required("asset")
	r.Amount = e.amount(r.Asset)
	r.Metadata = e.metadata("metadata")
	if t.operation == transfer.Platform {
		r.RecipientMetadata = e.metadata("recipient_metadata")
	}
	if !e.wrong && r.GoesToItself() {
		e.refuse(nil, "Sender and destination are the same", "The transfer goes from profile %q to itself.", r.FromProfileID)
	}
	e.refuseEmpty()
	e.conditions(&out)
	e.preconditions()
	if e.wrong {
		return Transfer{}, false, e.diags
	}
	return out, true, nil
}

// refuse reports a mistake in a field, or in the whole instance where f is nil, at the place
// of the value: the field of a data row where it comes from one, else the expression.
func (e *evaluator) refuse(f *field, summary, detail string, args ...any) {
	e.add(f, mistake.New(e.place(f), summary, detail, args...))
}

func (e *evaluator) place(f *field) hcl.Range {
	switch {
	case f != nil && (f.constant || e.in.row == nil):
		return f.Expr.Range()
	case e.in.row == nil:
		return e.block.at
	case f != nil && f.column != "":
		return e.in.row.At(columnIndex(e.in.row, f.column))
	}
	return e.in.row.Whole()
}

func columnIndex(r *row, column string) int {
	for i, name := range r.Table.Columns {
		if name == column {
			return i
		}
	}
	panic("column " + column + " was looked up before and is gone")
}

// add takes a diagnostic in and says of which instance it is.
func (e *evaluator) add(f *field, d *hcl.Diagnostic) {
	e.wrong = true
	if e.block.repeated {
		from := &mistake.Origin{Block: e.block.address, Inner: d.Extra}
		if f != nil {
			from.Column = f.Name
		}
		if f == nil || !f.constant {
			from.Where = e.in.address
			d.Detail += fmt.Sprintf("\n\nIn %s, declared at %s.", e.in.address, mistake.At(e.block.at))
		}
		d.Extra = from
	} else {
		d = mistake.Blame(d, e.block.address)
	}
	if e.in.row != nil && d.Subject.Filename == e.in.row.Table.Name {
		e.block.configured.data.NeedSnippet(d.Subject.Filename, d.Subject.End.Byte)
	}
	e.diags = append(e.diags, d)
}

// value evaluates a field. Null means absent, as in Terraform.
func (e *evaluator) value(name string) (cty.Value, *field, eval.Finding) {
	f := e.block.fields[name]
	if f == nil {
		return cty.NilVal, nil, eval.Absent
	}
	value, ok := e.compute(f)
	switch {
	case !ok:
		return cty.NilVal, f, eval.Wrong
	case value.IsNull():
		return cty.NilVal, f, eval.Absent
	}
	return value, f, eval.Present
}

// compute evaluates an expression for this instance. A constant is evaluated once.
func (e *evaluator) compute(f *field) (cty.Value, bool) {
	if f.broken {
		e.wrong = true
		return cty.NilVal, false
	}
	if value, isText := syntax.LiteralText(f.Expr); isText {
		return value, true
	}
	if value, ok := f.named(); ok {
		return value, true
	}
	if !f.constant {
		value, diags := e.block.configured.scope.Evaluate(f.Expr, f.Refs, e.in.ctx)
		return e.accepted(f, value, diags)
	}
	if !f.done {
		f.value, f.diags = e.block.configured.scope.Evaluate(f.Expr, f.Refs, e.block.ctx)
		f.done = true
	}
	return e.accepted(f, f.value, f.diags)
}

// named is the value of a field that is a reference to one thing, such as profile.treasury,
// where nothing is to be said of it. It is what the expression evaluates to.
func (f *field) named() (cty.Value, bool) {
	reference, ok := f.Expr.(*hclsyntax.ScopeTraversalExpr)
	if !ok || len(reference.Traversal) != 2 || len(f.Refs.Nodes) != 1 || !f.Refs.Nodes[0].IsPlain() {
		return cty.NilVal, false
	}
	return f.Refs.Nodes[0].Value, true
}

func (e *evaluator) accepted(f *field, value cty.Value, diags hcl.Diagnostics) (cty.Value, bool) {
	value, of := unmoved(value)
	switch {
	case len(of) == 0:
	case f.Name == "ref_id":
		diags = append(diags, mistake.New(f.Expr.Range(), movingRefID, "%s", movingWhy))
	case f.Name == "not_before":
		e.notBefore = of
	}
	if !diags.HasErrors() && value.ContainsMarked() { // by a variable, or by the function sensitive
		diags = hcl.Diagnostics{eval.SensitiveHere(f.Expr.Range())}
	}
	for _, d := range diags {
		d := *d
		if place := e.place(f); d.Subject == nil || e.in.row != nil && !f.constant && !isOfCall(&d) {
			between := " "
			if last := d.Detail[strings.LastIndexByte(d.Detail, '\n')+1:]; strings.HasPrefix(last, "  ") { // a line to be pasted
				between = "\n\n"
			}
			at := " The expression is at " + mistake.At(f.Expr.Range()) + "."
			if column, hint := groupedArgument(e, f, &d); column >= 0 {
				place, at = e.in.row.At(column), at+hint
			}
			d.Detail += between + strings.TrimPrefix(at, " ")
			d.Subject, d.Context = &place, nil
		}
		e.add(f, &d)
	}
	return value, !diags.HasErrors()
}

// isOfCall reports whether a mistake is in how a function is called: no row can mend it.
func isOfCall(d *hcl.Diagnostic) bool {
	return d.Summary == "Not enough function arguments" || d.Summary == "Too many function arguments"
}

// text is a field of the request that is sent as it is: a string that can be seen, without
// space at its ends; "" where it is absent.
func (e *evaluator) text(name string) string {
	value, f, found := e.value(name)
	if found != eval.Present {
		return ""
	}
	return e.checkText(f, name, value)
}

// asText says how a value that is no text becomes one.
func asText(name string, value cty.Value) string {
	if value.Type().IsObjectType() && value.Type().HasAttribute("profile_id") {
		short := strings.TrimSuffix(name, "_profile_id")
		return fmt.Sprintf(" Write a profile in %s:\n\n  %s = profile.NAME", short, short)
	}
	if t := value.Type(); t.IsTupleType() || t.IsListType() || t.IsSetType() || t.IsObjectType() || t.IsMapType() {
		return fmt.Sprintf(" Write one text, such as:\n\n  %s = \"…\"", name)
	}
	return " Write it in quotation marks."
}

// required is text that may not be null. That it may not be absent was reported when its
// block was read.
func (e *evaluator) required(name string) string {
	value, f, found := e.value(name)
	switch found {
	case eval.Present:
		return e.checkText(f, name, value)
	case eval.Absent:
		if f != nil {
			e.refuse(f, "Required argument is null", "%s may not be null.", name)
		}
		e.wrong = true
	case eval.Wrong:
	}
	return ""
}

func (e *evaluator) checkText(f *field, name string, value cty.Value) string {
	if value.Type() != cty.String {
		e.refuse(f, "Not text", "%s must be a text, not %s.%s", name, mistake.Kind(value.Type()), asText(name, value))
		return ""
	}
	text := value.AsString()
	if text == "" {
		if e.in.isOfColumn(f) {
			e.empty, e.wrong = append(e.empty, f), true
			return ""
		}
		e.refuse(f, "Empty text", "%s is empty. Leave it out or make it null where there is none.", name)
		return ""
	}
	if d := lineBreakAtEnd(f.Expr, name, text); d != nil {
		e.add(f, d)
		return ""
	}
	if err := transfer.CheckSent(text); err != nil {
		e.refuse(f, "Text cannot be seen as it is", "%s %s%s", name, mistake.Sentence(err), e.in.trimHint(f, text))
		return ""
	}
	return text
}

// refID is the transfer's identity, and whether it is the block's label.
func (e *evaluator) refID() (string, bool) {
	value, f, found := e.value("ref_id")
	switch found {
	case eval.Wrong:
		return "", false
	case eval.Absent:
		if e.block.repeated {
			if f != nil {
				e.refuse(f, "Required argument is null", "With for_each, ref_id may not be null.")
			}
			e.wrong = true
		}
		return e.block.name, true
	case eval.Present:
	}
	if value.Type() != cty.String {
		e.refuse(f, "Not text", "ref_id must be a text, not %s. Write it in quotation marks.", mistake.Kind(value.Type()))
		return "", false
	}
	if d := lineBreakAtEnd(f.Expr, "ref_id", value.AsString()); d != nil {
		e.add(f, d)
		return "", false
	}
	if err := transfer.CheckDeclaredRefID(value.AsString()); err != nil {
		e.refuse(f, "Invalid ref_id", "ref_id %q %s%s", value.AsString(), mistake.Sentence(err), e.in.spaceHint(f))
		return "", false
	}
	return value.AsString(), false
}

// party is one side: its profile, identity and account.
func (e *evaluator) party(side string) (profile, identity, account string) {
	value, f, found := e.value(side)
	if found == eval.Wrong {
		return "", "", ""
	}
	if found == eval.Present {
		return e.profile(f, side, value)
	}
	if f != nil && e.block.fields[side+"_profile_id"] == nil {
		e.refuse(f, "Required argument is null", "%s may not be null.", side)
		return "", "", ""
	}
	return e.required(side + "_profile_id"), e.text(side + "_identity_id"), e.text(side + "_account_id")
}

// displayName is what people call the destination: what the block says, or the profile in to.
func (e *evaluator) displayName() string {
	value, f, found := e.value("display_name")
	if found == eval.Absent {
		if value, _, found = e.value("to"); found != eval.Present || !value.Type().IsObjectType() || !value.Type().HasAttribute("display_name") {
			return ""
		}
		if value = value.GetAttr("display_name"); value.IsNull() || value.Type() != cty.String {
			return ""
		}
		return value.AsString() // which was checked in the profile
	}
	if found != eval.Present {
		return ""
	}
	text := e.checkText(f, "display_name", value)
	if err := transfer.CheckDisplayName(text); text != "" && err != nil {
		e.refuse(f, displayNameInvalid, "display_name %s", mistake.Sentence(err))
	}
	return text
}

func (e *evaluator) profile(f *field, side string, value cty.Value) (profile, identity, account string) {
	ty := value.Type()
	if !ty.IsObjectType() || !ty.HasAttribute("profile_id") {
		detail := fmt.Sprintf("%s must be a profile, such as profile.treasury, not %s. Write an ID in %s_profile_id.", side, mistake.Kind(ty), side)
		if syntax.IsText(value) && e.block.configured.scope.Nodes["profile"][strings.TrimPrefix(value.AsString(), "profile.")] != nil {
			name := strings.TrimPrefix(value.AsString(), "profile.")
			detail = fmt.Sprintf("A profile is named without quotation marks. Write:\n\n  %s = profile.%s", side, name)
			if isJSON(f.Expr.Range().Filename) {
				detail = fmt.Sprintf("In JSON a reference is between ${ and }. Write:\n\n  %q: \"${profile.%s}\"", side, name)
			}
		}
		e.refuse(f, "Not a profile", "%s", detail)
		return "", "", ""
	}
	part := func(name string) string {
		if !ty.HasAttribute(name) || value.GetAttr(name).IsNull() {
			return ""
		}
		return e.checkText(f, side+"."+name, value.GetAttr(name))
	}
	if value.GetAttr("profile_id").IsNull() {
		e.refuse(f, "Required argument is null", "%s has no profile_id.", side)
	}
	e.notePlace(side, value)
	return part("profile_id"), part("identity_id"), part("account_id")
}

// notePlace keeps where a profile is declared that an included directory or a policy directory brought.
func (e *evaluator) notePlace(side string, profile cty.Value) {
	ty := profile.Type()
	if !ty.HasAttribute("name") || !syntax.IsText(profile.GetAttr("name")) {
		return
	}
	n := e.block.configured.scope.Nodes["profile"][profile.GetAttr("name").AsString()]
	if n == nil || n.Book == nil && !n.Policy || n.Progress != eval.Known || !n.Value.GetAttr("profile_id").RawEquals(profile.GetAttr("profile_id")) {
		return
	}
	if e.elsewhere == nil {
		e.elsewhere = make(map[string]Place)
	}
	e.elsewhere[side] = placeOf(n.At)
}

// conditions reads when the transfer may be made and what it is compared with.
func (e *evaluator) conditions(out *Transfer) {
	batch := e.batch()
	if batch != nil {
		out.Batch, out.NotBefore, out.Expires = batch.Name, batch.notBefore, batch.expires
		if batch.within != nil {
			out.DuplicateWithin = *batch.within
		}
	}
	if t := e.time("not_before"); t.After(out.NotBefore) {
		out.NotBefore = t
	}
	if t := e.time("expires"); !t.IsZero() && (out.Expires.IsZero() || t.Before(out.Expires)) {
		out.Expires = t
	}
	if !e.wrong && !out.Expires.IsZero() && !out.Expires.After(out.NotBefore) {
		e.refuse(e.block.fields["expires"], "Expires before it is due", "The transfer expires at %s and is not due before %s.",
			out.Expires.Format(time.RFC3339), out.NotBefore.Format(time.RFC3339))
	}
	if value, f, found := e.value("duplicate_within"); found == eval.Present {
		out.DuplicateWithin = e.duration(f, value)
	}
	if value, f, found := e.value("accept_duplicate_of"); found == eval.Present {
		out.AcceptDuplicateOf = e.refIDs(f, value)
	}
	out.Reverses = e.reverses(out.Request.RefID)
	out.DependsOn = e.block.dependencies(batch)
	out.Windows = e.windows(batch)
	e.occurrence(out, batch)
}

// reverses is the ref_id of the transfer that is reversed, "" for none.
func (e *evaluator) reverses(own string) string {
	text := e.text("reverses")
	if text == "" {
		return ""
	}
	f := e.block.fields["reverses"]
	switch err := transfer.CheckRefID(text); {
	case err != nil:
		e.refuse(f, "Invalid ref_id", "reverses: %q %s", text, mistake.Sentence(err))
	case text == own:
		e.refuse(f, "A transfer reverses itself", "reverses names the transfer's own ref_id; it names the earlier transfer whose money goes back.")
	}
	return text
}

func (e *evaluator) refIDs(f *field, value cty.Value) []string {
	texts, ok := eval.TextsOf(value)
	if !ok {
		e.refuse(f, "Not a list of text", "%s must be a ref_id or a list of ref_ids.", f.Name)
	}
	for _, text := range texts {
		if err := transfer.CheckRefID(text); err != nil {
			e.refuse(f, "Invalid ref_id", "%s: %q %s", f.Name, text, mistake.Sentence(err))
		}
	}
	return texts
}

// batch is the batch that the transfer is in, nil for none.
func (e *evaluator) batch() *batchBlock {
	value, f, found := e.value("batch")
	if found != eval.Present {
		return nil
	}
	ty := value.Type()
	if ty.IsObjectType() && ty.HasAttribute("name") && syntax.IsText(value.GetAttr("name")) && !ty.HasAttribute("profile_id") {
		if b := e.block.configured.memberships.batches[value.GetAttr("name").AsString()]; b != nil {
			return b
		}
	}
	e.refuse(f, "Not a batch", "batch must be a batch, such as batch.payroll, not %s.%s", mistake.Kind(ty), asReference("batch", value, f.Expr.Range()))
	return nil
}

// preconditions checks the conditions that the author wrote.
func (e *evaluator) preconditions() {
	for _, p := range e.block.preconditions {
		value, ok := e.compute(p.condition)
		if !ok {
			continue
		}
		if value.IsNull() || value.Type() != cty.Bool {
			e.refuse(p.condition, "Not true or false", "The condition of a precondition must be true or false.")
			continue
		}
		if value.True() {
			continue
		}
		if message, ok := e.compute(p.message); ok {
			text := "The message is no text."
			if syntax.IsText(message) {
				text = message.AsString()
			}
			e.refuse(p.condition, "Precondition does not hold", "%s", text)
		}
	}
}
