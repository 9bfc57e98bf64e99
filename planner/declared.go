package planner

import (
	"cmp"
	"context"
	"fmt"
	"iter"

	"remit/config"
)

// UndeclaredError says that a saved plan is not of the files at hand: a line of it is not declared
// there, or otherwise.
type UndeclaredError struct {
	RefID string
	Place string // of the line, as the plan has it
	// The field that differs, such as "the amount"; "" where the files have no such ref_id.
	What     string
	Said     string // in the plan
	Declared string // in the files
	How      string // in the place of What, Said and Declared: what the files say, as a clause
}

// Error names the line.
func (e *UndeclaredError) Error() string {
	if e.How != "" {
		return fmt.Sprintf("the files here declare %q otherwise than the plan: %s", e.RefID, e.How)
	}
	if e.What == "" {
		text := fmt.Sprintf("the files here do not declare %q", e.RefID)
		if e.Place != "" {
			text += ", which the plan has at " + e.Place
		}
		return text
	}
	return fmt.Sprintf("the files here declare %q otherwise than the plan: %s is %s in the plan, and %s in the files", e.RefID, e.What, e.Said, e.Declared)
}

// CompareDeclared holds a saved plan against the files at hand: each declared line of it, whatever its
// action, must be declared there, with the same fingerprint and the same of what the plan says of the
// declaration, places apart; so must what the plan calls declared and has no line for. The error is
// an *[UndeclaredError] about the first line, in the order of the plan, of which that is not so. Of a line that is sent, the rules for when
// it may be are held against the files as well: see [Plan.OtherThanDeclared]. Where the record is nil, dependencies are not.
func (p *Plan) CompareDeclared(ctx context.Context, declared iter.Seq[config.Transfer], record Record) error {
	find := p.Changes.Find()
	a := newAgreement(p)
	seen := make([]bool, p.Changes.Len())
	other := make(map[int]*UndeclaredError)
	kept := make(map[string]*Kept)
	for i := range p.Kept {
		kept[p.Kept[i].RefID] = &p.Kept[i]
	}
	var keptOther *UndeclaredError
	for t := range declared {
		a.join(&t)
		if k := kept[t.Request.RefID]; k != nil {
			delete(kept, k.RefID)
			if e := k.compareDeclared(&t); e != nil && keptOther == nil {
				keptOther = e
			}
		}
		n, ok := find(t.Request.RefID)
		if !ok {
			continue
		}
		seen[n] = true
		line := p.Changes.At(n)
		if e := line.compareDeclared(&t, p.Header.FormatVersion); e != nil {
			other[n] = e
			continue
		}
		if how := a.see(&line, &t); how != "" && p.Header.FormatVersion > 0 {
			other[n] = &UndeclaredError{RefID: line.RefID, How: how}
		}
	}
	for i, c := range p.Changes.All() {
		switch {
		case other[i] != nil:
			return other[i]
		case c.Declared() && !seen[i]:
			return &UndeclaredError{RefID: c.RefID, Place: c.Place}
		}
	}
	for i := range p.Kept {
		if k := &p.Kept[i]; kept[k.RefID] != nil {
			return &UndeclaredError{RefID: k.RefID}
		}
	}
	if keptOther != nil {
		return keptOther
	}
	if record == nil || p.Header.FormatVersion == 0 || ctx.Err() != nil {
		return nil
	}
	refID, how, err := a.unmet(ctx, record)
	if how != "" {
		return &UndeclaredError{RefID: refID, How: how}
	}
	return err
}

// compareDeclared names the first difference between a line and its declaration; nil for none. A
// plan of 0.1.0 says less.
func (c *Change) compareDeclared(t *config.Transfer, version int) *UndeclaredError {
	if !c.Declared() {
		return &UndeclaredError{RefID: c.RefID, What: "whether it is declared", Said: "no", Declared: "yes"}
	}
	if e := differsFrom(c.RefID, c.declared(), t); e != nil || version == 0 {
		return e
	}
	said := c.declared()
	for _, field := range []struct{ name, said, here string }{
		{"the address", said.Address, t.Address},
		{"the batch", said.Batch, t.Batch},
		{"the display name", said.DisplayName, t.DisplayName},
		{"whether the ref_id is a label", fmt.Sprint(said.FromLabel), fmt.Sprint(t.FromLabel)},
		{"expires", timeText(said.Expires), timeText(t.Expires)},
		{"reverses", said.Reverses, t.Reverses},
		{"duplicate_within", said.DuplicateWithin.String(), c.onlyOf(Submit, t.DuplicateWithin.String(), "0s")},
		{"accept_duplicate_of", fmt.Sprintf("%q", said.AcceptDuplicateOf), c.onlyOf(Submit, fmt.Sprintf("%q", t.AcceptDuplicateOf), "[]")},
		{"the date of the schedule", occurrenceFields(said.Occurrence), c.unless(Expired, occurrenceFields(t.Occurrence), "none")},
	} {
		if field.said != field.here {
			return &UndeclaredError{RefID: c.RefID, What: field.name, Said: orNothing(field.said), Declared: orNothing(field.here)}
		}
	}
	return nil
}

func orNothing(text string) string { return cmp.Or(text, "nothing") }

// onlyOf is text where the line has an action, whose lines alone say it, and else without.
func (c *Change) onlyOf(action Action, text, without string) string {
	if c.Action == action {
		return text
	}
	return without
}

// unless is text but where the line has an action, whose lines do not say it.
func (c *Change) unless(action Action, text, without string) string {
	if c.Action == action {
		return without
	}
	return text
}

// compareDeclared is the same for a transfer without a line: the plan has the request of each one that is not recorded.
func (k *Kept) compareDeclared(t *config.Transfer) *UndeclaredError {
	if k.Request == nil {
		return nil
	}
	return differsFrom(k.RefID, k.declared(*k.Request), t)
}

// differsFrom names the first field in which two requests of one ref_id differ.
func differsFrom(refID string, said config.Transfer, here *config.Transfer) *UndeclaredError {
	if said.Request.Fingerprint() == here.Request.Fingerprint() {
		return nil
	}
	e := &UndeclaredError{RefID: refID, What: "the fingerprint", Said: said.Request.Fingerprint().String(), Declared: here.Request.Fingerprint().String()}
	if all := Differences(said.Request, here.Request); len(all) > 0 {
		e.What, e.Said, e.Declared = "the "+all[0].Field, fmt.Sprintf("%q", all[0].Asked), fmt.Sprintf("%q", all[0].Answered)
	}
	return e
}

// occurrenceFields is all that a plan says of a schedule's date.
func occurrenceFields(o *config.Occurrence) string {
	if o == nil {
		return "none"
	}
	return fmt.Sprintf("%s, due at %s, with a catch_up of %v", occurrenceText(o), o.Due.UTC(), o.CatchUp)
}
