package lsp_test

import (
	"flag"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"remit/internal/proof/suite"
)

// pieces are what somebody may type, paste or break.
var pieces = []string{
	"{", "}", "\"", "${", "}\n", "\n", "[", "]", "(", ")", "<<EOT\n", "EOT\n", "#", "/*", "*/", " = ", ".", "each.value.", "data.csv.staff.rows", "var.", "local.x",
	"transfer \"internal\" \"x\" {\n", "locals {\n", "remit {\n", "asset = \"EUR\"\n", "é", "💰", "\u0301", "\ufeff", "\x00", "1e999999999", "%{ for", "profile[", "decimal_add(",
}

// editsFor is how long random edits go on; 0 for the dose of the run.
var editsFor = flag.Duration("edits.for", 0, "how long TestRandomEditsLeaveTheServerWell goes on")

// TestRandomEditsLeaveTheServerWell edits a configuration and its data file at random, and asks everything at any place. The server
// answers each time, and in the end shows what a fresh one shows of the same texts. By night it goes on for ten minutes.
func TestRandomEditsLeaveTheServerWell(t *testing.T) {
	t.Parallel()
	rounds := suite.Dose(5, 20, 200)
	methods := []string{"completion", "hover", "definition", "signatureHelp", "documentSymbol", "semanticTokens/full", "formatting", "codeLens", "diagnostic"}
	folder := t.TempDir()
	write(t, folder, map[string]string{"main.hcl": payroll, "staff.csv": staff, ".remit.lock.hcl": ""})
	e := newEditor(t, folder)
	e.openSaved("main.hcl")
	e.openSaved("staff.csv")
	places := rapid.Custom(func(r *rapid.T) position {
		return position{rapid.IntRange(0, 60).Draw(r, "line"), rapid.IntRange(0, 60).Draw(r, "character")}
	})
	check := func(property func(*rapid.T)) { suite.CheckSome(t, rounds, property) }
	if *editsFor > 0 {
		began := time.Now()
		check = func(property func(*rapid.T)) {
			suite.CheckUntil(t, func() bool { return time.Since(began) > *editsFor }, property)
		}
	}
	check(func(r *rapid.T) {
		texts := map[string]string{"main.hcl": payroll, "staff.csv": staff}
		for name, text := range texts {
			e.change(name, text)
		}
		for range rapid.IntRange(1, 12).Draw(r, "edits") {
			name := rapid.SampledFrom([]string{"main.hcl", "main.hcl", "main.hcl", "staff.csv"}).Draw(r, "file")
			from, length := rapid.IntRange(0, len(texts[name])).Draw(r, "from"), rapid.IntRange(0, 30).Draw(r, "length")
			to := min(from+length, len(texts[name]))
			for from > 0 && from < len(texts[name]) && !utf8.RuneStart(texts[name][from]) {
				from--
			}
			for to < len(texts[name]) && !utf8.RuneStart(texts[name][to]) {
				to++
			}
			text := rapid.OneOf(rapid.SampledFrom(pieces), rapid.SampledFrom(pieces), rapid.Just("")).Draw(r, "text")
			e.edit(name, object{"range": span{placeIn(texts[name], from), placeIn(texts[name], to)}, "text": text})
			texts[name] = texts[name][:from] + text + texts[name][to:]
			method := rapid.SampledFrom(methods).Draw(r, "method")
			e.call("textDocument/"+method, object{"textDocument": e.name(name), "position": places.Draw(r, "place"), "options": object{}}, nil)
		}
		got := map[string][]diagnostic{"main.hcl": e.diagnostics("main.hcl"), "staff.csv": e.diagnostics("staff.csv")}
		other := t.TempDir()
		write(t, other, texts)
		write(t, other, map[string]string{".remit.lock.hcl": ""})
		fresh := newEditor(t, other)
		for name := range texts {
			fresh.open(name, texts[name])
		}
		want := map[string][]diagnostic{"main.hcl": fresh.diagnostics("main.hcl"), "staff.csv": fresh.diagnostics("staff.csv")}
		fresh.stop()
		if diff := cmp.Diff(want, got); diff != "" {
			r.Fatalf("a fresh server (-) and this one (+) differ over\n%q\n%q\n%s", texts["main.hcl"], texts["staff.csv"], diff)
		}
	})
}

// placeIn counts lines, and units of UTF-16.
func placeIn(text string, offset int) position {
	p := position{}
	for _, c := range text[:offset] {
		switch {
		case c == '\n':
			p = position{p.Line + 1, 0}
		case c > 0xffff:
			p.Character += 2
		default:
			p.Character++
		}
	}
	return p
}
