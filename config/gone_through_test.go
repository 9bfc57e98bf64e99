package config_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"remit/config"
	"remit/config/mistake"
)

// crossed is a configuration with a schedule and with people; a for_each, the amount and other arguments are put in.
const crossed = `
schedule "s" {
  rrule    = "FREQ=MONTHLY;BYMONTHDAY=28;COUNT=3"
  start    = "2026-08-28"
  timezone = "Europe/Berlin"
  time     = "09:00"
}
variable "which" {
  type    = string
  default = "s"
}
variable "period" {
  type    = string
  default = "2026-09"
}
locals {
  people  = { ana = { net = "100.00" }, ben = { net = "200.00" } }
  amounts = ["1.00", "2.00", "3.00"]
  dates   = [for o in schedule.s.occurrences : o.date]
  months  = { for date in local.dates : substr(date, 0, 7) => { net = "1.00", date = date } }
  parts   = { people = local.people, months = local.months }
}
batch "late" {
  not_before = "2026-10-30T00:00:00Z"
}
transfer "internal" "salary" {
  for_each        = %s
  ref_id          = "salary-${each.key}"
  from_profile_id = "a"
  to_profile_id   = "b"
  amount          = "1.00"
  asset           = "USD"
  %s
}
`

// loadCrossed yields what a for_each makes of crossed.
func loadCrossed(t *testing.T, forEach, arguments string) ([]config.Transfer, hcl.Diagnostics) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.hcl"), fmt.Appendf(nil, crossed, forEach, arguments), 0o644); err != nil {
		t.Fatal(err)
	}
	loaded, diags := config.Load(dir, config.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	var all []config.Transfer
	var mistakes mistake.Set
	for declared, diags := range loaded.Transfers(context.Background()) {
		mistakes.Add(diags)
		all = append(all, declared)
	}
	return all, mistakes.Diagnostics()
}

// everyDate are for_each expressions that make a transfer for every date of a schedule.
func everyDate() map[string]string {
	return map[string]string{
		"the months of dates":       `{ for date in keys(schedule.s.occurrences) : substr(date, 0, 7) => "1.00" }`,
		"a set of months":           `toset([for date in keys(schedule.s.occurrences) : substr(date, 0, 7)])`,
		"people within dates":       `merge([for date, o in schedule.s.occurrences : { for name, p in local.people : "${date}-${name}" => p }]...)`,
		"dates within people":       `merge([for name, p in local.people : { for date, o in schedule.s.occurrences : "${name}-${substr(date, 0, 7)}" => p }]...)`,
		"a product":                 `{ for p in setproduct(keys(schedule.s.occurrences), keys(local.people)) : join("-", p) => p[1] }`,
		"a flat list":               `{ for x in flatten([for name, p in local.people : [for date in local.dates : { name = name, month = substr(date, 0, 7) }]]) : "${x.name}-${x.month}" => x }`,
		"a local":                   `local.months`,
		"either of two":             `length(local.people) > 1 ? local.months : {}`,
		"a part of a local":         `local.parts.months`,
		"keys and values":           `zipmap([for date in local.dates : substr(date, 0, 7)], local.amounts)`,
		"a splat":                   `{ for date in values(schedule.s.occurrences)[*].date : substr(date, 0, 7) => date }`,
		"a schedule of a variable":  `{ for date in keys(schedule[var.which].occurrences) : substr(date, 0, 7) => date }`,
		"some of the dates":         `{ for date in local.dates : substr(date, 0, 7) => date if contains(["2026-09-28", "2026-10-28"], date) }`,
		"a loop within a condition": `{ for name, p in (length(local.people) > 0 ? local.months : local.months) : name => p }`,
	}
}

// TestEveryDateWaits is that no for_each which goes through the dates of a schedule pays all of them at once, whatever its keys are.
func TestEveryDateWaits(t *testing.T) {
	for name, forEach := range everyDate() {
		t.Run(name, func(t *testing.T) {
			_, diags := loadCrossed(t, forEach, "")
			if !diags.HasErrors() {
				t.Fatalf("every date would be paid at once: %v", diags)
			}
			for _, d := range diags {
				if d.Severity == hcl.DiagError && d.Summary != "Occurrence without a time" {
					t.Error(d)
				}
			}
			all, diags := loadCrossed(t, forEach, `not_before = "2026-12-01T00:00:00Z"`)
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			for _, one := range all {
				if one.Occurrence == nil {
					t.Errorf("%s has a time, and is made for no date", one.Request.RefID)
				}
			}
		})
	}
}

// TestScheduleForSomethingElse is that a for_each may look at a schedule without making a transfer for each of its dates.
func TestScheduleForSomethingElse(t *testing.T) {
	for name, forEach := range map[string]string{
		"its length":            `{ for name, p in local.people : name => merge(p, { parts = "${length(keys(schedule.s.occurrences))}" }) }`,
		"its name":              `{ for name, p in local.people : "${schedule.s.name}-${name}" => p }`,
		"its first date":        `{ for name, p in local.people : "${keys(schedule.s.occurrences)[0]}-${name}" => p }`,
		"a chosen date":         `{ for name, p in local.people : "${schedule.s.occurrences["2026-09-28"].date}-${name}" => p }`,
		"a condition":           `{ for name, p in local.people : "${var.period}-${name}" => p if contains(keys(schedule.s.occurrences), "${var.period}-28") }`,
		"dates in its elements": `{ for name, p in local.people : name => merge(p, { dates = keys(schedule.s.occurrences) }) }`,
		"another part":          `local.parts.people`,
		"the other of two":      `length(local.amounts) > 5 ? local.months : local.people`,
	} {
		t.Run(name, func(t *testing.T) {
			all, diags := loadCrossed(t, forEach, "")
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			for _, one := range all {
				if one.Occurrence != nil {
					t.Errorf("%s is made for %s", one.Request.RefID, one.Occurrence.Date)
				}
			}
		})
	}
}

// TestOccurrenceOfATime is for which date a transfer is made that has a time of its own, and none of the schedule's.
func TestOccurrenceOfATime(t *testing.T) {
	for name, c := range map[string]struct {
		forEach, notBefore string
		want               map[string]string
	}{
		"the date in the key": {
			`merge([for date in local.dates : { for name, p in local.people : "${name}/${date}" => p }]...)`, `"2026-12-01T00:00:00Z"`,
			map[string]string{"ana/2026-08-28": "2026-08-28", "ben/2026-08-28": "2026-08-28", "ana/2026-09-28": "2026-09-28", "ben/2026-09-28": "2026-09-28", "ana/2026-10-28": "2026-10-28", "ben/2026-10-28": "2026-10-28"},
		},
		"the date of the time": {
			`local.months`, `"${each.value.date}T23:30:00+02:00"`,
			map[string]string{"2026-08": "2026-08-28", "2026-09": "2026-09-28", "2026-10": "2026-10-28"},
		},
		"the date of the time in the zone of the schedule": {
			`{ for date in local.dates : substr(date, 0, 7) => date }`, `timeadd("${each.value}T00:15:00Z", "-90m")`, // the day before, in UTC
			map[string]string{"2026-08": "2026-08-28", "2026-09": "2026-09-28", "2026-10": "2026-10-28"},
		},
		"the nearest time": {
			`local.months`, `timeadd("${each.value.date}T09:00:00Z", "-72h")`,
			map[string]string{"2026-08": "2026-08-28", "2026-09": "2026-09-28", "2026-10": "2026-10-28"},
		},
		"the time of the batch": {
			`{ for date in local.dates : substr(date, 0, 7) => date }`, `null
  batch = batch.late`,
			map[string]string{"2026-08": "2026-10-28", "2026-09": "2026-10-28", "2026-10": "2026-10-28"},
		},
		"two dates in the key": {
			`{ for date in local.dates : "${date} to ${local.dates[2]}" => date }`, `"${each.value}T09:00:00Z"`,
			map[string]string{"2026-08-28 to 2026-10-28": "2026-08-28", "2026-09-28 to 2026-10-28": "2026-09-28", "2026-10-28 to 2026-10-28": "2026-10-28"},
		},
		"a longer number in the key": {
			`{ for date in local.dates : "1${date}" => date }`, `"2026-10-28T09:00:00Z"`,
			map[string]string{"12026-08-28": "2026-10-28", "12026-09-28": "2026-10-28", "12026-10-28": "2026-10-28"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			all, diags := loadCrossed(t, c.forEach, "not_before = "+c.notBefore)
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			if len(all) != len(c.want) {
				t.Fatalf("%d transfers", len(all))
			}
			for _, one := range all {
				key := one.Request.RefID[len("salary-"):]
				if one.Occurrence == nil || one.Occurrence.Date.String() != c.want[key] {
					t.Errorf("%s is made for %v, want %s", key, one.Occurrence, c.want[key])
				}
			}
		})
	}
}
