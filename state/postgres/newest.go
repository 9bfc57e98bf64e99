package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"remit/state/storage"
)

// The events after $1, their rows and runs, and the run that began last.
const (
	newestSQL     = `SELECT ` + eventColumns + ` FROM events WHERE seq > $1 ORDER BY seq LIMIT $2`
	newestRowsSQL = `SELECT ref_id, last_seq FROM transfers
		WHERE ref_id = ANY (ARRAY (SELECT ref_id FROM events WHERE seq > $1 AND ref_id <> '' ORDER BY seq LIMIT $2))`
	newestRunsSQL = `SELECT run_id, begun_seq, coalesce(ended_seq, 0) FROM runs
		WHERE run_id = ANY (ARRAY (SELECT run_id FROM events WHERE seq > $1 AND kind IN ('begun', 'ended') ORDER BY seq LIMIT $2))`
	lastRunSQL = `SELECT run_id, begun_seq, coalesce(ended_seq, 0) FROM runs ORDER BY begun_seq DESC LIMIT 1`
	// The newest event of a transfer, and that of a run, of those after $1 and up to $2.
	behindRowSQL  = `(SELECT ` + eventColumns + ` FROM events WHERE seq > $1 AND seq <= $2 AND kind IN ('intent', 'outcome') ORDER BY seq DESC LIMIT 1)`
	behindRunSQL  = `(SELECT ` + eventColumns + ` FROM events WHERE seq > $1 AND seq <= $2 AND kind IN ('begun', 'ended') ORDER BY seq DESC LIMIT 1)`
	behindRowsSQL = `SELECT ref_id, last_seq FROM transfers WHERE ref_id = ANY (ARRAY (SELECT ref_id FROM ` + behindRowSQL + ` newest))`
	behindRunsSQL = `SELECT run_id, begun_seq, coalesce(ended_seq, 0) FROM runs WHERE run_id = ANY (ARRAY (SELECT run_id FROM ` + behindRunSQL + ` newest))`
	// A state that an earlier program made has no mark until the next lock.
	foldedSQL        = `SELECT coalesce((to_jsonb(meta)->>'folded')::bigint, $1) FROM meta`
	lastRunEventsSQL = `SELECT ` + eventColumns + ` FROM events
		WHERE seq = ANY (ARRAY (SELECT unnest(ARRAY[begun_seq, ended_seq]) FROM (SELECT begun_seq, ended_seq FROM runs ORDER BY begun_seq DESC LIMIT 1) last))
		ORDER BY seq`
)

// checkNewest refuses a state of which the parts do not go together, as [storage.Newest.Check] does,
// such as a database that was restored in part. It asks once, whatever the size of the state, in the
// transaction that to is in, which must see one moment, or keep others from committing.
func checkNewest(ctx context.Context, to sender, tip storage.Tip) error {
	n := storage.Newest{
		Meta: tip.Meta, AtOnce: true,
		Rows: make(map[string]int64), Runs: make(map[string]storage.RunAt),
	}
	var b pgx.Batch
	after := tip.Serial - storage.NewestMax
	each := func(read func(*columns) error, text string, args ...any) {
		b.Queue(text, args...).Query(func(rows pgx.Rows) error { return readRows(rows, read) })
	}
	lines := func(into *[]storage.StoredEvent) func(*columns) error {
		return func(c *columns) error {
			l, err := readLine(c)
			*into = append(*into, l)
			return err
		}
	}
	run := func(c *columns) error {
		runID := c.text()
		n.Runs[runID] = storage.RunAt{Begun: c.number(), Ended: c.number()}
		return c.damage("run", runID)
	}
	row := func(c *columns) error {
		refID := c.text()
		n.Rows[refID] = c.number()
		return c.damage("ref_id", refID)
	}
	each(func(c *columns) error {
		n.Folded = c.number()
		return c.err
	}, foldedSQL, tip.Serial)
	each(lines(&n.Lines), newestSQL, after, storage.NewestMax)
	each(row, newestRowsSQL, after, storage.NewestMax)
	each(run, newestRunsSQL, after, storage.NewestMax)
	each(lines(&n.Behind), behindRowSQL, after-storage.BehindMax, after)
	each(lines(&n.Behind), behindRunSQL, after-storage.BehindMax, after)
	each(row, behindRowsSQL, after-storage.BehindMax, after)
	each(run, behindRunsSQL, after-storage.BehindMax, after)
	each(run, lastRunSQL)
	each(lines(&n.Last), lastRunEventsSQL)
	if err := to.SendBatch(ctx, &b).Close(); err != nil {
		return err
	}
	return n.Check()
}
