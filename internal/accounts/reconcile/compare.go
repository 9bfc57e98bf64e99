package reconcile

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"remit/internal/transfer"
	"remit/state"
)

// slack is how far outside of the period a transfer must have been sent and settled for its
// stored record, which says when the service made it, not to be read. A person may have accepted
// a record of another day.
const slack = 45 * 24 * time.Hour

// isLongAgo reports whether a transfer without records is surely outside of the period, so
// that its details need not be read.
func (j *judge) isLongAgo(p *pair) bool {
	if len(p.sides) > 0 || p.failed != "" || p.row.Status != state.Recorded || p.row.IntendedAt.IsZero() || p.row.SettledAt.IsZero() {
		return false
	}
	o := j.options
	return !o.From.IsZero() && p.row.SettledAt.Add(slack).Before(o.From) ||
		!o.Until.IsZero() && p.row.IntendedAt.Add(-slack).After(o.Until)
}

// MayConcern reports whether a transfer of the state may be in the period, by what its row says:
// for a caller who looks up the records to add.
func (r *Reconciliation) MayConcern(row *state.Transfer) bool {
	j := judge{Reconciliation: r}
	return !j.isLongAgo(&pair{row: *row})
}

// inPeriod reports whether a transfer is in the period: by what the service says, or by what
// the state has stored of it. Where the state alone says so of a transfer that the service has,
// the time that differs is returned.
func (j *judge) inPeriod(p *pair) (*Difference, bool) {
	if j.options.From.IsZero() && j.options.Until.IsZero() {
		return nil, true
	}
	side := p.debit
	if side == nil {
		side = p.credit
	}
	if side != nil && j.contains(side.CreatedAt) {
		return nil, true
	}
	stored, isStored := p.storedAt()
	if side == nil {
		return nil, j.contains(stored)
	}
	if !isStored || !j.contains(stored) {
		return nil, false
	}
	return &Difference{
		Difference: transfer.Difference{Field: "created_at", Asked: timeText(stored), Answered: timeText(side.CreatedAt)},
		Side:       side.Direction, Place: side.Place,
	}, true
}

// storedAt is the created_at of the stored record, which is true; without one, when the
// transfer was last tried or settled, which is false.
func (p *pair) storedAt() (time.Time, bool) {
	if len(p.stored) > 0 {
		return p.stored[0].CreatedAt, true
	}
	d := p.detail
	if d.AttemptedAt.IsZero() {
		return d.SettledAt, false
	}
	return d.AttemptedAt, false
}

// compare fills the item of a transfer in. It is false where there is nothing to list: the
// state says that it was not made, and the service does not have it.
func (j *judge) compare(p *pair, item *Item) bool {
	if p.failed != "" {
		item.add(Unreadable)
		item.Reason = p.failed
		return true
	}
	isPresent := len(p.sides) > 0
	switch p.row.Status {
	case state.Refused, state.Unsent, state.Tombstone:
		switch {
		case p.forgotten != nil:
			return j.compareForgotten(p, item)
		case !isPresent:
			return false
		}
		j.unexpected(p, item)
		return true
	case state.InDoubt:
		item.add(InDoubt)
		item.Reason = j.doubtReason(p, isPresent)
	case state.Conflict:
		item.add(Conflict)
		if !isPresent {
			item.add(StateOnly)
		}
	case state.Unverified:
		item.add(Unverified)
		if !isPresent {
			item.add(StateOnly)
		}
	case state.Recorded, state.Adopted:
		if !isPresent {
			item.add(StateOnly)
		}
	}
	if isPresent {
		j.compareSides(p, item)
	}
	return true
}

// asBooked is the amount and the asset that the state has of a transfer: the requested ones,
// or what a person accepted instead.
func (p *pair) asBooked() (asset, amount string) {
	asset, amount = p.row.Asset, p.row.Amount.String()
	stored := p.stored
	if !p.isMade() || len(stored) == 0 || !IsDecimal(stored[0].Amount) {
		return asset, amount
	}
	if stored[0].Asset != asset || !transfer.SameNumber(stored[0].Amount, amount) {
		return stored[0].Asset, stored[0].Amount
	}
	return asset, amount
}

// doubtReason says why a doubt is still open.
func (j *judge) doubtReason(p *pair, isPresent bool) string {
	switch {
	case p.row.Open() && j.running != "" && p.row.RunID == j.running:
		return "It is in flight: its run is under way."
	case isPresent:
		return "The service made it."
	}
	return "The service has no record of it here, which proves nothing: an export may be older, and lists lag."
}

// unexpected judges a transfer that the service has although the state says that it was not
// made.
func (j *judge) unexpected(p *pair, item *Item) {
	if !p.isFailed() {
		item.add(NotMade)
	}
	o := p.detail.Outcome
	switch {
	case p.row.Status != state.Tombstone:
		item.Reason = fmt.Sprintf("The state has it as %v", p.row.Status)
	case o != nil && o.By != nil && o.By.Command == forgetCommand:
		item.Reason = "It was forgotten before anybody knew whether it was made"
	default:
		item.Reason = "It was closed as not made"
	}
	if o != nil && o.Reason != "" {
		item.Reason += ": " + o.Reason
	}
	j.compareSides(p, item)
}

// isFailed reports whether the service has the transfer as FAILED: no money moved.
func (p *pair) isFailed() bool {
	return !slices.ContainsFunc(p.sides, func(s Side) bool { return s.Status != transfer.Failed })
}

// compareSides compares the records with the request, with the stored record, and with one
// another.
func (j *judge) compareSides(p *pair, item *Item) {
	p.addRepeated(item)
	if p.shared != "" {
		item.add(SharedGroup)
		item.Reason = "Its group_id belongs to other ref_ids as well: " + p.shared + "."
	}
	j.compareFields(p, item)
	j.compareStatus(p, item)
	if p.debit != nil && p.credit != nil && p.debit.ID == p.credit.ID {
		item.add(SameID)
	}
	switch {
	case p.debit == nil, p.credit == nil && !j.options.DebitsOnly && p.debit.Status != transfer.Failed:
		item.add(OneSide)
	case p.credit != nil && !areEqual(p.debit, p.credit) && !item.acceptsImbalance():
		item.add(Unbalanced)
	}
}

// isSame reports whether two numbers of records, of any sign, are the same, however they are
// written; text that is no number is the same as itself alone.
func isSame(a, b string) bool {
	if a == b || transfer.SameNumber(a, b) {
		return true
	}
	if !strings.HasPrefix(a, "-") && !strings.HasPrefix(b, "-") {
		return false
	}
	x, isA := transfer.ParseNumber(a)
	y, isB := transfer.ParseNumber(b)
	return isA && isB && x.Equal(y)
}

// areEqual reports whether both sides move the same amount of the same asset.
func areEqual(debit, credit *Side) bool {
	return debit.Asset == credit.Asset && isSame(debit.Amount, credit.Amount)
}

// acceptsImbalance reports whether a person accepted another amount or asset, and nothing else
// of these differs: the sides then differ from one another as accepted.
func (l *Item) acceptsImbalance() bool {
	accepted := false
	for _, d := range l.Differences {
		if b := breakOf(d.Field); b == Amount || b == Asset {
			if !d.Accepted {
				return false
			}
			accepted = true
		}
	}
	return accepted
}

// compareFields compares every field of each side. A difference that a person has accepted is no
// break.
func (j *judge) compareFields(p *pair, item *Item) {
	stored := p.stored
	request, err := transfer.ParseRequest(p.detail.Intent.Operation, []byte(p.detail.Intent.Body), j.options.FingerprintKey)
	hasRequest := p.detail.Intent.Body != "" && err == nil
	ask := func(record transfer.Record) []transfer.Difference { return compareStored(stored, record) }
	switch {
	case hasRequest:
		ask = func(record transfer.Record) []transfer.Difference {
			return transfer.Compare(request, record, j.options.Operator)
		}
	case p.row.IsListed():
		ask = p.compareListed
	}
	var accepted []transfer.Difference
	if p.isMade() && hasRequest {
		if o := p.outcome(); o != nil {
			accepted = slices.Clone(o.Differences)
		}
		for _, record := range stored {
			accepted = append(accepted, ask(record)...)
		}
	}
	for i := range p.sides {
		s := &p.sides[i]
		differences := ask(s.Record)
		differences = append(differences, j.identity(p, s)...)
		if s == p.credit && p.debit != nil && p.debit.GroupID != s.GroupID {
			differences = append(differences, transfer.Difference{Field: "group_id", Asked: p.debit.GroupID, Answered: s.GroupID})
		}
		differences = addCopied(differences, compareCopy(stored, s.Record), accepted)
		if s == p.debit || s == p.credit {
			differences = append(differences, compareUncopied(stored, item.Amount, &s.Record)...)
		}
		for _, d := range differences {
			item.differ(Difference{Difference: d, Side: s.Direction, Place: s.Place, Accepted: isAccepted(accepted, d)})
		}
	}
}

// identity compares what the state keeps of a transfer beside its request: the id of the record
// that it has of this side, its group_id, and whose customer's record it is.
func (j *judge) identity(p *pair, s *Side) []transfer.Difference {
	var differences []transfer.Difference
	differ := func(field, asked, answered string) {
		if asked != "" && answered != "" && asked != answered {
			differences = append(differences, transfer.Difference{Field: field, Asked: asked, Answered: answered})
		}
	}
	if s == p.debit || s == p.credit {
		differ("id", p.storedID(s), s.ID)
	}
	if s == p.debit {
		differ("group_id", p.row.GroupID, s.GroupID)
	}
	differ("customer_id", j.customerOf(p, s), s.CustomerID)
	return differences
}

// storedID is the id that the state has of a side of the transfer; "" for none.
func (p *pair) storedID(s *Side) string {
	if !p.isMade() && s == p.debit && (p.credit == nil || p.credit.ID != p.row.RecordID) {
		return p.row.RecordID
	}
	if !p.isMade() {
		return ""
	}
	for i := range p.stored {
		if isCredit := p.stored[i].Direction == transfer.Credit; isCredit == (s == p.credit) {
			return p.stored[i].ID
		}
	}
	if len(p.stored) == 0 && s == p.debit {
		return p.row.RecordID
	}
	return ""
}

// customerOf is the customer whose record a side should be: that of its stored copy, and without
// one that of the state, of a debit and of either side of an internal transfer. Whose profile a
// platform transfer was for is not documented; then it is "".
func (j *judge) customerOf(p *pair, s *Side) string {
	if at := copyOf(p.stored, &s.Record); at >= 0 {
		return p.stored[at].CustomerID
	}
	isInternal := s.Type == j.options.Operator.RecordType(transfer.Internal, transfer.Credit)
	if s == p.debit || s.Direction == transfer.Debit || isInternal {
		return j.customer
	}
	return ""
}

// differ adds a difference of a record.
func (l *Item) differ(d Difference) {
	l.Differences = append(l.Differences, d)
	if d.Accepted {
		l.Result = Accepted
		return
	}
	l.add(breakOf(d.Field))
}

// isAccepted reports whether the state has the same difference. Amounts are the same where
// their numbers are.
func isAccepted(accepted []transfer.Difference, d transfer.Difference) bool {
	return slices.ContainsFunc(accepted, func(a transfer.Difference) bool {
		return a == d || a.Field == "amount" && d.Field == "amount" && a.Asked == d.Asked && transfer.SameNumber(a.Answered, d.Answered)
	})
}

// compareListed compares a record with the amount and the asset that a list has, of a transfer of
// which nobody knows the request.
func (p *pair) compareListed(record transfer.Record) []transfer.Difference {
	var differences []transfer.Difference
	if asked := p.row.Amount.String(); !transfer.SameNumber(asked, record.Amount) {
		differences = append(differences, transfer.Difference{Field: "amount", Asked: asked, Answered: record.Amount})
	}
	if p.row.Asset != record.Asset {
		differences = append(differences, transfer.Difference{Field: "asset", Asked: p.row.Asset, Answered: record.Asset})
	}
	return differences
}

// compareStatus compares the service's status with the one that is recorded, and that of both
// sides. A status of the credit side that a person has accepted is no break.
func (j *judge) compareStatus(p *pair, item *Item) {
	add := func(s *Side, asked transfer.RecordStatus, accepted bool) {
		item.differ(Difference{
			Difference: transfer.Difference{Field: "status", Asked: string(asked), Answered: string(s.Status)},
			Side:       s.Direction, Place: s.Place, Accepted: accepted,
		})
	}
	differs := func(s *Side, asked transfer.RecordStatus) bool { return s != nil && asked != "" && s.Status != asked }
	asked := p.row.RecordStatus
	if differs(p.debit, asked) {
		add(p.debit, asked, false)
	}
	if asked == "" && p.isMade() && p.debit != nil && p.debit.Status == transfer.Failed {
		add(p.debit, asked, false) // what a list has as made
	}
	if asked == "" && p.debit != nil {
		asked = p.debit.Status
	}
	if differs(p.credit, asked) {
		add(p.credit, asked, p.hasAcceptedCredit(asked))
	}
}

// hasAcceptedCredit reports whether a person let the transfer stand with the status that the credit side has beside such
// a status of the debit side.
func (p *pair) hasAcceptedCredit(debit transfer.RecordStatus) bool {
	o := p.outcome()
	if o == nil || o.Status != state.Recorded && o.Status != state.Adopted {
		return false // nobody has settled it
	}
	accepted, ok := transfer.OfCredit(o.Differences)
	return ok && accepted.Asked == string(debit) && accepted.Answered == string(p.credit.Status)
}
