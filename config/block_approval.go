package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/shopspring/decimal"
	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/config/syntax"
	"remit/internal/approval"
	"remit/internal/text/english"
)

const (
	approversMax = 100
	countMax     = 1_000_000_000
)

// Approval is an approval block: who may approve, and which plans need how many of them.
type Approval struct {
	Place   Place
	Signers *approval.Signers
	Revoked *approval.Revoked   // nil where the block names no file of them
	Origins map[string][]string // of pages that may ask for passkeys, by RP ID; nil without passkeys
	Port    int                 // at which remit review listens; 0 without passkeys
	Rules   []approval.Rule
}

// approvalKind is the kind of approval blocks: one in the configuration and one in each policy directory. Each
// is a control of its own, with its own files, and a plan needs what all of them want.
func approvalKind() eval.Kind {
	return eval.Kind{
		Name: "approval", Optional: []string{"allowed_signers", "revoked_keys"},
		Nested: []eval.Kind{
			{Name: "rule", Required: []string{"approvers"}, Optional: []string{"above", "count_above", "device_bound"}},
			passkeysKind(),
		},
		Policy: true,
	}
}

func declareApproval(c *checker, b *eval.Block) bool {
	where := ""
	if b.Policy != nil {
		where = " of " + b.Policy.Name
	}
	return c.declare("approval block"+where, b.At)
}

// evaluateApprovals reads the approval blocks and the files that they name. Their mistakes
// concern who asked for the controls; for others the blocks are read as far as they go.
func (k *controlReader) evaluateApprovals(blocks []*eval.Block) {
	before := len(k.diags)
	for _, b := range blocks {
		a, diags := k.evaluateApproval(b)
		k.report(diags...)
		k.found.Approvals = append(k.found.Approvals, a)
		k.broken = k.broken || b.Incomplete
	}
	if k.need > NeedControls {
		k.broken = k.broken || k.diags[before:].HasErrors()
		k.diags = k.diags[:before]
	}
}

func (k *controlReader) evaluateApproval(b *eval.Block) (Approval, hcl.Diagnostics) {
	a := Approval{Place: placeOf(b.At)}
	within := b.Within(eval.NarrowReach())
	for _, argument := range b.All() {
		k.resolveArgument(argument, within, k.need > NeedControls)
	}
	r := &eval.Reader{Scope: k.scope, Block: b}
	r.RefuseNull("allowed_signers", "revoked_keys")
	if file := k.keysFile(r, "allowed_signers"); file != nil {
		var mistakes []approval.Mistake
		a.Signers, mistakes = approval.ParseSigners(file.content, k.zone)
		refuseLines(r, file, mistakes)
	}
	if file := k.keysFile(r, "revoked_keys"); file != nil {
		var mistakes []approval.Mistake
		a.Revoked, mistakes = approval.ParseRevoked(file.content)
		refuseLines(r, file, mistakes)
	}
	k.passkeys(r, &a)
	rules := b.NestedOf("rule")
	if len(rules) == 0 && !b.Incomplete {
		r.Refuse(b.At, "Nothing needs an approval", "An approval block has at least one rule block, which says how many approvers a plan needs.")
	}
	for _, nested := range rules {
		if nested.Incomplete {
			continue
		}
		inner := &eval.Reader{Scope: k.scope, Block: nested}
		inner.RefuseNull("device_bound")
		rule := k.approvalRule(inner)
		r.Diags = append(r.Diags, inner.Diags...)
		k.broken = k.broken || len(inner.Unset) > 0
		a.Rules = append(a.Rules, rule)
	}
	k.broken = k.broken || len(r.Unset) > 0
	if a.Signers != nil && !r.Diags.HasErrors() {
		warnOfTooFew(r, &a, rules)
	}
	return a, r.Diags
}

// warnOfTooFew tells of rules that no plan can meet.
func warnOfTooFew(r *eval.Reader, a *Approval, rules []*eval.Block) {
	people, files, other := len(a.Signers.People()), "allowed_signers file has", ""
	usable := people
	if a.Origins != nil {
		files = "files of keys have"
	}
	if allowed := a.Signers.Allowed(); allowed < people {
		other = fmt.Sprintf(" The keys of %s are for another use alone. In allowed_signers, write namespaces=%q, or leave namespaces out.", english.Plural(people-allowed, "name"), approval.Namespace)
		usable = allowed
	}
	for i, rule := range a.Rules {
		if usable < rule.Approvers+1 {
			r.Diags = append(r.Diags, mistake.Warning(rules[i].At, "Too few people may approve",
				"This rule wants %s besides the author, and the %s %s in all, so a plan that the rule applies to can't be applied.%s",
				english.Plural(rule.Approvers, "approver"), files, english.Plural(people, "name"), other))
		}
	}
}

// keysFile is a file that an approval block names.
type keysFile struct {
	name    string
	content []byte
	at      hcl.Range // of the argument
}

// keysFile reads a file that the block names; nil where it names none, or it can't be read.
func (k *controlReader) keysFile(r *eval.Reader, argument string) *keysFile {
	return k.keysFileOf(r, r.Block, argument)
}

// keysFileOf is keysFile of an argument of a block within the control.
func (k *controlReader) keysFileOf(r *eval.Reader, control *eval.Block, argument string) *keysFile {
	name, a := r.Text(argument)
	if name == "" {
		return nil
	}
	content, err := k.readControlFile(control, name)
	if err != nil {
		detail := fmt.Sprintf("%s names %s: %s", argument, name, mistake.Sentence(err))
		if errors.Is(err, fs.ErrNotExist) && argument == "allowed_signers" {
			detail += " It has a line for each person, with the name in front of the public key, as in:\n\n  echo \"bob $(cat bob.pub)\" >> " + name
		}
		r.Refuse(a.Expr.Range(), "File cannot be read", "%s", detail)
		return nil
	}
	return &keysFile{name, content, a.Expr.Range()}
}

// refuseLines reports the mistakes in the lines of a file.
func refuseLines(r *eval.Reader, file *keysFile, mistakes []approval.Mistake) {
	const most = 20
	alike := map[string]int{}
	for _, m := range mistakes {
		alike[m.Text]++
	}
	mistakes = slices.CompactFunc(slices.Clone(mistakes), func(a, b approval.Mistake) bool { return a.Text == b.Text })
	for _, m := range mistakes[:min(len(mistakes), most)] {
		place := file.name
		if m.Line > 0 {
			place = fmt.Sprintf("%s:%d", file.name, m.Line)
		}
		others := ""
		if n := alike[m.Text] - 1; n > 0 {
			others = fmt.Sprintf(" The same is so in %s more.", english.Plural(n, "line"))
		}
		r.Refuse(file.at, "Invalid file of keys", "%s: %s.%s", place, m.Text, others)
	}
	if more := len(mistakes) - most; more > 0 {
		r.Refuse(file.at, "Invalid file of keys", "%s has %d more lines with mistakes.", file.name, more)
	}
}

// approvalRule reads one rule block.
func (k *controlReader) approvalRule(r *eval.Reader) approval.Rule {
	rule := approval.Rule{Place: placeOf(r.Block.At).String(), Approvers: r.Whole("approvers", 1, approversMax, 1)}
	if v, a, found := r.Value("above"); found == eval.Present {
		rule.Above = k.sums(r, a, v)
	}
	if _, _, found := r.Value("count_above"); found == eval.Present {
		rule.HasCount = true
		rule.CountMax = r.Whole("count_above", 0, countMax, 0)
	}
	if _, _, found := r.Value("device_bound"); found == eval.Present {
		rule.DeviceBound = r.Truth("device_bound")
	}
	return rule
}

// sums reads a map from asset to quoted decimal; 0 is one.
func (k *controlReader) sums(r *eval.Reader, a *eval.Argument, v cty.Value) map[string]decimal.Decimal {
	if !v.Type().IsObjectType() && !v.Type().IsMapType() || v.LengthInt() == 0 {
		r.Refuse(a.Expr.Range(), "Not amounts by asset", "%s must be quoted decimals by asset, such as { USD = \"100000\" }.", a.Name)
		return nil
	}
	sums := map[string]decimal.Decimal{}
	values := v.AsValueMap()
	for _, asset := range slices.Sorted(maps.Keys(values)) {
		if syntax.IsText(values[asset]) && values[asset].AsString() == "0" {
			sums[asset] = decimal.Zero
			continue
		}
		amount, summary, detail := readAmount(asset, values[asset], a.Expr, k.files)
		if summary != "" {
			r.Refuse(a.Expr.Range(), summary, "%s of %s: %s", a.Name, asset, strings.TrimPrefix(detail, asset+" "))
			continue
		}
		if detail := k.assets.checkCap(mistake.KeyHCL(asset), amount, asset); detail != "" && k.need == NeedAll { // else assets were not read
			r.Refuse(a.Expr.Range(), "Too many decimals", "%s: %s", a.Name, detail)
			continue
		}
		sums[asset] = amount.Decimal()
	}
	return sums
}

// control is what the block says itself: its files are controls of their own.
func (a *Approval) control() ControlDigest {
	var b strings.Builder
	for _, rule := range a.Rules {
		fmt.Fprintf(&b, "rule %d", rule.Approvers)
		for _, asset := range slices.Sorted(maps.Keys(rule.Above)) {
			fmt.Fprintf(&b, " above %q %s", asset, rule.Above[asset])
		}
		if rule.HasCount {
			fmt.Fprintf(&b, " count_above %d", rule.CountMax)
		}
		if rule.DeviceBound {
			b.WriteString(" device_bound")
		}
		b.WriteString("\n")
	}
	for _, id := range slices.Sorted(maps.Keys(a.Origins)) {
		fmt.Fprintf(&b, "passkeys %q %q\n", id, a.Origins[id])
	}
	sum := sha256.Sum256([]byte(b.String()))
	return ControlDigest{Name: "approval", Place: a.Place.String(), SHA256: hex.EncodeToString(sum[:])}
}
