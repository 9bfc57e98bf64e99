package transfer

import (
	"cmp"
	"encoding/json"
	"slices"
)

// FieldCount is how many fields a request has.
const FieldCount = 13

// Field is one field of a request: its name, where its value stands, and what the value is for.
// It refers to the request of which it was asked for.
type Field struct {
	member string     // its name as it stands in a body: `"amount":`
	text   *string    // nil where the value is pairs
	pairs  *Metadata  // nil where the value is a text
	role   fieldRole  // what reads and writes it
	read   int8       // its place where a person reads requests, from 1; 0 for not shown
	side   FieldsSide // of the movement
	// isMoved says that the field, which names no side, is part of what makes twins.
	isMoved bool
}

// FieldsSide says which side of a transfer a field names.
type FieldsSide uint8

// The sides.
const (
	NoSide FieldsSide = iota
	FromSide
	ToSide
)

// fieldRole says in which forms of a request a field stands.
type fieldRole uint8

const (
	isSent         fieldRole = iota // in the body and in the fingerprint
	isAmount                        // the same, with the shortest digits in the fingerprint
	isMetadata                      // the same, with the fingerprint's pair in the body
	isSentPlatform                  // the same as isSent, of the operation Platform only
	isOperation                     // in the fingerprint only: the path says it to the service
	isSetting                       // in neither
)

// Fields is the one list of what a request has. The body, the fingerprint, the comparison of
// requests, what packs a plan's changes and what shows them are made from it, so that a field
// needs one line here. It is in the byte order of the names, in which they are written.
func (r *Request) Fields() [FieldCount]Field {
	return [...]Field{
		{member: `"amount":`, text: &r.Amount.text, role: isAmount, isMoved: true, read: 9},
		{member: `"asset":`, text: &r.Asset, isMoved: true, read: 10},
		{member: `"fingerprint_key":`, text: &r.FingerprintKey, role: isSetting},
		{member: `"from_account_id":`, text: &r.FromAccountID, side: FromSide, read: 5},
		{member: `"from_identity_id":`, text: &r.FromIdentityID, side: FromSide, read: 4},
		{member: `"from_profile_id":`, text: &r.FromProfileID, side: FromSide, read: 3},
		{member: `"metadata":`, pairs: &r.Metadata, role: isMetadata, read: 11},
		{member: `"operation":`, text: (*string)(&r.Operation), role: isOperation, read: 1},
		{member: `"recipient_metadata":`, pairs: &r.RecipientMetadata, role: isSentPlatform, read: 12},
		{member: `"ref_id":`, text: &r.RefID, read: 2},
		{member: `"to_account_id":`, text: &r.ToAccountID, side: ToSide, read: 8},
		{member: `"to_identity_id":`, text: &r.ToIdentityID, side: ToSide, read: 7},
		{member: `"to_profile_id":`, text: &r.ToProfileID, side: ToSide, read: 6},
	}
}

// Name is the service's name of the field, which is also that of the argument.
func (f *Field) Name() string { return f.member[1 : len(f.member)-2] }

// IsShown reports whether people see the field of a request.
func (f *Field) IsShown() bool { return f.read != 0 }

// Side is the side of the movement that the field names.
func (f *Field) Side() FieldsSide { return f.side }

// HasColumn reports whether a list of transfers has a column of its own for the field: who pays
// whom how much, and under which ref_id.
func (f *Field) HasColumn() bool {
	return f.side != NoSide || f.isMoved || f.role == isOperation || f.member == `"ref_id":`
}

// HasPairs reports whether the value is pairs, and no text.
func (f *Field) HasPairs() bool { return f.pairs != nil }

// Text is the value: an amount with its author's digits, "" of pairs.
func (f *Field) Text() string {
	if f.text == nil {
		return ""
	}
	return *f.text
}

// SetText sets the value of a field that has no pairs. It panics where an amount is none; the
// empty text is the zero Amount.
func (f *Field) SetText(text string) {
	if f.role == isAmount && text != "" {
		text = MustAmount(text).text
	}
	*f.text = text
}

// Pairs is the value of a field that has pairs, nil of another.
func (f *Field) Pairs() Metadata {
	if f.pairs == nil {
		return nil
	}
	return *f.pairs
}

// PairsFor is Pairs as far as they are asked for of an operation.
func (f *Field) PairsFor(op Operation) Metadata {
	if f.role == isSentPlatform && op != Platform {
		return nil
	}
	return f.Pairs()
}

// SetPairs sets the value of a field that has pairs.
func (f *Field) SetPairs(pairs Metadata) { *f.pairs = pairs }

// decode sets the value to that of a body.
func (f *Field) decode(raw json.RawMessage) error {
	if f.pairs == nil {
		return json.Unmarshal(raw, f.text)
	}
	var pairs map[string]string
	if err := json.Unmarshal(raw, &pairs); err != nil {
		return err
	}
	*f.pairs = NewMetadata(pairs)
	return nil
}

// SaysAs reports whether a field of a request says what it says of another, in a text: amounts
// are numbers.
func (f *Field) SaysAs(other *Field) bool {
	return *f.text == *other.text || f.role == isAmount && normal(*f.text) == normal(*other.text)
}

// ReadingOrder are the fields in the order in which people read a request, without those that
// are not shown.
func (r *Request) ReadingOrder() []Field {
	all := r.Fields()
	shown := slices.DeleteFunc(all[:], func(f Field) bool { return f.read == 0 })
	slices.SortFunc(shown, func(a, b Field) int { return cmp.Compare(a.read, b.read) })
	return shown
}

// Field returns the field with a name; false where no request has it.
func (r *Request) Field(name string) (Field, bool) {
	all := r.Fields()
	for i := range all {
		if all[i].read != 0 && all[i].Name() == name {
			return all[i], true
		}
	}
	return Field{}, false
}

// FieldNames are the names of the fields that are shown, in byte order.
func FieldNames() []string {
	var r Request
	var names []string
	for _, f := range r.Fields() {
		if f.read != 0 {
			names = append(names, f.Name())
		}
	}
	return names
}

// IsTwin reports whether two requests move the same amount of the same asset from the same
// sender to the same destination, in whatever letters: what their [Twin] says in 64 bits.
func (r *Request) IsTwin(other *Request) bool { return r.isSame(other, true) }

// HasSameParties reports whether two requests have one sender and one destination.
func (r *Request) HasSameParties(other *Request) bool { return r.isSame(other, false) }

// isSame compares the parties, and of a movement what is moved as well.
func (r *Request) isSame(other *Request, movement bool) bool {
	a, b := r.Fields(), other.Fields()
	for i := range a {
		if (a[i].side != NoSide || movement && a[i].isMoved) && !a[i].SaysAs(&b[i]) &&
			(!a[i].isSpelled() || a[i].spelled() != b[i].spelled()) {
			return false
		}
	}
	return true
}

// GoesToItself reports whether the sender is the destination.
func (r *Request) GoesToItself() bool {
	back := r.Back()
	return r.HasSameParties(&back)
}

// Back is a request that moves the same the other way: the fields of its sides have changed
// places, the first of the one with the first of the other.
func (r *Request) Back() Request {
	back := *r
	here, there := r.Fields(), back.Fields()
	to := 0
	for from := range here {
		if here[from].side != FromSide {
			continue
		}
		for here[to].side != ToSide {
			to++
		}
		*there[from].text, *there[to].text = *here[to].text, *here[from].text
		to++
	}
	return back
}
