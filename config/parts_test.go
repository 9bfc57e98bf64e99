package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"remit/config"
)

// TestALongFileMeansWhatItsBlocksMean loads files that are parsed in parts, with and without
// mistakes, and the same ones whole.
func TestALongFileMeansWhatItsBlocksMean(t *testing.T) {
	const usual = "from = profile.a\n  to_profile_id = \"B\"\n  amount = \"1.50\"\n  asset = \"USD\"\n"
	tests := map[string]string{
		"nothing else":                usual,
		"a batch":                     usual + "  batch = batch.b\n",
		"its own ref_id":              usual + "  ref_id = \"own\"\n",
		"a dependency on a later one": usual + "  depends_on = [transfer.internal.z-9]\n",
		"a cycle":                     usual + "  depends_on = [transfer.internal.middle]\n",
		"for_each":                    usual + "  for_each = toset([\"x\", \"y\"])\n  ref_id = \"m-${each.key}\"\n",
		"a precondition":              usual + "  precondition {\n    condition = var.n > 5\n    error_message = \"no ${var.n}\"\n  }\n",
		"one that does not hold":      usual + "  precondition {\n    condition = var.n < 5\n    error_message = \"no ${var.n}\"\n  }\n",
		"an unquoted amount":          strings.Replace(usual, `"1.50"`, "1.50", 1),
		"too many decimals":           strings.Replace(usual, "1.50", "1.505", 1),
		"an unknown argument":         usual + "  amuont = \"2\"\n",
		"an unknown reference":        strings.Replace(usual, "profile.a", "profile.c", 1),
		"a heredoc":                   usual + "  metadata = { a = <<EOT\n}\nEOT\n  }\n",
		"an open bracket":             usual + "  metadata = {\n",
		"a bracket too many":          usual + "}\n",
		"no amount":                   strings.Replace(usual, "amount", "# amount", 1),
		"a variable without a value":  strings.Replace(usual, `"1.50"`, "var.unset", 1),
	}
	for name, middle := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			var source strings.Builder
			source.WriteString("variable \"n\" { default = 7 }\nvariable \"unset\" {}\nprofile \"a\" { profile_id = \"A\" }\nbatch \"b\" {}\n")
			for i := range 300 {
				if i == 150 {
					fmt.Fprintf(&source, "transfer \"internal\" \"middle\" {\n  %s}\n", middle)
				}
				fmt.Fprintf(&source, "transfer \"internal\" \"z-%d\" {\n  from = profile.a\n  to_profile_id = \"B-%d\"\n  amount = \"%d.00\"\n  asset = \"USD\"\n}\n", i, i, i+1)
			}
			write(t, dir, "main.hcl", []byte(source.String()))
			opts := config.Options{Assignments: []config.Assignment{{Var: "unset=9"}}}
			if strings.Contains(name, "variable") {
				opts.Assignments = nil
			}
			whole, wantDiags := config.LoadWhole(dir, opts)
			parts, gotDiags := config.Load(dir, opts)
			if diff := cmp.Diff(inWords(wantDiags), inWords(gotDiags)); diff != "" {
				t.Errorf("other mistakes (-whole +parts):\n%s", diff)
			}
			want, got := told(whole.Transfers(t.Context())), told(parts.Transfers(t.Context()))
			if diff := cmp.Diff(want, got); diff != "" || len(got) < 300 && !wantDiags.HasErrors() {
				t.Errorf("%d other transfers (-whole +parts):\n%s", len(got), diff)
			}
			for _, d := range gotDiags {
				if d.Subject == nil {
					continue
				}
				offset := d.Subject.Start.Byte
				if want, got := contextAt(whole, offset), contextAt(parts, offset); got != want {
					t.Errorf("the mistake stands in %q, not in %q", got, want)
				}
			}
		})
	}
}

func inWords(diags hcl.Diagnostics) []string {
	var lines []string
	for _, d := range diags {
		lines = append(lines, fmt.Sprintf("%v %s: %s", d.Subject, d.Summary, d.Detail))
	}
	return lines
}

func contextAt(c *config.Configuration, offset int) string {
	nav, ok := c.Files()["main.hcl"].Nav.(interface{ ContextString(offset int) string })
	if !ok {
		return ""
	}
	return nav.ContextString(offset)
}
