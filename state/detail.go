package state

import "fmt"

// NewDetail puts together the detail of one ref_id: its row, and the events that the row
// names as IntentSeq and OutcomeSeq, nil where they are 0. It is an error if an event is not
// the one that is named.
func NewDetail(t Transfer, intent, outcome *Event) (Detail, error) {
	d := Detail{Transfer: t, Intent: Intent{RefID: t.RefID}}
	if t.IntentSeq != 0 {
		entry, err := entryOf[Intent](t, t.IntentSeq, intent)
		if err != nil {
			return Detail{}, err
		}
		d.Intent = entry
	}
	if t.OutcomeSeq != 0 {
		entry, err := entryOf[Outcome](t, t.OutcomeSeq, outcome)
		if err != nil {
			return Detail{}, err
		}
		d.Outcome = &entry
	}
	return d, nil
}

func entryOf[E Entry](t Transfer, seq int64, e *Event) (E, error) {
	var none E
	if e == nil || e.Seq != seq || e.RefID != t.RefID {
		return none, fmt.Errorf("ref_id %q: event %d is missing: %w", t.RefID, seq, ErrDamaged)
	}
	entry, err := e.Entry()
	if err != nil {
		return none, err
	}
	typed, ok := entry.(E)
	if !ok {
		return none, fmt.Errorf("ref_id %q: event %d is of kind %q: %w", t.RefID, seq, e.Kind, ErrDamaged)
	}
	return typed, nil
}
