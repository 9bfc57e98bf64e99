package jointest_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"remit/internal/proof/suite"
)

// TestThreeRunnersCarryOutOneRun has two runners join a third.
func TestThreeRunnersCarryOutOneRun(t *testing.T) {
	t.Parallel()
	program := program.Build(t)
	w := newWorld(t, program, options{rows: 400, inFlight: 4, latency: 20 * time.Millisecond, held: true})
	leader := w.start("apply", "--auto-approve")
	w.await(1)
	second, third := w.join(), w.join()
	w.takePart(3)
	for _, r := range []*runner{leader, second, third} {
		if code := r.end(); code != 0 {
			t.Errorf("exit code %d\n%s\n%s", code, &r.stdout, r.said())
		}
	}
	w.check(400)
	if n := w.count(); n != 400 {
		t.Errorf("%d requests were sent for 400 transfers", n)
	}
}

// TestAJoinerOfTheRestCountsTheWholePlan has a runner join a run that carries out the rest of a plan, after the run before it
// was interrupted. The table of that runner accounts for each transfer of the plan.
func TestAJoinerOfTheRestCountsTheWholePlan(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	const rows = 200
	program := program.Build(t)
	w := newWorld(t, program, options{rows: rows, inFlight: 4, latency: 5 * time.Millisecond})
	w.must(0, "plan", "--out=rest.plan")
	w.holdFrom(rows / 4)
	first := w.start("apply", "rest.plan")
	w.await(rows/4 + 1)
	first.signal(syscall.SIGINT)
	w.holdFrom(rows / 2) // it may hear of that late
	if code := first.end(); code != 130 {
		t.Fatalf("the interrupted run ends with %d\n%s\n%s", code, &first.stdout, &first.stderr)
	}
	w.hold()
	sent := w.count()
	leader := w.start("apply", "rest.plan")
	w.await(sent + 1)
	second := w.join("rest.plan")
	w.takePart(2)
	for _, r := range []*runner{leader, second} {
		if code := r.end(); code != 0 {
			t.Errorf("exit code %d\n%s\n%s", code, &r.stdout, r.said())
		}
	}
	said := strings.Join(strings.Fields(second.stdout.String()), " ")
	for _, want := range []string{fmt.Sprintf("recorded %d ", rows), fmt.Sprintf("planned %d ", rows)} {
		if !strings.Contains(said, want) {
			t.Errorf("the table of the second runner does not say %q\n%s", want, &second.stdout)
		}
	}
	w.check(rows)
}

// TestAnInterruptIsOfOneRunner interrupts the runner that began a run: it leaves, with what it
// has in flight settled, and the others finish.
func TestAnInterruptIsOfOneRunner(t *testing.T) {
	t.Parallel()
	program := program.Build(t)
	w := newWorld(t, program, options{rows: 300, inFlight: 2, latency: 40 * time.Millisecond, held: true})
	leader := w.start("apply", "--auto-approve")
	w.await(1)
	second, third := w.join(), w.join()
	w.takePart(3)
	w.await(90)
	leader.signal(syscall.SIGINT)
	if code := leader.end(); code != 130 {
		t.Errorf("the interrupted runner ends with %d\n%s\n%s", code, &leader.stdout, &leader.stderr)
	}
	if !strings.Contains(leader.stdout.String(), "goes on") {
		t.Errorf("it does not say that the run goes on\n%s", &leader.stdout)
	}
	for _, r := range []*runner{second, third} {
		if code := r.end(); code != 0 {
			t.Errorf("exit code %d\n%s\n%s", code, &r.stdout, r.said())
		}
	}
	w.check(300)
	if n := w.count(); n != 300 {
		t.Errorf("%d requests were sent for 300 transfers", n)
	}
}

// TestAConflictStopsEveryRunner has the service answer one request with another amount: nothing
// new starts anywhere, and the end of the run counts the transfers that were not attempted.
func TestAConflictStopsEveryRunner(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	const rows = 1000 // of which a busy runner has enough left when it hears of the conflict
	program := program.Build(t)
	w := newWorld(t, program, options{rows: rows, inFlight: 2, latency: 40 * time.Millisecond, held: true, faults: []string{"wrong-amount=ref:pay-00150"}})
	leader := w.start("apply", "--auto-approve")
	w.await(1)
	second, third := w.join(), w.join()
	w.takePart(3)
	for _, r := range []*runner{second, third, leader} {
		if code := r.end(); code != 4 {
			t.Errorf("exit code %d\n%s\n%s", code, &r.stdout, r.said())
		}
		if !strings.Contains(r.stdout.String(), "was stopped") {
			t.Errorf("it does not say that the run was stopped\n%s", &r.stdout)
		}
	}
	if w.count() == rows {
		t.Errorf("all %d requests were sent, in spite of a conflict", rows)
	}
	show := w.must(0, "show", "--run=latest")
	if !strings.Contains(show, "conflict         1") || !strings.Contains(show, "runner 1") {
		t.Errorf("the journal has\n%s", show)
	}
}
