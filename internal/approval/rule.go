package approval

import (
	"fmt"
	"maps"
	"slices"

	"github.com/shopspring/decimal"

	"remit/internal/text/english"
	"remit/internal/transfer"
)

// Rule is one tier of an approval block.
type Rule struct {
	Place     string                     // file:line, by which a message names it
	Above     map[string]decimal.Decimal // by asset
	CountMax  int                        // applies to plans of more transfers; meant where HasCount
	HasCount  bool
	Approvers int
	// DeviceBound says that a passkey counts only where its authenticator says that no copy of it is kept elsewhere.
	DeviceBound bool
}

// applies says why a rule applies to a plan that would move totals; "" where it does not. A
// rule without a threshold applies to every plan; of several thresholds one is enough.
func (r *Rule) applies(totals transfer.Totals) string {
	if len(r.Above) == 0 && !r.HasCount {
		return "for every plan"
	}
	for _, asset := range slices.Sorted(maps.Keys(r.Above)) {
		if totals.Sum(asset).GreaterThan(r.Above[asset]) {
			return fmt.Sprintf("above %s %s", transfer.Scales(nil).ShownSum(r.Above[asset], asset), asset)
		}
	}
	if r.HasCount && totals.Count() > r.CountMax {
		return "more than " + english.Plural(r.CountMax, "transfer")
	}
	return ""
}

// Need is what a rule asks for.
type Need struct {
	Rule      Rule
	Because   string // which threshold the plan is above, in words
	Approvers int    // apart from a proven author
	// DeviceBound is the place of a rule that applies and wants passkeys that are not backed up; "" for none.
	DeviceBound string
}

// Wants is how many approvers are asked for, in words.
func (n Need) Wants() string { return english.Plural(n.Approvers, "approver") }

// Needed is what the rules ask of a plan that would move totals: of those that apply, the one
// that wants most approvers decides, and one that wants passkeys which are not backed up is enough. The plan is the whole one, whatever an earlier run of it
// did already. It is false where none applies, and where nothing would be moved.
func Needed(rules []Rule, totals transfer.Totals) (Need, bool) {
	var need Need
	deviceBound := ""
	if totals.Count() == 0 {
		return need, false
	}
	for _, r := range rules {
		because := r.applies(totals)
		if because == "" {
			continue
		}
		if r.DeviceBound && deviceBound == "" {
			deviceBound = r.Place
		}
		if r.Approvers > need.Approvers {
			need = Need{Rule: r, Because: because, Approvers: r.Approvers}
		}
	}
	need.DeviceBound = deviceBound
	return need, need.Approvers > 0
}

// AssetsToType are the assets of a plan in the order in which an approver types their totals: those whose amount makes a
// rule apply come first.
func AssetsToType(totals transfer.Totals, needs []Need) []string {
	var assets []string
	add := func(asset string) {
		if asset = transfer.AssetSpelled(asset); !slices.Contains(assets, asset) {
			assets = append(assets, asset)
		}
	}
	for _, need := range needs {
		for _, asset := range slices.Sorted(maps.Keys(need.Rule.Above)) {
			if totals.Sum(asset).GreaterThan(need.Rule.Above[asset]) {
				add(asset)
			}
		}
	}
	for total := range totals.All() {
		add(total.Asset)
	}
	return assets
}

// Unnamed are the assets of a plan for which no rule has an amount, in order, where some rule
// has one for another: what a tier forgot.
func Unnamed(rules []Rule, totals transfer.Totals) []string {
	named, isTiered := map[string]bool{}, false
	for _, r := range rules {
		if len(r.Above) == 0 && !r.HasCount {
			return nil // it applies to all
		}
		for asset := range r.Above {
			named[transfer.AssetSpelled(asset)], isTiered = true, true
		}
	}
	var unnamed []string
	for total := range totals.All() {
		if isTiered && !named[total.Asset] {
			unnamed = append(unnamed, total.Asset)
		}
	}
	return unnamed
}
