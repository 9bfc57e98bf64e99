package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"

	"remit/state/statetest"
)

// TestTheLastOfSeveralPaymentsThatWereNotNotedIsNoted has notes that could not be written for two payments, and a copy from between them.
func TestTheLastOfSeveralPaymentsThatWereNotNotedIsNoted(t *testing.T) {
	c := newCopies(t)
	c.use(c.original, statetest.Intent("r-1", "run", "10.00"))
	before := map[string][]byte{}
	files, _ := filepath.Glob(filepath.Join(c.notes.Kept[0], "newest-????????-*"))
	for _, file := range files {
		before[file], _ = os.ReadFile(file)
	}
	c.use(c.original, statetest.Intent("r-2", "run 2", "10.00"))
	copyState(t, c.original, c.elsewhere, "")
	c.use(c.original, statetest.Intent("r-3", "run 3", "10.00"))
	for file, content := range before {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := c.open(c.original)
	unlock(t, lock(t, s))
	closed(t, s)
	if meta := c.use(c.elsewhere); meta.Lacks == 0 {
		t.Errorf("the copy has what was paid last from the original: %+v", meta)
	}
}
