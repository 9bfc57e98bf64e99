package suite_test

import (
	"slices"
	"testing"

	"remit/internal/proof/suite"
)

func TestSpreadTakesTheFirstOfEachKind(t *testing.T) {
	files := []string{"d/csv-a.txtar", "d/csv-b.txtar", "d/csv-c.txtar", "d/csv-d.txtar", "d/hcl-a.txtar", "d/hcl-b.txtar", "d/where.txtar"}
	for share, want := range map[int][]string{
		1: files,
		3: {"d/csv-a.txtar", "d/csv-d.txtar", "d/hcl-a.txtar", "d/where.txtar"},
		9: {"d/csv-a.txtar", "d/hcl-a.txtar", "d/where.txtar"},
	} {
		if got := suite.Spread(files, share); !slices.Equal(got, want) {
			t.Errorf("one of %d: %v, want %v", share, got, want)
		}
	}
}
