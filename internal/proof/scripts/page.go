//go:build unix

package scripts

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"remit/internal/proof/machine"
	"remit/internal/proof/suite"
)

// runPage is the script command
//
//	page NAME
//	page NAME HEADING
//
// which runs the commands of a page of docs, or of one section of it, in the script's directory,
// one after the other, with the real tools that it names, and compares what they print with what
// the page shows, in which … stands for the rest of a line, and a line that is … alone for any
// lines. A fence behind <!-- NAME --> is written to that file first, and a table behind
// <!-- NAME.xlsx -->, whose header has the letters of columns, becomes that workbook.
func runPage(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: page NAME [HEADING]")
	}
	text, err := os.ReadFile(suite.InRoot("docs", args[0]))
	ts.Check(err)
	page := string(text)
	if len(args) == 2 {
		section := regexp.MustCompile("(?ms)^##+ " + regexp.QuoteMeta(args[1]) + "\n(.*?)(^##|\\z)").FindStringSubmatch(page)
		if section == nil {
			ts.Fatalf("%s has no heading %q", args[0], args[1])
		}
		page = section[1]
	}
	for _, file := range regexp.MustCompile("(?s)<!-- ([a-z.]+) -->\n```[a-z ]*\n(.*?)```").FindAllStringSubmatch(page, -1) {
		ts.Check(os.WriteFile(ts.MkAbs(file[1]), []byte(file[2]), 0o600))
	}
	sheets := regexp.MustCompile(`<!-- ([a-z0-9.-]+\.xlsx) -->\n((?:\|.*\n)+)`).FindAllStringSubmatch(page, -1)
	for _, sheet := range sheets {
		lines := sheet[1] + ".txt"
		ts.Check(os.WriteFile(ts.MkAbs(lines), []byte(cellsOf(sheet[2])), 0o600))
		makeWorkbook(ts, false, []string{lines, sheet[1]})
	}
	blocks := regexp.MustCompile("(?s)```console\n(.*?)```").FindAllStringSubmatch(page, -1)
	if len(blocks) == 0 && len(sheets) == 0 {
		ts.Fatalf("%s shows no command", args[0])
	}
	for _, block := range blocks {
		for _, step := range strings.Split("\n"+block[1], "\n$ ")[1:] {
			command, want, _ := strings.Cut(step, "\n")
			shell := exec.Command("sh", "-c", command)
			shell.Dir = ts.MkAbs(".")
			shell.Env = append(os.Environ(), "PATH="+ts.Getenv("PATH"), "HOME="+ts.Getenv("WORK"))
			for _, name := range []string{"REMIT_VAR_base_url", "REMIT_VAR_client_secret", "REMIT_CLIENT_SECRET_FILE", machine.ClockVariable} {
				if value := ts.Getenv(name); value != "" {
					shell.Env = append(shell.Env, name+"="+value)
				}
			}
			got, _ := shell.CombinedOutput() // a page shows failing commands as well
			if !shownAs(want).MatchString(strings.TrimSpace(string(got)) + "\n") {
				ts.Fatalf("$ %s\n%s shows something else (-page +real):\n%s", command, args[0], cmp.Diff(want, string(got)))
			}
		}
	}
}

// cellsOf is a table that looks like a sheet, as [makeWorkbook] takes it: a decimal is a number with
// the decimals that it shows.
func cellsOf(sheet string) string {
	var lines strings.Builder
	for _, table := range suite.Tables(sheet) {
		for _, row := range table.Rows {
			for i, cell := range row[1:] {
				place := table.Header[i+1] + strings.Trim(row[0], "*")
				switch _, decimals, _ := strings.Cut(cell, "."); {
				case cell == "":
				case regexp.MustCompile(`^[0-9]+\.[0-9]+$`).MatchString(cell):
					fmt.Fprintf(&lines, "%s = %s as 0.%s\n", place, cell, strings.Repeat("0", len(decimals)))
				default:
					fmt.Fprintf(&lines, "%s %s\n", place, cell)
				}
			}
		}
	}
	return lines.String()
}

// shownAs matches what a page shows as want, which ends with the end of a line.
func shownAs(want string) *regexp.Regexp {
	shown := regexp.QuoteMeta(strings.TrimSpace(want)) + "\n"
	shown = regexp.MustCompile("(?m)^…\n").ReplaceAllString(shown, "(?:.*\n)*")
	return regexp.MustCompile("^" + strings.ReplaceAll(shown, "…", ".*") + "$")
}
