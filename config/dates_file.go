package config

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/config/rows"
	"remit/internal/clock/calendar"
	"remit/internal/transfer"
)

// datesMax bounds the dates of a calendar's file.
const datesMax = 10_000

// datesWrongMax is how many lines that are no dates are told one by one: a file of another kind has nothing else.
const datesWrongMax = 3

// datesFile is a file of dates that is read, one a line.
type datesFile struct {
	name   string
	lines  *bufio.Scanner
	wrong  int // lines that are no dates
	offset int // of the text of the line
	next   int // of the line below
}

func newDatesFile(name string, from io.Reader) *datesFile {
	f := &datesFile{name: name, lines: bufio.NewScanner(from)}
	f.lines.Split(func(data []byte, atEOF bool) (int, []byte, error) { // a line may end with two bytes
		advance, line, err := bufio.ScanLines(data, atEOF)
		f.offset, f.next = f.next, f.next+advance
		return advance, line, err
	})
	return f
}

// readDates reads the lines of a file of dates, which the argument a names.
func readDates(r *eval.Reader, s *sourceFiles, a *eval.Argument, f *datesFile, rules *calendar.Rules) {
	for n := 1; f.lines.Scan(); n++ {
		line := f.lines.Text()
		if n == 1 {
			line = strings.TrimPrefix(line, rows.ByteOrderMark)
			f.offset += len(f.lines.Bytes()) - len(line)
			if other := noDates(line); other != "" {
				r.Refuse(a.Expr.Range(), "File has no dates", "%s %s. A file of dates has one on each line, and behind it the name of the day or nothing:\n\n  2026-12-25 Christmas Day", f.name, other)
				return
			}
		}
		if err := addDate(line, rules); err != nil {
			if f.wrong++; f.wrong <= datesWrongMax {
				f.refuse(r, s, n, err, line, len(rules.Dates) == 0 && n == 1)
			}
		}
		if len(rules.Dates) > datesMax {
			r.Refuse(a.Expr.Range(), "Too many dates", "%s has more than %d dates.", f.name, datesMax)
			return
		}
	}
	if f.wrong > datesWrongMax {
		r.Refuse(a.Expr.Range(), "Many lines are no dates", "%s has %d lines that are no dates. The first %d are shown.", f.name, f.wrong, datesWrongMax)
	}
	if err := f.lines.Err(); err != nil {
		if errors.Is(err, bufio.ErrTooLong) {
			err = errors.New("a line is too long")
		}
		r.Refuse(a.Expr.Range(), "File of dates cannot be read", "%s: %s", f.name, mistake.Sentence(err))
	}
}

// refuse reports line n, which is no date. The first line of a table may be its heading.
func (f *datesFile) refuse(r *eval.Reader, s *sourceFiles, n int, err error, line string, isFirst bool) {
	end := hcl.Pos{Line: n, Column: utf8.RuneCountInString(line) + 1, Byte: f.offset + len(line)}
	at := hcl.Range{Filename: f.name, Start: hcl.Pos{Line: n, Column: 1, Byte: f.offset}, End: end}
	s.data.NeedSnippet(f.name, end.Byte)
	if isFirst && !strings.ContainsAny(line, "0123456789") {
		r.Refuse(at, "Not a date", "This line has no date. If it is the heading of a table, delete it, or begin it with #.")
		return
	}
	r.Refuse(at, "Not a date", "Each line of a file of dates is a date, such as \"2026-11-27\", and the name of the day or nothing: %s", mistake.Sentence(err))
}

// noDates says, behind the name of a file, what one is that has no dates on its lines; "" for any other.
func noDates(first string) string {
	switch {
	case strings.HasPrefix(first, "BEGIN:VCALENDAR"):
		return "is a file of a calendar program (iCalendar)"
	case strings.HasPrefix(first, "PK\x03\x04"):
		return "is a workbook"
	case strings.HasPrefix(first, "%PDF"):
		return "is a PDF"
	case strings.HasPrefix(strings.ToLower(strings.TrimSpace(first)), "<!doctype") || strings.HasPrefix(strings.ToLower(strings.TrimSpace(first)), "<html"):
		return "is a page of the web"
	case strings.HasPrefix(strings.TrimSpace(first), "{") || strings.HasPrefix(strings.TrimSpace(first), "["):
		return "is JSON"
	case strings.HasPrefix(first, "\xff\xfe") || strings.HasPrefix(first, "\xfe\xff"):
		return "is in UTF-16. Save it in UTF-8"
	}
	return ""
}

// addDate adds the date of a line, with the name of its day.
func addDate(line string, rules *calendar.Rules) error {
	for _, r := range transfer.HiddenIn([]byte(line)) {
		if !transfer.JoinsLetters(r) { // the name of the day is looked at below
			return fmt.Errorf("it has the character %U, %s; delete it, or end the line there", r, transfer.SeenOtherwise(r))
		}
	}
	line, _, _ = strings.Cut(line, "#")
	line = strings.TrimSpace(line)
	if line == "" {
		return nil
	}
	text, name := line, ""
	if cut := strings.IndexAny(line, " \t,;"); cut > 0 {
		text, name = line[:cut], strings.Trim(line[cut:], " \t,;\"")
	}
	d, err := calendar.ParseDate(text)
	if err != nil {
		return fmt.Errorf("%q %w", text, err)
	}
	if err := transfer.CheckText(name); name != "" && err != nil {
		return fmt.Errorf("the name %w", err)
	}
	rules.Dates = append(rules.Dates, d)
	if name != "" {
		rules.Named[d] = name
	}
	return nil
}
