package view_test

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"remit/internal/proof/suite"
	"remit/internal/view"
	"remit/planner"
)

func planMarkdown(t *testing.T, p *planner.Plan, o view.PlanOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := view.PlanMarkdown(&b, p, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPlanAsMarkdown(t *testing.T) {
	for name, o := range plans() {
		t.Run(name, func(t *testing.T) {
			golden(t, "plan/"+name+".md", []byte(planMarkdown(t, readPlan(t, name), o)))
		})
	}
	golden(t, "plan/hostile.md", []byte(planMarkdown(t, hostilePlan(hostileMarkup), view.PlanOptions{Saved: true})))
}

// However much there is to say, a comment can hold it, and counts what it leaves out.
func TestMarkdownHas60000CharactersAtMost(t *testing.T) {
	suite.Slow(t)
	for name, p := range map[string]*planner.Plan{
		"many":             manyPlan(10_000),
		"crowded":          crowdedPlan(10_000),
		"long names":       hostilePlan(strings.Repeat("N", 64<<10)),
		"long words":       hostilePlan(strings.Repeat("word ", 13<<10)),
		"many escapes":     hostilePlan(strings.Repeat("\u202e", 2<<10)),
		"many backticks":   hostilePlan(strings.Repeat("`", 64<<10)),
		"many broken runs": hostilePlan(strings.Repeat("`` ``` ` ", 8<<10)),
	} {
		t.Run(name, func(t *testing.T) {
			text := planMarkdown(t, p, view.PlanOptions{Saved: true})
			if got := utf8.RuneCountInString(text); got > 60_000 {
				t.Errorf("%d characters", got)
			}
			if name == "many" && !regexp.MustCompile(`(?m)^\d+ more\. `).MatchString(text) {
				t.Errorf("nothing counts what was left out of %.3000s", text)
			}
		})
	}
}

// outsideCode is Markdown without its code: fenced blocks and code spans, as CommonMark 4.5 and 6.1
// say.
func outsideCode(t *testing.T, text string) string {
	t.Helper()
	var out strings.Builder
	fence := ""
	for line := range strings.SplitSeq(text, "\n") {
		run := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		switch {
		case fence != "":
			if len(run) >= len(fence) && strings.TrimRight(line, " `") == "" {
				fence = ""
			}
			continue
		case len(run) >= 3 && !strings.Contains(line[len(run):], "`"):
			fence = run
			out.WriteString("FENCE " + line[len(run):] + "\n")
			continue
		}
		for line != "" {
			start := strings.IndexByte(line, '`')
			if start < 0 {
				out.WriteString(line)
				break
			}
			out.WriteString(line[:start])
			line = line[start:]
			run := line[:len(line)-len(strings.TrimLeft(line, "`"))]
			line = line[len(run):]
			end := regexp.MustCompile("(^|[^`])" + run + "([^`]|$)").FindStringIndex(line)
			if end == nil {
				t.Fatalf("a code span has no end: %.300q", run+line)
			}
			if strings.Contains(line[:end[0]], "|") {
				t.Errorf("a cell of a table ends in code: %.300q", line)
			}
			out.WriteString("CODE")
			line = strings.TrimPrefix(line[end[0]:], line[end[0]:end[0]+strings.Index(line[end[0]:], run)])[len(run):]
		}
		out.WriteByte('\n')
	}
	if fence != "" {
		t.Error("a fence has no end")
	}
	return out.String()
}

// The Markdown of the page is remit's own for every text.
func checkMarkdown(t *testing.T, text string) {
	t.Helper()
	o := view.PlanOptions{Saved: true}
	got := planMarkdown(t, hostilePlan(text), o)
	checkShown(t, got)
	numbers := regexp.MustCompile(`\d+( more (lines?|characters))?`)
	want := numbers.ReplaceAllString(outsideCode(t, planMarkdown(t, hostilePlan("benign-text"), o)), "N")
	if diff := cmp.Diff(want, numbers.ReplaceAllString(outsideCode(t, got), "N")); diff != "" {
		t.Errorf("other Markdown of %.100q (-want +got):\n%s", text, diff)
	}
}

func TestMarkdownOfHostileText(t *testing.T) {
	for _, text := range []string{
		hostile, hostileMarkup, "`", "``a`", "a|b", "\\|", "@everyone", "<b>", "&lt;", "```\n# h", "~~~", "    code", "- a", "|---|", "https://x.example",
		"a`", " ` ", "`` `` ```", "</details>", "$x$", ":tada:", "\\`", "a\\",
	} {
		checkMarkdown(t, text)
	}
}

func TestMarkdownReturnsErrorsOfItsWriter(t *testing.T) {
	if err := view.PlanMarkdown(brokenWriter{}, readPlan(t, "mixed"), view.PlanOptions{}); !errors.Is(err, errBroken) {
		t.Error(err)
	}
	if err := view.PlanCSV(brokenWriter{}, readPlan(t, "mixed"), view.PlanOptions{}); !errors.Is(err, errBroken) {
		t.Error(err)
	}
}

func FuzzMarkdown(f *testing.F) {
	f.Add(hostileMarkup)
	f.Add("`a``b```")
	f.Fuzz(func(t *testing.T, text string) {
		if text == "" || len(text) > 1000 {
			t.Skip() // nothing to hide in, or cut
		}
		checkMarkdown(t, text)
	})
}
