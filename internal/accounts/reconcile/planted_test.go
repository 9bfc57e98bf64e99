package reconcile_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"remit/internal/accounts/reconcile"
	"remit/internal/proof/suite"
)

// planting changes the export of one transfer, and knows the finding that it must cause.
type planting struct {
	name string
	want string // breaks, the gravest first; "" for none
	do   func(debit, credit row) []row

	lookedUp string               // what a lookup finds instead, "-" for nothing; "" for the same
	on       func(debit row) bool // where it can be planted; nil for everywhere
}

// found is the finding that it must cause.
func (p *planting) found(isLookedUp bool) string {
	switch {
	case !isLookedUp || p.lookedUp == "":
		return p.want
	case p.lookedUp == "-":
		return ""
	}
	return p.lookedUp
}

func (p *planting) fits(debit row) bool { return p.on == nil || p.on(debit) }

func hasFee(debit row) bool     { return debit["fee"] != "0" }
func isInternal(debit row) bool { return strings.HasPrefix(debit["type"], "INTERNAL") }
func isPlatform(debit row) bool { return !isInternal(debit) }

func plantings() []planting {
	return []planting{
		{name: "nothing", want: "", do: func(d, c row) []row { return []row{d, c} }},
		{name: "re-scaled", want: "", do: func(d, c row) []row {
			return []row{d.with("amount", d["amount"]+"00000000"), c.with("amount", "00"+c["amount"])}
		}},
		{name: "no ref_id on the credit", want: "", do: func(d, c row) []row { return []row{d, c.with("ref_id", "")} }, lookedUp: "one_side"},
		{name: "no ref_id at all", want: "", do: func(d, c row) []row { return []row{d.with("ref_id", ""), c.with("ref_id", "")} }, lookedUp: "state_only"},
		{name: "no group_id at all", want: "", do: func(d, c row) []row { return []row{d.with("group_id", ""), c.with("group_id", "")} }},
		{name: "optional fields absent", want: "", do: func(d, c row) []row {
			return []row{d.with("balance_asset", ""), c.with("balance_asset", "")}
		}},

		{name: "a cent on the debit", want: "amount unbalanced", do: func(d, c row) []row { return []row{d.plus("0.01"), c} }},
		{name: "a cent on the credit", want: "amount unbalanced", do: func(d, c row) []row { return []row{d, c.plus("-0.01")} }},
		{name: "a cent on both", want: "amount", do: func(d, c row) []row { return []row{d.plus("0.01"), c.plus("0.01")} }},
		{name: "the last digit", want: "amount", do: func(d, c row) []row {
			return []row{d.plus("0.00000000000000000001"), c.plus("0.00000000000000000001")}
		}},
		{name: "10 as 1000", want: "amount", do: func(d, c row) []row {
			return []row{d.with("amount", strings.Replace(d["amount"], ".", "", 1)), c.with("amount", strings.Replace(c["amount"], ".", "", 1))}
		}},
		{name: "a sign", want: "amount unbalanced", do: func(d, c row) []row { return []row{d.with("amount", "-"+d["amount"]), c} }},
		{name: "another asset", want: "asset", do: func(d, c row) []row {
			return []row{d.with("asset", "CHF", "balance_asset", "CHF"), c.with("asset", "CHF", "balance_asset", "CHF")}
		}},
		{name: "another asset on one side", want: "asset unbalanced", do: func(d, c row) []row { return []row{d, c.with("asset", "CHF")} }},
		{name: "another asset whose balance moved", want: "asset", do: func(d, c row) []row { return []row{d.with("balance_asset", "CHF"), c} }},
		{name: "the debit missing", want: "one_side", do: func(_, c row) []row { return []row{c} }},
		{name: "the credit missing", want: "one_side", do: func(d, _ row) []row { return []row{d} }},
		{name: "both missing", want: "state_only", do: func(_, _ row) []row { return nil }},
		{name: "the debit twice", want: "duplicate", do: func(d, c row) []row { return []row{d, c, d} }},
		{name: "the credit three times", want: "duplicate", do: func(d, c row) []row { return []row{c, d, c, c} }},
		{name: "an older version of the debit", want: "duplicate", do: func(d, c row) []row {
			return []row{d.with("status", "PENDING", "updated_at", "2026-10-31T00:00:00Z"), d, c}
		}},
		{name: "paid twice", want: "several", do: func(d, c row) []row { return []row{d, c, d.with("id", d["id"]+"-again")} }},
		{name: "credited twice", want: "several", do: func(d, c row) []row { return []row{d, c, c.with("id", c["id"]+"-again", "ref_id", "")} }, lookedUp: "-"},
		{name: "sides swapped", want: "field", do: func(d, c row) []row {
			return []row{d.with("profile_id", c["profile_id"]), c.with("profile_id", d["profile_id"])}
		}},
		{name: "directions swapped", want: "field", do: func(d, c row) []row {
			return []row{
				d.with("direction", c["direction"], "type", c["type"]), c.with("direction", d["direction"], "type", d["type"]),
			}
		}},
		{name: "another destination", want: "field", do: func(d, c row) []row { return []row{d, c.with("profile_id", "mallory")} }},
		{name: "another sender", want: "field", do: func(d, c row) []row { return []row{d.with("profile_id", "mallory"), c} }},
		{name: "another direction", want: "field", do: func(d, c row) []row { return []row{d.with("direction", "CREDIT"), c} }},
		{name: "another direction of the credit", want: "field", do: func(d, c row) []row { return []row{d, c.with("direction", "DEBIT")} }},
		{name: "another type", want: "field", do: func(d, c row) []row { return []row{d.with("type", "WIRE_WITHDRAWAL"), c} }},
		{name: "another id", want: "field", do: func(d, c row) []row { return []row{d.with("id", "other-"+d["id"]), c} }},
		{name: "another customer", want: "customer", do: func(d, c row) []row { return []row{d.with("customer_id", "someone"), c} }},
		{name: "another ref_id on the credit", want: "field", do: func(d, c row) []row { return []row{d, c.with("ref_id", "foreign-"+c["ref_id"])} }, lookedUp: "one_side"},
		{name: "another ref_id on the debit", want: "field", do: func(d, c row) []row { return []row{d.with("ref_id", "foreign-"+d["ref_id"]), c} }, lookedUp: "one_side"},
		{name: "another group_id on the credit", want: "field", do: func(d, c row) []row { return []row{d, c.with("group_id", "other-"+c["group_id"])} }},
		{name: "another group_id on both", want: "field", do: func(d, c row) []row {
			return []row{d.with("group_id", "other-"+d["group_id"]), c.with("group_id", "other-"+c["group_id"])}
		}},
		{name: "metadata added", want: "field", do: func(d, c row) []row { return []row{d.with("metadata.added", "x"), c} }},
		{name: "other metadata on the credit", want: "field", on: func(d row) bool { return isInternal(d) && d["metadata.employee"] != "" }, do: func(d, c row) []row {
			return []row{d, c.with("metadata.employee", "E-0")}
		}},
		{name: "FAILED", want: "status", do: func(d, c row) []row { return []row{d.with("status", "FAILED"), c.with("status", "FAILED")} }},
		{name: "the credit PENDING", want: "status", do: func(d, c row) []row { return []row{d, c.with("status", "PENDING")} }},
		{name: "another customer on both", want: "customer", do: func(d, c row) []row {
			return []row{d.with("customer_id", "someone"), c.with("customer_id", "someone")}
		}},
		{name: "another customer on the credit", want: "customer", on: isInternal, do: func(d, c row) []row {
			return []row{d, c.with("customer_id", "someone")}
		}},
		{name: "another customer is paid", want: "", on: isPlatform, do: func(d, c row) []row {
			return []row{d, c.with("customer_id", "someone")}
		}},
		{name: "paid twice, by another customer", want: "several customer", do: func(d, c row) []row {
			return []row{d, c, d.with("id", d["id"]+"-again", "customer_id", "someone")}
		}},
		{name: "a fee that the state has not", want: "field", do: func(d, c row) []row {
			return []row{d.with("fee", "7", "total", "777"), c}
		}},
		{name: "a fee alone", want: "field", do: func(d, c row) []row { return []row{d.with("fee", "7"), c} }},
		{name: "a total alone", want: "field", do: func(d, c row) []row { return []row{d.with("total", "777"), c} }},
		{name: "a fee that only the state has", want: "field", on: hasFee, do: func(d, c row) []row {
			return []row{d.with("fee", "0", "total", d["amount"]), c}
		}},
		{name: "the sign of a fee", want: "field", on: hasFee, do: func(d, c row) []row { return []row{d.with("fee", "-"+d["fee"]), c} }},
		{name: "fee and total in other words", want: "", do: func(d, c row) []row {
			return []row{d.with("total", "0"+d["total"]), c.with("fee", "0.000")}
		}},
		{name: "made on another day", want: "created", do: func(d, c row) []row {
			return []row{d.with("created_at", "2026-10-30T00:00:00Z"), c.with("created_at", "2026-10-30T00:00:00Z")}
		}},
		{name: "the debit made on another day", want: "created", do: func(d, c row) []row {
			return []row{d.with("created_at", "2026-12-01T00:00:00Z"), c}
		}},
		{name: "made in the same moment, in another zone", want: "", do: func(d, c row) []row {
			at := strings.Replace(d["created_at"], "2026-11-01T00:00:", "2026-11-01T05:30:", 1)
			return []row{d.with("created_at", strings.TrimSuffix(at, "Z")+".25+05:30"), c}
		}},
		{name: "one id for both sides", want: "same_id", do: func(d, c row) []row { return []row{d, c.with("id", d["id"])} }},
		{name: "one id for both sides, the credit's", want: "same_id field", do: func(d, c row) []row { return []row{d.with("id", c["id"]), c} }},
		{name: "ids swapped", want: "field", do: func(d, c row) []row { return []row{d.with("id", c["id"]), c.with("id", d["id"])} }},
		{name: "FAILED, with another fee", want: "status", do: func(d, c row) []row {
			return []row{d.with("status", "FAILED", "fee", "9"), c.with("status", "FAILED")}
		}},
		{name: "a cent and a missing side", want: "amount one_side", do: func(d, _ row) []row { return []row{d.plus("0.01")} }},
	}
}

// strangers are records of nobody that the state knows, and the findings under their ref_id.
func strangers() []planting {
	foreign := func(r row) row {
		return r.with("id", "foreign-"+r["id"], "ref_id", "foreign-"+r["ref_id"], "group_id", "foreign-"+r["group_id"])
	}
	return []planting{
		{name: "an extra transfer", want: "service_only", do: func(d, c row) []row { return []row{foreign(d), foreign(c)} }},
		{name: "an extra debit", want: "service_only", do: func(d, _ row) []row { return []row{foreign(d)} }},
		{name: "an extra credit", want: "service_only", do: func(_, c row) []row { return []row{foreign(c)} }},
		{name: "an extra transfer twice", want: "service_only duplicate", do: func(d, c row) []row { return []row{foreign(d), foreign(c), foreign(d)} }},
		{name: "an extra transfer that does not balance", want: "unbalanced service_only", do: func(d, c row) []row { return []row{foreign(d), foreign(c.plus("1"))} }},
		{name: "an extra transfer without group_id", want: "service_only", do: func(d, c row) []row {
			return []row{foreign(d).with("group_id", ""), foreign(c).with("group_id", "")}
		}},
		{name: "an extra transfer of another customer", want: "customer service_only", do: func(d, c row) []row {
			return []row{foreign(d).with("customer_id", "someone"), foreign(c)}
		}},
		{name: "an extra credit of another customer", want: "customer service_only", do: func(_, c row) []row {
			return []row{foreign(c).with("customer_id", "someone")}
		}},
		{name: "an extra transfer with one id", want: "same_id service_only", do: func(d, c row) []row {
			return []row{foreign(d), foreign(c).with("id", "foreign-"+d["id"])}
		}},
		{name: "an extra debit that a deposit brings back", want: "service_only", do: func(d, c row) []row {
			return []row{foreign(d), foreign(c).with("type", "WIRE_DEPOSIT")}
		}},
		{name: "a deposit", want: "", do: func(_, c row) []row { return []row{foreign(c).with("type", "WIRE_DEPOSIT")} }},
	}
}

// planted is an export in which some breaks are planted, and the findings that it must cause.
type planted struct {
	export []row
	want   map[string]string // breaks by ref_id
	names  map[string]string
}

func (p *planted) plant(what *planting, refID string, debit, credit row, isLookedUp bool) {
	p.export = append(p.export, what.do(debit, credit)...)
	p.names[refID] += what.name
	if want := what.found(isLookedUp); want != "" {
		p.want[refID] = want
	}
}

// plantIn plants breaks at some transfers of w, by their numbers, and each stranger beside one.
func (w *world) plantIn(at map[int]*planting, strangers map[int]*planting, isLookedUp bool) *planted {
	p := &planted{want: make(map[string]string), names: make(map[string]string)}
	for i := range len(w.export) / 2 {
		debit, credit := w.export[2*i], w.export[2*i+1]
		if what := at[i]; what != nil {
			p.plant(what, debit["ref_id"], debit, credit, isLookedUp)
		} else {
			p.export = append(p.export, debit, credit)
		}
		if what := strangers[i]; what != nil {
			p.plant(what, "foreign-"+debit["ref_id"], debit, credit, isLookedUp)
			if isLookedUp {
				delete(p.want, "foreign-"+debit["ref_id"]) // nobody asks for it
			}
		}
	}
	return p
}

// check compares the findings with the planted breaks. judge reconciles with options.
func (p *planted) check(t *testing.T, w *world, judge func(reconcile.Options) *reconcile.Summary) {
	t.Helper()
	got := make(map[string]string)
	summary := judge(reconcile.Options{
		Each: func(l *reconcile.Item) error {
			if l.Result != reconcile.Matched {
				got[l.RefID] = strings.Trim(fmt.Sprint(l.Breaks), "[]")
			}
			return nil
		},
	})
	if diff := cmp.Diff(p.want, got); diff != "" {
		t.Fatalf("%s (-planted +found):\n%s\nplanted: %v", t.Name(), diff, p.names)
	}
	if summary.Agrees() != (len(p.want) == 0) || summary.Differ != len(p.want) || summary.Accepted != 0 {
		t.Fatalf("agrees %t with %d that differ, %d planted: %v", summary.Agrees(), summary.Differ, len(p.want), p.names)
	}
	known := slices.DeleteFunc(slices.Collect(maps.Keys(p.want)), func(refID string) bool { return strings.HasPrefix(refID, "foreign-") })
	if matched := len(w.export)/2 - len(known); summary.Matched != matched {
		t.Fatalf("%d matched, not %d: %v", summary.Matched, matched, p.names)
	}
}

// TestEveryPlantedBreakIsFoundAndNothingElse plants some breaks in an export, a thousand times,
// and reads it in each form that an export may have; each fourth time a lookup finds it instead.
func TestEveryPlantedBreakIsFoundAndNothingElse(t *testing.T) {
	suite.Slow(t)
	const transfers = 45
	w := newWorld(t, transfers)
	all, foreign := plantings(), strangers()
	seen := make(map[string]int)
	for seed := range uint64(suite.Dose(0, 200, 1000)) {
		random := rand.New(rand.NewPCG(seed, 1))
		at, beside := make(map[int]*planting), make(map[int]*planting)
		for _, i := range random.Perm(transfers)[:random.IntN(8)] {
			if p := &all[random.IntN(len(all))]; p.fits(w.export[2*i]) {
				at[i] = p
				seen[p.name]++
			}
		}
		for i := range transfers {
			if random.IntN(40) == 0 {
				beside[i] = &foreign[random.IntN(len(foreign))]
				seen[beside[i].name]++
			}
		}
		isLookedUp := seed%4 == 3
		p := w.plantIn(at, beside, isLookedUp)
		export := p.export
		if random.IntN(3) > 0 {
			random.Shuffle(len(export), func(i, j int) { export[i], export[j] = export[j], export[i] })
		}
		p.check(t, w, func(o reconcile.Options) *reconcile.Summary {
			o.MemoryMax = []int{0, 1500, 9000}[random.IntN(3)] // entries that do not fit go to files
			if isLookedUp {
				return w.lookedUp(t, o, export)
			}
			var files []string
			for range random.IntN(3) {
				cut := random.IntN(len(export) + 1)
				files = append(files, format(random.IntN(6), export[:cut]))
				export = export[cut:]
			}
			return w.reconciled(t, o, append(files, format(random.IntN(6), export))...)
		})
	}
	for _, p := range slices.Concat(all, foreign) {
		if seen[p.name] == 0 {
			t.Errorf("%q was never planted", p.name)
		}
	}
}

// TestEveryTwoPlantings plants each beside each at another transfer: none hides another, and none
// is found where it was not planted.
func TestEveryTwoPlantings(t *testing.T) {
	suite.Slow(t)
	const transfers = 10
	w := newWorld(t, transfers)
	all, foreign := plantings(), strangers()
	place := func(p *planting, taken int) int {
		for i := range transfers {
			if i != taken && p.fits(w.export[2*i]) {
				return i
			}
		}
		t.Fatalf("%q fits nowhere", p.name)
		return 0
	}
	share := suite.Dose(0, 4, 1) // one pair of so many
	for i := range all {
		first := place(&all[i], -1)
		for k := i % share; k < len(all)-i; k += share {
			other := &all[i+k]
			p := w.plantIn(map[int]*planting{first: &all[i], place(other, first): other}, nil, false)
			p.check(t, w, func(o reconcile.Options) *reconcile.Summary { return w.reconciled(t, o, format((i+k)%6, p.export)) })
		}
		for k := i % share; k < len(foreign); k += share {
			p := w.plantIn(map[int]*planting{first: &all[i]}, map[int]*planting{first: &foreign[k]}, false)
			p.check(t, w, func(o reconcile.Options) *reconcile.Summary { return w.reconciled(t, o, format(k%6, p.export)) })
		}
	}
}

// TestEachPlantingAlone names the planting that is not found, in an export and by a lookup.
func TestEachPlantingAlone(t *testing.T) {
	const transfers = 8
	w := newWorld(t, transfers)
	all, foreign := plantings(), strangers()
	for _, isLookedUp := range []bool{false, true} {
		check := func(t *testing.T, p *planted) {
			p.check(t, w, func(o reconcile.Options) *reconcile.Summary {
				if isLookedUp {
					return w.lookedUp(t, o, p.export)
				}
				return w.reconciled(t, o, format(0, p.export))
			})
		}
		for i := range all {
			t.Run(fmt.Sprintf("%s, looked up %t", all[i].name, isLookedUp), func(t *testing.T) {
				for n := range transfers {
					if all[i].fits(w.export[2*n]) {
						check(t, w.plantIn(map[int]*planting{n: &all[i]}, nil, isLookedUp))
					}
				}
			})
		}
		for i := range foreign {
			t.Run(fmt.Sprintf("%s, looked up %t", foreign[i].name, isLookedUp), func(t *testing.T) {
				for n := range transfers {
					check(t, w.plantIn(nil, map[int]*planting{n: &foreign[i]}, isLookedUp))
				}
			})
		}
	}
}
