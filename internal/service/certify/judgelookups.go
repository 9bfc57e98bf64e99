package certify

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"remit/internal/service/contract"
	"remit/internal/transfer"
)

// lagMax is how long remit waits for a lookup to list a transfer, in all: 1, 2, 5 and 15 seconds.
const lagMax = 23 * time.Second

func lookupRows() []string {
	return []string{
		contract.Lookup, contract.LookupFound, contract.LookupLag, contract.LookupRecord, contract.LookupSides,
		contract.LookupCredit, contract.LookupEmpty, contract.LookupAbsent, contract.LookupLength,
	}
}

func (j judgement) judgeLookups() {
	if j.trial.Finder == nil {
		for _, row := range lookupRows() {
			j.unknown(row, "Not tried: the service block has no lookup_path.")
		}
		return
	}
	j.judgeLag()
	f := &j.trial.final
	if !f.tried {
		return
	}
	if f.err != nil {
		j.differs(contract.Lookup, "%s.", sentence(f.err.Error()))
		for _, row := range lookupRows()[1:] {
			j.unknown(row, "Not tried: lookups fail.")
		}
		return
	}
	j.holds(contract.Lookup)
	for _, e := range j.trial.watch.exchanges {
		if e.IsPage && e.More && !e.Token {
			j.note(contract.Lookup, "It names a further page.")
		}
	}
	for _, refID := range slices.Sorted(maps.Keys(f.unreadable)) {
		why := f.unreadable[refID]
		j.differs(contract.LookupRecord, "The record of %q can't be read: %s.", refID, why)
	}
	for _, a := range j.answered() {
		if !a.refuse && !a.isOdd() {
			j.judgeListed(a)
		}
	}
	j.judgeOtherLookups()
}

func (j judgement) judgeLag() {
	switch l := j.trial.lag; {
	case !l.tried:
	case l.err != nil:
		j.differs(contract.Lookup, "%s.", sentence(l.err.Error()))
	case !l.listed:
		j.differs(contract.LookupLag, "It was not listed %s after its answer.", inWords(l.most))
	case l.most > lagMax:
		j.note(contract.LookupLag, "It was listed %s after its answer. remit waits for %s in all, and then sends the recorded request again: replay protection alone keeps it from being paid twice.", inWords(l.most), inWords(lagMax))
	case l.most > time.Second:
		j.note(contract.LookupLag, "It was listed %s after its answer.", inWords(l.most))
	default:
		j.holds(contract.LookupLag)
	}
}

// judgeListed looks at what lookups have of a transfer that was answered.
func (j judgement) judgeListed(a attempt) {
	refID := a.request.RefID
	records := j.trial.final.found[refID]
	switch {
	case j.trial.final.unreadable[refID] != "":
		return
	case len(records) == 0:
		j.differs(contract.LookupFound, "%q was not listed %s after the last request.", refID, inWords(j.trial.final.waited))
		return
	}
	if !j.asksAlone() {
		j.holds(contract.LookupFound)
	}
	j.holds(contract.LookupRecord)
	debit, credit := sidesOf(records, *a.answer.Record)
	if debit == nil {
		j.differs(contract.LookupSides, "It has the credit side alone.")
		return
	}
	if slices.ContainsFunc(records, func(r transfer.Record) bool { return r.ID == debit.ID && r.Version() != debit.Version() }) {
		j.note(contract.LookupRecord, "It has older copies of a record as well; the newest one counts.")
	}
	j.judgeCopies(a, *debit)
	if credit == nil {
		j.differs(contract.LookupSides, "It has the debit side alone, which does not say whom it paid.")
		return
	}
	if credit.RefID == "" {
		j.note(contract.LookupSides, "The credit side has no ref_id.")
	}
	j.judgeCredit(a.request, *debit, *credit)
}

// sidesOf are both sides of the transfer that was answered, among those of its ref_id; nil where they are not
// there. Another row judges the other transfers that were made under it.
func sidesOf(records []transfer.Record, answered transfer.Record) (debit, credit *transfer.Record) {
	for i := range records {
		r := &records[i]
		side := &debit
		if r.Direction == transfer.Credit {
			side = &credit
		}
		switch {
		case *side != nil && (*side).ID == r.ID:
			if r.Version().Compare((*side).Version()) > 0 {
				*side = r
			}
		case *side == nil || r.GroupID == answered.GroupID || r.ID == answered.ID:
			*side = r
		}
	}
	return debit, credit
}

// judgeCopies compares the debit side of a lookup with the answered record.
func (j judgement) judgeCopies(a attempt, debit transfer.Record) {
	answered := *a.answer.Record
	if answered.Direction == transfer.Debit {
		judgeSameTime(j.sheet, answered, debit)
		for _, d := range transfer.CompareCopies(answered, debit) {
			j.differsIn(contract.LookupRecord, d.Field, fmt.Sprintf("The lookup has %s %q, and the answer had %q.", d.Field, short(d.Answered), short(d.Asked)))
		}
	}
	if answered.Direction == transfer.Credit {
		for _, d := range transfer.Compare(a.request, debit, j.trial.Settings.Operator) {
			j.differsIn(contract.LookupRecord, d.Field, sentence(describe(d))+".")
		}
	}
	if debit.Fee != "" && answered.Fee != "" && !transfer.SameNumber(debit.Fee, answered.Fee) {
		j.note(contract.Total, "The service takes a fee: %s %s.", debit.Fee, debit.Asset)
	}
	for _, d := range transfer.Shortcomings(debit) {
		switch {
		case d.Answered != "" && isOfMoney(d):
			j.differs(contract.Total, "%s is %s where amount is %s and fee is %s.", d.Field, d.Answered, debit.Amount, debit.Fee)
		case !slices.ContainsFunc(transfer.Shortcomings(answered), func(other transfer.Difference) bool { return other.Field == d.Field }):
			text := fmt.Sprintf("The lookup has no %s, and the answer had one.", d.Field)
			if d.Answered != "" {
				text = fmt.Sprintf("The lookup's %s is %s, where it must be %s.", d.Field, d.Answered, d.Asked)
			}
			j.differsIn(contract.LookupRecord, d.Field, text)
		}
	}
}

func (j judgement) judgeCredit(asked transfer.Request, debit, credit transfer.Record) {
	j.holds(contract.LookupSides)
	j.holds(contract.LookupCredit)
	switch {
	case debit.GroupID == "" || credit.GroupID == "":
		j.differs(contract.LookupSides, "No group_id links the two sides.")
	case debit.GroupID != credit.GroupID:
		j.differs(contract.LookupSides, "The two sides have two group_ids: %s and %s.", debit.GroupID, credit.GroupID)
	}
	alike := transfer.Compare(asked, debit, j.trial.Settings.Operator) // what both sides have is told of the answer
	for _, d := range transfer.Compare(asked, credit, j.trial.Settings.Operator) {
		if !slices.ContainsFunc(alike, func(other transfer.Difference) bool { return other.Field == d.Field }) {
			j.differsIn(contract.LookupSides, d.Field, fmt.Sprintf("The credit side: %s.", describe(d)))
		}
	}
	if debit.Status == transfer.Completed && credit.Status != transfer.Completed {
		j.differs(contract.LookupCredit, "The debit side is COMPLETED, and the credit side is %s.", credit.Status)
	}
	if len(transfer.ContradictSides(&debit, &credit)) > 0 {
		j.differs(contract.LookupCredit, "The debit side is FAILED, and the credit side is %s.", credit.Status)
	}
}

// asksAlone reports whether a lookup of several ref_ids listed fewer than those of each by itself.
func (j judgement) asksAlone() bool {
	return len(j.trial.final.alone) > 0 || slices.ContainsFunc(j.trial.watch.exchanges, func(e Exchange) bool { return e.Alone })
}

func (j judgement) judgeOtherLookups() {
	f := &j.trial.final
	j.holds(contract.LookupAbsent)
	switch {
	case j.asksAlone():
		j.differs(contract.LookupFound, "Of several ref_ids that are asked for at once it does not list all that it lists of one. "+
			"See that the gateway passes on each parameter ref_ids: a lookup repeats it (?ref_ids=a&ref_ids=b).")
		j.unknown(contract.LookupLength, "Not tried: each ref_id is asked for alone.")
	case f.long:
		j.holds(contract.LookupLength)
	default:
		j.unknown(contract.LookupLength, "Not tried: a lookup of ref_ids that nobody used fails.")
	}
	if n := len(f.absent[j.trial.series+"never"]); n > 0 {
		j.differs(contract.LookupAbsent, "It lists %d records under a ref_id that nobody used.", n)
	}
	longest := 0
	for _, e := range j.trial.watch.exchanges {
		switch {
		case e.IsPage && e.Others > 0:
			j.differs(contract.LookupAbsent, "It lists records of ref_ids that were not asked for.")
		case e.IsPage:
			longest = max(longest, e.Length)
		case !e.Token && (e.Status == statusURITooLong || e.Status == statusTooLarge || e.Status == statusHeaderTooLarge):
			j.differs(contract.LookupLength, "An address that is as long as remit makes them is answered with %d.", e.Status)
		}
	}
	j.holds(contract.LookupEmpty)
	if f.absentErr != nil {
		j.differs(contract.LookupEmpty, "%s.", sentence(f.absentErr.Error()))
	}
	if f.longErr != nil && len(f.alone) == 0 {
		j.differs(contract.LookupLength, "%s.", sentence(f.longErr.Error()))
	}
}
