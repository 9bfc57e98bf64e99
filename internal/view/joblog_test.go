package view_test

import (
	"bytes"
	"regexp"
	"slices"
	"testing"

	"remit/internal/view"
)

func jobOf(names ...string) func(string) (string, bool) {
	return func(name string) (string, bool) { return "true", slices.Contains(names, name) }
}

func TestJobLog(t *testing.T) {
	for name, test := range map[string]struct{ variable, text, want string }{
		"outside of a job":               {"HOME", "::error::x ##[y", "::error::x ##[y"},
		"a line that begins a command":   {"GITHUB_ACTIONS", "::error::x\n", ":\\u003aerror::x\n"},
		"after spaces":                   {"GITHUB_ACTIONS", "a\n \t  ::add-mask::x", "a\n \t  :\\u003aadd-mask::x"},
		"after a space that is no ASCII": {"GITHUB_ACTIONS", "\u00a0\ufeff::x::", "\u00a0\ufeff:\\u003ax::"},
		"after a carriage return":        {"GITHUB_ACTIONS", "a\r::x::", "a\r:\\u003ax::"},
		"three colons":                   {"GITHUB_ACTIONS", ":::x", ":\\u003a:x"},
		"within a line":                  {"GITHUB_ACTIONS", "a ::b", "a ::b"},
		"the old form, anywhere":         {"GITHUB_ACTIONS", "a ##[error]b ###[x", "a ##\\u005berror]b ###\\u005bx"},
		"a section":                      {"GITLAB_CI", "x section_start:1:a\x1b section_end:1:a", "x section_start\\u003a1:a\x1b section_end\\u003a1:a"},
		"another runner":                 {"TF_BUILD", "##vso[task.setvariable]", "##vso\\u005btask.setvariable]"},
		"and another":                    {"TEAMCITY_VERSION", "##teamcity[x", "##teamcity\\u005bx"},
	} {
		t.Run(name, func(t *testing.T) {
			for size := 1; size <= len(test.text); size++ { // however it is cut
				var out bytes.Buffer
				log := view.JobLog(&out, jobOf(test.variable))
				for rest := []byte(test.text); len(rest) > 0; {
					n, err := log.Write(rest[:min(size, len(rest))])
					if err != nil {
						t.Fatal(err)
					}
					rest = rest[n:]
				}
				if got := out.String(); got != test.want {
					t.Errorf("in pieces of %d: %q, not %q", size, got, test.want)
				}
			}
		})
	}
}

// FuzzJobLog looks in the output for the commands of the runners.
func FuzzJobLog(f *testing.F) {
	f.Add([]byte("a\n  ::x ##[ section_start:"), 3)
	command := regexp.MustCompile(`(?im)^[\s\x{00a0}\x{feff}]*::|\r\s*::|##\[|section_(?:start|end):`)
	f.Fuzz(func(t *testing.T, text []byte, size int) {
		var out bytes.Buffer
		log := view.JobLog(&out, jobOf("GITHUB_ACTIONS", "GITLAB_CI"))
		for rest := text; len(rest) > 0; {
			n, err := log.Write(rest[:max(1, min(size, len(rest)))])
			if err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if found := command.Find(out.Bytes()); found != nil {
			t.Errorf("%q has the command %q", out.Bytes(), found)
		}
	})
}
