package planner

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"remit/config"
	"remit/internal/transfer"
	"remit/state"
)

// paidNames are the display names under which destinations were paid. They are read where something
// that has one is to be sent, and not before.
type paidNames struct {
	latest map[transfer.Destination]paidName
	others map[transfer.Destination][]string // that came before
	byName map[string]*row                   // the newest transfer under a name, by the name in small letters
}

// paidName is the name of the newest transfer to a destination that had one.
type paidName struct {
	text string
	row  *row
}

// readNames reads the names of paid destinations.
func (b *builder) readNames(ctx context.Context) (*paidNames, error) {
	all := &paidNames{
		latest: make(map[transfer.Destination]paidName), others: make(map[transfer.Destination][]string), byName: make(map[string]*row),
	}
	// A ref_id that was refused and corrected has a name of each request: the last one is of the paid transfer.
	ofRow := make(map[*row]string)
	var order []*row
	for n, err := range b.record.Names(ctx) {
		if err != nil {
			return nil, fmt.Errorf("read the display names: %w", err)
		}
		r := b.rows.find(n.RefID)
		if r == nil || !b.hasPaid(r) {
			continue
		}
		if _, isThere := ofRow[r]; !isThere {
			order = append(order, r)
		}
		ofRow[r] = n.Text
	}
	for _, r := range order {
		all.add(r, ofRow[r])
	}
	return all, nil
}

func (p *paidNames) add(r *row, text string) {
	was, known := p.latest[r.destination]
	if known && was.text != text && !slices.Contains(p.others[r.destination], was.text) {
		p.others[r.destination] = append(p.others[r.destination], was.text)
	}
	p.latest[r.destination] = paidName{text, r}
	p.byName[strings.ToLower(text)] = r
}

// find is the row of a ref_id; nil for none.
func (all *rows) find(refID string) *row {
	low, high := 0, all.len()
	for low < high {
		middle := int(uint(low+high) >> 1)
		if all.refID(all.at(middle)) < refID {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low < all.len() && all.refID(all.at(low)) == refID {
		return all.at(low)
	}
	return nil
}

const (
	otherNameDetail    = "paid before under another name, "
	otherAccountDetail = "this name was paid before at another destination"
)

// nameSignals says whether a transfer that is to be made goes to a destination that was paid under other
// names alone, or is the first to its destination under a name that was paid elsewhere.
func (b *builder) nameSignals(ctx context.Context, t *config.Transfer, isFirst bool) ([]Signal, error) {
	if b.isAlone() || b.word != nil && b.word.isErased {
		return b.word.saysNamed(isFirst), nil
	}
	if b.rows.len() == 0 {
		return nil, nil
	}
	if b.names == nil {
		names, err := b.readNames(ctx)
		if err != nil {
			return nil, err
		}
		b.names = names
	}
	to := t.Request.Destination()
	before, known := b.names.latest[to]
	switch {
	case !known && isFirst:
		if elsewhere := b.names.byName[strings.ToLower(t.DisplayName)]; elsewhere != nil {
			return []Signal{{Kind: OtherAccount, RefID: b.rows.refID(elsewhere), Detail: otherAccountDetail}}, nil
		}
		return nil, nil
	case !known || before.text == t.DisplayName || slices.Contains(b.names.others[to], t.DisplayName):
		return nil, nil
	}
	return []Signal{{Kind: OtherName, RefID: b.rows.refID(before.row), Detail: otherNameDetail + strconv.Quote(before.text)}}, nil
}

// saysNamed takes from the line whether its destination had another name, or its name another destination.
func (w *word) saysNamed(isFirst bool) []Signal {
	for _, s := range w.line.Signals {
		if s.Kind == OtherAccount && isFirst {
			return []Signal{{Kind: OtherAccount, RefID: s.RefID, Detail: otherAccountDetail}}
		}
		quoted, found := strings.CutPrefix(s.Detail, otherNameDetail)
		if s.Kind != OtherName || isFirst || !found {
			continue
		}
		if name, err := strconv.Unquote(quoted); err == nil && transfer.CheckDisplayName(name) == nil {
			return []Signal{{Kind: OtherName, RefID: s.RefID, Detail: otherNameDetail + strconv.Quote(name)}}
		}
	}
	return nil
}

// Names implements [Record]: those that came before the plan.
func (t *then) Names(ctx context.Context) iter.Seq2[state.Name, error] {
	return func(yield func(state.Name, error) bool) {
		for n, err := range t.History.Names(ctx) {
			if err == nil && n.Seq > t.meta.Serial {
				return
			}
			if !yield(n, err) {
				return
			}
		}
	}
}

// Names implements [Record]: the lines of a saved plan have them.
func (s *said) Names(context.Context) iter.Seq2[state.Name, error] {
	return func(func(state.Name, error) bool) {}
}
