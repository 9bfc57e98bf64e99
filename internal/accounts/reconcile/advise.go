package reconcile

import (
	"slices"

	"remit/internal/text/shell"
	"remit/internal/transfer"
	"remit/state"
)

// advise names the command that goes on from an item.
func (j *judge) advise(p *pair, item *Item) {
	if len(item.Breaks) == 0 {
		return
	}
	refID := shell.Word(item.RefID)
	isPresent := len(p.sides) > 0
	keepsAnothers := p.detail != nil && p.detail.KeepsAnothers()
	give := "remit resolve " + refID + ` --recorded=FILE --reason="…"`
	if item.Has(Unreadable) && transfer.SaysRefIDTwin(item.Reason) {
		give = "remit resolve " + refID + ` --recorded=FILE --accept-record --reason="…"`
	}
	switch {
	case item.Breaks[0] == Several:
		item.Next = "remit state show " + refID
	case keepsAnothers && p.detail.KeepsForeign():
		item.Next = "remit resolve " + refID + ` --not-made --reason="…"`
	case keepsAnothers && j.options.CanLookUp:
		item.Next = "remit resolve " + refID
	case keepsAnothers:
		item.Next = "remit resolve " + refID + ` --recorded=FILE --accept-record --reason="…"`
	case p.row.Status == state.Conflict:
		item.Next = "remit resolve " + refID + ` --accept-record --reason="…"`
	case item.Has(InDoubt) && p.row.Open() && j.running == p.row.RunID && j.running != "":
		item.Next = ""
	case item.Has(InDoubt) && j.options.CanLookUp:
		item.Next = j.options.Settling
	case item.Has(InDoubt) && !isPresent:
		item.Next = "remit state show " + refID
	case item.Has(Unverified) && isPresent && j.options.CanLookUp:
		item.Next = "remit resolve " + refID
	case item.Has(NotMade), item.Has(InDoubt), item.Has(Unreadable) && p.row.Status == state.InDoubt, item.Has(Unverified) && isPresent:
		item.Next = give
	case item.Has(Status) && len(item.Breaks) == 1 && p.row.RecordStatus == transfer.Pending && j.options.CanLookUp && p.forgotten == nil:
		item.Next = "remit refresh"
	case item.Has(Status) && len(item.Breaks) == 1:
		item.Next = give
	case p.isNewsAlone(item):
		item.Next = give
	default:
		item.Next = "remit state show " + refID
	}
}

// isNewsAlone reports whether all that differs is a fee or a total of a side of which the state has no record: it can
// take that one over.
func (p *pair) isNewsAlone(item *Item) bool {
	isElse := func(d Difference) bool {
		isNews := (d.Field == "fee" || d.Field == "total") && !hasSide(p.stored, d.Side)
		return !isNews && !d.Accepted
	}
	return len(item.Breaks) == 1 && item.Breaks[0] == Field && !slices.ContainsFunc(item.Differences, isElse)
}
