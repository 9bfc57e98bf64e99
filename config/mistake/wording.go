package mistake

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agext/levenshtein"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
)

// suggestionDistanceMax is how many letters may differ between a word and its suggestion.
const suggestionDistanceMax = 2

// DidYouMean returns a sentence, with a space before it, that names the nearest of names, or
// "" where none is near.
func DidYouMean(given string, names []string) string {
	nearest, distance := "", suggestionDistanceMax+1
	for _, name := range slices.Sorted(slices.Values(names)) {
		if d := levenshtein.Distance(given, name, nil); d < distance && d < len(given) {
			nearest, distance = name, d
		}
		if strings.EqualFold(given, name) {
			nearest, distance = name, 0
		}
	}
	if nearest == "" || nearest == given {
		return ""
	}
	return fmt.Sprintf(" Did you mean %q?", nearest)
}

// Sentence makes an error's text the end of a sentence, unless it ends with a line to write.
func Sentence(err error) string {
	if _, line, shows := strings.Cut(err.Error(), "\n\n  "); shows && !strings.Contains(line, "\n\n") {
		return err.Error()
	}
	return strings.TrimSuffix(err.Error(), ".") + "."
}

// At is how a place is written inside a detail.
func At(r hcl.Range) string { return fmt.Sprintf("%s:%d", r.Filename, r.Start.Line) }

// Listed joins at most n names for a sentence and says how many it leaves out.
func Listed(names []string, n int) string {
	if len(names) <= n {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(slices.Clone(names[:n]), ", "), len(names)-n)
}

// QuotedHCL is a text as HCL writes it.
func QuotedHCL(text string) string {
	return string(hclwrite.TokensForValue(cty.StringVal(text)).Bytes())
}

// QuotedAll quotes each name.
func QuotedAll(names []string) []string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = strconv.Quote(name)
	}
	return quoted
}

// Kind says what a value of a type is, behind "not".
func Kind(t cty.Type) string {
	switch {
	case t == cty.String:
		return "a text"
	case t == cty.Number:
		return "a number"
	case t == cty.Bool:
		return "true or false"
	case t.IsTupleType(), t.IsListType():
		return "a list"
	case t.IsSetType():
		return "a " + t.FriendlyName()
	case t.IsObjectType(), t.IsMapType():
		return "an object"
	}
	return t.FriendlyName()
}

// KeyHCL is a name as the key of an object in HCL.
func KeyHCL(name string) string {
	if hclsyntax.ValidIdentifier(name) {
		return name
	}
	return strconv.Quote(name)
}
