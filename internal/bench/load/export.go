package load

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"remit/internal/transfer"
)

// WriteExport writes the service's export of the records of the rows of a size as JSON Lines: both
// sides of each transfer, as they were made at a time. It begins with the row of a number, so that
// an export can be one of other transfers.
func WriteExport(path string, first, size int, at time.Time) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	out := bufio.NewWriterSize(f, 1<<16)
	lines := json.NewEncoder(out)
	for number := first; number < first+size; number++ {
		debit := NewRow(number).record(at, size)
		credit := debit
		credit.ID, credit.ProfileID = "c"+debit.ID[1:], NewRow(number).ProfileID
		credit.Direction, credit.Type = string(transfer.Credit), "INTERNAL_TRANSFER_CREDIT"
		if err := errors.Join(lines.Encode(debit), lines.Encode(credit)); err != nil {
			return err
		}
	}
	return out.Flush()
}

// scatteredMax is the largest size whose records have ids in no order. In larger ones they rise, as those of a service
// that begins them with the time: a state finds a record by its id, and to make one whose index is met in no order
// would write a page of it for each of ten million transfers.
const scatteredMax = 1_000_000

// record is the service's record of the debit side of the row's transfer, among those of a size.
func (r Row) record(at time.Time, size int) record {
	made := wish{
		RefID: r.refID(), FromProfileID: treasury, Amount: r.Amount, Asset: asset,
		Metadata: map[string]string{"id": r.ID, "team": r.Team},
	}.record(at)
	if size > scatteredMax {
		made.ID = fmt.Sprintf("t-%016x-%s", 0, made.RefID)
		made.GroupID = "g" + made.ID[1:]
	}
	return made
}
