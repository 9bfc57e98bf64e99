package executor

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"remit/internal/doubt"
	"remit/internal/text/shell"
	"remit/internal/transfer"
	"remit/state"
)

// How much older than the first request a record must be to be another's (design section 3): by the
// local clock, which may differ from the service's by as much, and by the service's own, whose
// machines may.
const (
	ageAdopted  = 5 * time.Minute
	ageAnswered = 5 * time.Second
)

// known is what this state knew of a ref_id when an answer or a lookup came in.
type known struct {
	refID   string
	runID   string
	request transfer.Request // of the bytes that were sent, or would be

	first   time.Time // the earliest intent of this request; now where there was none
	earlier bool      // that intent is older than the attempt that is judged
	found   bool      // that intent came with records that others made, or with a list's word
	doubted bool      // an attempt before the one that is judged is in doubt

	since  sent          // of a doubt: its first intent
	age    time.Duration // how long before now the request may have been made at most
	isAged bool          // by a clock that nobody can set; false: age says nothing

	group    string // that a list says in place of a record; "" where none does
	alone    bool   // of that, nobody says what was asked for but its asset and amount
	operator transfer.Operator
	customer string // whose records they must be; "" where the state sees to that itself

	late string // why its request may no longer start once it is too late for that; "" for never
}

// setting is how records came to be judged: it decides whose they are.
type setting uint8

const (
	inAnswer  setting = iota + 1 // a 2xx answer to an attempt
	inExists                     // an answer that says the ref_id is known, or the lookup after it
	inDoubt                      // a lookup of a ref_id that is in doubt
	beforeAny                    // a lookup before the first request
)

// verdict is what is made of an answer or of what was found.
type verdict struct {
	outcome state.Outcome
	result  Result
	stop    string // why nothing new may start; "" where it may
	next    string // a command to type
	advice  string // of a doubt: what an apply does about it, in sentences; "" where there is no more to say
	unread  bool   // the records decide nothing: there is no outcome to write
	written bool   // the outcome is durable
	idle    bool   // it is in doubt or not attempted, and another apply would not go on with it

	// Of an outcome that is Made: what the deciding record says.
	status   transfer.RecordStatus
	recordID string
	group    string
}

// judgeAnswer turns an answer to an attempt into its outcome: design section 3's table under
// law 3. Unwritten, NotProcessed and TokenRefused are judged when nothing is sent again; found
// are the records of a lookup that followed, nil where there was none.
func judgeAnswer(k known, a Answer, found []transfer.Record) verdict {
	var v verdict
	switch a.Kind {
	case Answered:
		v = judgeRecords(k, inAnswer, withRecord(found, *a.Record))
		if v.outcome.Status == state.Conflict {
			v.stop = fmt.Sprintf("the answer to %q is in conflict with what was asked", k.refID)
		}
	case Exists:
		if a.Record != nil {
			found = withRecord(found, *a.Record)
		}
		if len(found) == 0 {
			v = undecided(k, orElse(a.Reason, "the service says that it knows the ref_id, but its record could not be read"))
			break
		}
		v = judgeRecords(k, inExists, found)
	case Unclear:
		v = undecided(k, a.Reason)
	case Unwritten:
		v = unsent(k, a.Reason)
	case NotProcessed, TokenRefused:
		v = unsent(k, orElse(a.Reason, "the service did not process the request"))
	case Rejected:
		v = refused(k, a.Reason)
	default:
		panic(fmt.Sprintf("answer of unknown kind %d", a.Kind))
	}
	v.outcome.Source = state.SourceAnswer
	v.outcome.HTTPStatus, v.outcome.Problem = a.HTTPStatus, a.Problem
	if a.Stop && v.stop == "" {
		v.stop = orElse(a.Reason, "the service's answer says that no request can succeed")
	}
	return v
}

// judgeFound turns the records that a lookup found into an outcome. Where they decide
// nothing (a credit side alone), the verdict is unread.
func judgeFound(k known, where setting, records []transfer.Record) verdict {
	v := judgeRecords(k, where, records)
	v.outcome.Source = state.SourceLookup
	v.unread = v.outcome.Status == state.InDoubt
	return v
}

// judgeRecords compares one or more records with what was asked. An agreeing one is our own,
// adopted or unverified; a differing one is a conflict; a credit side alone proves nothing.
func judgeRecords(k known, where setting, records []transfer.Record) verdict {
	finding := k.examine(records)
	differences := finding.Differences
	for _, record := range records {
		if k.customer != "" && record.CustomerID != k.customer {
			differences = append(differences, transfer.Difference{Field: "customer_id", Asked: k.customer, Answered: record.CustomerID})
			break
		}
	}
	switch {
	case len(differences) > 0:
		return conflict(k, records, differences)
	case finding.Debit == nil:
		v := undecided(k, "only the credit side is known, which does not say what was debited")
		v.outcome.Records = raws(records, nil)
		return v
	}
	debit := finding.Debit
	v := verdict{status: debit.Status, recordID: debit.ID, group: debit.GroupID}
	v.outcome = state.Outcome{
		RefID: k.refID, RunID: k.runID,
		Status:  provenance(k, where, finding),
		Records: raws(records, debit), Deciding: debit,
	}
	v.result = resultOf(v.outcome.Status, debit.Status)
	switch v.result {
	case ResultUnverified:
		v.outcome.Reason = unprovenText
		v.next = command(k.refID, "--accept-record")
	case ResultFailed:
		v.outcome.Reason = "the service's own status is FAILED" + failure(*debit)
	case ResultRecorded, ResultAdopted, ResultRefused, ResultInDoubt, ResultConflict, ResultNotAttempted:
	}
	return fallShort(v, v.outcome.Status == state.Unverified, transfer.Shortcomings(*debit))
}

const unprovenText = "this state did not make the record, and nothing proves whom it paid"

// fallShort has a record that agrees be unverified where it falls short, by the fields in which it does.
// Where nothing proves whom it paid either, its destination is one of them.
func fallShort(v verdict, isUnproven bool, shortcomings []transfer.Difference) verdict {
	if len(shortcomings) == 0 {
		return v
	}
	text := "the record falls short: " + DescribeShort(shortcomings)
	v.outcome.Differences = append(slices.Clip(v.outcome.Differences), shortcomings...)
	if isUnproven {
		text += "; and " + unprovenText
		v.outcome.Differences = append(v.outcome.Differences, transfer.Difference{Field: fieldDestination})
	}
	v.outcome.Status, v.result = state.Unverified, ResultUnverified
	v.outcome.Reason, v.next = text, command(v.outcome.RefID, "--accept-record")
	return v
}

// fieldDestination stands among the shortcomings of a record for what no field of it says.
const fieldDestination = "destination"

// DescribeShort names each field of a record that is not as it must be: "its group_id is missing, where
// it must be one of its own".
func DescribeShort(shortcomings []transfer.Difference) string {
	parts := make([]string, len(shortcomings))
	for i, d := range shortcomings {
		parts[i] = fmt.Sprintf("its %s is %s, where it must be %s", d.Field, orElse(d.Answered, "missing"), d.Asked)
	}
	return strings.Join(parts, "; ")
}

// provenance says whose an agreeing record is. It is recorded as ours where an intent of
// ours can have made it; a record that was there before is adopted, and unverified where
// neither its destination is proven nor an intent of ours is older than it.
func provenance(k known, where setting, finding transfer.Finding) state.Status {
	older := k.isOlder(finding.Debit)
	ours := false
	switch where {
	case inAnswer, inDoubt:
		ours = !older && !k.found
	case inExists:
		ours = k.doubted && !older && !k.found
	case beforeAny:
	}
	switch {
	case ours:
		return state.Recorded
	case finding.DestinationProven || k.earlier && (!older || !k.doubted) && !k.isOlderThanFirst(finding.Debit):
		return state.Adopted
	}
	return state.Unverified
}

// isOlder reports whether a record was there before any request that can have made it: by the service's
// clock, where the answer says what that was, and else by the local one.
func (k known) isOlder(r *transfer.Record) bool {
	if r.CreatedAt.IsZero() {
		return false // it falls short anyway
	}
	if k.isAged && !r.AnsweredAt.IsZero() {
		return r.AnsweredAt.Sub(r.CreatedAt) > k.age+ageAnswered
	}
	return k.isOlderThanFirst(r)
}

// isOlderThanFirst reports whether a record was there before the first intent of its request, by the
// local clock.
func (k known) isOlderThanFirst(r *transfer.Record) bool {
	return !r.CreatedAt.IsZero() && r.CreatedAt.Before(k.first.Add(-ageAdopted))
}

// withRecord is what was found, and the answered record where it is not among it.
func withRecord(found []transfer.Record, answered transfer.Record) []transfer.Record {
	if slices.ContainsFunc(found, func(r transfer.Record) bool { return r.ID == answered.ID }) {
		return found
	}
	return append([]transfer.Record{answered}, found...)
}

// undecided is a verdict that decides nothing.
func undecided(k known, reason string) verdict {
	return verdict{
		outcome: state.Outcome{RefID: k.refID, RunID: k.runID, Status: state.InDoubt, Reason: reason},
		result:  ResultInDoubt,
		next:    doubt.Apply,
	}
}

// unsent is an attempt that provably made nothing; an earlier doubt outlives it (law 3). What came
// too late will come too late again.
func unsent(k known, reason string) verdict {
	v := undecided(k, reason)
	v.outcome.Status = state.Unsent
	isLate := k.late != "" && reason == k.late
	if k.doubted {
		return v
	}
	v.result = ResultNotAttempted
	if isLate {
		v.next, v.idle = "remit plan", true
	}
	return v
}

// stranded is what is not attempted because of something else, with which another apply would not
// go on either.
func stranded(k known, reason string) verdict {
	v := unsent(k, reason)
	v.next, v.idle = "", true
	return v
}

// refused is a definite no to one attempt; an earlier doubt outlives it (law 3).
func refused(k known, reason string) verdict {
	v := undecided(k, orElse(reason, "the service refused the request"))
	v.outcome.Status = state.Refused
	if k.doubted {
		return v
	}
	v.result, v.next = ResultRefused, "remit plan"
	return v
}

func conflict(k known, records []transfer.Record, differences []transfer.Difference) verdict {
	return verdict{
		outcome: state.Outcome{
			RefID: k.refID, RunID: k.runID, Status: state.Conflict,
			Reason: Describe(differences), Differences: differences, Records: raws(records, nil),
		},
		result: ResultConflict,
		next:   command(k.refID, "--accept-record"),
	}
}

// resultOf is the result of a ref_id that has the given status.
func resultOf(status state.Status, own transfer.RecordStatus) Result {
	switch status {
	case state.Recorded, state.Adopted, state.Unverified:
		switch {
		case own == transfer.Failed:
			return ResultFailed
		case status == state.Unverified:
			return ResultUnverified
		case status == state.Adopted:
			return ResultAdopted
		}
		return ResultRecorded
	case state.Refused:
		return ResultRefused
	case state.InDoubt:
		return ResultInDoubt
	case state.Conflict:
		return ResultConflict
	case state.Unsent, state.Tombstone:
		return ResultNotAttempted
	}
	panic(fmt.Sprintf("result of %v", status))
}

// raws are the records as they came, the deciding one first.
func raws(records []transfer.Record, deciding *transfer.Record) []json.RawMessage {
	list := make([]json.RawMessage, 0, len(records))
	if deciding != nil {
		list = append(list, deciding.Raw)
	}
	for i := range records {
		if deciding == nil || records[i].ID != deciding.ID {
			list = append(list, records[i].Raw)
		}
	}
	return list
}

// Describe names each difference: "answered amount 70.00, asked 80.00".
func Describe(differences []transfer.Difference) string {
	parts := make([]string, 0, len(differences))
	for _, d := range differences {
		parts = append(parts, fmt.Sprintf("answered %s %s, asked %s", d.Field, orElse(d.Answered, "nothing"), orElse(d.Asked, "nothing")))
	}
	return strings.Join(parts, "; ")
}

// failure is what the service says of a failed transfer, at most 2 KiB of it.
func failure(record transfer.Record) string {
	const most = 2048
	if n := len(record.StatusDetails); n == 0 || n > most {
		return ""
	}
	return ": " + string(record.StatusDetails)
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// command is what a person types about one ref_id, as a shell reads it.
func command(refID, flag string) string {
	word := shell.Word(refID)
	if flag == "" {
		return "remit resolve " + word
	}
	return "remit resolve " + word + " " + flag + ` --reason "…"`
}
