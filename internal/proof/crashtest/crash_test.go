// Package crashtest kills and stops real processes: remit as anyone builds it, and a
// service with a ledger of its own.
//
// Its one invariant: whatever dies at whatever moment, once remit says that nothing is left
// to do, ledger and state agree and each ref_id was paid once.
package crashtest_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"remit/internal/proof/suite"
	"remit/state/postgres/pgtest"
)

var (
	killsFlag = flag.Int("kills", 0, "how many times remit, or the server of its state, is killed; 0 is the dose of the run")
	seedFlag  = flag.Uint64("seed", 0, "what decides the moments; 0 for a new one, which is printed")
)

const (
	killsEach  = 10 // at most, of one round, which has a configuration, a service and a seed of its own
	roundsMin  = 2  // with lookup and without
	settlesMax = 20 // runs after the last kill
)

// TestKilledAtAnyMomentItPaysEachOnce kills remit, and now and then the service, at random
// moments of a payroll of 118, until nothing is left to do; then ledger and state must agree.
//
//	go test ./internal/proof/crashtest -run Killed -v -kills 500 -parallel 4 -timeout 30m
func TestKilledAtAnyMomentItPaysEachOnce(t *testing.T) {
	t.Parallel()
	killed(t, nil)
}

// killed runs rounds until there were enough kills. Each has a state of its own on the server
// that start starts; where start is nil, in a file.
func killed(t *testing.T, start func(testing.TB) *pgtest.Server) {
	t.Helper()
	program := program.Build(t)
	seed := *seedFlag
	if seed == 0 {
		seed = rand.Uint64()
	}
	all := *killsFlag
	if all == 0 {
		all = suite.Dose(2, 4, 20)
	}
	t.Logf("-kills %d -seed %d", all, seed)
	lookups := suite.Dose(0, 1, 1) // of two rounds: a doubt is looked up for 23 seconds, which the quick set has no time for
	rounds := max(roundsMin, (all+killsEach-1)/killsEach)
	total := make(chan tally, rounds)
	t.Run("rounds", func(t *testing.T) {
		for n := range rounds {
			t.Run(fmt.Sprint(n+1), func(t *testing.T) {
				t.Parallel()
				kills := all*(n+1)/rounds - all*n/rounds
				r := &round{t: t, program: program, random: rand.New(rand.NewPCG(seed, uint64(n))), hasLookup: n%2 < lookups}
				if start != nil {
					r.server = start(t)
				}
				for r.kills+r.servers < kills {
					r.payroll(kills)
				}
				t.Logf("lookup %v: %v", r.hasLookup, r.tally)
				total <- r.tally
			})
		}
	})
	close(total)
	var sum tally
	for one := range total {
		sum.add(one)
	}
	t.Logf("all: %v", sum)
}

// tally counts events.
type tally struct {
	payrolls, transfers  int // that were compared with their ledgers
	kills, services      int // of remit, of services
	servers              int // faults of the state's server
	inDoubt, applies     int // transfers in doubt after each kill; runs, killed ones included
	duplicates, mistakes int
}

func (a *tally) add(b tally) {
	a.payrolls += b.payrolls
	a.transfers += b.transfers
	a.kills += b.kills
	a.services += b.services
	a.servers += b.servers
	a.inDoubt += b.inDoubt
	a.applies += b.applies
	a.duplicates += b.duplicates
	a.mistakes += b.mistakes
}

func (a tally) String() string {
	return fmt.Sprintf("%d payrolls of %d, %d applies, %d of them killed, %d services killed, %d faults of the state's server, %d transfers in doubt after them; %d transfers compared, %d paid twice, %d mistakes",
		a.payrolls, payroll, a.applies, a.kills, a.services, a.servers, a.inDoubt, a.transfers, a.duplicates, a.mistakes)
}

// round is one subtest: payrolls until it has killed enough.
type round struct {
	tally
	t         *testing.T
	program   string
	random    *rand.Rand
	hasLookup bool
	server    *pgtest.Server // of the state; nil for a file
}

// payroll pays one payroll in a directory of its own, with kills until there were enough of
// them or nothing is left to do.
func (r *round) payroll(kills int) {
	r.t.Helper()
	faults := []string{fmt.Sprintf("latency=%dms", 5+r.random.IntN(16))}
	if r.random.IntN(2) == 0 {
		faults = append(faults, "lost-answer=3%")
	}
	s := newService(r.t, r.program, faults...)
	inFlightMax := 8 << r.random.IntN(2)
	d := newDirectory(r.t, r.program, s, r.hasLookup, inFlightMax)
	if r.server != nil {
		d.share(r.server)
	}
	r.initialize(d)
	var before standing
	for r.kills+r.servers < kills && !r.done(d) {
		e := r.killOnce(d, s)
		after := standingOf(d)
		for _, what := range after.lies(before, e, inFlightMax) {
			r.t.Error(what)
			r.mistakes++
		}
		before = after
	}
	for runs := 0; !r.done(d); runs++ {
		if runs == settlesMax {
			r.t.Fatalf("%d runs after the last kill something is left to do", runs)
		}
		r.applies++
		r.check(d.run("apply", "--auto-approve", "--json"))
	}
	s.kill()
	rows := d.rows()
	wrong := compare(readLedger(r.t, s.ledger), rows, payroll)
	for _, what := range wrong {
		r.t.Error(what)
		r.mistakes++
		if strings.Contains(what, "twice") {
			r.duplicates++
		}
	}
	r.payrolls++
	r.transfers += len(rows)
}

// initialize makes the state, at times after an init that was killed.
func (r *round) initialize(d *directory) {
	r.t.Helper()
	if r.random.IntN(2) == 0 {
		p := d.start("init")
		time.Sleep(r.within(80 * time.Millisecond))
		_ = p.cmd.Process.Kill() // it may have ended
		p.end()
	}
	d.must(0, "init")
}

// killOnce starts an apply and kills it: after a random time, or a little after a random
// one of its intents. Where it is faster than that it ends by itself, which counts for nothing.
func (r *round) killOnce(d *directory, s *service) ended {
	r.t.Helper()
	p := d.start("apply", "--auto-approve", "--json")
	if r.random.IntN(3) == 0 {
		time.Sleep(r.within(300 * time.Millisecond))
	} else {
		p.await(`"type":"intended"`, 1+r.random.IntN(8), 2*time.Second)
		time.Sleep(r.within(25 * time.Millisecond))
	}
	var fault string
	switch r.random.IntN(10) {
	case 0: // the service alone, which comes back while remit goes on
		s.kill()
		s.restart()
		r.services++
	case 1: // both
		s.kill()
		_ = p.cmd.Process.Kill() // it may have ended
		s.restart()
		r.services++
	case 2, 3, 4, 5, 6:
		if r.server != nil {
			fault = r.hurt()
			r.servers++
			break
		}
		fallthrough
	default:
		_ = p.cmd.Process.Kill() // it may have ended
	}
	e := p.end()
	r.applies++
	if e.killed {
		r.kills++
	} else {
		r.check(e)
	}
	if fault != "" {
		r.t.Logf("%s: exit code %d", fault, e.code)
	}
	if e.killed || fault != "" {
		r.inDoubt += strings.Count(d.must(0, "state", "list", "--json").stdout, `"status":"in_doubt"`)
	}
	return e
}

// check looks at a run that ended by itself.
func (r *round) check(e ended) {
	r.t.Helper()
	switch e.code {
	case 0, 3, 4:
	case 1: // nothing was sent, and a person is told why
		if strings.Contains(e.stdout, `"type":"intended"`) || e.stderr == "" {
			e.fatal(r.t, "exit code 1 after an intent, or without a word")
		}
	default:
		e.fatal(r.t, "no exit code of an apply like this")
	}
}

// done reports whether a plan says that nothing is left to do.
func (r *round) done(d *directory) bool {
	r.t.Helper()
	e := d.run("plan", "--detailed-exitcode")
	if e.code != 0 && e.code != 2 {
		e.fatal(r.t, "a plan that fails")
	}
	return e.code == 0
}

// within is a random time up to most.
func (r *round) within(most time.Duration) time.Duration {
	return time.Duration(r.random.Int64N(int64(most)))
}

// TestAServiceThatForgetsIsCaught breaks what remit assumes of the service, that a ref_id once
// used is not used again within replay_window: the comparison must see the second payments.
func TestAServiceThatForgetsIsCaught(t *testing.T) {
	t.Parallel()
	program := program.Build(t)
	s := newService(t, program, "lost-answer=#1", "forget=1")
	d := newDirectory(t, program, s, false, 8)
	d.must(0, "init")
	d.must(4, "apply", "--auto-approve")
	d.must(0, "apply", "--auto-approve") // sends the recorded bytes again
	s.kill()
	wrong := strings.Join(compare(readLedger(t, s.ledger), d.rows(), payroll), "\n")
	if !strings.Contains(wrong, "was paid twice") {
		t.Errorf("the comparison finds %q", wrong)
	}
}
