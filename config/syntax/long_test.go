package syntax_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/hashicorp/hcl/v2"

	"remit/config/syntax"
)

// wrongBlocks are blocks with one mistake each, in which the parser's words about the whole file are those about the block.
var wrongBlocks = map[string]string{
	"a quotation mark too many": "transfer \"internal\" \"x\" {\n  amount = \"1.00\"\"\n  asset  = \"USD\"\n}\n",
	"a text without its end":    "transfer \"internal\" \"x\" {\n  amount = \"1.00\n  asset  = \"USD\"\n}\n",
	"a word in place of a text": "transfer \"internal\" \"x\" {\n  amount = 1 2\n}\n",
	"no equals sign":            "transfer \"internal\" \"x\" {\n  amount \"1.00\"\n}\n",
	"a brace in a text":         "transfer \"internal\" \"x\" {\n  amount = \"1.00{\"\"\n}\n",
	"a comma":                   "transfer \"internal\" \"x\" {\n  amount = \"1.00\",\n}\n",
	"a half of a word":          "transf\n",
}

// TestALongFileIsExplainedByTheLinesOfItsMistake puts a wrong block between thousands of right ones: the messages are those of the
// whole file, and a second wrong block is told as well.
func TestALongFileIsExplainedByTheLinesOfItsMistake(t *testing.T) {
	right := func(from int) string {
		var text strings.Builder
		for i := range 300 {
			fmt.Fprintf(&text, "transfer \"internal\" \"r-%d\" {\n  amount = \"1.00\" # {\n  asset  = \"USD\"\n  metadata = {\n    note = \"a ${var.b} }\"\n  }\n}\n\n", from+i)
		}
		return text.String()
	}
	odd := "/*\ntransfer \"internal\" \"no\" {\n*/\nlocals {\n  text = <<EOT\nlocals {\nEOT\n}\n"
	for name, wrong := range wrongBlocks {
		t.Run(name, func(t *testing.T) {
			content := []byte(right(0) + odd + wrong + odd + right(1000))
			_, diags := syntax.Parse(content, "main.hcl")
			want := syntax.Explain(content, "main.hcl", diags, true)
			where, got := syntax.ExplainLong(content, "main.hcl", nil)
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(hcl.Diagnostic{}, "Extra", "Context")); diff != "" {
				t.Errorf("what is said of the whole file (-) and of its lines (+):\n%s", diff)
			}
			if len(where) != 1 {
				t.Errorf("%d blocks are wrong", len(where))
			}
			_, twice := syntax.ExplainLong([]byte(right(0)+wrong+right(1000)+wrong+right(2000)), "main.hcl", nil)
			if len(twice) != 2*len(got) {
				t.Errorf("of two wrong blocks %d things are said, and %d of one", len(twice), len(got))
			}
		})
	}
	if where, diags := syntax.ExplainLong([]byte(right(0)+odd+right(1000)), "main.hcl", nil); where != nil || diags != nil {
		t.Errorf("a right file has %v", diags)
	}
}
