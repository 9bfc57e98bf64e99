package executor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"remit/internal/transfer"
	"remit/state"
)

var (
	// ErrUnknownRefID says that the state has no request under the ref_id.
	ErrUnknownRefID = errors.New("the state does not know this ref_id")

	// ErrCreditOnly says that the records given or found are of the credit side alone,
	// which does not say who was debited.
	ErrCreditOnly = errors.New("only the credit side is known; the record of the debit side is needed")

	// ErrCreditOpen says that the debit side is final and the credit side is PENDING still, so that nobody can tell whether
	// the money arrives.
	ErrCreditOpen = errors.New("its credit side is PENDING still, so nobody can tell whether the money arrives; look again once that is COMPLETED or FAILED")

	// ErrAbsent says that the service lists nothing under the ref_id. Lists lag: it proves
	// nothing.
	ErrAbsent = errors.New("the service lists no record of this ref_id")

	// ErrForeignKept says that the service lists nothing under a ref_id, and that the record which its conflict kept is of a ref_id that
	// nobody here knows: the service may write ref_ids in its own way.
	ErrForeignKept = errors.New("the service lists no record of this ref_id, and the conflict kept one of a ref_id that nobody here knows")

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
	what := "it cannot be settled so"
	switch e.Status {
	case state.Recorded, state.Adopted:
		what = "there is nothing to settle. If the money is to go back, declare a reversal"
	case state.Tombstone:
		what = "it was settled before, and its ref_id is never sent again"
	case state.Refused, state.Unsent:
		what = "nothing was made of it. The next apply sends it again, where it is declared"
	case state.InDoubt:
		what = "it has no record yet that could be accepted. Give the record that the service shows with --recorded=FILE, or say --not-made"
	case state.Unverified, state.Conflict:
		what = "the service has a record of it. Accept that with --accept-record, or give another one with --recorded=FILE"
	}
	return fmt.Sprintf("%q is %v: %s. Nothing was changed", e.RefID, e.Status, what)
}

// Resolution is a word about one ref_id, on a state that the caller has locked.
type Resolution struct {
	RefID    string
	By       state.Holder // who says so
	Reason   string       // why, in their words; needed but for [ResolveByLookup]
	Journal  Journal
	Settings Settings // Operator, FingerprintKey and RequestTimeout are used
	Clock    Clock
	// Date asks the service what time it is: a token's Date, or the zero time where there is none to be
	// had. It is asked where no other clock tells that the holder of an attempt is dead; nil for nobody.
	Date func(ctx context.Context) time.Time
	// Finder is asked whether the service lists what is to be settled as not made; nil for nobody.
	Finder Finder
	// Unasked is told that Finder could not be asked, and why; nil for nobody.
	Unasked func(err error)
	// Declares returns a ref_id that the files declare and that fits, "" for none; nil where nothing is declared.
	Declares func(ctx context.Context, is func(refID string) bool) (string, error)
	// Waiting is told, in a sentence, that the call waits itself; nil for nobody.
	Waiting func(text string)
}

// ResolveNotMade settles a doubt, or a conflict, as not made, for good: the ref_id is never
// sent again. It returns the outcome that it wrote. The error is a *[StatusError] for any
// other status, an *[AliveError] while the holder of the attempt may be alive, a *[ListedError] where the
// service lists it or the conflict kept its record, a *[HeldError] where the state has its record under another ref_id, or [ErrUnknownRefID]; then nothing
// was written.
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
	if held, err := r.held(ctx); err != nil {
		return state.Outcome{}, err
	} else if held != nil {
		return state.Outcome{}, held
	}
	if reused, err := keepsReused(ctx, r, detail); err != nil {
		return state.Outcome{}, err
	} else if reused != nil {
		return state.Outcome{}, &ListedError{RefID: r.RefID, Status: detail.Status, Kept: true}
	}
	if err := r.seenDead(ctx, detail); err != nil {
		return state.Outcome{}, err
	}
	if r.Finder != nil {
		if err := r.unlisted(ctx, detail); err != nil {
			return state.Outcome{}, err
		}
	}
	closed := state.Outcome{RefID: r.RefID, Status: state.Tombstone}
	if keepsForeign(r.Settings, detail) {
		closed.Records = detail.Outcome.Records // the person was shown them, see [watched.ofIt]
	}
	return r.say(ctx, closed)
}

// unlisted returns a *[ListedError] where the service lists something under the ref_id that may be the transfer: nobody's word makes that not
// made. Foreign records alone are none of it, see [transfer.IsForeign]. A service that can't be asked says nothing against the word. It is asked twice: a cache in between may have the list of an
// earlier run, and a client writes the second address otherwise.
func (r Resolution) unlisted(ctx context.Context, detail state.Detail) error {
	for range 2 {
		if isAsked, err := r.unlistedOnce(ctx, detail); err != nil || !isAsked {
			return err
		}
	}
	return nil
}

func (r Resolution) unlistedOnce(ctx context.Context, detail state.Detail) (isAsked bool, err error) {
	found, err := r.Finder.Find(ctx, []string{r.RefID})
	unreadable, isUnreadable := errors.AsType[*UnreadableError](err)
	switch {
	case isUnreadable:
		return true, &ListedError{RefID: r.RefID, Status: detail.Status, Unreadable: unreadable.Reasons[r.RefID]}
	case err != nil && ctx.Err() != nil:
		return false, fmt.Errorf("look up %q: %w", r.RefID, err)
	case err != nil && r.Unasked != nil:
		r.Unasked(err)
		return false, nil
	case len(found[r.RefID]) > 0 && !isOnlyForeign(r.Settings, detail, found[r.RefID]):
		return true, &ListedError{RefID: r.RefID, Status: detail.Status}
	}
	return err == nil, nil
}

// ListedError says that the service lists a transfer that a person would settle as not made.
type ListedError struct {
	RefID      string
	Status     state.Status // of the transfer: in doubt, or in conflict
	Unreadable string       // why its record can't be read; "" where it can
	Kept       bool         // the conflict has its record, and nobody was asked
}

// Error names the record that was found.
func (e *ListedError) Error() string {
	if e.Unreadable != "" {
		return fmt.Sprintf("the service's list does not say that %q was not made: %s. Nothing was changed. Where the service's operator says that there is none, "+
			"take lookup_path out of the service block, and say --not-made again", e.RefID, e.Unreadable)
	}
	if e.Kept {
		return fmt.Sprintf("the record that the conflict kept names %q itself, so it was made. Nothing was changed. Another transfer's record has its id, since "+
			"the service gave an id again. Accept the record", e.RefID)
	}
	if e.Status == state.Conflict {
		return fmt.Sprintf("the service lists a record of %q, so it was made. Nothing was changed. Accept the record that the conflict kept, "+
			"or give the one that the service lists, with --recorded=FILE --accept-record", e.RefID)
	}
	return fmt.Sprintf("the service lists a record of %q, so it was made. Nothing was changed. Look it up", e.RefID)
}

// UnsettledError says that a ref_id can't be forgotten: it is in doubt, or in conflict with nothing but an answer or a list
// to show for it, so that it may have been made, and no guard would know it any more.
type UnsettledError struct{ state.Detail }

// Error says so, and what a person can say instead.
func (e *UnsettledError) Error() string {
	return fmt.Sprintf("%q is in %s: it may have been made, so it is not forgotten. Settle it first: give the record that the service shows, "+
		"or say --not-made where the service's operator says that there is none. Nothing was changed", e.RefID, strings.TrimPrefix(e.Status.String(), "in "))
}

// ResolveForgotten settles a ref_id for good: it is never sent again. It returns the outcome that it
// wrote. The error is an *[UnsettledError] where nobody knows whether it was made, [ErrUnknownRefID], or what the state
// refuses; then nothing was written. That it is no longer declared is the caller's to see to.
func ResolveForgotten(ctx context.Context, r Resolution) (state.Outcome, error) {
	detail, _, err := r.read(ctx)
	if err != nil {
		return state.Outcome{}, err
	}
	if detail.Status == state.InDoubt || detail.Status == state.Conflict && (detail.RecordID == "" || detail.RecordStatus == transfer.Failed) {
		held, err := r.held(ctx)
		if err != nil {
			return state.Outcome{}, err
		}
		if held == nil || !held.Stored { // else it was made, and no record of its own can end it
			return state.Outcome{}, &UnsettledError{detail}
		}
	}
	return r.say(ctx, state.Outcome{RefID: r.RefID, Status: state.Tombstone})
}

// ResolveByLookup asks the service, as long as its lists may lag, and returns the outcome
// that it wrote: recorded, adopted, unverified or conflict. Of a conflict that kept the record of another transfer it takes over what
// agrees, as [ResolveRecorded] does. The error is [ErrAbsent],
// [ErrCreditOnly], [ErrCreditOpen], [ErrNoRequest], [ErrUnknownRefID], a *[ForeignError], a *[StatusError] where the ref_id is neither in doubt
// nor unverified nor in such a conflict, [ErrForeignKept], or the lookup's; then nothing was written.
func ResolveByLookup(ctx context.Context, r Resolution, finder Finder) (state.Outcome, error) {
	detail, meta, err := r.read(ctx)
	if err != nil {
		return state.Outcome{}, err
	}
	switch detail.Status {
	case state.InDoubt, state.Unverified:
	case state.Unsent, state.Recorded, state.Adopted, state.Refused, state.Conflict, state.Tombstone:
		if detail.KeepsAnothers() || keepsForeign(r.Settings, detail) {
			return lookUpInConflict(ctx, r, detail, finder)
		}
		return state.Outcome{}, &StatusError{r.RefID, detail.Status}
	}
	k, err := r.known(detail, meta)
	if err != nil {
		return state.Outcome{}, err
	}
	pauses, kept := lateLists(), keptSides(detail)
	for n := 0; ; n++ {
		found, err := finder.Find(ctx, []string{r.RefID})
		if err != nil {
			return state.Outcome{}, fmt.Errorf("look up %q: %w", r.RefID, err)
		}
		why := ErrAbsent
		if records := withKept(found[r.RefID], kept); len(records) > 0 {
			v := judgeFound(k, inDoubt, records)
			if !v.unread {
				outcome, err := r.write(ctx, v.outcome)
				if shared, ok := sharesGroup(err, v); ok {
					return r.write(ctx, shared.outcome)
				}
				return outcome, err
			}
			why = undecidedBy(records)
		}
		if n == len(pauses) {
			return state.Outcome{}, fmt.Errorf("look up %q: %w", r.RefID, why)
		}
		if err := r.Clock.Sleep(ctx, pauses[n]); err != nil {
			return state.Outcome{}, fmt.Errorf("look up %q: %w", r.RefID, err)
		}
	}
}

// lookUpInConflict asks the service for the record of a transfer whose conflict kept that of another one, as long as lists may lag, and
// takes an agreeing one over by the word of who asks. Where nothing is listed, the error is [ErrAbsent] or [ErrForeignKept].
func lookUpInConflict(ctx context.Context, r Resolution, detail state.Detail, finder Finder) (state.Outcome, error) {
	r.Reason = orElse(r.Reason, "the service lists this record, which agrees with the request")
	pauses := lateLists()
	for n := 0; ; n++ {
		found, err := finder.Find(ctx, []string{r.RefID})
		if err != nil {
			return state.Outcome{}, fmt.Errorf("look up %q: %w", r.RefID, err)
		}
		records, foreign := ownAndForeign(r.Settings, detail, found[r.RefID])
		if slices.ContainsFunc(records, isDebit) {
			return r.give(ctx, records, false)
		}
		if n == len(pauses) && len(records) == 0 && len(foreign) > 0 {
			return state.Outcome{}, &ForeignError{r.RefID, transfer.DescribeForeign(foreign)}
		}
		if n == len(pauses) {
			return state.Outcome{}, absent(ctx, r, detail, records)
		}
		if err := r.Clock.Sleep(ctx, pauses[n]); err != nil {
			return state.Outcome{}, fmt.Errorf("look up %q: %w", r.RefID, err)
		}
	}
}

// absent is why a lookup of a conflict decides nothing.
func absent(ctx context.Context, r Resolution, detail state.Detail, found []transfer.Record) error {
	why := ErrAbsent
	if len(found) > 0 {
		why = ErrCreditOnly
	}
	kept, err := keptRecords(detail)
	if err != nil || len(kept) == 0 || len(found) > 0 {
		return fmt.Errorf("look up %q: %w", r.RefID, why)
	}
	other, err := holderOf(ctx, r, accepted(kept, detail.RecordID).ID)
	if err == nil && other == "" {
		err = r.keptBelongs(ctx, detail)
	}
	switch _, isOthers := errors.AsType[*OthersError](err); {
	case err != nil && !isOthers:
		return err
	case err == nil && other == "":
		why = ErrForeignKept
	}
	return fmt.Errorf("look up %q: %w", r.RefID, why)
}

// undecidedBy is why records that agree decide nothing.
func undecidedBy(records []transfer.Record) error {
	if slices.ContainsFunc(records, isDebit) {
		return ErrCreditOpen
	}
	return ErrCreditOnly
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

// known is the state's side of a comparison with records.
func (r Resolution) known(detail state.Detail, meta state.Meta) (knownTransfer, error) {
	if detail.Intent.Body == "" && !detail.IsListed() {
		return knownTransfer{}, fmt.Errorf("resolve %q: %w", r.RefID, ErrNoRequest)
	}
	u := newUnsettled(detail, "", r.Settings)
	if u.unreadable != "" {
		return knownTransfer{}, fmt.Errorf("resolve %q: %s: %w", r.RefID, u.unreadable, ErrUnknownRefID)
	}
	u.customer = meta.Service.CustomerID
	return u.knownTransfer, nil
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
	case isRefusal(err): // it names the failed act and the ref_id
		if reused := reusedID(ctx, r.Journal, outcome.RefID, outcome.Records, err); reused != nil {
			return state.Outcome{}, reused
		}
		return state.Outcome{}, err
	}
	return state.Outcome{}, fmt.Errorf("record outcome of %q: %w", r.RefID, err)
}
