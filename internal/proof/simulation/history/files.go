//go:build unix

package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"remit/state"
)

// fileTraits are what people do to the files of a state. A state that is in none has none of it.
type fileTraits struct {
	links  float64 // chance that a command reaches the state by a symbolic link
	loses  float64 // that the file beside the state, which names its holder, is deleted before a rival comes
	copies float64 // that somebody settles in a copy of the state what a run had in flight
	messes float64 // that files of two moments are put together before an apply, or one is cut or linked
}

// newFileTraits draws them, from dice of their own: what else happens stays as it is.
func newFileTraits(seed uint64, t traits) fileTraits {
	if t.isQuiet {
		return fileTraits{}
	}
	r := rand.New(rand.NewPCG(seed, 0x66696c6573))
	f := fileTraits{links: pick(r, 0, 0.3), loses: pick(r, 0, 0.5), copies: pick(r, 0, 0, 0.5), messes: pick(r, 0, 0.3)}
	if t.forgets && !t.hasLookup {
		f.copies = 0 // the copy knows nothing of what the run sends after it, and nobody could
	}
	return f
}

// way is a path to the state: its own, or that of a link.
func (s *storage) way() string {
	w := s.world
	if !w.kernel.chance(w.traits.files.links) {
		return s.path
	}
	w.count("state reached by a link")
	link := filepath.Join(s.dir, fmt.Sprintf("link-to-%d.db", s.places))
	if err := os.Symlink(s.path, link); err != nil && !errors.Is(err, fs.ErrExist) {
		panic(err) // of the simulation's own directory
	}
	return link
}

// loseLockFile deletes the file beside the state that names the holder of its lock.
func (s *storage) loseLockFile() {
	w := s.world
	if !w.kernel.chance(w.traits.files.loses) {
		return
	}
	w.count("deleted lock file")
	w.log("the file beside the state is deleted")
	for _, p := range w.processes {
		p.isUnnamed = true
	}
	if err := os.Remove(s.path + ".lock"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		panic(err) // of the simulation's own directory
	}
}

// settleInCopy is somebody who copies the state while a run is alive and does not answer, and settles
// in the copy what the run had in flight. From then on the copy is the state. The run goes on with the
// original.
func (w *world) settleInCopy(first *process) {
	w.count("settled in a copy")
	w.stopProcess(first, w.kernel.between(0, copyStopMax))
	w.log("the state of %s is copied, and settled in the copy", first.id)
	w.storage.inode++
	w.storage.replace(w.storage.files())
	w.oracle.copied(first)
	w.storage.suspect = true
	person := w.newProcess("copy")
	person.start(person.settleAll)
}

// closeStores closes what commands share. The last one to close a file moves the log into it.
func (s *storage) closeStores() {
	w := s.world
	for path, store := range s.stores {
		if err := store.Close(); err != nil {
			w.oracle.violate("I6", "close: %v", err)
		}
		delete(s.stores, path)
	}
}

// mess puts the files of the state out of order, looks how commands answer, and puts them in order
// again. Such files are refused, or are the state as it is or was; they are never believed in part.
func (s *storage) mess() {
	w := s.world
	k := w.kernel
	now := s.files()
	old := backup{files: now, model: w.oracle.model}
	if len(s.backups) > 0 {
		old = s.backups[k.random.IntN(len(s.backups))]
	}
	for _, other := range s.backups { // one that was made of another file, which only closing it writes
		if k.chance(0.5) && !bytes.Equal(other.files[""], now[""]) {
			old = other
		}
	}
	may, orWas := []*model{w.oracle.model}, false
	mixed := map[string][]byte{"": now[""], "-wal": now["-wal"]}
	kind := pick(k.random, "older file under a log", "older log beside a file", "cut file", "cut log", "second hard link")
	switch kind {
	case "older file under a log":
		mixed[""] = old.files[""]
		orWas = len(now["-wal"]) == 0 || old.parted // else the log says that there was more
	case "older log beside a file":
		mixed["-wal"], orWas = old.files["-wal"], true
	case "cut file":
		mixed[""] = now[""][:k.random.IntN(len(now[""]))]
	case "cut log":
		mixed["-wal"], orWas = now["-wal"][:k.random.IntN(len(now["-wal"])+1)], true // a disk that lied
	}
	w.log("mess: %s", kind)
	w.count(kind)
	s.replace(mixed)
	if kind == "second hard link" {
		may = nil
		if err := os.Link(s.path, s.path+".second"); err != nil {
			panic(err) // of the simulation's own directory
		}
	}
	err := s.readAs(may, orWas)
	if err != nil && w.client.Repair != nil {
		if err := w.client.Repair(filepath.Dir(s.path)); err != nil {
			panic(err) // of the simulation's own directory
		}
		err = s.readAs(may, orWas)
	}
	w.log("what is made of it: %v", err)
	switch _, isBelieved := errors.AsType[*beliefError](err); {
	case kind == "second hard link" && err == nil:
		w.oracle.violate("I6", "a state with a second hard link is opened")
	case isBelieved:
		w.oracle.violate("I6", "%s: %v", kind, err)
	}
	s.replace(now)
	s.suspect = true
}

// beliefError says that a state was opened that never was.
type beliefError struct{ why error }

// Error says what it has.
func (e *beliefError) Error() string { return "a state is believed that never was: " + e.why.Error() }

// readAs opens and locks the state, which must be one of those it may be, or with orWas any that was at
// some time, as its whole journal says. It returns a *[beliefError] where it is none, nil where it is
// one, and else the error that refused it.
func (s *storage) readAs(may []*model, orWas bool) (err error) {
	w := s.world
	ctx := context.Background()
	store, err := s.disk.Open(s.path, w.actingClock)
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }() // it was only read
	journal, err := store.Lock(ctx, state.Holder{Command: "apply", User: "ada", Host: "simulation", Version: "0"}, 0)
	if err != nil {
		return err
	}
	defer func() { _ = journal.Unlock() }() // it was only read
	snapshot, err := journal.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	for _, m := range may {
		if err = m.compare(ctx, snapshot); err == nil {
			return nil
		}
	}
	if orWas {
		if _, err := store.Verify(ctx, ""); err == nil {
			return nil
		}
	}
	if _, isOther := errors.AsType[*otherError](err); isOther {
		return &beliefError{err}
	}
	return err
}
