package transfer

import "slices"

// fieldCredit names, among differences, the service's own status of the credit side.
const fieldCredit = "credit_status"

// IsOfCredit reports whether d is about the service's own status of the credit side, which is not that of the
// debit side.
func (d Difference) IsOfCredit() bool { return d.Field == fieldCredit }

// Overthrows reports whether by d the earlier word on a transfer no longer holds: it may have been made although it is said
// to have FAILED, or the other way round, or twice.
func (d Difference) Overthrows() bool {
	return d.IsOfCredit() || d.Field == "status" || d.Field == "id" || d.Field == "group_id"
}

// OfCredit returns the one of the differences that is about the status of the credit side; false where there is none.
func OfCredit(differences []Difference) (Difference, bool) {
	if i := slices.IndexFunc(differences, Difference.IsOfCredit); i >= 0 {
		return differences[i], true
	}
	return Difference{}, false
}

// IsCreditOpen reports whether differences have a credit side that is PENDING although the debit side is COMPLETED: it may fail
// yet, so nobody can accept it.
func IsCreditOpen(differences []Difference) bool {
	credit, ok := OfCredit(differences)
	return ok && credit.Asked == string(Completed) && credit.Answered == string(Pending)
}

// ContradictSides names the status of a credit side that did not fail although its debit side FAILED: the
// destination may have the money, so nothing justifies a second payment. There is none where one side is nil, and
// none of a credit side that is PENDING still, see [Finding.IsOpen].
func ContradictSides(debit, credit *Record) []Difference {
	if debit == nil || credit == nil || debit.Status != Failed || credit.Status == Failed || credit.Status == Pending {
		return nil
	}
	return []Difference{{fieldCredit, string(Failed), string(credit.Status)}}
}

// SpeaksAgainst reports whether the status of a credit side does not let that of its debit side stand, or not yet.
func SpeaksAgainst(debit, credit *Record) bool {
	return len(ContradictSides(debit, credit))+len(UnpaidCredit(debit, credit)) > 0 || Finding{Debit: debit, Credit: credit}.IsOpen()
}

// IsOpen reports whether the debit side is COMPLETED or FAILED, and the credit side is PENDING still.
func (f Finding) IsOpen() bool {
	return f.Debit != nil && f.Credit != nil && f.Debit.Status.Final() && f.Credit.Status == Pending
}

// Shortcomings are the [Shortcomings] of the debit side, which must be there, and the status of a credit side that is not
// COMPLETED although the debit side is: what left the sender has not arrived. A credit side that was not found, or that
// has no status, says nothing.
func (f Finding) Shortcomings() []Difference {
	return slices.Concat(Shortcomings(*f.Debit), UnpaidCredit(f.Debit, f.Credit))
}

// UnpaidCredit names the status of a credit side that is not COMPLETED although its debit side is; credit may be nil.
func UnpaidCredit(debit, credit *Record) []Difference {
	if credit == nil || debit.Status != Completed || credit.Status == Completed || credit.Status == NoStatus {
		return nil
	}
	return []Difference{{fieldCredit, string(Completed), string(credit.Status)}}
}
