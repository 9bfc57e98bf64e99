package config

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/config/syntax"
	"remit/internal/transfer"

	"remit/config/meter"
)

// PolicyScope says what a policy looks at.
type PolicyScope string

// The scopes of a policy.
const (
	ScopeTransfer PolicyScope = "transfer" // each transfer that a plan submits, as self
	ScopePlan     PolicyScope = "plan"     // the plan
)

// subject is the name under which a condition sees what it looks at.
func (s PolicyScope) subject() string {
	if s == ScopePlan {
		return "plan"
	}
	return "self"
}

// Attributes are what a condition of this scope may name of its subject, in order of name. A
// plan has no more of them before it is made: whether it is applicable is what policies
// decide.
func (s PolicyScope) Attributes() []string {
	if s == ScopePlan {
		return []string{"actions", "batches", "count", "destinations", "environment", "hash_total", "signals", "totals", "transfers"}
	}
	names := append(transfer.FieldNames(), "action", "address", "after", "again", "batch", "expires", "place", "reason", "signals", "until")
	slices.Sort(names)
	return names
}

// Party is one side of a transfer.
type Party struct{ ProfileID, IdentityID, AccountID string }

// Policy is a policy block: a condition on the transfers that a plan submits. Nothing overrides it.
// It is not for use by several goroutines at once.
type Policy struct {
	Name  string
	Place Place
	Scope PolicyScope
	// Profiles are those to which money may go where the block says only_profiles; nil where
	// it has a condition.
	Profiles map[Party]bool
	included bool // it stands in an included directory, and Profiles are those of such directories

	condition, message *eval.Argument
	ctx                *hcl.EvalContext
	spelled            *Policy // see [Policy.Spelled]
	meter              *meter.Meter
	sum                string // what it says, hexadecimal
}

// Address is how the policy is named.
func (p *Policy) Address() string { return "policy." + p.Name }

// Payees are Profiles in words.
func (p *Policy) Payees() string {
	if p.included {
		return "profiles of included directories"
	}
	return "declared profiles"
}

// Names reports whether the condition or the message names an attribute of the subject.
func (p *Policy) Names(attribute string) bool {
	return slices.Contains(p.condition.Refs.Subject, attribute) || slices.Contains(p.message.Refs.Subject, attribute)
}

// Spelled is the policy for a subject whose asset and UUIDs are in one spelling ([transfer.Request.OneSpelling]): the
// values that it names have their UUIDs in that too. It is the policy itself where they have anyway.
func (p *Policy) Spelled() *Policy { return p.spelled }

// Holds evaluates the condition over an object with the attributes of the subject that it
// names. Where it does not hold, or has no value, why is the block's message or the mistake.
func (p *Policy) Holds(subject cty.Value) (holds bool, why string) {
	steps := int64(meter.RowStepsMax)
	if p.Scope == ScopePlan { // which has all lines of the plan
		steps = meter.StepsMax
	}
	defer p.meter.Resume(p.meter.Begin(steps))
	ctx := p.ctx.NewChild()
	ctx.Variables = map[string]cty.Value{p.Scope.subject(): subject}
	value, diags := p.condition.Expr.Value(ctx)
	if over := p.meter.Over(); over != nil {
		return false, "The condition has no value: " + over.Summary + ": " + over.Detail
	}
	switch {
	case diags.HasErrors():
		return false, "The condition has no value: " + cmp.Or(absentKey(p.condition.Expr, p.Scope, subject), diags[0].Summary+": "+diags[0].Detail)
	case !value.IsWhollyKnown() || value.IsNull() || value.Type() != cty.Bool:
		return false, "The condition is neither true nor false."
	case value.True():
		return true, ""
	}
	message, diags := p.message.Expr.Value(ctx)
	if diags.HasErrors() {
		return false, "The error_message has no value: " + cmp.Or(absentKey(p.message.Expr, p.Scope, subject), diags[0].Summary+": "+diags[0].Detail)
	}
	if !syntax.IsText(message) || message.AsString() == "" {
		return false, "The error_message is no text."
	}
	return false, visibleMessage(message.AsString())
}

// visibleMessage is text that a terminal shows as it is.
func visibleMessage(text string) string {
	if transfer.CheckText(text) != nil {
		return fmt.Sprintf("%q", text)
	}
	return text
}

func (p *Policy) control() ControlDigest {
	return ControlDigest{Name: p.Address(), Place: p.Place.String(), SHA256: p.sum}
}

func policyKind() eval.Kind {
	return eval.Kind{
		Name: "policy", Labels: []string{"name"},
		Optional: []string{"scope", "condition", "error_message", "only_profiles"},
		Policy:   true, Shared: true,
	}
}

// conditionWithout is the text of a condition without its quotation marks, where it names what a condition sees; else an example.
func conditionWithout(text string) string {
	if strings.Contains(text, "self.") || strings.Contains(text, "plan.") {
		return text
	}
	return "decimal_cmp(self.amount, \"50000\") <= 0"
}

// evaluatePolicies reads the policy blocks. A condition sees its subject, and of the
// configuration the variables, locals and profiles, whose values are part of the control.
func (k *controlReader) evaluatePolicies(blocks []*eval.Block) {
	for _, b := range blocks {
		if b.Incomplete {
			continue
		}
		r := &eval.Reader{Scope: k.scope, Block: b}
		policy := k.readPolicy(r)
		k.report(r.Diags...)
		if !r.Diags.HasErrors() && policy != nil {
			k.found.Policies = append(k.found.Policies, policy)
		}
	}
}

// readPolicy is nil where the policy says that it is not to be.
func (k *controlReader) readPolicy(r *eval.Reader) *Policy {
	b := r.Block
	settings := b.Within(eval.NarrowReach())
	for _, name := range []string{"scope", "only_profiles"} {
		if a := b.Arguments[name]; a != nil {
			k.resolveArgument(a, settings, false)
		}
	}
	p := &Policy{
		Name: b.Label(0), Place: placeOf(b.At), meter: k.scope.Meter,
		Scope: PolicyScope(r.OneOf("scope", Words("policy", "scope")...)),
	}
	p.spelled = p
	if b.Arguments["only_profiles"] != nil {
		return k.onlyProfiles(r, p)
	}
	for _, name := range []string{"condition", "error_message"} {
		if b.Arguments[name] == nil {
			r.Refuse(b.At, "Missing required argument", "A policy has a condition and an error_message, or only_profiles = true. %s is missing.", name)
		}
	}
	if r.Diags.HasErrors() {
		return nil
	}
	within := settings
	within.Profiles, within.NoFiles, within.Subject, within.SubjectHas = true, true, p.Scope.subject(), p.Scope.Attributes()
	p.condition, p.message = b.Arguments["condition"], b.Arguments["error_message"]
	if text, isText := syntax.LiteralText(syntax.Unwrap(p.condition.Expr)); isText && !isJSON(p.condition.Expr.Range().Filename) {
		r.Refuse(p.condition.Expr.Range(), "Condition is a text", "A condition is true or false, and a text is neither. Write it without quotation marks, such as:\n\n  condition = %s", conditionWithout(text.AsString()))
	}
	for _, a := range []*eval.Argument{p.condition, p.message} {
		k.resolveArgument(a, within, false)
		if a.Refs.Sensitive() {
			r.Refuse(a.Expr.Range(), "Sensitive value is not allowed here", "A policy and its message are shown to the reviewers of a plan.")
		}
	}
	if !r.Diags.HasErrors() {
		k.settlePolicy(r, p)
	}
	return p
}

// onlyProfiles reads a policy that lets money go to declared profiles only: to those of policy
// directories, where they declare any. One in an included directory lets it go to none of the
// directory that includes it.
func (k *controlReader) onlyProfiles(r *eval.Reader, p *Policy) *Policy {
	for _, name := range []string{"condition", "error_message", "scope"} {
		if a := r.Block.Arguments[name]; a != nil {
			r.Refuse(a.NameAt, "Arguments exclude each other", "only_profiles says all of a policy; %s can't stand beside it.", name)
		}
	}
	if !r.Truth("only_profiles") {
		return nil
	}
	profiles := profileNodes(k.scope, true)
	if len(profiles) == 0 {
		profiles = profileNodes(k.scope, false)
		if p.included = r.Block.Included != nil; p.included {
			profiles = slices.DeleteFunc(profiles, func(n *eval.Node) bool { return n.Book == nil })
		}
	}
	p.Scope, p.Profiles = ScopeTransfer, make(map[Party]bool, len(profiles))
	var texts []string
	for _, n := range profiles {
		k.use(n, false)
		if n.Progress == eval.Failed && k.need != NeedAll { // else it was told
			r.Refuse(n.At, "Profile has a mistake", "only_profiles lets money go to declared profiles, and this one can't be read. To see why:\n\n  remit validate")
		}
		if n.Progress != eval.Known {
			continue
		}
		part := func(name string) string {
			if v := n.Value.GetAttr(name); !v.IsNull() {
				return v.AsString()
			}
			return ""
		}
		party := Party{part("profile_id"), part("identity_id"), part("account_id")}
		p.Profiles[party] = true
		texts = append(texts, fmt.Sprintf("%q %q %q", party.ProfileID, party.IdentityID, party.AccountID))
	}
	slices.Sort(texts)
	h := sha256.New()
	netstrings(h, "only_profiles")
	netstrings(h, slices.Compact(texts)...)
	p.sum = hex.EncodeToString(h.Sum(nil))
	return p
}

func profileNodes(scope *eval.Scope, policy bool) []*eval.Node {
	var nodes []*eval.Node
	for _, n := range scope.InOrder {
		if n.Root == "profile" && n.Policy == policy {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// settlePolicy gathers what the expressions name, once for all transfers.
func (k *controlReader) settlePolicy(r *eval.Reader, p *Policy) {
	all := eval.References{
		Nodes: slices.Concat(p.condition.Refs.Nodes, p.message.Refs.Nodes),
		Whole: slices.Concat(p.condition.Refs.Whole, p.message.Refs.Whole),
		Wrong: p.condition.Refs.Wrong || p.message.Refs.Wrong,
	}
	slices.SortFunc(all.Nodes, func(a, b *eval.Node) int { return strings.Compare(a.Address(), b.Address()) })
	all.Nodes = slices.Compact(all.Nodes)
	ctx, ok, diags := k.scope.Context(&all)
	r.Diags = append(r.Diags, diags...)
	if !ok {
		return // told where it was resolved, or a variable is missing
	}
	p.ctx = ctx
	policyTexts{
		p.Scope.subject(), p.Scope.Attributes(), Words("policy", "signals"), slices.Sorted(maps.Keys(k.scope.Nodes["batch"])),
		ctx, k.scope.Meter, &k.addresses,
	}.check(r, p.condition, p.message)
	checkFails(r, p)
	if values, isAnother := spelledValues(ctx.Variables); isAnother {
		other := *p
		other.ctx = &hcl.EvalContext{Variables: values, Functions: ctx.Functions}
		other.spelled, p.spelled = &other, &other
	}
	h := sha256.New()
	netstrings(h, string(p.Scope), k.written(p.condition), k.written(p.message))
	for _, n := range all.Nodes {
		if n.Value.ContainsMarked() {
			r.Refuse(r.Block.At, "Value can't be kept", "%s is sensitive. A policy is written down with each plan, so it may not name it.", n.Address())
			continue
		}
		text, err := ctyjson.Marshal(n.Value, n.Value.Type())
		if err != nil {
			r.Refuse(r.Block.At, "Value can't be kept", "%s is named by the policy and can't be written down: %s", n.Address(), mistake.Sentence(err))
		}
		netstrings(h, n.Address(), n.Value.Type().GoString(), string(text))
	}
	p.sum = hex.EncodeToString(h.Sum(nil))
}

// checkFails refuses a condition that looks at nothing of its subject and holds: the policy could never fail, and nobody would notice.
// With a variable or a local it may be a switch, by which somebody stops all payments, and is a warning.
func checkFails(r *eval.Reader, p *Policy) {
	subject := p.Scope.subject()
	isSubject := func(t hcl.Traversal) bool { return t.RootName() == subject }
	if r.Diags.HasErrors() || slices.ContainsFunc(p.condition.Expr.Variables(), isSubject) {
		return
	}
	value, diags := p.condition.Expr.Value(p.ctx)
	if diags.HasErrors() || !value.IsKnown() || value.IsNull() || value.Type() != cty.Bool || value.False() {
		return
	}
	seen := "transfer"
	if p.Scope == ScopePlan {
		seen = "plan"
	}
	var switches []string
	for _, n := range p.condition.Refs.Nodes {
		if n.Root == "var" || n.Root == "local" {
			switches = append(switches, n.Address())
		}
	}
	const summary = "Condition looks at nothing"
	at, example := p.condition.Expr.Range(), subject+"."+map[PolicyScope]string{ScopeTransfer: "amount", ScopePlan: "count"}[p.Scope]
	if len(switches) == 0 {
		r.Refuse(at, summary, "The condition names nothing of %s, the %s that it is about, and holds: the policy could never fail. Name what it is to look at, such as %s, or delete the policy.", subject, seen, example)
		return
	}
	r.Diags = append(r.Diags, mistake.Warning(at, summary,
		"The condition names nothing of %s, the %[2]s that it is about: it holds of every %[2]s, or of none where %s has another value. If it is to look at the %[2]s, name a part of it, such as %[4]s.", subject, seen, mistake.Listed(switches, 3), example))
}

// written is an expression as its author wrote it, without its layout and comments.
func (k *controlReader) written(a *eval.Argument) string {
	at := a.Expr.Range()
	file := k.files[at.Filename]
	if file == nil || !at.CanSliceBytes(file.Bytes) {
		return ""
	}
	content := at.SliceBytes(file.Bytes)
	tokens, diags := hclsyntax.LexExpression(content, at.Filename, at.Start)
	if diags.HasErrors() || isJSON(at.Filename) {
		return string(content)
	}
	var b strings.Builder
	for _, token := range tokens {
		if token.Type != hclsyntax.TokenComment && token.Type != hclsyntax.TokenNewline {
			netstrings(&b, string(token.Bytes))
		}
	}
	return b.String()
}
