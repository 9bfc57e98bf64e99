package sqlite

import (
	"context"
	"fmt"
	"os"

	"remit/state"
	"remit/state/storage"
)

// The needs of a run on the volume of its state, in bytes. A payment whose outcome can't be written is in doubt, so nothing
// is begun that would take the room for the outcomes of others.
const (
	pageSize    = 4 << 10
	roomBase    = 128 << 10 // for the end of the run, a part of the fold, the notes and the files beside
	roomIntent  = 4 << 10   // of one intent
	roomOutcome = 12 << 10  // of one outcome in a commit of its own
	roomRow     = 512       // of one row that is not folded yet
	roomPlenty  = 1 << 30   // beyond that nobody asks how much larger the file will be

	// runBegins is for how many transfers there must be room when a run begins.
	runBegins = 4
	// shareWAL is which part of the free room the write-ahead log may take before a commit moves it into the database,
	// and leastWAL how many pages it always may.
	shareWAL, leastWAL = 8, 16
	// waitReaders is how long a log that must begin anew waits for those who read it, in milliseconds.
	waitReaders = 500
)

// room is what a journal knows of the volume of its state.
type room struct {
	pages int             // of the log, after which a commit moves it into the database
	open  map[string]bool // ref_ids with an intent of this lock, and without its outcome
}

// begins counts the runs and the payments that a call begins. An intent with its outcome behind it, as of a payment that the service has
// already, begins nothing.
func begins(c *storage.Call) (runs, intents int) {
	open := make(map[string]bool)
	for _, d := range c.Drafts {
		switch e := d.Entry.(type) {
		case state.Begun:
			runs++
		case state.Intent:
			open[e.RefID] = true
		case state.Outcome:
			delete(open, e.RefID)
		}
	}
	return runs, len(open)
}

// transact commits calls, see [storage.Commit]. Where the volume has too little room left, those that begin a run or a payment are
// answered with a *[state.FullError], and the others are committed: they have the rest.
func (j *journal) transact(calls []*storage.Call) ([]error, error) {
	if err := j.unharmed(); err != nil {
		return nil, err
	}
	full := j.full(calls)
	if full == nil {
		return j.commit(calls)
	}
	answers := make([]error, len(calls))
	var rest []*storage.Call
	for i, c := range calls {
		if runs, intents := begins(c); runs+intents > 0 {
			answers[i] = full
		} else {
			rest = append(rest, c)
		}
	}
	if len(rest) == 0 {
		return answers, nil
	}
	others, err := j.commit(rest)
	for i := range answers {
		if answers[i] == nil && len(others) > 0 {
			answers[i], others = others[0], others[1:]
		}
	}
	return answers, err
}

// full returns a *[state.FullError] where the calls begin more than there is room for.
func (j *journal) full(calls []*storage.Call) error {
	var runs, intents int
	for _, c := range calls {
		r, i := begins(c)
		runs, intents = runs+r, intents+i
	}
	if runs+intents == 0 {
		return nil
	}
	free, known := j.store.free(j.store.path)
	if !known {
		return nil
	}
	ctx := context.Background()
	j.sizeLog(ctx, free)
	needed := j.needed(intents + runBegins*runs)
	if free >= needed+roomPlenty {
		return nil
	}
	growth, err := j.growth(ctx)
	if err != nil || free >= needed+growth {
		return nil //nolint:nilerr // the commit fails for the same reason, and says it
	}
	// The room of the log can be used again once all of it is in the database.
	if free, known = j.restartLog(ctx); !known || free >= needed {
		return nil
	}
	return &state.FullError{Name: j.store.path, Free: free, Needed: needed}
}

// needed is how much room the outcomes of all attempts under way take, and those of so many more intents.
func (j *journal) needed(intents int) int64 {
	n := int64(roomBase) + int64(intents)*(roomIntent+roomOutcome) + int64(len(j.room.open))*roomOutcome
	n += int64(len(j.rows.Rows)+intents) * roomRow
	if f := j.folding; f != nil { // each commit folds a part
		n += int64(len(f.order)-f.done)*roomRow + 2*int64(j.store.pace.step)*pageSize
	}
	return n
}

// growth is how much larger the database will be when all of the log is in it.
func (j *journal) growth(ctx context.Context) (int64, error) {
	var pages int64
	if err := j.conn.QueryRowContext(ctx, `PRAGMA page_count`).Scan(&pages); err != nil {
		return 0, err
	}
	info, err := os.Stat(j.store.path)
	if err != nil {
		return 0, err
	}
	return max(0, pages*pageSize-info.Size()), nil
}

// restartLog moves all of the log into the database, so that the next commit writes it from its beginning again, and returns how
// much room there is with the file that the log then has to itself. Where somebody reads an older view of the state,
// the log can only grow.
func (j *journal) restartLog(ctx context.Context) (free int64, known bool) {
	var isBusy, pages, moved int
	_, err := j.conn.ExecContext(ctx, fmt.Sprintf(`PRAGMA busy_timeout = %d`, waitReaders))
	if err == nil {
		err = j.conn.QueryRowContext(ctx, `PRAGMA wal_checkpoint(RESTART)`).Scan(&isBusy, &pages, &moved)
	}
	if _, back := j.conn.ExecContext(ctx, fmt.Sprintf(`PRAGMA busy_timeout = %d`, waitBusy.Milliseconds())); back != nil {
		return 0, false
	}
	free, known = j.store.free(j.store.path)
	if err != nil || isBusy != 0 || moved != pages { // of a full volume, too: the moved pages are moved
		return free, known
	}
	if info, err := os.Stat(j.store.path + "-wal"); err == nil {
		free += info.Size()
	}
	return free, known
}

// sizeLog has commits move the log into the database before it takes much of the free room.
func (j *journal) sizeLog(ctx context.Context, free int64) {
	pages := int(min(max(free/shareWAL/pageSize, leastWAL), sizeWAL))
	if r := j.room.pages; pages == r || pages < sizeWAL && pages < 2*r && r < 2*pages {
		return // near enough
	}
	if _, err := j.conn.ExecContext(ctx, fmt.Sprintf(`PRAGMA wal_autocheckpoint = %d`, pages)); err == nil {
		j.room.pages = pages
	}
}

// follow keeps count of the attempts under way.
func (r *room) follow(events []storage.StoredEvent) {
	for i := range events {
		if e := &events[i]; e.Kind == state.KindIntent {
			r.open[e.RefID] = true
		} else if e.Kind == state.KindOutcome {
			delete(r.open, e.RefID)
		}
	}
}

// foldsAtOnce is how many rows one transaction folds when nothing else is to be done: each may change a page of its own.
func (r *room) foldsAtOnce() int { return min(foldLot, r.pages) }
