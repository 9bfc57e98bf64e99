package executor

import (
	"context"
	"fmt"
	"iter"

	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// Rows are what [SettledBefore] reads of a state; a [state.Snapshot] is one.
type Rows interface {
	Transfers(ctx context.Context) iter.Seq2[state.Transfer, error]
}

// SettledBefore is how the lines of a whole plan ended of which nothing is left to do, as the rows have it; left is nil
// where that is all of them. A run that
// carries out the rest adds it to its own end, see [Summary.Add].
func SettledBefore(ctx context.Context, whole, left *planner.Plan, rows Rows) (Summary, error) {
	s := Summary{Totals: make(map[Result]*transfer.Totals)}
	settled := make(map[string]transfer.Request)
	for _, change := range newLines(whole, isSent).all() {
		settled[change.RefID] = change.Request
	}
	if left != nil {
		for _, change := range newLines(left, isSent).all() {
			delete(settled, change.RefID)
		}
	}
	for row, err := range rows.Transfers(ctx) {
		if err != nil {
			return s, fmt.Errorf("read the recorded transfers: %w", err)
		}
		if request, ok := settled[row.RefID]; ok {
			s.settledBefore(&request, row)
		}
	}
	return s, nil
}

func (s *Summary) settledBefore(request *transfer.Request, row state.Transfer) {
	result := resultOf(row.Status, row.RecordStatus)
	if s.Totals[result] == nil {
		s.Totals[result] = new(transfer.Totals)
	}
	s.Totals[result].AddRequest(request)
	if row.Status.Made() && !row.IsListed() && !row.RecordStatus.Final() {
		s.Unfinished++
		s.Unknown.add(row.RecordStatus, 1)
	}
	if result != ResultRecorded && result != ResultAdopted && len(s.Exceptions) < exceptionsMax {
		s.Exceptions = append(s.Exceptions, Event{
			Time: row.SettledAt, Type: EventSettled, RefID: row.RefID, Group: row.GroupID, Result: result,
			Reason: "The state has it so since before its server went away.", Amount: row.Amount, Asset: row.Asset,
		})
	}
}

// Add counts in s what ended before it of the same plan.
func (s *Summary) Add(before Summary) {
	for result, totals := range before.Totals {
		if s.Totals[result] == nil {
			s.Totals[result] = new(transfer.Totals)
		}
		s.Totals[result].Merge(*totals)
	}
	s.Exceptions = append(before.Exceptions, s.Exceptions...)
	s.Exceptions = s.Exceptions[:min(len(s.Exceptions), exceptionsMax)]
	s.Requests += before.Requests
	s.Unfinished += before.Unfinished
	s.Unknown.merge(before.Unknown)
}
