package planner

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"remit/internal/transfer"
)

// FuzzPlainLine has package json as the oracle of the reader without it.
func FuzzPlainLine(f *testing.F) {
	request := transfer.Request{
		Operation: transfer.Internal, RefID: `r-"1\`, FromProfileID: "a", ToProfileID: "b",
		Amount: transfer.MustAmount("1.50"), Asset: "USD", Metadata: transfer.Metadata{{Key: "k", Value: "é"}},
	}
	for _, c := range []Change{
		{Action: Submit, RefID: "r", Request: request, Place: "pay.csv:2", DuplicateWithin: 5},
		{Action: Submit, RefID: "r", Request: request, Signals: []Signal{{Kind: FirstDestination, Detail: "x"}, {Kind: LookAlike, RefID: "y"}}},
		{Action: Submit, RefID: "r", Request: request, Naming: `ref_id = "r-${each.key}"`, DuplicateWithin: 5},
		{Action: Wait, RefID: "r", Request: request, Batch: "b", FromLabel: true, Again: true, Reason: "why", Next: "remit"},
	} {
		var body []byte
		line, ok := appendPlain(nil, &c, "other", &body)
		if !ok {
			f.Fatal("a plain line is not written")
		}
		f.Add(line)
	}
	f.Add([]byte(`{"action":"submit","ref_id":"r","request":{"operation":"internal","body":"{}"},"until":"2026-11-27T15:00:00Z"}` + "\n"))
	f.Fuzz(func(t *testing.T, line []byte) {
		got, afterAs, ok := parsePlainLine(line, new([2][]byte))
		if !ok {
			return
		}
		var want savedChange
		if err := json.Unmarshal(line, &want); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		same := cmp.Options{cmp.AllowUnexported(transfer.Amount{}), cmpopts.EquateEmpty()}
		if diff := cmp.Diff(want, savedChange{got, afterAs}, same); diff != "" {
			t.Fatalf("%s (-json +got):\n%s", line, diff)
		}
	})
}

func TestPlainLinesAreReadAsSuch(t *testing.T) {
	c := Change{Action: Submit, RefID: "r", Request: transfer.Request{
		Operation: transfer.Internal, RefID: "r", FromProfileID: "a", ToProfileID: "b", Amount: transfer.MustAmount("1"), Asset: "USD",
	}}
	var body []byte
	line, _ := appendPlain(nil, &c, "", &body)
	if _, _, ok := parsePlainLine(line, new([2][]byte)); !ok {
		t.Errorf("the general way is taken for %s", line)
	}
}
