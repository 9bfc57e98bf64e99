package planner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"remit/internal/doubt"
	"remit/internal/text/english"
	"remit/internal/text/shell"
	"remit/internal/transfer"
	"remit/state"
)

// detailsPerCall bounds how many details are in memory at once.
const detailsPerCall = 500

// describe adds to the changes the facts that only the details of the record have. Transfers that
// nothing is to be said about, nearly all of them, are not asked for.
func (b *builder) describe(ctx context.Context) error {
	byRef := make(map[string]int)
	var refIDs []string
	for i, f := range b.facts.all() {
		if f.row != nil {
			refID := b.rows.refID(f.row)
			byRef[refID] = i
			refIDs = append(refIDs, refID)
		}
	}
	return eachDetail(ctx, b.record, refIDs, func(d *state.Detail) error {
		i := byRef[d.RefID]
		c := b.plan.Changes.At(i)
		err := b.describeChange(&c, b.facts.at(i).row, d)
		b.plan.Changes.Set(i, &c)
		return err
	})
}

// DescribeUndeclared adds to the transfers that are listed as undeclared the facts that only the
// details of the record have: the recorded request, or of an imported one the profiles that its
// records name. It asks for up to [UndeclaredMax] of them, which a plan that shows none does not
// need.
func (p *Plan) DescribeUndeclared(ctx context.Context, record Record) error {
	var refIDs []string
	for i := range p.Undeclared {
		refIDs = append(refIDs, p.Undeclared[i].RefID)
	}
	i := 0
	return eachDetail(ctx, record, refIDs, func(d *state.Detail) error {
		c := &p.Undeclared[i]
		i++
		c.Recorded = newRecorded(d)
		c.Batch = d.Intent.Batch
		if d.Status == state.Unverified {
			c.Signals = nil
			c.markUnverified(d.Outcome)
			if d.RecordID == "" {
				c.markListed()
			}
		}
		if HasFailed(d) {
			c.Reason = WhyFailed(d)
		}
		if d.Intent.Body == "" {
			return c.describeSides(d)
		}
		recorded, err := c.Recorded.Request()
		if err != nil {
			return fmt.Errorf("read the recorded request of %q: %w", c.RefID, err)
		}
		c.Request = recorded
		return nil
	})
}

// eachDetail calls do with the detail of each of the given ref_ids, all of which the record
// has, in order.
func eachDetail(ctx context.Context, record Record, refIDs []string, do func(*state.Detail) error) error {
	for some := range slices.Chunk(refIDs, detailsPerCall) {
		details, err := record.Details(ctx, some...)
		if err != nil {
			return fmt.Errorf("read recorded details: %w", err)
		}
		if len(details) != len(some) {
			return fmt.Errorf("read recorded details: the state has %d of %d transfers that it lists", len(details), len(some))
		}
		for i := range details {
			if details[i].RefID != some[i] {
				return fmt.Errorf("read recorded details: the state answers %q to %q", details[i].RefID, some[i])
			}
			if err := do(&details[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *builder) describeDoubt(c *Change, r *row, d *state.Detail) (err error) {
	switch {
	case r.is(markInFlight):
		c.Reason = "in flight in run " + d.RunID
		if holder, isAlive := b.record.Holder(); isAlive {
			c.Reason += " on " + holder.Host
		}
	case b.isAlone():
		c.Reason, c.Next = "the state says what ends the doubt", "remit state show "+shell.Word(c.RefID)
	default:
		c.Reason, c.Next, err = b.settling(c, d)
	}
	return err
}

func (b *builder) describeChange(c *Change, r *row, d *state.Detail) error {
	c.Recorded = newRecorded(d)
	read := b.describeRequest
	if d.Intent.Body == "" {
		read = b.describeImported
	}
	if err := read(c, d); err != nil {
		return err
	}
	switch r.status {
	case state.Unsent:
	case state.Refused:
		c.Again = true
	case state.InDoubt:
		return b.describeDoubt(c, r, d)
	case state.Recorded, state.Adopted, state.Unverified:
		b.describeMade(c, r, d)
	case state.Conflict:
		c.describeConflict(d)
	case state.Tombstone:
		c.Reason = Closed(d) + neverAgain + "; remove the declaration, or give the transfer a new ref_id if it is still to be paid"
		if c.Action == Conflict || !c.Declared() {
			c.Reason = Closed(d)
			if d.RecordID == "" && !d.IsListed() {
				c.Reason += ", although it may have been made"
			}
			c.Reason += neverAgain + "; remove the declaration"
		}
	}
	return nil
}

// isSettled reports whether a person settled it as not made, of a change that is described.
func (c *Change) isSettled() bool {
	return c.Action == Failed && c.Recorded != nil && c.Recorded.Status == state.Tombstone
}

// describeRequest compares the declaration with the recorded request.
func (b *builder) describeRequest(c *Change, d *state.Detail) error {
	recorded, err := c.Recorded.Request()
	if err != nil {
		return fmt.Errorf("read the recorded request of %q: %w", c.RefID, err)
	}
	if !c.Declared() {
		c.Request, c.Batch = recorded, d.Intent.Batch
	} else if d.Status != state.Unsent {
		c.Differences = Differences(c.Request, recorded)
	}
	return nil
}

// restToMove says how a changed declaration is reached beside the transfer that was made: whoever declares the whole of it anew
// pays the recorded part a second time. To another account nothing of it was paid.
func (c *Change) restToMove(d *state.Detail, repaid string) string {
	if HasFailed(d) {
		return "; " + failedText(d, false, repaid)
	}
	other := c.otherToMove()
	recorded, err := c.Recorded.Request()
	if err != nil {
		return other
	}
	moved := recorded.Amount
	if was := otherwise(d); was != nil && was.Field == "amount" {
		moved, err = transfer.ParseRecorded(was.Answered)
	}
	isByAmount := len(c.Differences) == 1 && c.Differences[0].Field == "amount" && (otherwise(d) == nil || isAmountAlone(d))
	rest := c.Request.Amount.Decimal().Sub(moved.Decimal())
	switch {
	case err != nil || !isByAmount:
		return other
	case !rest.IsPositive():
		return ""
	}
	return fmt.Sprintf("; where more is to be moved, declare the other %s %s as a transfer of its own", rest, c.Request.Asset)
}

// otherToMove is restToMove where no amount is known by which the two differ.
func (c *Change) otherToMove() string {
	if isElsewhere(c.Differences) {
		return "; where that transfer is to be made as well, declare the whole of it under a new ref_id"
	}
	return "; where more is to be moved, declare the difference as a transfer of its own"
}

// isElsewhere reports whether a declaration moves other money, or moves it between others, than was recorded: no amount is the
// difference of the two.
func isElsewhere(differences []transfer.Difference) bool {
	return slices.ContainsFunc(differences, func(d transfer.Difference) bool {
		field, _, _ := strings.Cut(d.Field, ".")
		return field != "amount" && field != "metadata"
	})
}

// madeOtherwise says in which fields the service made another movement than it was asked for, as a clause; "" where it did not.
func madeOtherwise(d *state.Detail) string {
	if d.Outcome == nil || !isOtherMovement(d.Outcome.Differences) {
		return ""
	}
	var fields []string
	for _, was := range d.Outcome.Differences {
		if isOtherMovement([]transfer.Difference{was}) {
			fields = append(fields, fmt.Sprintf("%s %s in place of %s", was.Field, was.Answered, was.Asked))
		}
	}
	return ", and the service made it with the " + english.List(fields) + ", which a person accepted"
}

// isAmountAlone reports whether a transfer was made as it was asked for but for its amount.
func isAmountAlone(d *state.Detail) bool {
	for _, was := range d.Outcome.Differences {
		if field, _, _ := strings.Cut(was.Field, "."); field != "amount" && field != "metadata" {
			return false
		}
	}
	return true
}

func (b *builder) describeMade(c *Change, r *row, d *state.Detail) {
	switch c.Action {
	case Conflict:
		if c.Recorded.Body == "" {
			c.Reason = "the imported record is not what is declared; correct the declaration" + c.otherToMove()
			break
		}
		c.Reason = "the declaration was changed after the transfer was recorded" + madeOtherwise(d) + "; restore it" + c.restToMove(d, b.repaidText(r))
	case Failed:
		c.Reason = failedText(d, b.controls.Lookup && d.IsFailedSince(b.now.Add(-state.FailedFor)), b.repaidText(r))
	case None:
	case Submit, Resolve, Wait, Expired, Undeclared:
		panic(fmt.Sprintf("%q is recorded and planned as %s", c.RefID, c.Action))
	}
	if c.Recorded.Status == state.Unverified {
		c.markUnverified(d.Outcome)
		if c.Recorded.RecordID == "" {
			c.markListed()
		}
	}
}

// oneSideFailedText says what a FAILED debit asks for whose credit side no list has shown: a credit that did not fail was paid.
const oneSideFailedText = "its debit side FAILED, and the service has shown no credit side; ask its operator whether no money moved"

// failedText says what the service's FAILED asks for. One answer that says so wrongly has a transfer paid twice, so
// the service is asked first, unless a lookup has said it. Nor may it be paid once more where that was done already, which repaid
// says, as a clause: a rent of every month makes the same movement too, so that a person judges.
func failedText(d *state.Detail, canLookUp bool, repaid string) string {
	pay := "remove it, or pay it under a new ref_id if it is still to be paid"
	then, only := ", and then "+pay, ""
	if repaid != "" {
		pay = repaid + ": remove this one if that was in its place, and pay it under a new ref_id only if it was not"
		then, only = "; "+pay, "; "+repaid
	}
	switch {
	case isDisputed(d):
		accepted := ""
		if d.Outcome.Source == state.SourcePerson {
			accepted = ", which a person accepted"
		}
		return "one record of it FAILED, and another did not" + accepted + "; ask the service whether the money arrived before you pay it under a new ref_id"
	case d.Outcome != nil && d.Outcome.Source == state.SourceLookup && isCreditFailed(keptRecords(d)):
		return "the service says that it FAILED; " + pay
	case d.Outcome != nil && d.Outcome.Source == state.SourceLookup:
		return oneSideFailedText + then
	case canLookUp:
		return failedBy(d.Outcome.Source) + " says that it FAILED, and no lookup has said so yet; have remit refresh ask again, and pay it under a new ref_id only once a lookup or the operator says so as well" + only
	}
	return "the service says that it FAILED; ask its operator whether no money moved" + then
}

// failedBy is who says that a transfer FAILED.
func failedBy(source state.Source) string {
	switch source {
	case state.SourcePerson:
		return "the record that a person gave"
	case state.SourceImport:
		return "the record that was imported"
	case state.SourceAnswer, state.SourceLookup:
	}
	return "the service's answer"
}

// HasFailed reports whether a transfer was made, and the service's own status of it is FAILED.
func HasFailed(d *state.Detail) bool { return d.Status.Made() && d.RecordStatus == transfer.Failed }

// WhyFailed says what such a transfer asks for that no file declares any more, as a clause.
func WhyFailed(d *state.Detail) string {
	const pay = "pay it under a new ref_id where that was not done"
	switch {
	case isDisputed(d):
		return failedText(d, false, "")
	case d.Outcome != nil && d.Outcome.Source == state.SourceLookup && isCreditFailed(keptRecords(d)):
		return "the service says that it FAILED; " + pay
	case d.Outcome != nil && d.Outcome.Source == state.SourceLookup:
		return oneSideFailedText + ", and then " + pay
	}
	return "the service says that it FAILED; ask it whether no money moved, and then " + pay
}

// describeConflict shows the request and the answer; where the declaration differs as
// well, the reason says so.
func (c *Change) describeConflict(d *state.Detail) {
	edited := c.Declared() && len(c.Differences) > 0
	c.Reason = "the service's record is not what was asked for"
	if d.Outcome != nil {
		if isReused(d.Outcome.Differences) {
			c.Reason = "the service gave an id again"
		}
		if len(d.Outcome.Differences) > 0 {
			c.Differences = transfer.Told(d.Outcome.Differences)
		}
		switch {
		case isSeveral(d.Outcome.Differences):
			c.Reason = d.Outcome.Reason
		case d.Outcome.Reason != "":
			c.Reason += ": " + d.Outcome.Reason
		}
	}
	if edited {
		c.Reason += "; the declaration was changed since as well"
	}
}

// markUnverified asks the reviewer to look at what by is about, and says how it is accepted. Without by, which
// is not read of what nobody declares, it names no field.
func (c *Change) markUnverified(by *state.Outcome) {
	why := "its record falls short, or its destination could not be proven"
	next := acceptRecord(c.RefID)
	if by != nil {
		why = "its destination could not be proven"
		if transfer.IsCreditOpen(by.Differences) {
			why = "its debit side is COMPLETED and its credit side PENDING: the money has not arrived yet"
			c.Reason = why + "; look again once its credit side is COMPLETED or FAILED"
			next = lookAgain(c.RefID, by.Source)
		} else if credit, ok := transfer.OfCredit(by.Differences); ok {
			why = "its debit side is " + credit.Asked + " and its credit side " + credit.Answered + ": the money left its sender and has not arrived"
			c.Reason = why + "; ask the service's operator what became of it"
		} else if short := shortFields(by.Differences); short != "" {
			why = "its record falls short in " + short
		}
	}
	c.Signals = append(c.Signals, Signal{Kind: Unverified, Detail: why + "; check its record"})
	c.Next = next
}

// lookAgain is the command that learns whether a transfer arrived, of which a source told last.
func lookAgain(refID string, last state.Source) string {
	if last == state.SourceLookup {
		return "remit refresh"
	}
	return giveRecord(refID)
}

// giveRecord is the command by which a person gives the record that the service shows.
func giveRecord(refID string) string {
	return "remit resolve " + shell.Word(refID) + ` --recorded FILE --reason "…"`
}

// shortFields names the fields in which a record falls short; "" for none.
func shortFields(shortcomings []transfer.Difference) string {
	var fields []string
	for _, d := range shortcomings {
		if !slices.Contains(fields, d.Field) {
			fields = append(fields, d.Field)
		}
	}
	return strings.Join(fields, ", ")
}

// markListed says so where a list is all that says that a transfer was made.
func (c *Change) markListed() {
	c.Signals[len(c.Signals)-1].Detail = "a list alone says that it was made; give its record"
	c.Next = giveRecord(c.RefID)
}

// settling describes a doubt: the facts, the next step of an apply, and the command to type.
func (b *builder) settling(c *Change, d *state.Detail) (reason, next string, err error) {
	u := doubt.Of(d, b.controls.Lookup)
	if !u.Hold.Holds() {
		u.Hold, err = b.held(c, d)
	}
	return u.Sentence(), u.Next(), err
}

// held says why the recorded request of a doubt may not be sent again.
func (b *builder) held(c *Change, d *state.Detail) (doubt.Hold, error) {
	if b.controls.HoldDoubt {
		return doubt.OnDoubt(), nil
	}
	if b.controls.TooOld != nil { // no declaration mends that
		if old, err := b.controls.TooOld(d); err != nil || old.Holds() {
			return old, err
		}
	}
	switch {
	case !c.Declared():
		return doubt.Undeclared(), nil
	case len(c.Differences) > 0:
		return doubt.Differs(), nil
	case !c.Expires.IsZero() && !b.now.Before(c.Expires):
		return doubt.Expired(c.Expires), nil
	case c.Until.After(b.now):
		return doubt.NotDue(c.Until), nil
	case len(c.After) > 0:
		return doubt.DependsOn(c.After[0]), nil
	}
	return doubt.Hold{}, nil
}

func newRecorded(d *state.Detail) *Recorded {
	r := &Recorded{
		Status: d.Status, RecordStatus: d.RecordStatus, GroupID: d.GroupID, RecordID: d.RecordID,
		RunID: d.RunID, At: d.SettledAt, Address: d.Intent.Address, Place: d.Intent.Place,
		Operation: d.Intent.Operation, Path: d.Intent.Path, Body: d.Intent.Body, Fingerprint: d.Fingerprint.String(),
	}
	if r.At.IsZero() {
		r.At = d.AttemptedAt
	}
	if d.Outcome != nil {
		r.Reason = d.Outcome.Reason
	}
	return r
}

// Request reads the recorded request. It is an error where the body is not one that this
// program writes, or has another fingerprint than is recorded.
func (r *Recorded) Request() (transfer.Request, error) {
	request, err := transfer.ParseRequest(r.Operation, []byte(r.Body), "")
	if err != nil {
		return transfer.Request{}, err
	}
	if request.Fingerprint().String() == r.Fingerprint {
		return request, nil
	}
	// The fingerprint may travel in a pair of the metadata, of which it is no part.
	for _, p := range request.Metadata {
		if p.Value != r.Fingerprint {
			continue
		}
		request, err := transfer.ParseRequest(r.Operation, []byte(r.Body), p.Key)
		if err == nil && request.Fingerprint().String() == r.Fingerprint {
			return request, nil
		}
	}
	return transfer.Request{}, fmt.Errorf("its fingerprint is not %s", r.Fingerprint)
}

// InForce is the request that a change is about: the recorded one of a Resolve, because
// nothing else is ever sent under its ref_id, and else the change's own. The error says that
// the recorded one can't be read.
func (c *Change) InForce() (transfer.Request, error) {
	if c.Action != Resolve {
		return c.Request, nil
	}
	if c.Recorded == nil {
		return transfer.Request{}, fmt.Errorf("%q is in doubt without a recorded request", c.RefID)
	}
	request, err := c.Recorded.Request()
	if err != nil {
		return transfer.Request{}, fmt.Errorf("read the recorded request of %q: %w", c.RefID, err)
	}
	return request, nil
}
