package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"remit/config"
)

// TestEnding is from when on and until when a schedule is said to end, whose last date is 2026-12-31 at nine o'clock.
func TestEnding(t *testing.T) {
	last := time.Date(2026, 12, 31, 9, 0, 0, 0, time.UTC)
	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		rule, start  string
		before, said time.Duration // before the last date: not yet, and from when on
	}{
		"daily":   {"FREQ=DAILY", "2026-12-01", 7*day + time.Second, 7 * day},
		"weekly":  {"FREQ=WEEKLY;INTERVAL=2", "2026-12-03", 14*day + time.Second, 14 * day},
		"monthly": {"FREQ=MONTHLY;BYMONTHDAY=-1", "2026-01-31", 31*day + time.Second, 31 * day},
		"yearly":  {"FREQ=YEARLY", "2024-12-31", 31*day + time.Second, 31 * day},
		"once":    {"FREQ=YEARLY", "2026-12-31", 7*day + time.Second, 7 * day},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			text := fmt.Sprintf("schedule \"s\" {\n  rrule = %q\n  start = %q\n  until = \"2026-12-31\"\n  time  = \"09:00\"\n}\n", c.rule, c.start)
			if err := os.WriteFile(filepath.Join(dir, "main.hcl"), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			loaded, diags := config.Load(dir, config.Options{})
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			said := func(at time.Time, isUsed bool) string {
				all := config.Ending(loaded, func(string) bool { return isUsed }, at)
				if len(all) == 0 {
					return ""
				}
				return all[0].Summary
			}
			for at, want := range map[time.Time]string{
				last.Add(-c.before):            "",
				last.Add(-c.said):              "Schedule ends soon",
				last.Add(-time.Second):         "Schedule ends soon",
				last:                           "Schedule has ended",
				last.Add(31 * day):             "Schedule has ended",
				last.Add(31*day + time.Second): "",
			} {
				if got := said(at, true); got != want {
					t.Errorf("%s: %q, want %q", at, got, want)
				}
				if got := said(at, false); got != "" {
					t.Errorf("of a schedule that nothing uses: %q", got)
				}
			}
		})
	}
}
