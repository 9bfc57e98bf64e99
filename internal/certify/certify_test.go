package certify_test

import (
	"testing"

	"remit/internal/contract"
	"remit/internal/sandbox"
)

func TestAHealthyServiceHolds(t *testing.T) {
	inSandbox(t, sandbox.Options{}, func(t *testing.T, w *world) {
		report, err := w.try(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Log("\n" + text(report))
		for _, f := range report.Findings {
			want := contract.Holds
			switch f.Row.Name {
			case contract.ReplayLasts, contract.RefusalFunds:
				want = contract.Unknown
			}
			if f.Verdict != want {
				t.Errorf("%s %s: %s", f.Row.Name, f.Verdict, f.Seen)
			}
		}
	})
}
