package syntax_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"pgregory.net/rapid"

	"remit/config/syntax"
	"remit/internal/proof/suite"
)

// Of these plain source is made. Odd pieces are not plain, or looks like it and is a mistake.
var (
	plainLines   = []string{"\n", "\r\n", "  \n", "# a { \" comment é\n", "\t// another\r\n", "#\n"}
	plainHeaders = []string{"transfer \"internal\" \"a\" {", "\tb \"é\" c{", "x {", "x y \"\"  {", "x\"y\"{"}
	plainSigns   = []string{" = ", "=", "\t= \t"}
	plainEnds    = []string{"\n", " \n", "\r\n", "# c\n", " // why\r\n"}
	plainTexts   = []string{
		`""`, `"x"`, `"a { [ # // = ] }"`, `"é à ÿ"`, "\"tab\there\"", `"` + strings.Repeat("long ", 30) + `"`, "\"\x7f\"",
		`"${a}"`, `"a${ b.c }"`, `"${a} é ${b}"`, `"${a}${b}c"`, `"x-${var.period}-${each.key}"`, `"${true}"`, "\"${\ta}\"",
		"profile.a", "a", "a.b.c-d.e_1", "true", "false", "null", "nullable", "for1", "trueish.x",
	}
	oddTexts = []string{
		`"${~a}"`, `"a ${a ~} b"`, `"${a + b}"`, `"${"a"}"`, `"${a"`, `"$"`, `"a$b"`, `"$$"`, `"$${a}"`, `"$$${a}"`, `"${}"`, `"${a}$"`, `"${a}\n"`, "\"${\na}\"", `"${for}"`, `"${a[0]}"`, `"%${a}"`, `"é${a}e"`, "\"${a}\u0301\"", "\"a${b}\u0301\"", `"$${"`, `"%{ if a }b%{ endif }"`, `"100%"`, `"US$"`, `"a\"b"`, `"\u00e9"`, "\"e\u0301\"", "\"\u0301\"", `"日本"`, "\"\xff\"", "\"a\nb\"", "\"a\rb\"", `"`, "\"\u00ad\u200b\"",
		"1", "-a", "!a", "for", "for.x", "a.0", "a.*", "a . b", "a.true", "a[b]", "true.x", "null[0]", "f()", "a::b()", "...", "a.", "é", "aé", "a + b", "[for x in y : x]", "{ for x in y : x => x }",
		"(a)", "a.b[0]", "a ? b : c", "\"a\" \"b\"", "<<E\nx\nE", "", "= b", "> b",
	}
	oddPieces = []string{
		"\r", "\ufeff", "\x00", ";", "'", "/* c */", "/", "# the end", "#\xea\xd8\n", "# \xff\n", "1", "é", "\u0301", "{", "}", "[", "]", ",", "=", ">", ":", ".", "\"", "$", "\\", "\n", "a", " ",
		"a = 1\n", "x { a = \"1\" }\n", "x {}\n", "\"a\" = \"b\"\n", "a b = \"c\"\n",
	}
)

// drawPlain makes source that is plain, but for an odd piece or two.
func drawPlain(t *rapid.T) string {
	d := plainDrawer{t, rapid.SampledFrom(plainTexts)}
	odd := rapid.IntRange(0, 3).Draw(t, "odd")
	if odd == 1 {
		d.text = rapid.OneOf(d.text, d.text, d.text, d.text, rapid.SampledFrom(oddTexts))
	}
	source := d.body(0)
	for range max(odd-1, 0) {
		at := rapid.IntRange(0, len(source)).Draw(t, "at")
		source = source[:at] + d.of(oddPieces) + source[at:]
	}
	return source
}

type plainDrawer struct {
	t    *rapid.T
	text *rapid.Generator[string]
}

func (d plainDrawer) of(all []string) string { return rapid.SampledFrom(all).Draw(d.t, "piece") }

func (d plainDrawer) number(most int) int { return rapid.IntRange(0, most).Draw(d.t, "number") }

func (d plainDrawer) body(depth int) string {
	var b strings.Builder
	for i := range d.number(4) + 4 - 2*depth {
		switch kind := d.number(5); {
		case kind == 0:
			b.WriteString(d.of(plainLines))
		case kind == 1 && depth < 2, kind < 4 && depth == 0:
			b.WriteString(d.of(plainHeaders) + d.of(append(plainEnds, "")))
			if strings.HasSuffix(b.String(), "\n") {
				b.WriteString(d.body(depth + 1))
			}
			b.WriteString("}" + d.of(plainEnds))
		default:
			fmt.Fprintf(&b, "  a%d%s%s%s", i, d.of(plainSigns), d.expression(depth+1), d.of(plainEnds))
		}
	}
	return b.String()
}

func (d plainDrawer) expression(depth int) string {
	kind := d.number(7)
	if depth > 3 || kind > 1 {
		return d.text.Draw(d.t, "text")
	}
	blanks := append(plainEnds, "", " ", "\t")
	separators := []string{",", ", ", ",\n", " , # c\n"}
	isList := kind == 0
	if !isList {
		separators = append(separators, "\n", " \r\n", " # c\n  ")
	}
	var items []string
	for range d.number(3) {
		item := d.of(blanks)
		if !isList {
			item += d.of([]string{"a", `"b"`, "c-d", "true", "f.g", `""`, "for_", "null"}) + d.of(plainSigns)
		}
		item += d.expression(depth + 1)
		if isList {
			item += d.of(blanks)
		}
		items = append(items, item)
	}
	all := strings.Join(items, d.of(separators))
	if len(items) > 0 {
		all += d.of([]string{"", ",", "\n", ", "})
	}
	if isList {
		return "[" + all + "]"
	}
	return "{" + all + "}"
}

// TestPlainBlocksAreWhatTheyParseTo compares bodies of the plain parser with
// those of HCL's own, to the last place.
func TestPlainBlocksAreWhatTheyParseTo(t *testing.T) {
	blocks, attributes := 0, 0
	suite.CheckUntil(t, func() bool { return blocks >= 25 && attributes >= 25 }, func(t *rapid.T) {
		start := hcl.InitialPos
		if rapid.Bool().Draw(t, "in the middle of a file") {
			start = hcl.Pos{Line: 7, Column: 1, Byte: 211}
		}
		body := checkPlain(t, drawPlain(t), start)
		if body == nil {
			return
		}
		blocks += len(body.Blocks)
		for _, b := range body.Blocks {
			attributes += len(b.Body.Attributes)
		}
	})
	t.Logf("%d blocks with %d arguments were plain", blocks, attributes)
}

func FuzzPlain(f *testing.F) {
	for _, piece := range oddPieces {
		f.Add(piece)
		f.Add(strings.Join(plainLines, "") + plainHeaders[0] + "\n  a = \"b\"\n" + piece + "}\n")
	}
	for _, texts := range [][]string{plainTexts, oddTexts} {
		for _, text := range texts {
			f.Add("transfer internal \"x\" {\n  a =" + text + "\n  b = { c = " + text + ", \"d\" = [" + text + "] }\n}\n")
		}
	}
	f.Fuzz(func(t *testing.T, source string) { checkPlain(t, source, hcl.InitialPos) })
}

// checkPlain returns the body of source that is plain, else nil.
func checkPlain(t rapid.TB, source string, start hcl.Pos) *hclsyntax.Body {
	got, ok := syntax.ParsePlain([]byte(source), "main.hcl", start)
	if !ok {
		return nil
	}
	file, diags := hclsyntax.ParseConfig([]byte(source), "main.hcl", start)
	if len(diags) > 0 {
		t.Fatalf("it has a mistake, and is taken for plain: %v\n%q", diags, source)
	}
	if want := file.Body.(*hclsyntax.Body); !reflect.DeepEqual(want, got) {
		all := cmp.Exporter(func(reflect.Type) bool { return true })
		t.Fatalf("it means something else (-hclsyntax +plain):\n%s\n%q", cmp.Diff(want, got, all), source)
	}
	return got
}
