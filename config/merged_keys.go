package config

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/internal/text/english"
)

// mergedMap is one of the maps that a call of merge takes.
type mergedMap struct {
	expr     hclsyntax.Expression // nil where it is one of a list
	value    cty.Value
	isOfData bool // made of the rows of a data block
}

// repeatedKeysNamed is how many keys a mistake names.
const repeatedKeysNamed = 3

// repeatedKeys are those at which merge loses an element.
type repeatedKeys struct {
	step  string // the only key that is looked at, or anyKey
	count int    // elements that are lost
	keys  map[string]bool
	named []string     // the first of them, as HCL writes them
	pair  [2]mergedMap // in which the first of them stands
}

// holder is the element that a key has so far, and its map.
type holder struct {
	value cty.Value
	of    int
}

// look looks through the maps of one call. Where the values of a key are alike, nothing is lost: two files may have one row.
func (r *repeatedKeys) look(maps []mergedMap) {
	if len(maps) < 2 {
		return
	}
	elements := 0
	for _, one := range maps {
		elements += one.value.LengthInt()
	}
	taken := make(map[string]holder, elements)
	for i, one := range maps {
		for it := one.value.ElementIterator(); it.Next(); {
			k, value := it.Element()
			key, ok := keyOf(k)
			if !ok || r.step != anyKey && r.step != key {
				continue
			}
			before, isTaken := taken[key]
			taken[key] = holder{value, i}
			if isTaken && isLoss(before.value, value, maps[before.of].isOfData && one.isOfData) {
				r.note(key, maps[before.of], one)
			}
		}
	}
}

// isLoss reports whether an element is lost where another takes its key: a row, or whatever else is made of rows. A text in the place of
// a text that somebody wrote is another amount, and not another payment.
func isLoss(before, value cty.Value, areOfData bool) bool {
	areRows := !before.Type().IsPrimitiveType() && !value.Type().IsPrimitiveType() && !before.IsNull() && !value.IsNull()
	return (areRows || areOfData) && !before.RawEquals(value)
}

func (r *repeatedKeys) note(key string, before, one mergedMap) {
	if r.count == 0 {
		r.pair, r.keys = [2]mergedMap{before, one}, map[string]bool{}
	}
	r.count++
	if !r.keys[key] && len(r.named) < repeatedKeysNamed {
		r.named = append(r.named, mistake.QuotedHCL(key))
	}
	r.keys[key] = true
}

// mistake says which keys they are, and how both elements are kept, or one of them is chosen.
func (r *repeatedKeys) mistake(of string, at hcl.Range, isSecret bool) *hcl.Diagnostic {
	keys := "The key " + r.named[0] + " stands"
	switch {
	case isSecret:
		keys = "A key stands"
	case len(r.keys) > len(r.named):
		keys = fmt.Sprintf("The keys %s and %d more stand", strings.Join(r.named, ", "), len(r.keys)-len(r.named))
	case len(r.keys) > 1:
		keys = "The keys " + english.List(r.named) + " stand"
	}
	return mistake.New(at, "merge loses a payment", "%s in two maps with different values, and merge keeps the last one alone: %s would lose %s, and nobody would be paid for it.%s",
		keys, of, english.Plural(r.count, "element"), r.remedy())
}

// remedy is what to write instead.
func (r *repeatedKeys) remedy() string {
	const prefix = " Where each is a payment, give the keys of each map a prefix of its own"
	if r.pair[0].expr == nil || r.pair[1].expr == nil {
		return prefix + ", such as:\n\n  merge([for name, rows in local.files : { for key, row in rows : \"${name}-${key}\" => row }]...)"
	}
	first, second, named := eval.PathText(r.pair[0].expr), eval.PathText(r.pair[1].expr), ""
	if first == "" || second == "" {
		first, second, named = cmp.Or(first, "FIRST"), cmp.Or(second, "SECOND"), "\n\nA word in capitals stands for a map of this call that has no name."
	}
	return fmt.Sprintf("%s, such as:\n\n  { for key, row in %s : \"%s-${key}\" => row }\n\nWhere the last one is to replace the other, say so:\n\n  %s%s",
		prefix, second, prefixOf(second), replacing(first, second), named)
}

// prefixOf is a name for the keys of a map.
func prefixOf(path string) string {
	path = strings.TrimSuffix(path, ".rows")
	name := path[strings.LastIndexByte(path, '.')+1:]
	if hclsyntax.ValidIdentifier(name) {
		return strings.ToLower(name)
	}
	return "second"
}

// replacing is an expression in which elements of the second map replace those of the first one, and all others stay: those of keys that
// the second one alone has as well, now or in a month.
func replacing(first, second string) string {
	return fmt.Sprintf("merge({ for key, row in %s : key => row if !can(%s[key]) }, %[2]s)", first, second)
}
