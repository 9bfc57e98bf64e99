package config_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"remit/config"
)

// settlement is a configuration whose dates all move: months that end on weekends, holidays of
// two central banks, and a time of day that clocks skip and show twice.
const settlement = `
calendar "both" {
  holidays = ["fed", "ecb"]
}
schedule "nightly" {
  rrule      = "FREQ=DAILY"
  start      = "2026-01-01"
  until      = "2027-12-31"
  timezone   = "%s"
  time       = "02:30"
  calendar   = calendar.both
  convention = "modified_following"
}
window "hours" {
  timezone = "%[1]s"
  calendar = calendar.both
  from     = "09:00"
  to       = "17:00"
}
transfer "internal" "sweep" {
  for_each        = schedule.nightly.occurrences
  ref_id          = "sweep-${each.key}"
  from_profile_id = "a"
  to_profile_id   = "b"
  amount          = "1.00"
  asset           = "USD"
  not_before      = each.value.due_at
  window          = window.hours
  metadata        = { value_date = each.value.adjusted_date }
}
`

// expand is all that the configuration declares, in words, windows included.
func expand(t rapid.TB, dir string) []string {
	t.Helper()
	loaded, diags := config.Load(dir, config.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	var all []string
	for declared, diags := range loaded.Transfers(context.Background()) {
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		next, _ := declared.Windows[0].Next(declared.NotBefore)
		all = append(all, fmt.Sprintf("%s %s %s %s %v", declared.Request.Body(), declared.NotBefore.Format(time.RFC3339),
			declared.Occurrence.Date, declared.Occurrence.Due.Format(time.RFC3339), next.Opens.UTC()))
	}
	return all
}

// TestScheduleDependsOnFilesAlone holds the expansion against the zone and the locale of the
// machine, and the day, which the package has no way to ask for.
func TestScheduleDependsOnFilesAlone(t *testing.T) {
	dir := t.TempDir()
	zones := []string{"America/New_York", "Europe/Berlin", "America/Sao_Paulo", "Pacific/Apia", "Africa/Cairo"}
	local := time.Local
	t.Cleanup(func() { time.Local = local })
	for _, zone := range zones {
		if err := os.WriteFile(filepath.Join(dir, "main.hcl"), fmt.Appendf(nil, settlement, zone), 0o644); err != nil {
			t.Fatal(err)
		}
		time.Local = time.UTC
		want := expand(t, dir)
		if len(want) != 730 {
			t.Fatalf("%d transfers", len(want))
		}
		for _, elsewhere := range []string{"America/Sao_Paulo", "Pacific/Kiritimati", "America/Los_Angeles", "Asia/Beirut"} {
			location, err := time.LoadLocation(elsewhere)
			if err != nil {
				t.Fatal(err)
			}
			time.Local = location
			t.Setenv("TZ", elsewhere)
			t.Setenv("LC_ALL", "tr_TR.UTF-8")
			t.Setenv("ZONEINFO", "/nonexistent")
			if diff := cmp.Diff(want, expand(t, dir)); diff != "" {
				t.Fatalf("in %s, %s expands otherwise (-UTC +there):\n%s", elsewhere, zone, diff)
			}
		}
	}
}

// TestOccurrenceOfAKey is that a transfer is one of its date, even where nothing but its key
// says which, and when it is due is written out.
func TestOccurrenceOfAKey(t *testing.T) {
	for name, c := range map[string]struct{ forEach, notBefore string }{
		"each.value":     {"schedule.s.occurrences", `"2027-01-01T00:00:00Z"`},
		"dates":          {"{ for date, o in schedule.s.occurrences : date => o.date }", `"${each.key}T00:00:00Z"`},
		"keys":           {"toset(keys(schedule.s.occurrences))", `"2027-01-01T00:00:00Z"`},
		"through locals": {"toset(local.dates)", `"${each.value}T00:00:00Z"`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			text := fmt.Sprintf(`
schedule "s" {
  rrule = "FREQ=MONTHLY;COUNT=3"
  start = "2026-08-01"
}
locals {
  dates = [for o in schedule.s.occurrences : o.date]
}
transfer "internal" "rent" {
  for_each        = %s
  ref_id          = "rent-${each.key}"
  from_profile_id = "a"
  to_profile_id   = "b"
  amount          = "1.00"
  asset           = "USD"
  not_before      = %s
}
`, c.forEach, c.notBefore)
			if err := os.WriteFile(filepath.Join(dir, "main.hcl"), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			loaded, diags := config.Load(dir, config.Options{})
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			count := 0
			for declared, diags := range loaded.Transfers(context.Background()) {
				if diags.HasErrors() {
					t.Fatal(diags)
				}
				if o := declared.Occurrence; o == nil || "rent-"+o.Date.String() != declared.Request.RefID {
					t.Errorf("%s is made for %v", declared.Request.RefID, o)
				}
				count++
			}
			if count != 3 {
				t.Errorf("%d transfers", count)
			}
		})
	}
}
