package planner

import "testing"

// TestSpellings has pairs of ref_ids that a program or an editor makes of one another, and pairs that are two.
func TestSpellings(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		x, y string
		want bool
	}{
		{"inv-0017", "INV_17", true},
		{"2026-11", "2026–11", true},
		{"2026-11", "2026−11", true},
		{"O'Neil", "O’Neil", true},
		{"O`Neil", "O′Neil", true},
		{"R 19", "R\u00a019", true},
		{"18", "１８", true},
		{"12", "12.0", true},
		{"inv-12-a", "inv-12.00-a", true},
		{"Straße", "STRASSE", true},
		{"José", "Jose\u0301", true},
		{"José", "JOSE", true},
		{"a\u200bb", "ab", true},
		{"офис-1", "ОФИС-01", true},
		{"inv-17", "inv-18", false},
		{"12", "120", false},
		{"12", "12.1", false},
		{"12", "12.0.1", false},
		{"a+b", "a-b", false},
		{"μισθός-ια", "μισθός-α", false},
		{"ΙΙ", "Ι", false},
		{"май", "маи", false},
		{"inv-17", "inv-17", false},
	} {
		if got := isRespelled(tt.x, tt.y); got != tt.want {
			t.Errorf("%q and %q are two spellings of one: %t, want %t", tt.x, tt.y, got, tt.want)
		}
		if got := isRespelled(tt.y, tt.x); got != tt.want {
			t.Errorf("%q and %q are two spellings of one: %t, want %t", tt.y, tt.x, got, tt.want)
		}
	}
}
