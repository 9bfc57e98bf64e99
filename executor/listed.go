package executor

import (
	"errors"
	"fmt"

	"remit/internal/transfer"
	"remit/state"
)

// ListedTransfer is a line of a list of payments. It says that a transfer was made, and proves nothing.
type ListedTransfer struct {
	RefID   string
	GroupID string
	Amount  string // as the list writes it; "" where it has none
	Asset   string // "" exactly where Amount is
	Place   string // file:line

	// Owner is the ref_id under which the state has the GroupID, where that is another one.
	Owner string
}

// listed is what the state keeps of a listed transfer.
func (l *ListedTransfer) listed() *state.Listed {
	return &state.Listed{GroupID: l.GroupID, Amount: l.Amount, Asset: l.Asset}
}

// against returns what a listed transfer contradicts: the request, and what the state has.
func (l *ListedTransfer) against(request *transfer.Request) []transfer.Difference {
	list := amountDifferences(request, l.Amount, l.Asset)
	if l.Owner != "" {
		list = append(list, transfer.Difference{
			Field: "group_id", Asked: "one of its own", Answered: fmt.Sprintf("%s, which is recorded under ref_id %q", l.GroupID, l.Owner),
		})
	}
	return list
}

// judgeListed takes a listed transfer for the outcome of a request that was never sent: it is unverified, or
// in conflict where the list has something else than was asked for. Either way its ref_id exists
// at the service, and is never sent.
func judgeListed(k knownTransfer, l ListedTransfer) verdict {
	v := verdict{
		outcome: state.Outcome{
			RefID: k.refID, RunID: k.runID, Status: state.Unverified, Source: state.SourceImport, Listed: l.listed(),
			Reason: l.Place + " lists it, and nothing proves what was paid to whom",
		},
		result: ResultUnverified, next: command(k.refID, "--recorded FILE"), group: l.GroupID,
	}
	if differences := l.against(&k.request); len(differences) > 0 {
		v.outcome.Status, v.outcome.Differences = state.Conflict, differences
		v.outcome.Reason = l.Place + ": " + Describe(differences)
		v.result, v.next = ResultConflict, command(k.refID, "--recorded FILE --accept-record")
	}
	return v
}

// listedOnly takes what a list says of transfers of which no record was found.
func (a *adoption) listedOnly(attempts []*attempt, findings []finding, listed func(string) (ListedTransfer, bool)) {
	var made []finding
	var at []int
	for i, f := range findings {
		if one, ok := listedUnder(listed, attempts[i].refID); ok && !f.settled && !f.undue.Holds() {
			lead := attempts[i].intent
			lead.Found = true // nothing is sent under it
			made = append(made, finding{verdict: judgeListed(attempts[i].knownTransfer, one), settled: true, lead: []state.Entry{lead}})
			at = append(at, i)
		}
	}
	a.keep(made, at, findings)
}

// listedUnder asks a list for a ref_id; a nil list has none.
func listedUnder(listed func(string) (ListedTransfer, bool), refID string) (ListedTransfer, bool) {
	if listed == nil {
		return ListedTransfer{}, false
	}
	return listed(refID)
}

// newListed returns a transfer that a list has with its amount, and that nobody declares.
func newListed(run *Run, one ListedTransfer) incomplete {
	amount, _ := transfer.ParseAmount(one.Amount) // the state refuses a text that is no amount
	request := transfer.Request{RefID: one.RefID, Asset: one.Asset, Amount: amount}
	v := judgeListed(knownTransfer{refID: one.RefID, runID: run.Begun.RunID, request: request}, one)
	if v.result != ResultUnverified {
		return incomplete{request, v, errors.New(v.outcome.Reason)}
	}
	v.outcome.Reason = "nobody declares it; " + v.outcome.Reason
	return incomplete{request: request, verdict: v}
}

// holdListed leaves a doubt of which a list says that it was made: a list is somebody's one, and
// a doubt ends by a record, or by a person's word about this transfer (law 3).
func holdListed(u *unsettled, one ListedTransfer) verdict {
	v := undecided(u.knownTransfer, fmt.Sprintf("%s lists it with the group_id %s. A list settles no doubt: its record does.", one.Place, one.GroupID))
	v.next, v.idle = command(u.refID, "--recorded FILE"), true
	return v
}
