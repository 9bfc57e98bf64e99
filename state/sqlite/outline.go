package sqlite

import (
	"context"
	"database/sql"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"remit/internal/transfer"
	"remit/state"
)

// packedSQL packs the page after a ref_id into three texts, because to fetch a row and its
// columns one by one costs several times what it costs to read them. Its texts are
//
//   - for each row ref_id, asset, amount and record status;
//   - for each row three digits (the sum 100 + 8 status + 4 from_label + 2 has a record +
//     1 is settled), the 32 bytes of its fingerprint, a space, when it was intended, its
//     twin and its destination;
//   - for each row its run, where it is not settled.
//
// All fields are separated, by packedSep or by a space between numbers, and none is ended.
// A row with packedSep in one of its texts thus makes one field too many for the count.
const packedSQL = `SELECT count(*),
	group_concat(ref_id || x'1f' || asset || x'1f' || amount || x'1f' || record_status, x'1f'),
	group_concat((100 + 8*status + 4*from_label + 2*(record_id IS NOT NULL) + (settled_ms IS NOT NULL))
		|| fingerprint || ' ' || ifnull(intended_ms, 'n') || ' ' || twin || ' ' || destination, ' '),
	group_concat(iif(settled_ms IS NULL, run_id, ''), x'1f')
	FROM transfers WHERE ref_id > ?1 AND ref_id <= ifnull(
		(SELECT ref_id FROM transfers WHERE ref_id > ?1 ORDER BY ref_id LIMIT 1 OFFSET ?2 - 1),
		(SELECT max(ref_id) FROM transfers))`

const packedSep = '\x1f'

// Outlines implements [state.Snapshot].
func (s *snapshot) Outlines(ctx context.Context) iter.Seq2[state.Outline, error] {
	return func(yield func(state.Outline, error) bool) {
		tail, err := s.overlay(ctx)
		if err != nil {
			yield(state.Outline{}, err)
			return
		}
		reader := outlineReader{conn: s.conn}
		reader.packed, err = s.conn.PrepareContext(ctx, packedSQL)
		if err != nil {
			yield(state.Outline{}, explain(err))
			return
		}
		defer reader.packed.Close()
		refID := func(o *state.Outline) string { return o.RefID }
		table := pages[state.Outline]{read: reader.read, refID: refID}.all(ctx)
		merged(tail, table, refID, func(r row) state.Outline { return r.Outline() })(yield)
	}
}

// outlineReader reads pages of outlines.
type outlineReader struct {
	conn     *sql.Conn
	packed   *sql.Stmt
	assets   texts
	statuses texts
}

// read is that of pages. A page that can't be unpacked is read row by row: what is there is
// found, and what is wrong is named.
func (o *outlineReader) read(ctx context.Context, after string, into []state.Outline) ([]state.Outline, error) {
	var count int
	var words, numbers, runs sql.NullString
	row := o.packed.QueryRowContext(context.WithoutCancel(ctx), after, pageRows)
	if err := row.Scan(&count, &words, &numbers, &runs); err != nil {
		return nil, explain(err)
	}
	if whole, ok := o.unpackAll(into, count, words.String, numbers.String, runs.String); ok {
		return whole, nil
	}
	return o.readRows(ctx, after, into)
}

func (o *outlineReader) readRows(ctx context.Context, after string, into []state.Outline) ([]state.Outline, error) {
	var scanner rowScanner
	err := query(ctx, o.conn, func(rows *sql.Rows) error {
		r, err := scanner.scan(rows)
		into = append(into, r.Outline())
		return err
	}, `SELECT `+rowColumns+` FROM transfers WHERE ref_id > ? ORDER BY ref_id LIMIT ?`, after, pageRows)
	return into, err
}

// unpacking are the texts of packedSQL on their way to rows.
type unpacking struct {
	words, numbers, runs fields
	bad                  bool
}

// unpackAll appends count rows to into. It returns false where the texts are not exactly
// those of so many rows.
func (o *outlineReader) unpackAll(into []state.Outline, count int, words, numbers, runs string) ([]state.Outline, bool) {
	if count == 0 {
		return into, true
	}
	u := unpacking{words: fields{text: words}, numbers: fields{text: numbers}, runs: fields{text: runs}}
	into = slices.Grow(into, min(count, pageRows))
	for range count {
		into = append(into, o.unpack(&u))
		if u.bad {
			return nil, false
		}
	}
	return into, u.words.ended() && u.numbers.ended() && u.runs.ended()
}

// unpack reads one row. Where there is none, or not a good one, it marks u.
func (o *outlineReader) unpack(u *unpacking) state.Outline {
	row := state.Outline{RefID: u.words.next(packedSep), Asset: o.assets.intern(u.words.next(packedSep))}
	amount, err := transfer.ParseAmount(u.words.next(packedSep))
	row.Amount = amount
	row.RecordStatus = transfer.RecordStatus(o.statuses.intern(u.words.next(packedSep)))

	flags, ok := u.flags()
	row.Status, row.FromLabel, row.HasRecord = state.Status(flags>>3), flags&4 != 0, flags&2 != 0
	row.Open = row.Status == state.InDoubt && flags&1 == 0
	u.numbers.digest(row.Fingerprint[:])
	if intended := u.numbers.next(' '); intended != "n" {
		row.IntendedAt = time.UnixMilli(u.number(intended)).UTC()
	}
	row.Twin = transfer.Twin(u.number(u.numbers.next(' ')))
	row.Destination = transfer.Destination(u.number(u.numbers.next(' ')))

	if run := u.runs.next(packedSep); row.Open {
		row.RunID = run
	}
	u.bad = u.bad || err != nil || !ok
	return row
}

// flags reads the sum that begins a row's numbers, without its 100.
func (u *unpacking) flags() (sum int, ok bool) {
	var digits [3]byte
	u.numbers.take(digits[:])
	for _, d := range digits {
		if d < '0' || d > '9' {
			return 0, false
		}
		sum = 10*sum + int(d-'0')
	}
	sum -= 100
	return sum, sum>>3 >= int(state.Unsent) && sum>>3 <= int(state.Tombstone)
}

func (u *unpacking) number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	u.bad = u.bad || err != nil
	return n
}

// fields is a text of fields that are separated and not ended.
type fields struct {
	text string
	over bool // the last field was read
	bad  bool // more was asked for than there is
}

// next returns the text up to sep, or the rest.
func (f *fields) next(sep byte) string {
	f.bad = f.bad || f.over
	i := strings.IndexByte(f.text, sep)
	if i < 0 {
		field := f.text
		f.text, f.over = "", true
		return field
	}
	field := f.text[:i]
	f.text = f.text[i+1:]
	return field
}

// take fills into with the bytes that come next.
func (f *fields) take(into []byte) {
	n := copy(into, f.text)
	f.text = f.text[n:]
	f.bad = f.bad || n < len(into)
}

// digest is take of bytes after which a space stands.
func (f *fields) digest(into []byte) {
	f.take(into)
	f.bad = f.bad || f.next(' ') != ""
}

// ended reports whether all was read and nothing else was asked for.
func (f *fields) ended() bool { return f.over && !f.bad && f.text == "" }

// texts keeps texts that repeat from row to row, so that a million rows do not hold a
// million copies, nor the pages of which they are parts.
type texts struct {
	last string
	kept map[string]string
}

// textsMax bounds how many different texts are kept.
const textsMax = 256

// intern returns a text that is equal to raw and shares no memory with it.
func (t *texts) intern(raw string) string {
	if raw == t.last {
		return t.last
	}
	text, ok := t.kept[raw]
	if !ok {
		if t.kept == nil || len(t.kept) == textsMax {
			t.kept = make(map[string]string)
		}
		text = strings.Clone(raw)
		t.kept[text] = text
	}
	t.last = text
	return text
}
