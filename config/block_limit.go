package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/config/syntax"
	"remit/internal/transfer"
)

// LimitPer says over what a limit counts.
type LimitPer string

// The spans over which a limit counts.
const (
	PerTransfer       LimitPer = "transfer"
	PerPlan           LimitPer = "plan"
	PerDay            LimitPer = "day"
	PerDestinationDay LimitPer = "destination_day"
)

// IsDaily reports whether transfers that were sent earlier on the day count too.
func (p LimitPer) IsDaily() bool { return p == PerDay || p == PerDestinationDay }

// Limit is a limit block: a cap that no plan may exceed unless somebody overrides it by name.
type Limit struct {
	Name  string
	Place Place
	Per   LimitPer
	Asset string // "" counts transfers of every asset, and caps no amount
	// AmountMax caps the sum of the amounts; the zero Amount caps nothing.
	AmountMax transfer.Amount
	// CountMax caps the number of transfers; -1 caps nothing.
	CountMax int
	// Zone is the one whose days count; UTC where the block does not say.
	Zone *time.Location
}

// Address is how the limit is named.
func (l *Limit) Address() string { return "limit." + l.Name }

func (l *Limit) control() ControlDigest {
	h := sha256.New()
	netstrings(h, string(l.Per), l.Asset, l.AmountMax.Normal(), fmt.Sprint(l.CountMax), l.Zone.String())
	return ControlDigest{Name: l.Address(), Place: l.Place.String(), SHA256: hex.EncodeToString(h.Sum(nil))}
}

func limitKind() eval.Kind {
	return eval.Kind{
		Name: "limit", Labels: []string{"name"}, Required: []string{"per"},
		Optional: []string{"asset", "max_amount", "max_count", "timezone"},
		Policy:   true, Shared: true,
	}
}

// evaluateLimits reads the limit blocks. They see variables and locals only: a cap must not
// grow with the rows that it caps.
func (k *controlReader) evaluateLimits(blocks []*eval.Block) {
	for _, b := range blocks {
		if b.Incomplete {
			continue
		}
		r := k.narrowReader(b, false)
		limit := k.readLimit(r)
		k.report(r.Diags...)
		k.found.Limits = append(k.found.Limits, limit)
	}
}

func (k *controlReader) readLimit(r *eval.Reader) Limit {
	b := r.Block
	limit := Limit{
		Name: b.Label(0), Place: placeOf(b.At), Zone: time.UTC,
		Per:      LimitPer(r.OneOf("per", Words("limit", "per")...)),
		CountMax: r.Whole("max_count", 0, countMax, -1),
	}
	if a := b.Arguments["max_count"]; limit.CountMax == 0 && !r.Diags.HasErrors() {
		r.Diags = append(r.Diags, mistake.Warning(a.Expr.Range(), "Limit of nothing", "max_count = 0 lets nothing through, on no day and in no plan. %s", noCap("max_count")))
	}
	r.RefuseNull("max_amount", "max_count")
	limit.Asset, _ = r.Text("asset")
	byAsset := false
	if value, a, found := r.Value("max_amount"); found == eval.Present {
		byAsset = isByAsset(value)
		limit.AmountMax = k.cap(r, a, value, limit.Asset)
	}
	amount, hasAmount := b.Arguments["max_amount"]
	count, hasCount := b.Arguments["max_count"]
	switch {
	case !hasAmount && !hasCount:
		r.Refuse(b.At, "Nothing is limited", "A limit has max_amount, max_count or both.")
	case hasAmount && b.Arguments["asset"] == nil && !byAsset:
		r.Refuse(amount.NameAt, "Missing required argument", "max_amount is an amount of one asset: write asset = \"USD\" beside it.")
	case hasCount && limit.Per == PerTransfer && !r.Diags.HasErrors():
		r.Refuse(count.NameAt, "Nothing to count", "With per = \"transfer\" each transfer is looked at alone; max_count belongs to another per.")
	}
	if a := b.Arguments["timezone"]; a != nil && !limit.Per.IsDaily() {
		r.Refuse(a.NameAt, "No day to begin", "timezone says where days begin, and per = %q has no days.", limit.Per)
	} else {
		limit.Zone = zoneArgument(r)
	}
	return limit
}

// noCap says how an argument of a limit caps nothing.
func noCap(argument string) string {
	return fmt.Sprintf("Where %s should cap nothing, leave it out, or the whole block where it has nothing else.", argument)
}

// isByAsset reports whether a value has an amount for each asset, as that of other arguments has.
func isByAsset(value cty.Value) bool {
	ty := value.Type()
	return (ty.IsObjectType() || ty.IsMapType()) && value.LengthInt() > 0
}

// withoutMinus is the amount of a text with a minus sign before it; "" for any other value.
func withoutMinus(value cty.Value) string {
	if !syntax.IsText(value) {
		return ""
	}
	plain, isNegative := strings.CutPrefix(value.AsString(), "-")
	if _, err := transfer.ParseAmount(plain); err != nil || !isNegative {
		return ""
	}
	return plain
}

// cap reads an amount that an asset can have.
func (k *controlReader) cap(r *eval.Reader, a *eval.Argument, value cty.Value, asset string) transfer.Amount {
	if ctx, ok, _ := k.scope.Context(a.Refs); ok {
		r.Diags = append(r.Diags, checkDecimal(k.scope, a.Expr, ctx)...)
	}
	if value.Type() == cty.Number {
		r.Refuse(a.Expr.Range(), "Not a quoted decimal", "max_amount is a number, which is a binary float. %s", quotedFix("max_amount", a.Expr, k.files))
		return transfer.Amount{}
	}
	if isByAsset(value) {
		only := slices.Sorted(maps.Keys(value.AsValueMap()))[0]
		r.Refuse(a.Expr.Range(), "Amount is not a decimal", "A limit is an amount of one asset, which stands beside it, and every other asset has a limit of its own. Write, such as:\n\n  max_amount = \"412850.22\"\n  asset      = %q", only)
		return transfer.Amount{}
	}
	if plain := withoutMinus(value); plain != "" {
		r.Refuse(a.Expr.Range(), "Invalid amount", "max_amount %q has a minus sign, and a limit has none. Write:\n\n  max_amount = %q", value.AsString(), plain)
		return transfer.Amount{}
	}
	if syntax.IsText(value) && isNothing(value.AsString()) {
		r.Refuse(a.Expr.Range(), "Limit of nothing", "max_amount = %q would let nothing through. %s", value.AsString(), noCap("max_amount"))
		return transfer.Amount{}
	}
	amount, summary, detail := readAmount("max_amount", value, a.Expr, k.files)
	if summary == "" {
		if detail = k.assets.checkCap("max_amount", amount, asset); detail != "" {
			summary = "Too many decimals"
		}
	}
	if summary != "" {
		r.Refuse(a.Expr.Range(), summary, "%s", detail)
	}
	return amount
}
