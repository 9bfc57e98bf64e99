package executor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"remit/internal/transfer"
	"remit/state"
)

// watched is a transfer that is recorded, while its status is not final, or is looked up once more.
type watched struct {
	knownTransfer
	detail    state.Detail // as the state has it
	isUnknown bool         // its request is not known: its stored record is all that there is to compare
}

// newsKind says what a lookup has of a watched transfer.
type newsKind uint8

const (
	newsNone       newsKind = iota // nothing that the state does not have
	newsAbsent                     // it is not listed; lists lag, so that says nothing
	newsUnreadable                 // something is listed that can't be read
	newsChanged                    // a newer copy of its record, which is in the state now
	newsConflict                   // a record that contradicts what the state has
	newsRefused                    // a record that the state takes from a person alone
	newsSettled                    // another runner of the run has looked it up: it is not watched any more
)

// news is what a lookup says of a watched transfer.
type news struct {
	watched
	kind    newsKind
	changes []RecordChange // of newsChanged
	verdict verdict        // of newsChanged and newsConflict; durable
	reason  string         // of newsUnreadable and newsRefused, in words

	creditFailed bool // the debit side is COMPLETED, and the credit side FAILED, which nobody has accepted
	wasIdle      bool // the run counted it among those with which another apply would not go on
	isOpen       bool // of newsNone: the debit side is COMPLETED or FAILED, and the credit side is PENDING still
}

// final reports whether the service is done with the transfer.
func (n *news) final() bool { return n.kind == newsChanged && n.verdict.status.Final() }

// count adds the transfer to totals.
func (w *watched) count(totals *transfer.Totals) { totals.Add(w.detail.Asset, w.detail.Amount) }

// watcher looks transfers up that are recorded, and writes the news down.
type watcher struct {
	lookups  *lookups
	journal  *journalWriter
	life     *lifetime
	runID    string
	settings Settings
}

// lookupError says that the service could not be asked.
type lookupError struct{ error }

func (e *lookupError) Unwrap() error { return e.error }

// watch looks up at most [FindMax] transfers that are recorded, writes the news down and returns news
// of each. If the lookup fails, the error is a *lookupError: there are no news, and nothing was
// written. Any other error is the journal's. The lookup goes on as long as requests in flight may.
func (w *watcher) watch(list []watched) ([]news, error) {
	if len(list) == 0 {
		return nil, nil
	}
	found, err := w.lookups.find(w.life.flight, watchedIDs(list)...)
	if err != nil {
		return nil, &lookupError{err}
	}
	all := make([]news, len(list))
	for i := range list {
		all[i] = list[i].judge(found)
	}
	return all, w.writeNews(all)
}

func watchedIDs(list []watched) []string {
	ids := make([]string, len(list))
	for i := range list {
		ids[i] = list[i].refID
	}
	return ids
}

// isUnfinished reports whether a transfer is made, and the service was not done with it.
func isUnfinished(d state.Detail) bool { return d.Status.Made() && !d.RecordStatus.Final() }

// read reads what the state has of transfers, without those that takes does not accept.
func (w *watcher) read(refIDs []string, takes func(state.Detail) bool) ([]watched, error) {
	snapshot, err := w.journal.snapshot()
	if err != nil {
		return nil, fmt.Errorf("read the state: %w", err)
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	details, err := snapshot.Details(w.life.lasting, refIDs...)
	if err != nil {
		return nil, fmt.Errorf("read the state: %w", err)
	}
	var list []watched
	for _, d := range details {
		if takes(d) {
			u := newUnsettled(d, w.runID, w.settings)
			list = append(list, watched{u.knownTransfer, d, u.unreadable != ""})
		}
	}
	return list, nil
}

// writeNews makes news durable: all at once, or one by one if the state refuses some of them. An
// error is the journal's.
func (w *watcher) writeNews(all []news) error {
	var entries []state.Entry
	for i := range all {
		if all[i].kind == newsChanged || all[i].kind == newsConflict {
			entries = append(entries, all[i].verdict.outcome)
		}
	}
	if len(entries) == 0 {
		return nil
	}
	err := w.journal.append(entries...)
	for i := range all {
		n := &all[i]
		if n.kind != newsChanged && n.kind != newsConflict {
			continue
		}
		mine := err
		if isRefusal(err) {
			mine = w.journal.append(n.verdict.outcome)
		}
		if shared, ok := sharesGroup(mine, n.verdict); ok {
			n.verdict = shared
			mine = w.journal.append(n.verdict.outcome)
		}
		switch {
		case mine == nil:
			n.verdict.written = true
		case isRefusal(mine): // such as the record of another customer, which only a person may accept
			n.kind, n.reason = newsRefused, fmt.Sprintf("What the service says of it now is not taken over: %v.", mine)
		default:
			w.life.halt(fmt.Sprintf("what was looked up of %q could not be written: %v", n.refID, mine))
			return mine
		}
	}
	return nil
}

// judge judges the records of a transfer. A difference that a person has accepted contradicts nothing.
func (w watched) judge(found lookup) news {
	records := w.ofIt(found.records[w.refID])
	if why := found.unreadable[w.refID]; why != "" {
		return news{watched: w, kind: newsUnreadable, reason: unread(why)}
	}
	var finding transfer.Finding
	var differences []transfer.Difference
	if w.isUnknown {
		finding.Credit = transfer.Newest(records, isCredit)
	} else {
		finding = w.examine(records)
		differences = unaccepted(w.knownTransfer, w.detail, finding.Differences)
	}
	stored := w.stored()
	deciding := w.deciding(records, finding.Debit, stored)
	if deciding != nil {
		differences = append(differences, w.against(stored, deciding, differences)...)
	}
	switch {
	case len(differences) > 0:
		return news{watched: w, kind: newsConflict, verdict: w.contradict(records, stored, differences)}
	case deciding == nil:
		return news{watched: w, kind: newsAbsent}
	case deciding.Status.Final() && finding.Credit != nil && finding.Credit.Status == transfer.Pending:
		return news{watched: w, kind: newsNone, isOpen: true}
	}
	n := news{watched: w, kind: newsNone, changes: changesOf(w.detail.RecordStatus, stored, deciding)}
	now := renewedBy(w.detail, *deciding, finding.Credit, finding.DestinationProven)
	n.changes = append(n.changes, creditChanges(w.detail, now, finding.Credit)...)
	if unpaid, ok := transfer.OfCredit(now.shortcomings); ok {
		n.creditFailed = unpaid.Answered == string(transfer.Failed)
	}
	if w.detail.Status == state.Unverified && now.status == state.Adopted && finding.DestinationProven {
		n.changes = append(n.changes, RecordChange{fieldDestination, "not proven", "proven"})
	}
	if deciding.Status == transfer.Failed && isFailedUnasked(w.detail) {
		n.changes = append(n.changes, RecordChange{fieldSource, string(w.detail.Outcome.Source), string(state.SourceLookup)}) // by which it may be paid anew
	}
	if len(n.changes) == 0 {
		return n
	}
	n.kind = newsChanged
	n.verdict = verdict{
		outcome: state.Outcome{
			RefID: w.refID, RunID: w.runID, Status: now.status, Source: state.SourceLookup,
			Reason: "its status was looked up", Records: raws(records, deciding),
			Differences: slices.Concat(finding.Differences, now.accepted), Deciding: deciding,
		},
		result: resultOf(now.status, deciding.Status),
		status: deciding.Status, recordID: deciding.ID, group: deciding.GroupID,
	}
	n.verdict = fallShort(n.verdict, now.isUnproven, now.shortcomings)
	if deciding.Status == transfer.Failed {
		n.verdict.outcome.Reason = "the service's own status is FAILED" + failure(*deciding)
		n.verdict.next = "remit plan"
	}
	return n
}

// isFailedUnasked reports whether a transfer FAILED, and no lookup has said so: the answer to its request alone does, or a record that a person
// gave or imported.
func isFailedUnasked(d state.Detail) bool {
	return d.IsFailedSince(time.Time{}) && d.Outcome.Source != state.SourceLookup
}

// stored returns the record of the row; nil if the latest outcome does not have it.
func (w *watched) stored() *transfer.Record {
	kept, err := keptRecords(w.detail)
	if err != nil {
		return nil
	}
	if i := slices.IndexFunc(kept, w.isStored); i >= 0 {
		return &kept[i]
	}
	return nil
}

func (w *watched) isStored(r transfer.Record) bool { return r.ID == w.detail.RecordID }

// deciding returns the newer copy of the stored record, or the record in its place; nil if there is
// neither, as where the service lists the other side alone.
func (w *watched) deciding(records []transfer.Record, debit, stored *transfer.Record) *transfer.Record {
	if newest := transfer.Newest(records, w.isStored); newest != nil {
		return newest
	}
	if debit != nil || stored == nil {
		return debit
	}
	return transfer.Newest(records, func(r transfer.Record) bool { return r.Direction == stored.Direction })
}

// against returns in what the deciding record contradicts the stored one, without the fields that
// contradict the request as well.
func (w *watched) against(stored, deciding *transfer.Record, known []transfer.Difference) []transfer.Difference {
	var list []transfer.Difference
	switch {
	case stored != nil:
		list = transfer.CompareCopies(*stored, *deciding)
	case w.group != "": // there is none: examine compares it with what a list says
	case deciding.ID != w.detail.RecordID:
		list = []transfer.Difference{{Field: "id", Asked: w.detail.RecordID, Answered: deciding.ID}}
	}
	list = append(list, w.takenBack(stored, deciding)...)
	return slices.DeleteFunc(list, func(d transfer.Difference) bool {
		return slices.ContainsFunc(known, func(k transfer.Difference) bool { return k.Field == d.Field })
	})
}

// takenBack names the status of a deciding record that takes back what the state has as COMPLETED or FAILED. A
// copy that is not final takes it back only if it is newer: lists lag.
func (w *watched) takenBack(stored, deciding *transfer.Record) []transfer.Difference {
	was, now := w.detail.RecordStatus, deciding.Status
	isNewer := stored != nil && deciding.Version().Compare(stored.Version()) > 0
	if !was.Final() || now == was || now == transfer.NoStatus || !now.Final() && !isNewer {
		return nil
	}
	return []transfer.Difference{{Field: "status", Asked: string(was), Answered: string(now)}}
}

// contradict makes a conflict of the recorded transfer and the records of a lookup. The stored
// record is kept with the others, so that it can be accepted although the service does not
// list it.
func (w *watched) contradict(records []transfer.Record, stored *transfer.Record, differences []transfer.Difference) verdict {
	v := conflict(w.knownTransfer, records, differences)
	v.outcome.Source, v.next = state.SourceLookup, command(w.refID, "--accept-record")
	if stored != nil && !slices.ContainsFunc(records, w.isStored) {
		v.outcome.Records = append([]json.RawMessage{stored.Raw}, v.outcome.Records...)
	}
	return v
}

// changesOf returns the fields that a newer copy of a record has changed. A field that a shorter copy
// lacks is no change.
func changesOf(before transfer.RecordStatus, stored, newer *transfer.Record) []RecordChange {
	var list []RecordChange
	add := func(field, before, after string, same bool) {
		if !same && after != "" {
			list = append(list, RecordChange{field, before, after})
		}
	}
	add("status", string(before), string(newer.Status), before == newer.Status)
	if stored == nil {
		return list
	}
	number := func(field, before, after string) {
		add(field, before, after, before == after || transfer.SameNumber(before, after))
	}
	number("fee", stored.Fee, newer.Fee)
	number("total", stored.Total, newer.Total)
	add("group_id", stored.GroupID, newer.GroupID, stored.GroupID == newer.GroupID)
	object := func(field string, before, after json.RawMessage) {
		was, is := compacted(before), compacted(after)
		add(field, was, is, was == is)
	}
	object("status_details", stored.StatusDetails, newer.StatusDetails)
	object("secondary_status", stored.SecondaryStatus, newer.SecondaryStatus)
	return list
}

// creditChanges returns the news of the credit side: it is not COMPLETED although the debit side is, or it is now.
func creditChanges(d state.Detail, now renewal, credit *transfer.Record) []RecordChange {
	before, after := "", ""
	if was, ok := unpaidCredit(d); ok {
		before = was.Answered
	}
	if unpaid, ok := transfer.OfCredit(now.shortcomings); ok {
		before, after = orElse(before, unpaid.Asked), unpaid.Answered
	} else if before != "" && credit != nil {
		after = string(credit.Status)
	}
	if after == "" || after == before {
		return nil
	}
	return []RecordChange{{"credit side", before, after}}
}

// unpaidCredit returns the shortcoming of a transfer that is unverified because its credit side is not COMPLETED.
func unpaidCredit(d state.Detail) (transfer.Difference, bool) {
	if d.Status != state.Unverified || d.Outcome == nil {
		return transfer.Difference{}, false
	}
	return transfer.OfCredit(d.Outcome.Differences)
}

// compacted returns JSON without space that means nothing; "" for none, and for an empty object.
func compacted(raw json.RawMessage) string {
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil || b.String() == "{}" {
		return ""
	}
	return b.String()
}
