package config_test

import (
	"context"
	"fmt"
	"testing"

	"remit/config"
)

// TestTheOccurrenceOfAPeriod has ways to the one occurrence that a configuration pays for: the date of each stays, and its time does not.
func TestTheOccurrenceOfAPeriod(t *testing.T) {
	const found = `[for d, o in schedule.m.occurrences : o if substr(d, 0, 7) == "2026-11"]`
	for _, way := range []string{
		`one(` + found + `)`, found + `[0]`, `schedule.m.occurrences["2026-11-25"]`, `values(schedule.m.occurrences)[0]`,
		`merge(schedule.m.occurrences["2026-11-25"], { who = "x" })`, `lookup(schedule.m.occurrences, "2026-11-25", null)`,
		`element(values(schedule.m.occurrences), 0)`, `try(schedule.m.occurrences["2026-11-25"], null)`,
		`coalesce(schedule.m.occurrences["2026-11-25"])`, `coalescelist(` + found + `)[0]`, `distinct(` + found + `)[0]`,
		`tomap(schedule.m.occurrences)["2026-11-25"]`, `tolist(` + found + `)[0]`, `lookup({ for d, o in schedule.m.occurrences : substr(d, 0, 7) => o }, "2026-11")`,
		`matchkeys(values(schedule.m.occurrences), keys(schedule.m.occurrences), ["2026-11-25"])[0]`,
		`reverse(slice(values(schedule.m.occurrences), 0, 1))[0]`, `length(schedule.m.occurrences) > 1 ? values(schedule.m.occurrences)[0] : null`,
	} {
		for name, want := range map[string]string{"date": "", "due_at": "ref_id depends on adjusted_date or due_at"} {
			t.Run(way+" "+name, func(t *testing.T) {
				c, diags := load(t, map[string]string{"main.hcl": fmt.Sprintf(`
schedule "m" {
  rrule = "FREQ=MONTHLY;BYMONTHDAY=25"
  start = "2026-11-25"
  until = "2027-10-31"
}
locals {
  this = %s
}
transfer "internal" "t" {
  for_each        = { ana = "100.00" }
  ref_id          = "sal-${local.this.%s}-${each.key}"
  from_profile_id = "a"
  to_profile_id   = "b"
  amount          = each.value
  asset           = "EUR"
  not_before      = local.this.due_at
}
`, way, name)}, config.Options{})
				if diags.HasErrors() {
					t.Fatal(diags)
				}
				for declared, diags := range c.Transfers(context.Background()) {
					switch {
					case diags.HasErrors():
						if len(diags) != 1 || diags[0].Summary != want {
							t.Errorf("got %v, want %q", diags, want)
						}
					case want != "":
						t.Errorf("ref_id %q, want %q", declared.Request.RefID, want)
					case declared.Request.RefID != "sal-2026-11-25-ana" || declared.Occurrence == nil || declared.Occurrence.Date.String() != "2026-11-25":
						t.Errorf("ref_id %q, made for %v", declared.Request.RefID, declared.Occurrence)
					}
				}
			})
		}
	}
}

// TestTwoDatesOnOneDayAreTwoOccurrences has a Friday that is a holiday and the Saturday behind it, which are both paid on the Monday.
func TestTwoDatesOnOneDayAreTwoOccurrences(t *testing.T) {
	transfers, diags := all(mustLoad(t, map[string]string{"main.hcl": `
calendar "bank" { dates = ["2026-12-25"] }
schedule "s" {
  rrule    = "FREQ=DAILY;COUNT=2"
  start    = "2026-12-25"
  calendar = calendar.bank
}
transfer "internal" "t" {
  for_each        = schedule.s.occurrences
  ref_id          = "t-${each.key}"
  from_profile_id = "a"
  to_profile_id   = "b"
  amount          = "1.00"
  asset           = "EUR"
  not_before      = each.value.due_at
}
`}, config.Options{}))
	if diags.HasErrors() || len(transfers) != 2 {
		t.Fatalf("%d transfers, %v", len(transfers), diags)
	}
	for _, transfer := range transfers {
		o := transfer.Occurrence
		if o == nil || "t-"+o.Date.String() != transfer.Request.RefID || o.Due.Format("2006-01-02") != "2026-12-28" {
			t.Errorf("%s is made for %v", transfer.Request.RefID, o)
		}
	}
}

// TestATransferOfTwoDatesIsOfTheLaterOne has a time that is made of those of two dates. Of two at one time, it is that of the first schedule by
// name.
func TestATransferOfTwoDatesIsOfTheLaterOne(t *testing.T) {
	const november, december, other = `schedule.m.occurrences["2026-11-25"].due_at`, `schedule.m.occurrences["2026-12-25"].due_at`, `schedule.k.occurrences["2026-12-25"].due_at`
	for times, want := range map[[2]string]string{
		{november, december}: "m 2026-12-25", {december, november}: "m 2026-12-25", {december, other}: "k 2026-12-25", {other, december}: "k 2026-12-25",
	} {
		c := mustLoad(t, map[string]string{"main.hcl": fmt.Sprintf(`
schedule "m" {
  rrule = "FREQ=MONTHLY;COUNT=2"
  start = "2026-11-25"
}
schedule "k" {
  rrule = "FREQ=MONTHLY;COUNT=1"
  start = "2026-12-25"
}
transfer "internal" "t" {
  ref_id          = "t"
  from_profile_id = "a"
  to_profile_id   = "b"
  amount          = "1.00"
  asset           = "EUR"
  not_before      = timecmp(%[1]s, %[2]s) < 0 ? %[2]s : %[1]s
}
`, times[0], times[1])}, config.Options{})
		transfers, diags := all(c)
		if diags.HasErrors() || len(transfers) != 1 || transfers[0].Occurrence == nil {
			t.Fatalf("%s: %v, %v", times, transfers, diags)
		}
		if o := transfers[0].Occurrence; o.Schedule+" "+o.Date.String() != want {
			t.Errorf("%s: of %s of %s, want %s", times, o.Date, o.Schedule, want)
		}
	}
}
