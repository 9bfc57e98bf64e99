package lazyregexp_test

import (
	"sync"
	"testing"

	"remit/internal/text/lazyregexp"
)

// TestAPatternIsThatOfRegexpForAllWhoAsk has many ask for the first time at once.
func TestAPatternIsThatOfRegexpForAllWhoAsk(t *testing.T) {
	r := lazyregexp.New(`^(\d{4})-(\d{2})$`)
	var asking sync.WaitGroup
	for range 16 {
		asking.Go(func() {
			if groups := r.FindStringSubmatch("2026-11"); len(groups) != 3 || groups[1] != "2026" || groups[2] != "11" {
				t.Errorf("the groups are %q", groups)
			}
			if r.MatchString("11/2026") {
				t.Error("another form matches")
			}
		})
	}
	asking.Wait()
}

func TestAWrongPatternPanicsWhereItIsUsed(t *testing.T) {
	r := lazyregexp.New(`(`)
	defer func() {
		if recover() == nil {
			t.Error("it was used")
		}
	}()
	r.MatchString("")
}
