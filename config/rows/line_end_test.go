package rows_test

import (
	"testing"

	"remit/config/rows"
)

// TestEachEndOfALineIsLookedAt holds the quick look at the bytes of a field against what parts it in lines, for each character.
func TestEachEndOfALineIsLookedAt(t *testing.T) {
	for r := range '\U00010000' {
		lines, isLookedAt := rows.LinesOf("a" + string(r))
		if isEnd := len(lines) > 1; isEnd && !isLookedAt || r < '\n' && isLookedAt || r >= ' ' && r < '\u0080' && isLookedAt {
			t.Errorf("%U is an end of a line: %v; it is looked at: %v", r, isEnd, isLookedAt)
		}
	}
}
