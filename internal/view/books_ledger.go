package view

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"strings"

	"remit/internal/accounts/books"
	"remit/internal/transfer"
)

// BooksHledger writes a journal of hledger: a transaction for each entry that is booked, with
// the ref_id as its code. A pending entry has the mark !.
func BooksHledger(w io.Writer, s *books.Summary, entries iter.Seq2[*books.Entry, error], o BooksOptions) error {
	return writeJournal(w, s, entries, o, "decimal-mark .\n")
}

// BooksLedger writes a journal of ledger, as [BooksHledger] writes one of hledger.
func BooksLedger(w io.Writer, s *books.Summary, entries iter.Seq2[*books.Entry, error], o BooksOptions) error {
	return writeJournal(w, s, entries, o, "")
}

// BooksBeancount writes a file of beancount: a transaction for each entry that is booked, with
// the ref_id in its metadata. A pending entry has the flag !. Accounts are opened by a plugin,
// so that several exports can be included in one file.
func BooksBeancount(w io.Writer, s *books.Summary, entries iter.Seq2[*books.Entry, error], o BooksOptions) error {
	if err := writePreamble(w, BeancountStart, s, o, "plugin \"beancount.plugins.auto_accounts\"\n"); err != nil {
		return err
	}
	names := newAccounts(&o)
	return eachBooked(w, entries, func(out *bufio.Writer, e *books.Entry) {
		fmt.Fprintf(out, "\n%s %s %s %s\n", o.date(e), flag(e), beanText(o.payee(e.To)), beanText(note(e)))
		for _, t := range tags(e) {
			fmt.Fprintf(out, "  %s: %s\n", t.Key, beanText(t.Value))
		}
		for i, p := range e.Metadata {
			fmt.Fprintf(out, "  metadata%d: %s\n", i+1, beanText(p.Key+"="+p.Value))
		}
		for _, p := range e.Postings {
			fmt.Fprintf(out, "  %s  %s %s\n", names.account(p), o.Scales.Plain(p.Amount, e.Asset), commodity(e.Asset))
		}
	})
}

// How files of books begin: one that does may be replaced by another.
const (
	JournalStart   = "; remit export, for "
	HledgerStart   = JournalStart + "hledger"
	LedgerStart    = JournalStart + "ledger"
	BeancountStart = JournalStart + "beancount"
)

func writeJournal(w io.Writer, s *books.Summary, entries iter.Seq2[*books.Entry, error], o BooksOptions, directives string) error {
	start := LedgerStart
	if directives != "" {
		start = HledgerStart
	}
	if err := writePreamble(w, start, s, o, directives); err != nil {
		return err
	}
	names := newAccounts(&o)
	return eachBooked(w, entries, func(out *bufio.Writer, e *books.Entry) {
		fmt.Fprintf(out, "\n%s %s (%s) %s | %s\n", o.date(e), flag(e), ledgerText(e.RefID), payeeText(o.payee(e.To)), ledgerText(note(e)))
		for _, t := range tags(e) {
			fmt.Fprintf(out, "    ; %s: %s\n", t.Key, ledgerText(t.Value))
		}
		for _, p := range e.Metadata {
			fmt.Fprintf(out, "    ; metadata: %s\n", ledgerText(p.Key+"="+p.Value))
		}
		for _, p := range e.Postings {
			fmt.Fprintf(out, "    %s  %s %s\n", names.account(p), o.Scales.Plain(p.Amount, e.Asset), ledgerCommodity(e.Asset))
		}
	})
}

func writePreamble(w io.Writer, start string, s *books.Summary, o BooksOptions, directives string) error {
	out := bufio.NewWriterSize(w, 64<<10)
	fmt.Fprintf(out, "%s\n", start)
	for _, line := range o.preamble(s) {
		fmt.Fprintf(out, "; %s\n", line)
	}
	if directives != "" {
		fmt.Fprintf(out, "\n%s", directives)
	}
	return out.Flush()
}

func flag(e *books.Entry) string {
	if e.Booking() == books.Completed {
		return "*"
	}
	return "!"
}

// name is a profile by its name in the address book, or by its ID.
func (o *BooksOptions) name(profile string) string {
	if name := o.Names[profile]; name != "" {
		return name
	}
	if profile == "" {
		return "unknown"
	}
	return profile
}

// payee is a profile by its name in the address book, else by its display name, else by its ID.
func (o *BooksOptions) payee(profile string) string {
	if name := o.Called[profile]; name != "" && o.Names[profile] == "" {
		return name
	}
	return o.name(profile)
}

// payeeText is [ledgerText] of a payee, in which a comma separates nothing.
func payeeText(name string) string { return strings.ReplaceAll(ledgerText(name), "%2C", ",") }

// note says what a transaction is for.
func note(e *books.Entry) string {
	switch {
	case e.Batch != "":
		return e.Batch
	case e.Operation != "":
		return string(e.Operation) + " transfer"
	}
	return "imported transfer"
}

// tags identify an entry, and say how it is unusual.
func tags(e *books.Entry) []transfer.Pair {
	list := []transfer.Pair{{Key: "ref_id", Value: e.RefID}, {Key: "group_id", Value: e.GroupID}, {Key: "record_id", Value: e.RecordID}, {Key: "run_id", Value: e.RunID}, {Key: "reverses", Value: e.Reverses}}
	if commodity(e.Asset) != e.Asset {
		list = append(list, transfer.Pair{Key: "asset", Value: e.Asset})
	}
	if e.RecordStatus != transfer.Completed {
		list = append(list, transfer.Pair{Key: "service_status", Value: string(e.RecordStatus)})
	}
	if !isUsual(e) {
		list = append(list, transfer.Pair{Key: "status", Value: e.Status.String()})
	}
	kept := list[:0]
	for _, t := range list {
		if t.Value != "" {
			kept = append(kept, t)
		}
	}
	return kept
}
