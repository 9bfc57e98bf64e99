package transfer_test

import (
	"testing"

	"remit/internal/transfer"
)

func payout() transfer.Request {
	return transfer.Request{
		Operation:     transfer.Internal,
		RefID:         "payout-2026-11-S-0000017",
		FromProfileID: "0acfa5a6-6f2e-41af-a833-48e301197ffd",
		ToProfileID:   "6513270e-269e-0d37-f2a7-4de452e6b438",
		Amount:        transfer.MustAmount("85320.06"),
		Asset:         "USD",
		Metadata:      transfer.Metadata{{Key: "seller", Value: "S-0000017"}},
	}
}

func BenchmarkFingerprint(b *testing.B) {
	b.ReportAllocs()
	r := payout()
	for b.Loop() {
		r.Fingerprint()
	}
}

func BenchmarkBody(b *testing.B) {
	b.ReportAllocs()
	r := payout()
	for b.Loop() {
		r.Body()
	}
}

func BenchmarkCheckDeclarable(b *testing.B) {
	b.ReportAllocs()
	r := payout()
	for b.Loop() {
		if err := r.CheckDeclarable(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTwin(b *testing.B) {
	b.ReportAllocs()
	r := payout()
	for b.Loop() {
		r.Twin()
	}
}

func BenchmarkDestination(b *testing.B) {
	b.ReportAllocs()
	r := payout()
	for b.Loop() {
		r.Destination()
	}
}

func BenchmarkTotals(b *testing.B) {
	b.ReportAllocs()
	var totals transfer.Totals
	r := payout()
	for b.Loop() {
		totals.Add(r.Asset, r.Amount)
	}
}

func BenchmarkParseAmount(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := transfer.ParseAmount("85320.06"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheckRefID(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if err := transfer.CheckRefID("payout-2026-11-S-0000017"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseRecord(b *testing.B) {
	raw := []byte(`{"id":"0198c0de-7f00-7000-8000-000000000001","customer_id":"c0ffee00-0000-4000-8000-000000000001",` +
		`"profile_id":"p","amount":"10.00","total":"10.00","fee":"0","asset":"USD","direction":"DEBIT",` +
		`"type":"INTERNAL_TRANSFER_DEBIT","status":"COMPLETED","created_at":"2026-11-27T09:00:00Z",` +
		`"updated_at":"2026-11-27T09:00:00Z","ref_id":"payroll-1","group_id":"g","metadata":{"a":"b"}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := transfer.ParseRecord(raw); err != nil {
			b.Fatal(err)
		}
	}
}
