package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// mistake is an error at a place. The summary is constant text; the detail is sentences.
func mistake(subject hcl.Range, summary, detail string, args ...any) *hcl.Diagnostic {
	if len(args) > 0 {
		detail = fmt.Sprintf(detail, args...)
	}
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: &subject}
}

// placeless is a mistake that stands in no file, such as one of the command line.
func placeless(summary, detail string, args ...any) *hcl.Diagnostic {
	d := mistake(hcl.Range{}, summary, detail, args...)
	d.Subject = nil
	return d
}

func warning(subject hcl.Range, summary, detail string, args ...any) *hcl.Diagnostic {
	d := mistake(subject, summary, detail, args...)
	d.Severity = hcl.DiagWarning
	return d
}

// sentence makes an error's text the end of a sentence, unless it ends with a line to write.
func sentence(err error) string {
	if _, line, shows := strings.Cut(err.Error(), "\n\n  "); shows && !strings.Contains(line, "\n\n") {
		return err.Error()
	}
	return strings.TrimSuffix(err.Error(), ".") + "."
}

// at is how a place is written inside a detail.
func at(r hcl.Range) string { return fmt.Sprintf("%s:%d", r.Filename, r.Start.Line) }

// placeOf is r as other packages see it.
func placeOf(r hcl.Range) Place { return Place{File: r.Filename, Line: r.Start.Line} }

// origin travels in a diagnostic's Extra: mistakes of one summary and one origin are alike.
type origin struct {
	block  string // address of the block whose rows they are
	column string // the column or the argument
	reason string // what is wrong, where one summary stands for several reasons
	where  string // the instance, where its place is that of its block
	inner  any    // the Extra that it replaces
}

// UnwrapDiagnosticExtra lets [hcl.DiagnosticExtra] find what HCL itself says.
func (o *origin) UnwrapDiagnosticExtra() any { return o.inner }

// blame travels in a diagnostic's Extra where alike mistakes are not gathered by their origin:
// the address of the block whose check failed.
type blame struct {
	address string
	inner   any // the Extra that it replaces
}

// UnwrapDiagnosticExtra lets [hcl.DiagnosticExtra] find what HCL itself says.
func (b *blame) UnwrapDiagnosticExtra() any { return b.inner }

func (b *blame) failed() string { return b.address }

func (o *origin) failed() string { return o.block }

// FailedCheck is the address of the block whose check d says fails: a variable's validation
// (var.NAME), a row of a data source (data.TYPE.NAME), or what must be true of each transfer
// of a block (transfer.OPERATION.NAME). It is "" for a mistake in what is written.
func FailedCheck(d *hcl.Diagnostic) string {
	if extra, ok := hcl.DiagnosticExtra[interface{ failed() string }](d); ok {
		return extra.failed()
	}
	return ""
}

// Blame makes d say that a check of the block with that address failed.
func Blame(d *hcl.Diagnostic, address string) *hcl.Diagnostic {
	d.Extra = &blame{address, d.Extra}
	return d
}

// listed joins at most n names for a sentence and says how many it leaves out.
func listed(names []string, n int) string {
	if len(names) <= n {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(slices.Clone(names[:n]), ", "), len(names)-n)
}
