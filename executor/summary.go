package executor

import (
	"github.com/zclconf/go-cty/cty"

	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// Summary says how a run ended. A partial run is a value, not an error.
type Summary struct {
	RunID       string // "" where no run began
	Totals      map[Result]*transfer.Totals
	Exceptions  []Event // EventSettled of all that is neither recorded nor adopted, at most 1,000
	Complete    bool    // every line of the plan has an outcome
	Interrupted bool
	Stopped     string // why nothing new was started; "" where nothing stopped the run

	// StoppedSound says that the journal was sound when the run stopped: the service, a refusal, a conflict, a person
	// or another runner stopped it, whatever became of the journal later.
	StoppedSound bool

	Out      bool   // the latest attempts made nothing: nobody could be reached, or the service processed nothing
	Requests int    // that began, retries included: 0 means that nothing was sent
	Head     string // hash of the newest event; "" where it could not be read

	// Untaken is how many of those in conflict the state keeps nothing of, neither under their ref_ids nor, as
	// far as their records' ids say, under others.
	Untaken int

	// Idle is how many of those in doubt or not attempted another apply would not go on with: those
	// that expired meanwhile, and dependents of failed ones.
	Idle int

	// Standing is how many of those not attempted an import leaves as they are, since they wait or have
	// expired.
	Standing int

	Unfinished int        // recorded, adopted or unverified ones that are neither COMPLETED nor FAILED
	Unknown    Unknown    // of these, by status
	Waited     *Refreshed // how these ended under Policy.WaitFinal; nil elsewhere

	// Runners are those that carried the run out, where there were several. Totals are of all of
	// them, and Exceptions are this one's.
	Runners []state.Runner
	// Left says that this runner ended and others go on: Totals are of what it did itself.
	Left bool
}

// Refreshed says how a refresh ended, of the transfers that were recorded and neither COMPLETED nor
// FAILED. Each is counted once in Completed, Failed,
// Conflicts, Refused or Pending. Those that were looked up again are in Again, and with news in Conflicts or Refused.
type Refreshed struct {
	Completed transfer.Totals // now
	Failed    transfer.Totals // now: a late failure
	Conflicts transfer.Totals // now: a record that contradicts the stored one
	Refused   transfer.Totals // still PENDING in the state, which takes the service's word from a person alone
	Pending   transfer.Totals // still

	Again        transfer.Totals // looked up again: FAILED, or COMPLETED without their credit sides
	AgainUnasked int             // of Again: could not be looked up
	AgainCounted int             // of Again: in Conflicts or Refused as well
	CreditFailed int             // of Completed and of Again: the credit side FAILED, and nobody has accepted that
	UnknownNow   int             // of Pending: the service calls them now by a status that its document does not list

	// Of Pending:
	Unknown    Unknown  // their status is neither PENDING nor another one that the document lists
	Absent     int      // not listed, which says nothing: lists lag
	Unreadable int      // the service lists something of them that can't be read
	Unasked    int      // could not be looked up
	Named      []string // the first 20 ref_ids of them, in byte order

	Interrupted bool
	Head        string // hash of the newest event; "" where it could not be read
}

// pendingWord names the status of those of Pending.
func (r *Refreshed) pendingWord() string {
	if r.Unknown.Count() > 0 {
		return "neither COMPLETED nor FAILED"
	}
	return string(transfer.Pending)
}

// Asked returns how many transfers the refresh was about, without those that were looked up again.
func (r *Refreshed) Asked() int {
	n := 0
	for _, t := range []*transfer.Totals{&r.Completed, &r.Failed, &r.Conflicts, &r.Refused, &r.Pending} {
		n += t.Count()
	}
	return n - r.AgainCounted
}

// Value returns the end of the run as an expression sees it, under the name outcomes: an object with
// the count and totals of each result, and the exceptions by ref_id.
func (s *Summary) Value() cty.Value {
	value := map[string]cty.Value{}
	for _, result := range Results() {
		totals := transfer.Totals{}
		if t := s.Totals[result]; t != nil {
			totals = *t
		}
		value[string(result)] = planner.TotalsValue(totals)
	}
	exceptions := map[string]cty.Value{}
	for _, e := range s.Exceptions {
		exceptions[e.RefID] = exceptionValue(e)
	}
	value["exceptions"] = cty.MapValEmpty(exceptionValue(Event{}).Type())
	if len(exceptions) > 0 {
		value["exceptions"] = cty.MapVal(exceptions)
	}
	return cty.ObjectVal(value)
}

func exceptionValue(e Event) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{
		"result": cty.StringVal(string(e.Result)), "reason": cty.StringVal(e.Reason),
	})
}
