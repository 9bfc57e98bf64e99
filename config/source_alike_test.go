package config_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"remit/config"
)

// A configuration under the name of a file of data is known by its blocks, whichever they are.
func TestFilesAreSearchedForEveryBlock(t *testing.T) {
	t.Parallel()
	searched, known := config.BlockNames()
	slices.Sort(known)
	if diff := cmp.Diff(known, searched); diff != "" {
		t.Errorf("blocks (-of the language +that files are searched for):\n%s", diff)
	}
}
