package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/zclconf/go-cty/cty"

	"remit/internal/transfer"
)

// LimitPer says over what a limit counts.
type LimitPer string

// What a limit counts over.
const (
	PerTransfer       LimitPer = "transfer"
	PerPlan           LimitPer = "plan"
	PerDay            LimitPer = "day"
	PerDestinationDay LimitPer = "destination_day"
)

// IsDaily reports whether what was sent earlier on the day counts too.
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

func (l *Limit) control() Control {
	h := sha256.New()
	netstrings(h, string(l.Per), l.Asset, l.AmountMax.Normal(), fmt.Sprint(l.CountMax), l.Zone.String())
	return Control{Name: l.Address(), Place: l.Place.String(), SHA256: hex.EncodeToString(h.Sum(nil))}
}

func limitKind() blockKind {
	return blockKind{
		name: "limit", labels: []string{"name"}, required: []string{"per"},
		optional: []string{"asset", "max_amount", "max_count", "timezone"},
		policy:   true,
		read: func(l *loader, b *block) {
			if l.declareNamed(b, "limit."+b.label(0)) {
				l.limits = append(l.limits, b)
			}
		},
	}
}

// evaluateLimits reads the limit blocks. They see variables and locals only: a cap must not
// grow with the rows that it caps.
func (l *loader) evaluateLimits() {
	for _, b := range l.limits {
		if b.incomplete {
			continue
		}
		r := l.narrowReader(b, false)
		limit := l.readLimit(r)
		l.report(r.diags...)
		l.config.controls.Limits = append(l.config.controls.Limits, limit)
	}
}

func (l *loader) readLimit(r *reader) Limit {
	b := r.block
	limit := Limit{
		Name: b.label(0), Place: placeOf(b.at), Zone: time.UTC,
		Per:      LimitPer(r.oneOf("per", string(PerTransfer), string(PerPlan), string(PerDay), string(PerDestinationDay))),
		CountMax: r.whole("max_count", 0, countMax, -1),
	}
	limit.Asset, _ = r.text("asset")
	if value, a, found := r.value("max_amount"); found == present {
		limit.AmountMax = l.cap(r, a, value, limit.Asset)
	}
	amount, hasAmount := b.arguments["max_amount"]
	count, hasCount := b.arguments["max_count"]
	switch {
	case !hasAmount && !hasCount:
		r.refuse(b.at, "Nothing is limited", "A limit has max_amount, max_count or both.")
	case hasAmount && b.arguments["asset"] == nil:
		r.refuse(amount.nameAt, "Missing required argument", "max_amount is an amount of one asset: write asset = \"USD\" beside it.")
	case hasCount && limit.Per == PerTransfer:
		r.refuse(count.nameAt, "Nothing to count", "With per = \"transfer\" each transfer is looked at alone; max_count belongs to another per.")
	}
	if a := b.arguments["timezone"]; a != nil && !limit.Per.IsDaily() {
		r.refuse(a.nameAt, "No day to begin", "timezone says where days begin, and per = %q has no days.", limit.Per)
	} else {
		limit.Zone = r.zone()
	}
	return limit
}

// cap reads an amount that an asset can have.
func (l *loader) cap(r *reader, a *argument, value cty.Value, asset string) transfer.Amount {
	if ctx, ok, _ := l.config.scope.context(a.refs); ok {
		r.diags = append(r.diags, l.config.scope.checkDecimal(a.expr, ctx)...)
	}
	if value.Type() == cty.Number {
		r.refuse(a.expr.Range(), "Not a quoted decimal", "max_amount is a number, which is a binary float. Write it in quotation marks, such as \"412850.22\".")
		return transfer.Amount{}
	}
	amount, summary, detail := readAmount(value, a.expr, l.config.sources.files)
	if summary == "" {
		if detail = l.config.assets.check(amount, asset); detail != "" {
			summary = "Too many decimals"
		}
	}
	if summary != "" {
		r.refuse(a.expr.Range(), summary, "%s", detail)
	}
	return amount
}
