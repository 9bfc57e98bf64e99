package executor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"remit/internal/transfer"
	"remit/state"
)

// holderTimeout is how long, beyond the timeout of a request, the holder of a lock that was
// taken away may still be waking up (design section 10).
const holderTimeout = 10 * time.Minute

var (
	// ErrUnknownRefID says that the state has no request under the ref_id.
	ErrUnknownRefID = errors.New("the state does not know this ref_id")

	// ErrCreditOnly says that the records given or found are of the credit side alone,
	// which does not say what was debited.
	ErrCreditOnly = errors.New("only the credit side is known; the record of the debit side is needed")

	// ErrAbsent says that the service lists nothing under the ref_id. Lists lag: it proves
	// nothing.
	ErrAbsent = errors.New("the service lists no record of this ref_id")

	// ErrNoRecord says that a conflict or an adoption kept no record that could be accepted.
	ErrNoRecord = errors.New("no record was kept that could be accepted")

	// ErrNoRequest says that a transfer was imported without its request, so that records
	// can't be held against one.
	ErrNoRequest = errors.New("it was imported without its request, so nothing says what a record should agree with. " +
		"Declare it, which the plan compares with its record, or let the record stand with --accept-record and --reason")
)

// DifferenceError says that records do not agree with the request that they are given for.
type DifferenceError struct {
	RefID       string
	Differences []transfer.Difference // at least one
}

// Error names each field and both values.
func (e *DifferenceError) Error() string {
	return fmt.Sprintf("the record does not agree with the request of %q: %s", e.RefID, Describe(e.Differences))
}

// StatusError says that a ref_id is not in a status to which the word applies.
type StatusError struct {
	RefID  string
	Status state.Status
}

// Error names the status.
func (e *StatusError) Error() string {
	return fmt.Sprintf("%q is %v, and this way of settling it is not for that", e.RefID, e.Status)
}

// AliveError says that an attempt may still be carried out: its holder lost its lock, to a person or
// with its connection, and may have a request under way; or it sends nothing any more, and the service
// may be at work.
type AliveError struct {
	RefID string
	RunID string        // of the attempt
	Wait  time.Duration // after which it is certain that nothing more is made
	Clock string        // by which, in words
	// Original is the file that the run used, and its host, where this state is another one: a copy.
	Original string
	Gone     bool // the run sends nothing any more
	Ended    bool // the run said that it ended
}

// Error says how long to wait.
func (e *AliveError) Error() string {
	var why string
	switch {
	case e.Original != "" && e.Ended:
		why = fmt.Sprintf("this state is a copy: run %s sent %q from %s, where another run may have sent it again since", e.RunID, e.RefID, e.Original)
	case e.Original != "":
		why = fmt.Sprintf("this state is a copy: run %s, which may be sending %q, used %s, and was not seen to end", e.RunID, e.RefID, e.Original)
	case e.Gone:
		why = fmt.Sprintf("the service may still carry out the request for %q that run %s sent", e.RefID, e.RunID)
	default:
		why = fmt.Sprintf("the lock of run %s, which may be sending %q, was taken away or lost, and not seen released", e.RunID, e.RefID)
	}
	return fmt.Sprintf("%s. Wait another %s, which %s tells, and ask again", why, max(e.Wait.Round(time.Second), time.Second), e.Clock)
}

// Resolution is a word about one ref_id, on a state that the caller has locked.
type Resolution struct {
	RefID   string
	By      state.Holder // who says so
	Reason  string       // why, in their words; needed but for [ResolveByLookup]
	Journal Journal
	Policy  Policy // Operator, FingerprintKey and RequestTimeout are used
	Clock   Clock
	// Date asks the service what time it is: a token's Date, or the zero time where there is none to be
	// had. It is asked where no other clock tells that the holder of an attempt is dead; nil for nobody.
	Date func(ctx context.Context) time.Time
}

// ResolveRecorded stores the records that a person got from the service, one or both sides
// of the transfer, and returns the outcome that it wrote. The error is a *[DifferenceError]
// where they disagree with the recorded request, [ErrCreditOnly], [ErrNoRequest], [ErrUnknownRefID], or what
// the state refuses; then nothing was written. Of a transfer that is recorded already, it
// takes the service's newer status over; in what a person has accepted, it may differ.
func ResolveRecorded(ctx context.Context, r Resolution, records []transfer.Record) (state.Outcome, error) {
	return r.give(ctx, records, false)
}

// ResolveAcceptRecord closes a transfer as the service has it, although that is not what was
// asked for, and returns the outcome that it wrote, with the differences. Without records
// the kept ones stand, of a conflict or an unverified transfer; where there is none but a list's
// word, that does. The error is a *[StatusError]
// for any other status, [ErrNoRecord], [ErrCreditOnly], [ErrUnknownRefID], or what the state
// refuses, such as a record that belongs to another ref_id; then nothing was written.
func ResolveAcceptRecord(ctx context.Context, r Resolution, records []transfer.Record) (state.Outcome, error) {
	if len(records) > 0 {
		return r.give(ctx, records, true)
	}
	detail, _, err := r.read(ctx)
	if err != nil {
		return state.Outcome{}, err
	}
	shared, err := r.sharedGroup(ctx, detail)
	if err != nil {
		return state.Outcome{}, err
	}
	outcome, err := r.acceptance(detail, shared...)
	if err != nil {
		return state.Outcome{}, err
	}
	return r.writeAccepted(ctx, outcome)
}

// sharedGroup is the shortcoming of a transfer that is recorded or adopted, and of which another one
// has the group_id: an earlier version did not ask. There is none where a person has accepted it.
func (r Resolution) sharedGroup(ctx context.Context, detail state.Detail) ([]transfer.Difference, error) {
	isOld := detail.Status == state.Recorded || detail.Status == state.Adopted
	if !isOld || detail.GroupID == "" || HasAcceptedGroup(detail) {
		return nil, nil
	}
	snapshot, err := r.Journal.Snapshot(ctx)
	if err != nil {
		return nil, fmt.Errorf("resolve %q: %w", r.RefID, err)
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	for t, err := range snapshot.Transfers(ctx) {
		if err != nil {
			return nil, fmt.Errorf("resolve %q: %w", r.RefID, err)
		}
		if t.GroupID == detail.GroupID && t.RefID != detail.RefID {
			return []transfer.Difference{transfer.SharedGroup(t.GroupID, t.RefID)}, nil
		}
	}
	return nil, nil
}

// writeAccepted writes what a person accepts, the group_id of another transfer included.
func (r Resolution) writeAccepted(ctx context.Context, outcome state.Outcome) (state.Outcome, error) {
	written, err := r.write(ctx, outcome)
	if shared, ok := errors.AsType[*state.DuplicateGroupError](err); ok {
		outcome.Differences = append(slices.Clip(outcome.Differences), transfer.SharedGroup(shared.GroupID, shared.RefID))
		return r.write(ctx, outcome)
	}
	return written, err
}

// ResolveAcceptRecords is [ResolveAcceptRecord] of several ref_ids, with the records that are kept: of
// all or, on an error, of none. r names no ref_id.
func ResolveAcceptRecords(ctx context.Context, r Resolution, refIDs []string) ([]state.Outcome, error) {
	snapshot, err := r.Journal.Snapshot(ctx)
	if err != nil {
		return nil, fmt.Errorf("accept records: %w", err)
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	outcomes := make(map[string]*state.Outcome, len(refIDs))
	var unfit error
	err = eachDetail(ctx, snapshot, refIDs, func(d state.Detail) {
		r.RefID = d.RefID
		outcome, err := r.acceptance(d)
		unfit = errors.Join(unfit, err)
		outcomes[d.RefID] = &outcome
	})
	if err = errors.Join(err, unfit); err != nil {
		return nil, err
	}
	if err := r.writeAll(ctx, outcomes); err != nil {
		return nil, fmt.Errorf("accept %d records: %w", len(outcomes), err)
	}
	accepted := make([]state.Outcome, 0, len(refIDs))
	for _, refID := range refIDs {
		if outcome := outcomes[refID]; outcome != nil {
			accepted = append(accepted, *outcome)
		}
	}
	return accepted, nil
}

// writeAll writes outcomes that a person accepts, all or none.
func (r Resolution) writeAll(ctx context.Context, outcomes map[string]*state.Outcome) error {
	for {
		entries := make([]state.Entry, 0, len(outcomes))
		for _, refID := range slices.Sorted(maps.Keys(outcomes)) {
			entries = append(entries, *outcomes[refID])
		}
		// A word that was given is written even where the person leaves meanwhile.
		err := r.Journal.Append(context.WithoutCancel(ctx), entries...)
		shared, ok := errors.AsType[*state.DuplicateGroupError](err)
		if !ok {
			return err
		}
		outcome := outcomes[shared.Asked] // each is refused once
		outcome.Differences = append(slices.Clip(outcome.Differences), transfer.SharedGroup(shared.GroupID, shared.RefID))
	}
}

// acceptance is a person's word that a transfer stands as its kept record has it.
func (r Resolution) acceptance(detail state.Detail, shared ...transfer.Difference) (state.Outcome, error) {
	outcome := state.Outcome{RefID: detail.RefID}
	kept, err := keptRecords(detail)
	switch detail.Status {
	case state.Conflict:
		outcome.Status = state.Recorded
	case state.Unverified:
		outcome.Status = state.Adopted
	case state.Recorded, state.Adopted: // an earlier version asked less of a record
		if len(Unaccepted(detail))+len(shared) == 0 {
			return state.Outcome{}, &StatusError{r.RefID, detail.Status}
		}
		outcome.Status = detail.Status
	case state.Unsent, state.InDoubt, state.Refused, state.Tombstone:
		return state.Outcome{}, &StatusError{r.RefID, detail.Status}
	}
	if err != nil {
		return state.Outcome{}, fmt.Errorf("resolve %q: %w: %w", r.RefID, ErrNoRecord, err)
	}
	if len(kept) == 0 && detail.IsListed() {
		return r.vouch(detail), nil
	}
	if len(kept) == 0 {
		return state.Outcome{}, fmt.Errorf("resolve %q: %w", r.RefID, ErrNoRecord)
	}
	deciding, err := r.accept(kept, detail)
	if err != nil {
		return state.Outcome{}, err
	}
	outcome.Records = raws(kept, deciding)
	outcome.Differences = append(withShortcomings(detail.Outcome.Differences, *deciding), shared...)
	return r.said(outcome), nil
}

// HasAcceptedGroup reports whether a person has accepted the group_id of a transfer as its record has it.
func HasAcceptedGroup(detail state.Detail) bool {
	return detail.Outcome != nil && slices.ContainsFunc(detail.Outcome.Differences, func(d transfer.Difference) bool { return d.Field == "group_id" })
}

// withShortcomings are differences that a person accepts with a record, and in what else it falls short.
func withShortcomings(differences []transfer.Difference, record transfer.Record) []transfer.Difference {
	return slices.Concat(differences, transfer.BeyondAccepted(transfer.Shortcomings(record), differences))
}

// Unaccepted are the [transfer.Shortcomings] of the record of a transfer that is recorded or adopted,
// which no person has accepted. An earlier version recorded such transfers. That another one has its
// group_id is not among them.
func Unaccepted(detail state.Detail) []transfer.Difference {
	isVouched := detail.Outcome != nil && detail.Outcome.Source == state.SourcePerson
	if isVouched || detail.Status != state.Recorded && detail.Status != state.Adopted {
		return nil
	}
	kept, err := keptRecords(detail)
	i := slices.IndexFunc(kept, func(r transfer.Record) bool { return r.ID == detail.RecordID })
	if err != nil || i < 0 {
		return nil
	}
	record := kept[i]
	record.GroupID = orElse(record.GroupID, detail.GroupID)
	return transfer.BeyondAccepted(transfer.Shortcomings(record), detail.Outcome.Differences)
}

// vouch takes the word of a person that a transfer was made of which a list says so and no record.
// It stays without a status of the service's: what depends on it goes on waiting.
func (r Resolution) vouch(detail state.Detail) state.Outcome {
	listed := state.Listed{GroupID: detail.GroupID}
	if detail.Outcome.Listed != nil {
		listed = *detail.Outcome.Listed
	}
	return r.said(state.Outcome{RefID: r.RefID, Status: state.Adopted, Listed: &listed, Differences: detail.Outcome.Differences})
}

// give stores records that a person got from the service; with accept, also those that
// differ from what was asked.
func (r Resolution) give(ctx context.Context, records []transfer.Record, accept bool) (state.Outcome, error) {
	detail, meta, err := r.read(ctx)
	if err != nil {
		return state.Outcome{}, err
	}
	k, err := r.known(detail, meta)
	if err != nil {
		return state.Outcome{}, err
	}
	v := judgeRecords(k, inDoubt, records)
	switch {
	case v.outcome.Status == state.Conflict:
		differences := unaccepted(k, detail, v.outcome.Differences)
		if len(differences) > 0 && !accept {
			return state.Outcome{}, &DifferenceError{r.RefID, differences}
		}
		deciding, err := r.accept(records, detail)
		if err != nil {
			return state.Outcome{}, err
		}
		return r.writeAccepted(ctx, r.said(state.Outcome{
			RefID: r.RefID, Status: statusAccepted(detail.Status),
			Records: raws(records, deciding), Differences: withShortcomings(v.outcome.Differences, *deciding),
		}))
	case !v.outcome.Status.Made():
		return state.Outcome{}, fmt.Errorf("resolve %q: %w", r.RefID, ErrCreditOnly)
	case v.outcome.Status == state.Unverified && len(v.outcome.Differences) > 0:
		if differences := stillShort(detail, v.outcome.Differences); len(differences) > 0 && !accept {
			return state.Outcome{}, &DifferenceError{r.RefID, differences}
		}
		v.outcome.Status = statusAccepted(detail.Status)
	case v.outcome.Status == state.Unverified || !detail.Status.MayBeMade():
		v.outcome.Status = state.Adopted // a person vouches for it
	}
	if accept {
		return r.writeAccepted(ctx, r.said(v.outcome))
	}
	outcome, err := r.say(ctx, v.outcome)
	if shared, ok := errors.AsType[*state.DuplicateGroupError](err); ok {
		return state.Outcome{}, &DifferenceError{r.RefID, []transfer.Difference{transfer.SharedGroup(shared.GroupID, shared.RefID)}}
	}
	return outcome, err
}

// stillShort are the shortcomings of given records that nobody has accepted yet. Whom they paid, the
// person who gives them says.
func stillShort(detail state.Detail, shortcomings []transfer.Difference) []transfer.Difference {
	var accepted []transfer.Difference
	if detail.Status.Made() && detail.Status != state.Unverified && detail.Outcome != nil {
		accepted = detail.Outcome.Differences
	}
	return transfer.BeyondAccepted(shortcomings, append(slices.Clip(accepted), transfer.Difference{Field: fieldDestination}))
}

// statusAccepted is what a transfer becomes by a record that differs and is accepted: ours
// where a request of ours may have made it.
func statusAccepted(before state.Status) state.Status {
	switch before {
	case state.InDoubt, state.Conflict, state.Recorded:
		return state.Recorded
	case state.Unsent, state.Adopted, state.Unverified, state.Refused, state.Tombstone:
		return state.Adopted
	}
	panic(fmt.Sprintf("a record of %v was accepted", before))
}

// unaccepted are those of the differences that a made transfer's stored records do not have:
// in the others a person has accepted it.
func unaccepted(k known, detail state.Detail, differences []transfer.Difference) []transfer.Difference {
	if !detail.Status.Made() || detail.Outcome == nil {
		return differences
	}
	standing := slices.Clone(detail.Outcome.Differences)
	if stored, err := keptRecords(detail); err == nil { // otherwise they excuse nothing
		standing = append(standing, judgeRecords(k, inDoubt, stored).outcome.Differences...)
	}
	return slices.DeleteFunc(slices.Clone(differences), func(d transfer.Difference) bool { return slices.Contains(standing, d) })
}

// keptRecords are the records of the latest outcome, the deciding one first where there is
// one; none where there is no outcome.
func keptRecords(detail state.Detail) ([]transfer.Record, error) {
	if detail.Outcome == nil {
		return nil, nil
	}
	records := make([]transfer.Record, 0, len(detail.Outcome.Records))
	for _, raw := range detail.Outcome.Records {
		record, err := transfer.ParseRecord(raw)
		if err != nil {
			return nil, err
		}
		records = append(records, record)
	}
	return records, nil
}

// accept chooses the record that a person accepts, which is [ErrCreditOnly] where only the
// credit side is there: it says nothing of what was debited, and can't be replaced later.
func (r Resolution) accept(records []transfer.Record, detail state.Detail) (*transfer.Record, error) {
	deciding := accepted(records, detail.RecordID)
	if deciding.Direction == transfer.Credit && deciding.ID != detail.RecordID {
		return nil, fmt.Errorf("resolve %q: %w", r.RefID, ErrCreditOnly)
	}
	return deciding, nil
}

// accepted is the record among those of a conflict that a person accepts: the stored one,
// which never leaves its ref_id, and else the debit side.
func accepted(records []transfer.Record, stored string) *transfer.Record {
	for i := range records {
		if records[i].ID == stored {
			return &records[i]
		}
	}
	for i := range records {
		if records[i].Direction == transfer.Debit {
			return &records[i]
		}
	}
	return &records[0]
}

// ResolveNotMade settles a doubt, or a conflict, as not made, for good: the ref_id is never
// sent again. It returns the outcome that it wrote. The error is a *[StatusError] for any
// other status, an *[AliveError] while the holder of the attempt may be alive, or
// [ErrUnknownRefID]; then nothing was written.
func ResolveNotMade(ctx context.Context, r Resolution) (state.Outcome, error) {
	detail, _, err := r.read(ctx)
	if err != nil {
		return state.Outcome{}, err
	}
	switch detail.Status {
	case state.InDoubt, state.Conflict:
	case state.Unsent, state.Recorded, state.Adopted, state.Unverified, state.Refused, state.Tombstone:
		return state.Outcome{}, &StatusError{r.RefID, detail.Status}
	}
	if err := r.seenDead(ctx, detail); err != nil {
		return state.Outcome{}, err
	}
	return r.say(ctx, state.Outcome{RefID: r.RefID, Status: state.Tombstone})
}

// ResolveForgotten settles a ref_id for good, whatever it is: it is never sent again. It
// returns the outcome that it wrote. The error is an *[AliveError] while the holder of an
// attempt that is in doubt may be alive, [ErrUnknownRefID], or what the state refuses; then
// nothing was written. That it is no longer declared is the caller's to see to.
func ResolveForgotten(ctx context.Context, r Resolution) (state.Outcome, error) {
	detail, _, err := r.read(ctx)
	if err != nil {
		return state.Outcome{}, err
	}
	if detail.Status == state.InDoubt {
		if err := r.seenDead(ctx, detail); err != nil {
			return state.Outcome{}, err
		}
	}
	return r.say(ctx, state.Outcome{RefID: r.RefID, Status: state.Tombstone})
}

// ResolveByLookup asks the service, as long as its lists may lag, and returns the outcome
// that it wrote: recorded, adopted, unverified or conflict. The error is [ErrAbsent],
// [ErrCreditOnly], [ErrNoRequest], [ErrUnknownRefID], a *[StatusError] where the ref_id is neither in doubt
// nor unverified, or the lookup's; then nothing was written.
func ResolveByLookup(ctx context.Context, r Resolution, finder Finder) (state.Outcome, error) {
	detail, meta, err := r.read(ctx)
	if err != nil {
		return state.Outcome{}, err
	}
	switch detail.Status {
	case state.InDoubt, state.Unverified:
	case state.Unsent, state.Recorded, state.Adopted, state.Refused, state.Conflict, state.Tombstone:
		return state.Outcome{}, &StatusError{r.RefID, detail.Status}
	}
	k, err := r.known(detail, meta)
	if err != nil {
		return state.Outcome{}, err
	}
	pauses := lateLists()
	for n := 0; ; n++ {
		found, err := finder.Find(ctx, []string{r.RefID})
		if err != nil {
			return state.Outcome{}, fmt.Errorf("look up %q: %w", r.RefID, err)
		}
		why := ErrAbsent
		if records := found[r.RefID]; len(records) > 0 {
			v := judgeFound(k, inDoubt, records)
			if !v.unread {
				outcome, err := r.write(ctx, v.outcome)
				if shared, ok := sharesGroup(err, v); ok {
					return r.write(ctx, shared.outcome)
				}
				return outcome, err
			}
			why = ErrCreditOnly
		}
		if n == len(pauses) {
			return state.Outcome{}, fmt.Errorf("look up %q: %w", r.RefID, why)
		}
		if err := r.Clock.Sleep(ctx, pauses[n]); err != nil {
			return state.Outcome{}, fmt.Errorf("look up %q: %w", r.RefID, err)
		}
	}
}

// read returns what the state knows now.
func (r Resolution) read(ctx context.Context) (state.Detail, state.Meta, error) {
	snapshot, err := r.Journal.Snapshot(ctx)
	if err != nil {
		return state.Detail{}, state.Meta{}, fmt.Errorf("resolve %q: %w", r.RefID, err)
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	details, err := snapshot.Details(ctx, r.RefID)
	if err != nil {
		return state.Detail{}, state.Meta{}, fmt.Errorf("resolve %q: %w", r.RefID, err)
	}
	if len(details) == 0 {
		return state.Detail{}, state.Meta{}, fmt.Errorf("resolve %q: %w", r.RefID, ErrUnknownRefID)
	}
	return details[0], snapshot.Meta(), nil
}

// known is what records are held against.
func (r Resolution) known(detail state.Detail, meta state.Meta) (known, error) {
	if detail.Intent.Body == "" && !detail.IsListed() {
		return known{}, fmt.Errorf("resolve %q: %w", r.RefID, ErrNoRequest)
	}
	u := newUnsettled(detail, "", r.Policy)
	if u.amiss != "" {
		return known{}, fmt.Errorf("resolve %q: %s: %w", r.RefID, u.amiss, ErrUnknownRefID)
	}
	u.customer = meta.Service.CustomerID
	return u.known, nil
}

// say writes a person's word.
func (r Resolution) say(ctx context.Context, outcome state.Outcome) (state.Outcome, error) {
	return r.write(ctx, r.said(outcome))
}

// said is an outcome as a person's word.
func (r Resolution) said(outcome state.Outcome) state.Outcome {
	outcome.Source, outcome.By, outcome.Reason = state.SourcePerson, &r.By, r.Reason
	return outcome
}

func (r Resolution) write(ctx context.Context, outcome state.Outcome) (state.Outcome, error) {
	// A word that was given is written even where the person leaves meanwhile.
	err := r.Journal.Append(context.WithoutCancel(ctx), outcome)
	switch {
	case err == nil:
		return outcome, nil
	case refusal(err): // it says what could not be done to which ref_id
		return state.Outcome{}, err
	}
	return state.Outcome{}, fmt.Errorf("record outcome of %q: %w", r.RefID, err)
}
