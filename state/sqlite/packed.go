package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"remit/state"
	"remit/state/storage"
)

// packed reads the table transfers a page at a time, each packed by SQLite into two texts,
// because to fetch a row and its columns one by one costs several times what it costs to
// read them.
//
// One text has the words of each row, all separated by packedSep. The other has, for each
// row, three digits (see packedFlags), the bytes of its digests, and numbers, each after a
// space. Fields are separated and not ended, so a row with packedSep in one of its words
// makes one field too many for the count of rows.
type packed[T any] struct {
	words   []string // SQL expressions of texts; the first is ref_id
	digests []digest
	numbers []string // SQL expressions of integers, or of 'n' for none

	unpack func(*unpacking) T // reads one row; u says afterwards whether it was one
	of     func(storage.Row) T
	refID  func(T) string
}

const packedSep = '\x1f'

// digest is a column of bytes of a known length.
type digest struct {
	column string
	length int
}

// packedFlags is 100 and the sum of the values of a row's flags, where the row isDense.
const packedFlags = `100 + 16*status + 8*from_label + 4*doubted + 2*(record_id IS NOT NULL OR group_id <> '') + (settled_ms IS NOT NULL)`

// isDense is whether flags are no more than their digits hold: a damaged one would be taken for another flag.
const isDense = `from_label IN (0, 1) AND doubted IN (0, 1) AND status BETWEEN 0 AND 55`

// text is the statement of the page of ?2 rows after the ref_id ?1. The rows are passed
// over in the order of the table's key, to which pages holds them. concat_ws writes a row at once, where
// || copies it again for each of its fields.
func (p packed[T]) text() string {
	columns, whole := "", isDense
	for _, d := range p.digests {
		columns += ", " + d.column
		whole += fmt.Sprintf(" AND length(%s) = %d", d.column, d.length)
	}
	return `SELECT count(*),
		group_concat(concat_ws(x'1f', ` + strings.Join(p.words, `, `) + `), x'1f'),
		group_concat(concat_ws(' ', concat(iif(` + whole + `, ` + packedFlags + `, 'bad')` + columns + `), ` + strings.Join(p.numbers, `, `) + `), ' ')
		FROM transfers WHERE ref_id > ?1 AND ref_id <= ifnull(
			(SELECT ref_id FROM transfers WHERE ref_id > ?1 ORDER BY ref_id LIMIT 1 OFFSET ?2 - 1),
			(SELECT max(ref_id) FROM transfers))`
}

// all yields every row, the newest that s knows.
func (p packed[T]) all(ctx context.Context, s *snapshot) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		tail, err := s.overlay(ctx)
		if err != nil {
			yield(none, err)
			return
		}
		stmt, err := s.conn.PrepareContext(ctx, p.text())
		if err != nil {
			yield(none, explain(err))
			return
		}
		defer stmt.Close()
		read := func(ctx context.Context, after string, into []T) ([]T, error) {
			return p.page(ctx, s.conn, stmt, after, into)
		}
		merged(tail, storage.Pages[T]{Read: read, RefID: p.refID}.All(ctx), p.refID, p.of)(yield)
	}
}

// page is the read of pages. A page that can't be unpacked is read row by row: each row that is there
// is found, and the damage is named.
func (p packed[T]) page(ctx context.Context, conn *sql.Conn, stmt *sql.Stmt, after string, into []T) ([]T, error) {
	var count int
	var words, numbers sql.NullString
	// See query for why the statement itself is not interrupted.
	row := stmt.QueryRowContext(context.WithoutCancel(ctx), after, storage.PageRows)
	if err := row.Scan(&count, &words, &numbers); err != nil {
		return nil, explain(err)
	}
	if whole, ok := p.unpackAll(into, count, words.String, numbers.String); ok {
		return whole, nil
	}
	return p.oneByOne(ctx, conn, after, into)
}

// oneByOne reads a page without packing it.
func (p packed[T]) oneByOne(ctx context.Context, conn *sql.Conn, after string, into []T) ([]T, error) {
	var scanner rowScanner
	err := query(ctx, conn, func(rows *sql.Rows) error {
		r, err := scanner.scan(rows)
		into = append(into, p.of(r))
		return err
	}, `SELECT `+rowColumns+` FROM transfers WHERE ref_id > ? ORDER BY ref_id LIMIT ?`, after, storage.PageRows)
	return into, err
}

// unpackAll appends count rows to into. It returns false where the texts are not exactly
// those of so many rows.
func (p packed[T]) unpackAll(into []T, count int, words, numbers string) ([]T, bool) {
	if count == 0 {
		return into, true
	}
	u := unpacking{words: fields{text: words}, numbers: fields{text: numbers}}
	into = slices.Grow(into, min(count, storage.PageRows))
	for range count {
		into = append(into, p.unpack(&u))
		if u.bad {
			return nil, false
		}
	}
	return into, u.words.ended() && u.numbers.ended()
}

// unpacking are the two texts on their way to rows.
type unpacking struct {
	words, numbers fields
	bad            bool // the bytes are damaged
}

func (u *unpacking) word() string { return u.words.next(packedSep) }

// own returns the next n words in memory of their own. There must be more after them.
func (u *unpacking) own(n int) fields {
	text := u.words.text
	for range n {
		u.word()
	}
	return fields{text: strings.Clone(text[:len(text)-len(u.words.text)])}
}

// flags are those of a row.
type flags struct {
	status                                 state.Status
	fromLabel, doubted, hasRecord, settled bool
}

// flags reads packedFlags, which begin the numbers of a row.
func (u *unpacking) flags() flags {
	var digits [3]byte
	u.numbers.take(digits[:])
	sum := -100
	for i, weight := range [...]int{100, 10, 1} {
		u.bad = u.bad || digits[i] < '0' || digits[i] > '9'
		sum += weight * int(digits[i]-'0')
	}
	status, isStatus := state.StatusOf(int64(sum >> 4))
	u.bad = u.bad || !isStatus
	return flags{status, sum&8 != 0, sum&4 != 0, sum&2 != 0, sum&1 != 0}
}

// digest reads into from the digests of a row, which follow its flags.
func (u *unpacking) digest(into []byte) { u.numbers.take(into) }

// digestsEnd reads the part between digests and numbers.
func (u *unpacking) digestsEnd() { u.bad = u.bad || u.numbers.next(' ') != "" }

func (u *unpacking) number() int64 {
	n, err := strconv.ParseInt(u.numbers.next(' '), 10, 64)
	u.bad = u.bad || err != nil
	return n
}

// time reads milliseconds since 1970, or 'n' for the zero time.
func (u *unpacking) time() time.Time {
	if strings.HasPrefix(u.numbers.text, "n") {
		u.bad = u.bad || u.numbers.next(' ') != "n"
		return time.Time{}
	}
	return time.UnixMilli(u.number()).UTC()
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

// ended reports whether all was read and nothing else was asked for.
func (f *fields) ended() bool { return f.over && !f.bad && f.text == "" }

// merged puts the rows of tail over those of the table, in the order of ref_id.
func merged[T any](tail *storage.Overlay, table iter.Seq2[T, error], refID func(T) string, of func(storage.Row) T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		newer := tail.Sorted()
		for t, err := range table {
			if err != nil {
				yield(t, err)
				return
			}
			for len(newer) > 0 && newer[0] < refID(t) {
				if !yield(of(*tail.Rows[newer[0]]), nil) {
					return
				}
				newer = newer[1:]
			}
			if len(newer) > 0 && newer[0] == refID(t) {
				t, newer = of(*tail.Rows[newer[0]]), newer[1:]
			}
			if !yield(t, nil) {
				return
			}
		}
		for _, newest := range newer {
			if !yield(of(*tail.Rows[newest]), nil) {
				return
			}
		}
	}
}
