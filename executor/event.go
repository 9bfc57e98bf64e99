package executor

import (
	"time"

	"remit/internal/transfer"
	"remit/state"
)

// Event is something that happened in a run. Its JSON form is its lossless form.
type Event struct {
	Time   time.Time       `json:"time"`
	Type   EventType       `json:"type"`
	RefID  string          `json:"ref_id,omitempty"`
	Group  string          `json:"group_id,omitempty"`
	Result Result          `json:"result,omitempty"`  // of EventSettled, EventChanged
	Reason string          `json:"reason,omitempty"`  // in words
	Next   string          `json:"next,omitempty"`    // a command to type
	Total  int             `json:"total,omitempty"`   // of EventBegun: transfers that the run will attempt
	Detail *state.Outcome  `json:"outcome,omitempty"` // of EventSettled and EventChanged, where an outcome was written
	Amount transfer.Amount `json:"amount,omitzero"`
	Asset  string          `json:"asset,omitempty"`

	Changes []RecordChange `json:"changes,omitempty"` // of EventChanged
}

// EventType names a kind of event.
type EventType string

// The types of events.
const (
	EventBegun    EventType = "begun"    // the run is in the journal
	EventIntended EventType = "intended" // a transfer's intent is durable
	EventWaiting  EventType = "waiting"  // for a rate limit, a Retry-After, a dependency, a lookup
	EventSettled  EventType = "settled"  // a transfer has its Result in this run
	EventChanged  EventType = "changed"  // a lookup has something else of a recorded transfer than was stored
	EventNotice   EventType = "notice"   // something that a person should know
	EventStopping EventType = "stopping" // nothing new starts; Reason says why
)

// RecordChange is a field of a transfer's record that is another one since it was stored.
type RecordChange struct {
	Field  string `json:"field"`            // as the service's records name it, "destination", or "credit side"
	Before string `json:"before,omitempty"` // "" where the field was not there
	After  string `json:"after"`
}

// Result is what a run made of one transfer of its plan.
type Result string

// The results, in the order in which a run's table lists them.
const (
	ResultRecorded     Result = "recorded"
	ResultAdopted      Result = "adopted"
	ResultUnverified   Result = "unverified"
	ResultRefused      Result = "refused"
	ResultFailed       Result = "failed" // recorded, and the service's own status is FAILED
	ResultInDoubt      Result = "in_doubt"
	ResultConflict     Result = "conflict"
	ResultNotAttempted Result = "not_attempted"
)

// Results lists every result in the order of a run's table.
func Results() []Result {
	return []Result{
		ResultRecorded, ResultAdopted, ResultUnverified, ResultRefused,
		ResultFailed, ResultInDoubt, ResultConflict, ResultNotAttempted,
	}
}

// words is a result as people read it.
func words(r Result) string {
	switch r {
	case ResultInDoubt:
		return "in doubt"
	case ResultNotAttempted:
		return "not attempted"
	case ResultConflict:
		return "in conflict"
	case ResultRecorded, ResultAdopted, ResultUnverified, ResultRefused, ResultFailed:
	}
	return string(r)
}
