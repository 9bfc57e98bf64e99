package cli_test

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// floats lists the declarations that may name a float, and which of its names. Those of config/rows read the numbers and sizes of
// a workbook, which stores floats, and give exact decimals; the others measure time and chance.
var floats = map[string][]string{
	"config/rows/cell.go cellFormat.number":                       {"float64"},
	"config/rows/cell.go cellNumber":                              {"ParseFloat"},
	"config/rows/cell.go exactDecimal":                            {"float64", "FormatFloat"},
	"config/rows/cell_date.go cellFormat.date":                    {"float64"},
	"config/rows/cell_date.go daysOf":                             {"float64"},
	"config/rows/sheet_xml.go isFlat":                             {"ParseFloat"},
	"executor/attempt.go sender.pauseAfter":                       {"float64"},
	"executor/executor.go Run":                                    {"float64"},
	"internal/cli/apply.go applying.newRun":                       {"Float64"},
	"internal/cli/certify.go certifying.withStates":               {"Float64"},
	"internal/cli/import.go importing.newImportRun":               {"Float64"},
	"internal/monitor/telemetry/settings.go settings":             {"float64"},
	"internal/monitor/telemetry/settings.go settings.readSampler": {"ParseFloat"},
	"internal/monitor/telemetry/settings.go settings.samples":     {"float64"},
	"internal/sandbox/effect.go Sandbox.meets":                    {"float64"},
	"internal/sandbox/fault.go Fault":                             {"float64"},
	"internal/sandbox/fault.go Fault.String":                      {"FormatFloat"},
	"internal/sandbox/fault.go Fault.parseItem":                   {"ParseFloat"},
	"internal/service/certify/certify.go Trial":                   {"float64"},
	"internal/service/token.go lifetime":                          {"float64"},
	"internal/service/tokenanswer.go seconds":                     {"ParseFloat"},
	"internal/view/run.go Run.describe":                           {"float64"},
	"internal/view/run.go rateText":                               {"float64"},
	"state/postgres/share.go journal.Rates":                       {"float64"},
	"state/postgres/share.go journal.Reserve":                     {"float64"},
}

// TestNoFloatIsOnTheWayOfMoney holds law 6: amounts are decimals from the file to the ledger, and on each face.
func TestNoFloatIsOnTheWayOfMoney(t *testing.T) {
	names := regexp.MustCompile(`^(float32|float64|ParseFloat|AppendFloat|FormatFloat|Float64|InexactFloat64|BigFloat|NewFromFloat.*)$`)
	checkRooms(t, names, floats, "an amount is a transfer.Amount or a decimal, and never a float. A declaration that measures time or chance has its line in floats")
}

// amounts lists the declarations that may write a decimal with so many places. The others call them, or show an amount
// by internal/view, or by shownAmount in a sentence of a plan.
var amounts = map[string][]string{
	"config/functions/decimal.go decimalValue":            {"StringFixed"},
	"config/rows/cell_shown.go place":                     {"StringFixed"},
	"internal/lsp/hover.go amountText":                    {"StringFixed"},
	"internal/transfer/money.go Scales.Plain":             {"StringFixed"},
	"internal/transfer/totals.go Digits":                  {"StringFixed"},
	"internal/view/html_report.go htmlReport.amount":      {"StringFixed"},
	"internal/view/html_report.go percent":                {"StringFixed"},
	"internal/view/html_report_chart.go htmlReport.chart": {"StringFixed"},
	"planner/batches.go difference":                       {"StringFixed"},
}

// TestAmountsAreWrittenInFewPlaces keeps the digits of amounts and the signs of currencies out of sentences: how many places an
// amount has is a question to its asset. It does not see an amount that a verb such as %s writes.
func TestAmountsAreWrittenInFewPlaces(t *testing.T) {
	checkRooms(t, regexp.MustCompile(`^StringFixed`), amounts, "an amount is shown by internal/view, or by shownAmount in a sentence of a plan; its exact digits are those of transfer.Digits")
	sign := regexp.MustCompile(`[$€£¥]%[\d.+]*[a-z]`)
	for _, s := range productionFiles(t) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			literal, isLiteral := n.(*ast.BasicLit)
			if !isLiteral || literal.Kind != token.STRING {
				return true
			}
			if text, err := strconv.Unquote(literal.Value); err == nil && sign.MatchString(text) {
				t.Errorf("%s:%d writes a number behind the sign of a currency: show the amount by internal/view, and name its asset", s.path, s.line(n.Pos()))
			}
			return true
		})
	}
}

// checkRooms refuses names outside the declarations that list them. advice is the end of its message.
func checkRooms(t *testing.T, names *regexp.Regexp, rooms map[string][]string, advice string) {
	t.Helper()
	outside := []string{".ci", "internal/bench", "internal/proof", "internal/release"}
	used := make(map[string][]string)
	for _, s := range productionFiles(t) {
		relative, err := filepath.Rel(filepath.Join("..", ".."), s.path)
		if err != nil {
			t.Fatal(err)
		}
		relative = filepath.ToSlash(relative)
		if slices.ContainsFunc(outside, func(room string) bool { return strings.HasPrefix(relative, room+"/") }) {
			continue
		}
		for _, decl := range s.file.Decls {
			for part, name := range namedParts(decl) {
				room := relative + " " + name
				ast.Inspect(part, func(n ast.Node) bool {
					if word, isWord := n.(*ast.Ident); isWord && names.MatchString(word.Name) {
						used[room] = append(used[room], word.Name)
						if !slices.Contains(rooms[room], word.Name) {
							t.Errorf("%s:%d: %s names %s: %s", s.path, s.line(n.Pos()), name, word.Name, advice)
						}
					}
					return true
				})
			}
		}
	}
	for room, allowed := range rooms {
		for _, name := range allowed {
			if !slices.Contains(used[room], name) {
				t.Errorf("%s may name %s, and does not: take the line out of this test", room, name)
			}
		}
	}
}

// namedParts are the names that a declaration declares, each with its part. A method has its type before its name.
func namedParts(decl ast.Decl) map[ast.Node]string {
	parts := make(map[ast.Node]string)
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		parts[decl] = decl.Name.Name
		if decl.Recv != nil {
			parts[decl] = receiverName(decl.Recv.List[0].Type) + "." + decl.Name.Name
		}
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				parts[spec] = spec.Name.Name
			case *ast.ValueSpec:
				parts[spec] = spec.Names[0].Name
			}
		}
	}
	return parts
}
