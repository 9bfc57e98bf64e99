package view_test

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"
	"unicode/utf8"

	"remit/internal/view"
	"remit/planner"
)

func planCSV(t *testing.T, p *planner.Plan) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := view.PlanCSV(&b, p, view.PlanOptions{ShowAll: true}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestPlanAsCSV(t *testing.T) {
	for name := range plans() {
		t.Run(name, func(t *testing.T) {
			golden(t, "plan/"+name+".csv", planCSV(t, readPlan(t, name)))
		})
	}
	golden(t, "plan/hostile.csv", planCSV(t, hostilePlan(hostileMarkup)))
}

func TestCSVHasARowForEachTransfer(t *testing.T) {
	rows, err := csv.NewReader(bytes.NewReader(planCSV(t, manyPlan(300)))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 1+300 || rows[300][1] != "pay-00299" || rows[300][10] != "399.50" {
		t.Errorf("%d rows, the last %q", len(rows), rows[len(rows)-1])
	}
}

// checkCSV fails where a spreadsheet could take a cell for a formula, whichever separator it
// reads with and whether or not it knows of quotes.
func checkCSV(t *testing.T, text string) {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	isFormula := func(cell string) bool {
		cell = strings.TrimLeft(cell, " ")
		return cell != "" && strings.ContainsRune("=+-@\t\r＝＋－＠", []rune(cell)[0])
	}
	for _, row := range rows {
		for _, cell := range row {
			if isFormula(cell) {
				t.Errorf("a formula: %.200q", cell)
			}
		}
	}
	for _, cell := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(",;|\t\r\n\"'", r) }) {
		if isFormula(cell) && !strings.Contains(text, "'"+strings.TrimLeft(cell, " ")) {
			t.Errorf("a formula behind a separator: %.200q", cell)
		}
	}
	if strings.Count(text, "\n") != len(rows) || strings.Count(text, "\r\n") != len(rows) {
		t.Errorf("%d rows, not each in a line of its own", len(rows))
	}
	checkShown(t, strings.ReplaceAll(text, "\r\n", "\n"))
}

func TestCSVOfHostileText(t *testing.T) {
	for _, text := range []string{
		hostile, hostileMarkup, "=1+1", "+1", "-1", "@SUM(1)", "\t=1", "\r=1", `a","=1`, "a;=1", "a;  =1", `"=1"`, "＝1", "a\n=1", " =1", "'=1",
		strings.Repeat("N", 64<<10), strings.Repeat(`"`, 64<<10),
	} {
		checkCSV(t, string(planCSV(t, hostilePlan(text))))
	}
}

func FuzzCSV(f *testing.F) {
	f.Add(hostileMarkup)
	f.Fuzz(func(t *testing.T, text string) {
		got := string(planCSV(t, hostilePlan(text)))
		checkCSV(t, got)
		if !utf8.ValidString(got) {
			t.Error("not UTF-8")
		}
	})
}
