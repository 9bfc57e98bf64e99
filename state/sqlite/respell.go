package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"remit/internal/transfer"
)

// schemaSpelled is the first schema whose twins and destinations are in one spelling.
const schemaSpelled = 7

// movement is what of a row depends on the spelling.
type movement struct {
	refID       string
	twin        transfer.Twin
	destination transfer.Destination
}

// respell writes the twins and destinations of an older schema in one spelling, all or none. Done twice,
// it changes nothing the second time.
func respell(ctx context.Context, db *sql.DB) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return explain(err)
	}
	err = immediately(ctx, conn, func() error {
		others, err := otherMovements(ctx, conn)
		if err != nil {
			return err
		}
		for _, m := range others {
			_, err := conn.ExecContext(ctx, `UPDATE transfers SET twin = ?, destination = ? WHERE ref_id = ?`,
				int64(m.twin), int64(m.destination), m.refID)
			if err != nil {
				return explain(err)
			}
		}
		return nil
	})
	if err = errors.Join(err, conn.Close()); err != nil {
		return fmt.Errorf("migrate: write assets and UUIDs in one spelling: %w", err)
	}
	return nil
}

// otherMovements are those of the rows that are not in one spelling: few or none of most states.
func otherMovements(ctx context.Context, conn *sql.Conn) ([]movement, error) {
	var others []movement
	err := query(ctx, conn, func(rows *sql.Rows) error {
		var twin, destination int64
		l, err := scanEventAnd(rows, &twin, &destination)
		if err != nil {
			return err
		}
		m := movement{refID: l.RefID}
		m.twin, m.destination, err = l.Movement()
		if err == nil && (int64(m.twin) != twin || int64(m.destination) != destination) {
			others = append(others, m)
		}
		return err
	}, `SELECT `+eventColumns+`, twin, destination FROM
		(SELECT intent_seq, twin, destination FROM transfers WHERE intent_seq > 0) JOIN events ON seq = intent_seq`)
	return others, err
}
