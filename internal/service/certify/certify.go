// Package certify tries a funds-transfer service against what remit needs of it, row by row of package
// contract.
//
// Its one invariant: it moves money as an apply does, and in no other way. Each request to create is a line of
// a plan of package planner, and goes through [executor.Apply] on a locked journal: written down before it is
// sent, and sent again with the same bytes alone. This package chooses the requests, keeps answers back, and
// reads the outcomes.
package certify

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"remit/executor"
	"remit/internal/service/contract"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// Party is one side of a transfer.
type Party struct{ ProfileID, IdentityID, AccountID string }

// Options say which transfers a trial makes, and where.
type Options struct {
	From       Party
	To         Party             // of internal transfers; zero: the operation is not tried
	PlatformTo Party             // of platform transfers; zero: the operation is not tried
	Amounts    []transfer.Amount // at least one; each is tried
	TooMuch    transfer.Amount   // more than From has; zero: not tried
	Asset      string

	// Resume sends again what an earlier trial kept for that, and nothing else.
	Resume bool
	// Wait is how long the service may take to list a transfer, and to complete it.
	Wait time.Duration

	Controls planner.Controls  // those of the configuration
	Settings executor.Settings // of the service block
}

// Trial is one trial of a service.
type Trial struct {
	Options

	// Journal has what the trials of this directory made. Other knows nothing of it, as a second checkout
	// would: from there the ref_ids of Journal are asked for in other words. Both are locked.
	Journal, Other state.Journal

	Submitter executor.Submitter
	Finder    executor.Finder        // nil where the service has no lookup
	Balances  executor.BalanceReader // nil where the service says no balances
	Clock     executor.Clock
	Random    func() float64
	By        state.Holder
	RunID     func() string         // a new one for each run
	Tell      func(progress string) // in a few words, of each step

	gate          *gate
	watch         watch
	series        string   // what the ref_ids of this series begin with
	number        int      // of the series
	made          []*probe // of this series
	kept          []*probe // of earlier ones, sent again
	failures      int      // probes without a clear answer
	halted        string   // why no further transfer is asked for; "" where it may be
	isInterrupted bool
	lag           lag
	funds         funds
	final         final
	odd           map[string]lookedUp // by ref_id
}

// probe is one transfer that is asked for.
type probe struct {
	name    string
	request transfer.Request
	other   bool // it is asked for from the other state
	keep    bool // its answer is kept back
	refuse  bool // it must be refused

	first  *transfer.Record // of its first answer; nil where that had none
	age    time.Duration    // of one of an earlier series: since it was first sent
	unsent string           // why the latest run did not send it; "" where it did
}

// errNoRun wraps the reason why a run did not begin: no token, or another clock.
var errNoRun = errors.New("the run did not begin")

// Run tries the service and reports what it found. Where ctx ends it goes no further and returns its cause
// with the report of the tried rows. An error that wraps [executor.ErrJournal] says that a state failed. The
// doubts that a killed trial left are settled first.
func (t *Trial) Run(ctx context.Context) (contract.Report, error) {
	t.gate = &gate{to: t.Submitter, clock: t.Clock}
	err := t.try(ctx)
	if errors.Is(err, errNoRun) {
		t.halted = "no run could begin"
		err = nil
	}
	if t.isInterrupted = ctx.Err() != nil; t.isInterrupted && err == nil {
		err = context.Cause(ctx)
	}
	report := t.judge()
	left, kept, leftErr := t.leftOpen(context.WithoutCancel(ctx))
	report.LeftOpen, report.Kept = left, kept
	return report, errors.Join(err, leftErr)
}

func (t *Trial) try(ctx context.Context) error {
	if err := t.identify(ctx); err != nil {
		return err
	}
	if err := t.settle(ctx, t.Journal, t.Other); err != nil {
		return err
	}
	if err := t.sendKept(ctx); err != nil || t.Resume || ctx.Err() != nil {
		return err
	}
	if err := t.create(ctx); err != nil {
		return err
	}
	return t.settle(ctx, t.Journal)
}

// Plan is what a series would send, against the controls of the configuration: nothing is sent for it. A
// faulty service may make more: whatever it makes of a request that is sent again.
func (t *Trial) Plan(ctx context.Context) (*planner.Plan, error) {
	if err := t.identify(ctx); err != nil {
		return nil, err
	}
	var requests []transfer.Request
	for _, p := range t.probes() {
		if !p.other {
			requests = append(requests, p.request)
		}
	}
	snapshot, err := t.Journal.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	return planner.New(ctx, declare(requests), snapshot, t.Controls, t.Clock.Now().UTC())
}

const refIDPrefix = "certify-"

// identify finds which series is the next, and how its ref_ids begin.
func (t *Trial) identify(ctx context.Context) error {
	snapshot, err := t.Journal.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	lineage := strings.ReplaceAll(snapshot.Meta().Lineage, "-", "")
	prefix := refIDPrefix + lineage[:min(8, len(lineage))] + "-"
	last := 0
	for row, err := range snapshot.Outlines(ctx) {
		if err != nil {
			return err
		}
		rest, ok := strings.CutPrefix(row.RefID, prefix)
		if !ok {
			continue
		}
		number, _, _ := strings.Cut(rest, "-")
		if n, err := strconv.Atoi(number); err == nil {
			last = max(last, n)
		}
	}
	t.number = last + 1
	t.series = fmt.Sprintf("%s%d-", prefix, t.number)
	return nil
}

// isKept reports whether a ref_id is that of a transfer that a trial keeps in doubt, to send it again later.
func isKept(refID string) bool {
	return strings.HasPrefix(refID, refIDPrefix) && strings.HasSuffix(refID, "-"+nameLater)
}

// tell names the step that begins.
func (t *Trial) tell(format string, args ...any) {
	if t.Tell != nil {
		t.Tell(fmt.Sprintf(format, args...))
	}
}
