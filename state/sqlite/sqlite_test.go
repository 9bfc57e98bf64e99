package sqlite_test

import (
	"path/filepath"
	"testing"
	"time"

	"remit/state"
	"remit/state/sqlite"
	"remit/state/statetest"
)

func TestConformance(t *testing.T) {
	statetest.Run(t, func(t *testing.T) statetest.Harness {
		path := filepath.Join(t.TempDir(), "remit.db")
		return statetest.Harness{
			Create: func(t *testing.T, created state.Created, now func() time.Time) state.Store {
				s, err := sqlite.Create(t.Context(), path, created, sqlite.Options{Now: now})
				if err != nil {
					t.Fatal(err)
				}
				return s
			},
			Open: func(t *testing.T, now func() time.Time) state.Store {
				s, err := sqlite.Open(t.Context(), path, sqlite.Options{Now: now})
				if err != nil {
					t.Fatal(err)
				}
				return s
			},
		}
	})
}
