package executor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"remit/internal/transfer"
	"remit/state"
)

// How much older than the first request a record must be to be another's (docs/states.md): by the
// local clock, which may differ from the service's by as much, and by the service's own, whose
// machines may.
const (
	ageAdopted  = 5 * time.Minute
	ageAnswered = 5 * time.Second
)

// setting is how records came to be judged: it decides whose they are.
type setting uint8

const (
	inAnswer  setting = iota + 1 // a 2xx answer to an attempt
	inExists                     // an answer that says the ref_id is known, or the lookup after it
	inDoubt                      // a lookup of a ref_id that is in doubt
	beforeAny                    // a lookup before the first request
)

// judgeAnswer turns an answer to an attempt into its outcome: the table in docs/states.md under
// law 3. Unwritten, NotProcessed and TokenRefused are judged when nothing is sent again; found
// are the records of a lookup that followed, nil where there was none.
func judgeAnswer(k knownTransfer, a Answer, found []transfer.Record) verdict {
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
		if a.Kind == Unclear { // it is told of other transfers as well, about which there is no doubt
			v.stop = fmt.Sprintf("%q is in doubt: %s", k.refID, v.stop)
		}
	}
	return v
}

// judgeFound turns the records that a lookup found into an outcome. Where they decide
// nothing (a credit side alone), the verdict is unread.
func judgeFound(k knownTransfer, where setting, records []transfer.Record) verdict {
	v := judgeRecords(k, where, records)
	v.outcome.Source = state.SourceLookup
	v.unread = v.outcome.Status == state.InDoubt
	return v
}

// judgeRecords compares one or more records with the request. An agreeing one is our own,
// adopted or unverified; a differing one is a conflict; a credit side alone proves nothing.
func judgeRecords(k knownTransfer, where setting, records []transfer.Record) verdict {
	records = k.withoutIncome(records)
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
	case finding.Debit.Status == transfer.Failed && finding.IsOpen():
		v := undecided(k, openText)
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
		v.outcome.Reason = unprovenText + k.clocksApart(where, debit)
		v.next = command(k.refID, "--accept-record")
	case ResultFailed:
		v.outcome.Reason = "the service's own status is FAILED" + failure(*debit)
	case ResultAdopted:
		v.outcome.Reason = k.olderText(debit)
	case ResultRecorded, ResultRefused, ResultInDoubt, ResultConflict, ResultNotAttempted:
	}
	return fallShort(v, v.outcome.Status == state.Unverified, finding.Shortcomings())
}

// olderLead is how the reason of a transfer begins that was adopted by an old record.
const olderLead = "Nothing was paid now: "

// IsByOldRecord reports whether a run adopted a transfer by a record so old that a person has to look at it, as the reason says.
func IsByOldRecord(o *state.Outcome) bool {
	return o != nil && o.Status == state.Adopted && o.Source != state.SourcePerson && strings.HasPrefix(o.Reason, olderLead)
}

// olderText says of a record that is adopted that it is older than the service remembers a ref_id for: it may be the payment of another year
// under the same ref_id, and then this one is not made. It is "" where the record is as new as one that a state which was lost may have made.
func (k *knownTransfer) olderText(r *transfer.Record) string {
	if k.old <= 0 || k.first.IsZero() || r.CreatedAt.IsZero() || k.first.Sub(r.CreatedAt) <= k.old {
		return ""
	}
	return fmt.Sprintf(olderLead+"its record %s is of %s, and this state first asked for it at %s. Look whether it is this payment, and not an earlier one, or one of a trial, under the same ref_id; "+
		"where it is not, declare this one under a new ref_id.", r.ID, r.CreatedAt.UTC().Format(time.RFC3339), k.first.UTC().Format(time.RFC3339))
}

// openText is why a debit side that FAILED does not decide yet.
const openText = "the debit side FAILED, and the credit side is PENDING still"

// examine compares records with the request, and, where a list is all that the state has, with
// what that says.
func (k *knownTransfer) examine(records []transfer.Record) transfer.Finding {
	var f transfer.Finding
	switch request, ok := k.asked(records); {
	case ok:
		f = transfer.Examine(request, records, k.operator)
	default: // none of the operations of this program
		if i := slices.IndexFunc(records, isDebit); i >= 0 {
			f.Debit = &records[i]
			f.Differences = amountDifferences(&k.request, records[i].Amount, records[i].Asset)
		}
	}
	for _, r := range records {
		if k.group != "" && r.GroupID != "" && r.GroupID != k.group {
			f.Differences = append(slices.Clip(f.Differences), transfer.Difference{Field: "group_id", Asked: k.group, Answered: r.GroupID})
			f.DestinationProven = false
			break
		}
	}
	return f
}

// asked is the request that records are held against. Of a transfer that was listed and never
// declared, the records say what it was, but for its asset and amount.
func (k *knownTransfer) asked(records []transfer.Record) (transfer.Request, bool) {
	if !k.alone {
		return k.request, true
	}
	request, ok := requestOf(records, k.operator)
	if !ok {
		i := slices.IndexFunc(records, isDebit)
		if i < 0 {
			return k.request, false
		}
		request, ok = requestOfDebit(&records[i], k.operator)
	}
	request.RefID, request.Asset, request.Amount = k.refID, k.request.Asset, k.request.Amount
	return request, ok
}

// provenance says whose an agreeing record is. It is recorded as ours where an intent of
// ours can have made it; a record that was there before is adopted, and unverified where
// neither its destination is proven nor an intent of ours is older than it.
func provenance(k knownTransfer, where setting, finding transfer.Finding) state.Status {
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
func (k knownTransfer) isOlder(r *transfer.Record) bool {
	if r.CreatedAt.IsZero() {
		return false // it falls short anyway
	}
	if k.isAged && !r.AnsweredAt.IsZero() {
		return r.AnsweredAt.Sub(r.CreatedAt) > k.age+ageAnswered
	}
	return k.isOlderThanFirst(r)
}

// clocksApart says that a record may be older than its request by two clocks alone, as the rest of a sentence; "" where
// they decide nothing, or lie further apart than clocks do.
func (k knownTransfer) clocksApart(where setting, r *transfer.Record) string {
	isByAnswer := (where == inAnswer || where == inDoubt) && !k.found && k.isAged && !r.AnsweredAt.IsZero()
	if !isByAnswer || !k.isOlder(r) || r.AnsweredAt.Sub(r.CreatedAt)-k.age > clocksApartMax {
		return ""
	}
	return fmt.Sprintf(": its created_at is %s, before the request, by the Date of its answer, %s. Where it was made for this request, "+
		"one of these two clocks is off: that of the service, or that of a proxy before it",
		r.CreatedAt.UTC().Format(time.RFC3339), r.AnsweredAt.UTC().Format(time.RFC3339))
}

// isOlderThanFirst reports whether a record was there before the first intent of its request, by the
// local clock.
func (k knownTransfer) isOlderThanFirst(r *transfer.Record) bool {
	return !r.CreatedAt.IsZero() && r.CreatedAt.Before(k.first.Add(-ageAdopted))
}
