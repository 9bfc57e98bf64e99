package certify_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"strings"
	"testing"
	"time"

	"remit/internal/sandbox"
	"remit/internal/service/contract"
	"remit/internal/transfer"
)

var killStep = flag.Int("certify.step", 13, "kill a trial before each so many of its effects; 1 is every one")

func TestAHealthyServiceHolds(t *testing.T) {
	inSandbox(t, sandbox.Options{}, func(t *testing.T, w *world) {
		report, err := w.try(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range report.Findings {
			want := contract.Holds
			switch f.Row.Name {
			case contract.ReplayLasts, contract.RefusalFunds, contract.Balance, contract.BalanceFalls:
				want = contract.Unknown
			}
			if f.Verdict != want {
				t.Errorf("%s %s: %s", f.Row.Name, f.Verdict, f.Seen)
			}
		}
	})
}

// TestReplaysAreTriedLater sends a kept request again after the replay window.
func TestReplaysAreTriedLater(t *testing.T) {
	tests := map[string]struct {
		wait    time.Duration
		fault   string // from then on
		resume  bool
		verdict contract.Verdict
		says    string
		made    int // transfers in all
	}{
		"two hours later":                          {2 * time.Hour, "", true, contract.Unknown, "A request of 2h ago made no second transfer, and replay_window is 24h", 10},
		"a day later":                              {25 * time.Hour, "", true, contract.Holds, "A request of 25h ago made no second transfer. replay_window is 24h.", 10},
		"a day later, with another series":         {25 * time.Hour, "", false, contract.Holds, "A request of 25h ago made no second transfer. replay_window is 24h.", 20},
		"a day later, answered with 409":           {25 * time.Hour, "replay=409", true, contract.Holds, "A request of 25h ago made no second transfer. replay_window is 24h.", 10},
		"a day later, by a service that forgot it": {25 * time.Hour, "forget=1", true, contract.Differs, "After 25h the service made a second transfer of the same request", 11},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inSandbox(t, sandbox.Options{}, func(t *testing.T, w *world) {
				if _, err := w.try(t.Context()); err != nil {
					t.Fatal(err)
				}
				time.Sleep(tt.wait)
				faults, err := sandbox.ParseFaults(strings.Fields(tt.fault)...)
				if err != nil {
					t.Fatal(err)
				}
				w.box.SetFaults(faults)
				w.options.Resume = tt.resume
				report, err := w.try(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if found := findings(report)[contract.ReplayLasts]; found.Verdict != tt.verdict || !strings.Contains(found.Seen, tt.says) {
					t.Errorf("%s: %s, want %s: %s", found.Verdict, found.Seen, tt.verdict, tt.says)
				}
				totals, err := w.box.Debits(t.Context())
				if err != nil || totals.Count() != tt.made {
					t.Errorf("the service made %d transfers, want %d (%v)", totals.Count(), tt.made, err)
				}
				// A request that made a second transfer is settled, and not sent a third time.
				if again, err := w.try(t.Context()); err != nil || tt.verdict == contract.Differs && again.Requests != 0 {
					t.Errorf("a third trial sent %d requests (%v)", again.Requests, err)
				}
			})
		})
	}
}

// TestAKilledTrialIsSettledFirst kills a trial before each of its effects, and tries again.
func TestAKilledTrialIsSettledFirst(t *testing.T) {
	for dies := 1; ; dies += *killStep {
		isOver := false
		inSandbox(t, sandbox.Options{}, func(t *testing.T, w *world) {
			if dies%2 == 0 {
				w.lookup = ""
			}
			w.dies = dies
			_, _ = w.try(t.Context()) // whatever it says, nobody reads it
			isOver = w.effects < dies
			before := len(w.sent)
			w.dies = 0
			report, err := w.try(t.Context())
			if err != nil {
				t.Fatalf("killed before effect %d: %v", dies, err)
			}
			for _, f := range report.Findings {
				if f.Verdict == contract.Differs {
					t.Errorf("killed before effect %d: %s differs: %s", dies, f.Row.Name, f.Seen)
				}
			}
			if len(report.LeftOpen) > 0 {
				t.Errorf("killed before effect %d: %v are in doubt still", dies, report.LeftOpen)
			}
			checkSent(t, dies, before, w.sent)
			checkLedger(t, dies, w)
		})
		if isOver {
			return
		}
	}
}

// TestAnInterruptIsNoDeviation interrupts trials of a healthy service, at each of their requests to create.
func TestAnInterruptIsNoDeviation(t *testing.T) {
	for n := 1; n <= 14; n += 3 {
		inSandbox(t, sandbox.Options{}, func(t *testing.T, w *world) {
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			w.interrupts, w.interrupt = n, interrupt
			report, err := w.try(ctx)
			if !errors.Is(err, context.Canceled) {
				t.Errorf("interrupted at request %d: %v", n, err)
			}
			for _, f := range report.Findings {
				if f.Verdict == contract.Differs {
					t.Errorf("interrupted at request %d: %s differs: %s", n, f.Row.Name, f.Seen)
				}
			}
			if report, err = w.try(t.Context()); err != nil || len(report.LeftOpen) > 0 || report.Count(contract.Differs) > 0 {
				t.Errorf("after an interrupt at request %d: %v\n%s", n, err, text(report))
			}
			checkLedger(t, n, w)
		}, "pending=1s")
	}
}

// checkSent holds the requests against law 2: those that the first trial left come before anything new.
func checkSent(t *testing.T, dies, before int, sent []string) {
	t.Helper()
	bodies := make(map[string]map[string]bool)
	isNew := false
	for i, body := range sent {
		var fields struct {
			RefID string `json:"ref_id"`
		}
		if err := json.Unmarshal([]byte(body), &fields); err != nil {
			t.Fatal(err)
		}
		if bodies[fields.RefID] == nil {
			bodies[fields.RefID] = make(map[string]bool)
		}
		bodies[fields.RefID][body] = true
		isSecond := strings.HasPrefix(fields.RefID, "certify-00000008-2-")
		isNew = isNew || isSecond
		if i >= before && isNew && !isSecond {
			t.Errorf("killed before effect %d: %q was sent again after a new one", dies, fields.RefID)
		}
	}
	for refID, all := range bodies {
		// The other state asks for the first and the second in other words, once each.
		if most := map[bool]int{true: 2, false: 1}[strings.Contains(refID, "-made-internal-")]; len(all) > most {
			t.Errorf("killed before effect %d: %q was asked for in %d ways", dies, refID, len(all))
		}
	}
}

// checkLedger has each ref_id be paid once at most.
func checkLedger(t *testing.T, dies int, w *world) {
	t.Helper()
	paid := make(map[string]int)
	for record, err := range w.box.Ledger(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if record.Direction == transfer.Debit {
			paid[record.RefID]++
		}
	}
	for refID, times := range paid {
		if times > 1 {
			t.Errorf("killed before effect %d: %q was paid %d times", dies, refID, times)
		}
	}
}
