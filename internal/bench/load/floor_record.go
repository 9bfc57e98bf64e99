package load

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/hashicorp/hcl/v2/hclwrite"
)

// FloorJournal reads the whole journal of a state in its order, every column that its chain is made
// of, and hashes the texts: less proves nothing.
func FloorJournal(ctx context.Context, out io.Writer, path string) error {
	sum, count := sha256.New(), 0
	err := eachEvent(ctx, path, "1", func(data []byte) error {
		_, _ = sum.Write(data) // a hash takes all
		count++
		return nil
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%d %x\n", count, sum.Sum(nil))
	return err
}

// eachEvent calls do with the text of each event of which a condition of SQL is true.
func eachEvent(ctx context.Context, path, condition string, do func(data []byte) error) error {
	db, err := sql.Open("sqlite3", "file:"+path+"?mode=ro&_query_only=true")
	if err != nil {
		return err
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, `SELECT seq, time_ms, kind, ref_id, run_id, data, hash FROM events WHERE `+condition+` ORDER BY seq`)
	if err != nil {
		return err
	}
	defer rows.Close()
	var seq, at int64
	var kind, refID, runID, data, hash sql.RawBytes
	for rows.Next() {
		if err := rows.Scan(&seq, &at, &kind, &refID, &runID, &data, &hash); err != nil {
			return err
		}
		if err := do(data); err != nil {
			return err
		}
	}
	return rows.Err()
}

// FloorBook reads the record of each recorded transfer out of the journal of a state and writes the
// fields of a booking as CSV.
func FloorBook(ctx context.Context, out io.Writer, path string) error {
	buffer := bufio.NewWriterSize(out, 1<<16)
	lines := csv.NewWriter(buffer)
	err := eachEvent(ctx, path, "kind = 'outcome'", func(data []byte) error {
		var outcome struct {
			Records []record `json:"records"`
		}
		if err := json.Unmarshal(data, &outcome); err != nil {
			return err
		}
		for _, r := range outcome.Records {
			fields := []string{r.RefID, r.GroupID, r.CreatedAt, r.ProfileID, r.Amount, r.Asset, r.Status, r.Metadata["id"], r.Metadata["team"]}
			if err := lines.Write(fields); err != nil {
				return err
			}
		}
		return nil
	})
	lines.Flush()
	return errors.Join(err, lines.Error(), buffer.Flush())
}

// FloorRecords reads the records of an export, one after the other, and keeps none.
func FloorRecords(out io.Writer, path string) error {
	count, digits := 0, 0
	err := eachLine(path, func(line []byte) error {
		var r record
		err := json.Unmarshal(line, &r)
		count++
		digits += len(r.Amount) + len(r.RefID)
		return err
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, count, digits)
	return err
}

// FloorPlanFile reads the lines of a saved plan, one after the other, and hashes them.
func FloorPlanFile(out io.Writer, path string) error {
	sum, count, size := sha256.New(), 0, 0
	err := eachLine(path, func(line []byte) error {
		var change struct {
			Action, Address, Batch string
			RefID                  string `json:"ref_id"`
			Request                struct{ Operation, Body string }
		}
		err := json.Unmarshal(line, &change)
		_, _ = sum.Write(line) // a hash takes all
		count++
		size += len(change.Request.Body)
		return err
	})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "%d %d %x\n", count, size, sum.Sum(nil))
	return err
}

func eachLine(path string, do func(line []byte) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(make([]byte, 1<<16), 1<<20)
	for lines.Scan() {
		if err := do(lines.Bytes()); err != nil {
			return err
		}
	}
	return lines.Err()
}

// FloorCopy copies a file to a new one beside it, durably, and removes the copy.
func FloorCopy(path string) (err error) {
	from, err := os.Open(path)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.CreateTemp("", "floor-copy-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close(), os.Remove(to.Name())) }()
	// Through memory, as whoever checks what is copied has to: the kernel alone would be asked for less.
	if _, err := io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{from}, make([]byte, 1<<16)); err != nil {
		return err
	}
	return to.Sync()
}

// FloorFormat formats a file of HCL with the library that knows no more than its layout.
func FloorFormat(out io.Writer, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, bytes.Equal(text, hclwrite.Format(text)))
	return err
}
