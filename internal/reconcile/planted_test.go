package reconcile_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"remit/internal/reconcile"
)

// planting changes the export of one transfer, and knows what must be found of it.
type planting struct {
	name string
	want string // breaks, the gravest first; "" for none
	do   func(debit, credit row) []row
}

func plantings() []planting {
	return []planting{
		{"nothing", "", func(d, c row) []row { return []row{d, c} }},
		{"re-scaled", "", func(d, c row) []row {
			return []row{d.with("amount", d["amount"]+"00000000"), c.with("amount", "00"+c["amount"])}
		}},
		{"no ref_id on the credit", "", func(d, c row) []row { return []row{d, c.with("ref_id", "")} }},
		{"no ref_id at all", "", func(d, c row) []row { return []row{d.with("ref_id", ""), c.with("ref_id", "")} }},
		{"no group_id at all", "", func(d, c row) []row { return []row{d.with("group_id", ""), c.with("group_id", "")} }},
		{"optional fields absent", "", func(d, c row) []row {
			return []row{d.with("balance_asset", ""), c.with("balance_asset", "")}
		}},

		{"a cent on the debit", "amount unbalanced", func(d, c row) []row { return []row{d.plus("0.01"), c} }},
		{"a cent on the credit", "amount unbalanced", func(d, c row) []row { return []row{d, c.plus("-0.01")} }},
		{"a cent on both", "amount", func(d, c row) []row { return []row{d.plus("0.01"), c.plus("0.01")} }},
		{"the last digit", "amount", func(d, c row) []row {
			return []row{d.plus("0.00000000000000000001"), c.plus("0.00000000000000000001")}
		}},
		{"10 as 1000", "amount", func(d, c row) []row {
			return []row{d.with("amount", strings.Replace(d["amount"], ".", "", 1)), c.with("amount", strings.Replace(c["amount"], ".", "", 1))}
		}},
		{"a sign", "amount unbalanced", func(d, c row) []row { return []row{d.with("amount", "-"+d["amount"]), c} }},
		{"another asset", "asset", func(d, c row) []row {
			return []row{d.with("asset", "CHF", "balance_asset", "CHF"), c.with("asset", "CHF", "balance_asset", "CHF")}
		}},
		{"another asset on one side", "asset unbalanced", func(d, c row) []row { return []row{d, c.with("asset", "CHF")} }},
		{"another asset whose balance moved", "asset", func(d, c row) []row { return []row{d.with("balance_asset", "CHF"), c} }},
		{"the debit missing", "one_side", func(_, c row) []row { return []row{c} }},
		{"the credit missing", "one_side", func(d, _ row) []row { return []row{d} }},
		{"both missing", "state_only", func(_, _ row) []row { return nil }},
		{"the debit twice", "duplicate", func(d, c row) []row { return []row{d, c, d} }},
		{"the credit three times", "duplicate", func(d, c row) []row { return []row{c, d, c, c} }},
		{"an older version of the debit", "duplicate", func(d, c row) []row {
			return []row{d.with("status", "PENDING", "updated_at", "2026-10-31T00:00:00Z"), d, c}
		}},
		{"paid twice", "several", func(d, c row) []row { return []row{d, c, d.with("id", d["id"]+"-again")} }},
		{"credited twice", "several", func(d, c row) []row { return []row{d, c, c.with("id", c["id"]+"-again", "ref_id", "")} }},
		{"sides swapped", "field", func(d, c row) []row {
			return []row{d.with("profile_id", c["profile_id"]), c.with("profile_id", d["profile_id"])}
		}},
		{"directions swapped", "field", func(d, c row) []row {
			return []row{
				d.with("direction", c["direction"], "type", c["type"]), c.with("direction", d["direction"], "type", d["type"]),
			}
		}},
		{"another destination", "field", func(d, c row) []row { return []row{d, c.with("profile_id", "mallory")} }},
		{"another sender", "field", func(d, c row) []row { return []row{d.with("profile_id", "mallory"), c} }},
		{"another direction", "field", func(d, c row) []row { return []row{d.with("direction", "CREDIT"), c} }},
		{"another direction of the credit", "field", func(d, c row) []row { return []row{d, c.with("direction", "DEBIT")} }},
		{"another type", "field", func(d, c row) []row { return []row{d.with("type", "WIRE_WITHDRAWAL"), c} }},
		{"another id", "field", func(d, c row) []row { return []row{d.with("id", "other-"+d["id"]), c} }},
		{"another customer", "field", func(d, c row) []row { return []row{d.with("customer_id", "someone"), c} }},
		{"another ref_id on the credit", "field", func(d, c row) []row { return []row{d, c.with("ref_id", "foreign-"+c["ref_id"])} }},
		{"another ref_id on the debit", "field", func(d, c row) []row { return []row{d.with("ref_id", "foreign-"+d["ref_id"]), c} }},
		{"another group_id on the credit", "field", func(d, c row) []row { return []row{d, c.with("group_id", "other-"+c["group_id"])} }},
		{"metadata added", "field", func(d, c row) []row { return []row{d.with("metadata.added", "x"), c} }},
		{"FAILED", "status", func(d, c row) []row { return []row{d.with("status", "FAILED"), c.with("status", "FAILED")} }},
		{"the credit PENDING", "status", func(d, c row) []row { return []row{d, c.with("status", "PENDING")} }},
		{"a cent and a missing side", "amount one_side", func(d, _ row) []row { return []row{d.plus("0.01")} }},
	}
}

// strangers are records of nobody that the state knows, and what must be found under their
// ref_id.
func strangers() []planting {
	foreign := func(r row) row {
		return r.with("id", "foreign-"+r["id"], "ref_id", "foreign-"+r["ref_id"], "group_id", "foreign-"+r["group_id"])
	}
	return []planting{
		{"an extra transfer", "service_only", func(d, c row) []row { return []row{foreign(d), foreign(c)} }},
		{"an extra debit", "service_only", func(d, _ row) []row { return []row{foreign(d)} }},
		{"an extra credit", "service_only", func(_, c row) []row { return []row{foreign(c)} }},
		{"an extra transfer twice", "service_only duplicate", func(d, c row) []row { return []row{foreign(d), foreign(c), foreign(d)} }},
		{"an extra transfer that does not balance", "unbalanced service_only", func(d, c row) []row { return []row{foreign(d), foreign(c.plus("1"))} }},
		{"an extra transfer without group_id", "service_only", func(d, c row) []row {
			return []row{foreign(d).with("group_id", ""), foreign(c).with("group_id", "")}
		}},
		{"a deposit", "", func(_, c row) []row { return []row{foreign(c).with("type", "WIRE_DEPOSIT")} }},
	}
}

// TestEveryPlantedBreakIsFoundAndNothingElse plants some breaks in an export, a thousand times.
func TestEveryPlantedBreakIsFoundAndNothingElse(t *testing.T) {
	const transfers, seeds = 45, 1000
	w := newWorld(t, transfers)
	seen := make(map[string]int)
	for seed := range uint64(seeds) {
		random := rand.New(rand.NewPCG(seed, 1))
		var export []row
		want, names := make(map[string]string), make(map[string]string)
		plant := func(p planting, refID string, debit, credit row) {
			export = append(export, p.do(debit, credit)...)
			names[refID] += p.name
			seen[p.name]++
			if p.want != "" {
				want[refID] = p.want
			}
		}
		broken := random.Perm(transfers)[:random.IntN(8)]
		for i := range transfers {
			debit, credit := w.export[2*i], w.export[2*i+1]
			if slices.Contains(broken, i) {
				plant(plantings()[random.IntN(len(plantings()))], debit["ref_id"], debit, credit)
			} else {
				export = append(export, debit, credit)
			}
			if random.IntN(40) == 0 {
				plant(strangers()[random.IntN(len(strangers()))], "foreign-"+debit["ref_id"], debit, credit)
			}
		}
		if random.IntN(3) > 0 {
			random.Shuffle(len(export), func(i, j int) { export[i], export[j] = export[j], export[i] })
		}
		var files []string
		for range random.IntN(3) {
			cut := random.IntN(len(export) + 1)
			files = append(files, format(random.IntN(6), export[:cut]))
			export = export[cut:]
		}
		files = append(files, format(random.IntN(6), export))
		got := make(map[string]string)
		o := reconcile.Options{
			MemoryMax: []int{0, 1500, 9000}[random.IntN(3)], // what does not fit goes to files
			Each: func(l *reconcile.Line) error {
				if l.Result != reconcile.Matched {
					got[l.RefID] = strings.Trim(fmt.Sprint(l.Breaks), "[]")
				}
				return nil
			},
		}
		summary := w.reconciled(t, o, files...)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("seed %d (-planted +found):\n%s\nplanted: %v", seed, diff, names)
		}
		if summary.Agrees() != (len(want) == 0) || summary.Differ != len(want) || summary.Accepted != 0 {
			t.Fatalf("seed %d: agrees %t with %d that differ, %d planted", seed, summary.Agrees(), summary.Differ, len(want))
		}
		if stated := transfers - len(slices.DeleteFunc(slices.Collect(maps.Keys(want)), func(refID string) bool { return strings.HasPrefix(refID, "foreign-") })); summary.Matched != stated {
			t.Fatalf("seed %d: %d matched, not %d", seed, summary.Matched, stated)
		}
	}
	for _, p := range slices.Concat(plantings(), strangers()) {
		if seen[p.name] == 0 {
			t.Errorf("%q was never planted", p.name)
		}
	}
}

// TestEachPlantingAlone names the planting that is not found, and its totals.
func TestEachPlantingAlone(t *testing.T) {
	const transfers = 8
	w := newWorld(t, transfers)
	for _, p := range slices.Concat(plantings(), strangers()) {
		t.Run(p.name, func(t *testing.T) {
			for i := range transfers {
				debit, credit := w.export[2*i], w.export[2*i+1]
				planted := p.do(debit, credit)
				export := slices.Concat(w.export[:2*i], planted, w.export[2*i+2:])
				if strings.Contains(p.want, "service_only") || p.name == "a deposit" {
					export = slices.Concat(w.export, planted)
				}
				var got []string
				w.reconciled(t, reconcile.Options{Each: func(l *reconcile.Line) error {
					if l.Result == reconcile.Differs {
						got = append(got, strings.Trim(fmt.Sprint(l.Breaks), "[]"))
					}
					return nil
				}}, format(0, export))
				if strings.Join(got, "; ") != p.want {
					t.Errorf("%s: found %q, want %q", debit["ref_id"], got, p.want)
				}
			}
		})
	}
}
