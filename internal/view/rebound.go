package view

import (
	"fmt"

	"remit/internal/text/english"
	"remit/internal/transfer"
)

// Rebound adds up the transfers that a state has as made when it is bound to another service: they count as made there, and are not sent.
func (s Screen) Rebound(made *transfer.Totals, service string) string {
	if made.Count() == 0 {
		return "The state is bound anew."
	}
	counts, them := "counts as made there too, and is not sent", "it"
	if made.Count() > 1 {
		counts, them = "count as made there too, and are not sent", "them"
	}
	return fmt.Sprintf("The state is bound anew. %s (%s) in it %s. If %s does not know %s, as production does not know the payments of a trial: "+
		"name the old service again, bind the state back to it, and give the new one an environment of its own, with a state of its own.",
		english.Plural(made.Count(), "transfer"), s.sums(made), counts, Visible(service), them)
}
