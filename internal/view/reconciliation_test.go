package view_test

import (
	"bytes"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"

	"remit/internal/accounts/reconcile"
	"remit/internal/proof/suite"
	"remit/internal/transfer"
	"remit/internal/view"
	"remit/state"
)

// reconciled is a reconciliation with a line of every break, with text wherever any can be.
func reconciled(text string) (*reconcile.Summary, view.ReconciliationOptions) {
	at := time.Date(2026, 11, 3, 9, 0, 0, 0, time.UTC)
	side := func(direction transfer.Direction) *reconcile.Side {
		return &reconcile.Side{Place: text, Record: transfer.Record{
			ID: text, CustomerID: text, ProfileID: text, Amount: "10.01", Asset: text, Direction: direction, Type: transfer.RecordType(text),
			Status: transfer.RecordStatus(text), RefID: text, GroupID: text, CreatedAt: at,
		}}
	}
	row := state.Transfer{RefID: text, Status: state.Recorded, RecordStatus: transfer.RecordStatus(text), RecordID: text, RunID: text}
	item := reconcile.Item{
		RefID: text, GroupID: text, Asset: text, Amount: "10.00", State: &row, Batch: text, Stored: at,
		Debit: side(transfer.Debit), Credit: side(transfer.Credit), More: []reconcile.Side{*side(transfer.Debit)}, Reason: text, Next: text,
		Differences: []reconcile.Difference{
			{Difference: transfer.Difference{Field: text, Asked: text, Answered: text}, Side: transfer.Debit, Place: text},
			{Difference: transfer.Difference{Field: "amount", Asked: "10.00", Answered: "10.01"}, Side: transfer.Credit, Place: text, Accepted: true},
		},
	}
	total := transfer.Total{Asset: text, Count: 3, Sum: decimal.RequireFromString("30.03")}
	s := &reconcile.Summary{
		From: at, Until: at.AddDate(0, 0, 9), Batch: text, DebitsOnly: true, Records: 12, First: at, Last: at,
		Matched: 5, Accepted: 1, Pending: 1, Outside: 2, NotMade: 3, OutOfPeriod: 4, OtherBatch: 5,
		OtherTypes: map[transfer.RecordType]int{"WIRE_DEPOSIT": 7}, Breaks: map[reconcile.Break]int{}, Gravest: map[reconcile.Break]int{},
		Lists:  map[reconcile.Break][]reconcile.Item{},
		Assets: []reconcile.AssetTotals{{Asset: text, State: total, Debits: transfer.Total{Asset: text, Count: 4, Sum: decimal.RequireFromString("40.04")}, Credits: total}},
	}
	accepted := item
	accepted.Result = reconcile.Accepted
	s.AcceptedLines = []reconcile.Item{accepted}
	for _, b := range reconcile.Breaks() {
		broken := item
		broken.Result, broken.Breaks = reconcile.Differs, []reconcile.Break{b, reconcile.Duplicate}
		s.Lists[b], s.Gravest[b] = []reconcile.Item{broken}, 1
		s.Breaks[b]++
		s.Differ++
	}
	return s, view.ReconciliationOptions{
		Meta:  state.Meta{Environment: text, Lineage: text, Service: state.Identity{BaseURL: text, Operator: text, ClientID: text}},
		Files: []view.ReconciledFile{{Name: text, Records: 12}}, Command: text,
	}
}

// reconciledFaces are the faces of a reconciliation, by the ending of their goldens.
func reconciledFaces(b *bytes.Buffer, s *reconcile.Summary, o view.ReconciliationOptions) map[string]func() error {
	faces := map[string]func() error{
		"md":   func() error { return view.ReconciliationMarkdown(b, s, o) },
		"html": func() error { return view.ReconciliationHTML(b, s, o) },
		"csv": func() error {
			c := view.NewReconciliationCSV(b)
			var err error
			for _, reason := range reconcile.Breaks() {
				for i := range s.Lists[reason] {
					err = errors.Join(err, c.Line(&s.Lists[reason][i]))
				}
			}
			return errors.Join(err, c.End(s, o))
		},
		"jsonl": func() error {
			j := view.NewJSON(b, "1.0.0")
			for _, reason := range reconcile.Breaks() {
				for i := range s.Lists[reason] {
					if err := j.Reconciled(&s.Lists[reason][i]); err != nil {
						return err
					}
				}
			}
			return j.Reconciliation(s, o)
		},
	}
	for ending, screen := range screens() {
		faces[ending] = func() error {
			o.Screen = screen
			return view.Reconciliation(b, s, o)
		}
	}
	return faces
}

func reconciledText(t *testing.T, face, text string) string {
	t.Helper()
	var b bytes.Buffer
	s, o := reconciled(text)
	if err := reconciledFaces(&b, s, o)[face](); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestReconciliationOnEveryFace(t *testing.T) {
	for face := range reconciledFaces(nil, nil, view.ReconciliationOptions{}) {
		t.Run(face, func(t *testing.T) {
			golden(t, "reconciliation/text."+face, []byte(withoutSources(reconciledText(t, face, "some text"))))
		})
	}
}

func TestReconciliationBeginsWithItsEnvironment(t *testing.T) {
	for _, face := range []string{"80.txt", "md"} {
		if first, _, _ := strings.Cut(reconciledText(t, face, "production"), "\n"); !strings.Contains(first, "Environment:") || !strings.Contains(first, "production") {
			t.Errorf("%s begins with %q", face, first)
		}
	}
}

// No face lets a text become anything but text.
func checkReconciled(t *testing.T, text string) {
	t.Helper()
	for _, face := range []string{"80.txt", "140.txt", "md", "html", "jsonl"} {
		checkShown(t, reconciledText(t, face, text))
	}
	checkCSV(t, reconciledText(t, "csv", text))
	numbers := regexp.MustCompile(`\d+( more (lines?|characters))?`)
	want := numbers.ReplaceAllString(outsideCode(t, reconciledText(t, "md", "benign-text")), "N")
	if diff := cmp.Diff(want, numbers.ReplaceAllString(outsideCode(t, reconciledText(t, "md", text)), "N")); diff != "" {
		t.Errorf("other Markdown of %.100q (-want +got):\n%s", text, diff)
	}
	if diff := cmp.Diff(elements(reconciledText(t, "html", "benign-text")), elements(reconciledText(t, "html", text))); diff != "" {
		t.Errorf("other elements with %.100q (-want +got):\n%s", text, diff)
	}
	own := []string{"  ", "Environment: ", "20 of ", "19 of ", "As a person", "To see every one:"}
	for line := range strings.SplitSeq(reconciledText(t, "80.txt", text), "\n") {
		isOwn := slices.ContainsFunc(own, func(start string) bool { return strings.HasPrefix(line, start) })
		if line != "" && !isOwn && !regexp.MustCompile(`^[A-Z][A-Za-z_', ]+: 1$`).MatchString(line) {
			t.Errorf("a line of its own: %q", line)
		}
	}
}

func TestReconciliationOfHostileText(t *testing.T) {
	suite.Slow(t)
	for _, text := range []string{
		hostile, hostileMarkup, "=1+1", "@SUM(1)", "a\n=1", "`", "a|b", "<b>", "```\n# h", "</details>", "</script>", `" onload="x`, "%", "\x00", "</style>",
		strings.Repeat("N", 64<<10), strings.Repeat("<b>", 20<<10), strings.Repeat("`", 300), strings.Repeat("~word ", 40), " remit apply",
	} {
		checkReconciled(t, strings.ToValidUTF8(text, "?"))
	}
}

func TestReconciliationReturnsErrorsOfItsWriter(t *testing.T) {
	s, o := reconciled("text")
	for name, err := range map[string]error{
		"terminal": view.Reconciliation(brokenWriter{}, s, o),
		"markdown": view.ReconciliationMarkdown(brokenWriter{}, s, o),
		"html":     view.ReconciliationHTML(brokenWriter{}, s, o),
		"json":     view.NewJSON(brokenWriter{}, "").Reconciliation(s, o),
	} {
		if !errors.Is(err, errBroken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReconciliationFitsANarrowTerminal(t *testing.T) {
	var b bytes.Buffer
	s, o := reconciled("production")
	o.Screen = view.Screen{Width: 60, Terminal: true}
	if err := view.Reconciliation(&b, s, o); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if strings.Contains(line, "debits - state") && strings.Contains(line, "credits") || strings.Contains(line, "  asset  ") {
			t.Errorf("all sides of an asset are on one line, which a terminal breaks within words:\n%s", line)
		}
	}
	if !strings.Contains(b.String(), "debits - state") {
		t.Error("the difference is missing")
	}
}

// TestSumsThatDoNotAgreeAreSaid has no transfer that differs, and debits that are not what the state has.
func TestSumsThatDoNotAgreeAreSaid(t *testing.T) {
	s, o := reconciled("EUR")
	s.Differ, s.Gravest, s.Lists, s.Breaks = 0, nil, nil, nil
	var b bytes.Buffer
	for face, write := range reconciledFaces(&b, s, o) {
		b.Reset()
		if err := write(); err != nil {
			t.Fatal(err)
		}
		want := "the sum of the debits is not that of the state: action needed"
		switch face {
		case "csv":
			continue // it has transfers alone
		case "jsonl":
			want = `"agrees":false`
		}
		if text := strings.Join(strings.Fields(b.String()), " "); !strings.Contains(text, want) {
			t.Errorf("%s does not say so:\n%s", face, text)
		}
	}
}
