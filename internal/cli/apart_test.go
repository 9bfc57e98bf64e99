package cli_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"remit/internal/cli"
	"remit/state"
)

// TestARunnerThatJoinsLooksAgain has the server of the state go away before a runner takes part in a run. It looks again as long as
// --failover-timeout says, and only for a server that was there.
func TestARunnerThatJoinsLooksAgain(t *testing.T) {
	away := fmt.Errorf("read the events of the past: %w", state.ErrAway)
	refused, other := errors.New("connection refused"), errors.New("it sends another amount")
	for name, c := range map[string]struct {
		errs    []error
		opened  map[int]bool
		timeout time.Duration
		want    int
	}{
		"it went away":                         {errs: []error{away}, opened: map[int]bool{0: true}, timeout: time.Minute, want: 1},
		"it is not there at first":             {errs: []error{away}, timeout: time.Minute},
		"the run sends something else":         {errs: []error{other}, opened: map[int]bool{0: true}, timeout: time.Minute},
		"it went away, and is being replaced":  {errs: []error{away, refused, refused, other}, opened: map[int]bool{0: true, 3: true}, timeout: time.Minute, want: 3},
		"it does not come back in time":        {errs: []error{away, refused, refused, refused, refused}, opened: map[int]bool{0: true}, timeout: time.Second, want: 2},
		"nobody wants it to wait":              {errs: []error{away}, opened: map[int]bool{0: true}},
		"no run goes on yet":                   {errs: []error{away, refused, state.ErrNoRun, state.ErrNoRun, other}, opened: map[int]bool{0: true, 4: true}, timeout: time.Minute, want: 4},
		"no run goes on in time":               {errs: []error{away, state.ErrNoRun, state.ErrNoRun, state.ErrNoRun}, opened: map[int]bool{0: true}, timeout: time.Second, want: 2},
		"there is no run, and was no server":   {errs: []error{state.ErrNoRun}, timeout: time.Minute},
		"it goes away again when it was there": {errs: []error{away, away, other}, opened: map[int]bool{0: true, 1: true, 2: true}, timeout: time.Minute, want: 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				times, told := cli.LooksAgain(t.Context(), time.Now, c.timeout, c.errs, c.opened)
				if times != c.want || len(told) != min(times, 1) {
					t.Fatalf("it looked %d times again and said %q, want %d", times, told, c.want)
				}
				if len(told) > 0 && !strings.Contains(told[0], "has sent nothing, and looks for the run again until") {
					t.Errorf("it says %q", told[0])
				}
			})
		})
	}
}
