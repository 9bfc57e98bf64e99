//go:build unix

package history

import (
	"fmt"
	"slices"
	"time"

	"remit/config"
	"remit/internal/transfer"
)

// payroll is a block with for_each over the rows of a file: each period it pays the same people
// the same amounts, under ref_ids that its words make of the period and the key of a row.
type payroll struct {
	name   string
	words  int // which ref_id template it has
	column int // which column of the file is the key
	period int
	people int
	within time.Duration
	paid   map[[2]int]int // duties, by period and person
	left   map[int]bool   // who is paid in another way in this period: by a block of their own, or under another ref_id
}

// templates are the words of a payroll's ref_id, of the period and the key.
func templates() []string { return []string{"pay-%d-%s", "salary-%d-%s", "pay-%d-%s-v2"} }

// columns are what the rows of a payroll's file have.
func columns() []string { return []string{"employee", "email"} }

func (f *payroll) key(person int) string { return fmt.Sprintf("%s%d", columns()[f.column][:2], person) }

func (f *payroll) refID(person int) string {
	return fmt.Sprintf(templates()[f.words], f.period, f.key(person))
}

// describe is what config makes of a row.
func (f *payroll) describe(d *declaration, t *config.Transfer) {
	t.Address = fmt.Sprintf("%s[%q]", t.Block, f.key(d.person))
	t.FromLabel = false
	t.Naming = fmt.Sprintf("ref_id = %q, key = %q", templates()[f.words], columns()[f.column])
}

// declarePayroll adds the block.
func (a *author) declarePayroll() {
	w := a.world
	r := w.kernel.random
	f := &payroll{
		name: "payroll", period: 1, people: 1 + r.IntN(3), paid: make(map[[2]int]int), left: make(map[int]bool),
		within: pick(r, 10*24*time.Hour, config.DuplicateWithinDefault),
	}
	a.declareRows(f)
}

// declareRows puts the rows of the payroll's period in the place of those that are declared.
func (a *author) declareRows(f *payroll) {
	w := a.world
	a.declared = slices.DeleteFunc(a.declared, func(d *declaration) bool { return d.payroll == f })
	for person := range f.people {
		if f.left[person] {
			continue
		}
		due := [2]int{f.period, person}
		if f.paid[due] == 0 {
			a.named++
			f.paid[due] = a.named
		}
		d := &declaration{
			name: f.refID(person), refID: f.refID(person), duty: f.paid[due], within: f.within, payroll: f, person: person,
			request: transfer.Request{
				Operation: transfer.Internal, Amount: transfer.MustAmount(fmt.Sprintf("%d00.00", 20+person)), Asset: "USD",
				FromProfileID: "treasury", ToProfileID: fmt.Sprintf("employee-%d", person), FingerprintKey: w.traits.fingerprintKey,
			},
		}
		d.original = d.request
		a.duties[d.refID] = d.duty
		a.declared = append(a.declared, d)
	}
	w.log("the payroll of period %d: %d people as %s, key %s", f.period, f.people, templates()[f.words], columns()[f.column])
}

// month lets one pass. Where the payroll of the last one was paid, the next one is declared.
func (w *world) month() {
	k := w.kernel
	w.count("month")
	w.pass(k.between(28*24*time.Hour, 31*24*time.Hour))
	if f := w.author.payroll(); f != nil && w.author.isPaid(f) && !k.chance(0.3) {
		f.period++
		clear(f.left)
		w.author.declareRows(f)
	}
}

func (a *author) payroll() *payroll {
	for _, d := range a.declared {
		if d.payroll != nil {
			return d.payroll
		}
	}
	return nil
}

func (a *author) isPaid(f *payroll) bool {
	w := a.world
	return !slices.ContainsFunc(a.declared, func(d *declaration) bool {
		return d.payroll == f && !w.oracle.model.rows[d.refID].Status.Made()
	})
}

// editPayroll changes the words or the key of the block, as somebody does who tidies up.
func (a *author) editPayroll(f *payroll) {
	w := a.world
	if w.kernel.chance(0.5) {
		f.words = (f.words + 1) % len(templates())
		w.count("ref_id template changed")
	} else {
		f.column = (f.column + 1) % len(columns())
		w.count("key column changed")
	}
	w.log("the words or the key of the payroll are changed")
	a.declareRows(f)
}

// isMixed says that somebody of the payroll was paid by the words and the key that the block has now: what others were paid
// by before can't be written again without renaming that one.
func (a *author) isMixed(f *payroll) bool {
	return slices.ContainsFunc(a.declared, func(d *declaration) bool {
		return d.payroll == f && a.world.oracle.model.rows[d.refID].Status.MayBeMade()
	})
}

// leaveOut takes the row of a person out of the file, who is paid under another ref_id.
func (a *author) leaveOut(f *payroll, refID string) {
	for person := range f.people {
		if f.refID(person) == refID {
			a.world.log("%s is taken out of the payroll", refID)
			f.left[person] = true
			a.declareRows(f)
			return
		}
	}
}

// restorePayroll writes the block again as it was when it was paid under a ref_id.
func (a *author) restorePayroll(f *payroll, old string) {
	w := a.world
	for words := range templates() {
		for column := range columns() {
			as := *f
			as.words, as.column = words, column
			for person := range f.people {
				if as.refID(person) == old {
					w.log("the payroll is written as it was")
					f.words, f.column = words, column
					a.declareRows(f)
					return
				}
			}
		}
	}
}
