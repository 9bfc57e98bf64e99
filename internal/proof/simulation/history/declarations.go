//go:build unix

package history

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"remit/config"
	"remit/executor"
	"remit/internal/doubt"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// author writes the files of a history: the declarations, and the payments that they mean.
type author struct {
	world    *world
	declared []*declaration
	removed  []*declaration
	named    int
	duties   map[string]int // what each ref_id is meant to pay
	twice    map[int]bool   // duties that a person wants paid again
	controls string
	hours    map[string]hours // of the window blocks, by name
	people   people
}

func newAuthor(w *world) *author {
	return &author{world: w, duties: make(map[string]int), twice: make(map[int]bool), controls: "controls-0", hours: make(map[string]hours)}
}

// declaration is one transfer block of the files.
type declaration struct {
	name      string // label
	refID     string // the label, unless it is written out
	duty      int
	request   transfer.Request
	original  transfer.Request // before any edit
	notBefore time.Time
	expires   time.Time
	within    time.Duration
	after     string // label of a block that it depends on; "" for none
	window    string // "" for none
	payroll   *payroll
	person    int // of the payroll
}

// savedPlan is a plan file, and the facts at the time when it was made.
type savedPlan struct {
	text     []byte
	declared map[string]config.Transfer
	controls string
	expires  time.Time

	signatures []signature // that are beside it
}

// declare adds a block.
func (a *author) declare() {
	w := a.world
	r, k := w.kernel.random, w.kernel
	a.named++
	name := fmt.Sprintf("t%d", a.named)
	d := &declaration{name: name, refID: name, duty: a.named, within: config.DuplicateWithinDefault}
	d.request = transfer.Request{
		Operation: pick(r, transfer.Internal, transfer.Internal, transfer.Platform),
		Amount:    transfer.MustAmount(pick(r, "80.00", "70", "0.015", "1200.5")), Asset: pick(r, "USD", "USD", "BTC"),
		FromProfileID: "treasury", ToProfileID: pick(r, "p1", "p2", "p3", "p4", "p5", "p6", "p7"),
		FingerprintKey: w.traits.fingerprintKey,
	}
	if w.traits.rules.daily {
		d.request.Amount, d.request.Asset = transfer.MustAmount(pick(r, "80.00", "300.00", "500.00")), limitAsset
	}
	if k.chance(0.3) {
		d.request.Metadata = transfer.NewMetadata(map[string]string{"employee": name})
	}
	d.original = d.request
	if k.chance(0.15) {
		d.notBefore = k.Now().Add(k.between(0, 3*time.Hour))
	}
	if k.chance(0.15) {
		d.expires = k.Now().Add(k.between(time.Minute, 30*time.Hour))
	}
	if k.chance(0.2) {
		d.within = 0
	}
	if len(a.declared) > 0 && k.chance(w.traits.rules.depends) {
		d.after = a.declared[r.IntN(len(a.declared))].name
	}
	if k.chance(w.traits.rules.windows) {
		d.window = a.drawWindow()
	}
	a.duties[d.refID] = d.duty
	a.declared = append(a.declared, d)
	w.log("declared: %s pays %s %s to %s, not before %v, expires %v, after %q, window %q", d.refID, d.request.Amount, d.request.Asset, d.request.ToProfileID, d.notBefore, d.expires, d.after, d.window)
}

// edit changes the files as people do.
func (a *author) edit() {
	w := a.world
	r := w.kernel.random
	if len(a.declared) == 0 {
		a.declare()
		return
	}
	i := r.IntN(len(a.declared))
	d := a.declared[i]
	if d.payroll != nil {
		a.editPayroll(d.payroll)
		return
	}
	if w.kernel.chance(w.traits.rules.edits) {
		a.editRule(d)
		return
	}
	switch r.IntN(8) {
	case 0, 1:
		a.declare()
	case 2:
		d.request.Amount = transfer.MustAmount(pick(r, "81.00", "70.5", "80.000"))
		w.log("edited: %s pays %s", d.refID, d.request.Amount)
	case 3:
		d.request = d.original
		w.log("edited: %s is as it was", d.refID)
	case 4:
		a.remove(i)
	case 5:
		if len(a.removed) > 0 {
			d := a.removed[r.IntN(len(a.removed))]
			a.removed = slices.DeleteFunc(a.removed, func(other *declaration) bool { return other == d })
			a.declared = append(a.declared, d)
			w.log("declared again: %s", d.refID)
		}
	case 6:
		a.rename(d)
	case 7:
		a.changeControls()
	}
}

// editRule changes what a block depends on, or writes the same amount in other words.
func (a *author) editRule(d *declaration) {
	w := a.world
	r := w.kernel.random
	if w.kernel.chance(0.4) {
		amount := d.request.Amount.String()
		if !strings.Contains(amount, ".") {
			amount += "."
		}
		d.request.Amount = transfer.MustAmount(amount + "0")
		w.log("edited: %s pays %s", d.refID, d.request.Amount)
		return
	}
	inDoubt := slices.IndexFunc(a.declared, func(d *declaration) bool {
		return d.payroll == nil && w.oracle.model.rows[d.refID].Status == state.InDoubt
	})
	if inDoubt >= 0 && w.kernel.chance(0.5) { // it is sent again no sooner than what it depends on is COMPLETED
		d = a.declared[inDoubt]
	}
	after := a.declared[r.IntN(len(a.declared))]
	for other := after; other != nil; other = a.labelled(other.after) {
		if other == d {
			return // it would wait for itself
		}
	}
	d.after = after.name
	w.log("edited: %s depends on %s", d.refID, after.refID)
}

// labelled is the declared block with a label; nil for none.
func (a *author) labelled(name string) *declaration {
	i := slices.IndexFunc(a.declared, func(d *declaration) bool { return d.name == name })
	if i < 0 {
		return nil
	}
	return a.declared[i]
}

// changeControls gives the directory other limits, at times those of before.
func (a *author) changeControls() {
	w := a.world
	for was := a.controls; a.controls == was; {
		a.controls = fmt.Sprintf("controls-%d", w.kernel.random.IntN(3))
	}
	w.log("the limits are %s", a.controls)
}

func (a *author) remove(i int) {
	w := a.world
	d := a.declared[i]
	w.log("removed: %s", d.refID)
	a.declared = slices.Delete(a.declared, i, i+1)
	a.removed = append(a.removed, d)
	a.forget(d.name)
}

// forget removes a label from what others depend on.
func (a *author) forget(name string) {
	for _, list := range [][]*declaration{a.declared, a.removed} {
		for _, other := range list {
			if other.after == name {
				other.after = ""
			}
		}
	}
}

// rename changes a label, and so the ref_id, of a transfer that is meant to be paid once.
func (a *author) rename(d *declaration) {
	w := a.world
	a.named++
	renamed := *d
	renamed.name = fmt.Sprintf("t%d", a.named)
	renamed.refID = renamed.name
	if d.payroll != nil {
		d.payroll.left[d.person] = true
		renamed.payroll = nil
	}
	a.duties[renamed.refID] = d.duty
	w.log("renamed: %s is %s now", d.refID, renamed.refID)
	a.forget(d.name)
	a.declared = slices.DeleteFunc(a.declared, func(other *declaration) bool { return other == d })
	a.declared = append(a.declared, &renamed)
}

// block is the address of the block that declares it.
func (d *declaration) block() string {
	if d.payroll != nil {
		return "transfer.internal." + d.payroll.name
	}
	return fmt.Sprintf("transfer.%s.%s", d.request.Operation, d.name)
}

// transfers are the declared ones as config evaluates them.
func (a *author) transfers() iter.Seq[config.Transfer] {
	w := a.world
	return func(yield func(config.Transfer) bool) {
		for i, d := range a.declared {
			request := d.request
			request.RefID = d.refID
			t := config.Transfer{
				Request: request, Address: d.block(), Block: d.block(), FromLabel: d.refID == d.name,
				Place: config.Place{File: "main.hcl", Line: i + 1}, NotBefore: d.notBefore, Expires: d.expires, DuplicateWithin: d.within,
			}
			switch {
			case d.payroll != nil:
				d.payroll.describe(d, &t)
			case !t.FromLabel:
				t.Naming = config.NamingWritten
			}
			if d.window != "" {
				t.Windows = []*config.Window{a.hours[d.window].block(d.window)}
			}
			for _, other := range a.declared {
				if other.name == d.after && other != d {
					t.DependsOn = []config.Dependency{{Block: other.block()}}
				}
			}
			if w.client.Declare != nil {
				t = w.client.Declare(t)
			}
			if !yield(t) {
				return
			}
		}
	}
}

func (a *author) declaredNow() map[string]config.Transfer {
	declared := make(map[string]config.Transfer)
	for t := range a.transfers() {
		declared[t.Request.RefID] = t
	}
	return declared
}

// Declared implements View.
func (p *process) Declared(refID string) ([]byte, bool) {
	for t := range p.world.author.transfers() {
		if t.Request.RefID == refID {
			return t.Request.Body(), true
		}
	}
	return nil, false
}

func (w *world) planControls(snapshot state.Snapshot, p *process) planner.Controls {
	return planner.Controls{
		Scales:     scales(),
		Declared:   w.author.controlsOf(w.author.controls),
		AllowEmpty: true, Lookup: w.traits.hasLookup, HoldDoubt: w.traits.holdDoubt,
		TooOld: func(d *state.Detail) (doubt.Hold, error) {
			ages, err := executor.ReadDoubtAges(context.Background(), snapshot.Runs(context.Background()), p, executor.Settings{
				ReplayWindow: w.traits.replayWindow, RequestTimeout: requestTimeout,
			})
			if err != nil {
				return doubt.Hold{}, err
			}
			return ages.TooOld(d), nil
		},
	}
}

// plan is remit plan, read by somebody who mends what it says is wrong.
func (w *world) plan(snapshot state.Snapshot, p *process) (*planner.Plan, error) {
	controls := w.planControls(snapshot, p)
	for try := 0; ; try++ {
		plan, err := planner.New(context.Background(), w.author.transfers(), snapshot, controls, p.Now())
		if err != nil {
			return nil, err
		}
		plan.Header.PlanID, plan.Header.Author, plan.Header.ToolVersion = "plan-"+p.id, authorOfPlans, "0"
		if w.traits.rules.approvers > 0 && w.kernel.chance(0.5) {
			plan.Header.AuthorKey = ssh.FingerprintSHA256(w.author.people.signers[0].key.PublicKey())
		}
		if plan.Applicable() || try == 2 {
			return plan, nil
		}
		controls.AcceptDuplicate = append(controls.AcceptDuplicate, w.author.review(plan)...)
	}
}

// review is what somebody does about a plan that is not applicable. It returns the ref_ids
// of look-alikes that are meant.
func (a *author) review(plan *planner.Plan) []string {
	w := a.world
	var accepted []string
	for _, c := range plan.Changes.All() {
		twin := ""
		for _, signal := range c.Signals {
			if a.duties[signal.RefID] == a.duties[c.RefID] {
				twin = signal.RefID
			}
		}
		switch {
		case c.Action == planner.Submit && len(c.Signals) > 0 && twin == "":
			accepted = append(accepted, c.RefID)
		case c.Action == planner.Submit && twin != "":
			if w.kernel.chance(0.2) && !w.healed {
				a.twice[a.duties[c.RefID]] = true
				accepted = append(accepted, c.RefID)
				w.log("somebody wants %s paid although %s was", c.RefID, twin)
				continue
			}
			a.keepIdentity(c.RefID, twin)
		case c.Action == planner.Conflict && c.Recorded.Status == state.Tombstone && c.Declared():
			for _, d := range a.declared {
				if d.refID == c.RefID {
					a.rename(d)
					break
				}
			}
		case c.Action == planner.Conflict && c.Recorded.Status.Made() && (w.healed || w.kernel.chance(0.5)):
			a.restoreRecorded(c)
		}
	}
	return accepted
}

// keepIdentity writes the old ref_id out in a block that was renamed, or removes the block where
// the old one is declared as well.
func (a *author) keepIdentity(refID, old string) {
	w := a.world
	for _, d := range a.declared {
		if d.refID == refID && d.payroll != nil {
			if a.isMixed(d.payroll) {
				a.leaveOut(d.payroll, refID)
			} else {
				a.restorePayroll(d.payroll, old)
			}
			return
		}
	}
	taken := slices.ContainsFunc(a.declared, func(d *declaration) bool { return d.refID == old })
	for i, d := range a.declared {
		if d.refID != refID {
			continue
		}
		if taken {
			a.remove(i)
			return
		}
		w.log("%s is written out as %s", refID, old)
		d.refID = old
		return
	}
}

// restoreRecorded makes a declaration equal to the record under its ref_id.
func (a *author) restoreRecorded(c *planner.Change) {
	w := a.world
	request, err := c.Recorded.Request()
	if err != nil {
		return // the plan says so
	}
	for _, d := range a.declared {
		if d.refID == c.RefID {
			w.log("the declaration of %s is restored", c.RefID)
			d.request = request
		}
	}
}

// planLife is how long a saved plan may be applied. A month comes after it, and most nights before.
const planLife = 72 * time.Hour

// save is remit plan --out.
func (w *world) save() {
	p := w.newProcess("plan")
	p.start(func() {
		_ = p.do("plans", func() {
			if err := p.take(); err != nil {
				p.ended = err.Error()
				return
			}
			snapshot, err := p.journal.Snapshot(context.Background())
			if err != nil {
				p.ended = err.Error()
				return
			}
			defer func() { _ = snapshot.Close() }() // it was only read
			plan, err := w.plan(snapshot, p)
			var text bytes.Buffer
			if err == nil && plan.Applicable() && !plan.Empty() {
				plan.Header.Expires = plan.Header.Created.Add(planLife)
				if err = plan.Save(&text); err == nil {
					file := &savedPlan{text: text.Bytes(), declared: w.author.declaredNow(), controls: w.author.controls, expires: p.wall().Add(planLife)}
					w.keep(file)
					w.approve(file)
				}
			}
			p.ended = fmt.Sprintf("saved %d bytes, error %v", text.Len(), err)
		})
	})
	w.drive(func() {})
}

// scales are those of an asset block: an amount of the histories has three decimals.
func scales() transfer.Scales { return transfer.Scales{"USD": 3} }
