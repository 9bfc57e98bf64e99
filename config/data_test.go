package config_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"remit/config"
	"remit/config/mistake"
	"remit/internal/proof/suite"
)

// payroll declares a transfer for each row of pay.csv.
const payroll = `
data "csv" "pay" {
  file = "pay.csv"
  key  = "id"
}
transfer "internal" "pay" {
  for_each        = data.csv.pay.rows
  ref_id          = "pay-${each.key}"
  from_profile_id = "A-1"
  to_profile_id   = each.value.to
  amount          = each.value.net
  asset           = "USD"
  metadata        = { note = each.value.note }
}
`

// TestRowsMeanWhatTheySay writes random rows, in the many ways that programs do, and reads
// them back as transfers.
func TestRowsMeanWhatTheySay(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "main.hcl", []byte(payroll))
	rapid.Check(t, func(t *rapid.T) {
		note := rapid.StringMatching(`[ -~éß漢]{0,20}`)
		n := rapid.IntRange(0, 30).Draw(t, "rows")
		lineEnd := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "line end")
		var file strings.Builder
		file.WriteString(rapid.SampledFrom([]string{"", "\ufeff"}).Draw(t, "mark"))
		file.WriteString("id,to,net,note" + lineEnd)
		var want []string
		line := 2
		for i := range n {
			if rapid.IntRange(0, 9).Draw(t, "blank") == 0 {
				file.WriteString(lineEnd)
				line++
			}
			text := note.Draw(t, "note")
			fmt.Fprintf(&file, `%d,B-%d,%d.50,"%s"%s`, i, i, i+1, strings.ReplaceAll(text, `"`, `""`), lineEnd)
			want = append(want, fmt.Sprintf("pay.csv:%d pay-%d B-%d %d.50 %s", line, i, i, i+1, norm.NFC.String(text)))
			line++
		}
		if err := os.WriteFile(filepath.Join(dir, "pay.csv"), []byte(file.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		c, diags := config.Load(dir, config.Options{})
		if diags.HasErrors() {
			t.Fatal(diags.Errs())
		}
		transfers, diags := all(c)
		if diags.HasErrors() {
			t.Fatal(diags.Errs())
		}
		var got []string
		for _, transfer := range transfers {
			if transfer.Address == "" {
				continue // the warning that there are no rows
			}
			r := transfer.Request
			note, _ := r.Metadata.Get("note")
			got = append(got, fmt.Sprintf("%s %s %s %s %s", transfer.Place, r.RefID, r.ToProfileID, r.Amount, note))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

// TestMistakesOfRowsStandAtTheirField puts one wrong amount into random rows; the range of
// its diagnostic must cut exactly that field out of the file.
func TestMistakesOfRowsStandAtTheirField(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "main.hcl", []byte(strings.ReplaceAll(payroll, `"csv"`, `"csv"`)))
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[ -~é漢\n]{0,12}`)
		n := rapid.IntRange(1, 40).Draw(t, "rows")
		bad := rapid.IntRange(0, n-1).Draw(t, "bad row")
		wrong := rapid.SampledFrom([]string{"1,200.00", "-5", "ü", `"`, "x y"}).Draw(t, "wrong")
		var file bytes.Buffer
		file.WriteString(rapid.SampledFrom([]string{"", "\ufeff"}).Draw(t, "mark"))
		w := csv.NewWriter(&file)
		w.UseCRLF = rapid.Bool().Draw(t, "CRLF")
		_ = w.Write([]string{"id", "name", "net", "to", "note"})
		start := 0
		for i := range n {
			net := "1.00"
			if i == bad {
				w.Flush()
				start, net = file.Len(), wrong
			}
			_ = w.Write([]string{fmt.Sprint(i), text.Draw(t, "name"), net, "B-1", text.Draw(t, "note")})
		}
		w.Flush()
		if err := os.WriteFile(filepath.Join(dir, "pay.csv"), file.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		c, diags := config.Load(dir, config.Options{})
		if diags.HasErrors() {
			t.Fatal(diags.Errs())
		}
		_, diags = all(c)
		var found *hcl.Diagnostic
		for _, d := range diags {
			if d.Summary == "Invalid amount" {
				found = d
			}
		}
		if found == nil {
			t.Fatalf("no mistake in %q: %v", file.String(), diags.Errs())
		}
		r := *found.Subject
		if !r.CanSliceBytes(file.Bytes()) || r.Start.Byte < start {
			t.Fatalf("%v is no range of the row at byte %d", r, start)
		}
		cut := string(r.SliceBytes(file.Bytes()))
		if quoted := `"` + strings.ReplaceAll(wrong, `"`, `""`) + `"`; cut != wrong && cut != quoted {
			t.Errorf("%v cuts out %q, want %q; file %q", r, cut, wrong, file.String())
		}
		before := file.Bytes()[:r.Start.Byte]
		line := before[bytes.LastIndexByte(before, '\n')+1:]
		if want := bytes.Count(before, []byte("\n")) + 1; r.Start.Line != want {
			t.Errorf("line %d, want %d", r.Start.Line, want)
		}
		if want := utf8.RuneCount(line) + 1; r.Start.Column != want {
			t.Errorf("column %d, want %d; line %q", r.Start.Column, want, line)
		}
		snippet := c.Files()["pay.csv"]
		if snippet == nil || !r.CanSliceBytes(snippet.Bytes) || string(r.SliceBytes(snippet.Bytes)) != cut {
			t.Error("the file that snippets are cut from lacks the field")
		}
	})
}

func TestMistakeInRow40000(t *testing.T) {
	var file strings.Builder
	file.WriteString("id,to,net,note\n")
	for i := 2; i <= 50_000; i++ {
		net := "1.00"
		if i == 40_000 {
			net = "1.005"
		}
		fmt.Fprintf(&file, "%d,B-1,%s,\n", i, net)
	}
	c := mustLoad(t, map[string]string{"main.hcl": payroll, "pay.csv": file.String()}, config.Options{})
	transfers, diags := all(c)
	if len(transfers) != 49_998 || len(diags) != 1 {
		t.Fatalf("%d transfers, %v", len(transfers), diags.Errs())
	}
	if got := fmt.Sprintf("%s: %s", diags[0].Subject, diags[0].Detail); !strings.HasPrefix(got, `pay.csv:40000,11-16: amount "1.005" has 3 decimals; USD has 2.`) {
		t.Error(got)
	}
}

func TestRowsHeldWhole(t *testing.T) {
	suite.Slow(t)
	var file strings.Builder
	file.WriteString("id,to,net,note\n")
	for i := range 100_001 {
		fmt.Fprintf(&file, "%d,B-1,1.00,\n", i)
	}
	held := "locals { n = length(data.csv.pay.rows) }\n"
	_, diags := load(t, map[string]string{"main.hcl": payroll + held, "pay.csv": file.String()}, config.Options{})
	if len(diags) != 1 || diags[0].Summary != "Too many rows to hold" || !strings.Contains(diags[0].Detail, "where") {
		t.Errorf("got %v", diags.Errs())
	}
	narrowed := strings.Replace(payroll, `key  = "id"`, "key = \"id\"\nwhere = row.id != \"7\"", 1)
	c := mustLoad(t, map[string]string{"main.hcl": narrowed + held, "pay.csv": file.String()}, config.Options{})
	if n, diags := c.Eval("local.n"); diags.HasErrors() || n.AsBigFloat().String() != "100000" {
		t.Errorf("got %#v, %v", n, diags)
	}
}

// TestStreamThatIsCutOffSaysSo makes sure that nobody takes a part for the whole.
func TestStreamThatIsCutOffSaysSo(t *testing.T) {
	var file strings.Builder
	file.WriteString("id,to,net,note\n")
	for i := range 5000 {
		fmt.Fprintf(&file, "%d,B-1,1.00,\n", i)
	}
	c := mustLoad(t, map[string]string{"main.hcl": payroll, "pay.csv": file.String()}, config.Options{})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	n := 0
	var mistakes mistake.Set
	for _, diags := range c.Transfers(ctx) {
		mistakes.Add(diags)
		if n++; n == 10 {
			cancel()
		}
	}
	if n > 2000 || !mistakes.HasErrors() {
		t.Errorf("%d transfers after the end of the context, mistakes: %v", n, mistakes.HasErrors())
	}
	if again, diags := all(c); len(again) != 5000 || diags.HasErrors() {
		t.Errorf("the second stream has %d transfers: %v", len(again), diags.Errs())
	}
}

func TestFileThatChangesSaysSo(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "main.hcl", []byte(payroll))
	write(t, dir, "pay.csv", []byte("id,to,net,note\n1,B-1,1.00,\n"))
	c, diags := config.Load(dir, config.Options{})
	if diags.HasErrors() {
		t.Fatal(diags.Errs())
	}
	for sentence, text := range map[string]string{
		"other columns": "id,net,to,note\n1,B-1,1.00,\n",
		"no rows left":  "",
	} {
		write(t, dir, "pay.csv", []byte(text))
		if transfers, diags := all(c); len(transfers) > 0 || !diags.HasErrors() {
			t.Errorf("%s: got %v", sentence, transfers)
		}
	}
	if err := os.Remove(filepath.Join(dir, "pay.csv")); err != nil {
		t.Fatal(err)
	}
	if transfers, diags := all(c); len(transfers) > 0 || !diags.HasErrors() {
		t.Errorf("no file: got %v", transfers)
	}
}

// TestOrderChangesNothing loads the same blocks from files of other names and in another
// order: the same transfers are declared.
func TestOrderChangesNothing(t *testing.T) {
	blocks := []string{
		`profile "a" { profile_id = local.id }`,
		`locals { id = "A-${var.n}" }`,
		`variable "n" { default = "1" }`,
		`transfer "internal" "one" {
  from = profile.a
  to_profile_id = "B-1"
  amount = "1.00"
  asset = "X"
  batch = batch.b
}`,
		`transfer "platform" "two" {
  for_each = toset([local.id, "z"])
  ref_id = "two-${each.key}"
  from_profile_id = "B-1"
  to = profile.a
  amount = "2.00"
  asset = "X"
  depends_on = [batch.b]
}`,
		`asset "X" { scale = 2 }`,
		`batch "b" { not_before = "2026-11-27T09:00:00Z" }`,
	}
	var want map[string]string
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "order")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = os.RemoveAll(dir) }()
		for _, block := range rapid.Permutation(blocks).Draw(t, "order") {
			name := rapid.SampledFrom([]string{"a.hcl", "b.hcl", "c.hcl"}).Draw(t, "file")
			file, err := os.OpenFile(filepath.Join(dir, name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(file, block)
			if err := file.Close(); err != nil {
				t.Fatal(err)
			}
		}
		c, diags := config.Load(dir, config.Options{})
		if diags.HasErrors() {
			t.Fatal(diags.Errs())
		}
		transfers, diags := all(c)
		if diags.HasErrors() {
			t.Fatal(diags.Errs())
		}
		got := map[string]string{}
		for _, x := range transfers {
			got[x.Address] = fmt.Sprintf("%s %s %s %v", x.Request.Body(), x.NotBefore, x.Batch, x.DependsOn)
		}
		if want == nil {
			want = got
		}
		if diff := cmp.Diff(want, got); diff != "" || len(got) != 3 {
			t.Fatal(diff, len(got))
		}
	})
}

// TestNothingIsToldOfAConfigurationWithMistakes makes sure that nobody takes the rest of
// a broken configuration for the whole.
func TestNothingIsToldOfAConfigurationWithMistakes(t *testing.T) {
	c, diags := load(t, map[string]string{"main.hcl": payroll + "profile \"x\" {}\n", "pay.csv": "id,to,net,note\n1,B-1,1.00,\n"}, config.Options{})
	transfers, more := all(c)
	if !diags.HasErrors() || len(transfers) > 0 || !more.HasErrors() {
		t.Errorf("got %v, %v", transfers, more.Errs())
	}
}

// TestCycleThroughARowIsToldEachTime streams twice: the batch of a row is known by then.
func TestCycleThroughARowIsToldEachTime(t *testing.T) {
	c := mustLoad(t, map[string]string{"main.hcl": `
batch "a" { depends_on = [transfer.internal.t] }
transfer "internal" "t" {
  for_each        = { one = "a" }
  ref_id          = each.key
  batch           = batch[each.value]
  from_profile_id = "A"
  to_profile_id   = "B"
  amount          = "1.00"
  asset           = "USD"
}
`}, config.Options{})
	for range 2 {
		if _, diags := all(c); len(diags) != 1 || diags[0].Summary != "Cycle" {
			t.Errorf("got %v", diags.Errs())
		}
	}
}

// TestReadingEndsWithTheLoop stops in the middle of rows, early and late: no goroutine is left,
// and the rows so far are those of the file, in its order.
func TestReadingEndsWithTheLoop(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "main.hcl", []byte(payroll))
	const rows = 5000
	var file strings.Builder
	file.WriteString("id,to,net,note\n")
	for i := range rows {
		fmt.Fprintf(&file, "%d,B,1.00,n\n", i)
	}
	write(t, dir, "pay.csv", []byte(file.String()))
	c, diags := config.Load(dir, config.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for _, stop := range []int{0, 1, 255, 256, 257, 2000, rows - 1, rows} {
		synctest.Test(t, func(t *testing.T) { // which waits for all goroutines
			next := 0
			for transfer, diags := range c.Transfers(t.Context()) {
				if next == stop {
					break
				}
				if want := fmt.Sprintf("pay-%d", next); diags.HasErrors() || transfer.Request.RefID != want {
					t.Fatalf("%q in place of %q: %v", transfer.Request.RefID, want, diags)
				}
				next++
			}
			if next != stop {
				t.Errorf("%d transfers before it stopped at %d", next, stop)
			}
		})
	}
}

// TestAMistakeInWhereShowsItsRow looks at the values that a snippet shows, after other rows
// were read.
func TestAMistakeInWhereShowsItsRow(t *testing.T) {
	dir := t.TempDir()
	source := strings.Replace(payroll, `= "id"`, `= "id"`+"\n  where = tonumber(row.net) > 1", 1)
	write(t, dir, "main.hcl", []byte(source))
	write(t, dir, "pay.csv", []byte("id,to,net,note\n1,B,wrong,n\n2,B,2.00,n\n3,B,3.00,n\n"))
	c, diags := config.Load(dir, config.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	_, diags = all(c)
	if len(diags) != 1 || diags[0].EvalContext == nil {
		t.Fatalf("mistakes: %v", diags)
	}
	if row := diags[0].EvalContext.Variables["row"]; row.GetAttr("id").AsString() != "1" {
		t.Errorf("it shows the row %#v", row)
	}
}
