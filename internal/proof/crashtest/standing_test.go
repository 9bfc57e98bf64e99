package crashtest_test

import (
	"fmt"
	"strings"
	"testing"
)

// standing is what a state says of each ref_id, between two runs.
type standing map[string]string

// standingOf reads it as anyone would.
func standingOf(d *directory) standing {
	d.t.Helper()
	s := make(standing)
	for line := range strings.Lines(d.must(0, "state", "list", "--json").stdout) {
		if refID := field(line, "ref_id"); refID != "" {
			s[refID] = field(line, "status")
		}
	}
	return s
}

// doubtsEach is how many transfers a run may leave in doubt without a word, for each of those
// that it may have in flight: one whose intent is written ahead, one in flight, and one that
// was answered and whose outcome is being written.
const doubtsEach = 3

// lies returns in what a run that came to its end somehow and the state after it do not agree,
// in words: what was said to be recorded is so in the state, and stays so, and there are no more
// doubts than the run told of and was busy with when it ended.
func (s standing) lies(before standing, run ended, inFlightMax int) []string {
	var wrong []string
	told := make(map[string]bool)
	for line := range strings.Lines(run.stdout) {
		if field(line, "type") != "settled" || !strings.HasSuffix(line, "}\n") {
			continue // or cut off by the end of the process
		}
		refID := field(line, "ref_id")
		switch field(line, "result") {
		case "recorded", "adopted":
			if got := s[refID]; got != "recorded" {
				wrong = append(wrong, fmt.Sprintf("the run said that %s was recorded, and it is %q in the state", refID, got))
			}
		case "in_doubt":
			told[refID] = true
		}
	}
	untold := 0
	for refID, status := range s {
		if status == "in_doubt" && before[refID] != "in_doubt" && !told[refID] {
			untold++
		}
	}
	if untold > doubtsEach*inFlightMax {
		wrong = append(wrong, fmt.Sprintf("%d transfers are in doubt of which the run said nothing, and it had %d in flight at most", untold, inFlightMax))
	}
	for refID, status := range before {
		if status == "recorded" && s[refID] != status {
			wrong = append(wrong, fmt.Sprintf("%s was recorded and is %q", refID, s[refID]))
		}
	}
	return wrong
}

// field is the first text under a name in a line of JSON.
func field(line, name string) string {
	_, after, _ := strings.Cut(line, fmt.Sprintf("%q:\"", name))
	text, _, _ := strings.Cut(after, `"`)
	return text
}

// TestALieIsFound shows that each disagreement that the crash test looks for is found.
func TestALieIsFound(t *testing.T) {
	settled := func(refID, result string) string {
		return fmt.Sprintf(`{"time":"…","type":"settled","ref_id":%q,"result":%q}`+"\n", refID, result)
	}
	doubts := func(count int) standing {
		s := make(standing)
		for i := range count {
			s[fmt.Sprint(i)] = "in_doubt"
		}
		return s
	}
	for name, c := range map[string]struct {
		before standing
		stdout string
		after  standing
		want   string
	}{
		"nothing":                          {nil, settled("a", "recorded"), standing{"a": "recorded"}, ""},
		"a line that the kill cut off":     {nil, strings.TrimSuffix(settled("a", "recorded"), "\n"), standing{"a": "in_doubt"}, ""},
		"a payment that was told and lost": {nil, settled("a", "recorded"), standing{}, "a was recorded"},
		"a doubt about what was told":      {nil, settled("a", "adopted"), standing{"a": "in_doubt"}, "a was recorded"},
		"a payment that is forgotten":      {standing{"a": "recorded"}, "", standing{"a": "in_doubt"}, "a was recorded"},
		"doubts of what was in flight":     {nil, "", doubts(doubtsEach), ""},
		"more of them":                     {nil, "", doubts(doubtsEach + 1), "in doubt of which the run said nothing"},
		"more, which were told":            {nil, settled("0", "in_doubt"), doubts(doubtsEach + 1), ""},
		"more, which stood before":         {doubts(1), "", doubts(doubtsEach + 1), ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := c.after.lies(c.before, ended{stdout: c.stdout}, 1)
			if c.want == "" && len(got) > 0 || c.want != "" && !strings.Contains(strings.Join(got, "\n"), c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
