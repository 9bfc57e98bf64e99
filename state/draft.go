package state

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"remit/internal/transfer"
)

// Draft is an entry made ready for the journal: checked by itself, encoded and parsed as far as
// applying it needs, so that applying it is cheap. It is not to be changed.
type Draft struct {
	Entry Entry
	Data  json.RawMessage // as the journal has it

	request request // of an Intent
	record  record  // of an Outcome that stores a record, or what a list says in its place
}

// ClaimsGroup is the group_id that the entry calls recorded or adopted: no other transfer of the state
// may have it, unless a person accepts that. It is "" where the entry says no such thing.
func (d Draft) ClaimsGroup() string {
	o, ok := d.Entry.(Outcome)
	if !ok || o.Status != Recorded && o.Status != Adopted || o.Listed != nil || d.record.status == transfer.Failed || o.accepts("group_id") {
		return ""
	}
	return d.record.groupID
}

// RecordID is the service's id of the record that the entry stores, "" where it stores none.
func (d Draft) RecordID() string { return d.record.id }

// GroupID is the group_id that the entry stores, "" where it stores none.
func (d Draft) GroupID() string { return d.record.groupID }

// request is what a row needs of an intent.
type request struct {
	digest      RequestDigest
	fingerprint transfer.Fingerprint
	twin        transfer.Twin
	destination transfer.Destination
	asset       string
	amount      transfer.Amount
}

// record is what a row, and the state, need of the deciding record, or of what a list says in
// its place: that has a group_id, and perhaps an asset and an amount, alone.
type record struct {
	id, customerID, groupID, refID string
	status                         transfer.RecordStatus
	asset, amount                  string
	isListed                       bool
	sharesID                       bool // a person accepts that another transfer's record has the id
	shortcomings                   []transfer.Difference
}

// RequestDigest stands for the operation, the path and the body of a request: the first 16
// bytes of a SHA-256 over all three. Two requests with one digest are the same bytes.
type RequestDigest [16]byte

// NewDraft checks what an entry must say whatever the state is, and encodes it. An error is
// a mistake of the caller, and the entry cannot be appended:
//
//   - an Intent names its run, and its body is the request of its ref_id with its fingerprint;
//   - an Outcome that says recorded, adopted or unverified carries the deciding record first,
//     whole as the service's document asks (docs/openapi.yaml, Transfer), and, unless a person accepts it,
//     with no other ref_id in it;
//   - an Outcome that has a list's word in place of records is an import's that says unverified
//     or conflict, or a person's that says adopted;
//   - an Outcome of a person says who and why; only a person says tombstone;
//   - runs and states are named.
func NewDraft(entry Entry) (Draft, error) {
	var err error
	switch e := entry.(type) {
	case Created:
		err = named("lineage", e.Lineage, "environment", e.Environment, "base_url", e.Service.BaseURL)
	case Begun:
		err = named("run_id", e.RunID)
	case Ended:
		err = named("run_id", e.RunID)
	case Intent:
		err = e.check()
	case Outcome:
		err = e.check()
	case Unlocked:
		err = named("reason", e.Reason)
	case Rebound:
		err = named("reason", e.Reason, "base_url", e.After.BaseURL)
	case ClockConfirmed:
		err = e.check()
	case Asked:
		err = named("about", e.About, "reason", e.Reason)
	case Erased:
		err = e.check()
	default:
		panic(fmt.Sprintf("%T is no entry of a journal", entry))
	}
	if err != nil {
		return Draft{}, fmt.Errorf("write %s: %w", entry.Kind(), err)
	}
	data, err := encode(entry)
	if err != nil {
		return Draft{}, err
	}
	d, err := newDraft(entry, data)
	if o, ok := entry.(Outcome); ok && err == nil {
		err = o.checkRecord(d.record)
	}
	if err != nil {
		return Draft{}, fmt.Errorf("write %s: %w", entry.Kind(), err)
	}
	return d, nil
}

// Draft decodes an event of a journal, so that it can be applied again.
func (e Event) Draft() (Draft, error) {
	entry, err := e.Entry()
	if err != nil {
		return Draft{}, err
	}
	return e.DraftOf(entry)
}

// DraftOf is [Event.Draft] where the payload was decoded before.
func (e Event) DraftOf(entry Entry) (Draft, error) {
	d, err := newDraft(entry, e.Data)
	if err != nil {
		return Draft{}, fmt.Errorf("read event %d: %w", e.Seq, err)
	}
	return d, nil
}

func newDraft(entry Entry, data json.RawMessage) (Draft, error) {
	d := Draft{Entry: entry, Data: data}
	var err error
	switch e := entry.(type) {
	case Intent:
		d.request, err = e.parse()
	case Outcome:
		switch {
		case e.Listed != nil:
			d.record = record{groupID: e.Listed.GroupID, asset: e.Listed.Asset, amount: e.Listed.Amount, isListed: true}
		case e.Status.Made():
			d.record, err = e.parse()
		}
	case Created, Begun, Ended, Unlocked, Rebound, ClockConfirmed, Asked, Erased:
	}
	return d, err
}

func named(pairs ...string) error {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			return fmt.Errorf("its %s is missing", pairs[i])
		}
	}
	return nil
}

func (i Intent) check() error {
	if err := transfer.CheckRefID(i.RefID); err != nil {
		return fmt.Errorf("ref_id %q %w", i.RefID, err)
	}
	if err := named("run_id", i.RunID); err != nil {
		return err
	}
	switch {
	case !i.Operation.Known():
		return fmt.Errorf("unknown operation %q", i.Operation)
	case !strings.HasPrefix(i.Path, "/"):
		return fmt.Errorf("path %q does not begin with a slash", i.Path)
	case !utf8.ValidString(i.Body):
		return errors.New("the body is not valid UTF-8 and would not be kept byte for byte")
	case i.DisplayName != "":
		if err := transfer.CheckDisplayName(i.DisplayName); err != nil {
			return fmt.Errorf("the display name %w", err)
		}
	}
	return nil
}

// parse reads the body and holds it against the ref_id and the fingerprint that the intent
// claims for it.
func (i Intent) parse() (request, error) {
	r, err := transfer.ParseRequest(i.Operation, []byte(i.Body), "")
	if err != nil {
		return request{}, fmt.Errorf("intent of %q: %w", i.RefID, err)
	}
	if r.RefID != i.RefID {
		return request{}, fmt.Errorf("intent of %q: its body has ref_id %q", i.RefID, r.RefID)
	}
	fingerprint, err := transfer.ParseFingerprint(i.Fingerprint)
	if err != nil {
		return request{}, fmt.Errorf("intent of %q: %w", i.RefID, err)
	}
	if fingerprint != r.Fingerprint() && !i.echoes(r, fingerprint) {
		return request{}, fmt.Errorf("intent of %q: its fingerprint is not that of its body", i.RefID)
	}
	return request{
		digest:      i.digest(),
		fingerprint: fingerprint,
		twin:        r.Twin(),
		destination: r.Destination(),
		asset:       r.Asset,
		amount:      r.Amount,
	}, nil
}

// echoes reports whether one of the metadata pairs carries the fingerprint of the rest, as
// the service block's fingerprint_key makes it; the journal does not know that key.
func (i Intent) echoes(r transfer.Request, fingerprint transfer.Fingerprint) bool {
	for _, pair := range r.Metadata {
		if pair.Value != fingerprint.String() {
			continue
		}
		rest, err := transfer.ParseRequest(i.Operation, []byte(i.Body), pair.Key)
		if err == nil && rest.Fingerprint() == fingerprint {
			return true
		}
	}
	return false
}

func (i Intent) digest() RequestDigest {
	b := make([]byte, 0, 64+len(i.Path)+len(i.Body))
	b = appendSized(b, string(i.Operation))
	b = appendSized(b, i.Path)
	b = appendSized(b, i.Body)
	sum := sha256.Sum256(b)
	return RequestDigest(sum[:16])
}

func (o Outcome) check() error {
	if err := transfer.CheckRefID(o.RefID); err != nil {
		return fmt.Errorf("ref_id %q %w", o.RefID, err)
	}
	if transfer.TooDeep(o.Problem) || slices.ContainsFunc(o.Records, func(raw json.RawMessage) bool { return transfer.TooDeep(raw) }) {
		return errors.New("what it keeps of an answer is nested too deep to be read again")
	}
	switch o.Source {
	case SourcePerson:
		if o.By == nil || strings.TrimSpace(o.Reason) == "" {
			return errors.New("a person's word needs a name and a reason")
		}
	case SourceAnswer, SourceLookup, SourceImport:
		if o.Status == Tombstone {
			return errors.New("only a person settles a ref_id for good")
		}
	default:
		return fmt.Errorf("unknown source %q", o.Source)
	}
	switch o.Status {
	case Unsent, InDoubt, Refused, Conflict, Tombstone, Recorded, Adopted, Unverified:
		return o.checkListed()
	}
	return fmt.Errorf("unknown %s", o.Status)
}

// checkListed checks a list's line, where the entry has one in place of records.
func (o Outcome) checkListed() error {
	if o.Listed == nil {
		return nil
	}
	says := o.Source == SourceImport && (o.Status == Unverified || o.Status == Conflict) || o.Source == SourcePerson && o.Status == Adopted
	switch {
	case !says:
		return fmt.Errorf("the source %q cannot say %s by a list", o.Source, o.Status)
	case len(o.Records) > 0:
		return errors.New("it has records, and what a list says in their place")
	case o.Listed.GroupID == "":
		return errors.New("what the list says has no group_id")
	case (o.Listed.Amount == "") != (o.Listed.Asset == ""):
		return errors.New("what the list says has an amount or an asset without the other")
	case o.Listed.Amount == "":
		return nil
	}
	if _, err := transfer.ParseAmount(o.Listed.Amount); err != nil {
		return fmt.Errorf("amount %q: %w", o.Listed.Amount, err)
	}
	return nil
}

// checkRecord holds the deciding record, where one is stored, against the ref_id.
func (o Outcome) checkRecord(r record) error {
	if r.refID != "" && r.refID != o.RefID && o.Source != SourcePerson {
		return fmt.Errorf("the record is of ref_id %q", r.refID)
	}
	return nil
}

// CheckShortcomings returns an error where the entry calls recorded or adopted what its record does not
// prove: it has [transfer.Shortcomings], and no person has accepted them, which the entry's differences
// would say. A group_id that the row has already need not be in each copy of the record. It is for
// entries that are written: an earlier version asked for less, and its journal stays valid.
func (d Draft) CheckShortcomings(before Transfer) error {
	o, ok := d.Entry.(Outcome)
	if !ok || o.Status != Recorded && o.Status != Adopted || o.Listed != nil {
		return nil
	}
	for _, short := range d.record.shortcomings {
		isKnown := short.Field == "group_id" && before.GroupID != ""
		if !isKnown && !o.accepts(short.Field) {
			return fmt.Errorf("record outcome of %q: %s by a record whose %s is not as it must be, and nobody has accepted that", o.RefID, o.Status, short.Field)
		}
	}
	return nil
}

// accepts reports whether the outcome names a field among its differences: a person has accepted the
// record as it is in that.
func (o Outcome) accepts(field string) bool {
	return slices.ContainsFunc(o.Differences, func(d transfer.Difference) bool { return d.Field == field })
}

// deciding reads the first record, unless that was done.
func (o Outcome) deciding() (transfer.Record, error) {
	if o.isRead() {
		return *o.Deciding, nil
	}
	return transfer.ParseKept(o.Records[0])
}

func (o Outcome) parse() (record, error) {
	if len(o.Records) == 0 {
		return record{}, fmt.Errorf("outcome of %q: %s without a record", o.RefID, o.Status)
	}
	r, err := o.deciding()
	if err != nil {
		return record{}, fmt.Errorf("outcome of %q: %w", o.RefID, err)
	}
	if o.Source == SourceImport {
		if _, err := transfer.ParseRecorded(r.Amount); err != nil {
			return record{}, fmt.Errorf("outcome of %q: amount %q: %w", o.RefID, r.Amount, err)
		}
	}
	// A row keeps these, and would keep the whole record with parts of it.
	kept := r.ID + r.GroupID
	return record{
		id: kept[:len(r.ID)], groupID: kept[len(r.ID):],
		customerID: r.CustomerID, refID: r.RefID,
		status: r.Status.Own(), asset: r.Asset, amount: r.Amount,
		shortcomings: transfer.Shortcomings(r),
		sharesID:     o.Source == SourcePerson && slices.ContainsFunc(o.Differences, transfer.Difference.IsReusedID),
	}, nil
}
