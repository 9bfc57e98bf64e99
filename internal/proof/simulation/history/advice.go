package history

import (
	"context"
	"errors"
	"strings"

	"remit/executor"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// readAdvice is what remit status prints as the next command for each transfer that asks for a person, or
// as the remedy of a plan that can't be applied. It runs as an event.
func (p *process) readAdvice() (map[string]string, error) {
	ctx, w := context.Background(), p.world
	snapshot, err := p.journal.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	plan, err := planner.New(ctx, w.author.transfers(), snapshot, w.planControls(), p.Now())
	if err != nil {
		return nil, err
	}
	advice := make(map[string]string)
	for _, obstacle := range plan.Obstacles {
		for _, refID := range obstacle.RefIDs {
			if obstacle.Kind == planner.ObstacleConflict && obstacle.Remedy != "" { // it is about the first of them
				advice[refID] = strings.ReplaceAll(obstacle.Remedy, obstacle.RefIDs[0], refID)
			}
		}
	}
	for _, standing := range plan.StatusGroups() {
		for i := range standing.First {
			c := &standing.First[i]
			if c.Next != "" {
				advice[c.RefID] = c.Next
			} else if standing.Next != "" {
				advice[c.RefID] = strings.ReplaceAll(standing.Next, "REF_ID", c.RefID)
			}
		}
	}
	return advice, nil
}

// errNoLookup is how remit resolve without a flag ends where the service has no lookup: it names the flags.
var errNoLookup = errors.New("the service has no lookup, so only a person can say what became of it")

// heed follows the advice about a transfer, with the records that the bank's portal shows.
func (p *process) heed(ctx context.Context, advice string, r executor.Resolution, truth []transfer.Record) error {
	var err error
	switch hasRecord, isAccepted := strings.Contains(advice, "--recorded"), strings.Contains(advice, "--accept-record"); {
	case hasRecord && len(truth) == 0:
		return errors.New("there is no record to give")
	case isAccepted && hasRecord:
		_, err = executor.ResolveAcceptRecord(ctx, r, truth)
	case isAccepted:
		_, err = executor.ResolveAcceptRecord(ctx, r, nil)
	case hasRecord:
		_, err = executor.ResolveRecorded(ctx, r, truth)
	case !p.world.traits.hasLookup:
		return errNoLookup
	default:
		if _, err = p.client.Ready(ctx); err == nil {
			_, err = executor.ResolveByLookup(ctx, r, finder{p})
		}
	}
	return err
}

// asksForPerson reports whether remit status names a transfer, and so has to say what to do about it.
func asksForPerson(row state.Transfer) bool {
	return row.Status == state.InDoubt || row.Status == state.Conflict || row.Status == state.Unverified
}
