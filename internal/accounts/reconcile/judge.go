package reconcile

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"remit/internal/transfer"
	"remit/state"
)

// pageRows is how many transfers are judged together, so that the details of those that need
// them are read together.
const pageRows = 512

// judge compares matched records.
type judge struct {
	*Reconciliation
	ctx      context.Context
	archive  Archive
	customer string // of the state; "" where it has no record yet
	running  string // the run that holds the lock; "" for none
	page     []pair
}

// pair is a transfer of the state and the records that belong to it.
type pair struct {
	row    state.Transfer
	sides  []Side // each different record once
	twice  []Side // records that the exports have more than once
	shared string // the other ref_ids of its group_id, in words; "" for none
	failed string // why the answer of a lookup, or a record, can't be told to be of it; "" where it can

	debit, credit *Side
	more          []Side // of a side that is there already, with another id or in another version
	several       bool   // some of more have another id
	versions      bool   // some of more have the same id

	detail    *state.Detail     // nil where it is surely outside of the period
	forgotten *state.Outcome    // that a made transfer had before a person had it forgotten; nil for any other
	stored    []transfer.Record // that the state has, the deciding one first
}

func newJudge(ctx context.Context, r *Reconciliation, archive Archive) *judge {
	j := &judge{Reconciliation: r, ctx: ctx, archive: archive, customer: archive.Meta().Service.CustomerID}
	if holder, isHeld := archive.Holder(); isHeld {
		j.running = holder.RunID
	}
	return j
}

// known judges every transfer of the state, in the order of ref_ids.
func (j *judge) known(attributed *sorter) error {
	records, err := j.records.read()
	if err != nil {
		return err
	}
	others, err := attributed.read()
	if err != nil {
		return err
	}
	for row, err := range j.archive.Transfers(j.ctx) {
		if err != nil {
			return err
		}
		p := pair{row: row}
		if err := j.collect(&p, records, others); err != nil {
			return err
		}
		j.page = append(j.page, p)
		if len(j.page) == pageRows {
			if err := j.flush(); err != nil {
				return err
			}
		}
	}
	return j.flush()
}

// collect takes the records of a row.
func (j *judge) collect(p *pair, records, others *cursor) error {
	var raws [][]byte
	for !records.done && string(records.key) <= p.row.RefID {
		if records.is(p.row.RefID) {
			raws = append(raws, slices.Clone(records.value))
		}
		if err := records.next(); err != nil {
			return err
		}
	}
	for others.is(p.row.RefID) {
		switch others.value[0] {
		case tagSide:
			raws = append(raws, slices.Clone(others.value[1:]))
		case tagTwin:
			p.failed = string(others.value[1:])
		default:
			p.shared = sharedText(string(others.value[1:]))
		}
		if err := others.next(); err != nil {
			return err
		}
	}
	j.take(p, raws)
	return nil
}

// sharedText names the other ref_ids of a group_id.
func sharedText(text string) string {
	names := strings.Split(text, "\x00")
	total, _ := strconv.Atoi(names[len(names)-1])
	names = names[:len(names)-1]
	said := strings.Join(names, ", ")
	if total > len(names) {
		said = fmt.Sprintf("%s and %d more", said, total-len(names))
	}
	return said
}

// take reads written records, each different one once, and says which side each is.
func (j *judge) take(p *pair, raws [][]byte) {
	slices.SortStableFunc(raws, func(a, b []byte) int {
		return bytes.Compare(a[:len(a)-placeSize], b[:len(b)-placeSize])
	})
	for i, raw := range raws {
		side := readSide(raw)
		side.Place = j.place(&side)
		switch {
		case side.unreadable != "":
			p.failed = side.unreadable
		case i > 0 && bytes.Equal(raw[:len(raw)-placeSize], raws[i-1][:len(raws[i-1])-placeSize]):
			p.twice = append(p.twice, side)
		default:
			p.sides = append(p.sides, side)
		}
	}
	if len(p.sides) == 2 && roleOf(&p.sides[0]) == transfer.Debit && roleOf(&p.sides[1]) == transfer.Credit {
		p.debit, p.credit = &p.sides[0], &p.sides[1]
		return
	}
	p.split()
}

// roleOf is the side that a record says it is; "" where its direction and its type do not
// agree.
func roleOf(s *Side) transfer.Direction {
	switch {
	case s.Direction == transfer.Debit && !strings.HasSuffix(string(s.Type), "_CREDIT"):
		return transfer.Debit
	case s.Direction == transfer.Credit && !strings.HasSuffix(string(s.Type), "_DEBIT"):
		return transfer.Credit
	}
	return ""
}

// split says which side each record is: first those that say so in both fields, the recorded
// one and the newest version before others, then those at odds with themselves where a side is
// vacant.
func (p *pair) split() {
	slices.SortStableFunc(p.sides, func(a, b Side) int {
		if order := boolOrder(a.ID == p.row.RecordID, b.ID == p.row.RecordID); order != 0 {
			return order
		}
		if a.ID == b.ID {
			return transfer.NewVersion(b.UpdatedAt, b.Status).Compare(transfer.NewVersion(a.UpdatedAt, a.Status))
		}
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	for i := range p.sides {
		switch roleOf(&p.sides[i]) {
		case transfer.Debit:
			p.put(&p.sides[i], &p.debit)
		case transfer.Credit:
			p.put(&p.sides[i], &p.credit)
		}
	}
	for i := range p.sides {
		if s := &p.sides[i]; roleOf(s) == "" {
			if p.credit == nil && (p.debit != nil || s.ID != p.row.RecordID && strings.HasSuffix(string(s.Type), "_CREDIT")) {
				p.put(s, &p.credit)
			} else {
				p.put(s, &p.debit)
			}
		}
	}
}

// put makes a record a side, or one more where there is that side already.
func (p *pair) put(s *Side, into **Side) {
	if *into == nil {
		*into = s
		return
	}
	p.more = append(p.more, *s)
	if (*into).ID == s.ID {
		p.versions = true
	} else {
		p.several = true
	}
}

// boolOrder puts true first.
func boolOrder(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}

// flush judges a page and tells its items.
func (j *judge) flush() error {
	var wanted []string
	for i := range j.page {
		if p := &j.page[i]; !j.isLongAgo(p) {
			wanted = append(wanted, p.row.RefID)
		}
	}
	details, err := j.archive.Details(j.ctx, wanted...)
	if err != nil {
		return err
	}
	for i := range j.page {
		p := &j.page[i]
		if len(details) > 0 && details[0].RefID == p.row.RefID {
			p.detail, details = &details[0], details[1:]
			if err := j.findForgotten(p); err != nil {
				return err
			}
			p.stored = storedRecords(p.outcome())
		}
		if err := j.one(p); err != nil {
			return err
		}
	}
	clear(j.page)
	j.page = j.page[:0]
	return nil
}

// one judges one transfer of the state.
func (j *judge) one(p *pair) error {
	if p.detail == nil {
		j.summary.OutOfPeriod++
		return nil
	}
	if p.row.Status == state.Tombstone && p.row.RecordID == "" && p.areOther() { // other money has the ref_id, and it was closed as not made
		j.countOther(p)
		p.sides, p.twice, p.debit, p.credit, p.more = nil, nil, nil, nil, nil
	}
	item := Item{
		Result: Matched, RefID: p.row.RefID, GroupID: p.row.GroupID, Asset: p.row.Asset, Amount: p.row.Amount.String(),
		State: &p.row, Debit: p.debit, Credit: p.credit, More: p.more,
	}
	if item.GroupID == "" && p.debit != nil {
		item.GroupID = p.debit.GroupID
	}
	item.Batch = p.detail.Intent.Batch
	item.Asset, item.Amount = p.asBooked()
	if at, isStored := p.storedAt(); isStored {
		item.Stored = at
	}
	if j.options.Batch != "" && item.Batch != j.options.Batch {
		j.summary.OtherBatch++
		return nil
	}
	if j.isQuick(p) {
		return j.tell(p, &item)
	}
	moved, isIn := j.inPeriod(p)
	if !isIn {
		j.summary.OutOfPeriod++
		return nil
	}
	if !j.compare(p, &item) {
		j.summary.NotMade++
		return nil
	}
	if moved != nil && !item.Has(Created) {
		item.differ(*moved)
	}
	item.finish()
	j.advise(p, &item)
	return j.tell(p, &item)
}

// tell counts an item and hands it on.
func (j *judge) tell(p *pair, item *Item) error {
	j.addUp(p, item)
	j.summary.count(item)
	if j.options.Each == nil {
		return nil
	}
	return j.options.Each(item)
}

// addUp adds a transfer to the totals. A FAILED transfer moved nothing.
func (j *judge) addUp(p *pair, item *Item) {
	if item.State != nil && p.isMade() && p.row.RecordStatus != transfer.Failed {
		add(&j.summary.state, item.Asset, item.Amount)
		if item.Result != Differs {
			add(&j.summary.matched, item.Asset, item.Amount)
		}
	}
	seen := make(map[string]bool, len(p.sides))
	for i := range p.sides {
		s := &p.sides[i]
		totals := &j.summary.debits
		if s == p.credit || s != p.debit && s.Direction == transfer.Credit {
			totals = &j.summary.credits
		}
		key := string(s.Direction) + s.ID
		isMain := s == p.debit || s == p.credit
		if s.Status != transfer.Failed && (isMain || !seen[key] && !p.isVersion(s)) {
			add(totals, s.Asset, s.Amount)
		}
		seen[key] = true
	}
}

// isVersion reports whether s is another version of one of the two records.
func (p *pair) isVersion(s *Side) bool {
	return p.debit != nil && p.debit.ID == s.ID || p.credit != nil && p.credit.ID == s.ID
}

// strangers judges the records that only the service has.
func (j *judge) strangers(sorted *sorter) error {
	at, err := sorted.read()
	if err != nil {
		return err
	}
	for !at.done {
		key := string(at.key)
		var raws [][]byte
		shared := false
		for at.is(key) {
			shared = shared || at.value[0] == 1
			raws = append(raws, slices.Clone(at.value[1:]))
			if err := at.next(); err != nil {
				return err
			}
		}
		p := pair{}
		j.take(&p, raws)
		if err := j.stranger(&p, shared); err != nil {
			return err
		}
	}
	return nil
}

// addUnequal names what two sides of one transfer can't be.
func (p *pair) addUnequal(item *Item) {
	if p.debit == nil || p.credit == nil {
		return
	}
	if !areEqual(p.debit, p.credit) {
		item.add(Unbalanced)
	}
	if p.debit.ID == p.credit.ID {
		item.add(SameID)
	}
}

func (j *judge) stranger(p *pair, shared bool) error {
	if len(p.sides) == 0 {
		return nil
	}
	if j.options.Batch != "" {
		j.summary.OtherBatch += len(p.sides)
		return nil
	}
	item := Item{Debit: p.debit, Credit: p.credit, More: p.more}
	main := p.debit
	if main == nil {
		main = p.credit
	}
	if !j.contains(main.CreatedAt) {
		j.summary.OutOfPeriod++
		return nil
	}
	if p.areOther() {
		j.countOther(p)
		return nil
	}
	item.RefID, item.GroupID, item.Asset, item.Amount = main.RefID, main.GroupID, main.Asset, main.Amount
	item.add(ServiceOnly)
	p.addRepeated(&item)
	p.addUnequal(&item)
	if j.customer != "" && main.CustomerID != j.customer {
		item.add(Customer)
	}
	item.Reason = strangerReason(p, shared, j.customer)
	item.finish()
	return j.tell(p, &item)
}

// addRepeated adds repeated records to an item.
func (p *pair) addRepeated(item *Item) {
	if len(p.twice) > 0 || p.versions {
		item.add(Duplicate)
	}
	if p.several {
		item.add(Several)
	}
	item.More = append(slices.Clone(p.more), p.twice...)
}

func (j *judge) countOther(p *pair) {
	for i := range p.sides {
		j.summary.OtherTypes[p.sides[i].Type]++
	}
}

// areOther reports whether all are records that no operation of remit makes.
func (p *pair) areOther() bool {
	for i := range p.sides {
		if !p.sides[i].Type.IsRail() {
			return false
		}
	}
	return true
}

func strangerReason(p *pair, shared bool, customer string) string {
	var parts []string
	switch {
	case p.credit == nil:
		parts = append(parts, "Only its debit side is there.")
	case p.debit == nil && p.credit.RefID == "":
		parts = append(parts, "Only its credit side is there, without a ref_id: money that came in, or of which the debit is missing.")
	case p.debit == nil:
		parts = append(parts, "Only its credit side is there.")
	}
	if shared {
		parts = append(parts, "Its group_id belongs to several ref_ids of the state, so nothing says of which it is.")
	}
	for _, s := range []*Side{p.debit, p.credit} {
		if s != nil && customer != "" && s.CustomerID != customer {
			parts = append(parts, fmt.Sprintf("The %s is of another customer: %s.", strings.ToLower(string(s.Direction)), s.CustomerID))
		}
	}
	return strings.Join(parts, " ")
}

// contains reports whether a time is in the period.
func (j *judge) contains(t time.Time) bool {
	o := j.options
	return (o.From.IsZero() || !t.Before(o.From)) && (o.Until.IsZero() || t.Before(o.Until))
}
