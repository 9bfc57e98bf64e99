// Package mistake words the mistakes of an author, as diagnostics with a place, and gathers
// those that are alike.
//
// Its one invariant: however many mistakes the files have, a [Set] keeps a bounded number of
// them and says how many there are.
package mistake

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
)

// New is an error at a place. The summary is constant text; the detail is sentences.
func New(subject hcl.Range, summary, detail string, args ...any) *hcl.Diagnostic {
	if len(args) > 0 {
		detail = fmt.Sprintf(detail, args...)
	}
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: &subject}
}

// Placeless is a mistake without a place in a file, such as one of the command line.
func Placeless(summary, detail string, args ...any) *hcl.Diagnostic {
	d := New(hcl.Range{}, summary, detail, args...)
	d.Subject = nil
	return d
}

// Warning is [New] for a diagnostic that stops nothing.
func Warning(subject hcl.Range, summary, detail string, args ...any) *hcl.Diagnostic {
	d := New(subject, summary, detail, args...)
	d.Severity = hcl.DiagWarning
	return d
}

// Origin travels in a diagnostic's Extra: mistakes of one summary and one origin are alike.
type Origin struct {
	Block  string // address of the block whose rows they are
	Column string // the column or the argument
	Reason string // why, where one summary has several reasons
	Where  string // the instance, where its place is that of its block
	Inner  any    // the Extra that it replaces
}

// UnwrapDiagnosticExtra lets [hcl.DiagnosticExtra] find what HCL itself says.
func (o *Origin) UnwrapDiagnosticExtra() any { return o.Inner }

// blame travels in a diagnostic's Extra where alike mistakes are not gathered by their origin:
// the address of the block whose check failed.
type blame struct {
	address string
	inner   any // the Extra that it replaces
}

// UnwrapDiagnosticExtra lets [hcl.DiagnosticExtra] find what HCL itself says.
func (b *blame) UnwrapDiagnosticExtra() any { return b.inner }

func (b *blame) failed() string { return b.address }

func (o *Origin) failed() string { return o.Block }

// FailedCheck is the address of the block whose check d says fails: a variable's validation
// (var.NAME), a row of a data source (data.TYPE.NAME), or a condition on each transfer of a block
// (transfer.OPERATION.NAME). It is "" for a mistake in the text of the configuration.
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
