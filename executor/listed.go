package executor

import (
	"errors"
	"fmt"
	"slices"

	"remit/internal/transfer"
	"remit/state"
)

// Claim is a line of a list of what was paid: that a transfer was made, and nothing that proves it.
type Claim struct {
	RefID   string
	GroupID string
	Amount  string // as the list writes it; "" where it has none
	Asset   string // "" exactly where Amount is
	Place   string // file:line

	// Owner is the ref_id under which the state has the GroupID, where that is another one.
	Owner string
}

// listed is what the state keeps of a claim.
func (c *Claim) listed() *state.Listed {
	return &state.Listed{GroupID: c.GroupID, Amount: c.Amount, Asset: c.Asset}
}

// against is what a claim contradicts: what was asked for, and what the state has.
func (c *Claim) against(request *transfer.Request) []transfer.Difference {
	var list []transfer.Difference
	if c.Amount != "" && !transfer.SameNumber(request.Amount.String(), c.Amount) {
		list = append(list, transfer.Difference{Field: "amount", Asked: request.Amount.String(), Answered: c.Amount})
	}
	if c.Asset != "" && c.Asset != request.Asset {
		list = append(list, transfer.Difference{Field: "asset", Asked: request.Asset, Answered: c.Asset})
	}
	if c.Owner != "" {
		list = append(list, transfer.Difference{
			Field: "group_id", Asked: "one of its own", Answered: fmt.Sprintf("%s, which is recorded under ref_id %q", c.GroupID, c.Owner),
		})
	}
	return list
}

// judgeClaim takes a claim for the outcome of a request that was never sent: it is unverified, or
// in conflict where the list has something else than was asked for. Either way its ref_id exists
// at the service, and is never sent.
func judgeClaim(k known, c Claim) verdict {
	v := verdict{
		outcome: state.Outcome{
			RefID: k.refID, RunID: k.runID, Status: state.Unverified, Source: state.SourceImport, Listed: c.listed(),
			Reason: c.Place + " lists it, and nothing proves what was paid to whom",
		},
		result: ResultUnverified, next: command(k.refID, "--recorded FILE"), group: c.GroupID,
	}
	if differences := c.against(&k.request); len(differences) > 0 {
		v.outcome.Status, v.outcome.Differences = state.Conflict, differences
		v.outcome.Reason = c.Place + ": " + Describe(differences)
		v.result, v.next = ResultConflict, command(k.refID, "--recorded FILE --accept-record")
	}
	return v
}

// adoptClaims takes what a list says of transfers of which no record was found.
func (c *course) adoptClaims(jobs []*job, findings []finding, listed func(string) (Claim, bool)) {
	var made []finding
	var at []int
	for i, f := range findings {
		if claim, ok := claimOf(listed, jobs[i].refID); ok && !f.settled && !f.undue.Holds() {
			lead := jobs[i].intent
			lead.Found = true // nothing is sent under it
			made = append(made, finding{verdict: judgeClaim(jobs[i].known, claim), settled: true, lead: []state.Entry{lead}})
			at = append(at, i)
		}
	}
	c.writeFindings(made)
	for i, f := range made {
		findings[at[i]] = f
	}
}

// claimOf asks a list that may not be there.
func claimOf(listed func(string) (Claim, bool), refID string) (Claim, bool) {
	if listed == nil {
		return Claim{}, false
	}
	return listed(refID)
}

// newClaimed is a transfer that a list has with its amount, and of which nobody says what was asked
// for.
func newClaimed(run Run, claim Claim) half {
	amount, _ := transfer.ParseAmount(claim.Amount) // what is none is refused by the state
	request := transfer.Request{RefID: claim.RefID, Asset: claim.Asset, Amount: amount}
	v := judgeClaim(known{refID: claim.RefID, runID: run.Begun.RunID, request: request}, claim)
	if v.result != ResultUnverified {
		return half{request, v, errors.New(v.outcome.Reason)}
	}
	v.outcome.Reason = "nobody declares it; " + v.outcome.Reason
	return half{request: request, verdict: v}
}

// holdClaimed leaves a doubt of which a list says that it was made: a list is somebody's claim, and
// a doubt ends by a record, or by a person's word about this transfer (law 3).
func holdClaimed(u *unsettled, claim Claim) verdict {
	v := undecided(u.known, fmt.Sprintf("%s lists it with the group_id %s. A list settles no doubt: its record does.", claim.Place, claim.GroupID))
	v.next, v.idle = command(u.refID, "--recorded FILE"), true
	return v
}

// examine compares records with the request, and, where a list is all that the state has, with
// what that says.
func (k *known) examine(records []transfer.Record) transfer.Finding {
	var f transfer.Finding
	switch request, ok := k.asked(records); {
	case ok:
		f = transfer.Examine(request, records, k.operator)
	default: // none of the operations of this program
		if i := slices.IndexFunc(records, isDebit); i >= 0 {
			f.Debit = &records[i]
			f.Differences = (&Claim{Amount: records[i].Amount, Asset: records[i].Asset}).against(&k.request)
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

func isDebit(r transfer.Record) bool { return r.Direction == transfer.Debit }

// asked is the request that records are held against. Of a transfer that was listed and never
// declared, the records say what it was, but for its asset and amount.
func (k *known) asked(records []transfer.Record) (transfer.Request, bool) {
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

// newsOfListed is [News] of a transfer of which the state has a list's word alone: its record, which
// decides, or the conflict of its record with that word.
func newsOfListed(d *state.Detail, records []transfer.Record, policy Policy) (state.Outcome, []transfer.Difference, bool) {
	k := newUnsettled(*d, "", policy).known
	v := judgeRecords(k, inDoubt, records)
	v.outcome.Source = state.SourceLookup
	switch v.outcome.Status {
	case state.Conflict:
		v.outcome.Differences = unaccepted(k, *d, v.outcome.Differences)
		if len(v.outcome.Differences) > 0 {
			return v.outcome, nil, true
		}
		i := slices.IndexFunc(records, isDebit) // a person has accepted what differs
		if i < 0 {
			return state.Outcome{}, nil, false
		}
		v.outcome.Deciding = &records[i]
		v.outcome.Records, v.outcome.Differences = raws(records, &records[i]), d.Outcome.Differences
		v.outcome.Status = d.Status
	case state.Recorded, state.Adopted, state.Unverified:
		if d.Status == state.Adopted {
			v.outcome.Status = state.Adopted // a person has vouched for it
		}
	case state.InDoubt, state.Unsent, state.Refused, state.Tombstone:
		return state.Outcome{}, nil, false // the credit side alone
	}
	return v.outcome, nil, true
}
