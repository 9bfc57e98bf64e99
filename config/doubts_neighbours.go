package config

import (
	"slices"
	"strings"
	"unicode"

	"github.com/google/uuid"
	"github.com/hashicorp/hcl/v2"

	"remit/config/mistake"
)

const lengthOfUUID = 36

// neighbour is the destination of the row before, with which a spreadsheet that fills cells downwards makes the next one.
type neighbour struct {
	block    *transferBlock
	id, name string
	from     string // the last sender whose ID gave no doubt: mostly the next row's
}

// doubt takes the next row in, and warns of an ID that a spreadsheet made of the one in the row above: the same one for another name, or
// the next number.
func (n *neighbour) doubt(block *transferBlock, in instance, t *Transfer) hcl.Diagnostics {
	above := *n
	n.block, n.id, n.name = block, t.Request.ToProfileID, t.DisplayName
	if in.row == nil || above.block != block {
		return nil
	}
	summary, detail := "", ""
	switch {
	case above.id == n.id && areOtherNames(above.name, t.DisplayName):
		summary = twoNames
		detail = "This row and the one above it pay one profile under two names, as where an ID was copied down. Correct the ID, or give the profile one name in both rows."
	case isNextUUID(above.id, n.id):
		summary = idsCountedUp
		detail = "The profile_id is that of the row above plus one: a spreadsheet counts so where a cell is dragged down. Copy the IDs from their source again."
	default:
		return nil
	}
	d := mistake.Warning(placeOfDoubt(block, in, "to_profile_id", "to"), summary, "%s", detail)
	d.Extra = &mistake.Origin{Block: t.Block, Column: "to", Reason: summary}
	return hcl.Diagnostics{d}
}

// areOtherNames reports whether no one would take two names for one: each has a word that the other lacks.
func areOtherNames(a, b string) bool {
	if a == "" || b == "" || a == b {
		return false
	}
	one, other := wordsOf(a), wordsOf(b)
	lacks := func(words, of []string) bool {
		return slices.ContainsFunc(of, func(word string) bool { return !slices.Contains(words, word) })
	}
	return lacks(one, other) && lacks(other, one)
}

// wordsOf are the words of a name in small letters.
func wordsOf(name string) []string {
	return strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// isNextUUID reports whether a spreadsheet counts on from one UUID to the other. IDs with few different digits are made
// up for tests, and are often counted.
func isNextUUID(id, next string) bool {
	const different = 9
	const lastGroup = lengthOfUUID - 12 // a spreadsheet counts up the digits behind the last hyphen alone
	if len(id) != lengthOfUUID || len(next) != lengthOfUUID || id == next || id[:lastGroup] != next[:lastGroup] {
		return false
	}
	begin := strings.TrimRight(id, "0123456789")
	counted, isBelow := strings.CutPrefix(next, begin)
	if !isBelow || counted != onePlus(id[len(begin):]) || uuid.Validate(id) != nil || uuid.Validate(next) != nil {
		return false
	}
	digits := []rune(id)
	slices.Sort(digits)
	return len(slices.Compact(digits)) > different
}

// onePlus is the number behind one of digits alone, with as many digits; "" where it has more.
func onePlus(digits string) string {
	counted := []byte(digits)
	for i := len(counted) - 1; i >= 0; i-- {
		if counted[i]++; counted[i] <= '9' {
			return string(counted)
		}
		counted[i] = '0'
	}
	return ""
}
