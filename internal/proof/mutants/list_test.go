package main

import "testing"

// TestEachBugIsFoundInItsFile holds the list against the tree: a line that was rewritten takes its bug with it, and a run over
// the list, which takes long, would say so at its end only.
func TestEachBugIsFoundInItsFile(t *testing.T) {
	t.Chdir("../../..")
	mutants, err := parse(listed)
	if err != nil {
		t.Fatal(err)
	}
	if len(mutants) < 160 {
		t.Errorf("only %d bugs are listed", len(mutants))
	}
	for _, m := range mutants {
		if _, err := m.changed(); err != nil {
			t.Errorf("%s: %v", m.name, err)
		}
	}
}
