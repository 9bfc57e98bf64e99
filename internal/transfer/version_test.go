package transfer_test

import (
	"testing"
	"time"

	"remit/internal/transfer"
)

func TestVersions(t *testing.T) {
	early, late := time.Date(2026, 11, 2, 8, 0, 0, 0, time.UTC), time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		newer, older transfer.Version
		contradict   bool
	}{
		"by their times":           {transfer.NewVersion(late, "FAILED"), transfer.NewVersion(early, "COMPLETED"), false},
		"by what comes later":      {transfer.NewVersion(early, "FAILED"), transfer.NewVersion(early, "PENDING"), false},
		"at one time":              {transfer.NewVersion(early, "COMPLETED"), transfer.NewVersion(early, "FAILED"), true},
		"without one of the times": {transfer.NewVersion(time.Time{}, "COMPLETED"), transfer.NewVersion(late, "FAILED"), true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if tt.newer.Compare(tt.older) <= 0 || tt.older.Compare(tt.newer) >= 0 {
				t.Error("the other one is newer")
			}
			if tt.newer.Contradicts(tt.older) != tt.contradict || tt.older.Contradicts(tt.newer) != tt.contradict {
				t.Error("contradicts")
			}
		})
	}
}
