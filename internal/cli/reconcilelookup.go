package cli

import (
	"context"
	"errors"
	"fmt"

	"remit/executor"
	"remit/internal/accounts/reconcile"
	"remit/internal/cli/terminal"
	"remit/internal/cli/workspace"
	"remit/internal/transfer"
	"remit/state"
)

// lookupsAtOnce is how many pages of ref_ids are asked for at once, unless max_in_flight is less.
const lookupsAtOnce = 4

// lookUpAll asks the service for the ref_ids of the state, as many of them in one call as it may
// have, and some calls at once.
func lookUpAll(ctx context.Context, w *opened, snapshot state.Snapshot, into *reconcile.Reconciliation) error {
	ctx, stop := context.WithCancel(ctx)
	l := lookups{w: w, into: into, doing: w.streams.Begin("looking up"), most: max(1, min(lookupsAtOnce, w.config.Service.InFlightMax)), answers: make(chan lookup)}
	defer l.close()
	defer stop()
	refIDs := make([]string, 0, executor.FindMax)
	for row, err := range snapshot.Transfers(ctx) {
		if err != nil {
			return w.state.Error(err)
		}
		if !into.MayConcern(&row) {
			continue
		}
		if refIDs = append(refIDs, row.RefID); len(refIDs) < executor.FindMax {
			continue
		}
		if err := l.ask(ctx, refIDs); err != nil {
			return err
		}
		refIDs = make([]string, 0, executor.FindMax)
	}
	if len(refIDs) > 0 {
		if err := l.ask(ctx, refIDs); err != nil {
			return err
		}
	}
	for l.asked > 0 {
		if err := l.take(); err != nil {
			return err
		}
	}
	return nil
}

// lookups ask the service, and take in what it answers.
type lookups struct {
	w          *opened
	into       *reconcile.Reconciliation
	doing      *terminal.Step
	connection *workspace.Connection // nil until something is asked
	most       int                   // calls at once
	asked      int                   // calls that have not been taken in
	answers    chan lookup
}

// lookup is one call and its answer.
type lookup struct {
	refIDs []string
	found  map[string][]transfer.Record
	err    error
}

// close waits for the lookups under way and closes the connection.
func (l *lookups) close() {
	for ; l.asked > 0; l.asked-- {
		<-l.answers
	}
	if l.connection != nil {
		l.connection.Close()
	}
}

// ask looks up so many ref_ids as one call may. It waits only while as many calls are under way
// as may be.
func (l *lookups) ask(ctx context.Context, refIDs []string) (err error) {
	if l.connection == nil {
		if l.connection, err = l.w.service.Connect(ctx, l.most); err != nil {
			return err
		}
		if _, err := l.connection.Submitter.Ready(ctx); err != nil {
			return err
		}
	}
	if l.asked == l.most {
		if err := l.take(); err != nil {
			return err
		}
	}
	l.asked++
	go func() {
		found, err := l.connection.Finder.Find(ctx, refIDs)
		l.answers <- lookup{refIDs, found, err}
	}()
	return nil
}

// take takes in the next answer.
func (l *lookups) take() error {
	answer := <-l.answers
	l.asked--
	reasons := make(map[string]string)
	if unreadable, ok := errors.AsType[*executor.UnreadableError](answer.err); ok {
		reasons = unreadable.Reasons
	} else if answer.err != nil {
		return answer.err
	}
	for _, refID := range answer.refIDs {
		if why, isUnreadable := reasons[refID]; isUnreadable {
			if err := l.into.AddUnreadable(refID, why); err != nil {
				return err
			}
			continue
		}
		for _, record := range answer.found[refID] {
			if err := l.into.Add(record, 0); err != nil {
				return fmt.Errorf("the answer about %q: %w", refID, err)
			}
		}
	}
	l.doing.Add(len(answer.refIDs))
	return nil
}
