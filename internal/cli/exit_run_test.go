package cli_test

import (
	"testing"

	"remit/executor"
	"remit/internal/cli"
	"remit/internal/cli/exit"
	"remit/internal/transfer"
)

// TestARunThatAnOutageEndedSaysWhetherAnythingWasSent has the exit code 1, on which a scheduler tries again, mean that nothing was
// sent: a transfer that was refused or FAILED was.
func TestARunThatAnOutageEndedSaysWhetherAnythingWasSent(t *testing.T) {
	for name, test := range map[string]struct {
		out     bool // at its end; else the run was stopped
		results []executor.Result
		want    int
	}{
		"nothing was sent":                {true, nil, exit.Error},
		"nothing was sent, it stopped":    {false, nil, exit.Error},
		"one is recorded":                 {true, []executor.Result{executor.ResultRecorded}, exit.Partial},
		"one was refused":                 {true, []executor.Result{executor.ResultRefused}, exit.Partial},
		"one was refused, and it stopped": {false, []executor.Result{executor.ResultRefused}, exit.Partial},
		"one FAILED":                      {true, []executor.Result{executor.ResultFailed}, exit.Partial},
		"one is in doubt":                 {true, []executor.Result{executor.ResultInDoubt}, exit.Look},
	} {
		t.Run(name, func(t *testing.T) {
			s := executor.Summary{Totals: make(map[executor.Result]*transfer.Totals), Out: test.out}
			if !test.out {
				s.Stopped = "the service cannot be reached"
			}
			for _, result := range append(test.results, executor.ResultNotAttempted) {
				s.Totals[result] = new(transfer.Totals)
				s.Totals[result].Add("USD", transfer.MustAmount("80.00"))
			}
			if got := cli.ExitOfRun(t.Context(), s); got != test.want {
				t.Errorf("exit code %d, want %d", got, test.want)
			}
		})
	}
}
