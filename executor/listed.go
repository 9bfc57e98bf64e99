package executor

import (
	"errors"
	"fmt"

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

// against returns what a claim contradicts: the request, and what the state has.
func (c *Claim) against(request *transfer.Request) []transfer.Difference {
	list := amountDifferences(request, c.Amount, c.Asset)
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

// claims takes what a list says of transfers of which no record was found.
func (a *adoption) claims(attempts []*attempt, findings []finding, listed func(string) (Claim, bool)) {
	var made []finding
	var at []int
	for i, f := range findings {
		if claim, ok := claimOf(listed, attempts[i].refID); ok && !f.settled && !f.undue.Holds() {
			lead := attempts[i].intent
			lead.Found = true // nothing is sent under it
			made = append(made, finding{verdict: judgeClaim(attempts[i].known, claim), settled: true, lead: []state.Entry{lead}})
			at = append(at, i)
		}
	}
	a.run.outcomes.writeAll(made)
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
func newClaimed(run *Run, claim Claim) incomplete {
	amount, _ := transfer.ParseAmount(claim.Amount) // what is none is refused by the state
	request := transfer.Request{RefID: claim.RefID, Asset: claim.Asset, Amount: amount}
	v := judgeClaim(known{refID: claim.RefID, runID: run.Begun.RunID, request: request}, claim)
	if v.result != ResultUnverified {
		return incomplete{request, v, errors.New(v.outcome.Reason)}
	}
	v.outcome.Reason = "nobody declares it; " + v.outcome.Reason
	return incomplete{request: request, verdict: v}
}

// holdClaimed leaves a doubt of which a list says that it was made: a list is somebody's claim, and
// a doubt ends by a record, or by a person's word about this transfer (law 3).
func holdClaimed(u *unsettled, claim Claim) verdict {
	v := undecided(u.known, fmt.Sprintf("%s lists it with the group_id %s. A list settles no doubt: its record does.", claim.Place, claim.GroupID))
	v.next, v.idle = command(u.refID, "--recorded FILE"), true
	return v
}
