//go:build unix

package history

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

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
		w.author.declare()
	}
	for range w.traits.shares.lines {
		w.author.declare()
	}
	if w.traits.payroll {
		w.author.declarePayroll()
	}
	for range 3 + k.random.IntN(4) {
		w.chapter()
		if w.oracle.violated != nil {
			return
		}
	}
	w.close()
}

// passTime lets seconds, minutes or days go by, and clocks jump.
func (w *world) passTime() {
	k, t := w.kernel, w.traits
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
	if k.chance(t.clocks.jumps) {
		w.bank.jump(pick(k.random, 0, 0, 4*time.Minute, -4*time.Minute, 10*time.Hour, -10*time.Hour))
	}
	if k.chance(t.clocks.nightly) {
		w.night()
	}
}

// chapter is the time between two applies, and an apply with its disasters.
func (w *world) chapter() {
	k, t := w.kernel, w.traits
	for k.chance(t.edits) {
		w.author.edit()
	}
	if t.files.messes > 0 && k.chance(0.5) {
		w.storage.closeStores()
	}
	if k.chance(t.backups + t.files.messes) {
		w.storage.backups = append(w.storage.backups, backup{files: w.storage.files(), model: w.oracle.model.clone()})
		w.log("a backup is made")
	}
	w.losses()
	if k.chance(t.files.messes) {
		w.storage.mess()
	}
	if k.chance(t.saved) {
		w.save()
		for k.chance(t.edits) {
			w.author.edit()
		}
		if k.chance(0.2) {
			w.author.changeControls()
		}
	}
	if w.oracle.violated != nil {
		return
	}
	w.passTime()
	var file *savedPlan
	if len(w.plans) > 0 && k.chance(0.6) {
		file = w.plans[k.random.IntN(len(w.plans))]
		w.approve(file)
	}
	w.apply(file)
	if k.chance(t.people) && w.oracle.violated == nil {
		w.resolve()
	}
}

// losses lets the state be lost, or an older backup be put in its place.
func (w *world) losses() {
	k, t := w.kernel, w.traits
	switch {
	case k.chance(t.loss):
		w.loseState()
	case k.chance(t.restore) && len(w.storage.backups) > 0:
		chosen := k.random.IntN(len(w.storage.backups))
		old := w.storage.backups[chosen]
		for i := range w.storage.backups[chosen:] {
			w.storage.backups[chosen+i].parted = i > 0
		}
		w.log("an older backup is restored")
		w.count("restored backup")
		if k.chance(0.5) { // into another file; else it is written over the same one
			w.storage.inode++
		}
		w.storage.replace(old.files)
		w.oracle.lost(old.model.clone())
	}
}

// night lets the window of a doubt end, or nearly, as a timer does that starts every night.
func (w *world) night() {
	for _, refID := range w.author.names() {
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
	w.storage.lineages++
	w.storage.inode++
	err := w.storage.place(func(path string) error {
		lineage := fmt.Sprintf("5a1e0000-0000-4000-8000-%012d", w.storage.lineages+1)
		return w.storage.disk.Create(path, created(lineage, true), w.actingClock)
	})
	if err != nil {
		panic(err) // of the simulation's own directory
	}
	w.storage.backups = nil // of another lineage
	w.oracle.lost(newModel())
}

// apply runs an apply, lets disasters happen to it, and says how it ended.
func (w *world) apply(file *savedPlan) string {
	p := w.newProcess("run")
	w.log("%s applies (saved plan: %v)", p.id, file != nil)
	w.printed.Store(nil)
	p.start(func() { p.apply(file) })
	if k := w.kernel; !w.healed && w.traits.shares.joins > 0 && k.chance(0.7) {
		for range 1 + k.random.IntN(2) {
			w.join(p)
		}
	}
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
		case k.chance(t.shares.joins) && len(alive) < 4:
			w.join(p)
		case k.chance(t.shares.cuts):
			w.cutOff(victim)
		case k.chance(t.crash) && w.report.Crashes < crashesMax:
			w.crash(victim)
		case k.chance(t.interrupt):
			w.log("%s is interrupted", victim.id)
			w.count("interrupt")
			victim.interrupt()
		case p.original == nil && k.chance(t.clocks.suspends) && w.machines.slept < sleepsMax: // nobody in a copy can know that the original's run sleeps
			w.machines.suspend(victim)
		case k.chance(t.clocks.sets):
			w.machines.set(victim)
		case k.chance(t.clocks.jumps / 100):
			w.bank.jump(pick(k.random, 0, 4*time.Minute, -4*time.Minute, time.Minute))
		case k.chance(t.stop):
			longest := 30 * time.Second
			if t.shares.joins > 0 && k.chance(0.5) {
				longest = startMax // a runner is not lost, and its request is written late
			}
			w.stopProcess(victim, k.between(time.Second, longest))
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

func (w *world) stopProcess(p *process, d time.Duration) {
	w.log("%s is stopped for %v", p.id, d)
	w.count("stopped process")
	w.kernel.mu.Lock()
	if until := w.kernel.now.Add(d); until.After(p.stoppedUntil) { // its machine may sleep for longer
		p.stoppedUntil = until
	}
	w.kernel.mu.Unlock()
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
	if w.traits.rules.limits != nil || w.traits.rules.approvers > 0 {
		w.author.controls = limitsNone
	}
	if len(w.bank.jumps) > 0 {
		w.bank.jump(0)
	}
	w.pass(30 * time.Minute)
	last := w.apply(nil) // settles by itself what it can
	for round := 0; round < 12 && (w.oracle.isOpen() || last != nothingToDo) && w.oracle.violated == nil; round++ {
		w.pass(20 * time.Minute) // all rounds together are longer than any not_before
		if round > 0 && w.oracle.isOpen() {
			w.resolve()
		}
		w.freeDependants()
		last = w.apply(nil)
	}
	if w.oracle.violated == nil {
		w.ended()
	}
}

// freeDependants removes dependencies on a record that was shown under an id that is not its own: no
// lookup of it ever agrees, and so nothing that depends on it would go on.
func (w *world) freeDependants() {
	for _, d := range slices.Clone(w.author.declared) {
		list := w.bank.made[d.refID]
		if len(list) > 0 && list[0].sick[sandbox.SameID] {
			w.author.forget(d.name)
		}
	}
}

// isOpen reports whether something is left for a person.
func (o *oracle) isOpen() bool {
	for _, row := range o.model.rows {
		if row.Status != state.Refused && row.Status != state.Unsent && row.Status != state.Tombstone && !row.Status.Made() || row.Status == state.Unverified || o.needsNews(row) {
			return true
		}
	}
	return false
}

// needsNews reports whether only a person can tell that a recorded transfer has ended.
func (o *oracle) needsNews(row state.Transfer) bool {
	w := o.world
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
	w.storage.suspect = true
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
			w.oracle.checkLast(p.plan)
		})
	})
	w.drive(func() {})
	w.oracle.sums()
}

// checkLast expects a plan that has nothing to do.
func (o *oracle) checkLast(plan *planner.Plan) {
	w := o.world
	if !plan.Applicable() {
		o.violate("I5", "the last plan is not applicable: %s", plan.Obstacles[0].Detail)
	}
	waits := make(map[string]bool)
	for _, c := range plan.Changes.All() {
		waits[c.RefID] = true
		if c.Action == planner.Submit || c.Action == planner.Resolve {
			o.violate("I5", "the last plan still has %s %s: %s", c.Action, c.RefID, c.Reason)
		}
	}
	for _, d := range w.author.declared {
		if waits[d.refID] {
			continue
		}
		if len(w.bank.made[d.refID]) == 0 {
			w.report.Lost++
			o.violate("I5", "%s is declared, and was never paid", d.refID)
		}
	}
}

// LoseLog is a careless store: pages not yet moved from the write-ahead log are gone.
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
