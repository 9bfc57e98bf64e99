package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"remit/config"
)

// loadText loads a configuration of one file, and others beside it by their names.
func loadText(t *testing.T, text string, others map[string]string) (*config.Configuration, hcl.Diagnostics) {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{"main.hcl": text}
	for name, content := range others {
		files[name] = content
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return config.Load(dir, config.Options{})
}

// warned reports whether a configuration without a mistake has a warning.
func warned(t *testing.T, diags hcl.Diagnostics, summary string) bool {
	t.Helper()
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for _, d := range diags {
		if d.Summary == summary {
			return true
		}
	}
	return false
}

// TestANightOfTwelveHoursIsNoDayThatIsTurnedRound has a night as long as its day, and one that is longer by a minute.
func TestANightOfTwelveHoursIsNoDayThatIsTurnedRound(t *testing.T) {
	for from, want := range map[string]bool{"18:00": false, "17:59": true} {
		text := "window \"w\" {\n  from = \"" + from + "\"\n  to = \"06:00\"\n}\ntransfer \"internal\" \"t\" {\n  from_profile_id = \"a\"\n  to_profile_id = \"b\"\n  amount = \"1.00\"\n  asset = \"USD\"\n  window = window.w\n}\n"
		if _, diags := loadText(t, text, nil); warned(t, diags, "Window is open over night") != want {
			t.Errorf("from %s to 06:00: %v", from, diags)
		}
	}
}

// TestACalendarHasEndedInALaterYear has a calendar whose last date is in December: the rest of that year is known.
func TestACalendarHasEndedInALaterYear(t *testing.T) {
	for until, want := range map[string]bool{"2026-12-31": false, "2027-01-01": true} {
		text := "calendar \"c\" {\n  dates = [\"2026-05-01\", \"2026-12-25\"]\n}\nschedule \"s\" {\n  rrule = \"FREQ=DAILY\"\n  start = \"2026-12-01\"\n  until = \"" + until + "\"\n  calendar = calendar.c\n}\n"
		if _, diags := loadText(t, text, nil); warned(t, diags, "Calendar has ended") != want {
			t.Errorf("until %s: %v", until, diags)
		}
	}
}

// TestAMistakeOfAFileOfDatesStandsBehindItsMark has the byte order mark of an editor before the line with the mistake.
func TestAMistakeOfAFileOfDatesStandsBehindItsMark(t *testing.T) {
	for name, mark := range map[string]string{"without a mark": "", "with one": "\ufeff"} {
		_, diags := loadText(t, "calendar \"c\" {\n  file = \"days.txt\"\n}\nschedule \"s\" {\n  rrule = \"FREQ=DAILY\"\n  start = \"2026-12-01\"\n  until = \"2026-12-02\"\n  calendar = calendar.c\n}\n",
			map[string]string{"days.txt": mark + "2026-02-30\n"})
		found := false
		for _, d := range diags {
			if d.Summary == "Not a date" && d.Subject != nil {
				found = true
				if d.Subject.Start.Byte != len(mark) || d.Subject.End.Byte != len(mark)+len("2026-02-30") || d.Subject.Start.Column != 1 {
					t.Errorf("%s it is at %v", name, d.Subject)
				}
			}
		}
		if !found {
			t.Errorf("%s: %v", name, diags)
		}
	}
}

// TestTheEndThatComesFirstIsTheOneToMove has a schedule whose rule ends as well: moving the later end adds no date.
func TestTheEndThatComesFirstIsTheOneToMove(t *testing.T) {
	for name, c := range map[string]struct{ rule, until, want string }{
		"until alone":       {"FREQ=DAILY", "2026-12-31", `until = "2027-12-31"`},
		"the rule alone":    {"FREQ=DAILY;UNTIL=20261231", "", "UNTIL=20271231"},
		"until comes first": {"FREQ=DAILY;UNTIL=20280101", "2026-12-31", `until = "2027-12-31"`},
		"the rule does":     {"FREQ=DAILY;UNTIL=20261231", "2028-01-01", "UNTIL=20271231"},
	} {
		text := "schedule \"s\" {\n  rrule = \"" + c.rule + "\"\n  start = \"2026-12-01\"\n"
		if c.until != "" {
			text += "  until = \"" + c.until + "\"\n"
		}
		loaded, diags := loadText(t, text+"}\n", nil)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		last := loaded.Schedules[0].Occurrences[30]
		all := config.Ending(loaded, func(string) bool { return true }, last.Due)
		if len(all) != 1 || !strings.Contains(all[0].Detail, "\n  "+c.want+"\n") {
			t.Errorf("%s: %v, want %s", name, all, c.want)
		}
		line := 4 // of until
		if strings.HasPrefix(c.want, "UNTIL") {
			line = 2
		}
		if len(all) == 1 && all[0].Subject.Start.Line != line {
			t.Errorf("%s: it points to %v, want line %d", name, all[0].Subject, line)
		}
	}
}
