package cli_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"remit/internal/proof/suite"
)

// handbook are the pages for somebody on call, of which the script handbook runs every command.
func handbook() []string {
	return []string{"operations.md", "incidents.md", "nights.md", "upkeep.md", "monitoring.md"}
}

// TestDocsHandbook holds operations.md to what somebody on call needs: a section for each exit code
// of docs/commands, a row for each alert, links that lead somewhere, and no command that is shown
// and not run by the script handbook.
func TestDocsHandbook(t *testing.T) {
	doc := readDocument(t, "operations.md")
	codes := strings.Join(doc.under["Exit codes"], "\n")
	for _, row := range suite.Tables(readPages(t, "commands").sections["What every command has"])[0].Rows {
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
	for _, row := range tableRows(doc.sections["Alerts"]) {
		listed = append(listed, row[0])
	}
	if diff := cmp.Diff(alerts, listed); diff != "" {
		t.Errorf("operations.md lists other alerts (-recipe +operations.md):\n%s", diff)
	}

	script := readFile(t, "../../testdata/script/handbook.txtar")
	for _, page := range handbook() {
		for heading, section := range readDocument(t, page).sections {
			run := regexp.MustCompile(`(?m)^page ` + regexp.QuoteMeta(page) + ` '?` + regexp.QuoteMeta(heading) + `'?$`).MatchString(script)
			if shown := strings.Contains(section, "```console\n"); shown != run {
				t.Errorf("%s, %q shows commands: %t; the script handbook runs it: %t", page, heading, shown, run)
			}
		}
	}
}

// TestDocsExitCodes holds the table of exit codes in operations.md to the script that has a run for
// each row, and what it says of another try to the recipes.
func TestDocsExitCodes(t *testing.T) {
	unit := regexp.MustCompile(`(?m)^RestartPreventExitStatus=(.*)$`).FindStringSubmatch(readFile(t, "../../docs/recipes/remit@.service"))
	pod := regexp.MustCompile(`(?m)^ +values: \[(.*)\]$`).FindStringSubmatch(readFile(t, "../../docs/recipes/remit-cronjob.yaml"))
	if unit == nil || pod == nil {
		t.Fatal("a recipe does not say which exit codes are not tried again")
	}
	given := strings.Fields(unit[1])
	if diff := cmp.Diff(given, strings.Split(pod[1], ", ")); diff != "" {
		t.Errorf("systemd and Kubernetes try other exit codes again (-systemd +Kubernetes):\n%s", diff)
	}

	var want [][]string
	script := readFile(t, "../../testdata/script/operation-exit-codes.txtar")
	row := regexp.MustCompile(`(?s)^(.*?): apply (\d), status (\d)\n(.*)$`)
	for part := range strings.SplitSeq(script, "\n# row: ") {
		m := row.FindStringSubmatch(part)
		if m == nil {
			continue // the text before the first
		}
		if expected := "stdout '^apply " + m[2] + " status " + m[3] + "$'"; !strings.Contains(m[4], expected) {
			t.Errorf("the script does not expect what it says of %q", m[1])
		}
		again := "yes"
		if m[2] == "0" || slices.Contains(given, m[2]) {
			again = "no"
		}
		want = append(want, []string{m[1], m[2], m[3], again})
	}
	if diff := cmp.Diff(want, tableRows(readDocument(t, "operations.md").sections["What ends with which"])); diff != "" {
		t.Errorf("operations.md has other rows than the script (-script +operations.md):\n%s", diff)
	}
}
