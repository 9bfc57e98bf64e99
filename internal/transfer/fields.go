package transfer

import (
	"cmp"
	"encoding/json"
	"slices"
)

// Field is one field of requests. Fields are numbers in the byte order of their names, in which
// they are written: `for f := range FieldCount` meets all of them.
type Field uint8

// The fields that a request has.
const (
	fieldAmount Field = iota
	fieldAsset
	fieldFingerprintKey
	fieldFromAccountID
	fieldFromIdentityID
	fieldFromProfileID
	fieldMetadata
	fieldOperation
	fieldRecipientMetadata
	fieldRefID
	fieldToAccountID
	fieldToIdentityID
	fieldToProfileID
	FieldCount // how many there are
)

// fields is the one list of what a request has. The body, the fingerprint, the comparison of
// requests, the packing of a plan's changes and their display are made from it, and from the places
// of values that [Request.text] and [Request.pairs] return.
var fields = [FieldCount]struct {
	member string     // its name as a body has it: `"amount":`
	role   fieldRole  // how it is read and written
	side   FieldsSide // of the movement
	moved  bool       // it is part of a twin's movement, and names no side
	needed bool       // no request goes without it
	read   int8       // its place where a person reads requests, from 1; 0 for not shown
}{
	fieldAmount:            {member: `"amount":`, role: isAmount, moved: true, needed: true, read: 9},
	fieldAsset:             {member: `"asset":`, moved: true, needed: true, read: 10},
	fieldFingerprintKey:    {member: `"fingerprint_key":`, role: isSetting},
	fieldFromAccountID:     {member: `"from_account_id":`, side: FromSide, read: 5},
	fieldFromIdentityID:    {member: `"from_identity_id":`, side: FromSide, read: 4},
	fieldFromProfileID:     {member: `"from_profile_id":`, side: FromSide, needed: true, read: 3},
	fieldMetadata:          {member: `"metadata":`, role: isMetadata, read: 11},
	fieldOperation:         {member: `"operation":`, role: isOperation, read: 1},
	fieldRecipientMetadata: {member: `"recipient_metadata":`, role: isMetadataPlatform, read: 12},
	fieldRefID:             {member: `"ref_id":`, needed: true, read: 2},
	fieldToAccountID:       {member: `"to_account_id":`, side: ToSide, read: 8},
	fieldToIdentityID:      {member: `"to_identity_id":`, side: ToSide, read: 7},
	fieldToProfileID:       {member: `"to_profile_id":`, side: ToSide, needed: true, read: 6},
}

// text is the place of the value of a field that has no pairs; nil of one that has.
func (r *Request) text(f Field) *string {
	switch f {
	case fieldAmount:
		return &r.Amount.text
	case fieldAsset:
		return &r.Asset
	case fieldFingerprintKey:
		return &r.FingerprintKey
	case fieldFromAccountID:
		return &r.FromAccountID
	case fieldFromIdentityID:
		return &r.FromIdentityID
	case fieldFromProfileID:
		return &r.FromProfileID
	case fieldOperation:
		return (*string)(&r.Operation)
	case fieldRefID:
		return &r.RefID
	case fieldToAccountID:
		return &r.ToAccountID
	case fieldToIdentityID:
		return &r.ToIdentityID
	case fieldToProfileID:
		return &r.ToProfileID
	case fieldMetadata, fieldRecipientMetadata, FieldCount:
	}
	return nil
}

// pairs is the place of the value of a field that has pairs; nil of one that has none.
func (r *Request) pairs(f Field) *Metadata {
	if f == fieldMetadata {
		return &r.Metadata
	}
	if f == fieldRecipientMetadata {
		return &r.RecipientMetadata
	}
	return nil
}

// FieldsSide says which side of a transfer a field names.
type FieldsSide uint8

// The sides.
const (
	NoSide FieldsSide = iota
	FromSide
	ToSide
)

// fieldRole says which forms of a request have a field.
type fieldRole uint8

const (
	isSent             fieldRole = iota // in the body and in the fingerprint
	isAmount                            // the same, with the shortest digits in the fingerprint
	isMetadata                          // pairs in both, with the fingerprint's pair in the body
	isMetadataPlatform                  // pairs in both, of the operation Platform only
	isOperation                         // in the fingerprint only: the path says it to the service
	isSetting                           // in neither
)

// Name is the service's name of the field, which is also that of the argument.
func (f Field) Name() string {
	member := fields[f].member
	return member[1 : len(member)-2]
}

// IsShown reports whether people see the field of a request.
func (f Field) IsShown() bool { return fields[f].read != 0 }

// Side is the side of the movement that the field names.
func (f Field) Side() FieldsSide { return fields[f].side }

// IsMovement reports whether the field is part of the movement: a party, the amount or the asset.
func (f Field) IsMovement() bool { return f.Side() != NoSide || fields[f].moved }

// HasColumn reports whether a list of transfers has a column of its own for the field: who pays
// whom how much, and under which ref_id.
func (f Field) HasColumn() bool {
	return f.IsMovement() || f == fieldOperation || f == fieldRefID
}

// HasPairs reports whether the value is pairs, and no text.
func (f Field) HasPairs() bool { return f == fieldMetadata || f == fieldRecipientMetadata }

// Text is the value of a field: an amount with its author's digits, "" of pairs.
func (r *Request) Text(f Field) string {
	if text := r.text(f); text != nil {
		return *text
	}
	return ""
}

// SetText sets the value of a field that has no pairs. It panics where an amount is none; the
// empty text is the zero Amount.
func (r *Request) SetText(f Field, text string) {
	if f == fieldAmount && text != "" {
		text = MustAmount(text).text
	}
	*r.text(f) = text
}

// Pairs is the value of a field that has pairs, nil of another.
func (r *Request) Pairs(f Field) Metadata {
	if pairs := r.pairs(f); pairs != nil {
		return *pairs
	}
	return nil
}

// AskedPairs is Pairs as far as the operation asks for them.
func (r *Request) AskedPairs(f Field) Metadata {
	if fields[f].role == isMetadataPlatform && r.Operation != Platform {
		return nil
	}
	return r.Pairs(f)
}

// SetPairs sets the value of a field that has pairs.
func (r *Request) SetPairs(f Field, pairs Metadata) { *r.pairs(f) = pairs }

// decode sets a value to that of a body.
func (r *Request) decode(f Field, raw json.RawMessage) error {
	if !f.HasPairs() {
		return json.Unmarshal(raw, r.text(f))
	}
	var pairs map[string]string
	if err := json.Unmarshal(raw, &pairs); err != nil {
		return err
	}
	r.SetPairs(f, NewMetadata(pairs))
	return nil
}

// SaysAs reports whether a field, which has no pairs, says the same in two requests: amounts are
// numbers.
func (r *Request) SaysAs(other *Request, f Field) bool {
	a, b := *r.text(f), *other.text(f)
	return a == b || f == fieldAmount && normal(a) == normal(b)
}

// ReadingOrder are the fields in the order in which people read a request, without those that
// are not shown.
func ReadingOrder() []Field {
	var shown []Field
	for f := range FieldCount {
		if f.IsShown() {
			shown = append(shown, f)
		}
	}
	slices.SortFunc(shown, func(a, b Field) int { return cmp.Compare(fields[a].read, fields[b].read) })
	return shown
}

// FieldNamed returns the field with a name; false where people see none of that name.
func FieldNamed(name string) (Field, bool) {
	for f := range FieldCount {
		if f.IsShown() && f.Name() == name {
			return f, true
		}
	}
	return 0, false
}

// FieldNames are the names of the fields that are shown, in byte order.
func FieldNames() []string {
	var names []string
	for f := range FieldCount {
		if f.IsShown() {
			names = append(names, f.Name())
		}
	}
	return names
}

// IsTwin reports whether two requests move the same amount of the same asset from the same
// sender to the same destination, in whatever spelling: what their [Twin] says in 64 bits.
func (r *Request) IsTwin(other *Request) bool {
	return r.SaysAs(other, fieldAmount) && isSameAsset(r.Asset, other.Asset) && r.HasSameParties(other)
}

// HasSameParties reports whether two requests have one sender and one destination.
func (r *Request) HasSameParties(other *Request) bool {
	for f := range FieldCount {
		if f.Side() != NoSide && !IsSameParty(*r.text(f), *other.text(f)) {
			return false
		}
	}
	return true
}

// GoesToItself reports whether the sender is the destination.
func (r *Request) GoesToItself() bool {
	for n, from := range fromFields {
		if !IsSameParty(*r.text(from), *r.text(toFields[n])) {
			return false
		}
	}
	return true
}

// Back is a request that moves the same the other way: the fields of its sides have changed places.
func (r *Request) Back() Request {
	back := *r
	for n, from := range fromFields {
		to := toFields[n]
		*back.text(from), *back.text(to) = *r.text(to), *r.text(from)
	}
	return back
}

// The fields of both sides, each at the place of its counterpart.
var (
	fromFields = [...]Field{fieldFromAccountID, fieldFromIdentityID, fieldFromProfileID}
	toFields   = [...]Field{fieldToAccountID, fieldToIdentityID, fieldToProfileID}
)
