package postgres

import (
	"context"
	"iter"

	"remit/internal/transfer"
	"remit/state"
	"remit/state/storage"
)

// outlineColumns are what an outline is made of, in the order in which outlineReader reads it.
const outlineColumns = `ref_id, status, fingerprint, twin, destination, asset, amount, from_label,
	record_id IS NOT NULL OR group_id <> '', record_status, intended_ms, attempted_ms, settled_ms IS NULL, CASE WHEN settled_ms IS NULL THEN run_id ELSE '' END`

type outlineReader struct{ assets, statuses, runs storage.Texts }

func (x *outlineReader) read(c *columns) (state.Outline, error) {
	var o state.Outline
	o.RefID = c.text()
	o.Status = c.status()
	c.digest(o.Fingerprint[:])
	o.Twin, o.Destination = transfer.Twin(c.number()), transfer.Destination(c.number())
	o.Asset = c.interned(&x.assets)
	o.Amount = c.amount()
	o.FromLabel, o.HasRecord = c.boolean(), c.boolean()
	o.RecordStatus = transfer.RecordStatus(c.interned(&x.statuses))
	o.IntendedAt, o.AttemptedAt = c.time(), c.time()
	open, runID := c.boolean(), c.interned(&x.runs)
	if o.Open = open && o.Status == state.InDoubt; o.Open {
		o.RunID = runID
	}
	return o, c.damage("ref_id", o.RefID)
}

// Outlines implements [state.Snapshot].
func (s *snapshot) Outlines(ctx context.Context) iter.Seq2[state.Outline, error] {
	var reader outlineReader
	read := func(ctx context.Context, after string, into []state.Outline) ([]state.Outline, error) {
		err := s.query(ctx, func(c *columns) error {
			o, err := reader.read(c)
			into = append(into, o)
			return err
		}, `SELECT `+outlineColumns+` FROM transfers WHERE ref_id > $1 ORDER BY ref_id LIMIT $2`, after, storage.PageRows)
		return into, err
	}
	return storage.Pages[state.Outline]{Read: read, RefID: func(o state.Outline) string { return o.RefID }}.All(ctx)
}
