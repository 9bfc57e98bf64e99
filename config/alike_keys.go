package config

import (
	"math"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"remit/config/mistake"
)

// oneNumber is the summary of the warning that two keys are one number.
const oneNumber = "Keys are the same number"

// numbersSeen finds keys that are one number in different digits, such as 12, 0012 and 12.0: a spreadsheet that takes
// a key for a number writes it so, and one person is paid under two keys. It keeps those keys alone that begin with a
// zero or end in decimals; the others are among all keys.
type numbersSeen struct {
	all *seen
	odd *seen // plain numbers of the odd keys; nil before the first
}

// other returns the line of an earlier key that is the same number as key, whose line is number; 0 for none.
func (n *numbersSeen) other(key string, number uint32) uint32 {
	plain := plainNumber(key)
	if plain == "" || plain == key && n.odd == nil {
		return 0
	}
	first := uint32(0)
	if n.odd != nil {
		first = n.odd.find(plain)
	}
	if plain == key {
		return first
	}
	if first == 0 {
		first = n.all.find(plain)
	}
	if n.odd == nil {
		n.odd = newSeen()
	}
	n.odd.add(plain, number)
	return first
}

// plainNumber is a whole number without the zeros before it and the decimals behind it; "" for any other text.
func plainNumber(key string) string {
	whole := key
	if i := strings.IndexAny(key, ".,"); i > 0 && strings.Trim(key[i+1:], "0") == "" && len(key) > i+1 {
		whole = key[:i]
	}
	if whole == "" || strings.Trim(whole, "0123456789") != "" {
		return ""
	}
	if plain := strings.TrimLeft(whole, "0"); plain != "" {
		return plain
	}
	return "0"
}

// warnOfNumber warns where the key of a row is the same number as an earlier one; nil where it is not.
func (d *dataSource) warnOfNumber(r *row, numbers *numbersSeen) hcl.Diagnostics {
	key := r.Key()
	if key == "" {
		return nil
	}
	first := numbers.other(key, uint32(min(r.Line, math.MaxUint32)))
	if first == 0 || int(first) == r.Line {
		return nil
	}
	return hcl.Diagnostics{mistake.Warning(r.At(r.Table.KeyColumn), oneNumber,
		"The key %q and the key on line %d are one number: a spreadsheet drops zeros, or adds decimals. If they are one person, both rows are paid. Correct the key, or remove one of the rows.", key, first)}
}
