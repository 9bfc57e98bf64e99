package transfer_test

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"remit/internal/transfer"
)

// payment is a request to a profile.
func payment(to, amount string) transfer.Request {
	return transfer.Request{ToProfileID: to, Amount: transfer.MustAmount(amount), Asset: "USD"}
}

// TestHashTotalByHand holds the total to what a spreadsheet shows. LibreOffice 7.4 computed the
// weights from the formula of docs/language/batch.md.
func TestHashTotalByHand(t *testing.T) {
	weights := map[string]int64{
		"":                                     0,
		"A":                                    65,
		"AB":                                   65 + 2*66,
		"BA":                                   66 + 2*65,
		"E-1":                                  69 + 2*45 + 3*49,
		"37867177-f88c-45cc-b9b5-d786e7079609": 42359,
	}
	for to, want := range weights {
		r := transfer.Request{ToProfileID: to}
		if got := r.HashWeight(); got != want {
			t.Errorf("%q weighs %d, want %d", to, got, want)
		}
	}
	var all transfer.Totals
	for _, r := range []transfer.Request{payment("AB", "10.50"), payment("E-1", "0.001")} {
		all.AddRequest(&r)
	}
	if got, ok := all.HashTotal(); !ok || got.String() != "2068.806" { // 197 × 10.50 + 306 × 0.001
		t.Errorf("the hash total is %s, %v", got, ok)
	}
}

// TestHashTotal holds the total to one that is computed in another way, over parts that are
// added and taken back.
func TestHashTotal(t *testing.T) {
	request := rapid.Custom(func(t *rapid.T) transfer.Request {
		return transfer.Request{
			ToProfileID:  rapid.String().Draw(t, "profile"),
			ToIdentityID: rapid.StringMatching(`[a-z]{0,3}`).Draw(t, "identity"),
			ToAccountID:  rapid.StringMatching(`[0-9]{0,3}`).Draw(t, "account"),
			Amount:       transfer.MustAmount(rapid.StringMatching(`[1-9][0-9]{0,30}(\.[0-9]{1,18})?`).Draw(t, "amount")),
			Asset:        rapid.SampledFrom([]string{"USD", "BTC"}).Draw(t, "asset"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		kept := rapid.SliceOf(request).Draw(t, "kept")
		taken := rapid.SliceOf(request).Draw(t, "taken back")
		want := new(big.Rat)
		var first, all transfer.Totals
		for i := range kept {
			weight, position := new(big.Int), int64(0)
			for _, c := range kept[i].ToProfileID + kept[i].ToIdentityID + kept[i].ToAccountID {
				position++
				weight.Add(weight, new(big.Int).Mul(big.NewInt(position), big.NewInt(int64(c))))
			}
			amount, _ := new(big.Rat).SetString(kept[i].Amount.String())
			want.Add(want, amount.Mul(amount, new(big.Rat).SetInt(weight)))
			first.AddRequest(&kept[i])
		}
		for i := range taken {
			all.AddRequest(&taken[i])
		}
		all.Merge(first)
		for i := range taken {
			all.RemoveRequest(&taken[i])
		}
		got, ok := all.HashTotal()
		if sum, _ := new(big.Rat).SetString(got.String()); !ok || sum.Cmp(want) != 0 {
			t.Fatalf("the hash total is %s, want %s", got, want.FloatString(18))
		}
		if all.Count() != len(kept) {
			t.Fatalf("%d are counted, want %d", all.Count(), len(kept))
		}
	})
}

func TestHashTotalIsUnknownWithoutDestinations(t *testing.T) {
	var all transfer.Totals
	r := payment("A", "1")
	all.AddRequest(&r)
	all.Add("USD", transfer.MustAmount("1"))
	if _, ok := all.HashTotal(); ok {
		t.Error("the destination of one is not known")
	}
}
