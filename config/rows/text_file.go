package rows

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"

	"remit/config/mistake"
)

// textFile is a data file of UTF-8 whose reader knows offsets alone, as those of JSON and XML
// do. It turns an offset into a place.
type textFile struct {
	name  string
	again io.ReaderAt // the file, for the characters before a place
	lines *lineTracker
	text  *bufio.Reader                           // after a byte-order mark
	last  struct{ start, from, characters int64 } // what columnOf counted last
}

// openText is a mistake where a file is not UTF-8, which what (JSON, XML) is.
func openText(file fileReader, name, what string) (*textFile, hcl.Diagnostics) {
	t := &textFile{name: name, again: file, lines: newLineTracker(newWithoutEndMark(file))}
	t.text = bufio.NewReaderSize(t.lines, dataBufferBytes)
	head, _ := t.text.Peek(sniffedBytes)
	switch mark := markOf(head); {
	case mark == ByteOrderMark:
		_, _ = t.text.Discard(len(mark))
		t.lines.skipped = len(mark)
	case mark != "" || guessUTF16(head) != "":
		return nil, hcl.Diagnostics{mistake.New(t.span(0, 0), "File is not in its encoding", "%s is UTF-16. Save it as UTF-8, which %s is.", name, what)}
	default:
		if err := checkUTF8(head); err != nil {
			return nil, hcl.Diagnostics{mistake.New(t.span(0, 0), "File is not in its encoding", "%s %s", name, mistake.Sentence(err))}
		}
	}
	return t, nil
}

// fileReader is a file that can be read twice.
type fileReader interface {
	io.Reader
	io.ReaderAt
}

// begin notes that a record begins at an offset of the text, and returns its line. Places
// before it are not asked for any more.
func (t *textFile) begin(offset int64) int {
	line := t.line(offset)
	t.lines.needed, t.lines.unread = line, 0
	return line
}

// free lets any number of bytes be read up to the next record.
func (t *textFile) free() { t.lines.unread = -1 << 60 }

func (t *textFile) line(offset int64) int { return t.lines.line(offset + int64(t.lines.skipped)) }

// textPlace is a part of the text that can be shown however far reading has gone on.
type textPlace struct {
	line         int
	start        int64 // of the line
	from, length int64
}

// place notes the place of length bytes from an offset of the text, in or after the record that was
// begun last.
func (t *textFile) place(offset, length int64) textPlace {
	offset += int64(t.lines.skipped)
	p := textPlace{line: t.lines.line(offset), from: offset, length: length}
	if p.start = t.lines.start(p.line); p.line == 1 {
		p.start += int64(t.lines.skipped)
	}
	return p
}

// rangeOf is a place as a range, or that of its first line.
func (t *textFile) rangeOf(p textPlace) hcl.Range {
	text, _, _ := strings.Cut(t.slice(p.from, p.length), "\n")
	start := hcl.Pos{Line: p.line, Column: t.columnOf(p), Byte: int(p.from)}
	end := start
	end.Column += utf8.RuneCountInString(text)
	end.Byte += len(text)
	return hcl.Range{Filename: t.name, Start: start, End: end}
}

// columnOf counts the characters before a place. It goes on from the place before on the same
// line: files of programs are often one line, with a mistake in each record.
func (t *textFile) columnOf(p textPlace) int {
	if t.last.start != p.start || t.last.from > p.from {
		t.last.start, t.last.from, t.last.characters = p.start, p.start, 0
	}
	t.last.characters += int64(utf8.RuneCountInString(t.slice(t.last.from, p.from-t.last.from)))
	t.last.from = p.from
	return 1 + int(t.last.characters)
}

// span is the range of length bytes from an offset of the text.
func (t *textFile) span(offset, length int64) hcl.Range { return t.rangeOf(t.place(offset, length)) }

// slice reads a part of the file again. A part that can't be read any more is left out.
func (t *textFile) slice(from, length int64) string {
	if length <= 0 || length > recordBytesMax {
		return ""
	}
	text := make([]byte, length)
	n, _ := t.again.ReadAt(text, from)
	return string(text[:n])
}

// unreadable is the mistake where a file ends or breaks off.
func (t *textFile) unreadable(offset int64, err error) *hcl.Diagnostic {
	if errors.Is(err, errRecordLong) {
		err = errors.New("a row has more than 16 MiB")
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return mistake.New(t.span(offset, 1), "File is cut off", "%s ends in the middle. Is it whole?", t.name)
	}
	return mistake.New(t.span(offset, 1), "Data file cannot be read", "%s: %s", t.name, mistake.Sentence(err))
}

// textRecord is a record of a text file whose fields have offsets. It is a spot.
type textRecord struct {
	file   *textFile
	fields []string
	spans  []span
	from   int64 // where it begins
	line   int
}

// span is the place of a field in the text; without length for one that is absent.
type span struct{ from, length int64 }

func (r *textRecord) whole() hcl.Range { return r.file.span(r.from, 1) }

func (r *textRecord) at(i int) hcl.Range {
	if r.spans[i].length == 0 {
		return r.whole()
	}
	return r.file.span(r.spans[i].from, r.spans[i].length)
}

func (r *textRecord) record() record {
	return record{fields: r.fields, line: r.line, plain: arePlain(r.fields), place: r}
}

// wrongRecord is a record without fields: a mistake in it.
func (t *textFile) wrongRecord(at span, summary, detail string, args ...any) hcl.Diagnostics {
	return hcl.Diagnostics{mistake.New(t.span(at.from, at.length), summary, "%s", fmt.Sprintf(detail, args...))}
}
