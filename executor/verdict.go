package executor

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"remit/internal/doubt"
	"remit/internal/text/shell"
	"remit/internal/transfer"
	"remit/state"
)

// knownTransfer holds the state's knowledge of a ref_id at the time of an answer or a lookup.
type knownTransfer struct {
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
	alone    bool   // nobody knows more of the request than its asset and amount
	operator transfer.Operator
	customer string // whose records they must be; "" where the state sees to that itself

	old time.Duration // by how much a record that is adopted must be older than first for a person to be told; 0 for never

	late string // why its request may no longer start once it is too late for that; "" for never
}

// verdict is the judgement of an answer, or of the records of a lookup.
type verdict struct {
	outcome state.Outcome
	result  Result
	stop    string // why nothing new may start; "" where it may
	next    string // a command to type
	advice  string // of a doubt: what an apply does about it, in sentences; "" where there is no more to say
	unread  bool   // the records decide nothing: there is no outcome to write
	written bool   // the outcome is durable
	idle    bool   // it is in doubt or not attempted, and another apply would not go on with it
	untaken bool   // a conflict of which the state keeps nothing
	stands  bool   // not attempted, and nothing was to be done about it: it waits, or has expired

	// Of an outcome that is Made: what the deciding record says.
	status   transfer.RecordStatus
	recordID string
	group    string
}

// undecided returns a verdict that decides nothing.
func undecided(k knownTransfer, reason string) verdict {
	return verdict{
		outcome: state.Outcome{RefID: k.refID, RunID: k.runID, Status: state.InDoubt, Reason: reason},
		result:  ResultInDoubt,
		next:    doubt.Apply,
	}
}

// unsent returns the verdict on an attempt that provably made nothing; an earlier doubt outlives it
// (law 3). An attempt that came too late will come too late again.
func unsent(k knownTransfer, reason string) verdict {
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

// stranded returns the verdict on a transfer that waits for something with which another apply would
// not go on either.
func stranded(k knownTransfer, reason string) verdict {
	v := unsent(k, reason)
	v.next, v.idle = "", true
	return v
}

// refused returns the verdict on a definite no to one attempt; an earlier doubt outlives it (law 3).
func refused(k knownTransfer, reason string) verdict {
	v := undecided(k, orElse(reason, "the service refused the request"))
	v.outcome.Status = state.Refused
	if k.doubted {
		return v
	}
	v.result, v.next = ResultRefused, "remit plan"
	return v
}

func conflict(k knownTransfer, records []transfer.Record, differences []transfer.Difference) verdict {
	next := command(k.refID, "--accept-record")
	switch {
	case slices.ContainsFunc(differences, transfer.Difference.IsForeign):
		next = command(k.refID, "--not-made")
	case slices.ContainsFunc(differences, transfer.Difference.IsOfAnother):
		next = command(k.refID, "--recorded FILE --accept-record")
	case slices.ContainsFunc(differences, transfer.Difference.IsRail):
		next = "remit plan" // which has both ways out, and what each of them means
	}
	return verdict{
		outcome: state.Outcome{
			RefID: k.refID, RunID: k.runID, Status: state.Conflict,
			Reason: Describe(differences), Differences: differences, Records: raws(records, nil),
		},
		result: ResultConflict,
		next:   next,
	}
}

// fallShort has a record that agrees be unverified where it falls short, by the fields in which it does.
// Where nothing proves whom it paid either, its destination is one of them.
func fallShort(v verdict, isUnproven bool, shortcomings []transfer.Difference) verdict {
	if len(shortcomings) == 0 {
		return v
	}
	text := "the record falls short: " + DescribeShort(shortcomings)
	v.outcome.Differences = append(slices.Clip(v.outcome.Differences), shortcomings...)
	if isUnproven {
		why := unprovenText
		if strings.HasPrefix(v.outcome.Reason, why) {
			why = v.outcome.Reason // which says more
		}
		text += "; and " + why
		v.outcome.Differences = append(v.outcome.Differences, transfer.Difference{Field: fieldDestination})
	}
	v.outcome.Status, v.result = state.Unverified, ResultUnverified
	v.outcome.Reason, v.next = text, command(v.outcome.RefID, "--accept-record")
	if transfer.IsCreditOpen(shortcomings) { // which nobody can accept
		v.next = command(v.outcome.RefID, "")
	}
	return v
}

const unprovenText = "this state did not make the record, and nothing proves whom it paid"

// fieldDestination names, among the shortcomings of a record, the destination that no field of it
// says.
const fieldDestination = "destination"

// fieldSource names, among changes, who says what a record is.
const fieldSource = "source"

// resultOf returns the result of a ref_id that has the given status.
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

// contradiction returns the verdict in place of one whose record the state refuses: a conflict, or
// unverified if another transfer has the group_id. A person closes it by the verdict's command.
func (w *journalWriter) contradiction(err error, v verdict) (verdict, bool) {
	refID := v.outcome.RefID
	if shared, ok := sharesGroup(err, v); ok {
		return shared, true
	}
	against := verdict{result: ResultConflict}
	var difference transfer.Difference
	if reused := reusedID(w.ctx, w.journal, refID, v.outcome.Records, err); reused != nil {
		difference = reused.difference()
		against.stop = fmt.Sprintf("the record of %q has the id of that of %q", refID, reused.Other)
		against.next = command(refID, "--accept-record")
	} else if duplicate, ok := errors.AsType[*state.DuplicateRecordError](err); ok {
		difference = transfer.SharedRecord(duplicate.RecordID, duplicate.RefID)
		against.stop = fmt.Sprintf("the record of %q is recorded under ref_id %q", refID, duplicate.RefID)
		against.next = command(refID, "--recorded FILE --accept-record")
	} else if customer, ok := errors.AsType[*state.CustomerError](err); ok {
		difference = transfer.Difference{Field: "customer_id", Asked: customer.Want, Answered: customer.Got}
		against.stop = fmt.Sprintf("the record of %q belongs to another customer", refID)
		against.next = command(refID, "--accept-record")
	} else {
		return v, false
	}
	against.outcome = state.Outcome{
		RefID: refID, RunID: v.outcome.RunID, Status: state.Conflict, Source: v.outcome.Source,
		Reason:     Describe([]transfer.Difference{difference}),
		HTTPStatus: v.outcome.HTTPStatus, Problem: v.outcome.Problem, Records: v.outcome.Records,
		Differences: []transfer.Difference{difference},
	}
	return against, true
}

// sharesGroup returns the unverified verdict in place of one that the state refuses because another
// transfer has the group_id.
func sharesGroup(err error, v verdict) (verdict, bool) {
	shared, ok := errors.AsType[*state.DuplicateGroupError](err)
	if !ok {
		return v, false
	}
	return fallShort(v, false, []transfer.Difference{transfer.SharedGroup(shared.GroupID, shared.RefID)}), true
}

// command returns the command about one ref_id, as a shell reads it.
func command(refID, flag string) string {
	word := shell.Word(refID)
	if flag == "" {
		return "remit resolve " + word
	}
	return "remit resolve " + word + " " + flag + ` --reason "…"`
}

func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
