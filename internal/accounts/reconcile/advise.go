package reconcile

import (
	"slices"

	"remit/internal/text/shell"
	"remit/internal/transfer"
	"remit/state"
)

// keepsAnothers reports whether the kept record is that of another transfer, which nobody can accept.
func (p *pair) keepsAnothers() bool {
	return p.detail != nil && p.detail.Outcome != nil && slices.ContainsFunc(p.detail.Outcome.Differences, transfer.Difference.IsSharedRecord)
}

// advise names the command that goes on from a line.
func (j *judge) advise(p *pair, line *Line) {
	if len(line.Breaks) == 0 {
		return
	}
	refID := shell.Word(line.RefID)
	isPresent := len(p.sides) > 0
	give := "remit resolve " + refID + ` --recorded=FILE --reason="…"`
	switch {
	case line.Breaks[0] == Several:
		line.Next = "remit state show " + refID
	case p.row.Status == state.Conflict && p.keepsAnothers():
		line.Next = "remit resolve " + refID + ` --recorded=FILE --accept-record --reason="…"`
	case p.row.Status == state.Conflict:
		line.Next = "remit resolve " + refID + ` --accept-record --reason="…"`
	case line.Has(InDoubt) && p.row.Open() && j.running == p.row.RunID && j.running != "":
		line.Next = ""
	case line.Has(InDoubt) && j.options.CanLookUp:
		line.Next = j.options.Settling
	case line.Has(InDoubt) && !isPresent:
		line.Next = "remit state show " + refID
	case line.Has(Unverified) && isPresent && j.options.CanLookUp:
		line.Next = "remit resolve " + refID
	case line.Has(NotMade), line.Has(InDoubt), line.Has(Unverified) && isPresent:
		line.Next = give
	case line.Has(Status) && len(line.Breaks) == 1 && p.row.RecordStatus == transfer.Pending && j.options.CanLookUp:
		line.Next = "remit refresh"
	case line.Has(Status) && len(line.Breaks) == 1:
		line.Next = give
	default:
		line.Next = "remit state show " + refID
	}
}
