package jointest_test

import (
	"fmt"
	"strings"
	"testing"

	"remit/internal/proof/suite"
)

// TestADependencyThatEveryRunnerWaitsFor has two runners look up a transfer that one of them sent,
// PENDING at first. The answer that one of them gets is for both, and it is counted once.
func TestADependencyThatEveryRunnerWaitsFor(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	const fund = `
transfer "internal" "fund" {
  from_profile_id = "bank"
  to_profile_id   = "treasury"
  amount          = "1000000.00"
  asset           = "USD"
}
`
	tests := map[string]struct {
		faults []string
		code   int
		want   map[string]int
	}{
		"it is COMPLETED": {
			[]string{"pending=6s,ref:fund", "latency=3s,ref:fund"},
			0,
			map[string]int{"recorded": 401, "failed": 0, "not attempted": 0},
		},
		"it FAILED": {
			[]string{"fail=ref:fund", "pending=6s,ref:fund", "latency=3s,ref:fund"},
			3,
			map[string]int{"recorded": 0, "failed": 1, "not attempted": 400},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, program.Build(t), options{
				rows: 400, inFlight: 4, held: true, unchecked: true, more: fund, faults: test.faults,
				service: `lookup_path = "/v2/transfers"`, transfer: "depends_on = [transfer.internal.fund]",
			})
			leader := w.start("apply", "--auto-approve", "--wait=10m")
			w.await(1)
			second := w.join("--wait=10m")
			w.takePart(2)
			for _, r := range []*runner{second, leader} {
				if code := r.end(); code != test.code {
					t.Errorf("exit code %d, want %d\n%s\n%s", code, test.code, &r.stdout, &r.stderr)
				}
				if !strings.Contains(r.stdout.String(), "2 runners took part") {
					t.Errorf("it was alone\n%s\n%s", &r.stdout, &r.stderr)
				}
				text := strings.Join(strings.Fields(r.stdout.String()), " ")
				for word, n := range test.want { // a row of none is left out
					if says := strings.Contains(text, fmt.Sprintf(" %s %d ", word, n)); says != (n > 0) {
						t.Errorf("it does not say %q %d\n%s", word, n, &r.stdout)
					}
				}
				if strings.Contains(text, "PENDING:") {
					t.Errorf("it says that something is PENDING\n%s", &r.stdout)
				}
			}
		})
	}
}
