package config_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"pgregory.net/rapid"

	"remit/config"
)

// oddLines are lines of HCL that a cut must not be misled by.
var oddLines = []string{
	"", "# }\n", "// { \"\n", "/* } \" { \n } */\n", "locals {\n  a = \"}\"\n}\n", "locals {\n  b = \"${\"}\"}\"\n}\r\n",
	"locals {\n  c = \"$${\" # {\n}\n", "locals {\n  d = [\n    { x = \"\\\"}\" }, // ]\n  ]\n}\n",
	"locals {\n  e = \"%{ if true }{%{ endif }\"\n}\n", "locals {\n  f = \"$$ %%{ \\\\\"\n}\n",
	"locals {\n  g = \"${{\n} == {} ? \"}\" : \"{\"}\"\n}\n", "locals {\n  h = 1 / 2 < 3 /* { */\n}\n",
	"transfer \"internal\" \"t\" {\n  amount = \"1\"\n  metadata = {\n    a = \"b\"\n}\n}\n", "transfer internal x { amount = \"1\" }\n",
	"  transfer \"internal\" \"in\" {\n}\n", "locals { i = \"${\"${\"}\"}\"}\" }\n", "locals { j = \"é$\" }\n",
}

// wrongLines can't be followed, or are mistakes where they stand.
var wrongLines = []string{
	"locals {\n  k = <<EOT\n}\ntransfer \"internal\" \"no\" {\n}\nEOT\n}\n", "locals {\n  k = <<-EOT\n  ${\"}\"}\n  EOT\n}\n",
	"locals {\n", "}\n", "\"\n", "/*\n", "a = 1\n", "transfer = {}\n", "locals { l = \"$$${\" }\n", "locals { m = (] }\n", "transfer {}}\n", "*/\n",
	"locals {\n  n = \"\n}\"\n}\n",
}

// TestPartsMeanWhatTheFileMeans cuts random files and compares the blocks of the parts with
// those of the whole.
func TestPartsMeanWhatTheFileMeans(t *testing.T) {
	cut := 0
	checkUntil(t, func() bool { return cut >= 25 }, func(t *rapid.T) {
		line := rapid.SampledFrom(oddLines)
		isRight := rapid.IntRange(0, 2).Draw(t, "has mistakes") > 0
		if !isRight {
			line = rapid.OneOf(line, line, line, rapid.SampledFrom(wrongLines))
		}
		line = rapid.OneOf(line, line, rapid.Just(oddLines[12]))
		source := strings.Join(rapid.SliceOfN(line, 1, 60).Draw(t, "lines"), "")
		cut += checkParts(t, source, isRight)
	})
	t.Logf("%d parts were cut", cut)
}

func FuzzParts(f *testing.F) {
	f.Add(strings.Join(oddLines, ""))
	for _, line := range wrongLines {
		f.Add(oddLines[4] + line + oddLines[12])
	}
	f.Fuzz(func(t *testing.T, source string) { checkParts(t, source, false) })
}

// checkParts returns how many parts of transfers were cut.
func checkParts(t rapid.TB, source string, isRight bool) int {
	blocks, late, ok := config.Parts([]byte(source), "main.hcl")
	file, diags := hclsyntax.ParseConfig([]byte(source), "main.hcl", hcl.InitialPos)
	if isRight && (!ok || diags.HasErrors()) {
		t.Fatalf("it has no mistake, and is refused: %v\n%s", diags, source)
	}
	if !ok {
		return 0
	}
	if diags.HasErrors() {
		t.Fatalf("its parts have no mistake, and the whole has: %v\n%s", diags, source)
	}
	var want []hcl.Range
	for _, b := range file.Body.(*hclsyntax.Body).Blocks {
		want = append(want, b.Range())
	}
	if diff := cmp.Diff(want, blocks); diff != "" {
		t.Fatalf("the parts are other blocks (-whole +parts):\n%s\n%s", diff, source)
	}
	return late
}

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

// TestWorkAheadKeepsItsOrder stops at each result in turn; what was begun is waited for.
func TestWorkAheadKeepsItsOrder(t *testing.T) {
	items := make([]int, 40)
	for i := range items {
		items[i] = i
	}
	for stop := range len(items) + 1 {
		var begun, ended atomic.Int64
		next := 0
		for result := range config.Ahead(items, func(i int) int {
			begun.Add(1)
			defer ended.Add(1)
			runtime.Gosched()
			return i * i
		}) {
			if next == stop {
				break
			}
			if result != next*next {
				t.Fatalf("result %d is %d", next, result)
			}
			next++
		}
		if next != stop || begun.Load() != ended.Load() {
			t.Fatalf("%d results of %d, %d begun, %d ended", next, stop, begun.Load(), ended.Load())
		}
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
