package crashtest_test

import (
	"testing"
	"time"

	"remit/internal/proof/suite"
	"remit/state/postgres/pgtest"
)

// TestKilledOnPostgreSQLItPaysEachOnce does with a state in PostgreSQL what
// [TestKilledAtAnyMomentItPaysEachOnce] does with one in a file, and lets the server fail at
// random moments as well.
//
//	go test ./internal/proof/crashtest -run KilledOnPostgreSQL -v -kills 500 -parallel 4 -timeout 30m
func TestKilledOnPostgreSQLItPaysEachOnce(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	killed(t, pgtest.Start)
}

// hurt lets something happen to the server of the state, which answers again when hurt
// returns. It says what.
func (r *round) hurt() string {
	r.t.Helper()
	fault, err := "", error(nil)
	switch r.random.IntN(6) {
	case 0:
		fault = "one session killed, which has the server end all of them and recover"
		err = r.server.KillSession(r.random.IntN(1 << 10))
	case 1:
		fault = "stopped at once, and run again"
		r.server.Stop()
		time.Sleep(r.within(300 * time.Millisecond))
		err = r.server.Run()
	case 2:
		fault = "power cut, and run again"
		err = r.server.Cut()
		if err == nil {
			err = r.server.Run()
		}
	case 3:
		fault = "paused"
		err = r.server.Pause()
		time.Sleep(r.within(500 * time.Millisecond))
		if err == nil {
			err = r.server.Continue()
		}
	case 4:
		fault = "all sessions ended"
		r.server.Terminate(r.t, `true`)
	case 5:
		fault = "the lock's session spared, all others ended"
		r.server.Terminate(r.t, `pid NOT IN (SELECT pid FROM pg_locks WHERE locktype = 'advisory')`)
	}
	if err != nil {
		r.t.Fatalf("%s: %v", fault, err)
	}
	return fault
}
