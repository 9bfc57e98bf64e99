package view

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"remit/internal/accounts/books"
	"remit/internal/text/english"
	"remit/internal/transfer"
	"remit/state"
)

// BooksOptions say how books are written down. The same books and options make the same
// bytes.
type BooksOptions struct {
	Meta    state.Meta
	AsOf    time.Time         // of the newest event of the journal
	Names   map[string]string // of profiles, by profile_id
	Called  map[string]string // the first display names of profiles, by profile_id
	Zone    *time.Location    // in which days are counted
	Prefix  string            // of the accounts of profiles: see [AccountPrefix]
	Wanted  string            // the selection, in words; "" for everything
	Version string            // of remit
	Scales  transfer.Scales   // decimals of assets, in books for accountants
}

// WriteBooks writes books down in one form: a summary, and the entries in their order. It returns
// the error that entries yield, or that of w.
type WriteBooks func(w io.Writer, s *books.Summary, entries iter.Seq2[*books.Entry, error], o BooksOptions) error

// eachBooked writes each entry that is in the books to a buffer before w.
func eachBooked(w io.Writer, entries iter.Seq2[*books.Entry, error], write func(*bufio.Writer, *books.Entry)) error {
	out := bufio.NewWriterSize(w, 64<<10)
	for e, err := range entries {
		if err != nil {
			_ = out.Flush() // the error that matters is the other one
			return err
		}
		if e.Booking().Booked() {
			write(out, e)
		}
	}
	return out.Flush()
}

// date is the day of an entry in the books.
func (o *BooksOptions) date(e *books.Entry) string { return e.At.In(o.Zone).Format(time.DateOnly) }

// preamble are the lines at the head of a file, for a person: whose books these are, of when,
// and the entries that are not in them.
func (o *BooksOptions) preamble(s *books.Summary) []string {
	lines := []string{"Environment " + Visible(o.Meta.Environment) + ", state " + Visible(o.Meta.Lineage) + fmt.Sprintf(", event %d", o.Meta.Serial)}
	if o.Meta.Service.IsSandbox() {
		lines = append(lines, sandboxLine(o.Meta.Environment))
	}
	if o.Wanted != "" {
		lines = append(lines, "Only "+Visible(o.Wanted))
	}
	lines = append(lines, "Days in "+o.Zone.String())
	lines = append(lines, booksLines(s, func(t *transfer.Totals) string { return sumsAs(t, o.Scales.Plain) })...)
	return lines
}

// booksLines count the booked entries and the others, with sums as the given function writes them.
func booksLines(s *books.Summary, sums func(*transfer.Totals) string) []string {
	lines := []string{"Booked: " + english.Plural(s.Booked.Count(), "transfer") + commaAnd(sums(&s.Booked))}
	if s.Fees.Count() > 0 {
		lines = append(lines, "Fees: "+sums(&s.Fees))
	}
	for t := range s.Booked.All() {
		if written := writtenAs(s, t.Asset, sums); len(written) > 1 {
			lines = append(lines, fmt.Sprintf("%s is written in %d ways, each of which is an asset of its own in the books: %s", t.Asset, len(written), strings.Join(written, ", ")))
		}
	}
	for _, booking := range []books.Booking{books.Pending, books.Open, books.None} {
		var parts []string
		for _, cause := range books.Causes() {
			if t := s.Causes[cause]; t != nil && cause.Booking() == booking {
				parts = append(parts, fmt.Sprintf("%d %s (%s)", t.Count(), cause, sums(t)))
			}
		}
		if len(parts) > 0 {
			lines = append(lines, bookingText(booking)+": "+strings.Join(parts, ", "))
		}
	}
	for i, line := range lines {
		lines[i] = Visible(line)
	}
	return lines
}

// writtenAs are the booked sums of an asset, one for each way in which records write it.
func writtenAs(s *books.Summary, asset string, sums func(*transfer.Totals) string) (list []string) {
	for _, written := range slices.Sorted(maps.Keys(s.Written)) {
		if transfer.AssetSpelled(written) == asset {
			var one transfer.Totals
			one.AddTotal(transfer.Total{Asset: asset, Count: 1, Sum: s.Written[written]})
			list = append(list, written+strings.TrimPrefix(sums(&one), asset))
		}
	}
	return list
}

func bookingText(s books.Booking) string {
	switch s {
	case books.Pending:
		return "Of these pending"
	case books.Open:
		return "NOT BOOKED, although money may have moved"
	case books.None:
		return "Not booked, as no money moved"
	case books.Completed:
	}
	return "Completed"
}

// commaAnd is ", text", or nothing.
func commaAnd(text string) string {
	if text == "" {
		return ""
	}
	return ", " + text
}

// BooksSummary tells a person the booked entries of an export and the others, with the first few that
// a person should look at.
func BooksSummary(w io.Writer, s *books.Summary, o Screen) error {
	p := newPage(w, o)
	for _, line := range booksLines(s, o.sums) {
		t := toneNone
		if strings.HasPrefix(line, bookingText(books.Open)) {
			t = toneDoubt
		}
		p.paragraph("", line, t)
	}
	if count := s.NeedsPerson(); count > 0 {
		p.line()
		p.paragraph("", fmt.Sprintf("Warning: check %s.", english.Plural(count, "transfer")), toneDoubt)
		for i := range s.Look {
			e := &s.Look[i]
			p.line(plain("  "+e.RefID+"  "+p.money(e.Amount, e.Asset)+" "+e.Asset+"  "), span{string(e.Cause), toneDoubt})
			if e.Reason != "" {
				p.paragraph("      ", firstSentence(e.Reason), toneDim)
			}
		}
		if more := count - len(s.Look); more > 0 {
			p.line(dim(fmt.Sprintf("  and %d more", more)))
		}
		p.command("", p.here("remit status"))
	}
	return p.Flush()
}
