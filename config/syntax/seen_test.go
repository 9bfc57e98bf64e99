package syntax_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"remit/config/syntax"
)

// placesOf are the places and details of mistakes, up to the first comma.
func placesOf(diags hcl.Diagnostics) []string {
	var places []string
	for _, d := range diags {
		detail, _, _ := strings.Cut(d.Detail, ",")
		places = append(places, fmt.Sprintf("%d:%d: %s", d.Subject.Start.Line, d.Subject.Start.Column, detail))
	}
	return places
}

// TestNoLineShowsThatIsNoneForTheParser has what a reader sees as lines, or in another order, within comments and texts.
func TestNoLineShowsThatIsNoneForTheParser(t *testing.T) {
	for sentence, test := range map[string]struct {
		source string
		want   []string
	}{
		"a carriage return in a comment": {"# é note\rlimit \"day\" {}\r\n", []string{"1:9: Here is the character U+000D"}},
		"one at the end of the file":     {"a = 1\n# b\r", []string{"2:4: Here is the character U+000D"}},
		"two before a line feed":         {"# b\r\r\n", []string{"1:4: Here is the character U+000D"}},
		"a line separator":               {"a = 1 #\u2028b = 2\n", []string{"1:8: Here is the character U+2028"}},
		"a paragraph separator":          {"// \u2029b = 2\n", []string{"1:4: Here is the character U+2029"}},
		"a next line":                    {"/* \u0085 */\n", []string{"1:4: Here is the character U+0085"}},
		"tab and feed":                   {"#\v\f\n", []string{"1:2: Here is the character U+000B", "1:3: Here is the character U+000C"}},
		"directions":                     {"/* \u202e \u2066 b = 1 \u2069 \u2066 */\n", []string{"1:4: Here is the character U+202E", "1:6: Here is the character U+2066", "1:14: Here is the character U+2069"}},
		"a tag that only programs read":  {"# a\U000e0041\n", []string{"1:4: Here is the character U+E0041"}},
		"what cannot be seen in a text":  {"a = \"US\u200bD\"\n", []string{"1:8: Here is the character U+200B"}},
		"a joiner in a text":             {"a = \"b\u200d\" # \u200d\n", []string{"1:7: Here is the character U+200D"}},
		"emoji and Persian in a text":    {"a = \"\u26a0\ufe0f \U0001f469\u200d\U0001f4bb می\u200cخواهم\"\n", nil},
		"a choice of form behind ASCII":  {"a = \"US\ufe0fD\"\n", []string{"1:8: Here is the character U+FE0F"}},
		"one in a text of several lines": {"a = <<E\n# \u2028\nE\n", []string{"2:3: Here is the character U+2028"}},
		"an escape for the terminal":     {"# \x1b[2K\n", []string{"1:3: Here is the character U+001B"}},
		"lines of Windows":               {"\ufeff# a\r\nb = 1\r\n", nil},
		"emoji and Persian in a comment": {"# \u26a0\ufe0f \U0001f469\u200d\U0001f4bb می\u200cخواهم\na = 1 // \ufe0f\n", nil},
		"Latin-1 in a comment":           {"# B\xfcro\n", nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			_, diags := syntax.Parse([]byte(test.source), "main.hcl")
			if diff := cmp.Diff(test.want, placesOf(diags)); diff != "" {
				t.Error(diff)
			}
			if parts := syntax.Split([]byte(test.source), "main.hcl", false); test.want != nil && parts != nil {
				t.Error("a long file would be read in parts")
			}
		})
	}
}

func TestNothingIsHiddenInJSON(t *testing.T) {
	_, diags := syntax.ParseJSON([]byte("{\"//\": \"\u202e\",\r\n \"a\": \"\u200d\"}\r"), "main.hcl.json")
	want := []string{"1:9: Here is the character U+202E", "2:8: Here is the character U+200D", "2:11: Here is the character U+000D"}
	if diff := cmp.Diff(want, placesOf(diags)); diff != "" {
		t.Error(diff)
	}
}

// TestALongFileHidesNothing has a file that is read in parts, and whose mistakes are looked for in parts.
func TestALongFileHidesNothing(t *testing.T) {
	source := []byte(strings.Repeat("transfer \"internal\" \"a\" {\n}\n", 2000) + "# a\rlimit \"b\" {}\r\n")
	if syntax.Split(source, "main.hcl", false) != nil {
		t.Error("it is read in parts")
	}
	_, diags := syntax.ExplainLong(source, "main.hcl", nil)
	if diff := cmp.Diff([]string{"4001:4: Here is the character U+000D"}, placesOf(diags)); diff != "" {
		t.Error(diff)
	}
}
