package planner_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"remit/config"
	"remit/planner"
	"remit/state"
)

// policies loads policy blocks.
func policies(t testing.TB, blocks string) config.Controls {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "policies.hcl"), []byte(blocks), 0o600); err != nil {
		t.Fatal(err)
	}
	c, diags := config.Load(dir, config.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return c.Controls()
}

func failingPolicies(p *planner.Plan) []string {
	var all []string
	for _, o := range p.Obstacles {
		if o.Kind == planner.ObstaclePolicy {
			all = append(all, o.Address+" "+strings.Join(o.RefIDs, " "))
		}
	}
	return all
}

func TestPolicies(t *testing.T) {
	controls := policies(t, `
batch "pay" {
  description = "salaries"
}
policy "amount" {
  condition     = decimal_cmp(self.amount, "80") < 0
  error_message = "${self.ref_id} is not small."
}
policy "batch" {
  condition     = self.batch != "pay"
  error_message = "no pay"
}
policy "no-value" {
  condition     = self.metadata.ticket != ""
  error_message = "no ticket"
}
policy "count" {
  scope         = "plan"
  condition     = plan.count < 3 && plan.totals.USD != "0"
  error_message = "many"
}
policy "holds" {
  scope         = "plan"
  condition     = plan.count == 3 && length(plan.destinations) == 3 && plan.batches.pay.count == 1
  error_message = "?"
}
`)
	doubt := declare("doubt", inBatch("pay"))
	m := newMemory(record(doubt, state.InDoubt))
	p := plan(t, m, planner.Controls{Declared: controls},
		declare("a"), declare("b", func(c *config.Transfer) { amount("1")(&c.Request) }), doubt)
	want := []string{"policy.amount a", "policy.no-value a b", "policy.count "}
	if diff := cmp.Diff(want, failingPolicies(p)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, failingPolicies(plan(t, m, planner.Controls{Declared: controls, OverrideLimit: []string{"amount", "count"}, AcceptDuplicate: []string{"a"}},
		declare("a"), declare("b", func(c *config.Transfer) { amount("1")(&c.Request) }), doubt))); diff != "" {
		t.Errorf("no flag opens a policy: %s", diff)
	}
	if p := plan(t, m, planner.Controls{Declared: controls}, doubt); len(failingPolicies(p)) > 0 {
		t.Errorf("what is in doubt is held up: %v", p.Obstacles)
	}
}

// TestAPolicyWhoseOwnUUIDIsInCapitalsStopsIt bars an account in capitals, which a service takes for the one in small letters that a
// transfer pays: the transfer is in the one spelling already, and the policy's own value is not.
func TestAPolicyWhoseOwnUUIDIsInCapitalsStopsIt(t *testing.T) {
	controls := policies(t, `
locals {
  barred = "7A3C5D7E-2B4F-4C6D-8E9F-A1B2C3D4E5F6"
}
policy "each" {
  condition     = self.to_profile_id != local.barred
  error_message = "barred"
}
policy "all" {
  scope         = "plan"
  condition     = alltrue([for t in values(plan.transfers) : t.to_profile_id != local.barred])
  error_message = "barred"
}
`)
	for profile, want := range map[string][]string{
		"7a3c5d7e-2b4f-4c6d-8e9f-a1b2c3d4e5f6": {"policy.each a", "policy.all "},
		"7a3c5d7e-2b4f-4c6d-8e9f-a1b2c3d4e5f7": nil,
	} {
		p := plan(t, newMemory(), planner.Controls{Declared: controls}, declare("a", to(profile)))
		if diff := cmp.Diff(want, failingPolicies(p)); diff != "" {
			t.Errorf("paid to %s (-want +got):\n%s", profile, diff)
		}
	}
}

// TestRecheckHoldsThePolicies holds that a plan whose file says that it is applicable is held
// against the policies again.
func TestRecheckHoldsThePolicies(t *testing.T) {
	controls := policies(t, `
policy "amount" {
  condition     = decimal_cmp(self.amount, "80") < 0
  error_message = "?"
}`)
	m := newMemory()
	p := plan(t, m, planner.Controls{Declared: controls}, declare("a"))
	p.Header.PlanID, p.Header.Expires, p.Obstacles = "plan-1", now.Add(day), nil
	if _, err := p.Recheck(t.Context(), m, planner.Controls{Declared: controls}, now); err == nil {
		t.Error("it is applied")
	}
}

// TestPolicyAttributes holds what policies may name against what there is.
func TestPolicyAttributes(t *testing.T) {
	value, err := plan(t, newMemory(), planner.Controls{}, declare("a")).Value(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range config.ScopePlan.Attributes() {
		if !value.Type().HasAttribute(name) {
			t.Errorf("a plan has no %q", name)
		}
	}
	line := value.GetAttr("transfers").AsValueMap()["a"]
	var has []string
	for name := range line.Type().AttributeTypes() {
		has = append(has, name)
	}
	slices.Sort(has)
	if diff := cmp.Diff(config.ScopeTransfer.Attributes(), has); diff != "" {
		t.Error(diff)
	}
}

func BenchmarkPolicies(b *testing.B) {
	controls := policies(b, `
policy "amount" {
  condition     = decimal_cmp(self.amount, "50000") <= 0
  error_message = "?"
}
policy "asset" {
  condition     = contains(["USD", "EUR"], self.asset) && self.operation == "internal"
  error_message = "?"
}`)
	transfers := make([]config.Transfer, 100_000)
	for i := range transfers {
		transfers[i] = declare(fmt.Sprintf("t%06d", i))
	}
	for b.Loop() {
		if _, err := planner.New(b.Context(), slices.Values(transfers), newMemory(), planner.Controls{Declared: controls}, now); err != nil {
			b.Fatal(err)
		}
	}
}
