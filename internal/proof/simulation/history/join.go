//go:build unix

package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"remit/executor"
	"remit/executor/ratelimit"
	"remit/internal/sandbox"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// newShareTraits draws them, from dice of their own: in some of every fourth history, so that the others stay as
// they are. A state there lives as one in a database does: nobody copies its file.
func newShareTraits(seed uint64, t *traits) shareTraits {
	r := rand.New(rand.NewPCG(seed, 0x736861726573))
	if seed%4 != 1 || t.isQuiet || t.clocks.isTight || r.Float64() >= 0.6 {
		return shareTraits{}
	}
	t.files = fileTraits{}
	t.rates[sandbox.Latency] = max(t.rates[sandbox.Latency], 0.4) // or a run is over before anybody comes
	t.stop = pick(r, 0, 0.02, 0.05)
	s := shareTraits{joins: pick(r, 0.005, 0.03), cuts: pick(r, 0, 0, 0.005), lines: r.IntN(10)}
	switch x := r.Float64(); {
	case x < 0.5: // a run that takes long, which an answer stops in the middle
		s.lines += 16
		t.rateLimits = map[transfer.Operation]ratelimit.Limit{transfer.Internal: {Requests: 2 + r.IntN(2), Window: 10 * time.Second}}
		t.rates[sandbox.WrongAmount] = 0.06
		s.joins = 0.03
		t.crash, t.stop, t.interrupt = min(t.crash, 0.01), min(t.stop, 0.02), 0
	case x < 0.7: // others come with files of their own
		s.edits = 0.8
	}
	return s
}

// cutOff has a process not reach the state for a while, or end its session with it for good.
func (w *world) cutOff(p *process) {
	d := w.kernel.between(time.Second, time.Minute)
	w.log("%s is cut off from the state for %v", p.id, d)
	w.count("runner cut off from the state")
	p.cutUntil = w.kernel.Now().Add(d)
	if p.crew != nil && p.crew.isOpen {
		p.isCut = w.kernel.chance(0.5)
	}
}

// join is another runner, of the run that a process has begun. Before it comes, somebody may have edited its files.
func (w *world) join(first *process) {
	for first.plan != nil && w.kernel.chance(max(w.traits.edits/4, w.traits.shares.edits)) {
		w.author.edit()
	}
	p := w.newProcess("runner")
	w.log("%s asks to take part in what %s does", p.id, first.id)
	p.start(func() { p.takePart(first) })
}

// share is what a run shares with other runners; nil for nothing.
func (p *process) share() state.Share {
	if p.crew == nil {
		return nil
	}
	if p.world.client.Share != nil {
		return p.world.client.Share(sharing{p})
	}
	return sharing{p}
}

// takePart is remit apply --join, where a run is in progress.
func (p *process) takePart(first *process) {
	isIn := false
	var err error
	for n := 0; !isIn && err == nil && n < knocksMax && p.ctx.Err() == nil; n++ {
		if dead := p.later(pollKnock, "asks to take part", func() {
			if first.crew == nil {
				err = state.ErrNoRun // it has not begun, or has no lock
				return
			}
			isIn, err = first.crew.knock(p)
		}); dead != nil {
			err = dead
		}
	}
	if !isIn {
		p.ended = fmt.Sprintf("takes no part: %v", err)
		return
	}
	var begun state.Begun
	if dead := p.do("reads what the run does", func() { begun, err = p.readRun() }); dead != nil {
		err = dead
	}
	if err == nil {
		if err := p.connect(); err != nil {
			panic(err) // the options are constant
		}
		p.sends = true
		run := p.run()
		run.Begun = begun
		p.carryOut(executor.Join, run)
		return
	}
	p.ended = fmt.Sprintf("takes no part: %v", err)
	_ = sharing{p}.Leave(context.Background()) // it has claimed nothing
}

// openWhole opens the plan of the run: the saved one, or the one that the first runner made.
func (p *process) openWhole() (*planner.Plan, error) {
	if p.file != nil {
		p.declared = p.file.declared
		return planner.Open(bytes.NewReader(p.file.text))
	}
	p.declared = p.world.author.declaredNow()
	whole, err := planner.Open(executor.Unpack(p.crew.plan))
	if err == nil {
		whole.SHA256 = "" // nobody saved it
	}
	return whole, err
}

// readRun reads the plan of the run, and checks it as remit apply --join does: it sends nothing that is not
// declared where this runner is. It runs as an event.
func (p *process) readRun() (state.Begun, error) {
	ctx, w, first := context.Background(), p.world, p.crew.first
	snapshot, err := p.journal.Snapshot(ctx)
	if err != nil {
		return state.Begun{}, err
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	begun, err := begunOf(ctx, snapshot, p.crew.runID)
	if err != nil {
		return begun, err
	}
	p.file, p.plannedAt, p.saved, p.planControls = first.file, p.wall(), first.saved, first.planControls
	whole, err := p.openWhole()
	if err != nil {
		w.oracle.violate("I9", "the plan of a run can't be read: %v", err)
		return begun, err
	}
	if whole.Digest != begun.Digest {
		w.oracle.violate("I9", "the plan of a run has another digest than the run")
	}
	if p.isApproved = p.approves(whole); !p.isApproved {
		return begun, errors.New("not approved")
	}
	return begun, p.verifyRun(ctx, whole, snapshot)
}

// verifyRun holds the plan of the run against the declarations and controls of this runner, and takes it over.
func (p *process) verifyRun(ctx context.Context, whole *planner.Plan, snapshot state.Snapshot) error {
	w := p.world
	controls := w.author.controlsOf(p.controls)
	if w.client.Controls != nil {
		controls = w.client.Controls(whole)
	}
	if p.file == nil && !w.client.Joins {
		difference, err := whole.OtherThanDeclared(ctx, w.author.transfers(), snapshot)
		if err == nil && difference != "" {
			err = errors.New(difference)
		}
		if err != nil {
			return err
		}
	}
	if err := whole.CheckHeader(snapshot.Meta(), controls, p.Now()); err != nil {
		return fmt.Errorf("the plan of the run is refused: %w", err)
	}
	verified, err := whole.Verify(ctx, state.Past{Snapshot: snapshot}, planner.Controls{Declared: controls, Scales: scales()}, p.Now())
	if err != nil {
		return fmt.Errorf("the plan of the run is refused: %w", err)
	}
	p.plan = verified.Plan
	return nil
}

// isEdited reports whether the files say something else now than when the run was planned, which is what each of its
// runners tells the end of.
func (p *process) isEdited() bool {
	planned, now := p.crew.first.declared, p.world.author.declaredNow()
	for refID, t := range now {
		if planned[refID].Request.Fingerprint() != t.Request.Fingerprint() {
			return true
		}
	}
	return len(now) != len(planned)
}

// released is a state as whoever comes next finds it. A transfer that the runners of a run left open is in flight only
// as long as one of them has the lock.
type released struct{ state.Snapshot }

// Holder implements [state.Snapshot].
func (released) Holder() (state.Holder, bool) { return state.Holder{}, false }

// begunOf is the beginning of a run that the journal has.
func begunOf(ctx context.Context, snapshot state.Snapshot, runID string) (state.Begun, error) {
	for run, err := range snapshot.Runs(ctx) {
		if err != nil {
			return state.Begun{}, err
		}
		if run.Begun.RunID == runID {
			return run.Begun, nil
		}
	}
	return state.Begun{}, state.ErrNoRun
}
