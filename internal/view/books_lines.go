package view

import (
	"encoding/csv"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"remit/internal/accounts/books"
	"remit/internal/transfer"
	"remit/state"
)

// isUsual reports whether the state is sure of an entry.
func isUsual(e *books.Entry) bool { return e.Status == state.Recorded || e.Status == state.Adopted }

// booksColumns are those of a file of CSV.
var booksColumns = []string{
	"date", "standing", "cause", "ref_id", "group_id", "record_id", "run_id", "batch", "operation", "reverses",
	"from_account", "from_profile_id", "to_account", "to_profile_id", "asset", "amount", "fee", "total",
	"status", "service_status", "created_at", "metadata",
}

// CSVStart is how a file of books as CSV begins.
var CSVStart = strings.Join(booksColumns, ",")

// BooksCSV writes a line of column names, then one for each entry that is booked, as
// [PlanCSV] writes. It has no place for entries that are not booked: the summary of the export has them.
func BooksCSV(w io.Writer, _ *books.Summary, entries iter.Seq2[*books.Entry, error], o BooksOptions) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true
	names := newAccounts(&o)
	if err := out.Write(booksColumns); err != nil {
		return fmt.Errorf("write the books: %w", err)
	}
	for e, err := range entries {
		if err != nil {
			out.Flush()
			return err
		}
		if !e.Booking().Booked() {
			continue
		}
		if err := out.Write(booksCells(e, &names, &o)); err != nil {
			return fmt.Errorf("write the books: %w", err)
		}
	}
	out.Flush()
	return out.Error()
}

func booksCells(e *books.Entry, names *accounts, o *BooksOptions) []string {
	text := cellText
	return []string{
		o.date(e), string(e.Booking()), string(e.Cause), text(e.RefID), text(e.GroupID), text(e.RecordID), text(e.RunID), text(e.Batch),
		string(e.Operation), text(e.Reverses),
		names.profile(e.From), text(e.From), names.profile(e.To), text(e.To),
		text(e.Asset), sum(e.Amount), sum(e.Fee), sum(e.Total),
		e.Status.String(), text(string(e.RecordStatus)), e.At.In(o.Zone).Format(time.RFC3339Nano), text(pairsCell(e.Metadata)),
	}
}

type bookingLine struct {
	Type         string                `json:"type"` // "booking", or "unbooked"
	Date         string                `json:"date"`
	Standing     books.Booking         `json:"standing"`
	Cause        books.Cause           `json:"cause,omitempty"`
	Reason       string                `json:"reason,omitempty"`
	RefID        string                `json:"ref_id"`
	GroupID      string                `json:"group_id"`
	RecordID     string                `json:"record_id"`
	RunID        string                `json:"run_id"`
	Batch        string                `json:"batch"`
	Operation    transfer.Operation    `json:"operation"`
	Reverses     string                `json:"reverses,omitempty"`
	Place        string                `json:"place"`
	From         string                `json:"from_profile_id"`
	To           string                `json:"to_profile_id"`
	Asset        string                `json:"asset"`
	Amount       string                `json:"amount"`
	Fee          string                `json:"fee"`
	Total        string                `json:"total"`
	Status       state.Status          `json:"status"`
	RecordStatus transfer.RecordStatus `json:"record_status"`
	CreatedAt    time.Time             `json:"created_at"`
	UpdatedAt    time.Time             `json:"updated_at,omitzero"`
	Metadata     map[string]string     `json:"metadata,omitempty"`
	Postings     []postingLine         `json:"postings,omitempty"`
}

type postingLine struct {
	Account   string `json:"account"`
	Commodity string `json:"commodity"`
	Amount    string `json:"amount"`
}

// booksLine is the last one.
type booksLine struct {
	Type        string       `json:"type"` // "exported"
	Environment string       `json:"environment"`
	Lineage     string       `json:"lineage"`
	Serial      int64        `json:"serial"`
	Timezone    string       `json:"timezone"`
	Booked      totalsLine   `json:"booked"`
	Fees        totalsLine   `json:"fees"`
	Causes      []causeTotal `json:"causes"`
	NeedsPerson int          `json:"needs_person"`
}

type causeTotal struct {
	Cause    books.Cause   `json:"cause"`
	Standing books.Booking `json:"standing"`
	totalsLine
}

// BooksJSON writes JSON Lines: a "booking" for each entry that is booked, an "unbooked" for
// each other one that may have moved money, in their order, and an "exported" at the end.
func BooksJSON(w io.Writer, s *books.Summary, entries iter.Seq2[*books.Entry, error], o BooksOptions) error {
	j := NewJSON(w, o.Version)
	names := newAccounts(&o)
	j.begin()
	for e, err := range entries {
		if err != nil {
			_ = j.end()
			return err
		}
		if e.Booking() != books.None {
			j.write(newBookingLine(e, &names, &o))
		}
	}
	line := booksLine{
		Type: "exported", Environment: o.Meta.Environment, Lineage: o.Meta.Lineage, Serial: o.Meta.Serial,
		Timezone: o.Zone.String(), Booked: sumsOf(&s.Booked), Fees: sumsOf(&s.Fees),
		Causes: []causeTotal{}, NeedsPerson: s.NeedsPerson(),
	}
	for _, cause := range books.Causes() {
		if t := s.Causes[cause]; t != nil {
			line.Causes = append(line.Causes, causeTotal{cause, cause.Booking(), sumsOf(t)})
		}
	}
	j.write(line)
	return j.end()
}

// sumsOf is a count and sums that no hash total belongs to.
func sumsOf(t *transfer.Totals) totalsLine {
	line := totalsOf(t)
	line.HashTotal = ""
	return line
}

func newBookingLine(e *books.Entry, names *accounts, o *BooksOptions) bookingLine {
	line := bookingLine{
		Type: "booking", Date: o.date(e), Standing: e.Booking(), Cause: e.Cause, Reason: e.Reason,
		RefID: e.RefID, GroupID: e.GroupID, RecordID: e.RecordID, RunID: e.RunID, Batch: e.Batch,
		Operation: e.Operation, Reverses: e.Reverses, Place: e.Place, From: e.From, To: e.To,
		Asset: e.Asset, Amount: sum(e.Amount), Fee: sum(e.Fee), Total: sum(e.Total),
		Status: e.Status, RecordStatus: e.RecordStatus, CreatedAt: e.At.UTC(), UpdatedAt: e.UpdatedAt.UTC(),
	}
	if !e.Booking().Booked() {
		line.Type = "unbooked"
	}
	if len(e.Metadata) > 0 {
		line.Metadata = make(map[string]string, len(e.Metadata))
	}
	for _, p := range e.Metadata {
		line.Metadata[p.Key] = p.Value
	}
	for _, p := range e.Postings {
		line.Postings = append(line.Postings, postingLine{names.account(p), commodity(e.Asset), sum(p.Amount)})
	}
	return line
}
