//go:build unix

package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"remit/internal/proof/suite"
)

// caught plays histories with each of the named clients until one breaks an invariant, first the one that did so the
// last time: a file of testdata has its seed. Where that history has become another one since, caught plays all of
// them in order; .ci/update then writes the file.
func caught(t *testing.T, file string, names []string, most int, play func(name string, seed uint64) (why string)) {
	t.Helper()
	path := filepath.Join("testdata", file)
	last := make(map[string]uint64)
	if text, err := os.ReadFile(path); err == nil {
		if err := json.Unmarshal(text, &last); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	now := make(map[string]uint64)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			var seeds []uint64
			if seed, known := last[name]; known && seed < uint64(most) {
				seeds = append(seeds, seed)
			}
			for seed := range uint64(most) {
				seeds = append(seeds, seed)
			}
			for _, seed := range seeds {
				if why := play(name, seed); why != "" {
					t.Logf("caught by seed %d: %s", seed, why)
					now[name] = seed
					return
				}
			}
			t.Errorf("not caught in %d histories", most)
		})
	}
	if suite.Update() {
		text, err := json.MarshalIndent(now, "", "  ")
		if err == nil {
			err = os.WriteFile(path, append(text, '\n'), 0o644)
		}
		if err != nil {
			t.Error(err)
		}
	}
}
