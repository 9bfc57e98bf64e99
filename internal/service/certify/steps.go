package certify

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"remit/executor"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

const (
	failuresMax = 2 // probes without a clear answer before no other is sent
	keptMax     = 3 // transfers of earlier series that are sent again
)

// nobody hears the events of a run: the trial tells in its own words.
type nobody struct{}

// Handle implements [executor.Handler].
func (nobody) Handle(executor.Event) {}

// apply is one run: it plans requests against a state and carries the plan out.
func (t *Trial) apply(ctx context.Context, journal state.Journal, finder executor.Finder, window time.Duration, requests ...transfer.Request) (executor.Summary, error) {
	snapshot, err := journal.Snapshot(ctx)
	if err != nil {
		return executor.Summary{}, err
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	// Limits and policies were asked about the whole series, by Plan.
	plan, err := planner.New(ctx, declare(requests), snapshot, planner.Controls{Operator: t.Settings.Operator, Rehearsal: t.Controls.Rehearsal}, t.Clock.Now().UTC())
	if err != nil {
		return executor.Summary{}, err
	}
	meta := snapshot.Meta()
	settings := t.Settings
	settings.ReplayWindow, settings.HoldDoubt, settings.LookUpFirst, settings.InFlightMax = window, false, false, 1
	summary, err := executor.Apply(ctx, executor.Run{
		Plan: plan, Journal: journal, Submitter: t.gate, Finder: finder, Handler: nobody{},
		Begun: state.Begun{
			RunID: t.RunID(), By: t.By, Digest: plan.Digest,
			Environment: meta.Environment, Lineage: meta.Lineage, Service: meta.Service,
		},
		Settings: settings, Clock: t.Clock, Random: t.Random,
	})
	if err != nil && summary.RunID == "" && !errors.Is(err, executor.ErrJournal) {
		return summary, errors.Join(errNoRun, err)
	}
	return summary, err
}

// doubts returns the doubts of a state without the kept ones, or those alone, in byte order of ref_id.
func doubts(ctx context.Context, journal state.Journal, kept bool) ([]state.Detail, error) {
	snapshot, err := journal.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	var refIDs []string
	for row, err := range snapshot.Transfers(ctx) {
		if err != nil {
			return nil, err
		}
		if row.Status == state.InDoubt && isKept(row.RefID) == kept {
			refIDs = append(refIDs, row.RefID)
		}
	}
	return snapshot.Details(ctx, refIDs...)
}

// settle settles the doubts of these states, as every apply does first: by a lookup, or by the recorded
// request.
func (t *Trial) settle(ctx context.Context, journals ...state.Journal) error {
	for _, journal := range journals {
		if ctx.Err() != nil {
			return nil
		}
		open, err := doubts(ctx, journal, false)
		if err != nil {
			return err
		}
		var requests []transfer.Request
		for _, d := range open {
			request, err := transfer.ParseRequest(d.Intent.Operation, []byte(d.Intent.Body), t.Settings.FingerprintKey)
			if err == nil { // the run says of another that it can't be read
				requests = append(requests, request)
			}
		}
		if len(requests) == 0 {
			continue
		}
		t.tell("settling what is in doubt: %d", len(requests))
		if _, err := t.apply(ctx, journal, t.settling(), t.Settings.ReplayWindow, requests...); err != nil {
			return err
		}
	}
	return nil
}

// settling is the lookup for doubts that are to be settled; nil where there is none.
func (t *Trial) settling() executor.Finder {
	if t.Finder == nil {
		return nil
	}
	return withoutKept{t.Finder}
}

// withoutKept is a lookup that finds nothing of kept doubts.
type withoutKept struct{ executor.Finder }

// Find implements [executor.Finder].
func (f withoutKept) Find(ctx context.Context, refIDs []string) (map[string][]transfer.Record, error) {
	kept := make(map[string]string)
	for _, refID := range refIDs {
		if isKept(refID) {
			kept[refID] = "remit certify keeps it in doubt, to send it again later"
		}
	}
	refIDs = slices.DeleteFunc(slices.Clone(refIDs), isKept)
	found, err := f.Finder.Find(ctx, refIDs)
	unreadable, ok := errors.AsType[*executor.UnreadableError](err)
	switch {
	case ok:
		maps.Copy(kept, unreadable.Reasons)
	case len(kept) == 0 || err != nil:
		return found, err
	}
	return found, &executor.UnreadableError{Reasons: kept}
}

// sendKept sends again what earlier series kept for that: the oldest first.
func (t *Trial) sendKept(ctx context.Context) error {
	kept, err := doubts(ctx, t.Journal, true)
	if err != nil {
		return err
	}
	slices.SortFunc(kept, func(a, b state.Detail) int { return a.IntendedAt.Compare(b.IntendedAt) })
	for _, d := range kept[:min(len(kept), keptMax)] {
		request, err := transfer.ParseRequest(d.Intent.Operation, []byte(d.Intent.Body), t.Settings.FingerprintKey)
		if err != nil || ctx.Err() != nil {
			continue
		}
		age := t.Clock.Now().Sub(d.IntendedAt)
		t.tell("sending a request of %s ago again", inWords(age))
		p := &probe{name: nameLater, request: request, keep: true, age: age}
		if d.Outcome != nil {
			p.first = keptRecord(d.Outcome.Problem)
		}
		t.kept = append(t.kept, p)
		if err := t.send(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// forever is a replay window that never ends: the trial finds out how long it lasts.
const forever = time.Duration(math.MaxInt64) / 4

// send sends the request of a probe once more. Where its answer is not clear, or the service takes no more,
// the trial asks for less.
func (t *Trial) send(ctx context.Context, p *probe) error {
	journal := t.Journal
	if p.other {
		journal = t.Other
	}
	before := len(t.gate.of(p))
	t.gate.sending(p)
	summary, err := t.apply(ctx, journal, nil, forever, p.request)
	t.gate.sending(nil)
	attempts := t.gate.of(p)
	if len(attempts) == before {
		for _, e := range summary.Exceptions {
			if e.RefID == p.request.RefID {
				p.unsent = e.Reason
			}
		}
		return err
	}
	last := attempts[len(attempts)-1].answer
	if p.first == nil {
		p.first = last.Record
	}
	switch last.Kind {
	case executor.Answered, executor.Exists:
	case executor.Rejected:
		if isFirst := before == 0; last.Stop || isFirst && (p.name == nameMade || p.name == nameAgain) {
			t.halted = "the service refused a request that is right"
		}
	case executor.Unclear:
		if t.failures++; last.Stop || t.failures >= failuresMax {
			t.halted = "the service gave no clear answer"
		}
	case executor.TokenRefused:
		t.halted = "the service refused the token"
	case executor.NotProcessed:
		t.halted = "the service processed nothing"
	case executor.Unwritten:
		t.halted = "the service could not be reached"
	}
	return err
}

// create sends a series, and looks it up.
func (t *Trial) create(ctx context.Context) error {
	t.made = t.probes()
	t.beginFunds(ctx)
	for i, p := range t.made {
		if ctx.Err() != nil || t.halted != "" {
			break
		}
		if p.other && !t.isAnswered(p.request.RefID) {
			continue
		}
		t.tell("creating %d of %d", i+1, len(t.made))
		if err := t.send(ctx, p); err != nil {
			return err
		}
		if i == 0 {
			t.measureLag(ctx, p)
		}
		if p.name == nameAgain && t.halted == "" {
			if err := t.send(ctx, p); err != nil {
				return err
			}
		}
	}
	if again := t.probe(nameAgain); again != nil && t.halted == "" && ctx.Err() == nil {
		t.tell("sending a request again after %d others", len(t.made)-1)
		again.keep = false
		if err := t.send(ctx, again); err != nil {
			return err
		}
	}
	t.lookUp(ctx)
	t.endFunds(ctx)
	return nil
}

// probe is the one of this series with a name; nil where there is none.
func (t *Trial) probe(name string) *probe {
	i := slices.IndexFunc(t.made, func(p *probe) bool { return p.name == name })
	if i < 0 {
		return nil
	}
	return t.made[i]
}

// isAnswered reports whether a ref_id of this series was made, as its own answer says.
func (t *Trial) isAnswered(refID string) bool {
	return slices.ContainsFunc(t.gate.attempts, func(a attempt) bool {
		return !a.other && a.request.RefID == refID && a.answer.Kind == executor.Answered
	})
}

// leftOpen returns the doubts at the end, and how many of them are kept.
func (t *Trial) leftOpen(ctx context.Context) (open []string, kept int, err error) {
	left, err := doubts(ctx, t.Journal, false)
	for _, d := range left {
		open = append(open, d.RefID)
	}
	forLater, keptErr := doubts(ctx, t.Journal, true)
	return open, len(forLater), errors.Join(err, keptErr)
}

// inWords is a duration as people say it: 24h, 1m30s, 250ms.
func inWords(d time.Duration) string {
	if d < time.Second {
		return d.Round(time.Millisecond).String()
	}
	text := d.Round(time.Second).String()
	if short, isWhole := strings.CutSuffix(text, "m0s"); isWhole {
		text = short + "m"
	}
	if short, isWhole := strings.CutSuffix(text, "h0m"); isWhole {
		text = short + "h"
	}
	return text
}
