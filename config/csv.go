package config

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"remit/internal/transfer"
)

const (
	csvBufferBytes    = 256 << 10
	csvRecordBytesMax = 16 << 20 // one row, so that an open quotation mark can't fill memory
	sourceHeaderBytes = 64 << 10 // what a snippet of a header needs
	contextEvery      = 1024     // rows between two looks at a context
)

// byteOrderMark is what Windows programs write before UTF-8.
const byteOrderMark = "\xef\xbb\xbf"

// table reads one CSV file (RFC 4180, any line ends) row by row and knows where it is.
type table struct {
	name    string
	columns []string
	lines   *lineTracker
	reader  *csv.Reader
	current row // which the next one replaces
}

// newTable reads the header of r.
func newTable(r io.Reader, name string, delimiter rune) (*table, hcl.Diagnostics) {
	t := &table{name: name, lines: &lineTracker{from: r, first: 1, starts: []int64{0}}}
	buffered := bufio.NewReaderSize(t.lines, csvBufferBytes)
	if mark, _ := buffered.Peek(len(byteOrderMark)); string(mark) == byteOrderMark {
		_, _ = buffered.Discard(len(byteOrderMark))
		t.lines.skipped = len(byteOrderMark)
	}
	t.reader = csv.NewReader(buffered)
	t.reader.Comma = delimiter
	t.reader.FieldsPerRecord = -1
	t.reader.ReuseRecord = true
	header, err := t.reader.Read()
	if errors.Is(err, io.EOF) {
		start := hcl.InitialPos
		return nil, hcl.Diagnostics{mistake(hcl.Range{Filename: name, Start: start, End: start},
			"Header is missing", "The file is empty; its first row must name the columns.")}
	}
	if err != nil {
		return nil, hcl.Diagnostics{t.syntaxError(err)}
	}
	row := t.row(header)
	diags := row.checkUTF8()
	for _, column := range header {
		t.columns = append(t.columns, cty.NormalizeString(column))
	}
	for i, column := range t.columns {
		first := slices.Index(t.columns, column)
		switch {
		case column == "":
			diags = append(diags, mistake(row.at(i), "Column without a name", "Column %d of the header is empty.", i+1))
		case transfer.CheckText(column) != nil:
			diags = append(diags, mistake(row.at(i), "Text cannot be seen as it is", "The name of column %d %s", i+1, sentence(transfer.CheckText(column))))
		case first < i:
			diags = append(diags, mistake(row.at(i), "Column is named twice", "Columns %d and %d are both named %q.", first+1, i+1, column))
		}
	}
	return t, diags
}

// next returns the next row, valid until the call after it. It is io.EOF at the end; rows
// with mistakes are nil with diagnostics, and reading may go on.
func (t *table) next() (*row, hcl.Diagnostics, error) {
	fields, err := t.reader.Read()
	if errors.Is(err, io.EOF) {
		return nil, nil, io.EOF
	}
	if err != nil {
		var syntax *csv.ParseError
		if !errors.As(err, &syntax) {
			return nil, hcl.Diagnostics{t.syntaxError(err)}, io.EOF
		}
		return nil, hcl.Diagnostics{t.syntaxError(err)}, nil
	}
	row := t.row(fields)
	if len(fields) != len(t.columns) {
		return nil, hcl.Diagnostics{mistake(row.whole(), "Row does not fit the header",
			"The row has %d fields, the header %d.", len(fields), len(t.columns))}, nil
	}
	if row.plain {
		return row, nil, nil
	}
	if diags := row.checkUTF8(); diags.HasErrors() {
		return nil, diags, nil
	}
	return row, nil, nil
}

func (t *table) syntaxError(err error) *hcl.Diagnostic {
	var syntax *csv.ParseError
	if !errors.As(err, &syntax) {
		return mistake(t.rangeAt(max(t.lines.needed, 1), 1, 0), "Data file cannot be read", "%s: %s", t.name, sentence(err))
	}
	detail := "A quotation mark stands inside of a field that does not begin with one. Quote the whole field, and double the mark."
	if errors.Is(syntax.Err, csv.ErrQuote) {
		detail = "A field in quotation marks goes on after its end, or has no end. Double each mark inside of it."
	}
	if syntax.StartLine != syntax.Line {
		detail += fmt.Sprintf(" The row begins on line %d.", syntax.StartLine)
	}
	return mistake(t.rangeAt(syntax.Line, syntax.Column, 0), "Quotation marks do not match", "%s", detail)
}

// rangeAt is a range of length bytes from a line and a column in bytes.
func (t *table) rangeAt(line, column, length int) hcl.Range {
	column = max(column, 1)
	start := hcl.Pos{Line: line, Column: column, Byte: int(t.lines.start(line)) + column - 1}
	if line == 1 {
		start.Byte += t.lines.skipped
	}
	end := start
	end.Byte += length
	end.Column += length
	return hcl.Range{Filename: t.name, Start: start, End: end}
}

// row is one record of a table.
type row struct {
	table  *table
	source *dataSource
	fields []string
	line   int  // on which it begins
	serial int  // different from that of its neighbours
	plain  bool // all fields are plain text, which is in Unicode's normal form
	cached cty.Value
}

func (t *table) row(fields []string) *row {
	line, _ := t.reader.FieldPos(0)
	t.lines.needed = line
	t.lines.unread = 0
	isPlain := true
	for _, field := range fields {
		isPlain = isPlain && transfer.Plain(field)
	}
	t.current = row{table: t, fields: fields, line: line, serial: line, plain: isPlain}
	return &t.current
}

// key is the text of the column that is the key.
func (r *row) key() string { return r.text(r.source.keyColumn) }

// text is that of a column in Unicode's normal form, as every string of the language is.
func (r *row) text(column int) string {
	if r.plain {
		return r.fields[column]
	}
	return normalForm(r.fields[column])
}

// value is the row as an object of strings.
func (r *row) value() cty.Value {
	if r.cached == cty.NilVal {
		values := make(map[string]cty.Value, len(r.fields))
		for i, column := range r.table.columns {
			values[column] = cty.StringVal(r.fields[i])
		}
		r.cached = cty.ObjectVal(values)
	}
	return r.cached
}

// object is the row as an object of some of its columns.
func (r *row) object(columns []int) cty.Value {
	values := make(map[string]cty.Value, len(columns))
	for _, i := range columns {
		values[r.table.columns[i]] = cty.StringVal(r.fields[i])
	}
	return cty.ObjectVal(values)
}

// whole is the range of the first line of the row.
func (r *row) whole() hcl.Range {
	last := len(r.fields) - 1
	whole := r.at(0)
	if end := r.at(last); end.Start.Line == whole.Start.Line {
		whole.End = end.End
	}
	return whole
}

// at is the range of the i-th field, its quotation marks included. Columns count
// characters, as HCL's do.
func (r *row) at(i int) hcl.Range {
	line, column := r.table.reader.FieldPos(i)
	length := len(r.fields[i])
	if i+1 < len(r.fields) {
		if nextLine, nextColumn := r.table.reader.FieldPos(i + 1); nextLine == line {
			length = nextColumn - column - utf8.RuneLen(r.table.reader.Comma)
		}
	}
	if first, _, several := strings.Cut(r.fields[i], "\n"); several {
		length = len(first)
	}
	found := r.table.rangeAt(line, column, length)
	wider := 0 // bytes before the field that are no characters
	for j := i - 1; j >= 0; j-- {
		field := r.fields[j]
		if k := strings.LastIndexByte(field, '\n'); k >= 0 {
			field = field[k+1:]
		}
		if fieldLine, _ := r.table.reader.FieldPos(j); fieldLine != line && field == r.fields[j] {
			break
		}
		wider += len(field) - utf8.RuneCountInString(field)
	}
	found.Start.Column -= wider
	found.End.Column = found.Start.Column + length - (len(r.fields[i]) - utf8.RuneCountInString(r.fields[i]))
	return found
}

func (r *row) checkUTF8() hcl.Diagnostics {
	for i, field := range r.fields {
		if !utf8.ValidString(field) {
			return hcl.Diagnostics{mistake(r.at(i), "Not UTF-8",
				"The text of this field is not UTF-8. Save the file as UTF-8, with or without a byte-order mark.")}
		}
	}
	return nil
}

// rows streams the rows that where lets through. A mistake is yielded with a nil row, and
// the stream goes on; the end of ctx ends it early with a mistake. A row is valid
// until the next one.
func (d *dataSource) rows(ctx context.Context) iter.Seq2[*row, hcl.Diagnostics] {
	return func(yield func(*row, hcl.Diagnostics) bool) {
		file, err := openBelow(d.sources.root, d.file)
		if err != nil {
			yield(nil, hcl.Diagnostics{mistake(d.block.at, "Data file cannot be read", "%s: %s", d.file, sentence(err))})
			return
		}
		defer func() { _ = file.Close() }()
		table, diags := newTable(file, d.file, d.delimiter)
		if diags.HasErrors() {
			yield(nil, diags)
			return
		}
		if !slices.Equal(table.columns, d.columns) {
			yield(nil, hcl.Diagnostics{mistake(d.block.at, "Data file changed", "%s was changed while it was read.", d.file)})
			return
		}
		filter, ok, diags := d.filter()
		if !ok {
			yield(nil, append(diags, mistake(d.block.at, "Data cannot be read",
				"A mistake in what where refers to keeps the rows of %s from being read.", d.address)))
			return
		}
		keys := newSeen()
		for n := 0; ; n++ {
			if n%contextEvery == 0 && ctx.Err() != nil {
				yield(nil, interrupted())
				return
			}
			row, diags, err := table.next()
			if row != nil {
				row.source = d
				row, diags = d.accept(row, filter, keys)
			}
			if (row != nil || diags != nil) && !yield(row, d.noted(diags)) || err != nil {
				return
			}
		}
	}
}

func interrupted() hcl.Diagnostics {
	return hcl.Diagnostics{placeless("Interrupted", "Reading was interrupted before all transfers were read.")}
}

// noted gives alike mistakes of one file their origin and keeps what their snippets need.
func (d *dataSource) noted(diags hcl.Diagnostics) hcl.Diagnostics {
	for _, diag := range diags {
		if diag.Subject != nil && diag.Subject.Filename == d.file {
			d.sources.needData(d.file, diag.Subject.End.Byte)
		}
		if _, isOrigin := diag.Extra.(*origin); !isOrigin {
			diag.Extra = &origin{block: d.address, inner: diag.Extra}
		}
	}
	return diags
}

// accept checks the key of a row and asks the filter. A row that the filter leaves out is
// nil without diagnostics; its key counts all the same.
func (d *dataSource) accept(r *row, filter *hcl.EvalContext, keys *seen) (*row, hcl.Diagnostics) {
	key := r.key()
	if key == "" {
		return nil, hcl.Diagnostics{mistake(r.at(d.keyColumn), "Key is empty", "The column %q is the key and may not be empty.", d.key)}
	}
	if first, isNew := keys.add(key, uint32(min(r.line, math.MaxUint32))); !isNew {
		return nil, hcl.Diagnostics{mistake(r.at(d.keyColumn), "Key is not unique", "The key %q stands on line %d and on line %d.", key, first, r.line)}
	}
	if d.where == nil {
		return r, nil
	}
	if isIn, ok := d.plainly(r, filter); ok {
		if isIn {
			return r, nil
		}
		return nil, nil
	}
	whole := *filter // which a diagnostic may keep
	whole.Variables = map[string]cty.Value{"row": r.value()}
	value, diags := evaluate(d.where.expr, d.where.refs, &whole)
	switch {
	case diags.HasErrors():
	case value.ContainsMarked():
		diags = hcl.Diagnostics{secretHere(d.where.expr.Range())}
	case value.IsNull() || value.Type() != cty.Bool:
		diags = hcl.Diagnostics{mistake(d.where.expr.Range(), "Not true or false", "where must be true or false for each row.")}
	case value.True():
		return r, nil
	}
	for _, diag := range diags {
		diag.Detail += " The row is " + at(r.whole()) + "."
	}
	return nil, diags
}

// plainly evaluates where with the columns alone that it names. It is false where that has
// no result, and the whole row is needed to say why.
func (d *dataSource) plainly(r *row, filter *hcl.EvalContext) (isIn, ok bool) {
	filter.Variables = map[string]cty.Value{"row": r.object(d.whereColumns)}
	value, diags := d.where.expr.Value(filter)
	if diags.HasErrors() || value.IsMarked() || !value.IsKnown() || value.IsNull() || value.Type() != cty.Bool {
		return false, false
	}
	return value.True(), true
}

// filter is what where is evaluated in, and nil where there is none.
func (d *dataSource) filter() (*hcl.EvalContext, bool, hcl.Diagnostics) {
	if d.where == nil {
		return nil, true, nil
	}
	ctx, ok, diags := d.scope.context(d.where.refs)
	if !ok {
		return nil, false, diags
	}
	return ctx.NewChild(), true, diags
}

// lineTracker remembers where the lines begin that a reader may still ask about.
type lineTracker struct {
	from    io.Reader
	offset  int64
	first   int     // number of the line of starts[0]
	starts  []int64 // offsets of lines
	needed  int     // earliest line that is still needed
	unread  int     // bytes read since the last row
	skipped int     // bytes before the text of line 1
}

var errRecordLong = errors.New("a row has more than 16 MiB: is a quotation mark left open?")

func (t *lineTracker) Read(p []byte) (int, error) {
	if t.unread > csvRecordBytesMax {
		return 0, errRecordLong
	}
	if drop := t.needed - t.first; drop > csvBufferBytes/64 {
		t.starts = append(t.starts[:0], t.starts[min(drop, len(t.starts)):]...)
		t.first += drop
	}
	n, err := t.from.Read(p)
	t.unread += n
	for at := 0; ; {
		i := bytes.IndexByte(p[at:n], '\n')
		if i < 0 {
			break
		}
		at += i + 1
		t.starts = append(t.starts, t.offset+int64(at))
	}
	t.offset += int64(n)
	return n, err
}

// start is the offset of a line that is at or after the needed one.
func (t *lineTracker) start(line int) int64 {
	if i := line - t.first; i >= 0 && i < len(t.starts) {
		return t.starts[i]
	}
	return t.offset
}
