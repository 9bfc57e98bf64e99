package rows

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/hashicorp/hcl/v2"

	"remit/config/mistake"
)

// jsonDepthMax is how deep the objects of a row may nest.
const jsonDepthMax = 32

// jsonFile reads rows that are objects: those of an array, or JSON Lines, one after another.
// Its columns are the members; one of an object within is called OUTER.INNER.
type jsonFile struct {
	*textFile
	decoder *jsontext.Decoder
	inArray bool
	picked  bool           // only some members are read
	ended   bool           // the rows and the rest of the file were read
	names   header         // of the members that are read
	index   map[string]int // of names
	found   []bool         // whether some row had the member
	first   *jsonRecord    // which was read for its names; nil once it was returned
	rows    int
}

// jsonRecord is one object.
type jsonRecord struct {
	textRecord
	names   []string // as they come; of the first one alone
	numbers []bool   // fields that are numbers of JSON, which are written in one way alone
	extra   string
	wrong   hcl.Diagnostics
}

// JSON are the settings of a JSON file.
type JSON struct {
	Pointer jsontext.Pointer // to the array of rows; "" for the whole file
}

func (options JSON) open(_ *Directory, f *File, content fileReader) (records, hcl.Diagnostics) {
	return openJSON(f, options, content)
}

// openJSON goes to the rows and reads the first of them.
func openJSON(d *File, options JSON, file fileReader) (*jsonFile, hcl.Diagnostics) {
	text, diags := openText(file, d.Name, "JSON")
	if diags.HasErrors() {
		return nil, diags
	}
	f := &jsonFile{textFile: text, decoder: jsontext.NewDecoder(text.text), index: map[string]int{}}
	f.free()
	if diags := f.goTo(options.Pointer); diags.HasErrors() {
		return nil, diags
	}
	for _, p := range d.Columns {
		f.picked = true
		if _, twice := f.index[p.Header]; !twice {
			f.index[p.Header] = len(f.names.names)
			f.names.names = append(f.names.names, p.Header)
		}
	}
	first, diags, err := f.next()
	switch {
	case diags.HasErrors():
		return nil, diags
	case errors.Is(err, io.EOF):
		start := hcl.InitialPos
		if !f.picked {
			return nil, hcl.Diagnostics{mistake.New(hcl.Range{Filename: f.name, Start: start, End: start}, "No rows",
				"The file has no objects, so its columns are not known. Where there may be none, say with columns which are read.")}
		}
		first = &jsonRecord{textRecord: textRecord{file: f.textFile, spans: make([]span, len(f.names.names))}}
	case first.wrong.HasErrors() && !f.picked: // it should say what the columns are
		return nil, first.wrong
	default:
		f.first = first
	}
	f.names.place = first
	if !f.picked {
		f.names.names = first.names
		for i, name := range first.names {
			f.index[name] = i
		}
	}
	f.found = make([]bool, len(f.names.names))
	return f, nil
}

func (f *jsonFile) header() header  { return f.names }
func (f *jsonFile) notes() []string { return nil }

// goTo reads up to the first row: that of the array that pointer names, or of the file.
func (f *jsonFile) goTo(pointer jsontext.Pointer) hcl.Diagnostics {
	for token := range pointer.Tokens() {
		if diags := f.enter(token, pointer); diags.HasErrors() {
			return diags
		}
	}
	kind := f.decoder.PeekKind()
	if kind == '[' {
		f.inArray = true
		_, err := f.decoder.ReadToken()
		return f.broken(err)
	}
	if pointer != "" {
		return f.wrongRecord(f.here(), "Pointer leads to no array", "pointer %q leads to %s of %s, and rows stand in an array.", string(pointer), kindWord(kind), f.name)
	}
	return nil
}

// enter goes to one member of an object, or one element of an array.
func (f *jsonFile) enter(name string, pointer jsontext.Pointer) hcl.Diagnostics {
	token, err := f.decoder.ReadToken()
	if err != nil {
		return f.broken(err)
	}
	kind := token.Kind()
	wanted, err := strconv.Atoi(name)
	isIndex := err == nil && strconv.Itoa(wanted) == name // without a sign and zeros in front
	var names []string
	for i := 0; f.decoder.PeekKind() != '}' && f.decoder.PeekKind() != ']' && (kind == '{' || kind == '['); i++ {
		isIt := i == wanted && isIndex
		if kind == '{' {
			member, err := f.decoder.ReadToken()
			if err != nil {
				return f.broken(err)
			}
			names = append(names, member.String())
			isIt = member.String() == name
		}
		if isIt {
			return nil
		}
		if err := f.decoder.SkipValue(); err != nil {
			return f.broken(err)
		}
	}
	hint := ""
	if kind == '{' {
		if hint = mistake.DidYouMean(name, names); hint == "" {
			hint = " There are: " + mistake.Listed(mistake.QuotedAll(names), 20) + "."
		}
	}
	return f.wrongRecord(span{f.decoder.InputOffset(), 0}, "Pointer leads nowhere", "%s has nothing at %q: there is no %q.%s", f.name, string(pointer), name, hint)
}

// here is the place of the next value.
func (f *jsonFile) here() span {
	_ = f.decoder.PeekKind() // reads the space before it
	from := f.decoder.InputOffset()
	for _, c := range f.decoder.UnreadBuffer() {
		if c != ' ' && c != '\t' && c != '\n' && c != '\r' && c != ',' && c != ':' {
			break
		}
		from++
	}
	return span{from, 1}
}

// broken is the mistake in the syntax; nil for no error.
func (f *jsonFile) broken(err error) hcl.Diagnostics {
	var syntax *jsontext.SyntacticError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jsontext.ErrDuplicateName) && errors.As(err, &syntax):
		return f.wrongRecord(span{syntax.ByteOffset, 1}, "Member stands twice", "The object has two members %q. Which one is meant?", syntax.JSONPointer.LastToken())
	case errors.As(err, &syntax) && !errors.Is(err, io.ErrUnexpectedEOF):
		return f.wrongRecord(span{syntax.ByteOffset, 1}, "Not JSON", "%s is no JSON from here on: %s", f.name, plainJSON(syntax.Err))
	case errors.As(err, &syntax):
		return hcl.Diagnostics{f.unreadable(syntax.ByteOffset, io.ErrUnexpectedEOF)}
	case errors.Is(err, io.EOF):
		err = io.ErrUnexpectedEOF
	}
	return hcl.Diagnostics{f.unreadable(f.decoder.InputOffset(), err)}
}

// read returns the next row.
func (f *jsonFile) read() (record, hcl.Diagnostics, error) {
	r, diags, err := f.first, hcl.Diagnostics(nil), error(nil)
	f.first = nil
	if r == nil {
		r, diags, err = f.next()
	}
	if r == nil {
		if errors.Is(err, io.EOF) && !diags.HasErrors() {
			diags = f.neverFound()
		}
		return record{}, diags, err
	}
	for i := range r.spans {
		f.found[i] = f.found[i] || r.spans[i].length > 0 || r.wrong.HasErrors()
	}
	if diags := f.check(r); diags.HasErrors() {
		return record{}, diags, nil
	}
	rec := r.record()
	rec.exact = r.numbers
	return rec, nil, nil
}

// check holds a row against the first one, which says what the columns are.
func (f *jsonFile) check(r *jsonRecord) hcl.Diagnostics {
	if r.wrong.HasErrors() || f.picked {
		return r.wrong
	}
	const howTo = " Rows have the same members, unless columns says which ones are read."
	if r.extra != "" {
		return hcl.Diagnostics{mistake.New(r.whole(), "Row does not fit the first", "The row has %q, which the first row has not.%s", r.extra, howTo)}
	}
	for i, name := range f.names.names {
		if r.spans[i].length == 0 {
			return hcl.Diagnostics{mistake.New(r.whole(), "Row does not fit the first", "The row has no %q, which the first row has.%s", name, howTo)}
		}
	}
	return nil
}

// neverFound reports the columns that no row had.
func (f *jsonFile) neverFound() hcl.Diagnostics {
	var diags hcl.Diagnostics
	for i, name := range f.names.names {
		if f.picked && f.rows > 0 && !f.found[i] {
			diags = append(diags, mistake.New(f.names.place.whole(), "Unknown column", "columns names the member %q, and no row of %s has it.", name, f.name))
		}
	}
	return diags
}

// next reads one object. It is io.EOF at the end, and after a mistake that ends the reading.
func (f *jsonFile) next() (*jsonRecord, hcl.Diagnostics, error) {
	switch kind := f.decoder.PeekKind(); {
	case f.ended:
		return nil, nil, io.EOF
	case kind == '{':
	case f.inArray && kind == ']':
		f.ended = true
		return nil, f.rest(), io.EOF
	case kind == 0:
		_, err := f.decoder.ReadToken()
		if errors.Is(err, io.EOF) && !f.inArray {
			return nil, nil, io.EOF
		}
		return nil, f.broken(err), io.EOF
	default:
		at := f.here()
		f.begin(at.from)
		if err := f.decoder.SkipValue(); err != nil {
			return nil, f.broken(err), io.EOF
		}
		f.rows++
		return nil, f.wrongRecord(at, "Row is no object", "A row is an object such as {\"id\": \"E-1\", \"net\": \"12.50\"}, and this is %s.", kindWord(kind)), nil
	}
	at := f.here()
	r := &jsonRecord{textRecord: textRecord{file: f.textFile, from: at.from, line: f.begin(at.from)}}
	if f.found != nil || f.picked {
		r.fields, r.spans, r.numbers = make([]string, len(f.names.names)), make([]span, len(f.names.names)), make([]bool, len(f.names.names))
	}
	f.rows++
	if err := f.object(r, "", 1); err != nil {
		return nil, f.broken(err), io.EOF
	}
	return r, nil, nil
}

// rest reads the text behind the rows: a file that is cut off there is not whole, and text
// behind the value that has the rows could be more rows.
func (f *jsonFile) rest() hcl.Diagnostics {
	f.free()
	for {
		if f.decoder.StackDepth() == 0 && f.decoder.PeekKind() != 0 {
			return f.wrongRecord(f.here(), "More after the rows", "The rows of %s end before this, and %s comes after them that would not be read. "+
				"Rows stand in one array, or one after another in none.", f.name, kindWord(f.decoder.PeekKind()))
		}
		_, err := f.decoder.ReadToken()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return f.broken(err)
		}
	}
}

// object reads the members of an object to a row.
func (f *jsonFile) object(r *jsonRecord, prefix string, depth int) error {
	if _, err := f.decoder.ReadToken(); err != nil {
		return err
	}
	for f.decoder.PeekKind() != '}' {
		token, err := f.decoder.ReadToken()
		if err != nil {
			return err
		}
		if err := f.member(r, prefix+NormalForm(token.String()), depth); err != nil {
			return err
		}
	}
	_, err := f.decoder.ReadToken()
	return err
}

// member reads the value of one member.
func (f *jsonFile) member(r *jsonRecord, name string, depth int) error {
	kind := f.decoder.PeekKind()
	i, isNamed := f.index[name]
	switch {
	case kind == '{' && depth < jsonDepthMax && (!f.picked || f.below(name)) && (!f.picked || !isNamed):
		return f.object(r, name+".", depth+1)
	case f.picked && !isNamed:
		return f.decoder.SkipValue()
	}
	value, err := f.decoder.ReadValue()
	if err != nil {
		return err
	}
	at := span{f.decoder.InputOffset() - int64(len(value)), int64(len(value))}
	if kind == '{' || kind == '[' {
		r.wrong = append(r.wrong, f.nested(name, kind, at)...)
		return nil
	}
	text := textOf(kind, value)
	switch {
	case f.found == nil && !f.picked: // the first row, which names the columns
		if slices.Contains(r.names, name) {
			r.wrong = append(r.wrong, f.twice(name, at)...)
			return nil
		}
		r.names, r.fields, r.spans = append(r.names, name), append(r.fields, text), append(r.spans, at)
		r.numbers = append(r.numbers, kind == '0')
	case !isNamed:
		r.extra = name
	case r.spans[i].length > 0:
		r.wrong = append(r.wrong, f.twice(name, at)...)
	default:
		r.fields[i], r.spans[i], r.numbers[i] = text, at, kind == '0'
	}
	return nil
}

// below reports whether a member within an object is read.
func (f *jsonFile) below(name string) bool {
	return slices.ContainsFunc(f.names.names, func(path string) bool { return strings.HasPrefix(path, name+".") })
}

func (f *jsonFile) twice(name string, at span) hcl.Diagnostics {
	return f.wrongRecord(at, "Member stands twice", "The row has two members %q, one of them as a member of an object within. Which one is meant?", name)
}

func (f *jsonFile) nested(name string, kind jsontext.Kind, at span) hcl.Diagnostics {
	detail := fmt.Sprintf("The member %q is %s, and a column has text.", name, kindWord(kind))
	if kind == '[' && f.rows == 1 && !f.inArray {
		detail += fmt.Sprintf(" If the rows stand in it, say so:\n\n  pointer = %q", "/"+strings.ReplaceAll(name, ".", "/"))
	} else {
		detail += " Say with columns which members are read."
	}
	return f.wrongRecord(at, "Member is no text", "%s", detail)
}

// textOf is a value as the text of a column: numbers as they are written, null as nothing.
func textOf(kind jsontext.Kind, value jsontext.Value) string {
	switch kind {
	case '"':
		text, err := jsontext.AppendUnquote(nil, value)
		if err != nil {
			panic("text that was read is no text: " + err.Error())
		}
		return string(text)
	case 'n':
		return ""
	}
	return string(value)
}

func kindWord(kind jsontext.Kind) string {
	switch kind {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "text"
	case '0':
		return "a number"
	case 'n':
		return "null"
	case 't', 'f':
		return "true or false"
	}
	return "nothing"
}
