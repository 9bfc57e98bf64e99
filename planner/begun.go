package planner

import (
	"context"
	"fmt"
	"strings"

	"remit/state"
)

// Begun tells of earlier runs of a saved plan. People signed the plan's actions and totals, so these stay as they were
// reviewed; this says beside them which lines the runs began.
type Begun struct {
	RunIDs []string `json:"run_ids"`         // in the order in which they began
	Alive  bool     `json:"alive,omitempty"` // one of them goes on
	Lines  []Now    `json:"lines"`           // of the whole plan, in the order of the states; none where nothing was sent
}

// Now counts the lines of a plan that are in one state.
type Now struct {
	Status state.Status `json:"status"`
	Count  int          `json:"count"`
}

// markBegun notes the earlier runs of a plan, and the status of each line that they began.
func (p *Plan) markBegun(ctx context.Context, record History, past past) error {
	if len(past.runs) == 0 {
		return nil
	}
	begun := &Begun{RunIDs: past.order}
	if holder, isAlive := record.Holder(); isAlive {
		begun.Alive = past.runs[holder.RunID]
	}
	now := make(map[string]state.Status, len(past.own))
	for o, err := range record.Outlines(ctx) {
		if err != nil {
			return fmt.Errorf("read the recorded transfers: %w", err)
		}
		if past.own[o.RefID] && o.Status != state.Unsent { // which is as if nobody had begun it
			now[strings.Clone(o.RefID)] = o.Status
		}
	}
	counts := make(map[state.Status]int)
	if len(now) > 0 {
		var marked Changes
		for _, c := range p.Changes.All() {
			if c.Action == Submit || c.Action == Resolve {
				c.Now = now[c.RefID]
				counts[c.Now]++
			}
			marked.Add(c)
		}
		p.Changes = marked
	}
	for status := state.InDoubt; status <= state.Tombstone; status++ {
		if counts[status] > 0 {
			begun.Lines = append(begun.Lines, Now{status, counts[status]})
		}
	}
	p.Begun = begun
	return nil
}
