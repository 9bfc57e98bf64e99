package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"pgregory.net/rapid"

	"remit/config"
	"remit/internal/proof/suite"
)

// TestWhatIsWrittenIsWhatItEvaluatesTo compares blocks whose arguments are text, references and
// objects of text with the same ones in parentheses, which are evaluated like any expression.
func TestWhatIsWrittenIsWhatItEvaluatesTo(t *testing.T) {
	dir := t.TempDir()
	transfers, mistakes := 0, 0
	suite.CheckUntil(t, func() bool { return transfers >= 25 && mistakes >= 25 }, func(rt *rapid.T) {
		written, evaluated := drawWritten(rt)
		load := func(source string) (transfers, mistakes []string) {
			write(t, dir, "main.hcl", []byte(source))
			c, diags := config.Load(dir, config.Options{})
			if !diags.HasErrors() {
				for transfer, more := range c.Transfers(t.Context()) {
					diags = append(diags, more...)
					if len(more) == 0 {
						transfers = append(transfers, fmt.Sprintf("%+v %s", transfer, transfer.Request.Body()))
					}
				}
			}
			return transfers, withoutColumns(diags)
		}
		want, wantMistakes := load(evaluated)
		got, gotMistakes := load(written)
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatalf("written, it means something else (-evaluated +written):\n%s\n%s", diff, written)
		}
		if diff := cmp.Diff(wantMistakes, gotMistakes); diff != "" {
			rt.Fatalf("written, it has other mistakes (-evaluated +written):\n%s\n%s", diff, written)
		}
		transfers += len(got)
		mistakes += len(gotMistakes)
	})
	t.Logf("%d transfers and %d mistakes", transfers, mistakes)
}

// drawWritten makes a configuration twice: the second has its values in parentheses.
func drawWritten(t *rapid.T) (written, evaluated string) {
	const head = `
service {
  base_url        = "https://api.example.com"
  fingerprint_key = "print"
}
asset "USD" { scale = 2 }
variable "text" { default = "t" }
variable "list" { default = ["a", "b"] }
variable "secret" {
  default   = "s"
  sensitive = true
}
variable "none" { default = null }
locals {
  hidden = sensitive("h")
  object = { profile_id = "L" }
}
profile "a" { profile_id = "A" }
profile "b" {
  profile_id  = "B"
  identity_id = "I"
}
batch "b" { not_before = "2026-11-27T09:00:00Z" }
window "w" {
  timezone = "UTC"
  from     = "09:00"
  to       = "17:00"
}
`
	odd, oddMetadata := false, false // or all of it is as it should be
	switch rapid.IntRange(0, 2).Draw(t, "is odd") {
	case 1:
		odd = true
	case 2:
		oddMetadata = true
	}
	pick := func(name string, plain, more []string) string {
		if (odd || oddMetadata && strings.HasPrefix(name, "pair")) && rapid.IntRange(0, 2).Draw(t, name+" is odd") == 0 {
			plain = more
		}
		return rapid.SampledFrom(plain).Draw(t, name)
	}
	values := []string{
		`""`, `" x"`, "\"a\u202eb\"", "\"e\u0301\"", `"` + strings.Repeat("ß", 101) + `"`, "null", "true", "5",
		"var.text", "var.list", "var.secret", "var.none", "var.gone", "local.hidden", "local.object", "profile.a", "profile.a.profile_id", "local.object.profile_id", "profile.c", `profile["b"]`, "profile", "batch.b", "window.w",
		`{ profile_id = "C" }`, "{}", `["a"]`, `"${var.text}"`, `"1.505"`, `"-1"`, "each.key",
	}
	keys := []string{`"e f"`, `"print"`, "print", `""`, `"a"`, "a", "true", "é", "\"e\u0301\"", `"` + strings.Repeat("k", 101) + `"`}
	object := func() string {
		var pairs []string
		for i := range rapid.IntRange(0, 7).Draw(t, "pairs") {
			key := pick("pair's key", []string{fmt.Sprintf("k%d", i)}, keys)
			pairs = append(pairs, key+" = "+pick("pair's value", []string{`"x"`, `"y z"`, `"é"`}, values))
		}
		return "{\n    " + strings.Join(pairs, "\n    ") + "\n  }"
	}
	var a, b strings.Builder
	a.WriteString(head)
	b.WriteString(head)
	for i := range rapid.IntRange(1, 4).Draw(t, "blocks") {
		header := fmt.Sprintf("transfer %q \"t%d\" {\n", pick("operation", []string{"internal", "platform"}, []string{"internal"}), i)
		a.WriteString(header)
		b.WriteString(header)
		argument := func(name, value string) {
			fmt.Fprintf(&a, "  %s = %s\n", name, value)
			fmt.Fprintf(&b, "  %s = (%s)\n", name, value)
		}
		maybe := func(name string, plain ...string) {
			if rapid.IntRange(0, 3).Draw(t, "has "+name) == 0 {
				argument(name, pick(name, plain, values))
			}
		}
		argument("from", pick("from", []string{"profile.a"}, values))
		argument("to", pick("to", []string{"profile.b"}, values))
		argument("amount", pick("amount", []string{`"1.50"`, `"7"`}, values))
		argument("asset", pick("asset", []string{`"USD"`, `"JPY"`}, values))
		if rapid.Bool().Draw(t, "has metadata") {
			argument("metadata", object())
		}
		if rapid.IntRange(0, 5).Draw(t, "has more metadata") == 0 {
			argument("recipient_metadata", object())
		}
		maybe("ref_id", fmt.Sprintf(`"r-%d"`, i))
		maybe("batch", "batch.b")
		maybe("not_before", `"2026-11-28T09:00:00Z"`)
		maybe("expires", `"2027-11-28T09:00:00Z"`)
		maybe("duplicate_within", `"10d"`)
		a.WriteString("}\n")
		b.WriteString("}\n")
	}
	return a.String(), b.String()
}

// withoutColumns are diagnostics in words, with their lines.
func withoutColumns(diags hcl.Diagnostics) []string {
	var lines []string
	for _, d := range diags {
		line := 0
		if d.Subject != nil {
			line = d.Subject.Start.Line
		}
		lines = append(lines, fmt.Sprintf("%d %s: %s", line, d.Summary, d.Detail))
	}
	return lines
}
