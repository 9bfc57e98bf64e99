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

func TestTheBroadDoseLiesHalfway(t *testing.T) {
	for _, tt := range []struct{ plain, full, broad int }{
		{0, 1, 0},
		{0, 2, 1},
		{0, 100, 50}, // a plain run has none
		{1, 1, 1},
		{1, 2, 1},
		{1, 4, 2},
		{150, 2000, 548},
		{4, 20, 9},
		{4, 100, 20},
		{2, 1, 1},
		{4, 1, 2},
		{16, 1, 4},
		{80, 3, 15}, // one of so many
	} {
		for dose, want := range map[string]int{"plain": tt.plain, "broad": tt.broad, "full": tt.full} {
			t.Setenv(suite.DoseVariable, dose)
			if got := suite.Dose(7, tt.plain, tt.full); got != want {
				t.Errorf("the %s dose of %d to %d: %d, want %d", dose, tt.plain, tt.full, got, want)
			}
		}
	}
}
