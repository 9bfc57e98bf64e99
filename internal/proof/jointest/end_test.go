package jointest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"remit/internal/proof/suite"
	"remit/internal/sandbox"
	"remit/state/postgres/pgtest"
)

// waitFor waits until a query says true.
func (w *world) waitFor(what, query string) {
	w.t.Helper()
	var last error // a proxy, or the end of a server, may end a connection
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		var is bool
		err := w.db.QueryRow(context.Background(), query).Scan(&is)
		if is {
			return
		}
		if wrong, ok := errors.AsType[*pgconn.PgError](err); ok && strings.HasPrefix(wrong.Code, "42") { // the query is wrong
			w.t.Fatal(err)
		}
		if err != nil {
			last = err
		}
		time.Sleep(10 * time.Millisecond)
	}
	w.t.Fatalf("%s: it does not (the last error: %v)", what, last)
}

// TestAConflictWhileTheRunOpensStopsEveryRunner has what is in flight end in a conflict while the
// plan is still being handed over: who takes part afterwards sends nothing.
func TestAConflictWhileTheRunOpensStopsEveryRunner(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	program := program.Build(t)
	w := newWorld(t, program, options{rows: 200, inFlight: 2, latency: 2 * time.Second})
	leader := w.start("apply", "--auto-approve")
	w.await(1)
	ctx := context.Background()
	tx, err := w.db.Begin(ctx)
	if err == nil {
		_, err = tx.Exec(ctx, `LOCK TABLE `+w.schema+`.parts IN SHARE MODE`)
	}
	if err != nil {
		t.Fatal(err)
	}
	second := w.join()
	w.waitFor("the leader opens the run", `SELECT EXISTS (SELECT 1 FROM pg_locks WHERE NOT granted AND relation = '`+w.schema+`.parts'::regclass)`)
	faults, err := sandbox.ParseFaults("wrong-amount=100%")
	if err != nil {
		t.Fatal(err)
	}
	w.box.SetFaults(faults)
	sent := w.count() // those under way may be answered without the fault, and each make room for one more
	w.waitFor("an answer is a conflict", `SELECT EXISTS (SELECT 1 FROM `+w.schema+`.transfers WHERE status = 7)`)
	w.box.SetFaults(sandbox.Faults{})
	if err := tx.Rollback(ctx); err != nil {
		t.Fatal(err)
	}
	for _, r := range []*runner{leader, second} {
		if code := r.end(); code != 4 && (r == leader || code != 1) { // the run may have ended before the other was in
			t.Errorf("exit code %d\n%s\n%s", code, &r.stdout, &r.stderr)
		}
	}
	if n := w.count(); n > sent+2 {
		t.Errorf("%d requests were sent, of which %d before the conflicts began and no more than 2 after", n, sent)
	}
}

// TestRunnersThatAreInterruptedTogether interrupts every runner at the same moment, as a machine
// does that goes down: the last of them ends the run, and says so.
func TestRunnersThatAreInterruptedTogether(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	program := program.Build(t)
	w := newWorld(t, program, options{rows: 300, inFlight: 2, latency: 40 * time.Millisecond, held: true})
	leader := w.start("apply", "--auto-approve")
	w.await(1)
	second := w.join()
	w.joined(2)
	w.holdFrom(90)
	w.await(91)
	for _, r := range []*runner{leader, second} {
		r.signal(syscall.SIGTERM)
	}
	w.holdFrom(200) // they may hear of that late
	left := 0
	for _, r := range []*runner{leader, second} {
		if code := r.end(); code != 143 {
			t.Errorf("exit code %d\n%s\n%s", code, &r.stdout, &r.stderr)
		}
		if strings.Contains(r.stdout.String(), "goes on") {
			left++
		}
	}
	if left != 1 {
		t.Errorf("%d of 2 runners say that the run goes on\n%s\n%s", left, &leader.stdout, &second.stdout)
	}
	w.waitFor("the run ends", `SELECT bool_and(ended_seq IS NOT NULL) FROM `+w.schema+`.runs`)
	w.release()
	w.must(0, "apply", "--auto-approve")
	w.check(300)
	if n := w.count(); n != 300 {
		t.Errorf("%d requests were sent for 300 transfers", n)
	}
}

// TestOneThatKnowsNoRateLimitTakesNoPart joins with a configuration without the limit of the run.
func TestOneThatKnowsNoRateLimitTakesNoPart(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	program := program.Build(t)
	w := newWorld(t, program, options{rows: 40, inFlight: 2, held: true, service: `rate_limit { internal = "10/1s" }`})
	leader := w.start("apply", "--auto-approve")
	w.await(1)
	w.write("main.hcl", fmt.Sprintf(configuration, 2, "", ""))
	other := w.join()
	if code := other.end(); code != 1 || !strings.Contains(strings.Join(strings.Fields(other.stderr.String()), " "), "the run has a rate_limit of operation internal, and the configuration here has none") {
		t.Errorf("exit code %d\n%s", code, &other.stderr)
	}
	w.release()
	if code := leader.end(); code != 0 {
		t.Errorf("exit code %d\n%s\n%s", code, &leader.stdout, &leader.stderr)
	}
	w.check(40)
	w.keepsRate(10, time.Second)
}

// TestAServerThatIsFullKeepsTheRunAlone has the server give the runner that works no further
// connection: it goes on, and who would take part hears why it can't.
func TestAServerThatIsFullKeepsTheRunAlone(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	program := program.Build(t)
	w := newWorld(t, program, options{rows: 80, inFlight: 1, held: true})
	ctx := context.Background()
	role := "few_" + w.schema
	if _, err := w.db.Exec(ctx, fmt.Sprintf(`CREATE ROLE %s LOGIN PASSWORD '%s'; GRANT ALL ON SCHEMA %s TO %[1]s; GRANT ALL ON ALL TABLES IN SCHEMA %[3]s TO %[1]s`,
		role, pgtest.Password, w.schema)); err != nil {
		t.Fatal(err)
	}
	leader := w.startWith([]string{"REMIT_VAR_database_url=" + strings.Replace(w.server.URL(), "//postgres:", "//"+role+":", 1)}, "apply", "--auto-approve")
	w.await(1)
	if _, err := w.db.Exec(ctx, `ALTER ROLE `+role+` CONNECTION LIMIT 0`); err != nil {
		t.Fatal(err)
	}
	second := w.start("apply", "--join") // it waits in vain
	if code := second.end(); code != 1 || !strings.Contains(strings.Join(strings.Fields(second.stderr.String()), " "), "no connection left") {
		t.Errorf("exit code %d\n%s\n%s", code, &second.stdout, &second.stderr)
	}
	w.release()
	if code := leader.end(); code != 0 {
		t.Errorf("exit code %d\n%s\n%s", code, &leader.stdout, &leader.stderr)
	}
	w.check(80)
}
