//go:build unix

package history

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"remit/state"
)

// gated is the journal as the executor sees it: each of its effects is an event.
type gated struct{ p *process }

// Append implements executor.Journal.
func (g gated) Append(ctx context.Context, entries ...state.Entry) error {
	p := g.p
	key := "append"
	for _, entry := range entries {
		refID, _ := entry.Subject()
		key += fmt.Sprintf(" %s %s", entry.Kind(), refID)
	}
	return p.ask(key, func() error {
		err := g.fails(p.world.traits.rules.journal, "append that fails")
		if err == nil {
			err = p.sign()
		}
		if err == nil {
			err = p.journal.Append(context.WithoutCancel(ctx), entries...)
		}
		if err != nil {
			p.world.log("%s %s fails: %v", p.id, key, err)
			return err
		}
		p.world.oracle.appended(p, entries)
		return g.fails(p.world.traits.rules.unsaid, "append whose end is not told")
	})
}

// sign is the sign of life of a process that shares its run, with all that it does to the journal.
func (p *process) sign() error {
	if p.crew == nil || p.crew.of(p) == nil {
		return nil
	}
	return p.crew.sign(p.crew.of(p))
}

// ErrDisk is what the journal of a process answers when the disk is full.
var ErrDisk = errors.New("no space left on device")

// fails is a disk that is full.
func (g gated) fails(rate float64, kind string) error {
	p, w := g.p, g.p.world
	if w.healed || !w.kernel.chance(rate) {
		return nil
	}
	w.count(kind)
	w.log("the journal of %s fails", p.id)
	if p.failedAt.IsZero() {
		p.failedAt = w.kernel.Now()
	}
	return ErrDisk
}

// Place implements state.Placed. Path and number are the simulation's: the rest of a process that
// died is in another directory of it, and the same file to the machines of the history.
func (g gated) Place() state.FilePlace {
	return state.FilePlace{Path: "/var/lib/remit.db", Device: "8:1", Inode: fmt.Sprint(g.p.inode)}
}

// Check implements executor.Journal.
func (g gated) Check(ctx context.Context) error {
	return g.p.ask("check", func() error {
		if err := g.p.sign(); err != nil {
			return err
		}
		return g.p.journal.Check(context.WithoutCancel(ctx))
	})
}

// Snapshot implements executor.Journal.
func (g gated) Snapshot(ctx context.Context) (state.Snapshot, error) {
	p := g.p
	s := &seen{p: p}
	var err error
	dead := p.do("snapshot", func() {
		if s.from, err = p.journal.Snapshot(context.WithoutCancel(ctx)); err != nil {
			return
		}
		p.open = append(p.open, s.from)
		for row, rowErr := range s.from.Transfers(context.Background()) {
			err = errors.Join(err, rowErr)
			s.rows = append(s.rows, row)
		}
	})
	if err = errors.Join(dead, err); err != nil {
		return nil, err
	}
	return s, nil
}

// seen is a snapshot whose reads are events. It embeds none: a read that is no event would be a
// system call, during which the kernel takes its process for one that waits.
type seen struct {
	p    *process
	from state.Snapshot
	rows []state.Transfer
}

// Meta implements state.Snapshot.
func (s *seen) Meta() state.Meta { return s.from.Meta() }

// Holder implements state.Snapshot.
func (s *seen) Holder() (state.Holder, bool) { return s.from.Holder() }

// Transfers implements state.Snapshot.
func (s *seen) Transfers(context.Context) iter.Seq2[state.Transfer, error] {
	return func(yield func(state.Transfer, error) bool) {
		for _, row := range s.rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}

// Outlines implements state.Snapshot.
func (s *seen) Outlines(ctx context.Context) iter.Seq2[state.Outline, error] {
	return state.OutlinesOf(s.Transfers(ctx))
}

// Details implements state.Snapshot.
func (s *seen) Details(_ context.Context, refIDs ...string) ([]state.Detail, error) {
	var details []state.Detail
	var err error
	dead := s.p.do("details", func() { details, err = s.from.Details(context.Background(), refIDs...) })
	return details, errors.Join(dead, err)
}

// Events implements state.Snapshot.
func (s *seen) Events(_ context.Context, after int64, refID string) iter.Seq2[state.Event, error] {
	return readWhole(s.p, "events", s.from.Events(context.Background(), after, refID))
}

// Runs implements state.Snapshot.
func (s *seen) Runs(context.Context) iter.Seq2[state.Run, error] {
	return readWhole(s.p, "runs", s.from.Runs(context.Background()))
}

// Jumps implements state.Snapshot.
func (s *seen) Jumps(context.Context) iter.Seq2[state.Jump, error] {
	return readWhole(s.p, "jumps", s.from.Jumps(context.Background()))
}

// Clocks implements state.Snapshot.
func (s *seen) Clocks(context.Context) iter.Seq2[state.Event, error] {
	return readWhole(s.p, "clocks", s.from.Clocks(context.Background()))
}

// Told implements state.Snapshot.
func (s *seen) Told(context.Context) iter.Seq2[state.Event, error] {
	return readWhole(s.p, "told", s.from.Told(context.Background()))
}

// Names implements state.Snapshot.
func (s *seen) Names(context.Context) iter.Seq2[state.Name, error] {
	return readWhole(s.p, "names", s.from.Names(context.Background()))
}

// readWhole reads all of a sequence in one event of a process.
func readWhole[T any](p *process, key string, from iter.Seq2[T, error]) iter.Seq2[T, error] {
	var all []T
	var err error
	dead := p.do(key, func() {
		for one, oneErr := range from {
			err = errors.Join(err, oneErr)
			all = append(all, one)
		}
	})
	err = errors.Join(dead, err)
	return func(yield func(T, error) bool) {
		for _, one := range all {
			if !yield(one, nil) {
				return
			}
		}
		if err != nil {
			var none T
			yield(none, err)
		}
	}
}

// Close implements state.Snapshot. The snapshot is closed with the next effect of its process: a close that is
// no event would be a system call as well.
func (s *seen) Close() error {
	s.p.unread.add(s.from)
	return nil
}

// unread are snapshots that a process has open and reads no more.
type unread struct {
	mu   sync.Mutex
	list []state.Snapshot // guarded by mu
}

func (u *unread) add(s state.Snapshot) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.list = append(u.list, s)
}

// close closes them, and returns those of open that are left.
func (u *unread) close(open []state.Snapshot) []state.Snapshot {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, s := range u.list {
		i := slices.Index(open, s)
		if i < 0 {
			continue // its process has given up meanwhile, or closes it twice
		}
		_ = s.Close() // it was only read
		open = slices.Delete(open, i, i+1)
	}
	u.list = nil
	return open
}
