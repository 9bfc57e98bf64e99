package report_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"remit/internal/accounts/report"
	"remit/internal/transfer"
	"remit/state"
)

// TestWhatIsPendingFromBeforeIsTold has transfers of October, of which the service has not finished one.
func TestWhatIsPendingFromBeforeIsTold(t *testing.T) {
	period := november(t)
	at := period.From.Add(-time.Hour)
	var all archive
	for _, status := range []transfer.RecordStatus{transfer.Completed, transfer.Failed, transfer.Pending} {
		record := fmt.Appendf(nil, `{"id":%q,"customer_id":"c","profile_id":"from","amount":"1.00","total":"1.00","fee":"0","asset":"USD","direction":"DEBIT",`+
			`"type":"INTERNAL_TRANSFER_DEBIT","status":%[1]q,"created_at":%[2]q,"updated_at":%[2]q}`, status, at.Format(time.RFC3339))
		all = append(all, state.Detail{
			Transfer: state.Transfer{
				RefID: string(status), Asset: "USD", Amount: transfer.MustAmount("1.00"), Status: state.Recorded, RecordID: string(status), RecordStatus: status,
				IntendedAt: at, AttemptedAt: at, SettledAt: at,
			},
			Outcome: &state.Outcome{RefID: string(status), Status: state.Recorded, Records: []json.RawMessage{record}},
		})
	}
	r, err := report.Gather(t.Context(), all, period)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Older) != 1 || r.Older[report.Pending] != 1 {
		t.Errorf("from before the period: %v", r.Older)
	}
}
