package crashtest_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"remit/internal/proof/suite"
	"remit/state/postgres/pgtest"
)

// moment is how long a server hangs that a run outlives, a fraction of what the run waits for it.
const moment = 2 * time.Second

// TestNothingIsSentWhilePostgreSQLIsAway lets the server of the state go away in the middle of
// a run, in each way that there is. From then on only requests that were written down before are
// sent, once; a run that is begun meanwhile sends nothing; and when the server is back, state and
// ledger agree, and the next run pays the rest. The run does not wait to go on by itself. Where a run waits for two minutes, the full dose has
// it do so.
func TestNothingIsSentWhilePostgreSQLIsAway(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	const inFlightMax = 8
	program := program.Build(t)
	for name, c := range map[string]struct {
		away, back func(*pgtest.Server, *network) error
		code       int // of the run
		isLong     bool
		wakes      bool // the run outlives it: the server is back before the run has ended
	}{
		"stopped at once": {
			away: func(s *pgtest.Server, _ *network) error { s.Stop(); return nil },
			back: func(s *pgtest.Server, _ *network) error { return s.Run() }, code: 4,
		},
		"stopped in order": {
			away: func(s *pgtest.Server, _ *network) error { s.Shut(); return nil },
			back: func(s *pgtest.Server, _ *network) error { return s.Run() }, code: 4,
		},
		"its power cut": {
			away: func(s *pgtest.Server, _ *network) error { return s.Cut() },
			back: func(s *pgtest.Server, _ *network) error { return s.Run() }, code: 4,
		},
		"hanging, for as long as the run waits": {
			away: func(s *pgtest.Server, _ *network) error { return s.Pause() },
			back: func(s *pgtest.Server, _ *network) error { return s.Continue() }, code: 4, isLong: true,
		},
		"hanging, for a moment": {
			away: func(s *pgtest.Server, _ *network) error { return s.Pause() },
			back: func(s *pgtest.Server, _ *network) error { return s.Continue() }, code: 0, wakes: true,
		},
		"its network cut": {
			away: func(_ *pgtest.Server, n *network) error { n.cut(); return nil },
			back: func(_ *pgtest.Server, n *network) error { n.mend(); return nil }, code: 4,
		},
		"its network silent": {
			away: func(_ *pgtest.Server, n *network) error { n.silence(); return nil },
			back: func(_ *pgtest.Server, n *network) error { n.mend(); return nil }, code: 4, isLong: true,
		},
	} {
		if c.isLong && suite.Dose(0, 0, 1) == 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := pgtest.Start(t)
			between := newNetwork(t, server.Address())
			s := newService(t, program, "latency=300ms")
			watched := watchUnfinished(t, s.baseURL)
			d := newDirectory(t, program, &service{baseURL: watched.url, secret: s.secret}, false, inFlightMax)
			d.share(server)
			d.reach(between.address)
			d.must(0, "init")
			run := d.start("apply", "--auto-approve", "--json", "--failover-timeout=0s")
			if !run.await(`"type":"settled"`, 20, patience) {
				run.end().fatal(t, "nothing is settled")
			}
			if err := c.away(server, between); err != nil {
				t.Fatal(err)
			}
			before := watched.refIDs()
			watched.release()
			var e ended
			if c.wakes {
				time.Sleep(moment)
			} else {
				meanwhile := d.must(1, "apply", "--auto-approve")
				if !strings.Contains(meanwhile.stderr, "nothing was sent") {
					meanwhile.fatal(t, "it does not say that nothing was sent")
				}
				e = run.end()
			}
			after := watched.refIDs()
			if sent := len(after) - len(before); sent > 2*inFlightMax {
				t.Errorf("%d requests begin after the server has gone, and %d at most had their intents", sent, 2*inFlightMax)
			}
			if err := c.back(server, between); err != nil {
				t.Fatal(err)
			}
			if c.wakes {
				e = run.end()
			}
			if e.code != c.code {
				e.fatal(t, "another exit code is wanted")
			}
			intended := d.shared.intended(t)
			for _, refID := range after {
				if !intended[refID] {
					t.Errorf("%s was sent without an intent", refID)
				}
			}
			for _, wrong := range standingOf(d).lies(nil, e, inFlightMax) {
				t.Error(wrong)
			}
			if posted := watched.refIDs(); len(slices.Compact(slices.Sorted(slices.Values(posted)))) != len(posted) {
				t.Error("the run sent a request twice")
			}
			agree(t, d, s)
		})
	}
}

// TestARunThatWasCutOffIsFencedWhenItIsBack takes the lock of a run away that can't reach the
// server, and lets another one pay: the run that was cut off writes nothing when it is back, and
// sends nothing.
func TestARunThatWasCutOffIsFencedWhenItIsBack(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	program := program.Build(t)
	server := pgtest.Start(t)
	between := newNetwork(t, server.Address())
	s := newService(t, program, "latency=300ms")
	watched := watchUnfinished(t, s.baseURL)
	other := newDirectory(t, program, &service{baseURL: watched.url, secret: s.secret}, false, 8)
	other.share(server)
	other.must(0, "init")
	d := *other
	d.env = slices.Clone(other.env)
	d.reach(between.address)

	cutOff := d.start("apply", "--auto-approve", "--json")
	if !cutOff.await(`"type":"settled"`, 20, patience) {
		cutOff.end().fatal(t, "nothing is settled")
	}
	between.silence()
	watched.release()
	other.must(0, "force-unlock", "--reason=its machine is cut off")
	finish(t, other)
	head := journalHead(other)
	watched.forget()
	between.mend()
	e := cutOff.end()
	if e.code != 4 {
		e.fatal(t, "want exit code 4")
	}
	for _, refID := range watched.refIDs() {
		t.Errorf("what was cut off sends %s", refID)
	}
	if got := journalHead(other); got != head {
		t.Errorf("it wrote to the journal: its head was %s and is %s", head, got)
	}
	agree(t, other, s)
}

// TestAStoppedRunOnPostgreSQLIsFencedWhenItWakes is [TestAStoppedRunIsFencedWhenItWakes] with a
// state in PostgreSQL, where a run may be stopped in the middle of a commit as well.
func TestAStoppedRunOnPostgreSQLIsFencedWhenItWakes(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	fenced(t, func(d *directory) { d.share(pgtest.Start(d.t)) }, func(t *testing.T, r *running, _ *directory) {
		t.Helper()
		suite.Freeze(t, r.cmd.Process)
	})
}
