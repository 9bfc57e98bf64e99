package view_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"iter"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"remit/internal/accounts/books"
	"remit/internal/transfer"
	"remit/internal/view"
	"remit/state"
)

// booksTexts are texts that could mean something to a program that reads books.
var booksTexts = []string{
	"plain", "a) b", "(a)", "x; y", "x  ; y", "x  100 USD", "a|b", `"`, `\`, `a\"b`, "a\nb", "a\r\n2026-01-01 * x", "\t", " ", "  ", " a ",
	"[2026-01-01]", "[=2026-01-01]", ":tag:", "key:: (1)", "key: value, other: x", "* ", "! x", "= x", "~ x", "include /etc/passwd", "@@ 5 EUR", "{1}",
	"=cmd()", "+1", "-1", "@x", "'", "%41", "%", "%%", "A", "ü", "Ü", "ﬃ", "名前", "עברית", "\u202e", "\u200b", "e\u0301", "\u0301", "🤑", "а", "\x00", "\xff",
	"<x/>", "]]>", "&amp;", "--", "-", "a-", "-a", "a--b", "Profile-a", strings.Repeat("long ", 30),
}

var booksAssets = []string{"USD", "usd", "Usd", "U", "USDC.E", "US'D", "1INCH", "TRUE", "NULL", "X-USD-0123456789AB", "USD ", "US D", `"`, "$", "€", "A;B", strings.Repeat("A", 24), strings.Repeat("A", 25), "A-", "ü"}

// booksEntry is a booked entry with one text in each place that has a text.
func booksEntry(n int, text, asset, amount string) *books.Entry {
	sum := decimal.RequireFromString(amount)
	fee := decimal.RequireFromString("0.01")
	return &books.Entry{
		RefID: text, Status: state.Recorded, RecordStatus: transfer.Completed,
		At: time.Date(2026, 11, 30, 0, 0, n, 0, time.UTC), RecordID: text, GroupID: text, RunID: text, Batch: text, Place: text,
		Operation: transfer.Internal, Reverses: text, Metadata: transfer.Metadata{{Key: text, Value: text}, {Key: "more", Value: text}},
		From: "from-" + text, To: text, Asset: asset, Amount: sum, Fee: fee, Total: sum.Add(fee),
		Postings: []books.Posting{
			{Role: books.Sender, Profile: "from-" + text, Amount: sum.Add(fee).Neg()},
			{Role: books.Recipient, Profile: text, Amount: sum},
			{Role: books.Fees, Amount: fee},
		},
	}
}

func booksSeq(list []*books.Entry) iter.Seq2[*books.Entry, error] {
	return func(yield func(*books.Entry, error) bool) {
		for _, e := range list {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func booksOptions() view.BooksOptions {
	return view.BooksOptions{
		Meta: state.Meta{Environment: "a\nb", Lineage: "l"}, Names: map[string]string{"plain": "treasury"},
		Zone: time.UTC, Prefix: view.AccountPrefix, Wanted: "batch a\nb", Version: "0.1.0",
	}
}

func written(t *testing.T, write view.WriteBooks, list []*books.Entry) string {
	t.Helper()
	var out bytes.Buffer
	if err := write(&out, &books.Summary{}, booksSeq(list), booksOptions()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func hostileBooks() []*books.Entry {
	var list []*books.Entry
	for i, text := range booksTexts {
		list = append(list, booksEntry(i, text, booksAssets[i%len(booksAssets)], fmt.Sprintf("%d.%02d", i+1, i)))
	}
	return list
}

// tool runs a program of Debian over a file of books, or skips the test where it is missing.
func tool(t *testing.T, content, suffix, name string, args ...string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed here (Debian: apt-get install hledger ledger beancount)", name)
	}
	file := filepath.Join(t.TempDir(), "books."+suffix)
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	for i, arg := range args {
		args[i] = strings.ReplaceAll(arg, "FILE", file)
	}
	command := exec.Command(path, args...)
	command.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "HOME="+t.TempDir())
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// decoded is a code as the reader of a journal decodes it.
func decoded(t *testing.T, code string) string {
	t.Helper()
	text, err := url.PathUnescape(code)
	if err != nil {
		t.Errorf("the code %q: %v", code, err)
	}
	return text
}

func visibleRefIDs(list []*books.Entry) []string {
	var ids []string
	for _, e := range list {
		ids = append(ids, view.Visible(e.RefID))
	}
	slices.Sort(ids)
	return ids
}

// TestBooksHostile holds that no text breaks out of its place: the real programs read exactly
// the transactions that there are, each under its ref_id.
func TestBooksHostile(t *testing.T) {
	list := hostileBooks()
	want := visibleRefIDs(list)
	t.Run("hledger", func(t *testing.T) {
		checkHledger(t, list, want)
	})
	t.Run("ledger", func(t *testing.T) {
		content := written(t, view.BooksLedger, list)
		var read struct {
			Codes []string `xml:"transactions>transaction>code"`
		}
		if err := xml.Unmarshal([]byte(tool(t, content, "ledger", "ledger", "-f", "FILE", "xml")), &read); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, code := range read.Codes {
			got = append(got, decoded(t, code))
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("beancount", func(t *testing.T) {
		content := written(t, view.BooksBeancount, list)
		if out := tool(t, content, "beancount", "bean-check", "FILE"); out != "" {
			t.Errorf("bean-check: %s", out)
		}
		out := tool(t, content, "beancount", "bean-query", "-q", "-f", "csv", "FILE", "select id, entry_meta('ref_id')")
		rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		ids := map[string]string{}
		for _, row := range rows[1:] {
			ids[row[0]] = strings.TrimRight(row[1], " ")
		}
		var trimmed []string
		for _, id := range want {
			trimmed = append(trimmed, strings.TrimRight(id, " ")) // bean-query fills columns up
		}
		slices.Sort(trimmed)
		if diff := cmp.Diff(trimmed, slices.Sorted(maps.Values(ids))); diff != "" {
			t.Error(diff)
		}
	})
}

func checkHledger(t *testing.T, list []*books.Entry, want []string) {
	t.Helper()
	content := written(t, view.BooksHledger, list)
	var transactions []struct {
		Code     string `json:"tcode"`
		Date2    any    `json:"tdate2"`
		Postings []struct {
			Date any `json:"pdate"`
		} `json:"tpostings"`
	}
	out := tool(t, content, "journal", "hledger", "-f", "FILE", "print", "-O", "json")
	if err := json.Unmarshal([]byte(out), &transactions); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, x := range transactions {
		got = append(got, decoded(t, x.Code))
		if x.Date2 != nil || len(x.Postings) != 3 || x.Postings[0].Date != nil {
			t.Errorf("%q has other dates or postings: %+v", x.Code, x)
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestBooksHostileAny is that over random texts, without starting a program for each.
func TestBooksHostileAny(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.String().Draw(r, "text")
		e := booksEntry(1, text, rapid.String().Draw(r, "asset"), "1.00")
		for name, write := range map[string]view.WriteBooks{"hledger": view.BooksHledger, "ledger": view.BooksLedger, "beancount": view.BooksBeancount} {
			var out, plain bytes.Buffer
			if err := write(&out, &books.Summary{}, booksSeq([]*books.Entry{e}), booksOptions()); err != nil {
				r.Fatal(err)
			}
			_ = write(&plain, &books.Summary{}, booksSeq([]*books.Entry{booksEntry(1, "plain", e.Asset, "1.00")}), booksOptions())
			if text != "" && strings.Count(out.String(), "\n") != strings.Count(plain.String(), "\n") {
				r.Fatalf("%s has other lines:\n%s", name, out.String())
			}
		}
	})
}

// TestBooksNames holds that names are those of beancount, and no two things have one name.
func TestBooksNames(t *testing.T) {
	names := map[string]string{}
	for i, text := range booksTexts {
		names["id-"+text] = text
		names[fmt.Sprint("id", i)] = text + "_"
	}
	o := booksOptions()
	o.Names = names
	seen := map[string]string{}
	for id := range names {
		account := view.AccountOf(o, id)
		if other, twice := seen[account]; twice {
			t.Errorf("%q and %q have one account %s", id, other, account)
		}
		seen[account] = id
	}
	commodities := map[string]string{}
	for _, asset := range booksAssets {
		c := view.Commodity(asset)
		if other, twice := commodities[c]; twice {
			t.Errorf("%q and %q are one commodity %s", asset, other, c)
		}
		commodities[c] = asset
	}
	if view.Commodity("USDC") != "USDC" || view.Commodity("USDC.E") != "USDC.E" {
		t.Error("what beancount takes is mapped")
	}
}

// TestBooksBalances holds that the real programs add up many decimals to the last one.
func TestBooksBalances(t *testing.T) {
	var list []*books.Entry
	want := decimal.Zero
	for i := range 200 {
		amount := fmt.Sprintf("%d.%018d", i*7919, i*104729+1)
		e := booksEntry(i, fmt.Sprint("t-", i), "ETH", amount)
		e.Postings[0].Profile, e.Postings[1].Profile = "plain", "out"
		list = append(list, e)
		want = want.Sub(e.Total)
	}
	is := func(t *testing.T, out string) {
		t.Helper()
		if !strings.Contains(out, want.String()) {
			t.Errorf("the balance is not %s but\n%s", want, out)
		}
	}
	t.Run("hledger", func(t *testing.T) {
		is(t, tool(t, written(t, view.BooksHledger, list), "journal", "hledger", "-f", "FILE", "balance", "-N", "Assets:Remit:Treasury"))
	})
	t.Run("ledger", func(t *testing.T) {
		is(t, tool(t, written(t, view.BooksLedger, list), "ledger", "ledger", "-f", "FILE", "balance", "Assets:Remit:Treasury"))
	})
	t.Run("beancount", func(t *testing.T) {
		content := written(t, view.BooksBeancount, list)
		tool(t, content, "beancount", "bean-check", "FILE")
		is(t, tool(t, content, "beancount", "bean-query", "-q", "FILE", "select sum(position) where account = 'Assets:Remit:Treasury'"))
	})
}
