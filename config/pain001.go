package config

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"remit/config/mistake"
)

// pain001Kind reads the instructions of a customer credit transfer initiation of ISO 20022,
// pain.001, in version 3 or later.
func pain001Kind() dataKind {
	return dataKind{
		name: "pain001", key: "end_to_end_id",
		open: func(d *dataSource, file *os.File) (records, hcl.Diagnostics) { return openPain001(d, file) },
	}
}

// painColumn is a column and the elements that it is read from, one or another of them: below
// the instruction (CdtTrfTxInf), below its PmtInf, or below the GrpHdr.
type painColumn struct {
	name  string
	paths []string
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

// painColumns are the columns of a pain.001 file. docs/language/pain001.md says what each is.
func painColumns() []painColumn {
	return []painColumn{
		{"end_to_end_id", []string{painInstruction + "PmtId/EndToEndId"}},
		{"instruction_id", []string{painInstruction + "PmtId/InstrId"}},
		{"uetr", []string{painInstruction + "PmtId/UETR"}},
		{"amount", []string{painAmount}},
		{"currency", nil}, // the attribute Ccy of the amount
		{"creditor_name", []string{painInstruction + "Cdtr/Nm"}},
		{"creditor_iban", []string{painInstruction + "CdtrAcct/Id/IBAN"}},
		{"creditor_account", []string{painInstruction + "CdtrAcct/Id/Othr/Id"}},
		{"creditor_bic", []string{painInstruction + "CdtrAgt/FinInstnId/BIC", painInstruction + "CdtrAgt/FinInstnId/BICFI"}},
		{"ultimate_creditor_name", []string{painInstruction + "UltmtCdtr/Nm"}},
		{"purpose", []string{painInstruction + "Purp/Cd", painInstruction + "Purp/Prtry"}},
		{"remittance", []string{painInstruction + "RmtInf/Ustrd"}},
		{"remittance_reference", []string{painInstruction + "RmtInf/Strd/CdtrRefInf/Ref"}},
		{"debtor_name", []string{painInformation + "Dbtr/Nm"}},
		{"debtor_iban", []string{painInformation + "DbtrAcct/Id/IBAN"}},
		{"debtor_account", []string{painInformation + "DbtrAcct/Id/Othr/Id"}},
		{"debtor_bic", []string{painInformation + "DbtrAgt/FinInstnId/BIC", painInformation + "DbtrAgt/FinInstnId/BICFI"}},
		{"requested_date", []string{painInformation + "ReqdExctnDt", painInformation + "ReqdExctnDt/Dt", painInformation + "ReqdExctnDt/DtTm"}},
		{"payment_information_id", []string{painInformation + "PmtInfId"}},
		{"message_id", []string{painGroup + "MsgId"}},
	}
}

// Pain001Columns are the names of the columns that a row of a pain.001 file has.
func Pain001Columns() []string {
	var names []string
	for _, column := range painColumns() {
		names = append(names, column.name)
	}
	return names
}

// painSpaces are the namespaces of pain.001, of ISO and of those who restrict it.
var painSpaces = regexp.MustCompile(`(?:^|[^a-z])pain\.001\.\d{3}\.(\d{2})(\D.*)?$`)

// xmlDecimal is what a decimal of XML Schema may look like, of a length that can be summed.
var xmlDecimal = regexp.MustCompile(`^[+-]?(\d{1,40}(\.\d{0,20})?|\.\d{1,20})$`)

// pain001File reads a file as a stream. What stands above an instruction holds for it.
type pain001File struct {
	*textFile
	key     string
	decoder *xml.Decoder
	space   string            // the namespace of the document
	path    []string          // of the open elements
	within  []map[string]bool // what stands in each of them that may stand there once
	single  map[string]bool   // the paths of such elements
	columns map[string]int
	names   []string
	charset string // that the file is declared to be in, where that is not UTF-8
	ofInfo  []int  // columns that a PmtInf has

	text      strings.Builder // of the innermost element
	textFrom  int64
	currency  string
	above     []string // the values of the columns that an instruction has from above
	aboveAt   []placed
	record    *painRecord // of the open instruction; nil outside of one
	group     painControl
	info      painControl
	began     bool // an instruction of the PmtInf began
	documents int
	isMixed   bool // an element ended since the innermost one that is open began
	stopped   bool // nothing more can be read
}

// painRecord is one instruction. It is a spot.
type painRecord struct {
	file   *pain001File
	fields []string
	places []placed
	place  placed
	wrong  hcl.Diagnostics
}

func openPain001(d *dataSource, file fileReader) (*pain001File, hcl.Diagnostics) {
	text, diags := openText(file, d.file, "XML of ISO 20022")
	if diags.HasErrors() {
		return nil, diags
	}
	f := &pain001File{textFile: text, key: d.key, decoder: xml.NewDecoder(text.text), columns: map[string]int{}}
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
	f.above, f.aboveAt = make([]string, len(f.names)), make([]placed, len(f.names))
	f.group.element = "GrpHdr"
	return f, nil
}

func (f *pain001File) header() header  { return header{names: f.names} }
func (f *pain001File) notes() []string { return nil }

// read returns the next instruction. What ends the reading is io.EOF.
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
			var done *painRecord
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

// broken is what is wrong with the XML; nil at its end.
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

// stop is a mistake that ends the reading.
func (f *pain001File) stop(at span, summary, detail string, args ...any) hcl.Diagnostics {
	f.stopped = true
	return f.wrongRecord(at, summary, detail, args...)
}

// checkText refuses text that no element of pain.001 has: outside of the document, and beside
// other elements. What is read of such a file need not be what others read.
func (f *pain001File) checkText(from int64, text []byte) hcl.Diagnostics {
	trimmed := bytes.TrimSpace(text)
	at := span{from + int64(max(bytes.Index(text, trimmed), 0)), int64(len(trimmed))}
	switch {
	case len(trimmed) == 0:
	case len(f.path) == 0:
		return f.stop(at, "Text outside of the document", "A file of ISO 20022 is one Document, and has nothing before or after it.")
	case f.isMixed && f.isKnown():
		return f.stop(at, "Text beside elements", "Text stands in %s beside other elements. An element of pain.001 has either.", f.path[len(f.path)-1])
	}
	return nil
}

// isKnown says whether the innermost element is of pain.001, and not in some extension.
func (f *pain001File) isKnown() bool {
	return !slices.ContainsFunc(f.path, func(name string) bool { return strings.HasPrefix(name, "{") })
}

// checkElement refuses what is no XML although the decoder takes it, and an instruction that
// would not be read.
func (f *pain001File) checkElement(element xml.StartElement, at span) hcl.Diagnostics {
	if twice := repeatedAttribute(element); twice != "" {
		return f.stop(at, "Attribute stands twice", "The %s has the attribute %s twice. Which one is meant?", element.Name.Local, twice)
	}
	if len(f.path) > 0 && f.isKnown() && strings.TrimSpace(f.text.String()) != "" {
		return f.stop(at, "Text beside elements", "Text stands in %s beside other elements. An element of pain.001 has either.", f.path[len(f.path)-1])
	}
	name := element.Name.Local
	where := map[string]string{"PmtInf": painInformation, "CdtTrfTxInf": painInstruction}[name]
	if where != "" && element.Name.Space == f.space && f.at()+"/"+name+"/" != where {
		return f.stop(at, "Element in a wrong place", "A %s stands here, where it is not read: it belongs into %s.", name, strings.TrimSuffix(where, "/"+name+"/"))
	}
	return nil
}

// singleElements are the paths of what is read, and of what it stands in: each stands once there, but
// for those that make the file's list.
func singleElements() map[string]bool {
	single := map[string]bool{}
	add := func(path string) {
		for end := strings.IndexByte(path, '/'); end >= 0 && end < len(path); {
			next := strings.IndexByte(path[end+1:], '/')
			if next < 0 {
				end = len(path)
			} else {
				end += 1 + next
			}
			single[path[:end]] = true
		}
	}
	for _, column := range painColumns() {
		for _, path := range column.paths {
			if !strings.HasPrefix(column.name, "remittance") { // of which there may be more
				add(path)
			}
		}
	}
	for _, above := range []string{painGroup, painInformation} {
		add(above + "NbOfTxs")
		add(above + "CtrlSum")
	}
	add(painInformation + "PmtMtd")
	delete(single, strings.TrimSuffix(painInformation, "/"))
	delete(single, strings.TrimSuffix(painInstruction, "/"))
	return single
}

// checkSingle refuses an element that stands twice where ISO 20022 has it once, and an account that
// is said by an IBAN and in another way: another reader of the file may take the other one.
func (f *pain001File) checkSingle(name string, at span) hcl.Diagnostics {
	if len(f.path) == 0 || !f.single[f.at()+"/"+name] {
		return nil
	}
	seen := f.within[len(f.within)-1]
	if seen == nil {
		seen = map[string]bool{}
		f.within[len(f.within)-1] = seen
	}
	other := map[string]string{"IBAN": "Othr", "Othr": "IBAN", "Cd": "Prtry", "Prtry": "Cd"}[name]
	switch {
	case seen[name]:
		return f.stop(at, "Element stands twice", "The %s has a %s already. Which one is meant?", f.path[len(f.path)-1], name)
	case other != "" && seen[other]:
		return f.stop(at, "Two of which one is allowed", "Here stand %s and %s, and ISO 20022 allows one of them: they could name two accounts or purposes. Which one is meant?", other, name)
	}
	seen[name] = true
	return nil
}

// repeatedAttribute is the name of an attribute that an element has twice, or "".
func repeatedAttribute(element xml.StartElement) string {
	const few = 8 // that are compared without memory of them
	all := element.Attr
	seen := map[xml.Name]bool(nil)
	if len(all) > few {
		seen = make(map[xml.Name]bool, len(all))
	}
	for i, a := range all {
		if seen[a.Name] || seen == nil && slices.ContainsFunc(all[:i], func(b xml.Attr) bool { return a.Name == b.Name }) {
			return a.Name.Local
		}
		if seen != nil {
			seen[a.Name] = true
		}
	}
	return ""
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
		f.info, f.began = painControl{element: "PmtInf"}, false
		for _, i := range f.ofInfo {
			f.above[i], f.aboveAt[i] = "", placed{}
		}
		f.begin(from)
	case path+"/" == painInstruction:
		f.began = true
		f.begin(from)
		f.record = &painRecord{file: f, fields: slices.Clone(f.above), places: slices.Clone(f.aboveAt), place: f.place(at.from, at.length)}
	case path == painAmount:
		f.currency = attribute(element, "Ccy")
	case path == painInstruction+"ChqInstr":
		f.record.refuse(at, "Cheques are no transfers", "The instruction has a ChqInstr: the bank is asked to draw a cheque.")
	case path == painInstruction+"Amt/EqvtAmt":
		f.record.refuse(at, "Equivalent amount", "The instruction is for the equivalent (EqvtAmt) of another currency. What is sent must be said by an InstdAmt.")
	}
	return nil
}

func attribute(element xml.StartElement, name string) string {
	for _, a := range element.Attr {
		if a.Name.Local == name && a.Name.Space == "" {
			return a.Value
		}
	}
	return ""
}

func (f *pain001File) checkDocument(element xml.StartElement, at span) hcl.Diagnostics {
	f.documents++
	version := painSpaces.FindStringSubmatch(element.Name.Space)
	f.space = element.Name.Space
	switch {
	case f.documents > 1:
		return f.wrongRecord(at, "Not a pain.001 file", "A second document begins here, and a file has one.")
	case element.Name.Local != "Document":
		return f.wrongRecord(at, "Not a pain.001 file", "The file is a %q, and a pain.001 file is a Document.", element.Name.Local)
	case version == nil || version[1] < "03":
		return f.wrongRecord(at, "Not a pain.001 file",
			"The namespace of the document is %q, and that of a pain.001 file is such as \"urn:iso:std:iso:20022:tech:xsd:pain.001.001.09\", of version 03 or later.", element.Name.Space)
	}
	return nil
}

// at is the path of the innermost element.
func (f *pain001File) at() string { return strings.Join(f.path, "/") }

// end closes an element. It returns an instruction where that ends.
func (f *pain001File) end(from int64) (*painRecord, hcl.Diagnostics) {
	path := f.at()
	f.path, f.within = f.path[:len(f.path)-1], f.within[:len(f.within)-1]
	text := strings.TrimSpace(f.text.String())
	f.text.Reset()
	f.isMixed = true
	at := span{f.textFrom, from - f.textFrom}
	switch path {
	case painGroup + "NbOfTxs", painInformation + "NbOfTxs":
		c := f.control()
		if c.said {
			return nil, f.stop(at, "Element stands twice", "The NbOfTxs of the %s is %q already. Which one is meant?", c.element, c.saidN)
		}
		c.said, c.saidN, c.saidNAt = true, text, f.place(at.from, at.length)
	case painGroup + "CtrlSum", painInformation + "CtrlSum":
		c := f.control()
		if c.hasSum {
			return nil, f.stop(at, "Element stands twice", "The CtrlSum of the %s is %q already. Which one is meant?", c.element, c.saidSum)
		}
		c.hasSum, c.saidSum, c.saidSumA = true, text, f.place(at.from, at.length)
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

// control is the one that the innermost element stands in.
func (f *pain001File) control() *painControl {
	if len(f.path) > 2 && f.path[2] == "GrpHdr" {
		return &f.group
	}
	return &f.info
}

// column takes the value of a column in.
func (f *pain001File) column(i int, path, text string, at span) hcl.Diagnostics {
	text = cty.NormalizeString(strings.Join(strings.Fields(text), " ")) // as XML Schema collapses it
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

func (r *painRecord) refuse(at span, summary, detail string) {
	r.wrong = append(r.wrong, r.file.wrongRecord(at, summary, "%s", detail)...)
}

// finish counts an instruction and checks what it must have.
func (r *painRecord) finish() {
	f := r.file
	amount := r.fields[slices.Index(f.names, "amount")]
	currency := r.fields[slices.Index(f.names, "currency")]
	if xmlDecimal.MatchString(amount) {
		r.fields[slices.Index(f.names, "amount")] = plainDecimal(amount, currency)
	}
	f.group.add(amount)
	f.info.add(amount)
	here := span{r.place.from - int64(f.lines.skipped), r.place.length}
	switch key := r.fields[slices.Index(f.names, "end_to_end_id")]; {
	case r.wrong.HasErrors():
	case amount == "":
		r.refuse(here, "Amount is missing", "The instruction has no InstdAmt.")
	case !xmlDecimal.MatchString(amount):
		r.wrong = append(r.wrong, mistake.New(r.at(slices.Index(f.names, "amount")), "Invalid amount", "InstdAmt %q is not a decimal such as 1200.50.", amount))
	case currency == "":
		r.wrong = append(r.wrong, mistake.New(r.at(slices.Index(f.names, "amount")), "Currency is missing", "InstdAmt has no attribute Ccy, such as Ccy=\"EUR\"."))
	case f.key == "end_to_end_id" && key == painUnused:
		r.wrong = append(r.wrong, mistake.New(r.at(slices.Index(f.names, "end_to_end_id")), "Instruction without an ID",
			"EndToEndId says that there is none. An instruction must be known by an ID of its own; if it has another one, say so:\n\n  key = \"instruction_id\""))
	}
}

// whole is the first line of the instruction.
func (r *painRecord) whole() hcl.Range { return r.file.rangeOf(r.place) }

// at is the place of a column's text, or the instruction where it has none.
func (r *painRecord) at(i int) hcl.Range {
	if r.places[i].length == 0 {
		return r.whole()
	}
	return r.file.rangeOf(r.places[i])
}
