package lsp

import (
	"strings"
	"testing"

	"remit/config"
	"remit/config/functions"
)

// TestTheManualHasEveryArgumentAndFunction holds what an editor shows to the table of the language.
func TestTheManualHasEveryArgumentAndFunction(t *testing.T) {
	t.Parallel()
	m := manualOnce()
	var look func(path []string, kinds []config.BlockKind)
	look = func(path []string, kinds []config.BlockKind) {
		for _, kind := range kinds {
			at := append(append([]string(nil), path...), kind.Name)
			for _, name := range append(append([]string(nil), kind.Required...), kind.Optional...) {
				if e, ok := m.argument(at, name); !ok || e.types == "" || e.example == "" || e.meaning == "" {
					t.Errorf("%s has nothing of %s: %+v", strings.Join(at, "."), name, e)
				}
			}
			if len(at) == 1 && m.blocks[kind.Name] == "" {
				t.Errorf("there is no sentence about %s", strings.Join(at, "."))
			}
			look(at, kind.Blocks)
		}
	}
	look(nil, config.Language())
	for name := range functions.Table(nil) {
		if e := m.functions[name]; e.types == "" || e.example == "" || e.meaning == "" {
			t.Errorf("there is nothing of the function %s", name)
		}
	}
}
