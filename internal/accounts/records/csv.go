package records

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"remit/internal/text/jsontext"
	"remit/internal/transfer"
)

var errNotUTF8 = errors.New("the text is not UTF-8; export it as CSV in UTF-8")

// headerMax bounds the header of CSV, in bytes.
const headerMax = 64 << 10

// required are the columns that CSV must have: the required fields of Transfer in docs/openapi.yaml.
func required() []string {
	return []string{
		"id", "customer_id", "profile_id", "amount", "total", "fee", "asset", "direction", "type", "status",
		"created_at", "updated_at",
	}
}

// csvReader makes a record of each row.
type csvReader struct {
	*Reader
	rows    *csv.Reader
	above   int // lines above the header
	columns []column
	text    []byte // of one record, as JSON
}

// column is a field of a record. The zero column is one without a name, which is left out.
type column struct {
	name   []byte // as JSON
	pair   []byte // the key of a metadata pair, as JSON; nil for a field
	object bool   // the field is an object, which a cell has as JSON
}

func (r *Reader) readCSV(in *bufio.Reader, line int, each func(Record) bool) error {
	header, err := in.Peek(headerMax)
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read %s: %w", r.name, err)
	}
	header, _, _ = bytes.Cut(header, []byte("\n"))
	c := &csvReader{Reader: r, rows: csv.NewReader(in), above: line - 1}
	c.rows.Comma, c.rows.ReuseRecord = delimiter(string(header)), true
	if list, err := c.header(); err != nil || list != nil {
		if err == nil {
			err = list.read(c.rows)
		}
		return err
	}
	for {
		cells, err := c.rows.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return c.explain(err)
		}
		line, _ := c.rows.FieldPos(0)
		line += c.above
		record, err := c.record(cells)
		if err != nil {
			return c.wrong(line, err)
		}
		if !each(Record{record, line}) {
			return nil
		}
	}
}

// delimiter is the one that a header has most often.
func delimiter(header string) rune {
	best := ','
	for _, d := range ";\t|" {
		if strings.Count(header, string(d)) > strings.Count(header, string(best)) {
			best = d
		}
	}
	return best
}

// explain gives an error of the CSV its line in the file.
func (c *csvReader) explain(err error) error {
	parse, ok := errors.AsType[*csv.ParseError](err)
	switch {
	case !ok:
		return fmt.Errorf("read %s: %w", c.name, err)
	case errors.Is(err, csv.ErrFieldCount):
		return c.wrong(parse.Line+c.above, fmt.Errorf("the row has another number of cells than the header, which has %d. Was the file cut off?", len(c.columns)))
	case errors.Is(err, csv.ErrQuote):
		return c.wrong(parse.StartLine+c.above, errors.New("a quoted cell of this row has no end, or a quote in it is not doubled. Was the file cut off?"))
	}
	return c.wrong(parse.Line+c.above, fmt.Errorf("column %d: %w", parse.Column, parse.Err))
}

// header reads the names of the columns. It returns a reader of the rows where they are those of a
// list.
func (c *csvReader) header() (*listReader, error) {
	cells, err := c.rows.Read()
	if err != nil {
		return nil, c.explain(err)
	}
	var names []string
	for _, cell := range cells {
		name := strings.TrimSpace(cell)
		if !utf8.ValidString(name) {
			return nil, c.wrong(c.above+1, errNotUTF8)
		}
		if name != "" && slices.Contains(names, name) {
			return nil, c.wrong(c.above+1, fmt.Errorf("the column %q stands twice", name))
		}
		names = append(names, name)
		c.columns = append(c.columns, newColumn(name))
	}
	if isList(names) {
		if c.list == nil {
			return nil, c.wrong(c.above+1, errors.New("this is a list of ref_ids and group_ids, without records. reconcile compares records: get the service's own export. import takes a list"))
		}
		list, err := newListReader(c, names)
		if err != nil {
			return nil, c.wrong(c.above+1, err)
		}
		return list, nil
	}
	if almost := almostList(names); almost != "" && c.list != nil {
		return nil, c.wrong(c.above+1, errors.New(almost))
	}
	if wrong := wrongHeader(names); wrong != nil {
		return nil, c.wrong(c.above+1, wrong)
	}
	return nil, nil
}

// wrongHeader says why columns of these names are no export of records; nil where they are one.
func wrongHeader(names []string) error {
	missing := slices.DeleteFunc(required(), func(name string) bool { return slices.Contains(names, name) })
	if len(missing) == len(required()) {
		if strings.HasPrefix(strings.TrimSpace(strings.Join(names, "")), "<") {
			return errors.New("this is a page of the web or XML; get the service's export of its records, as JSON or CSV")
		}
		return errors.New("this is neither JSON nor CSV with a header of the service's field names, such as id, ref_id, amount. Get the service's own export of its records, not a statement of a bank or a list of payments")
	}
	if len(missing) > len(required())/2 {
		return errors.New("this is no export of the service: its header lacks " + strings.Join(missing, ", ") + ". A bank's statement or a file of payments to make has no records; get the service's own export")
	}
	if len(missing) > 0 {
		return fmt.Errorf("the header lacks these columns, which every record has: %s", strings.Join(missing, ", "))
	}
	if slices.Contains(names, "metadata") && slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, "metadata.") }) {
		return errors.New("the header has both metadata and metadata.KEY: a pair could stand twice")
	}
	return nil
}

func newColumn(name string) column {
	if name == "" {
		return column{}
	}
	if key, ok := strings.CutPrefix(name, "metadata."); ok {
		return column{name: jsontext.Append(nil, "metadata"), pair: jsontext.Append(nil, key)}
	}
	return column{
		name:   jsontext.Append(nil, name),
		object: slices.Contains([]string{"metadata", "auto_conversion", "secondary_status", "status_details"}, name),
	}
}

// record makes a record of a row.
func (c *csvReader) record(cells []string) (transfer.Record, error) {
	c.text = append(c.text[:0], '{')
	pairs := 0
	for i, cell := range cells {
		col := c.columns[i]
		switch {
		case cell == "" || col.name == nil:
			continue
		case !utf8.ValidString(cell):
			return transfer.Record{}, errNotUTF8
		case col.pair != nil:
			pairs++
			continue
		}
		c.begin(col.name)
		if !col.object {
			c.text = jsontext.Append(c.text, cell)
			continue
		}
		if !json.Valid([]byte(cell)) {
			return transfer.Record{}, fmt.Errorf("the cell of %s is not a JSON object", col.name)
		}
		c.text = append(c.text, cell...)
	}
	if pairs > 0 {
		c.metadata(cells)
	}
	return transfer.ParseRecord(append(c.text, '}'))
}

// begin writes the name of a member.
func (c *csvReader) begin(name []byte) {
	if c.text[len(c.text)-1] != '{' {
		c.text = append(c.text, ',')
	}
	c.text = append(append(c.text, name...), ':')
}

// metadata writes the pairs of a row.
func (c *csvReader) metadata(cells []string) {
	c.begin([]byte(`"metadata"`))
	c.text = append(c.text, '{')
	for i, cell := range cells {
		if cell != "" && c.columns[i].pair != nil {
			c.begin(c.columns[i].pair)
			c.text = jsontext.Append(c.text, cell)
		}
	}
	c.text = append(c.text, '}')
}
