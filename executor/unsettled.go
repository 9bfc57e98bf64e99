package executor

import (
	"context"
	"fmt"

	"remit/internal/doubt"
	"remit/internal/transfer"
	"remit/state"
)

// unsettled is a transfer in doubt.
type unsettled struct {
	knownTransfer
	intent     state.Intent      // of this run, with the recorded request
	dated      state.Intent      // the first one of that request
	firstBy    string            // the run of that
	unreadable string            // why its request can't be compared; "" where it can
	unread     string            // why what an export has of it can't be read, as the state has it; "" for no such thing
	kept       []transfer.Record // of its other side, as [keptSides] has it
	undue      doubt.Hold        // why it must not be sent again, as its latest lookup has it
}

func newUnsettled(d state.Detail, runID string, settings Settings) *unsettled {
	u := &unsettled{intent: d.Intent, dated: d.Intent, firstBy: d.Intent.RunID, unread: d.Unread(), kept: keptSides(d)}
	u.intent.RunID, u.intent.Found, u.intent.AfterMS, u.intent.Clocks = runID, false, 0, state.Clocks{}
	u.knownTransfer = knownTransfer{
		refID: d.RefID, runID: runID,
		first: d.IntendedAt, earlier: !d.Intent.Found, found: d.Intent.Found, doubted: true,
		operator: settings.Operator, since: sent{at: d.IntendedAt},
	}
	if d.IsListed() {
		u.group, u.found, u.earlier = d.GroupID, true, false
		u.alone = d.Intent.Body == ""
	}
	if u.alone {
		u.request = transfer.Request{RefID: d.RefID, Asset: d.Asset, Amount: d.Amount}
		return u
	}
	request, err := transfer.ParseRequest(d.Intent.Operation, []byte(d.Intent.Body), settings.FingerprintKey)
	if err != nil {
		u.unreadable = fmt.Sprintf("Its recorded request cannot be read: %v.", err)
		request = transfer.Request{RefID: d.RefID, Asset: d.Asset, Amount: d.Amount}
	}
	u.request = request
	return u
}

func refIDs(list []*unsettled) []string {
	ids := make([]string, len(list))
	for i, u := range list {
		ids[i] = u.refID
	}
	return ids
}

// learnClocks notes of each doubt the clocks at its first intent, as the runs of then kept them.
func learnClocks(ctx context.Context, clocks *timekeeper, snapshot state.Snapshot, begun *state.Begun, doubts []*unsettled) error {
	runIDs := make([]string, len(doubts))
	for i, u := range doubts {
		runIDs[i] = u.firstBy
	}
	runs, err := clocks.ofRuns(ctx, snapshot, begun, runIDs)
	if err != nil {
		return err
	}
	for _, u := range doubts {
		u.since.clocks = u.dated.ClocksIn(runs[u.firstBy])
	}
	return nil
}

// adviser says how a transfer in doubt is settled, as far as the service block decides that.
type adviser struct {
	canLookUp bool
	holds     bool // never send a doubt again
}

// hold returns the verdict on a doubt that this run leaves to a lookup or to a person.
func (a adviser) hold(u *unsettled, why doubt.Hold) verdict {
	return a.advise(undecided(u.knownTransfer, why.Text()), doubt.Doubt{Hold: why})
}

// advise adds to a verdict in doubt what an apply does about it, and the command for a person.
func (a adviser) advise(v verdict, u doubt.Doubt) verdict {
	u.RefID, u.CanLookUp = v.outcome.RefID, a.canLookUp
	if !u.Hold.Holds() && a.holds {
		u.Hold = doubt.OnDoubt()
	}
	v.advice, v.next, v.idle = u.Advice(), u.Next(), u.IsIdle()
	if v.outcome.Reason == u.Hold.Text() {
		v.advice = u.Plan()
	}
	return v
}
