package config_test

import (
	"context"
	"encoding/csv"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"pgregory.net/rapid"

	"remit/config"
	"remit/internal/proof/suite"
)

// TestCompiledAttributesCheckEachRow holds what a first, plain row does not show.
func TestCompiledAttributesCheckEachRow(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "main.hcl", []byte(strings.Replace(payroll, "each.value.note", `"e${each.value.note}"`, 1)))
	plain := "E-1,B-1,1.00,x\n"
	tests := map[string]struct {
		row   string
		wrong bool
	}{
		"text that is not in its normal form":   {"E-2,e\u0301,1.00,e\u0301", false},
		"a key that is not in its normal form":  {"e\u0301,B,1.00,x", false},
		"text that joins what stands before it": {"E-2,B,1.00,\u0301", false},
		"a value of 101 characters":             {"E-2,B,1.00," + strings.Repeat("ß", 100), true},
		"a value of 100 characters":             {"E-2,B,1.00," + strings.Repeat("ß", 99), false},
		"a hidden character":                    {"E-2,B,1.00,a\u202eb", true},
		"an empty destination":                  {"E-2,,1.00,x", true},
		"space at an end":                       {"E-2, B,1.00,x", true},
		"the sender as destination":             {"E-2,A-1,1.00,x", true},
		"too many decimals":                     {"E-2,B,1.005,x", true},
		"a sign":                                {"E-2,B,-1,x", true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			write(t, dir, "pay.csv", []byte("id,to,net,note\n"+plain+test.row+"\n"))
			c, diags := config.Load(dir, config.Options{})
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			blocks := 0
			got := told(config.Compiled(t.Context(), c, &blocks))
			if diff := cmp.Diff(told(config.Interpreted(t.Context(), c)), got); diff != "" || blocks != 1 {
				t.Errorf("%d compiled blocks (-evaluated +compiled):\n%s", blocks, diff)
			}
			if wrong := !strings.Contains(got[1], `"ref_id"`); wrong != test.wrong {
				t.Errorf("it is %s", got[1])
			}
		})
	}
}

// TestCompiledAttributesMeanWhatTheyEvaluateTo compares compiled blocks with the general
// evaluation, on random expressions over random rows, right and wrong ones.
func TestCompiledAttributesMeanWhatTheyEvaluateTo(t *testing.T) {
	dir := t.TempDir()
	compiled, transfers := 0, 0
	suite.CheckUntil(t, func() bool { return compiled >= 3 && transfers >= 100 }, func(rt *rapid.T) {
		write(t, dir, "main.hcl", []byte(randomBlock(rt)))
		write(t, dir, "pay.csv", []byte(randomRows(rt)))
		c, diags := config.Load(dir, config.Options{})
		if diags.HasErrors() {
			return // a mistake of the block, which has nothing to do with rows
		}
		want := told(config.Interpreted(context.Background(), c))
		got := told(config.Compiled(context.Background(), c, &compiled))
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatalf("compiled, the rows mean something else (-evaluated +compiled):\n%s", diff)
		}
		transfers += len(got)
	})
	t.Logf("%d blocks were compiled, for %d transfers", compiled, transfers)
}

// told are transfers and mistakes in words.
func told(all iter.Seq2[config.Transfer, hcl.Diagnostics]) []string {
	var lines []string
	for t, diags := range all {
		for _, d := range diags {
			lines = append(lines, fmt.Sprintf("%v %s: %s", d.Subject, d.Summary, d.Detail))
		}
		if len(diags) == 0 {
			lines = append(lines, fmt.Sprintf("%s %+v %s", t.Request.Fingerprint(), t, t.Request.Body()))
		}
	}
	return lines
}

func randomBlock(t *rapid.T) string {
	text := rapid.SampledFrom([]string{
		`each.key`, `each.value.a`, `each.value["b"]`, `"x-${each.key}"`, `"${each.value.b}"`, `"${each.value.a}${each.value.b}"`,
		`"p-${var.period}-${each.key}"`, `"n${var.number}-${each.value.b}"`, `("e${each.value.a}\u0301")`, `"same"`, `local.text`,
		`upper(each.value.a)`, `each.value.a == "" ? each.key : each.value.a`, `var.number`, `null`, `"${each.key}${local.text}"`, `each.value.net`,
		`each.value.a == "" ? null : each.value.a`, `"l${length(each.value.b)}-${upper(each.key)}"`, `length(each.value.a)`, `join("", values(each.value))`,
		`try(each.value["a"], each.key)`, `lookup({ x = 1, y = "e" }, each.value.a, null)`, `"${each.value.a == "" ? null : each.value.a}"`, `jsondecode(each.value.a)`,
	})
	var b strings.Builder
	b.WriteString(`
variable "period" {
  default = "2026-11"
}
variable "number" {
  default = 7
}
locals {
  text = "local"
}
data "csv" "pay" {
  file = "pay.csv"
  key  = "id"
}
batch "b" {
  not_before = "2026-11-27T09:00:00Z"
}
transfer "platform" "pay" {
  from_profile_id = "treasury"
`)
	argument := func(name, value string) { fmt.Fprintf(&b, "  %s = %s\n", name, value) }
	argument("for_each", rapid.SampledFrom([]string{
		`data.csv.pay.rows`, `data.csv.pay.rows`, `{ for row in csvdecode(file("pay.csv")) : row.id => row }`,
		`{ for i, row in csvdecode(file("pay.csv")) : row.id => i == 1 ? merge(row, { more = row.a }) : merge(row, { a = i == 2 ? null : row.a }) }`,
	}).Draw(t, "for_each"))
	argument("ref_id", rapid.OneOf(rapid.Just(`"r-${each.key}"`), text).Draw(t, "ref_id"))
	argument("to_profile_id", rapid.OneOf(rapid.Just(`each.value.a`), text).Draw(t, "to"))
	argument("amount", rapid.SampledFrom([]string{`each.value.net`, `"${each.value.net}"`, `"1${each.value.net}"`, `decimal_add(each.value.net, "1")`, `"5.00"`}).Draw(t, "amount"))
	argument("asset", rapid.SampledFrom([]string{`"USD"`, `"JPY"`, `each.value.asset`, `"${each.value.asset}"`}).Draw(t, "asset"))
	for _, name := range []string{"to_account_id", "from_identity_id", "display_name", "batch", "metadata", "recipient_metadata", "precondition"} {
		if rapid.IntRange(0, 1).Draw(t, name) > 0 {
			continue
		}
		switch name {
		case "batch":
			argument(name, "batch.b")
		case "precondition":
			b.WriteString("  precondition {\n    condition = " + rapid.SampledFrom([]string{`each.value.a != "x"`, `var.number == 7`, `length(each.value.b) < 5`, `each.value.a`, `null`, `each.value.net == "7" || each.key != "a"`}).Draw(t, "condition") +
				"\n    error_message = \"no ${var.period}\"\n  }\n")
		case "metadata", "recipient_metadata":
			more := rapid.SampledFrom([]string{"", `, a = null, c = each.value.a == "a" ? "c" : null, e = upper(each.key)`, `, a = null, b = null, c = each.value.a == "a" ? "c" : null, d = "d", e = "e"`}).Draw(t, "more")
			argument(name, fmt.Sprintf(`{ k = %s, "j-${var.period}" = %s%s }`, text.Draw(t, "value"), text.Draw(t, "value"), more))
		default:
			argument(name, text.Draw(t, name))
		}
	}
	b.WriteString("}\n")
	return b.String()
}

func randomRows(t *rapid.T) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write([]string{"id", "a", "b", "net", "asset"}) // a strings.Builder takes all
	odd := rapid.SampledFrom([]string{"", " x", "e\u0301", "\u0301", "é", "a\u202eb", "x\u00a0", "treasury", strings.Repeat("ß", 101), "tab\there"})
	plain := rapid.StringMatching(`[a-z0-9]{1,6}`)
	value := rapid.OneOf(plain, plain, rapid.StringMatching(`[ -~]{0,8}`), odd)
	amount := rapid.OneOf(
		rapid.StringMatching(`[1-9][0-9]{0,4}\.[0-9]{2}`),
		rapid.SampledFrom([]string{"0", "-5", "1e3", "1,000.00", "1.005", "7", "", " 5"}),
	)
	for i := range rapid.IntRange(1, 12).Draw(t, "rows") {
		id := rapid.OneOf(rapid.Just(fmt.Sprintf("id%d", i)), value).Draw(t, "id")
		_ = w.Write([]string{
			id, value.Draw(t, "a"), value.Draw(t, "b"), amount.Draw(t, "net"),
			rapid.SampledFrom([]string{"USD", "USD", "JPY", "XYZ", ""}).Draw(t, "asset"),
		})
	}
	w.Flush()
	return b.String()
}

// TestEveryRowMeetsItsPrecondition has a row after the first for which a precondition is false.
func TestEveryRowMeetsItsPrecondition(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "main.hcl", []byte(strings.Replace(payroll, "  metadata ", `  precondition {
    condition     = each.value.net != "5000.00"
    error_message = "${each.key} gets 5000.00."
  }
  metadata `, 1)))
	write(t, dir, "pay.csv", []byte("id,to,net,note\nE-1,B-1,1.00,x\nE-2,B-2,5000.00,x\nE-3,B-3,1.00,x\n"))
	c, diags := config.Load(dir, config.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	blocks := 0
	got := told(config.Compiled(t.Context(), c, &blocks))
	if blocks != 1 || len(got) != 3 || !strings.Contains(got[0], `"ref_id"`) || !strings.Contains(got[1], "E-2 gets 5000.00.") || !strings.Contains(got[2], `"ref_id"`) {
		t.Errorf("%d compiled blocks: %q", blocks, got)
	}
}
