package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"remit/internal/transfer"
)

// schemaSpelled is the first schema whose twins and destinations are in one spelling.
const schemaSpelled = 12

// respell writes the twins and destinations of an older schema in one spelling.
func respell(ctx context.Context, tx pgx.Tx) error {
	var others pgx.Batch // few or none of most states
	err := readAll(ctx, tx.Conn(), func(c *columns) error {
		l, err := readLine(c)
		if err != nil {
			return err
		}
		twin, destination, err := l.Movement()
		if err != nil {
			return err
		}
		if transfer.Twin(c.number()) != twin || transfer.Destination(c.number()) != destination {
			others.Queue(`UPDATE transfers SET twin = $1, destination = $2 WHERE ref_id = $3`, int64(twin), int64(destination), l.RefID)
		}
		return c.damage("the row of", l.RefID)
	}, `SELECT events.seq, time_ms, kind, events.ref_id, events.run_id, previous, data, hash, twin, destination
		FROM transfers JOIN events ON seq = intent_seq WHERE intent_seq > 0`)
	if err == nil && others.Len() > 0 {
		err = tx.SendBatch(ctx, &others).Close()
	}
	if err != nil {
		return fmt.Errorf("migrate: write assets and UUIDs in one spelling: %w", err)
	}
	return nil
}
