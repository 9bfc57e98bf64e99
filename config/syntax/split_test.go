package syntax_test

import (
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"pgregory.net/rapid"

	"remit/config/syntax"
	"remit/internal/proof/suite"
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
	suite.CheckUntil(t, func() bool { return cut >= 25 }, func(t *rapid.T) {
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

// TestNestingOfAFileIsThatOfItsTokens compares the mistakes of a file that is scanned in part with those of the whole.
func TestNestingOfAFileIsThatOfItsTokens(t *testing.T) {
	refused := 0
	suite.CheckUntil(t, func() bool { return refused >= 10 }, func(t *rapid.T) {
		deep := rapid.Custom(func(t *rapid.T) string {
			n := rapid.SampledFrom([]int{1, 400, 499, 500, 501, 700}).Draw(t, "depth")
			return "locals {\n  z = " + strings.Repeat("(", n) + "1" + strings.Repeat(")", n) + "\n}\n"
		})
		line := rapid.OneOf(rapid.SampledFrom(oddLines), rapid.SampledFrom(oddLines), rapid.SampledFrom(wrongLines), deep)
		source := []byte(strings.Join(rapid.SliceOfN(line, 1, 60).Draw(t, "lines"), "") + strings.Repeat("# ((((((((((\n", 300))
		want := syntax.CheckNesting(source, "main.hcl", hcl.InitialPos, hclsyntax.LexConfig)
		file, diags := syntax.Parse(source, "main.hcl")
		if file != nil {
			diags = nil
		}
		if len(want) > 0 {
			refused++
		}
		if diff := cmp.Diff(want, diags); diff != "" {
			t.Fatalf("the nesting differs (-whole +file):\n%s\n%s", diff, source)
		}
	})
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
	blocks, late, ok := syntax.Parts([]byte(source), "main.hcl")
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

// TestWorkAheadKeepsItsOrder stops at each result in turn; the work that began is waited for.
func TestWorkAheadKeepsItsOrder(t *testing.T) {
	items := make([]int, 40)
	for i := range items {
		items[i] = i
	}
	for stop := range len(items) + 1 {
		var begun, ended atomic.Int64
		next := 0
		for result := range syntax.Ahead(items, func(i int) int {
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
