//go:build unix

package history

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"remit/executor"
	"remit/internal/doubt"
	"remit/internal/transfer"
	"remit/state"
)

// commandsMax bounds the commands after which a transfer that asks for a person must be settled.
const commandsMax = 3

// confirmClock is remit state clock, typed by a person who was told that the clock lies behind the
// newest event or jumped, on the machine that said so, once its clock is right.
func (w *world) confirmClock(told *process) {
	if !told.isBehind || !w.healed || w.oracle.violated != nil {
		return
	}
	w.count("clock confirmed by a person")
	p := w.newProcess("clock")
	p.machine = told.machine
	p.start(func() {
		_ = p.do("confirms the clock", func() {
			if err := p.take(); err != nil {
				p.ended = err.Error()
				return
			}
			b := p.Boot()
			clocks := state.Clocks{Boot: b.ID, BootMS: b.Up.Milliseconds(), Machine: b.Machine}
			entry := state.ClockConfirmed{Clocks: clocks, By: p.holder("state clock"), Reason: "the clock was set right"}
			if err := p.journal.Append(context.Background(), entry); err != nil {
				w.oracle.violate("I9", "state clock fails: %v", err)
			}
			p.ended = "the clock is right"
		})
	})
	w.drive(func() {})
}

// rival is a second apply beside one that runs: it finds the lock held, or somebody takes
// the lock away from the first, which sleeps and wakes up later.
func (w *world) rival(first *process) {
	second := w.newProcess("rival")
	w.count("rival")
	w.storage.loseLockFile()
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
	if from.journal == nil || !from.fencedAt.IsZero() || from.path != w.storage.path {
		return
	}
	store, err := w.storage.openStore(w.storage.way())
	if err == nil {
		b := by.Boot()
		clocks := state.Clocks{Boot: b.ID, Machine: b.Machine, BootMS: b.Up.Milliseconds()}
		err = store.ForceUnlock(context.Background(), by.holder("force-unlock"), clocks, "it does not answer")
	}
	if store != nil && !w.storage.isShared(store) {
		err = errors.Join(err, store.Close())
	}
	if err != nil {
		w.oracle.violate("I6", "force-unlock: %v", err)
		return
	}
	w.log("the lock of %s is taken away", from.id)
	from.fencedAt = w.kernel.Now()
	if from.crew != nil {
		from.crew.unlocked(from.fencedAt)
	}
}

// resolve is somebody who goes through transfers in doubt, in conflict or unverified, knows
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
	var says map[string]advised
	if p.do("opens", func() {
		if err = p.take(); err != nil {
			return
		}
		if w.healed {
			if says, err = p.readAdvice(); err != nil {
				return
			}
		}
		if last := w.printed.Load(); w.healed && last != nil { // a person reads the last output
			for refID, one := range *last {
				if one.next != "" {
					says[refID] = one
				}
			}
		}
		for _, refID := range w.author.names() {
			row := w.oracle.model.rows[refID]
			if asksForPerson(row) || w.oracle.needsNews(row) {
				work = append(work, row)
			}
			if w.healed && asksForPerson(row) && row.RecordStatus != transfer.Failed && says[refID].next == "" {
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
		p.resolveOne(row, says[row.RefID])
	}
	p.ended = fmt.Sprintf("resolved %d", len(work))
}

// resolveOne settles what asks for a person: as remit says, where it was asked, and otherwise as the person likes.
func (p *process) resolveOne(row state.Transfer, says advised) {
	w := p.world
	ctx, cancel := p.mortal(context.Background())
	defer cancel()
	r := executor.Resolution{
		RefID: row.RefID, By: p.holder("resolve"), Reason: "the bank's portal says so", Journal: gated{p}, Clock: p, Date: p.date,
		Settings: executor.Settings{FingerprintKey: w.traits.fingerprintKey, RequestTimeout: requestTimeout},
	}
	if w.client.Resolve != nil {
		r = w.client.Resolve(r)
	}
	if w.client.Prints != nil {
		says.next = w.client.Prints(says.next)
	}
	a := advice{process: p, given: r}
	var isUnderWay bool
	_ = p.do("asks the bank about "+row.RefID, func() { a.truth, isUnderWay = w.bank.truth(row.RefID), w.network.underWay[row.RefID] > 0 })
	if w.healed && strings.HasPrefix(says.next, "remit resolve ") {
		commands, err := a.follow(ctx, says)
		_ = p.do("said of "+row.RefID, func() {
			w.log("somebody follows %q about %s, which was %v: error %v", says.next, row.RefID, row.Status, err)
			w.count("printed command followed")
			w.oracle.followed(row.RefID, says, commands, err)
		})
		return
	}
	if w.healed && says.next == doubt.Apply && w.printed.Load() != nil { // else something else keeps the plan from being applied
		if w.applies[row.RefID]++; w.applies[row.RefID] <= commandsMax {
			return // the apply comes next
		}
		if strings.Contains(says.said, "The next apply ") {
			w.oracle.violate("I9", "%d applies did not settle %s, of which each was said to be the one: %q", commandsMax, row.RefID, says.said)
		}
	}
	err := a.asLiked(ctx, row, isUnderWay)
	_ = p.do("said of "+row.RefID, func() {
		w.log("somebody resolves %s, which was %v: error %v", row.RefID, row.Status, err)
	})
}

// followed is asked when somebody has followed what remit says: it led to an end, soon, or to a wait.
func (o *oracle) followed(refID string, says advised, commands int, err error) {
	if _, waits := errors.AsType[*executor.AliveError](err); waits {
		return
	}
	switch {
	case commands > commandsMax:
		o.violate("I9", "%s is not settled after %d commands, of which the first was %q: %v", refID, commandsMax, says.next, err)
	case err != nil:
		o.violate("I9", "what is said about %s leads nowhere: %q: %v", refID, says.next, err)
	case asksForPerson(o.model.rows[refID]) && o.model.rows[refID].RecordStatus != transfer.Failed:
		o.violate("I9", "%s is %v after all that was said about it: %q", refID, o.model.rows[refID].Status, says.next)
	}
}

// asLiked is somebody who knows the flags of remit resolve, and tries one after the other.
func (a *advice) asLiked(ctx context.Context, row state.Transfer, isUnderWay bool) error {
	err := errors.New("nothing tried")
	switch {
	case row.Status == state.Conflict || row.Status == state.Unverified:
		err = a.resolve(ctx, typedWord{isAccepted: true})
	case row.Status == state.InDoubt && a.process.world.traits.hasLookup:
		err = a.resolve(ctx, typedWord{})
	}
	if err != nil && len(a.truth) > 0 {
		err = a.resolve(ctx, typedWord{isRecorded: true})
	}
	if err != nil && len(a.truth) == 0 && !isUnderWay {
		err = a.resolve(ctx, typedWord{isNotMade: true})
	}
	if _, disagrees := errors.AsType[*executor.DifferenceError](err); disagrees {
		err = a.resolve(ctx, typedWord{isAccepted: true, isRecorded: true})
	}
	return err
}
