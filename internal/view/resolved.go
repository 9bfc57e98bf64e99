package view

import (
	"fmt"
	"time"

	"remit/internal/transfer"
	"remit/state"
)

// olderMin is by how much a record must be older than the request for a person to be told: clocks differ.
const olderMin = time.Hour

// Resolved says in a sentence how a command settled a transfer that was first asked for at the given time, zero where that is not known, and
// what to do with its declaration where remit never sends it again.
func Resolved(outcome *state.Outcome, asked time.Time) string {
	refID := Visible(outcome.RefID)
	if outcome.Status == state.Tombstone {
		return refID + " is closed as not made. Remove its declaration, or give it a new ref_id if it is still to be paid."
	}
	text := refID + " is " + outcome.Status.String() + "."
	if len(outcome.Records) == 0 {
		return text
	}
	record, err := transfer.ParseKept(outcome.Records[0])
	if err == nil && record.Status == transfer.Failed && outcome.Status.Made() {
		text = refID + " is " + outcome.Status.String() + ", and its record says that it FAILED: remit plan says what to do before it is paid under a new ref_id."
	}
	if err != nil || asked.IsZero() || record.CreatedAt.IsZero() || asked.Sub(record.CreatedAt) < olderMin {
		return text
	}
	return text + fmt.Sprintf(" Its record %s is of %s, and remit first asked for it at %s: look whether it is a record of this service and of your customer, and not of a trial.",
		Visible(record.ID), moment(record.CreatedAt), moment(asked))
}
