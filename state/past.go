package state

import (
	"context"
	"fmt"
	"slices"
)

// Past is a snapshot that can be asked for its rows at an earlier event: events are never rewritten.
type Past struct{ Snapshot }

// pastScan is of how many ref_ids the whole journal is read, and not the events of each.
const pastScan = 500

// Then returns the rows of ref_ids as they were when the journal's newest event had the given number, in
// the order in which they are asked for, without those that were not known.
func (p Past) Then(ctx context.Context, serial int64, refIDs ...string) ([]Detail, error) {
	known := make(map[string]*pastOf, len(refIDs))
	for _, refID := range refIDs {
		known[refID] = new(pastOf)
	}
	asked := refIDs
	if len(refIDs) > pastScan {
		asked = []string{""}
	}
	for _, refID := range asked {
		for event, err := range p.Events(ctx, 0, refID) {
			if err != nil {
				return nil, fmt.Errorf("read the events of the past: %w", err)
			}
			if event.Seq > serial {
				break
			}
			if of := known[event.RefID]; of != nil && event.RefID != "" {
				if err := of.apply(event); err != nil {
					return nil, fmt.Errorf("read event %d: %w", event.Seq, err)
				}
			}
		}
	}
	var details []Detail
	for _, refID := range refIDs {
		of := known[refID]
		if of.row.Status == 0 {
			continue
		}
		d, err := NewDetail(of.row, of.event(of.row.IntentSeq), of.event(of.row.OutcomeSeq))
		if err != nil {
			return nil, err
		}
		details = append(details, d)
	}
	return details, nil
}

// pastOf folds the events of one ref_id.
type pastOf struct {
	row    Transfer
	events []Event // that the row may name
}

func (p *pastOf) apply(e Event) error {
	draft, err := e.Draft()
	if err != nil {
		return err
	}
	if p.row, err = p.row.Apply(draft, e.Seq, e.Time); err != nil {
		return err
	}
	p.events = append(p.events, e)
	p.events = slices.DeleteFunc(p.events, func(e Event) bool { return e.Seq != p.row.IntentSeq && e.Seq != p.row.OutcomeSeq })
	return nil
}

// event is the one with a number; nil where it is none.
func (p *pastOf) event(seq int64) *Event {
	for i := range p.events {
		if p.events[i].Seq == seq {
			return &p.events[i]
		}
	}
	return nil
}
