package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"remit/config"
	"remit/internal/cli/exit"
	"remit/internal/text/english"
	"remit/internal/transfer"
	"remit/internal/tree"
	"remit/planner"
	"remit/state"
)

// account is a configuration as a client of a service, with the ref_ids that it sends, and with its state, which has those that were made.
type account struct {
	place   place
	name    string // of its directory, and of its environment where that is one of several
	entry   int    // of the tree; -1 of one that was not planned
	service state.Identity
	lineage string
	submits []string
	state   interface {
		Read(ctx context.Context) (state.Snapshot, func(), error)
	}
	here func(command string) string
}

// accountOf is that of a configuration; its service is zero where no money would move. The plan is nil where it was not planned.
func (r *recursion) accountOf(w *opened, at place, plan *planner.Plan) account {
	if r.dir.Sandbox || !w.config.ServiceDeclared() {
		return account{}
	}
	a := account{place: at, name: at.name(), entry: -1, service: w.state.Binding.Service, lineage: w.state.Binding.Lineage, state: w.state, here: w.dir.Here}
	a.service.CustomerID, a.service.TokenURL = "", ""
	if plan == nil {
		return a
	}
	for _, change := range plan.Changes.All() {
		if change.Action == planner.Submit {
			a.submits = append(a.submits, change.RefID)
		}
	}
	return a
}

// isApartFrom reports whether two accounts know nothing of one another, and nobody meant that: two environments of one directory have one
// client where somebody said --same-client.
func (a *account) isApartFrom(other *account) bool {
	return a.lineage != other.lineage && a.place.directory != other.place.directory
}

// name is that of the place for a person.
func (at place) name() string {
	if at.environment != "" {
		return at.directory + " (" + at.environment + ")"
	}
	return at.directory
}

// unplanned is the account of a configuration of which there is no plan. It is false where nobody can tell which transfers were made from there.
func (r *recursion) unplanned(p *process, at place) (account, bool) {
	var told capture
	apart := &process{host: p.host, streams: p.streams.Apart(&told, &told), ctx: p.ctx, typed: p.typed}
	defer func() { _ = apart.streams.Close() }() // into memory
	dir := r.within(p, at)
	if _, isBound, err := dir.ReadLock(); err == nil && !isBound {
		return account{}, true // no state was ever made
	}
	dir.Need = config.NeedService
	w, err := open(apart, &dir)
	if err != nil {
		return account{}, false
	}
	return r.accountOf(w, at, nil), true
}

// elsewhere looks for transfers that configurations of a tree pay twice.
type elsewhere struct {
	tree  *tree.Tree
	sends map[string][]sending // by the ref_id as a service may take it
	found map[*account]*twice
}

// sending is a ref_id that an account sends, as it is declared there.
type sending struct {
	*account
	refID string
}

// twice are ref_ids that an account sends and that others have paid, or send as well.
type twice struct {
	paid, sent paidTwice
}

type paidTwice struct {
	count  int
	refIDs []string // the first of them
	others []string // names of the first accounts
}

// elsewhereMax is how many ref_ids an obstacle names, and accountsMax how many accounts.
const elsewhereMax, accountsMax = 20, 5

func (f *paidTwice) add(refID, other string) {
	f.count++
	if len(f.refIDs) < elsewhereMax {
		f.refIDs = append(f.refIDs, refID)
	}
	if len(f.others) < accountsMax && !slices.Contains(f.others, other) {
		f.others = append(f.others, other)
	}
}

// findElsewhere blocks each plan that would send a ref_id which another configuration of the tree has paid, or sends as well, as the same client
// of the same service: each state knows its own payments alone, and the service need not know an old ref_id any more.
func (r *recursion) findElsewhere(ctx context.Context, p *process, t *tree.Tree, accounts []account, unplanned []place) error {
	services := make(map[state.Identity][]*account)
	isSending := false
	for i := range accounts {
		a := &accounts[i]
		isSending = isSending || len(a.submits) > 0
		services[a.service] = append(services[a.service], a)
	}
	if !isSending {
		return nil
	}
	for _, at := range unplanned {
		a, isKnown := r.unplanned(p, at)
		if !isKnown {
			t.Unread = append(t.Unread, at.name())
		}
		services[a.service] = append(services[a.service], &a)
	}
	for _, name := range t.Gone {
		if files, err := os.ReadDir(filepath.Join(r.dir.Path, filepath.FromSlash(name))); err == nil && slices.ContainsFunc(files, func(f os.DirEntry) bool { return isLockFile(f.Name()) }) {
			t.Unread = append(t.Unread, name)
		}
	}
	delete(services, state.Identity{})
	for _, all := range services {
		e := elsewhere{tree: t, sends: make(map[string][]sending), found: make(map[*account]*twice)}
		if err := e.find(ctx, all); err != nil {
			return err
		}
	}
	slices.Sort(t.Unread)
	return nil
}

// find is findElsewhere for the accounts of one client of one service.
func (e *elsewhere) find(ctx context.Context, all []*account) error {
	for _, a := range all {
		for _, refID := range a.submits {
			fold := transfer.FoldRefID(refID)
			e.sends[fold] = append(e.sends[fold], sending{a, refID})
		}
	}
	if len(all) < 2 || len(e.sends) == 0 {
		return nil
	}
	for _, a := range all {
		for _, refID := range a.submits {
			senders := e.sends[transfer.FoldRefID(refID)]
			if other := slices.IndexFunc(senders, func(other sending) bool { return other.isApartFrom(a) }); other >= 0 {
				e.of(a).sent.add(refID, senders[other].name)
			}
		}
		err := a.eachMade(ctx, func(refID string) {
			for _, s := range e.sends[transfer.FoldRefID(refID)] {
				if s.isApartFrom(a) {
					e.of(s.account).paid.add(s.refID, a.name)
				}
			}
		})
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			e.tree.Unread = append(e.tree.Unread, a.name)
		}
	}
	for _, a := range all { // in their order
		if f := e.found[a]; f != nil && e.tree.Entries[a.entry].Brief != nil {
			f.block(&e.tree.Entries[a.entry], a)
		}
	}
	return nil
}

func (e *elsewhere) of(a *account) *twice {
	if e.found[a] == nil {
		e.found[a] = new(twice)
	}
	return e.found[a]
}

// eachMade calls do with the ref_ids that the state has as made, or perhaps made.
func (a *account) eachMade(ctx context.Context, do func(refID string)) error {
	snapshot, done, err := a.state.Read(ctx)
	if err != nil {
		return err
	}
	defer done()
	for o, err := range snapshot.Outlines(ctx) {
		if err != nil {
			return fmt.Errorf("read which transfers were made: %w", err)
		}
		if o.MayBeMade() {
			do(o.RefID)
		}
	}
	return nil
}

// block adds the obstacles to the entry of an account. A plan that was saved without them is removed.
func (f *twice) block(e *tree.Entry, a *account) {
	e.Next = ""
	if f.sent.count > 0 {
		f.sent.block(e, "The same ref_id would be paid from %s as well, as the same client of the same service. Declare it in one place alone")
	}
	if f.paid.count > 0 {
		f.paid.block(e, "The same ref_id was paid from %s as the same client of the same service, and the state here does not know that. "+
			"Declare it in one place alone. Where the declaration has moved, give the service's records to the state here before its next apply")
		e.Next = a.here("remit import EXPORT")
	}
	if e.ExitCode != exit.Look && e.ExitCode != exit.Error {
		e.ExitCode = exit.Control
	}
}

func (f *paidTwice) block(e *tree.Entry, says string) {
	from := english.List(f.others)
	if len(f.others) == accountsMax {
		from += " (and perhaps others)"
	}
	b := e.Brief
	b.Obstacles = slices.Insert(b.Obstacles, 0, planner.Obstacle{Kind: planner.ObstacleElsewhere, Count: f.count, RefIDs: f.refIDs, Detail: fmt.Sprintf(says, from)})
	b.Obstacles = b.Obstacles[:min(len(b.Obstacles), tree.ObstaclesMax)]
	b.Blocked++
	b.Applicable = false
}

// removeBlocked removes plans that were saved before it was known that something blocks them.
func (r *recursion) removeBlocked(t *tree.Tree) error {
	for i := range t.Entries {
		e := &t.Entries[i]
		isElsewhere := func(o planner.Obstacle) bool { return o.Kind == planner.ObstacleElsewhere }
		if e.Brief == nil || e.Brief.SavedAs == "" || !slices.ContainsFunc(e.Brief.Obstacles, isElsewhere) {
			continue
		}
		err := os.Remove(r.dir.Within(filepath.FromSlash(e.Brief.SavedAs)))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("remove the plan of %s, which pays what another directory has paid: %w", e.Directory, err)
		}
		e.Brief.SavedAs = ""
	}
	return nil
}
