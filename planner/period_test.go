package planner_test

import (
	"strings"
	"testing"

	"remit/planner"
	"remit/state"
)

// TestAPeriodInTheWordsIsNamed is about ref_ids that are made in words which differ in a period alone. They are asked about as ever;
// the message says how to be asked no more.
func TestAPeriodInTheWordsIsNamed(t *testing.T) {
	const variable, flag = "variable \"period\" { type = string }\n", "--accept-renames=transfer.internal.pay:1"
	const key = `, key = "employee"`
	for name, test := range map[string]struct{ was, is, says, remedy string }{
		"a month":     {`ref_id = "p-2026-10-${each.key}"` + key, `ref_id = "p-2026-11-${each.key}"` + key, `differ in "2026-10" and "2026-11" alone`, variable + "ref_id = \"p-${var.period}-${each.key}\"\n" + flag},
		"at the end":  {`ref_id = "p-${each.key}-202610"` + key, `ref_id = "p-${each.key}-202611"` + key, `differ in "202610" and "202611" alone`, variable + "ref_id = \"p-${each.key}-${var.period}\"\n" + flag},
		"twice":       {`ref_id = "10/p-${each.key}-10"`, `ref_id = "11/p-${each.key}-11"`, `differ in "10" and "11" alone`, variable + "ref_id = \"${var.period}/p-${each.key}-${var.period}\"\n" + flag},
		"in a call":   {`ref_id = "p-${format("2026-10-%s", each.key)}"`, `ref_id = "p-${format("2026-11-%s", each.key)}"`, `differ in "2026-10" and "2026-11" alone`, flag},
		"no template": {`ref_id = format("2026-10-%s", each.key)`, `ref_id = format("2026-11-%s", each.key)`, `make it a variable, whose value is no word, and accept`, flag},

		"a variable now":        {`ref_id = "p-2026-10-${each.key}"` + key, `ref_id = "p-${var.period}-${each.key}"` + key, `give var.period that value`, flag},
		"a variable beside one": {`ref_id = "${var.of}-2026-10-${each.key}"`, `ref_id = "${var.of}-${var.month}-${each.key}"`, `The new words have var.month in the place of "2026-10"`, flag},

		"two numbers":            {`ref_id = "p-1-of-10-${each.key}"`, `ref_id = "p-2-of-11-${each.key}"`, `write the old words again`, flag},
		"another text":           {`ref_id = "p-2026-10-${each.key}"`, `ref_id = "q-2026-11-${each.key}"`, `paid once more`, flag},
		"another form":           {`ref_id = "p-2026-10-${each.key}"`, `ref_id = "p-202611-${each.key}"`, `paid once more`, flag},
		"another key":            {`ref_id = "p-${each.key}", key = "no1"`, `ref_id = "p-${each.key}", key = "no2"`, `paid once more`, flag},
		"a text, and a variable": {`ref_id = "p-old-${each.key}"`, `ref_id = "p-${var.period}-${each.key}"`, `paid once more`, flag},
	} {
		b := declare("b", twin, named("pay", test.is))
		p := plan(t, newMemory(lastPaid("a", "pay", test.was, 31*day)), planner.Controls{}, b)
		if len(p.Obstacles) != 1 || p.Obstacles[0].Kind != planner.ObstacleRename {
			t.Errorf("%s: obstacles %v", name, p.Obstacles)
			continue
		}
		if o := p.Obstacles[0]; !strings.Contains(o.Detail, test.says) || o.Remedy != test.remedy {
			t.Errorf("%s: it says %s\n%s", name, o.Detail, o.Remedy)
		}
	}

	// A block of one transfer stays where it is.
	old, next := declare("rent-2026-10", twin, label), declare("rent-2026-11", twin, label, window(day))
	m := newMemory(record(old, state.Recorded, intended(31*day)))
	if p := plan(t, m, planner.Controls{}, next); len(p.Obstacles) != 1 || !strings.Contains(p.Obstacles[0].Detail, "leave the block of the old one in the files beside it") {
		t.Errorf("obstacles %v", p.Obstacles)
	}
	if p := plan(t, m, planner.Controls{}, old, next); !p.Applicable() {
		t.Errorf("with both blocks: %v", p.Obstacles)
	}
}
