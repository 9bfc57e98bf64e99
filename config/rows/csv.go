package rows

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"

	"remit/config/mistake"
	"remit/internal/text/english"
)

// SkipMax bounds the rows that are left out at either end of a file.
const SkipMax = 1000

// CSV are the settings of a CSV file.
type CSV struct {
	Delimiter rune // 0 where it is found out
	Encoding  string
	SkipFirst int // lines before the header
	SkipLast  int // rows at the end
}

func (options CSV) open(d *Directory, f *File, content fileReader) (records, hcl.Diagnostics) {
	d.encoded[f.Name] = options.Encoding
	return openCSV(content, f, options)
}

// csvFile reads one CSV file (RFC 4180, lines that end by LF or CR LF) and knows where it is.
type csvFile struct {
	*File
	options CSV
	names   header
	lines   *lineTracker
	reader  *csv.Reader
	current csvRecord
	held    []*csvRecord // which may be the last rows, that skipLast leaves out
	ended   bool         // all records were read: held ones are left out
	found   bool         // the delimiter was found out, and is not the usual one
}

// csvRecord is one record of a file. It is a spot.
type csvRecord struct {
	file      *csvFile
	fields    []string
	line      int
	positions [][2]int // line and column of each field; nil for the reader's last record
}

// openCSV reads the header of a file.
func openCSV(file io.Reader, f *File, options CSV) (*csvFile, hcl.Diagnostics) {
	c := &csvFile{File: f, options: options}
	name, need := f.Name, f.HeaderOf(f.Key) // which the header has if the delimiter is right
	buffered, mistaken := c.startText(file)
	if mistaken != nil {
		return nil, hcl.Diagnostics{mistaken}
	}
	var near around
	if head, _ := buffered.Peek(dataBufferBytes / 4); options.SkipFirst > 0 {
		lines := strings.SplitN(string(head), "\n", min(options.SkipFirst, aroundMost)+1)
		for _, line := range lines[:len(lines)-1] {
			near.above = append(near.above, fieldsHaving(line, need))
		}
	}
	for range options.SkipFirst {
		if err := skipLine(buffered); err != nil {
			return nil, hcl.Diagnostics{mistake.New(c.lines.at(name, 1, 1, 0), "Header is missing",
				"The file has no more lines than skip_first leaves out, which is %d.", options.SkipFirst)}
		}
	}
	if options.Delimiter == 0 {
		sample, _ := buffered.Peek(dataBufferBytes / 4)
		if mistaken := c.chooseDelimiter(sample, need); mistaken != nil {
			return nil, hcl.Diagnostics{mistaken}
		}
	}
	c.reader = csv.NewReader(buffered)
	c.reader.Comma = c.options.Delimiter
	c.reader.FieldsPerRecord = -1
	c.reader.ReuseRecord = true
	ahead, _ := buffered.Peek(dataBufferBytes / 4)
	near.skipped, near.below = options.SkipFirst, c.linesBelow(ahead)
	diags := c.readHeader()
	if !diags.HasErrors() && !slices.Contains(c.names.names, need) {
		if why := misplacedHeader(c.names.names, near, need); why != "" {
			return nil, append(diags, mistake.New(c.names.place.whole(), headerElsewhere, "%s", why))
		}
	}
	return c, diags
}

// startText begins to read the text of a file, behind a byte-order mark. It refuses a file whose first bytes are those of no CSV.
func (c *csvFile) startText(file io.Reader) (*bufio.Reader, *hcl.Diagnostic) {
	text, err := decoded(file, c.options.Encoding)
	if err != nil {
		return nil, c.otherText(err)
	}
	c.lines = newLineTracker(newWithoutEndMark(text))
	buffered := bufio.NewReaderSize(c.lines, dataBufferBytes)
	if head, _ := buffered.Peek(sniffedBytes); c.options.Encoding == encodingUTF8 {
		if err := checkUTF8(head); err != nil {
			return nil, c.otherText(err)
		}
		if markOf(head) == ByteOrderMark {
			_, _ = buffered.Discard(len(ByteOrderMark))
			c.lines.skipped = len(ByteOrderMark)
		}
	}
	if head, _ := buffered.Peek(dataBufferBytes / 4); hasOldLineEnds(head) {
		return nil, mistake.New(c.lines.at(c.Name, 1, 1, 0), "All of the file is one line",
			"%s ends its lines with a carriage return alone, as programs for old Macintosh computers do. Save it anew, such as by \"CSV UTF-8\" in place of \"CSV (Macintosh)\".", c.Name)
	}
	head, _ := buffered.Peek(sniffedBytes)
	return buffered, c.otherKind(head)
}

// chooseDelimiter finds the delimiter by which the header has the column of the key.
func (c *csvFile) chooseDelimiter(sample []byte, need string) *hcl.Diagnostic {
	found, several := findDelimiter(sample, need)
	if found == 0 {
		return mistake.New(c.lines.at(c.Name, c.options.SkipFirst+1, 1, 0), "Delimiter is not clear", "%s", several)
	}
	c.options.Delimiter, c.found = found, found != delimiters()[0]
	return nil
}

// otherKind says what a file is that begins as no CSV file does; nil where it may be one.
func (c *csvFile) otherKind(head []byte) *hcl.Diagnostic {
	at := c.lines.at(c.Name, 1, 1, 0)
	begin := strings.ToLower(strings.TrimSpace(string(head)))
	switch {
	case isConflict(begin):
		return mistake.New(at, conflictSummary, conflictDetail)
	case strings.HasPrefix(begin, "<!doctype"), strings.HasPrefix(begin, "<html"):
		return mistake.New(at, "File is a page of the web", "%s is a page of the web, such as one that asks to sign in, and has no rows. Get the file again.", c.Name)
	case strings.HasPrefix(begin, "<?xml"):
		return mistake.New(at, "File is XML", "%s is XML, and has no rows of CSV. A file of payments in XML (pain.001) is read by:\n\n  data \"pain001\" \"payroll\" {", c.Name)
	case strings.HasPrefix(begin, "[{"), strings.HasPrefix(begin, "[\n"), strings.HasPrefix(begin, `{"`):
		return mistake.New(at, "File is JSON", "%s is JSON, and has no rows of CSV. It is read by:\n\n  data \"json\" \"payroll\" {", c.Name)
	}
	return nil
}

const (
	conflictSummary = "Merge conflict is left in the file"
	conflictDetail  = "Two people changed the same lines, and git left its marks. Keep the right lines, and delete the others and those that begin with <<<<<<<, ======= and >>>>>>>."
)

// isConflict reports whether a line is a mark that a merge left.
func isConflict(line string) bool {
	return strings.HasPrefix(line, "<<<<<<< ") || strings.HasPrefix(line, ">>>>>>> ") || strings.TrimRight(line, "\r") == "======="
}

// linesBelow are the fields of the lines of text below its first one, as far as they are lines of their own.
// There are few.
func (c *csvFile) linesBelow(text []byte) [][]string {
	const most = aroundMost
	var below [][]string
	for i, line := range strings.SplitN(string(text), "\n", most+2) {
		if i > 0 && i <= most {
			delimiter := string(c.options.Delimiter)
			if strings.Count(line, ";") > strings.Count(line, delimiter) {
				delimiter = ";"
			}
			fields := strings.Split(strings.TrimRight(line, "\r"), delimiter)
			for j := range fields {
				fields[j] = strings.Trim(fields[j], `"`)
			}
			below = append(below, fields)
		}
	}
	return below
}

// hasOldLineEnds reports whether text has carriage returns and no other end of a line: then all
// of it would be one line.
func hasOldLineEnds(text []byte) bool {
	cr := bytes.IndexByte(text, '\r')
	return cr >= 0 && cr < len(text)-1 && bytes.IndexByte(text, '\n') < 0
}

func skipLine(r *bufio.Reader) error {
	for {
		if _, err := r.ReadSlice('\n'); !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

func (c *csvFile) otherText(err error) *hcl.Diagnostic {
	start := hcl.InitialPos
	return mistake.New(hcl.Range{Filename: c.Name, Start: start, End: start}, "File is not in its encoding", "%s %s", c.Name, mistake.Sentence(err))
}

func (c *csvFile) readHeader() hcl.Diagnostics {
	fields, err := c.reader.Read()
	if errors.Is(err, io.EOF) {
		start := hcl.InitialPos
		return hcl.Diagnostics{mistake.New(hcl.Range{Filename: c.Name, Start: start, End: start},
			"Header is missing", "%s", c.noHeader())}
	}
	if err != nil {
		return hcl.Diagnostics{c.syntaxError(err)}
	}
	first := &csvRecord{file: c, fields: slices.Clone(fields), line: c.lineOf(0)}
	first.hold()
	c.names.place = first
	for _, name := range fields {
		c.names.names = append(c.names.names, NormalForm(name))
	}
	if strings.HasPrefix(fields[0], "sep=") && len(fields) <= 2 {
		return hcl.Diagnostics{mistake.New(first.whole(), "Header is missing",
			"This line tells a spreadsheet program the delimiter, and names no columns. Leave it out:\n\n  skip_first = %d", c.options.SkipFirst+1)}
	}
	return c.checkText(first)
}

// noHeader says why a file has no header.
func (c *csvFile) noHeader() string {
	if c.options.SkipFirst > 0 {
		return fmt.Sprintf("skip_first leaves out %s, and the file has no more. The row below them must name the columns.", english.Plural(c.options.SkipFirst, "line"))
	}
	return "The file is empty; its first row must name the columns."
}

func (c *csvFile) header() header { return c.names }

func (c *csvFile) notes() []string {
	var notes []string
	if c.found {
		notes = append(notes, fmt.Sprintf("the fields of %s are separated by %s: with it, the header has the key; delimiter = %[2]s says so for good", c.Name, delimiterText(c.options.Delimiter)))
	}
	if other := misnamedText(c.Name); other != "" {
		notes = append(notes, fmt.Sprintf("%s is text, although its name is that of a workbook; name it %s", c.Name, other))
	}
	if c.ended {
		for _, r := range c.held {
			notes = append(notes, noteLeftOut(r.fields, r))
		}
	}
	return notes
}

// read returns the next record that is not blank and not among the last that are left out.
func (c *csvFile) read() (record, hcl.Diagnostics, error) {
	for {
		r, diags, err := c.readOne()
		if r == nil {
			if errors.Is(err, io.EOF) && diags == nil {
				diags = c.end()
			}
			return record{}, diags, err
		}
		if c.options.SkipLast > 0 {
			if r = c.exchange(r); r == nil {
				continue
			}
		}
		if isConflict(r.fields[0]) {
			return record{}, hcl.Diagnostics{c.ragged(r)}, io.EOF
		}
		if len(r.fields) != len(c.names.names) {
			return record{}, hcl.Diagnostics{c.ragged(r)}, nil
		}
		isPlain := arePlain(r.fields)
		if !isPlain {
			if diags := c.checkText(r); diags.HasErrors() {
				return record{}, diags, nil
			}
		}
		return record{fields: r.fields, line: r.line, plain: isPlain, place: r, comment: r.comment()}, nil, nil
	}
}

// readOne reads the next record that is not blank; nil where there is none, or a mistake.
func (c *csvFile) readOne() (*csvRecord, hcl.Diagnostics, error) {
	for {
		fields, err := c.reader.Read()
		if errors.Is(err, io.EOF) {
			return nil, nil, io.EOF
		}
		if err != nil {
			var syntax *csv.ParseError
			if !errors.As(err, &syntax) {
				return nil, hcl.Diagnostics{c.syntaxError(err)}, io.EOF
			}
			return nil, hcl.Diagnostics{c.syntaxError(err)}, nil
		}
		line := c.lineOf(0)
		c.lines.unread = 0
		c.lines.needed = line
		if fields[0] == "" && hasNoText(fields) {
			continue
		}
		c.current = csvRecord{file: c, fields: fields, line: line}
		if diags := c.current.checkLines(); diags.HasErrors() {
			return nil, diags, nil
		}
		return &c.current, nil, nil
	}
}

// exchange takes a record in and returns the one that is not among the last any more; nil
// as long as all may be.
func (c *csvFile) exchange(r *csvRecord) *csvRecord {
	kept := &csvRecord{file: c, fields: slices.Clone(r.fields), line: r.line}
	for i, field := range kept.fields {
		kept.fields[i] = strings.Clone(field)
	}
	kept.hold()
	c.held = append(c.held, kept)
	c.lines.needed = c.held[0].line
	if len(c.held) <= c.options.SkipLast {
		return nil
	}
	out := c.held[0]
	c.held = c.held[1:]
	return out
}

// hold notes where the fields are, which the reader forgets.
func (r *csvRecord) hold() {
	r.positions = make([][2]int, len(r.fields))
	for i := range r.fields {
		line, column := r.file.reader.FieldPos(i)
		r.positions[i] = [2]int{line + r.file.options.SkipFirst, column}
	}
}

// lineOf is the line of a field of the reader's last record.
func (c *csvFile) lineOf(i int) int {
	line, _ := c.reader.FieldPos(i)
	return line + c.options.SkipFirst
}

// comment is the first field where that begins as a comment does in files of other kinds, and stands in no quotation marks; "" else.
func (r *csvRecord) comment() string {
	first := r.fields[0]
	if first == "" || first[0] > '/' { // as most texts are
		return ""
	}
	first = strings.TrimLeft(first, " \t")
	if !strings.HasPrefix(first, "#") && !strings.HasPrefix(first, "//") {
		return ""
	}
	if len(r.fields) > 1 {
		line, column := r.position(0)
		nextLine, next := r.position(1)
		if nextLine != line || next-column-utf8.RuneLen(r.file.options.Delimiter) > len(r.fields[0]) {
			return ""
		}
	}
	return first
}

// ragged is about a row that has more or fewer fields than the header.
func (c *csvFile) ragged(r *csvRecord) *hcl.Diagnostic {
	if isConflict(r.fields[0]) {
		return mistake.New(r.whole(), conflictSummary, conflictDetail)
	}
	if r.comment() != "" {
		return mistake.New(r.whole(), "Row does not fit the header", "The row has %s, the header %d. CSV has no comments. Delete the row.", english.Plural(len(r.fields), "field"), len(c.names.names))
	}
	return mistake.New(r.whole(), "Row does not fit the header", "%s", raggedDetail(r.fields, len(c.names.names), c.options.Delimiter))
}

func (c *csvFile) syntaxError(err error) *hcl.Diagnostic {
	var syntax *csv.ParseError
	if !errors.As(err, &syntax) {
		return mistake.New(c.lines.at(c.Name, max(c.lines.needed, 1), 1, 0), "Data file cannot be read", "%s: %s", c.Name, mistake.Sentence(err))
	}
	detail, line, column := openMark(syntax, c.options.Delimiter, c.options.SkipFirst)
	return mistake.New(c.lines.at(c.Name, line, column, 0), "Quotation marks do not match", "%s", detail)
}

// checkText refuses text that is not what its encoding allows.
func (c *csvFile) checkText(r *csvRecord) hcl.Diagnostics {
	for i, field := range r.fields {
		if !utf8.ValidString(field) {
			return hcl.Diagnostics{mistake.New(r.at(i), "Not UTF-8",
				"The text of this field is not UTF-8. Save the file as UTF-8, or say how it is encoded; many programs of Windows write:"+encodingHowTo, encodingWindows)}
		}
		if c.options.Encoding != encodingUTF8 && strings.ContainsRune(field, utf8.RuneError) {
			return hcl.Diagnostics{mistake.New(r.at(i), "File is not in its encoding",
				"The text of this field is not %s, which the data block says it is.", c.options.Encoding)}
		}
	}
	return nil
}

// position is the line and the column in bytes of a field.
func (r *csvRecord) position(i int) (line, column int) {
	if r.positions != nil {
		return r.positions[i][0], r.positions[i][1]
	}
	line, column = r.file.reader.FieldPos(i)
	return line + r.file.options.SkipFirst, column
}

// whole is the range of the first line of the record.
func (r *csvRecord) whole() hcl.Range {
	last := len(r.fields) - 1
	whole := r.at(0)
	if end := r.at(last); end.Start.Line == whole.Start.Line {
		whole.End = end.End
	}
	return whole
}

// at is the range of the i-th field, its quotation marks included.
func (r *csvRecord) at(i int) hcl.Range {
	line, column := r.position(i)
	length := len(r.fields[i])
	if strings.ContainsAny(r.fields[i], "\""+string(r.file.options.Delimiter)) { // it is between marks
		length += len(`""`) + strings.Count(r.fields[i], `"`)
	}
	if i+1 < len(r.fields) {
		if nextLine, nextColumn := r.position(i + 1); nextLine == line {
			length = nextColumn - column - utf8.RuneLen(r.file.options.Delimiter)
		}
	}
	if first, _, several := strings.Cut(r.fields[i], "\n"); several {
		length = len(first)
	}
	found := r.file.lines.at(r.file.Name, line, column, length)
	before := 0 // bytes before the field that are no characters
	for j := i - 1; j >= 0; j-- {
		field := r.fields[j]
		if k := strings.LastIndexByte(field, '\n'); k >= 0 {
			field = field[k+1:]
		}
		if fieldLine, _ := r.position(j); fieldLine != line && field == r.fields[j] {
			break
		}
		before += wider(field)
	}
	found.Start.Column -= before
	found.End.Column = found.Start.Column + length - wider(r.fields[i])
	return found
}

// end refuses a file that has fewer rows than are left out at its end.
func (c *csvFile) end() hcl.Diagnostics {
	c.ended = true
	if len(c.held) < c.options.SkipLast {
		return hcl.Diagnostics{mistake.New(c.names.place.whole(), "Too few rows to leave out",
			"skip_last leaves out %s at the end, and the file has %d.", english.Plural(c.options.SkipLast, "row"), len(c.held))}
	}
	return nil
}

func (c *csvFile) leftOut() recordsLeftOut {
	var out recordsLeftOut
	if !c.ended || len(c.held) < c.options.SkipLast { // which is a mistake
		return out
	}
	for _, r := range c.held {
		out.skipped = append(out.skipped, record{fields: r.fields, line: r.line, place: r})
	}
	return out
}
