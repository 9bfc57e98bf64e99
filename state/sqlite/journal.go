package sqlite

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"remit/state"
	"remit/state/storage"
)

// Bounds of the rows that wait to be folded.
const (
	foldAt   = 65536 // changed rows that begin a fold
	foldStep = 256   // rows, at least, that one commit folds while a fold is under way
)

// pace is how folds are spread over commits: the constants above, except in tests.
type pace struct {
	at, step int
}

// journal is the one writer of a locked state. The queue commits one after the other, and so
// owns everything below the line.
type journal struct {
	store *Store
	lock  *heldLock
	sides *sides
	since int64 // the newest event when the lock was taken
	*storage.Queue
	unnoted storage.Unnoted

	// -----

	conn    *sql.Conn
	head    head
	owners  map[string]string    // of the records of the commit under way, by their ids
	groups  map[string][2]string // those who have the group_ids that it claims, in the table
	runs    map[string]state.Run // those that were begun under this lock
	rows    *storage.Overlay     // changed since the last fold began
	folding *folding             // nil where no fold is under way
	notes   noteFiles            // of a branch while the state lacks an event that a note names
	noted   storage.Noted        // the newest of the lineage that this journal wrote
	room    room
	insert  direct // writes an event
	fold    direct // writes a row
}

var (
	_ state.Journal = (*journal)(nil)
	_ state.Placed  = (*journal)(nil)

	_ state.Completer = (*journal)(nil)
	_ state.Noting    = (*journal)(nil)
)

// Lock implements [state.Store]. It folds what a holder that died left unfolded, and
// migrates a state of an older schema after backing it up.
func (s *Store) Lock(ctx context.Context, holder state.Holder, wait time.Duration) (state.Journal, error) {
	if s.write == nil {
		return nil, fmt.Errorf("lock state %s: it was opened for reading", s.path)
	}
	j, err := s.lock(ctx, holder, wait)
	if err != nil {
		return nil, fmt.Errorf("lock state %s: %w", s.path, err)
	}
	j.Queue = storage.NewQueue(j.transact)
	return j, nil
}

func (s *Store) lock(ctx context.Context, holder state.Holder, wait time.Duration) (*journal, error) {
	conn, err := s.write.Conn(ctx)
	if err != nil {
		return nil, err
	}
	held := &heldLock{}
	held.beside, err = locking{
		path: s.path, holder: holder, wait: wait, sleep: s.sleep,
		take: func(ctx context.Context) (bool, error) { return s.take(ctx, conn, held) },
		who:  func(ctx context.Context, signed state.Holder) state.Holder { return s.who(ctx, conn, signed) },
	}.acquire(ctx)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	j := &journal{
		store: s, lock: held, conn: conn,
		runs: make(map[string]state.Run), rows: storage.NewOverlay(nil), room: room{sizeWAL, make(map[string]bool)},
		insert: direct{text: insertEventSQL}, fold: direct{text: foldRowSQL},
	}
	if err := j.prepare(ctx); err != nil {
		return nil, errors.Join(explain(err), j.close(), held.release())
	}
	return j, nil
}

// close gives the connection back. The driver does not let go of the file while a statement
// is open, and the last one to let go tidies the write-ahead log up.
func (j *journal) close() error {
	return errors.Join(j.insert.close(j.conn), j.fold.close(j.conn), j.conn.Close(), j.notes.close())
}

func (j *journal) prepare(ctx context.Context) error {
	if err := assertDurable(ctx, j.conn); err != nil {
		return err
	}
	// Of this connection alone, which is the only one that commits more than a few rows.
	// The other two matter on macOS, where fsync does not reach the disk by itself.
	pragmas := fmt.Sprintf("PRAGMA wal_autocheckpoint = %d; PRAGMA cache_size = -16384; PRAGMA temp_store = MEMORY; PRAGMA fullfsync = 1; PRAGMA checkpoint_fullfsync = 1", sizeWAL)
	if _, err := j.conn.ExecContext(ctx, pragmas); err != nil {
		return err
	}
	if free, known := j.store.free(j.store.path); known {
		j.sizeLog(ctx, free)
	}
	if err := j.store.migrateLocked(ctx); err != nil {
		return err
	}
	var err error
	if j.sides, err = newSides(j.store.path); err != nil {
		return err
	}
	if j.head, err = readHead(ctx, j.conn); err != nil {
		return err
	}
	if err := checkTips(ctx, j.conn, j.head); err != nil {
		return err
	}
	if j.head.moved != "" {
		return &state.MovedError{To: j.head.moved}
	}
	if err := j.store.checkDeparted(j.head); err != nil {
		return err
	}
	found := j.head // which keeps the word of the state itself
	err = found.compare(ctx, j.conn, j.store.noted(j.head.Lineage))
	switch {
	case err != nil:
	case found.Lacks == 0:
		_ = j.store.removeBranches(j.head.Lineage) // the state has their events: one that stays says nothing
		err = j.note()
	case !j.head.Told:
		err = j.noteBranch()
	}
	if err == nil && !j.head.Told {
		err = j.noteMissed(ctx)
	}
	if err != nil {
		return err
	}
	j.since = j.head.Serial
	tail, err := replay(ctx, j.conn, j.head)
	if err != nil {
		return err
	}
	j.rows.Absorb(tail)
	return j.foldAll()
}

// Complete implements [state.Completer]. From now on the notes of all other copies are about older ones. One that can't be written, and names
// an event that the state lacks, is an error.
func (j *journal) Complete() error {
	if err := j.note(); err != nil {
		return err
	}
	j.noteLineage(true)
	_ = j.store.removeBranches(j.head.Lineage) // one that stays is looked at
	var err error
	for _, path := range slices.Concat(j.store.noteNames(j.head.Lineage)) {
		for _, path := range []string{path, path + storage.BranchSuffix} {
			if !j.has(path) {
				err = errors.Join(err, fmt.Errorf("the note %s names an event that the state lacks, and could not be written anew; remove it", path))
			}
		}
	}
	if err != nil {
		return err
	}
	if j.head.Told {
		if err := j.say("", inPlace); err != nil {
			return fmt.Errorf("say that it is complete: %w", err)
		}
		j.head.Lacks, j.head.Told = 0, false
	}
	return nil
}

// note notes the newest event, and has each commit note its own from then on.
func (j *journal) note() error {
	err := j.notes.close()
	if err == nil {
		j.notes, err = j.store.openNotes(j.head.Lineage, "", &j.unnoted, func(string) bool { return true })
	}
	if err == nil {
		j.noteNewest(false)
	}
	return err
}

// noteBranch has each payment noted beside the notes that name an event which the state lacks: the copy that has that one
// lacks these. A note of a branch that names another missing event stays as it is: whichever copy is put in the place of the state
// lacks this event or that one.
func (j *journal) noteBranch() (err error) {
	j.notes, err = j.store.openNotes(j.head.Lineage, storage.BranchSuffix, &j.unnoted, j.has)
	return err
}

// noteMissed notes the newest payment in notes of payments that name an earlier one, or none: a process can die between a commit and its note.
func (j *journal) noteMissed(ctx context.Context) error {
	ofPath, paths := j.store.noteNames(j.head.Lineage)
	if j.notes.isBranch {
		paths = append(ofPath, paths...)
	}
	for _, path := range paths {
		if j.notes.isBranch {
			path += storage.BranchSuffix
		}
		noted := storage.ReadNote(path)
		isLeft := !j.notes.isBranch && isEmpty(path) // a full disk leaves it so, and there is room now
		if noted.Lineage != j.head.Lineage && !isLeft || !j.has(path) {
			continue
		}
		var seq int64
		var hash []byte
		err := j.conn.QueryRowContext(ctx, `SELECT seq, hash FROM events WHERE seq > ? AND kind = ? ORDER BY seq DESC LIMIT 1`, noted.Seq, state.KindIntent).Scan(&seq, &hash)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return err
		}
		file := storage.OpenSeen(path, j.head.Lineage, false, &j.unnoted)
		file.Write(seq, hex.EncodeToString(hash))
		_ = file.Close() // where it was not written, Unnoted says so
	}
	return nil
}

// has reports whether the note at path names no event that the state lacks.
func (j *journal) has(path string) bool {
	note := storage.ReadNote(path)
	if note == j.noted { // as mostly: nobody else has written it since
		return true
	}
	missing, err := lacks(context.Background(), j.conn, note, j.head)
	return err == nil && missing == 0
}

// noteNewest notes that the newest event is durable. With it a payment was begun: isPayment. To a branch nothing else counts: the copy
// whose events it lacks is whole without it.
func (j *journal) noteNewest(isPayment bool) {
	n := &j.notes
	if n.isBranch && !isPayment {
		return
	}
	n.beside.Write(j.head.Serial, j.head.Head)
	for _, seen := range n.seen {
		seen.Write(j.head.Serial, j.head.Head)
	}
	if isPayment {
		j.noteLineage(false)
	}
}

// noteLineage notes the newest event among the notes of the lineage, which copies under other paths write as well. One that names an event
// which the state lacks is written over where it is complete now, and stays otherwise.
func (j *journal) noteLineage(isComplete bool) {
	for i, path := range LineageNotes(j.store.notes.All(), j.head.Lineage) {
		if !isComplete && (j.notes.isBranch || !j.has(path)) {
			if path += storage.BranchSuffix; !j.has(path) {
				continue
			}
		}
		file := storage.OpenSeen(path, j.head.Lineage, i < len(j.store.notes.Kept), &j.unnoted)
		file.Write(j.head.Serial, j.head.Head)
		_ = file.Close() // where it was not written, Unnoted says so
	}
	j.noted = storage.Noted{Lineage: j.head.Lineage, Seq: j.head.Serial, Hash: j.head.Head}
}

// say writes in the state what it says of its place, where it says before now.
func (j *journal) say(now, before string) error {
	ctx := context.Background()
	return immediately(ctx, j.conn, func() error {
		if err := j.checkFence(ctx); err != nil {
			return err
		}
		_, err := j.conn.ExecContext(ctx, `UPDATE meta SET moved = ? WHERE moved = ?`, now, before)
		return err
	})
}

// LackAll implements [state.Successor]. The state says so itself, wherever it is moved to. All notes name an event that it does not
// have, and no commit changes that: another file may be put in its place.
func (j *journal) LackAll(context.Context) error {
	err := j.say(inPlace, "")
	if err == nil {
		err = j.note()
	}
	if err != nil {
		return err
	}
	seq, hash := state.LackAll()
	j.head.Lacks, j.head.Told = seq, true
	for _, file := range append(j.notes.seen, j.notes.beside) {
		file.Write(seq, hash)
	}
	err = j.notes.close()
	if path := notePath(j.store.path); err == nil && storage.ReadNote(path).Seq != seq {
		err = fmt.Errorf("%s could not be written", path)
	}
	return err
}

// Place implements [state.Placed].
func (j *journal) Place() state.FilePlace { return j.lock.own.place(j.store.path) }

// Unnoted implements [state.Noting].
func (j *journal) Unnoted() []state.Unnoted { return j.unnoted.Unnoted() }

// Check implements [state.Journal].
func (j *journal) Check(ctx context.Context) error {
	if err := j.Err(); err != nil {
		return err
	}
	if err := j.unharmed(); err != nil {
		return err
	}
	var fence int64
	if err := j.store.read.QueryRowContext(ctx, `SELECT fence FROM meta`).Scan(&fence); err != nil {
		return fmt.Errorf("check the lock: %w", explain(err))
	}
	if fence != j.lock.fence {
		conn, err := j.store.read.Conn(ctx)
		if err != nil {
			return errors.Join(state.ErrFenced, err)
		}
		return errors.Join(j.taken(ctx, conn), conn.Close())
	}
	return nil
}

// taken is the error of a journal whose fence was passed.
func (j *journal) taken(ctx context.Context, conn *sql.Conn) error {
	forced, err := unlockedAfter(ctx, conn, j.since)
	switch {
	case err != nil:
		return errors.Join(state.ErrFenced, err)
	case forced != nil:
		return &state.TakenError{By: forced.By, Reason: forced.Reason}
	}
	return &state.TakenError{By: readHolder(ctx, lockPath(j.store.path))}
}

// Snapshot implements [state.Journal].
func (j *journal) Snapshot(ctx context.Context) (state.Snapshot, error) { return j.store.Snapshot(ctx) }

// Unlock implements [state.Journal]. It folds the rest; where that fails the
// journal still has everything, and the next Lock folds it.
func (j *journal) Unlock() error {
	err := j.Close()
	if errors.Is(err, state.ErrUnlocked) {
		return err
	}
	if err == nil {
		err = j.foldAll()
	}
	if err == nil {
		err = j.unharmed() // the disk has the written bytes
	}
	err = errors.Join(err, j.close(), j.lock.release())
	if err != nil {
		return fmt.Errorf("unlock state %s: %w", j.store.path, err)
	}
	return nil
}
