package load

import (
	"context"
	"database/sql"
	"fmt"
	"io"

	_ "github.com/mattn/go-sqlite3" // the driver that the state uses
)

// payout has the fields of the service's request.
type payout struct {
	refID, fromProfileID, toProfileID, amount, asset string
	metadata                                         [2][2]string
}

// FloorCSV reads a file of payouts with encoding/csv into structs with the fields of the
// request, one after the other: less cannot be done with a row. With keep it keeps all of
// them, as a program does that is not made to stream.
func FloorCSV(out io.Writer, path string, keep bool) error {
	var all [][]payout // in pieces, as a growing slice is copied again and again
	rows, digits, kept := 0, 0, 0
	err := readRows(path, func(r Row) error {
		p := payout{
			refID: r.refID(), fromProfileID: treasury, toProfileID: r.ProfileID, amount: r.Amount, asset: asset,
			metadata: [2][2]string{{"id", r.ID}, {"team", r.Team}},
		}
		rows++
		digits += len(p.refID) + len(p.amount)
		if keep {
			if last := len(all) - 1; last < 0 || len(all[last]) == cap(all[last]) {
				all = append(all, make([]payout, 0, 4096))
			}
			all[len(all)-1] = append(all[len(all)-1], p)
			kept++
		}
		return nil
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, rows, digits, kept)
	return err
}

// FloorScan reads of every recorded transfer the columns that a comparison needs, with
// database/sql, and keeps none.
func FloorScan(ctx context.Context, out io.Writer, path string) error {
	db, err := sql.Open("sqlite3", "file:"+path+"?mode=ro&_query_only=true")
	if err != nil {
		return err
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, `SELECT ref_id, status, doubted, fingerprint, request_digest, twin, attempted_ms FROM transfers`)
	if err != nil {
		return err
	}
	defer rows.Close()
	var refID, fingerprint, digest sql.RawBytes
	var status, doubted, twin, attempted int64
	count, size := 0, 0
	for rows.Next() {
		if err := rows.Scan(&refID, &status, &doubted, &fingerprint, &digest, &twin, &attempted); err != nil {
			return err
		}
		count++
		size += len(refID) + len(fingerprint) + len(digest)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, count, size)
	return err
}
