package planner_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"remit/config"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// drawSpelling writes the number of an amount with other decimals: without zeros that say nothing, and with some more.
func drawSpelling(t *rapid.T, a transfer.Amount, most int) transfer.Amount {
	text := a.Normal()
	if zeros := rapid.IntRange(0, most).Draw(t, "zeros"); zeros > 0 {
		if !strings.Contains(text, ".") {
			text += "."
		}
		text += strings.Repeat("0", zeros)
	}
	return transfer.MustAmount(text)
}

// TestASpellingOfAnAmountIsNoChange declares amounts with other decimals than they were recorded with. Design.md compares
// amounts as numbers, so a saved plan of them is shown, with its state and without it, and applied. A plan of which
// somebody changed a total by number is found as ever.
func TestASpellingOfAnAmountIsNoChange(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := drawWorld(rt, append(state.Statuses(), 0, 0, 0, 0, state.Recorded, state.Adopted))
		control := &config.BatchControl{Count: -1, Totals: make(map[string]decimal.Decimal)}
		var totals transfer.Totals
		for i := range w.declared {
			r := &w.declared[i].Request
			r.Amount = drawSpelling(rt, r.Amount, 2) // as USD has
			if w.declared[i].Batch == "pay" {
				totals.AddRequest(r)
			}
		}
		for refID, d := range w.memory.details {
			if rapid.IntRange(0, 3).Draw(rt, "imported") == 0 && d.Status.Made() {
				d = asImported(d, drawSpelling(rt, d.Amount, 8))
			}
			w.memory.details[refID] = d
		}
		for total := range totals.All() {
			control.Totals[total.Asset] = total.Sum
		}
		w.controls.Batches = []config.Batch{{Name: "pay", Control: control}}
		made := newPlan(rt, w, w.declared)
		made.Header.PlanID, made.Header.Expires = "plan-1", now.Add(day)

		respelled := &config.BatchControl{Count: -1, Totals: make(map[string]decimal.Decimal)}
		for asset, sum := range control.Totals {
			respelled.Totals[asset] = decimal.RequireFromString(drawSpelling(rt, transfer.MustAmount(transfer.Digits(sum)), 8).String())
		}
		under := planner.Controls{Batches: []config.Batch{{Name: "pay", Control: respelled}}}
		verify := func() error {
			var raw bytes.Buffer
			if err := made.Save(&raw); err != nil {
				rt.Fatal(err)
			}
			opened, err := planner.Open(&raw)
			if err != nil {
				return err
			}
			if _, err := opened.Alone(rt.Context(), under); err != nil {
				return err
			}
			verified, err := opened.Verify(rt.Context(), w.memory, under, now)
			if err != nil {
				return err
			}
			if made.Applicable() && made.Count(planner.Submit) > 0 {
				_, err = verified.Left(rt.Context(), now)
			}
			return err
		}
		if err := verify(); err != nil {
			rt.Fatalf("the honest plan is refused: %v", err)
		}
		for _, action := range planner.Actions() {
			honest := made.Totals[action]
			if honest == nil {
				continue
			}
			var forged transfer.Totals
			forged.Merge(*honest)
			forged.AddTotal(transfer.Total{Asset: "USD", Sum: decimal.New(1, -9)})
			made.Totals[action] = &forged
			// Alone, the sums of the recorded transfers are the file's word.
			if err := verify(); err == nil {
				rt.Fatalf("the total of %q is forged, and nobody sees it", action)
			} else if strings.Contains(err.Error(), "{") {
				rt.Fatalf("a message has a struct: %v", err)
			}
			made.Totals[action] = honest
		}
	})
}

// asImported is a made transfer as a record of another program has it, whose amount has other decimals.
func asImported(d state.Detail, spelled transfer.Amount) state.Detail {
	r, err := transfer.ParseRequest(d.Intent.Operation, []byte(d.Intent.Body), "")
	if err != nil {
		panic(err)
	}
	r.Amount = spelled
	d.Amount, d.Intent.Body = spelled, string(r.Body())
	return d
}
