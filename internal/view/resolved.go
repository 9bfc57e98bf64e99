package view

import "remit/state"

// Resolved says in a sentence how a command settled a transfer, and what to do with its declaration
// where remit never sends it again.
func Resolved(outcome *state.Outcome) string {
	refID := Visible(outcome.RefID)
	if outcome.Status == state.Tombstone {
		return refID + " is closed as not made. Remove its declaration, or give it a new ref_id if it is still to be paid."
	}
	return refID + " is " + outcome.Status.String() + "."
}
