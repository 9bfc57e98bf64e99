package config

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"unsafe"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// CurrencyScale lets tests compare the list of currencies with another one.
func CurrencyScale(code string) (int, bool) { return currencyScale(code) }

// Interpreted streams c's transfers by general evaluation alone: the oracle of what is
// compiled.
func Interpreted(ctx context.Context, c *Configuration) iter.Seq2[Transfer, hcl.Diagnostics] {
	s := newStream(c)
	for _, block := range c.transfers {
		s.compiled[block] = nil
	}
	return s.all(ctx)
}

// Compiled streams c's transfers and then says how many blocks were compiled.
func Compiled(ctx context.Context, c *Configuration, blocks *int) iter.Seq2[Transfer, hcl.Diagnostics] {
	s := newStream(c)
	return func(yield func(Transfer, hcl.Diagnostics) bool) {
		for t, diags := range s.all(ctx) {
			if !yield(t, diags) {
				return
			}
		}
		for _, compiled := range s.compiled {
			if compiled != nil {
				*blocks++
			}
		}
	}
}

// Seen is the set that finds what is declared twice.
type Seen struct{ *seen }

// NewSeen makes an empty one.
func NewSeen() Seen { return Seen{newSeen()} }

// Add is its add.
func (s Seen) Add(text string, number uint32) (uint32, bool) { return s.add(text, number) }

// Size is how many bytes its tables have.
func (s Seen) Size() int {
	slots := 0
	for i := range s.shards {
		slots += len(s.shards[i].slots)
	}
	return slots * int(unsafe.Sizeof(seenSlot{}))
}

// Places are the numbers of places.
type Places struct{ places }

// Number is its number.
func (l *Places) Number(p Place) uint32 { return l.number(p) }

// Place is its place.
func (l *Places) Place(number uint32) Place { return l.place(number) }

// LoadWhole is Load that parses no file in parts.
func LoadWhole(dir string, opts Options) (*Configuration, hcl.Diagnostics) {
	opts.Getenv = func(string) string { return "" }
	c, diags, _ := load(dir, opts, true)
	return c, diags
}

// Parts splits a file and parses its parts: the ranges of their blocks, how many parts have
// only transfers, and whether all could be parsed.
func Parts(content []byte, name string) (blocks []hcl.Range, late int, ok bool) {
	end := 0
	for _, p := range split(content, name) {
		if p.start.Byte != end {
			panic("a part does not begin where the one before it ends")
		}
		end += len(p.content)
		if p.transfers {
			late++
		}
		body := p.parse()
		if body == nil {
			return nil, late, false
		}
		for _, b := range body.Blocks {
			blocks = append(blocks, b.Range())
		}
	}
	if end != len(content) {
		panic("the parts end before the file does")
	}
	return blocks, late, true
}

// Ahead is ahead.
func Ahead[T, R any](items []T, work func(T) R) iter.Seq[R] { return ahead(items, work) }

// ReadNumber reads text by an example of a number format.
func ReadNumber(example, text string) (string, error) {
	f, err := parseNumberFormat(example)
	if err != nil {
		return "", err
	}
	return f.read(text)
}

// CellNumber reads a number as a workbook stores it, in a cell with a number format.
func CellNumber(format, stored string) (string, error) {
	text, err := cellNumber([]*cellFormat{parseCellFormat(format)}, stored, false)
	return text.text, err
}

// ParsePlain parses plain blocks from a place on; it is false where they are not plain.
func ParsePlain(content []byte, name string, start hcl.Pos) (*hclsyntax.Body, bool) {
	body := parsePlain(content, name, start)
	return body, body != nil
}

// WorkbookSheets are the names of the sheets of a workbook.
func WorkbookSheets(content []byte) ([]string, error) {
	w, err := openWorkbook(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, s := range w.list {
		names = append(names, s.name)
	}
	return names, nil
}

// CellRead is what is read of a cell: its text, or why there is none.
type CellRead struct{ Text, Wrong string }

// SheetCells reads all cells of a sheet that hold something, by row and column from 1 on.
func SheetCells(content []byte, sheet string) (map[[2]int]CellRead, error) {
	w, err := openWorkbook(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	f := &xlsxFile{book: w, hidden: map[int]bool{}, columnStyles: map[int]int{}, formatsBy: map[int][]*cellFormat{}}
	for _, s := range w.list {
		if s.name == sheet {
			f.sheet = s
		}
	}
	part, err := w.pack.part(f.sheet.part)
	if err == nil {
		err = f.lookPast(part)
	}
	if err != nil {
		return nil, err
	}
	f.decoder = newPartDecoder(bytes.NewReader(part))
	cells := map[[2]int]CellRead{}
	for {
		row, err := f.next()
		if errors.Is(err, io.EOF) {
			return cells, nil
		}
		if err != nil {
			return nil, err
		}
		for _, cell := range row.cells {
			cells[[2]int{row.number, cell.column}] = CellRead{cell.text, cell.wrong}
		}
	}
}

// WithoutEndMark reads a text without the Ctrl-Z at its end.
func WithoutEndMark(from io.Reader) io.Reader { return newWithoutEndMark(from) }
