package cli_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDocsHandbook holds operations.md to what somebody on call needs: a section for each exit code
// of commands.md, a row for each alert, links that lead somewhere, and no command that is shown
// and not run by the script handbook.
func TestDocsHandbook(t *testing.T) {
	doc := readDocument(t, "operations.md")
	codes := strings.Join(doc.under["Exit codes"], "\n")
	for _, row := range tables(readDocument(t, "commands.md").sections["What every command has"])[0].rows {
		for code := range strings.SplitSeq(row[0], ", ") {
			if !regexp.MustCompile(`(?m)^Exit codes? .*\b` + code + `\b`).MatchString(codes) {
				t.Errorf("operations.md has no section for exit code %s", code)
			}
		}
	}

	var alerts, listed []string
	for _, m := range regexp.MustCompile(`- alert: (\w+)`).FindAllStringSubmatch(readFile(t, "../../docs/recipes/remit-alerts.yml"), -1) {
		alerts = append(alerts, quoted(m[1]))
	}
	for _, row := range rows(doc.sections["Alerts"]) {
		listed = append(listed, row[0])
	}
	if diff := cmp.Diff(alerts, listed); diff != "" {
		t.Errorf("operations.md lists other alerts (-recipe +operations.md):\n%s", diff)
	}

	script := readFile(t, "../../testdata/script/handbook.txtar")
	for heading, section := range doc.sections {
		run := regexp.MustCompile(`(?m)^page operations\.md '?` + regexp.QuoteMeta(heading) + `'?$`).MatchString(script)
		if shown := strings.Contains(section, "```console\n"); shown != run {
			t.Errorf("section %q shows commands: %t; the script handbook runs it: %t", heading, shown, run)
		}
	}
}

// TestDocsLinks holds the links between the pages of docs: the page is there, and so is the heading.
func TestDocsLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([a-z0-9.-]+\.md)?#([a-z0-9-]+)\)`)
	for _, from := range []string{"operations.md", "adoption.md", "postgres.md", "recipes.md", "states.md"} {
		for _, m := range link.FindAllStringSubmatch(readDocument(t, from).text, -1) {
			to := from
			if m[1] != "" {
				to = m[1]
			}
			if !slices.ContainsFunc(readDocument(t, to).headings, func(h string) bool { return anchor(h) == m[2] }) {
				t.Errorf("%s links to %s#%s, and no heading of it is that", from, to, m[2])
			}
		}
	}
}

// anchor is what a link to a heading is made of, as GitHub makes it.
func anchor(heading string) string {
	return strings.ReplaceAll(regexp.MustCompile(`[^a-z0-9 _-]`).ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}
