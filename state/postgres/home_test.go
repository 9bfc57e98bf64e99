package postgres

import "testing"

// TestADumpMakesOtherTables compares the tables that a state recorded with those where it was found.
func TestADumpMakesOtherTables(t *testing.T) {
	for name, c := range map[string]struct {
		recorded, found string
		want            bool
	}{
		"the same":                        {"7391/16384/16400", "7391/16384/16400", true},
		"nothing is recorded":             {"", "7391/16384/16400", true},
		"another table":                   {"7391/16384/16400", "7391/16384/16522", false},
		"another database":                {"7391/16384/16400", "7391/16385/16400", false},
		"another server":                  {"7391/16384/16400", "8402/16384/16400", false},
		"a server that does not tell":     {"7391/16384/16400", "/16384/16400", true},
		"a server that did not tell":      {"/16384/16400", "7391/16384/16400", true},
		"it does not tell, another table": {"7391/16384/16400", "/16384/16522", false},
	} {
		if got := isHome(c.recorded, c.found); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
