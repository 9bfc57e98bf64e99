package mistake_test

import (
	"fmt"
	"strings"
	"testing"

	"remit/config/mistake"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
)

func diagnostic(severity hcl.DiagnosticSeverity, summary, file string, line int) *hcl.Diagnostic {
	start := hcl.Pos{Line: line, Column: 1}
	return &hcl.Diagnostic{
		Severity: severity, Summary: summary, Detail: "Why.",
		Subject: &hcl.Range{Filename: file, Start: start, End: start},
	}
}

func TestMistakesAreGathered(t *testing.T) {
	var m mistake.Set
	if m.HasErrors() || len(m.Diagnostics()) != 0 {
		t.Error("the zero value has mistakes")
	}
	m.Add(hcl.Diagnostics{diagnostic(hcl.DiagWarning, "Odd", "b.hcl", 1)})
	if m.HasErrors() {
		t.Error("a warning is an error")
	}
	for line := 10; line > 0; line-- { // the order of adding does not matter
		m.Add(hcl.Diagnostics{diagnostic(hcl.DiagError, "Wrong", "a.hcl", line)})
		m.Add(hcl.Diagnostics{diagnostic(hcl.DiagError, "Wrong", "a.hcl", 1)}) // told before
	}
	var got []string
	for _, d := range m.Diagnostics() {
		got = append(got, fmt.Sprintf("%s %s %s", d.Subject, d.Summary, d.Detail))
	}
	want := []string{
		"a.hcl:1,1-1 Wrong Why.\n\n9 similar errors besides this one: a.hcl:2, a.hcl:3, a.hcl:4, a.hcl:5 and 5 more.",
		"b.hcl:1,1-1 Odd Why.",
	}
	if diff := cmp.Diff(want, got); diff != "" || !m.HasErrors() {
		t.Error(diff)
	}
}

func TestMistakesAreBounded(t *testing.T) {
	var m mistake.Set
	for i := range 10_000 {
		m.Add(hcl.Diagnostics{diagnostic(hcl.DiagError, fmt.Sprint("Wrong ", i), "a.hcl", i+1)})
	}
	diags := m.Diagnostics()
	if last := diags[len(diags)-1]; len(diags) > 1000 || !strings.HasPrefix(last.Detail, "9500 more") {
		t.Errorf("%d diagnostics, the last is %q", len(diags), last.Detail)
	}
}
