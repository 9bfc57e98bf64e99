package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"remit/config"
	"remit/config/mistake"
)

func TestMessagesKnowWhereNestedBlocksBelong(t *testing.T) {
	if diff := cmp.Diff(config.NestedBlocks(), mistake.Homes); diff != "" {
		t.Error(diff)
	}
	for block, home := range mistake.Homes {
		if mistake.FirstLines[home] == "" {
			t.Errorf("%s belongs in %s, of which no first line is known", block, home)
		}
	}
}
