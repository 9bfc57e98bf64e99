package transfer_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/internal/transfer"
)

// debitOf is a record of the platform transfer's debit side that agrees in every field.
func debitOf() transfer.Record {
	return transfer.Record{
		ID: "t-1", CustomerID: "c", ProfileID: "fp", Amount: "8200.00000000", Total: "8200.00", Fee: "0", Asset: "BTC",
		Direction: transfer.Debit, Type: "PLATFORM_TRANSFER_DEBIT", Status: transfer.Completed,
		IdentityID: "fi", AccountID: "fa", RefID: "rent-é-<&>", BalanceAsset: "BTC", GroupID: "g-1",
		Metadata:  map[string]string{"a": "1", "b": "2"},
		CreatedAt: time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC), UpdatedAt: time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC),
	}
}

// creditOf is the other side of debitOf.
func creditOf() transfer.Record {
	return transfer.Record{
		ID: "t-2", CustomerID: "c", ProfileID: "tp", Amount: "8200.0", Total: "8200.00", Fee: "0", Asset: "BTC",
		Direction: transfer.Credit, Type: "PLATFORM_TRANSFER_CREDIT", Status: transfer.Completed,
		IdentityID: "ti", AccountID: "ta", RefID: "rent-é-<&>", BalanceAsset: "BTC", GroupID: "g-1",
		Metadata: map[string]string{"contract": "R-17"},
	}
}

func TestCompareNamesEachFieldThatDisagrees(t *testing.T) {
	type differences = []transfer.Difference
	for sentence, test := range map[string]struct {
		change func(*transfer.Record)
		want   differences
	}{
		"nothing":                          {func(*transfer.Record) {}, nil},
		"the service's own":                {func(r *transfer.Record) { r.Status, r.Fee, r.Total, r.CustomerID, r.ID = "NEW", "1", "9", "x", "y" }, nil},
		"profile":                          {func(r *transfer.Record) { r.ProfileID = "x" }, differences{{"profile_id", "fp", "x"}}},
		"the destination's profile":        {func(r *transfer.Record) { r.ProfileID = "tp" }, differences{{"profile_id", "fp", "tp"}}},
		"amount":                           {func(r *transfer.Record) { r.Amount = "70.00" }, differences{{"amount", "8200.00", "70.00"}}},
		"amount, scaled":                   {func(r *transfer.Record) { r.Amount = "820000" }, differences{{"amount", "8200.00", "820000"}}},
		"amount, signed":                   {func(r *transfer.Record) { r.Amount = "-8200.00" }, differences{{"amount", "8200.00", "-8200.00"}}},
		"amount, exponent":                 {func(r *transfer.Record) { r.Amount = "8.2e3" }, differences{{"amount", "8200.00", "8.2e3"}}},
		"asset":                            {func(r *transfer.Record) { r.Asset = "btc" }, differences{{"asset", "BTC", "btc"}}},
		"direction":                        {func(r *transfer.Record) { r.Direction = transfer.Credit }, differences{{"direction", "DEBIT", "CREDIT"}}},
		"direction, unknown":               {func(r *transfer.Record) { r.Direction = "X" }, differences{{"direction", "DEBIT", "X"}}},
		"type":                             {func(r *transfer.Record) { r.Type = "WIRE_WITHDRAWAL" }, differences{{"type", "PLATFORM_TRANSFER_DEBIT", "WIRE_WITHDRAWAL"}}},
		"the other operation":              {func(r *transfer.Record) { r.Type = "INTERNAL_TRANSFER_DEBIT" }, differences{{"type", "PLATFORM_TRANSFER_DEBIT", "INTERNAL_TRANSFER_DEBIT"}}},
		"the other side's type":            {func(r *transfer.Record) { r.Type = "PLATFORM_TRANSFER_CREDIT" }, differences{{"type", "PLATFORM_TRANSFER_DEBIT", "PLATFORM_TRANSFER_CREDIT"}}},
		"identity":                         {func(r *transfer.Record) { r.IdentityID = "x" }, differences{{"identity_id", "fi", "x"}}},
		"identity, absent":                 {func(r *transfer.Record) { r.IdentityID = "" }, nil},
		"account":                          {func(r *transfer.Record) { r.AccountID = "x" }, differences{{"account_id", "fa", "x"}}},
		"account, absent":                  {func(r *transfer.Record) { r.AccountID = "" }, nil},
		"ref_id":                           {func(r *transfer.Record) { r.RefID = "rent" }, differences{{"ref_id", "rent-é-<&>", "rent"}}},
		"ref_id, absent":                   {func(r *transfer.Record) { r.RefID = "" }, nil},
		"balance asset":                    {func(r *transfer.Record) { r.BalanceAsset = "USD" }, differences{{"balance_asset", "BTC", "USD"}}},
		"balance asset, absent":            {func(r *transfer.Record) { r.BalanceAsset = "" }, nil},
		"metadata, absent":                 {func(r *transfer.Record) { r.Metadata = nil }, nil},
		"metadata, another value":          {func(r *transfer.Record) { r.Metadata["b"] = "3" }, differences{{"metadata.b", "2", "3"}}},
		"metadata, one more":               {func(r *transfer.Record) { r.Metadata["c"] = "3" }, differences{{"metadata.c", "", "3"}}},
		"metadata, one more that is empty": {func(r *transfer.Record) { r.Metadata["c"] = "" }, nil},
		"metadata, one less":               {func(r *transfer.Record) { delete(r.Metadata, "a") }, differences{{"metadata.a", "1", ""}}},
		"metadata, emptied":                {func(r *transfer.Record) { clear(r.Metadata) }, nil},
		"several, in the document's order": {
			func(r *transfer.Record) { r.RefID, r.ProfileID, r.Asset, r.Amount = "x", "x", "x", "1" },
			differences{{"profile_id", "fp", "x"}, {"amount", "8200.00", "1"}, {"asset", "BTC", "x"}, {"ref_id", "rent-é-<&>", "x"}},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			rec := debitOf()
			test.change(&rec)
			if diff := cmp.Diff(test.want, transfer.Compare(rent(), rec, "")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestWhatWasNotAskedIsNotCompared(t *testing.T) {
	req := rent()
	req.FromIdentityID, req.FromAccountID = "", ""
	if got := transfer.Compare(req, debitOf(), ""); got != nil {
		t.Errorf("differs in %v", got)
	}
	req.Metadata = nil
	if got := transfer.Compare(req, debitOf(), ""); len(got) != 2 {
		t.Errorf("metadata that nobody asked for differs in %v", got)
	}
}

func TestACreditRecordIsComparedWithTheDestination(t *testing.T) {
	if got := transfer.Compare(rent(), creditOf(), ""); got != nil {
		t.Errorf("differs in %v", got)
	}
	rec := creditOf()
	rec.ProfileID, rec.IdentityID, rec.AccountID = "fp", "fi", "fa"
	rec.Metadata = debitOf().Metadata
	want := []transfer.Difference{
		{"profile_id", "tp", "fp"},
		{"identity_id", "ti", "fi"},
		{"account_id", "ta", "fa"},
		{"metadata.a", "", "1"},
		{"metadata.b", "", "2"},
		{"metadata.contract", "R-17", ""},
	}
	if diff := cmp.Diff(want, transfer.Compare(rent(), rec, "")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	internal := payroll()
	credit := transfer.Record{
		ProfileID: "p2", Amount: "1200.5", Asset: "USD", Direction: transfer.Credit, Type: "INTERNAL_TRANSFER_CREDIT",
		Metadata: map[string]string{"employee": "E-17", "note": `a"b`},
	}
	if got := transfer.Compare(internal, credit, ""); got != nil {
		t.Errorf("an internal transfer has one metadata for both sides, and differs in %v", got)
	}
}

func TestTheOperatorsBrandIsCompared(t *testing.T) {
	rec := debitOf()
	rec.Type = "ACME_PAY_TRANSFER_DEBIT"
	if got := transfer.Compare(rent(), rec, "acme-pay"); got != nil {
		t.Errorf("differs in %v", got)
	}
	if got := transfer.Compare(rent(), rec, ""); len(got) != 1 || got[0].Field != "type" {
		t.Errorf("differs in %v", got)
	}
}

func TestExamine(t *testing.T) {
	marked := rent()
	marked.FingerprintKey = "fp"
	fingerprint := map[string]string{"a": "1", "b": "2", "fp": marked.Fingerprint().String()}
	changed := func(rec transfer.Record, change func(*transfer.Record)) transfer.Record {
		change(&rec)
		return rec
	}
	type records = []transfer.Record
	for sentence, test := range map[string]struct {
		request        transfer.Request
		records        records
		agrees, proven bool
		debit, credit  string   // ids
		fields         []string // of the differences
	}{
		"nothing found":            {rent(), nil, false, false, "", "", nil},
		"the debit alone":          {rent(), records{debitOf()}, true, false, "t-1", "", nil},
		"both sides":               {rent(), records{debitOf(), creditOf()}, true, true, "t-1", "t-2", nil},
		"both sides, credit first": {rent(), records{creditOf(), debitOf()}, true, true, "t-1", "t-2", nil},
		"the credit alone":         {rent(), records{creditOf()}, false, false, "", "t-2", nil},
		"the debit twice":          {rent(), records{debitOf(), debitOf()}, true, false, "t-1", "", nil},
		"the fingerprint is echoed": {
			marked,
			records{changed(debitOf(), func(r *transfer.Record) { r.Metadata = fingerprint })},
			true, true, "t-1", "", nil,
		},
		"the fingerprint is echoed in capitals": {
			marked,
			records{changed(debitOf(), func(r *transfer.Record) {
				r.Metadata = map[string]string{"a": "1", "b": "2", "fp": strings.ToUpper(fingerprint["fp"])}
			})},
			false, false, "t-1", "",
			[]string{"metadata.fp"},
		},
		"no metadata is echoed": {
			marked,
			records{changed(debitOf(), func(r *transfer.Record) { r.Metadata = nil })},
			true, false, "t-1", "", nil,
		},
		"another fingerprint is echoed": {
			marked,
			records{changed(debitOf(), func(r *transfer.Record) {
				r.Metadata = map[string]string{"a": "1", "b": "2", "fp": payroll().Fingerprint().String()}
			})},
			false, false, "t-1", "",
			[]string{"metadata.fp"},
		},
		"a credit to somebody else": {
			rent(),
			records{debitOf(), changed(creditOf(), func(r *transfer.Record) { r.ProfileID = "x" })},
			false, false, "t-1", "t-2",
			[]string{"profile_id"},
		},
		"a credit alone to somebody else": {
			rent(),
			records{changed(creditOf(), func(r *transfer.Record) { r.ProfileID = "x" })},
			false, false, "", "t-2",
			[]string{"profile_id"},
		},
		"a credit of another group": {
			rent(),
			records{debitOf(), changed(creditOf(), func(r *transfer.Record) { r.GroupID = "g-2" })},
			false, false, "t-1", "t-2",
			[]string{"group_id"},
		},
		"a credit of no group": {
			rent(),
			records{debitOf(), changed(creditOf(), func(r *transfer.Record) { r.GroupID = "" })},
			true, false, "t-1", "t-2", nil,
		},
		"both sides of no group": {
			rent(),
			records{
				changed(debitOf(), func(r *transfer.Record) { r.GroupID = "" }),
				changed(creditOf(), func(r *transfer.Record) { r.GroupID = "" }),
			},
			true, false, "t-1", "t-2", nil,
		},
		"two debits under one ref_id": {
			rent(),
			records{debitOf(), changed(debitOf(), func(r *transfer.Record) { r.ID, r.GroupID = "t-3", "g-3" })},
			false, false, "t-1", "",
			[]string{"id", "id"},
		},
		"two debits under one ref_id, of which one FAILED": {
			rent(),
			records{debitOf(), changed(debitOf(), func(r *transfer.Record) { r.ID, r.GroupID, r.Status = "t-3", "g-3", transfer.Failed })},
			false, false, "t-1", "",
			[]string{"id"},
		},
		"two credits under one ref_id": {
			rent(),
			records{debitOf(), creditOf(), changed(creditOf(), func(r *transfer.Record) { r.ID = "t-4" })},
			false, false, "t-1", "t-2",
			[]string{"id"},
		},
		"both sides with another amount": {
			rent(),
			records{
				changed(debitOf(), func(r *transfer.Record) { r.Amount = "70" }),
				changed(creditOf(), func(r *transfer.Record) { r.Amount = "70" }),
			},
			false, false, "t-1", "t-2",
			[]string{"amount"},
		},
		"a record at odds with itself": {
			rent(),
			records{changed(creditOf(), func(r *transfer.Record) { r.Direction = transfer.Debit })},
			false, false, "t-2", "",
			[]string{"profile_id", "type", "identity_id", "account_id", "metadata.a", "metadata.b", "metadata.contract"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			f := transfer.Examine(test.request, test.records, "")
			if f.Agrees() != test.agrees || f.DestinationProven != test.proven {
				t.Errorf("agrees %v, proven %v, want %v, %v", f.Agrees(), f.DestinationProven, test.agrees, test.proven)
			}
			if got := id(f.Debit); got != test.debit {
				t.Errorf("the debit is %q, want %q", got, test.debit)
			}
			if got := id(f.Credit); got != test.credit {
				t.Errorf("the credit is %q, want %q", got, test.credit)
			}
			var fields []string
			for _, d := range f.Differences {
				fields = append(fields, d.Field)
			}
			if diff := cmp.Diff(test.fields, fields); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func id(rec *transfer.Record) string {
	if rec == nil {
		return ""
	}
	return rec.ID
}
