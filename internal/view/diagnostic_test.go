package view_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"remit/internal/view"
)

const rentSource = `# Rent of the office.
transfer "platform" "rent-2026-11" {
	from   = profile.treasury
	to     = profile.landlrod
	amount = each.value.net
	asset  = "USD"
}
`

const payrollSource = "\ufeffemployee,name,net\r\nE-1,\"Doe, Jo\",980.00\r\nE-2,\"Roe\u202e, Al\",\"1,200.00\"\r\n"

// rangeOf is where the n-th occurrence of text stands in a source.
func rangeOf(t *testing.T, name, source, text string) hcl.Range {
	t.Helper()
	at := strings.Index(source, text)
	if at < 0 {
		t.Fatalf("%q is not in %s", text, name)
	}
	line := 1 + strings.Count(source[:at], "\n")
	column := at - strings.LastIndex(source[:at], "\n")
	return hcl.Range{
		Filename: name,
		Start:    hcl.Pos{Line: line, Column: column, Byte: at},
		End:      hcl.Pos{Line: line, Column: column + len(text), Byte: at + len(text)},
	}
}

// sources are the files of the tests, as config hands them over.
func sources(t *testing.T) map[string]*hcl.File {
	t.Helper()
	file, diags := hclsyntax.ParseConfig([]byte(rentSource), "rent.hcl", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return map[string]*hcl.File{"rent.hcl": file, "payroll.csv": {Bytes: []byte(payrollSource)}}
}

func mistakes(t *testing.T) hcl.Diagnostics {
	t.Helper()
	profile := rangeOf(t, "rent.hcl", rentSource, "profile.landlrod")
	amount := rangeOf(t, "rent.hcl", rentSource, "each.value.net")
	cell := rangeOf(t, "payroll.csv", payrollSource, `"1,200.00"`)
	block := rangeOf(t, "rent.hcl", rentSource, `transfer "platform"`)
	expression, diags := hclsyntax.ParseExpression([]byte("each.value.net"), "rent.hcl", amount.Start)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return hcl.Diagnostics{
		{
			Severity: hcl.DiagError, Summary: "Unknown profile", Subject: &profile,
			Detail: `No profile has the label "landlrod". Did you mean "landlord"? Profiles are declared in profile blocks, in any file of this directory.`,
		},
		{
			Severity: hcl.DiagError, Summary: "Invalid amount", Subject: &cell, Context: &block,
			Detail: "amount \"1,200.00\" is not a decimal: grouping is not allowed. Write:\n\n  1200.00\n\nand 99 more alike, at payroll.csv:4, payroll.csv:5 and payroll.csv:6.",
		},
		{
			Severity: hcl.DiagError, Summary: "Invalid amount", Subject: &amount, Detail: "The amount is not a string.",
			Expression: expression,
			EvalContext: &hcl.EvalContext{Variables: map[string]cty.Value{
				"each": cty.ObjectVal(map[string]cty.Value{"value": cty.ObjectVal(map[string]cty.Value{"net": cty.NumberIntVal(12)})}),
			}},
		},
		{Severity: hcl.DiagWarning, Summary: "Value for an undeclared variable", Detail: `A file assigns "perod", which no variable block declares.`},
		{Severity: hcl.DiagError, Summary: "File is missing", Subject: &hcl.Range{Filename: "gone.csv", Start: hcl.InitialPos, End: hcl.InitialPos}, Detail: "There is no such file."},
	}
}

func TestDiagnosticsOnScreens(t *testing.T) {
	for ending, screen := range screens() {
		t.Run(ending, func(t *testing.T) {
			var b bytes.Buffer
			if err := view.Diagnostics(&b, mistakes(t), sources(t), screen); err != nil {
				t.Fatal(err)
			}
			golden(t, "diagnostics."+ending, b.Bytes())
		})
	}
}

func TestDiagnosticsForPrograms(t *testing.T) {
	var b bytes.Buffer
	if err := view.NewJSON(&b, "0.1.0").Diagnostics(mistakes(t)); err != nil {
		t.Fatal(err)
	}
	golden(t, "diagnostics.jsonl", b.Bytes())
}

func TestDiagnosticsKeepSensitiveValues(t *testing.T) {
	expression, _ := hclsyntax.ParseExpression([]byte("var.secret"), "main.hcl", hcl.InitialPos)
	d := &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: "Sensitive value", Subject: expression.Range().Ptr(), Expression: expression,
		EvalContext: &hcl.EvalContext{Variables: map[string]cty.Value{
			"var": cty.ObjectVal(map[string]cty.Value{"secret": cty.StringVal("hunter2").Mark("sensitive")}),
		}},
	}
	var b bytes.Buffer
	if err := view.Diagnostics(&b, hcl.Diagnostics{d}, nil, view.Screen{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "Sensitive value") || strings.Contains(b.String(), "hunter2") {
		t.Error(b.String())
	}
}

// The marked text stays in sight however long its line is, and wherever in it the text is.
func TestSnippetOfALongLineShowsTheMarkedText(t *testing.T) {
	for name, source := range map[string]string{
		"in the middle": strings.Repeat("a", 9000) + "BAD" + strings.Repeat("b", 9000),
		"at the start":  "BAD" + strings.Repeat("b", 9000),
		"at the end":    strings.Repeat("a", 9000) + "BAD",
	} {
		t.Run(name, func(t *testing.T) {
			r := rangeOf(t, "long.csv", source, "BAD")
			files := map[string]*hcl.File{"long.csv": {Bytes: []byte(source)}}
			var b bytes.Buffer
			if err := view.Diagnostics(&b, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Bad", Subject: &r}}, files, view.Screen{}); err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSpace(b.String()), "\n")
			carets, text := lines[len(lines)-1], []rune(lines[len(lines)-2])
			if len(text) > 80 {
				t.Errorf("%d columns", len(text))
			}
			at := strings.Index(carets, "^^^")
			if at < 0 || string(text[at:at+3]) != "BAD" {
				t.Errorf("the carets mark something else:\n%s", b.String())
			}
		})
	}
}

// Ranges come from parsers and readers that may be wrong: no range panics, nothing hidden
// comes out, and no line of a source can pass for one of remit's own.
func FuzzDiagnostics(f *testing.F) {
	f.Add([]byte(rentSource), 5, 9, "Detail\n\x1b[2K")
	f.Add([]byte("\ufeff\r\n\t\tx"), -1, 400, "")
	f.Fuzz(func(t *testing.T, source []byte, start, end int, detail string) {
		r := hcl.Range{Filename: string(source), Start: hcl.Pos{Line: start, Byte: start}, End: hcl.Pos{Line: end, Byte: end}}
		d := &hcl.Diagnostic{Severity: hcl.DiagError, Summary: detail, Detail: detail, Subject: &r}
		files := map[string]*hcl.File{string(source): {Bytes: source}}
		var b bytes.Buffer
		if err := view.Diagnostics(&b, hcl.Diagnostics{d}, files, view.Screen{Width: start}); err != nil {
			t.Fatal(err)
		}
		checkShown(t, b.String())
		for line := range strings.SplitSeq(b.String(), "\n") {
			if line != "" && !strings.HasPrefix(line, "Error:") && !strings.HasPrefix(line, "  ") {
				t.Fatalf("a line of its own: %q", line)
			}
		}
	})
}

func TestASnippetShowsNoPasswordOfAURL(t *testing.T) {
	const source = `state "postgres" { url = "postgres://clerk:s3cr3t@db/pay" }` + "\n"
	var out bytes.Buffer
	diags := hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Wrong", Subject: rangeOf(t, "main.hcl", source, "url").Ptr()}}
	file, parsing := hclsyntax.ParseConfig([]byte(source), "main.hcl", hcl.InitialPos)
	if parsing.HasErrors() {
		t.Fatal(parsing)
	}
	if err := view.Diagnostics(&out, diags, map[string]*hcl.File{"main.hcl": file}, view.Screen{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "postgres://clerk:******@db/pay") {
		t.Errorf("it shows\n%s", &out)
	}
}
