package executor

import (
	"fmt"
	"slices"

	"remit/internal/transfer"
	"remit/state"
)

// ForeignError says that all that is known under a ref_id is money that came in, of another kind of transfer or to somebody
// else: nobody can accept it as the transfer.
type ForeignError struct {
	RefID string
	What  string // see [transfer.DescribeForeign]
}

// Error says what it is.
func (e *ForeignError) Error() string {
	return fmt.Sprintf("the ref_id %q is that of a %s. That is no side of this transfer, and nobody can accept it as one. Nothing was changed. "+
		"Ask the service's operator whether this transfer was made as well. Where it was not, say --not-made", e.RefID, e.What)
}

// ownAndForeign are records without those that are of no transfer such as the recorded request, and these. Without a request, all are
// its own.
func ownAndForeign(settings Settings, detail state.Detail, records []transfer.Record) (own, foreign []transfer.Record) {
	request, err := transfer.ParseRequest(detail.Intent.Operation, []byte(detail.Intent.Body), settings.FingerprintKey)
	if err != nil {
		return records, nil
	}
	return transfer.Own(request, records, settings.Operator)
}

// isOnlyForeign reports whether records that a lookup found are all foreign, and so are those that a conflict kept: nothing
// says that the transfer was made. A record that the state has stored of it says so.
func isOnlyForeign(settings Settings, detail state.Detail, found []transfer.Record) bool {
	kept, err := keptRecords(detail)
	if err != nil || detail.RecordID != "" {
		return false
	}
	return IsForeign(&detail, slices.Concat(found, kept), settings)
}

// IsForeign reports whether records under the ref_id of a transfer are all foreign: see [transfer.IsForeign].
func IsForeign(d *state.Detail, records []transfer.Record, settings Settings) bool {
	own, foreign := ownAndForeign(settings, *d, records)
	return len(own) == 0 && len(foreign) > 0
}

// foreignIncome is a *[ForeignError] where records are all foreign, and the deciding one is of money that came in.
func foreignIncome(settings Settings, detail state.Detail, records []transfer.Record, deciding *transfer.Record) error {
	own, foreign := ownAndForeign(settings, detail, records)
	if len(own) > 0 || len(foreign) == 0 || !isCredit(*deciding) {
		return nil
	}
	return &ForeignError{detail.RefID, transfer.DescribeForeign(foreign)}
}

// keepsForeign reports whether a conflict has kept nothing but foreign records.
func keepsForeign(settings Settings, detail state.Detail) bool {
	return detail.Status == state.Conflict && isOnlyForeign(settings, detail, nil)
}

// withoutIncome are records without foreign ones of money that came in, where there are others: see [transfer.WithoutIncome].
func (k *knownTransfer) withoutIncome(records []transfer.Record) []transfer.Record {
	if k.alone {
		return records // nobody knows whose they would be
	}
	return transfer.WithoutIncome(k.request, records, k.operator)
}

// ofIt are the records of a lookup without foreign ones of money that came in: of a transfer that is made, these are no news. Nor are
// those that a person was shown before closing it as not made.
func (w *watched) ofIt(records []transfer.Record) []transfer.Record {
	if w.isUnknown || w.alone {
		return records
	}
	own, foreign := transfer.Own(w.request, records, w.operator)
	for i := range foreign {
		isNews := !isCredit(foreign[i]) && !w.wasShown(foreign[i])
		if isNews || w.isStored(foreign[i]) {
			own = append(own, foreign[i])
		}
	}
	return own
}

// wasShown reports whether a person was shown a record before closing the transfer as not made.
func (w *watched) wasShown(r transfer.Record) bool {
	shown, err := keptRecords(w.detail)
	isIt := func(s transfer.Record) bool { return s.ID == r.ID }
	return err == nil && w.detail.Status == state.Tombstone && slices.ContainsFunc(shown, isIt)
}
