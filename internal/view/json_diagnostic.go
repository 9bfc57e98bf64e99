package view

import (
	"strings"

	"github.com/hashicorp/hcl/v2"

	"remit/config"
)

type diagnosticLine struct {
	Type     string     `json:"type"`     // "diagnostic"
	Severity string     `json:"severity"` // "error" or "warning"
	Summary  string     `json:"summary"`
	Detail   string     `json:"detail"`
	Range    *rangeLine `json:"range,omitempty"`
	Context  *rangeLine `json:"context,omitempty"`
}

type rangeLine struct {
	Filename string       `json:"filename"`
	Start    positionLine `json:"start"`
	End      positionLine `json:"end"`
}

// positionLine counts lines and columns (characters) from 1, bytes from 0.
type positionLine struct {
	Line   int `json:"line"`
	Column int `json:"column"`
	Byte   int `json:"byte"`
}

// Diagnostics writes a "diagnostic" for each mistake or warning. It returns the first error
// of writing.
func (j *JSON) Diagnostics(diags hcl.Diagnostics) error {
	for _, d := range diags {
		j.write(newDiagnosticLine(d))
	}
	return j.end()
}

func newDiagnosticLine(d *hcl.Diagnostic) diagnosticLine {
	word, _ := severity(d.Severity)
	return diagnosticLine{
		Type: "diagnostic", Severity: strings.ToLower(word), Summary: d.Summary, Detail: d.Detail,
		Range: newRangeLine(d.Subject), Context: newRangeLine(d.Context),
	}
}

func newRangeLine(r *hcl.Range) *rangeLine {
	if r == nil {
		return nil
	}
	return &rangeLine{r.Filename, newPositionLine(r.Start), newPositionLine(r.End)}
}

func newPositionLine(p hcl.Pos) positionLine { return positionLine{p.Line, p.Column, p.Byte} }

// noteLine says how a data file was read.
type noteLine struct {
	Type    string `json:"type"` // "note"
	Address string `json:"address"`
	Text    string `json:"text"`
}

type validatedLine struct {
	Type        string `json:"type"` // "validated"
	Valid       bool   `json:"valid"`
	Transfers   int    `json:"transfers"`
	Environment string `json:"environment,omitempty"`
}

// Validated writes that a configuration has no mistake, and how many transfers it declares; a
// "note" before it for each thing to know of how data files were read. The environment is "" where the
// command does not work on each of several.
func (j *JSON) Validated(environment string, transfers int, notes []config.Note) error {
	for _, n := range notes {
		j.write(noteLine{"note", n.Address, n.Text})
	}
	j.write(validatedLine{"validated", true, transfers, environment})
	return j.end()
}
