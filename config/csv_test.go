package config_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"pgregory.net/rapid"

	"remit/config"
)

// paid is payroll with arguments in its data block.
func paid(arguments ...string) []byte {
	return []byte(strings.Replace(payroll, `key  = "id"`, `key = "id"`+"\n"+strings.Join(arguments, "\n"), 1))
}

// saysOf loads a directory and tells its transfers and mistakes.
func saysOf(t interface{ Fatal(args ...any) }, dir string) []string {
	c, diags := config.Load(dir, config.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return told(c.Transfers(context.Background()))
}

// TestEncodingsMeanTheSame writes one file in every encoding: it declares the same, and its
// mistakes stand at the same places of its text.
func TestEncodingsMeanTheSame(t *testing.T) {
	dir := t.TempDir()
	encodings := map[string]encoding.Encoding{
		"windows-1252": charmap.Windows1252,
		"utf-16":       unicode.UTF16(unicode.BigEndian, unicode.UseBOM),
		"utf-16le":     unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM),
		"utf-16be":     unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM),
	}
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringMatching(`[ -~éßÄ€\n]{0,12}`)
		var file strings.Builder
		w := csv.NewWriter(&file)
		w.UseCRLF = rapid.Bool().Draw(rt, "CRLF")
		_ = w.Write([]string{"id", "to", "net", "note"})
		for i := range rapid.IntRange(1, 20).Draw(rt, "rows") {
			net := rapid.SampledFrom([]string{"1.00", "2.00", "3", "1,00", "€ 5"}).Draw(rt, "net")
			_ = w.Write([]string{fmt.Sprint(i), "B-" + text.Draw(rt, "to"), net, text.Draw(rt, "note")})
		}
		w.Flush()
		write(t, dir, "main.hcl", paid())
		write(t, dir, "pay.csv", []byte(file.String()))
		want := saysOf(rt, dir)
		for name, encoding := range encodings {
			encoded, err := encoding.NewEncoder().String(file.String())
			if err != nil {
				rt.Fatal(err)
			}
			write(t, dir, "main.hcl", paid(fmt.Sprintf("encoding = %q", name)))
			write(t, dir, "pay.csv", []byte(encoded))
			if diff := cmp.Diff(want, saysOf(rt, dir)); diff != "" {
				rt.Errorf("in %s it says something else (-utf-8 +%s):\n%s", name, name, diff)
			}
		}
	})
}

// TestDelimiterThatIsFoundOutIsTheOneWritten reads files with and without saying the delimiter.
// Where another delimiter gives the header a column of the key as well, remit asks.
func TestDelimiterThatIsFoundOutIsTheOneWritten(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringMatching(`[a-z,;|\t" \n]{0,8}`)
		var file strings.Builder
		w := csv.NewWriter(&file)
		w.Comma = rapid.SampledFrom([]rune{',', ';', '\t', '|'}).Draw(rt, "delimiter")
		other := rapid.OneOf(text, rapid.SampledFrom([]string{"id,", "id;", "id\t", "y|id|"})).Draw(rt, "other") + "x"
		header := rapid.Permutation([]string{"id", "to", "net", "note", other}).Draw(rt, "header")
		_ = w.Write(header)
		for i := range rapid.IntRange(0, 5).Draw(rt, "rows") {
			var fields []string
			for _, name := range header {
				value := map[string]string{"id": fmt.Sprint(i), "to": "B", "net": "1.00", "note": text.Draw(rt, "note")}[name]
				fields = append(fields, value)
			}
			_ = w.Write(fields)
		}
		w.Flush()
		write(t, dir, "pay.csv", []byte(file.String()))
		says := func(source []byte) []string {
			write(t, dir, "main.hcl", source)
			c, diags := config.Load(dir, config.Options{})
			if diags.HasErrors() {
				return []string{diags[0].Summary, fmt.Sprint(diags[0].Subject)}
			}
			return told(c.Transfers(context.Background()))
		}
		want := says(paid(fmt.Sprintf("delimiter = %q", string(w.Comma))))
		if ways := waysToHave("id", file.String()); ways > 1 {
			want = []string{"Delimiter is not clear", "pay.csv:1,1-1"}
		}
		if diff := cmp.Diff(want, says(paid())); diff != "" {
			rt.Errorf("(-said +found out):\n%s\n%s", diff, file.String())
		}
	})
}

// waysToHave counts the delimiters by which the header of a file has a column.
func waysToHave(column, file string) (ways int) {
	for _, delimiter := range ",;\t|" {
		r := csv.NewReader(strings.NewReader(file))
		r.Comma = delimiter
		if header, err := r.Read(); err == nil && len(header) > 1 && slices.Contains(header, column) {
			ways++
		}
	}
	return ways
}

// TestRowsThatAreLeftOut reads a file with titles above and totals below: it declares what the
// file without them does, two lines higher.
func TestRowsThatAreLeftOut(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		last := rapid.IntRange(0, 4).Draw(rt, "last")
		rows := rapid.IntRange(0, 6).Draw(rt, "rows")
		var body strings.Builder
		for i := range rows {
			fmt.Fprintf(&body, "%d,B-%d,1.00,\"a\nb%s\"\n", i, i, rapid.StringMatching(`[é\n]{0,3}`).Draw(rt, "note"))
			body.WriteString(rapid.SampledFrom([]string{"", "\n", ",,,\n"}).Draw(rt, "blank"))
		}
		tail := strings.Repeat("Total,,9.99\n", last)
		write(t, dir, "main.hcl", paid("skip_first = 2", "skip_last = 0"))
		write(t, dir, "pay.csv", []byte("\"x\n\nid,to,net,note\n"+body.String()))
		want := saysOf(rt, dir)
		write(t, dir, "main.hcl", paid("skip_first = 2", fmt.Sprintf("skip_last = %d", last)))
		write(t, dir, "pay.csv", []byte("\"x\n\nid,to,net,note\n"+body.String()+tail))
		if diff := cmp.Diff(want, saysOf(rt, dir)); diff != "" || len(want) != max(rows, 1) { // a file without rows is a warning
			rt.Errorf("%d rows (-without +with):\n%s", len(want), diff)
		}
	})
}

// TestLinesThatEndAsOnOldComputers reads carriage returns alone: all would be one header without
// rows, and nobody would be paid.
func TestLinesThatEndAsOnOldComputers(t *testing.T) {
	dir := t.TempDir()
	for file, isRead := range map[string]bool{
		"id,to,net,note\r1,B,1.00,x\r":     false,
		"x\rid,to,net,note\r1,B,1.00,x":    false,
		"id,to,net,note\r\n1,B,1.00,x\r\n": true,
		"id,to,net,note\n1,B,1.00,x\r":     true,
		"id,to,net,note\r":                 true,
	} {
		write(t, dir, "main.hcl", paid(`columns = { id = "id", to = "to", net = "net", note = "to" }`))
		write(t, dir, "pay.csv", []byte(file))
		_, diags := config.Load(dir, config.Options{})
		if diags.HasErrors() == isRead {
			t.Errorf("%q: %v", file, diags)
		} else if !isRead && diags[0].Summary != "All of the file is one line" {
			t.Errorf("%q: %v", file, diags)
		}
	}
}

// TestTextThatItsEncodingLacksIsRefused has bytes that are no character: a payee would have another ID than the file says.
func TestTextThatItsEncodingLacksIsRefused(t *testing.T) {
	dir := t.TempDir()
	wide := func(text string) string {
		encoded, err := unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewEncoder().String(text)
		if err != nil {
			t.Fatal(err)
		}
		return encoded
	}
	for file, test := range map[string]struct{ encoding, want string }{
		"id,to,net,note\n1,B\x80,1.00,x\n":                           {"windows-1252", ""},
		"id,to,net,note\n1,B\x81,1.00,x\n":                           {"windows-1252", "pay.csv:2,3-5"},
		"id,to,net,note,\x81\n1,B,1.00,x,\n":                         {"windows-1252", "pay.csv:1,16-17"},
		wide("id,to,net,note\n1,B") + "\xac\x20" + wide(",1.00,x\n"): {"utf-16le", ""},
		wide("id,to,net,note\n1,B") + "\x00\xd8" + wide(",1.00,x\n"): {"utf-16le", "pay.csv:2,3-5"},
	} {
		write(t, dir, "main.hcl", paid(fmt.Sprintf("encoding = %q", test.encoding)))
		write(t, dir, "pay.csv", []byte(file))
		got := ""
		for _, d := range refusals(dir) {
			got += fmt.Sprint(d.Subject)
			if d.Summary != "File is not in its encoding" {
				t.Errorf("%q: %v", file, d)
			}
		}
		if got != test.want {
			t.Errorf("%q is refused at %q, want %q", file, got, test.want)
		}
	}
}

// refusals are all mistakes of a directory.
func refusals(dir string) hcl.Diagnostics {
	c, diags := config.Load(dir, config.Options{})
	if diags.HasErrors() {
		return diags
	}
	_, more := all(c)
	return append(diags, more...)
}

// FuzzCSV reads any bytes with any arguments: nothing panics, and every declared transfer can be sent.
func FuzzCSV(f *testing.F) {
	f.Add([]byte("id,to,net,note\n1,B,1.00,x\n"), "utf-8", ",", "1,234.56", 0, 0)
	f.Add([]byte("\xff\xfei\x00d\x00;\x00t\x00o\x00\n\x00"), "utf-16", "", "1.234,56", 0, 1)
	f.Add([]byte("T\n\nid;to;net;note\n1;B\xfc;1.000,50;\n;;;\nSum;;1;\n"), "windows-1252", "", "1.234,56", 2, 1)
	f.Add([]byte("id|to|net|note\n\"1\n2\"|B|1|\"x\"\"\"\n"), "utf-8", "|", "1234,56", 0, 3)
	f.Fuzz(func(t *testing.T, file []byte, encoding, delimiter, format string, first, last int) {
		dir := t.TempDir()
		arguments := []string{
			fmt.Sprintf("encoding = %q", encoding), fmt.Sprintf("number_format = { net = %q }", format),
			fmt.Sprintf("skip_first = %d", first), fmt.Sprintf("skip_last = %d", last),
		}
		if delimiter != "" {
			arguments = append(arguments, fmt.Sprintf("delimiter = %q", delimiter))
		}
		write(t, dir, "main.hcl", paid(arguments...))
		write(t, dir, "pay.csv", file)
		sound(t, dir)
	})
}

// sound loads a directory with any data file: a mistake has a place that its file has,
// every declared transfer can be sent, and the same file means the same transfers again.
func sound(t *testing.T, dir string) {
	defer time.AfterFunc(hangs, func() { panic("it hangs") }).Stop()
	requests, c, diags := loaded(t, dir)
	if again, _, more := loaded(t, dir); !slices.Equal(requests, again) || diags.Error() != more.Error() {
		t.Errorf("read again, it is another: %q, %v; first %q, %v", again, more, requests, diags)
	}
	files := c.Files()
	for _, d := range diags {
		if d.Summary == "" || d.Detail == "" || d.Subject == nil && len(d.Detail) == 0 {
			t.Errorf("a mistake without words: %#v", d)
		}
		if d.Subject != nil && (d.Subject.Start.Line < 1 || d.Subject.Start.Column < 1 || d.Subject.End.Byte < d.Subject.Start.Byte) {
			t.Errorf("a mistake at no place: %v %s", d.Subject, d.Summary)
		}
		if file := files[d.Subject.Filename]; file != nil && d.Subject.Start.Byte > len(file.Bytes) {
			t.Errorf("a mistake after the end of its file: %v %s", d.Subject, d.Summary)
		}
	}
}

// loaded is the requests of a directory, and its mistakes.
func loaded(t *testing.T, dir string) (requests []string, c *config.Configuration, diags hcl.Diagnostics) {
	if c, diags = config.Load(dir, config.Options{}); diags.HasErrors() {
		return nil, c, diags
	}
	for transfer, more := range c.Transfers(context.Background()) {
		if diags = append(diags, more...); len(more) > 0 {
			continue
		}
		r := transfer.Request
		requests = append(requests, string(r.Body()))
		if r.RefID == "" || r.Amount.IsZero() || r.ToProfileID == "" || transfer.Place.Line < 1 {
			t.Errorf("a transfer that can't be sent: %s", r.Body())
		}
	}
	return requests, c, diags
}
