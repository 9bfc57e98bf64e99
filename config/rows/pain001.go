package rows

import (
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"remit/internal/text/lazyregexp"
)

// Pain001 say that a file has the instructions of a customer credit transfer
// initiation of ISO 20022, pain.001, in version 3 or later.
type Pain001 struct{}

func (Pain001) open(_ *Directory, f *File, content fileReader) (records, hcl.Diagnostics) {
	return openPain001(f, content)
}

const (
	painGroup       = "Document/CstmrCdtTrfInitn/GrpHdr/"
	painInformation = "Document/CstmrCdtTrfInitn/PmtInf/"
	painInstruction = painInformation + "CdtTrfTxInf/"
	painAmount      = painInstruction + "Amt/InstdAmt"
	painUnused      = "NOTPROVIDED" // an EndToEndId that is none
	painDepthMax    = 64
	painTextMax     = 16 << 10 // of the remittance information of an instruction, in bytes
)

// xmlDecimal is what a decimal of XML Schema may look like, of a length that can be summed.
var xmlDecimal = lazyregexp.New(`^[+-]?(\d{1,40}(\.\d{0,20})?|\.\d{1,20})$`)

// pain001File reads a file as a stream. Elements above an instruction hold for it.
type pain001File struct {
	*textFile
	key     string
	decoder *xml.Decoder
	space   string            // the namespace of the document
	path    []string          // of the open elements
	within  []map[string]bool // the children of each that may occur once
	single  map[string]bool   // the paths of such elements
	columns map[string]int
	names   []string
	charset string // that the file is declared to be in, where that is not UTF-8
	ofInfo  []int  // columns that a PmtInf has

	text      strings.Builder // of the innermost element
	textFrom  int64
	currency  string
	above     []string // the values of the columns that an instruction has from above
	aboveAt   []textPlace
	record    *instruction // of the open instruction; nil outside of one
	group     controlTotals
	info      controlTotals
	began     bool // an instruction of the PmtInf began
	documents int
	isMixed   bool // an element ended since the innermost one that is open began
	stopped   bool // nothing more can be read
}

func openPain001(d *File, file fileReader) (*pain001File, hcl.Diagnostics) {
	text, diags := openText(file, d.Name, "XML of ISO 20022")
	if diags.HasErrors() {
		return nil, diags
	}
	f := &pain001File{textFile: text, key: d.Key, decoder: xml.NewDecoder(text.text), columns: map[string]int{}}
	f.decoder.CharsetReader = func(charset string, _ io.Reader) (io.Reader, error) {
		f.charset = charset
		return nil, errors.New("another encoding")
	}
	f.names = Pain001Columns()
	for i, column := range painColumns() {
		for _, path := range column.paths {
			f.columns[path] = i
		}
		if len(column.paths) > 0 && strings.HasPrefix(column.paths[0], painInformation) && !strings.HasPrefix(column.paths[0], painInstruction) {
			f.ofInfo = append(f.ofInfo, i)
		}
	}
	f.single = singleElements()
	f.above, f.aboveAt = make([]string, len(f.names)), make([]textPlace, len(f.names))
	f.group.element = "GrpHdr"
	return f, nil
}

func (f *pain001File) header() header  { return header{names: f.names} }
func (f *pain001File) notes() []string { return nil }

// read returns the next instruction. The error is io.EOF at the end.
func (f *pain001File) read() (record, hcl.Diagnostics, error) {
	for {
		from := f.decoder.InputOffset()
		token, err := f.decoder.Token()
		if err != nil {
			return record{}, f.broken(err), io.EOF
		}
		var diags hcl.Diagnostics
		switch token := token.(type) {
		case xml.StartElement:
			diags = f.start(token, from)
		case xml.CharData:
			if diags = f.checkText(from, token); !diags.HasErrors() {
				f.text.Write(token)
			}
		case xml.EndElement:
			var done *instruction
			if done, diags = f.end(from); done != nil {
				if done.wrong.HasErrors() {
					return record{}, done.wrong, nil
				}
				return record{fields: done.fields, line: done.place.line, plain: arePlain(done.fields), place: done}, nil, nil
			}
			if diags.HasErrors() && !f.stopped { // control totals
				return record{}, diags, nil
			}
		case xml.Directive:
			diags = f.wrongRecord(span{from, 1}, "Document type is not allowed", "%s has a <!DOCTYPE …>, by which a file can mean more than it shows. No file of ISO 20022 has one.", f.name)
		}
		if diags.HasErrors() {
			return record{}, diags, io.EOF
		}
	}
}

// broken is the mistake in the XML; nil at its end.
func (f *pain001File) broken(err error) hcl.Diagnostics {
	var syntax *xml.SyntaxError
	switch {
	case f.charset != "":
		return f.wrongRecord(span{0, 1}, "File is not in its encoding", "%s is declared to be %s. Save it as UTF-8, which ISO 20022 asks for.", f.name, f.charset)
	case errors.Is(err, io.EOF) && f.documents > 0:
		return nil
	case errors.Is(err, io.EOF):
		err = errors.New("is empty, and should have a Document of pain.001")
	case errors.As(err, &syntax) && strings.Contains(syntax.Msg, "unexpected EOF"):
		err = io.ErrUnexpectedEOF
	case errors.As(err, &syntax):
		err = errors.New("it is no XML from here on: " + syntax.Msg)
	}
	return hcl.Diagnostics{f.unreadable(f.decoder.InputOffset(), err)}
}

// start opens an element. A mistake ends the reading.
func (f *pain001File) start(element xml.StartElement, from int64) hcl.Diagnostics {
	at := span{from, f.decoder.InputOffset() - from}
	if len(f.path) == 0 {
		if diags := f.checkDocument(element, at); diags.HasErrors() {
			return diags
		}
	}
	if diags := f.checkElement(element, at); diags.HasErrors() {
		return diags
	}
	if len(f.path) == painDepthMax {
		return f.wrongRecord(at, "Elements nest too deeply", "Elements of pain.001 stand at most %d deep in one another.", painDepthMax)
	}
	name := element.Name.Local
	if element.Name.Space != f.space {
		name = "{" + element.Name.Space + "}" + name // some extension, which means nothing here
	}
	if diags := f.checkSingle(name, at); diags.HasErrors() {
		return diags
	}
	f.path, f.within = append(f.path, name), append(f.within, nil)
	f.isMixed = false
	f.text.Reset()
	f.textFrom = f.decoder.InputOffset()
	switch path := f.at(); {
	case len(f.path) == 2 && path != strings.TrimSuffix(painGroup, "/GrpHdr/"):
		return f.wrongRecord(at, "Not a pain.001 file", "The document has a %s, and that of a pain.001 file of version 3 or later has a CstmrCdtTrfInitn.", element.Name.Local)
	case path+"/" == painInformation:
		f.info, f.began = controlTotals{element: "PmtInf"}, false
		for _, i := range f.ofInfo {
			f.above[i], f.aboveAt[i] = "", textPlace{}
		}
		f.begin(from)
	case path+"/" == painInstruction:
		f.began = true
		f.begin(from)
		f.record = &instruction{file: f, fields: slices.Clone(f.above), places: slices.Clone(f.aboveAt), place: f.place(at.from, at.length)}
	case path == painAmount:
		f.currency = attribute(element, "Ccy")
	case path == painInstruction+"ChqInstr":
		f.record.refuse(at, "Cheques are no transfers", "The instruction has a ChqInstr: the bank is asked to draw a cheque.")
	case path == painInstruction+"Amt/EqvtAmt":
		f.record.refuse(at, "Equivalent amount", "The instruction is for the equivalent (EqvtAmt) of another currency. What is sent must be said by an InstdAmt.")
	}
	return nil
}

// at is the path of the innermost element.
func (f *pain001File) at() string { return strings.Join(f.path, "/") }

// end closes an element. It returns an instruction where that ends.
func (f *pain001File) end(from int64) (*instruction, hcl.Diagnostics) {
	path := f.at()
	f.path, f.within = f.path[:len(f.path)-1], f.within[:len(f.within)-1]
	text := strings.TrimSpace(f.text.String())
	f.text.Reset()
	f.isMixed = true
	at := span{f.textFrom, from - f.textFrom}
	switch path {
	case painGroup + "NbOfTxs", painInformation + "NbOfTxs":
		c := f.control()
		if c.hasCount {
			return nil, f.stop(at, "Element stands twice", "The NbOfTxs of the %s is %q already. Which one is meant?", c.element, c.countText)
		}
		c.hasCount, c.countText, c.countPlace = true, text, f.place(at.from, at.length)
	case painGroup + "CtrlSum", painInformation + "CtrlSum":
		c := f.control()
		if c.hasSum {
			return nil, f.stop(at, "Element stands twice", "The CtrlSum of the %s is %q already. Which one is meant?", c.element, c.sumText)
		}
		c.hasSum, c.sumText, c.sumPlace = true, text, f.place(at.from, at.length)
	case painInformation + "PmtMtd":
		switch text {
		case "TRF", "TRA":
		case "CHK":
			return nil, f.stop(at, "Cheques are no transfers", "PmtMtd is CHK: the bank is asked to draw cheques.")
		default:
			return nil, f.stop(at, "Unknown payment method", "PmtMtd is %q. That of transfers is TRF or TRA.", text)
		}
	case strings.TrimSuffix(painInstruction, "/"):
		done := f.record
		f.record = nil
		done.finish()
		return done, nil
	case strings.TrimSuffix(painInformation, "/"):
		return nil, f.info.check(f, false)
	case strings.TrimSuffix(painGroup, "/GrpHdr/"):
		return nil, f.group.check(f, true)
	}
	if i, isColumn := f.columns[path]; isColumn {
		return nil, f.column(i, path, text, at)
	}
	return nil, nil
}

// control is that of the innermost element that has one.
func (f *pain001File) control() *controlTotals {
	if len(f.path) > 2 && f.path[2] == "GrpHdr" {
		return &f.group
	}
	return &f.info
}

// column takes the value of a column in.
func (f *pain001File) column(i int, path, text string, at span) hcl.Diagnostics {
	text = NormalForm(strings.Join(strings.Fields(text), " ")) // as XML Schema collapses it
	if text == "" {
		if path == painAmount {
			f.record.refuse(at, "Amount is missing", "The instruction has an InstdAmt without an amount.")
		}
		return nil
	}
	fields, places := f.above, f.aboveAt
	if f.record != nil {
		fields, places = f.record.fields, f.record.places
		if path == painAmount {
			f.record.fields[i+1], f.record.places[i+1] = f.currency, f.place(at.from, at.length)
		}
	}
	switch {
	case f.record == nil && f.began:
		return f.stop(at, "Element stands too late", "The %s of a PmtInf stands before its instructions: it holds for all of them.", f.names[i])
	case strings.HasPrefix(f.names[i], "remittance") && len(fields[i])+len(text) > painTextMax:
		return f.stop(at, "Remittance information is too long", "The %s of an instruction has at most %d KiB.", f.names[i], painTextMax>>10)
	case fields[i] != "" && strings.HasPrefix(f.names[i], "remittance"):
		fields[i] += " " + text
		return nil
	case fields[i] != "":
		return f.stop(at, "Element stands twice", "The %s is %q already. Which one is meant?", f.names[i], fields[i])
	}
	fields[i], places[i] = text, f.place(at.from, at.length)
	return nil
}
