package planner_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"remit/config"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// ofAmount is a transfer of a block that always makes its ref_ids in one way.
func ofAmount(refID, amount string, edits ...func(*config.Transfer)) config.Transfer {
	edit := func(t *config.Transfer) { t.Request.Amount = transfer.MustAmount(amount) }
	return declare(refID, append([]func(*config.Transfer){twin, named("pay", "words"), edit}, edits...)...)
}

func TestCorrections(t *testing.T) {
	const age = 400 * day
	paid := func(refID, amount string, edits ...func(*state.Detail)) state.Detail {
		return record(ofAmount(refID, amount), state.Recorded, append(edits, intended(age))...)
	}
	flag := func(refIDs ...string) []string {
		return []string{fmt.Sprintf("rename %d %v --accept-renames=transfer.internal.pay:%d", len(refIDs), refIDs, len(refIDs))}
	}
	byBlock := func(count int) planner.Controls {
		return planner.Controls{AcceptRenames: map[string]int{"transfer.internal.pay": count}}
	}
	tests := map[string]struct {
		declared  []config.Transfer
		recorded  []state.Detail
		controls  planner.Controls
		obstacles []string
		accepted  []string
	}{
		"another amount":                     {declared: []config.Transfer{ofAmount("v-10.50", "10.50")}, recorded: []state.Detail{paid("v-10.00", "10.00")}, obstacles: flag("v-10.50")},
		"a mark only":                        {declared: []config.Transfer{ofAmount("v-10.50", "10.50", window(0))}, recorded: []state.Detail{paid("v-10.00", "10.00")}, obstacles: flag("v-10.50")},
		"no zeros":                           {declared: []config.Transfer{ofAmount("v-10.5-x", "10.50")}, recorded: []state.Detail{paid("v-10-x", "10.00")}, obstacles: flag("v-10.5-x")},
		"no point":                           {declared: []config.Transfer{ofAmount("v-1050", "10.50")}, recorded: []state.Detail{paid("v-1000", "10.00")}, obstacles: flag("v-1050")},
		"another mark":                       {declared: []config.Transfer{ofAmount("v-10_50", "10.50")}, recorded: []state.Detail{paid("v-10_00", "10.00")}, obstacles: flag("v-10_50")},
		"behind digits":                      {declared: []config.Transfer{ofAmount("2026112010.50", "10.50")}, recorded: []state.Detail{paid("2026112010.00", "10.00")}, obstacles: flag("2026112010.50")},
		"a date has the digits":              {declared: []config.Transfer{ofAmount("2026-11-12.00", "12.00")}, recorded: []state.Detail{paid("2026-11-11.00", "11.00")}, obstacles: flag("2026-11-12.00")},
		"the amount stands twice":            {declared: []config.Transfer{ofAmount("12.00-v-12", "12.00")}, recorded: []state.Detail{paid("11.00-v-11", "11.00")}, obstacles: flag("12.00-v-12")},
		"the same amount in other digits":    {declared: []config.Transfer{ofAmount("v-10.0", "10.0")}, recorded: []state.Detail{paid("v-10.00", "10.00")}, obstacles: flag("v-10.0")},
		"a month has the digits":             {declared: []config.Transfer{ofAmount("fee-2026-12", "12.00", named("pay", `ref_id = "fee-${each.key}", key = "month"`))}, recorded: []state.Detail{paid("fee-2026-11", "11.00")}},
		"a day has the digits":               {declared: []config.Transfer{ofAmount("fee-2026-12-31", "31.00", named("pay", `ref_id = "fee-${each.value.on}"`))}, recorded: []state.Detail{paid("fee-2026-12-30", "30.00")}},
		"a month before its year":            {declared: []config.Transfer{ofAmount("fee-12/2026", "12.00", named("pay", `ref_id = "fee-${var.period}"`))}, recorded: []state.Detail{paid("fee-11/2026", "11.00")}},
		"a month that is written out":        {declared: []config.Transfer{ofAmount("fee-2026-12", "12.00", label)}, recorded: []state.Detail{paid("fee-2026-11", "11.00")}},
		"a month with the amount's zeros":    {declared: []config.Transfer{ofAmount("fee-2026-12.00", "12.00", named("pay", `ref_id = "fee-${each.key}"`))}, recorded: []state.Detail{paid("fee-2026-11.00", "11.00")}, obstacles: flag("fee-2026-12.00")},
		"an amount behind a year":            {declared: []config.Transfer{ofAmount("v-2026-12", "12.00", named("pay", `ref_id = "v-${each.value.year}-${each.value.net}"`))}, recorded: []state.Detail{paid("v-2026-11", "11.00")}, obstacles: flag("v-2026-12")},
		"an amount behind a written year":    {declared: []config.Transfer{ofAmount("v-2026-12", "12.00", named("pay", `ref_id = "v-2026-${each.value.net}"`))}, recorded: []state.Detail{paid("v-2026-11", "11.00")}, obstacles: flag("v-2026-12")},
		"an amount before a written year":    {declared: []config.Transfer{ofAmount("v-12-2026", "12.00", named("pay", `ref_id = "v-${each.value.net}-2026"`))}, recorded: []state.Detail{paid("v-11-2026", "11.00")}, obstacles: flag("v-12-2026")},
		"an amount in a call":                {declared: []config.Transfer{ofAmount("v-2026-12", "12.00", named("pay", `ref_id = "v-${format("2026-%s", each.value.net)}"`))}, recorded: []state.Detail{paid("v-2026-11", "11.00")}, obstacles: flag("v-2026-12")},
		"an amount in a key that is made":    {declared: []config.Transfer{ofAmount("v-2026-12", "12.00", named("pay", `ref_id = "v-${each.key}", for_each = {for each.value : "2026-${$1.net}"}`))}, recorded: []state.Detail{paid("v-2026-11", "11.00")}, obstacles: flag("v-2026-12")},
		"a number that is no month":          {declared: []config.Transfer{ofAmount("RE-2026-75", "75.00", named("pay", `ref_id = "${each.key}"`))}, recorded: []state.Detail{paid("RE-2026-50", "50.00")}, obstacles: flag("RE-2026-75")},
		"a month, and the amount as well":    {declared: []config.Transfer{ofAmount("12-fee-2026-12", "12.00", named("pay", `ref_id = "${each.value.net}-fee-${var.period}"`))}, recorded: []state.Detail{paid("11-fee-2026-11", "11.00")}, obstacles: flag("12-fee-2026-12")},
		"in another place":                   {declared: []config.Transfer{ofAmount("10.50-v", "10.50")}, recorded: []state.Detail{paid("v-10.00", "10.00")}},
		"the rest differs":                   {declared: []config.Transfer{ofAmount("w-10.50", "10.50")}, recorded: []state.Detail{paid("v-10.00", "10.00")}},
		"the amount is a part of a number":   {declared: []config.Transfer{ofAmount("v-15", "5")}, recorded: []state.Detail{paid("v-12", "2")}},
		"the ref_id has no amount":           {declared: []config.Transfer{ofAmount("v-2", "10.50")}, recorded: []state.Detail{paid("v-1", "10.00")}},
		"another asset":                      {declared: []config.Transfer{ofAmount("v-10.50", "10.50", func(t *config.Transfer) { t.Request.Asset = "EUR" })}, recorded: []state.Detail{paid("v-10.00", "10.00")}},
		"another sender":                     {declared: []config.Transfer{ofAmount("v-10.50", "10.50", func(t *config.Transfer) { t.Request.FromProfileID = "other" })}, recorded: []state.Detail{paid("v-10.00", "10.00")}},
		"another destination":                {declared: []config.Transfer{ofAmount("v-10.50", "10.50", func(t *config.Transfer) { t.Request.ToProfileID = "other" })}, recorded: []state.Detail{paid("v-10.00", "10.00")}},
		"the recorded one is still declared": {declared: []config.Transfer{ofAmount("v-10.00", "10.00"), ofAmount("v-10.50", "10.50")}, recorded: []state.Detail{paid("v-10.00", "10.00")}},
		"the recorded one FAILED":            {declared: []config.Transfer{ofAmount("v-10.50", "10.50")}, recorded: []state.Detail{paid("v-10.00", "10.00", recordStatus(transfer.Failed))}},
		"in doubt": {
			declared: []config.Transfer{ofAmount("v-10.50", "10.50")}, recorded: []state.Detail{paid("v-10.00", "10.00", func(d *state.Detail) { d.Status = state.InDoubt })},
			obstacles: []string{`look-alike 1 [v-10.50] remit resolve v-10.00 --recorded FILE --reason "…"`},
		},
		"accepted by the block": {
			declared: []config.Transfer{ofAmount("v-10.50", "10.50")}, recorded: []state.Detail{paid("v-10.00", "10.00")}, controls: byBlock(1),
			accepted: []string{"accept-renames=transfer.internal.pay:1"},
		},
		"accepted by name": {
			declared: []config.Transfer{ofAmount("v-10.50", "10.50")}, recorded: []state.Detail{paid("v-10.00", "10.00")},
			controls: planner.Controls{AcceptDuplicate: []string{"v-10.50"}}, accepted: []string{"accept-duplicate=v-10.50"},
		},
		"accepted by its argument": {
			declared: []config.Transfer{ofAmount("v-10.50", "10.50", acceptOf("v-10.00"))}, recorded: []state.Detail{paid("v-10.00", "10.00")},
			accepted: []string{"accept_duplicate_of=v-10.50"},
		},
		"beside a rename of the block": {
			declared:  []config.Transfer{ofAmount("v-10.50", "10.50"), ofAmount("w-7", "7.00")},
			recorded:  []state.Detail{paid("v-10.00", "10.00"), record(ofAmount("old", "7.00", named("pay", "other words")), state.Recorded, intended(age))},
			obstacles: flag("v-10.50", "w-7"),
		},
		"two of one payment": {
			declared: []config.Transfer{ofAmount("v-10.50", "10.50"), ofAmount("v-11", "11.00")}, recorded: []state.Detail{paid("v-10.00", "10.00")},
			obstacles: flag("v-10.50", "v-11"),
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.obstacles == nil {
				test.obstacles = []string{}
			}
			m := newMemory(test.recorded...)
			p := plan(t, m, test.controls, test.declared...)
			if diff := cmp.Diff(test.obstacles, obstacles(p)); diff != "" {
				t.Errorf("obstacles (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.accepted, p.Header.Accepted); diff != "" {
				t.Errorf("accepted (-want +got):\n%s", diff)
			}
			checkComputedAgain(t, m, p)
		})
	}
}

func TestACorrectionSaysBothAmounts(t *testing.T) {
	m := newMemory(record(ofAmount("v-10.00", "10.00"), state.Recorded, intended(31*day)), record(ofAmount("v-9.00", "9.00"), state.Recorded, intended(62*day)))
	p := plan(t, m, planner.Controls{}, ofAmount("v-10.50", "10.50"))
	if s := find(t, p, "v-10.50").Signals; len(s) < 2 || s[len(s)-2].RefID != "v-10.00" || !strings.HasSuffix(s[len(s)-2].Detail, "but for the amount, which was 10.00 USD") || s[len(s)-1].RefID != "v-9.00" {
		t.Errorf("signals %+v", s)
	}
	if len(p.Obstacles) != 1 || !strings.Contains(p.Obstacles[0].Detail, `is the same ref_id as "v-10.00" but for the amount. That one is recorded`) {
		t.Errorf("obstacles %+v", p.Obstacles)
	}
}

// checkComputedAgain saves a plan and computes it again, without the state and with it.
func checkComputedAgain(t *testing.T, m *memory, made *planner.Plan) {
	t.Helper()
	made.Header.PlanID, made.Header.Expires = "plan-1", now.Add(day)
	opened, err := planner.Open(bytes.NewReader(save(t, made)))
	if err != nil {
		t.Fatal(err)
	}
	computed, err := opened.Alone(t.Context(), planner.Controls{})
	if err != nil {
		t.Fatalf("without the state: %v", err)
	}
	if diff := cmp.Diff(marks(made), marks(computed)); diff != "" {
		t.Errorf("the marks without the state (-made +computed):\n%s", diff)
	}
	if _, err := opened.Verify(t.Context(), m, planner.Controls{}, now); err != nil {
		t.Errorf("with the state: %v", err)
	}
}
