package transfer_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"remit/internal/transfer"
)

func TestARecordMustNameItsGroupAndAddUp(t *testing.T) {
	for sentence, test := range map[string]struct {
		change func(*transfer.Record)
		fields []string
	}{
		"as the document shows it":                      {func(*transfer.Record) {}, nil},
		"the total is amount plus fee":                  {func(r *transfer.Record) { r.Fee, r.Total = "1.5", "8201.5000" }, nil},
		"the total is amount minus fee":                 {func(r *transfer.Record) { r.Fee, r.Total = "1.50", "8198.5" }, nil},
		"the fee is given back":                         {func(r *transfer.Record) { r.Fee, r.Total = "-1.50", "8198.5" }, nil},
		"the total is the amount, with fee":             {func(r *transfer.Record) { r.Fee = "1.50" }, nil},
		"the fee is no number, the total is the amount": {func(r *transfer.Record) { r.Fee = "free" }, []string{"fee"}},
		"the fee has an exponent":                       {func(r *transfer.Record) { r.Fee = "1e-999999999" }, []string{"fee"}},
		"the total is something else":                   {func(r *transfer.Record) { r.Total = "99" }, []string{"total"}},
		"the total is a hundred times the amount":       {func(r *transfer.Record) { r.Total = "820000" }, []string{"total"}},
		"the total is signed":                           {func(r *transfer.Record) { r.Total = "-8200.00" }, []string{"total"}},
		"the fee takes more than the amount":            {func(r *transfer.Record) { r.Fee, r.Total = "8300", "-100" }, []string{"total"}},
		"its group_id is a space":                       {func(r *transfer.Record) { r.GroupID = " " }, []string{"group_id"}},
		"its group_id cannot be seen":                   {func(r *transfer.Record) { r.GroupID = " \u200b\u00ad\ufeff" }, []string{"group_id"}},
		"the total is no number":                        {func(r *transfer.Record) { r.Total = "8.2e3" }, []string{"total"}},
		"the fee is no number":                          {func(r *transfer.Record) { r.Fee, r.Total = "free", "8201" }, []string{"total", "fee"}},
		"it has no group_id":                            {func(r *transfer.Record) { r.GroupID = "" }, []string{"group_id"}},
		"it has neither":                                {func(r *transfer.Record) { r.GroupID, r.Total = "", "1" }, []string{"group_id", "total"}},
		"it was cancelled, and is COMPLETED":            {func(r *transfer.Record) { r.StatusDetails = []byte(`{"max_rent_exceeded":{"message":"m"}}`) }, []string{"status_details"}},
		"details that tell of no cancellation":          {func(r *transfer.Record) { r.StatusDetails = []byte(`{"max_rent_exceeded":null,"note":"n"}`) }, nil},
		"it names an address of a blockchain":           {func(r *transfer.Record) { r.DestinationAddress = "bc1q" }, []string{"destination_address"}},
		"it names a transaction of a blockchain":        {func(r *transfer.Record) { r.CryptoTxHash = "0xabc" }, []string{"crypto_tx_hash"}},
		"it names an account at a bank":                 {func(r *transfer.Record) { r.FiatAccountID = "6f1d" }, []string{"fiat_account_id"}},
		"it names all three, and FAILED": {func(r *transfer.Record) {
			r.DestinationAddress, r.CryptoTxHash, r.FiatAccountID, r.Status = "bc1q", "0xabc", "6f1d", transfer.Failed
		}, nil},
		"what says nothing of where money went": {func(r *transfer.Record) {
			r.CryptoNetwork, r.CryptoTxIndex, r.NotionalValue, r.Memo = "BITCOIN", "0", "8200.00", "rent"
			r.AutoConversion, r.SecondaryStatus = []byte("{}"), []byte("{}")
		}, nil},
		"it FAILED": {func(r *transfer.Record) { r.Status, r.GroupID, r.Total = transfer.Failed, "", "0" }, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			rec := debitOf()
			test.change(&rec)
			var fields []string
			for _, d := range transfer.Shortcomings(rec) {
				fields = append(fields, d.Field)
			}
			if diff := cmp.Diff(test.fields, fields); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// A program answers its last or its first moment for a time that it does not know. With an offset that is no year which RFC 3339 can
// write, so it is no time.
func TestATimeBeyondTheYearsIsNone(t *testing.T) {
	const body = `{"id":"t-1","customer_id":"c","profile_id":"p","amount":"1","total":"1","fee":"0","asset":"USD","direction":"DEBIT",` +
		`"type":"INTERNAL_TRANSFER_DEBIT","status":"COMPLETED","created_at":"AT","updated_at":"AT"}`
	for at, isTime := range map[string]bool{
		"2026-11-26T09:00:00Z":              true,
		"9999-12-31T23:59:59.9999999Z":      true,
		"0001-01-01T00:00:00Z":              false, // Go's own zero
		"9999-12-31T23:59:59.9999999-05:00": false,
		"0001-01-01T00:00:00+01:00":         false,
		"0000-01-01T00:00:00+23:59":         false,
	} {
		record, err := transfer.ParseRecord([]byte(strings.ReplaceAll(body, "AT", at)))
		if err != nil {
			t.Fatalf("%s: %v", at, err)
		}
		if record.CreatedAt.IsZero() == isTime || record.UpdatedAt.IsZero() == isTime {
			t.Errorf("%s is read as %s and %s", at, record.CreatedAt, record.UpdatedAt)
		}
	}
}

// A time in another form is named, and is not called missing.
func TestATimeInAnotherFormIsNamed(t *testing.T) {
	const body = `{"id":"t-1","customer_id":"c","profile_id":"p","amount":"1","total":"1","fee":"0","asset":"USD","direction":"DEBIT",` +
		`"type":"INTERNAL_TRANSFER_DEBIT","status":"COMPLETED","group_id":"g"AT,"updated_at":"2026-11-26T09:00:00Z"}`
	for written, says := range map[string]string{
		``:                                       "",
		`,"created_at":null`:                     "",
		`,"Created_At":"2026-12-01"`:             "",
		`,"created_at":"2026-12-01"`:             "2026-12-01",
		`,"created_at":"2026-12-01 10:36:09+00"`: "2026-12-01 10:36:09+00",
		`,"created_at":"2026\u002d12-01"`:        "2026-12-01",
		`,"created_at":1764583200`:               "1764583200",
		`,"created_at":{"at": 7}`:                `{"at": 7}`,
		`,"created_at":""`:                       `""`,
		`,"created_at":" "`:                      `" "`,
		`,"created_at":"` + strings.Repeat("é", 300) + `"`: strings.Repeat("é", 60) + "…",
	} {
		record, err := transfer.ParseRecord([]byte(strings.Replace(body, "AT", written, 1)))
		if err != nil {
			t.Fatalf("%s: %v", written, err)
		}
		want := []transfer.Difference{{Field: "created_at", Asked: "an RFC 3339 time", Answered: says}}
		if diff := cmp.Diff(want, transfer.Shortcomings(record)); diff != "" {
			t.Errorf("%s: -want +got:\n%s", written, diff)
		}
	}
}
