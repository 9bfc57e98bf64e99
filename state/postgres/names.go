package postgres

import (
	"context"
	"iter"

	"github.com/jackc/pgx/v5"

	"remit/state"
	"remit/state/storage"
)

// schemaNames is the first schema that has display names.
const schemaNames = 9

// writeNames queues what a stage says of names. TRUNCATE lets go of the very files that had them, which
// DELETE does not.
func writeNames(b *pgx.Batch, stage *storage.Stage) {
	if stage.Erased {
		b.Queue(`TRUNCATE names, share_plans`) // a run that was shared left its plan, with names
	}
	n := len(stage.Names)
	if n == 0 {
		return
	}
	seqs, refIDs, names := make([]int64, n), make([]string, n), make([]string, n)
	for i, name := range stage.Names {
		seqs[i], refIDs[i], names[i] = name.Seq, name.RefID, name.Text
	}
	b.Queue(`INSERT INTO names (seq, ref_id, name) SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[])`, seqs, refIDs, names)
}

// receiveNames writes the names of another state.
func receiveNames(ctx context.Context, tx pgx.Tx, names iter.Seq2[state.Name, error]) error {
	var part storage.Stage
	flush := func() error {
		if len(part.Names) == 0 {
			return nil
		}
		err := sendBatch(ctx, tx, func(b *pgx.Batch) { writeNames(b, &part) })
		part.Names = part.Names[:0]
		return err
	}
	for n, err := range names {
		if err != nil {
			return err
		}
		if part.Names = append(part.Names, n); len(part.Names) == chunk {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// CountNames implements [storage.Stored].
func (l loaded) CountNames() (int, error) { return l.countNames() }

// Names implements [state.Snapshot].
func (s *snapshot) Names(ctx context.Context) iter.Seq2[state.Name, error] {
	return func(yield func(state.Name, error) bool) {
		if s.version < schemaNames {
			return
		}
		after := int64(0)
		for more := true; more; {
			var part []state.Name
			err := s.query(ctx, func(c *columns) error {
				n := state.Name{Seq: c.number(), RefID: c.text(), Text: c.text()}
				part = append(part, n)
				return c.damage("the name of event", n.Seq)
			}, `SELECT seq, ref_id, name FROM names WHERE seq > $1 ORDER BY seq LIMIT $2`, after, storage.PageRows)
			if err != nil {
				yield(state.Name{}, err)
				return
			}
			for _, n := range part {
				if !yield(n, nil) {
					return
				}
				after = n.Seq
			}
			more = len(part) == storage.PageRows
		}
	}
}

// nameDetails gives details their names.
func (s *snapshot) nameDetails(ctx context.Context, details []state.Detail) error {
	if s.version < schemaNames || len(details) == 0 {
		return nil
	}
	bySeq := make(map[int64]*state.Detail, len(details))
	seqs := make([]int64, 0, len(details))
	for i := range details {
		bySeq[details[i].IntentSeq] = &details[i]
		seqs = append(seqs, details[i].IntentSeq)
	}
	return s.query(ctx, func(c *columns) error {
		seq, name := c.number(), c.text()
		bySeq[seq].Intent.DisplayName = name
		return c.damage("the name of event", seq)
	}, `SELECT seq, name FROM names WHERE seq = ANY($1)`, seqs)
}
