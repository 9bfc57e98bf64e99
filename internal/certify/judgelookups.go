package certify

import (
	"time"

	"remit/executor"
	"remit/internal/contract"
	"remit/internal/transfer"
)

// lagMax is how long remit waits for a lookup to list a transfer, in all: 1, 2, 5 and 15 seconds.
const lagMax = 23 * time.Second

func lookupRows() []string {
	return []string{
		contract.Lookup, contract.LookupFound, contract.LookupLag, contract.LookupRecord, contract.LookupSides,
		contract.LookupCredit, contract.LookupAbsent, contract.LookupLength,
	}
}

func (t *Trial) judgeLookups(s sheet) {
	if t.Finder == nil {
		for _, row := range lookupRows() {
			s.unknown(row, "Not tried: the service block has no lookup_path.")
		}
		return
	}
	t.judgeLag(s)
	f := &t.final
	if !f.tried {
		return
	}
	if f.err != nil {
		s.differs(contract.Lookup, "%s.", sentence(f.err.Error()))
		for _, row := range lookupRows()[1:] {
			s.unknown(row, "Not tried: lookups fail.")
		}
		return
	}
	s.holds(contract.Lookup)
	for _, e := range t.watch.exchanges {
		if e.IsPage && e.More && !e.Token {
			s.note(contract.Lookup, "It names a further page.")
		}
	}
	for refID, why := range f.unreadable {
		s.differs(contract.LookupRecord, "The record of %q can't be read: %s.", refID, why)
	}
	for _, a := range t.answered() {
		if !a.refuse {
			t.judgeListed(s, a)
		}
	}
	t.judgeOtherLookups(s)
}

func (t *Trial) judgeLag(s sheet) {
	switch l := t.lag; {
	case !l.tried:
	case l.err != nil:
		s.differs(contract.Lookup, "%s.", sentence(l.err.Error()))
	case !l.listed:
		s.differs(contract.LookupLag, "It was not listed %s after its answer.", inWords(l.most))
	case l.most > lagMax:
		s.differs(contract.LookupLag, "It was listed %s after its answer.", inWords(l.most))
	case l.most > time.Second:
		s.note(contract.LookupLag, "It was listed %s after its answer.", inWords(l.most))
	default:
		s.holds(contract.LookupLag)
	}
}

// judgeListed looks at what lookups have of a transfer that was answered.
func (t *Trial) judgeListed(s sheet, a attempt) {
	refID := a.request.RefID
	records := t.final.found[refID]
	switch {
	case t.final.unreadable[refID] != "":
		return
	case len(records) == 0:
		s.differs(contract.LookupFound, "%q was not listed %s after the last request.", refID, inWords(t.final.waited))
		return
	}
	s.holds(contract.LookupFound)
	s.holds(contract.LookupRecord)
	var debit, credit *transfer.Record
	for i := range records {
		side := &debit
		if records[i].Direction == transfer.Credit {
			side = &credit
		}
		*side = &records[i]
	}
	if debit == nil {
		s.differs(contract.LookupSides, "It has the credit side alone.")
		return
	}
	t.judgeCopies(s, a, *debit)
	if credit == nil {
		s.differs(contract.LookupSides, "It has the debit side alone, which does not say whom it paid.")
		return
	}
	if credit.RefID == "" {
		s.note(contract.LookupSides, "The credit side has no ref_id.")
	}
	t.judgeCredit(s, a.request, *debit, *credit)
}

// judgeCopies compares the debit side of a lookup with the answered record.
func (t *Trial) judgeCopies(s sheet, a attempt, debit transfer.Record) {
	answered := *a.answer.Record
	if answered.Direction == transfer.Debit {
		for _, d := range transfer.CompareCopies(answered, debit) {
			s.differs(contract.LookupRecord, "The lookup has %s %q, and the answer had %q.", d.Field, d.Answered, d.Asked)
		}
	}
	for _, d := range transfer.Compare(a.request, debit, t.Policy.Operator) {
		s.differs(contract.LookupRecord, "%s", sentence(executor.Describe([]transfer.Difference{d}))+".")
	}
	if !transfer.SameNumber(debit.Fee, answered.Fee) {
		s.note(contract.Total, "The service takes a fee: %s %s.", debit.Fee, debit.Asset)
	}
	for _, d := range transfer.Shortcomings(debit) {
		switch {
		case d.Field == "total":
			s.differs(contract.Total, "total is %s where amount is %s and fee is %s.", d.Answered, debit.Amount, debit.Fee)
		case answered.GroupID != "":
			s.differs(contract.LookupRecord, "The lookup has no group_id.")
		}
	}
}

func (t *Trial) judgeCredit(s sheet, asked transfer.Request, debit, credit transfer.Record) {
	s.holds(contract.LookupSides)
	s.holds(contract.LookupCredit)
	switch {
	case debit.GroupID == "" || credit.GroupID == "":
		s.differs(contract.LookupSides, "No group_id links the two sides.")
	case debit.GroupID != credit.GroupID:
		s.differs(contract.LookupSides, "The two sides have two group_ids: %s and %s.", debit.GroupID, credit.GroupID)
	}
	for _, d := range transfer.Compare(asked, credit, t.Policy.Operator) {
		s.differs(contract.LookupSides, "The credit side: %s.", executor.Describe([]transfer.Difference{d}))
	}
	if debit.Status == transfer.Completed && credit.Status != transfer.Completed {
		s.differs(contract.LookupCredit, "The debit side is COMPLETED, and the credit side is %s.", credit.Status)
	}
}

func (t *Trial) judgeOtherLookups(s sheet) {
	f := &t.final
	s.holds(contract.LookupAbsent)
	s.holds(contract.LookupLength)
	if n := len(f.absent[t.series+"never"]); n > 0 {
		s.differs(contract.LookupAbsent, "It lists %d records under a ref_id that nobody used.", n)
	}
	longest := 0
	for _, e := range t.watch.exchanges {
		switch {
		case e.IsPage && e.Others > 0:
			s.differs(contract.LookupAbsent, "It lists records of ref_ids that were not asked for.")
		case e.IsPage:
			longest = max(longest, e.Length)
		case !e.Token && (e.Status == statusURITooLong || e.Status == statusTooLarge || e.Status == statusHeaderTooLarge):
			s.differs(contract.LookupLength, "An address that is as long as remit makes them is answered with %d.", e.Status)
		}
	}
	if f.absentErr != nil {
		s.differs(contract.LookupAbsent, "%s.", sentence(f.absentErr.Error()))
	}
	if f.longErr != nil {
		s.differs(contract.LookupLength, "%s.", sentence(f.longErr.Error()))
	}
}
