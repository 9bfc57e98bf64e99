package history

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"remit/executor"
	"remit/internal/sandbox"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// play is a history from its first declaration to its end.
func (w *world) play() {
	defer w.buryAll()
	k := w.kernel
	w.log("traits: %+v", w.traits)
	for range 1 + k.random.IntN(6) {
		w.declare()
	}
	if w.traits.payroll {
		w.declarePayroll()
	}
	for range 3 + k.random.IntN(4) {
		w.chapter()
		if w.oracle.violated != nil {
			return
		}
	}
	w.close()
}

// chapter is what happens between two applies, and an apply with its disasters.
func (w *world) chapter() {
	k, t := w.kernel, w.traits
	for k.chance(t.edits) {
		w.edit()
	}
	if t.files.messes > 0 && k.chance(0.5) {
		w.closeStores()
	}
	if k.chance(0.3) {
		w.backups = append(w.backups, backup{w.files(), w.oracle.model.clone()})
		w.log("a backup is made")
	}
	switch {
	case k.chance(t.loss):
		w.loseState()
	case k.chance(t.restore) && len(w.backups) > 0:
		old := w.backups[k.random.IntN(len(w.backups))]
		w.log("an older backup is restored")
		w.count("restored backup")
		if k.chance(0.5) { // into another file; else it is written over the same one
			w.inode++
		}
		w.replace(old.files)
		w.oracle.lost(old.model.clone())
	}
	if k.chance(t.files.messes) {
		w.mess()
	}
	if k.chance(t.saved) {
		w.save()
		for k.chance(t.edits) {
			w.edit()
		}
		if k.chance(0.2) {
			w.changeControls()
		}
	}
	if w.oracle.violated != nil {
		return
	}
	switch k.random.IntN(6) {
	case 0:
	case 1, 2:
		w.pass(k.between(0, 10*time.Second))
	case 3, 4:
		w.pass(k.between(time.Minute, 20*time.Minute))
	case 5:
		w.pass(k.between(time.Hour, 50*time.Hour))
	}
	if k.chance(t.months) {
		w.month()
	}
	if k.chance(t.clocks.nightly) {
		w.night()
	}
	var file *savedPlan
	if len(w.plans) > 0 && k.chance(0.6) {
		file = w.plans[k.random.IntN(len(w.plans))]
	}
	w.apply(file)
	if k.chance(t.people) && w.oracle.violated == nil {
		w.resolve()
	}
}

// night lets the window of a doubt end, or nearly, as a timer does that starts every night.
func (w *world) night() {
	for _, refID := range w.names() {
		row := w.oracle.model.rows[refID]
		left := w.traits.replayWindow - w.kernel.Now().Sub(row.IntendedAt)
		if row.Status == state.InDoubt && left > 0 {
			w.count("the night after a doubt")
			gap := w.kernel.between(-6*time.Minute, 6*time.Minute)
			if w.traits.clocks.isTight {
				gap = -w.kernel.between(0, requestTimeout)
			}
			w.pass(max(0, left+gap))
			return
		}
	}
}

// loseState is a state that is gone, and a person who makes a new one on purpose.
func (w *world) loseState() {
	w.log("the state is lost, and a new one is made")
	w.count("lost state")
	w.lineages++
	w.inode++
	err := w.place(func(path string) error {
		lineage := fmt.Sprintf("5a1e0000-0000-4000-8000-%012d", w.lineages+1)
		return w.disk.Create(path, created(lineage, true), w.actingClock)
	})
	if err != nil {
		panic(err) // of the simulation's own directory
	}
	w.backups = nil // of another lineage
	w.oracle.lost(newModel())
}

// apply runs an apply, lets happen to it what happens to programs, and says how it ended.
func (w *world) apply(file *savedPlan) string {
	p := w.newProcess("run")
	w.log("%s applies (saved plan: %v)", p.id, file != nil)
	p.start(func() { p.apply(file) })
	defer func() { w.confirmClock(p) }()
	isRival := false
	w.drive(func() {
		if w.healed {
			return
		}
		k, t := w.kernel, w.traits
		alive := w.alive()
		if len(alive) == 0 {
			return
		}
		victim := alive[k.random.IntN(len(alive))]
		switch {
		case k.chance(t.crash) && w.report.Crashes < crashesMax:
			w.crash(victim)
		case k.chance(t.interrupt):
			w.log("%s is interrupted", victim.id)
			w.count("interrupt")
			victim.interrupt()
		case p.original == nil && k.chance(t.clocks.suspends): // nobody in a copy can know that the original's run sleeps
			w.suspend(victim)
		case k.chance(t.stop):
			w.stopProcess(victim, k.between(time.Second, 30*time.Second))
		case !isRival && k.chance(t.rival/20):
			isRival = true
			w.rival(p)
		case !isRival && t.files.copies > 0 && w.oracle.isPoised(p) && k.chance(t.files.copies):
			isRival = true
			w.settleInCopy(p)
		}
	})
	return p.ended
}

// confirmClock is remit state clock, said by whoever was told that the clock lies behind the newest
// event or jumped, once the clock is right.
func (w *world) confirmClock(told *process) {
	if !told.isBehind || !w.healed || w.oracle.violated != nil {
		return
	}
	w.count("clock confirmed by a person")
	p := w.newProcess("clock")
	p.start(func() {
		_ = p.do("confirms the clock", func() {
			if err := p.take(); err != nil {
				p.ended = err.Error()
				return
			}
			b := p.Boot()
			clocks := state.Clocks{Boot: b.ID, BootMS: b.Up.Milliseconds(), Machine: b.Machine}
			entry := state.Clock{Clocks: clocks, By: p.holder("state clock"), Reason: "the clock was set right"}
			if err := p.journal.Append(context.Background(), entry); err != nil {
				w.oracle.violate("I9", "state clock fails: %v", err)
			}
			p.ended = "the clock is right"
		})
	})
	w.drive(func() {})
}

func (w *world) stopProcess(p *process, d time.Duration) {
	w.log("%s is stopped for %v", p.id, d)
	w.count("stopped process")
	w.kernel.mu.Lock()
	p.stoppedUntil = w.kernel.now.Add(d)
	w.kernel.mu.Unlock()
}

// rival is a second apply beside one that runs: it finds the lock held, or somebody takes
// the lock away from the first, which sleeps and wakes up later.
func (w *world) rival(first *process) {
	second := w.newProcess("rival")
	w.count("rival")
	w.loseLockFile()
	force := w.kernel.chance(0.6)
	if force {
		w.stopProcess(first, pick(w.kernel.random, w.kernel.between(0, startMax), w.kernel.between(0, 30*time.Minute)))
		if w.kernel.chance(0.5) {
			w.settleBeside(second, first)
			return
		}
	}
	w.log("%s applies beside %s (by force: %v)", second.id, first.id, force)
	second.start(func() {
		if force {
			_ = second.do("unlocks", func() { w.forceUnlock(second, first) })
		}
		second.apply(nil)
	})
}

// settleBeside is somebody who takes the lock away from a run that does not answer, and settles
// what it had in flight.
func (w *world) settleBeside(person, first *process) {
	w.count("settled beside a run")
	w.log("%s settles what %s had in flight", person.id, first.id)
	person.start(func() {
		_ = person.do("unlocks", func() { w.forceUnlock(person, first) })
		person.settleAll()
	})
}

// forceUnlock is remit force-unlock.
func (w *world) forceUnlock(by, from *process) {
	if from.journal == nil || !from.fencedAt.IsZero() || from.path != w.path {
		return
	}
	store, err := w.openStore(w.way())
	if err == nil {
		b := by.Boot()
		clocks := state.Clocks{Boot: b.ID, Machine: b.Machine, BootMS: b.Up.Milliseconds()}
		err = store.ForceUnlock(context.Background(), by.holder("force-unlock"), clocks, "it does not answer")
	}
	if store != nil && !w.isShared(store) {
		err = errors.Join(err, store.Close())
	}
	if err != nil {
		w.oracle.violate("I6", "force-unlock: %v", err)
		return
	}
	w.log("the lock of %s is taken away", from.id)
	from.fencedAt = w.kernel.Now()
}

// resolve is somebody who goes through what is in doubt, in conflict or unverified, knows
// the truth from another channel, and says it.
func (w *world) resolve() {
	p := w.newProcess("resolve")
	p.start(p.settleAll)
	w.drive(func() {})
}

// settleAll is remit resolve of one ref_id after the other.
func (p *process) settleAll() {
	w := p.world
	var err error
	var work []state.Transfer
	var advice map[string]string
	if p.do("opens", func() {
		if err = p.take(); err != nil {
			return
		}
		if w.healed {
			if advice, err = p.readAdvice(); err != nil {
				return
			}
		}
		for _, refID := range w.names() {
			row := w.oracle.model.rows[refID]
			if asksForPerson(row) || w.needsNews(row) {
				work = append(work, row)
			}
			if w.healed && asksForPerson(row) && row.RecordStatus != transfer.Failed && advice[refID] == "" {
				w.oracle.violate("I9", "%s is %v, and nothing says what to do about it", refID, row.Status)
			}
		}
	}) != nil || err != nil {
		p.ended = fmt.Sprint(err)
		return
	}
	if err := p.connect(); err != nil {
		panic(err) // the options are constant
	}
	for _, row := range work {
		p.resolveOne(row, advice[row.RefID])
	}
	p.ended = fmt.Sprintf("resolved %d", len(work))
}

// commandsMax is in how many commands whatever asks for a person must be settled.
const commandsMax = 3

// resolveOne settles what asks for a person. It begins with what remit status advises, where that is not
// "", and goes on as the errors of remit resolve say.
func (p *process) resolveOne(row state.Transfer, advice string) {
	w := p.world
	ctx, cancel := p.mortal(context.Background())
	defer cancel()
	r := executor.Resolution{
		RefID: row.RefID, By: p.holder("resolve"), Reason: "the bank's portal says so", Journal: gated{p}, Clock: p, Date: p.date,
		Policy: executor.Policy{FingerprintKey: w.traits.fingerprintKey, RequestTimeout: requestTimeout},
	}
	if w.client.Resolve != nil {
		r = w.client.Resolve(r)
	}
	var truth []transfer.Record
	var isUnderWay bool
	_ = p.do("asks the bank about "+row.RefID, func() { truth, isUnderWay = w.bank.truth(row.RefID), w.underWay[row.RefID] > 0 })
	err := errors.New("nothing tried")
	commands := 0
	say := func(how func() error) {
		commands++
		err = how()
	}
	switch {
	case advice != "" && strings.HasPrefix(advice, "remit resolve "):
		say(func() error { return p.heed(ctx, advice, r, truth) })
	case row.Status == state.Conflict || row.Status == state.Unverified:
		say(func() error { _, err := executor.ResolveAcceptRecord(ctx, r, nil); return err })
	case row.Status == state.InDoubt && w.traits.hasLookup:
		say(func() error {
			_, err := p.client.Ready(ctx)
			if err == nil {
				_, err = executor.ResolveByLookup(ctx, r, finder{p})
			}
			return err
		})
	}
	if err != nil && len(truth) > 0 {
		say(func() error { _, err := executor.ResolveRecorded(ctx, r, truth); return err })
	}
	if err != nil && len(truth) == 0 && !isUnderWay {
		say(func() error { _, err := executor.ResolveNotMade(ctx, r); return err })
	}
	if _, disagrees := errors.AsType[*executor.DifferenceError](err); disagrees {
		say(func() error { _, err := executor.ResolveAcceptRecord(ctx, r, truth); return err })
	}
	_ = p.do("said of "+row.RefID, func() {
		w.log("somebody resolves %s, which was %v: error %v", row.RefID, row.Status, err)
		if commands > commandsMax && w.healed {
			w.oracle.violate("I9", "%s takes %d commands to settle", row.RefID, commands)
		}
	})
}

// truth is what the bank's own people see of a ref_id.
func (b *bank) truth(refID string) []transfer.Record {
	healed := b.world.healed
	b.world.healed = true
	defer func() { b.world.healed = healed }()
	var records []transfer.Record
	for _, m := range b.made[refID] {
		for _, side := range []transfer.Direction{transfer.Debit, transfer.Credit} {
			record, err := transfer.ParseRecord([]byte(b.record(m, side)))
			if err != nil {
				panic(err) // it is whole
			}
			records = append(records, record)
		}
	}
	return records
}

// close heals everything, and expects that all ends well: I3, I5, I6.
func (w *world) close() {
	w.log("everything is healed")
	w.healed = true
	w.pass(30 * time.Minute)
	last := w.apply(nil) // settles by itself what it can
	for round := 0; round < 12 && (w.isOpen() || last != nothingToDo) && w.oracle.violated == nil; round++ {
		w.pass(20 * time.Minute) // all rounds together are longer than any not_before
		if round > 0 && w.isOpen() {
			w.resolve()
		}
		w.freeDependants()
		last = w.apply(nil)
	}
	if w.oracle.violated == nil {
		w.ended()
	}
}

// freeDependants removes dependencies on what was shown under an id that is not its own: no
// lookup of it ever agrees, and so nothing that depends on it would go on.
func (w *world) freeDependants() {
	for _, d := range slices.Clone(w.declared) {
		list := w.bank.made[d.refID]
		if len(list) > 0 && list[0].sick[sandbox.SameID] {
			w.forget(d.name)
		}
	}
}

// isOpen reports whether something is left for a person.
func (w *world) isOpen() bool {
	for _, row := range w.oracle.model.rows {
		if row.Status != state.Refused && row.Status != state.Unsent && row.Status != state.Tombstone && !row.Status.Made() || row.Status == state.Unverified || w.needsNews(row) {
			return true
		}
	}
	return false
}

// needsNews reports whether only a person can tell that a recorded transfer has ended.
func (w *world) needsNews(row state.Transfer) bool {
	isEnded := row.RecordStatus == transfer.Completed || row.RecordStatus == transfer.Failed
	return row.Status.Made() && !isEnded && !w.traits.hasLookup
}

// ended checks the end of a history.
func (w *world) ended() {
	for refID, row := range w.oracle.model.rows {
		if row.Status == state.InDoubt || row.Status == state.Conflict || row.Status == state.Unverified {
			w.oracle.violate("I5", "%s is %v, and nobody can settle it", refID, row.Status)
		}
	}
	w.suspect = true
	p := w.newProcess("last")
	p.start(func() {
		_ = p.do("plans", func() {
			if err := p.take(); err != nil {
				w.oracle.violate("I5", "open: %v", err)
				return
			}
			if _, err := p.store.Verify(context.Background(), ""); err != nil {
				w.oracle.violate("I6", "%v", err)
			}
			if err := p.makePlan(nil); err != nil {
				w.oracle.violate("I5", "plan: %v", err)
				return
			}
			w.checkLast(p.plan)
		})
	})
	w.drive(func() {})
	w.oracle.sums()
}

// checkLast expects a plan that has nothing to do.
func (w *world) checkLast(plan *planner.Plan) {
	if !plan.Applicable() {
		w.oracle.violate("I5", "the last plan is not applicable: %s", plan.Obstacles[0].Detail)
	}
	waits := make(map[string]bool)
	for _, c := range plan.Changes.All() {
		waits[c.RefID] = true
		if c.Action == planner.Submit || c.Action == planner.Resolve {
			w.oracle.violate("I5", "the last plan still has %s %s: %s", c.Action, c.RefID, c.Reason)
		}
	}
	for _, d := range w.declared {
		if waits[d.refID] {
			continue
		}
		if len(w.bank.made[d.refID]) == 0 {
			w.report.Lost++
			w.oracle.violate("I5", "%s is declared, and was never paid", d.refID)
		}
	}
}

// LoseLog is a careless store: what was not yet moved from the write-ahead log is gone.
func LoseLog(directory string) error {
	names, err := os.ReadDir(directory)
	if err != nil {
		return err
	}
	for _, name := range names {
		if slices.Contains([]string{"remit.db-wal"}, name.Name()) {
			return os.Truncate(directory+"/"+name.Name(), 0)
		}
	}
	return nil
}
