package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"remit/config"
)

// An evaluation that nobody waits for any more ends before it has all its values.
func TestLoadHearsAnInterrupt(t *testing.T) {
	t.Parallel()
	sources := map[string]string{
		"a loop":                      `locals { all = [for a in range(1000) : a] }`,
		"a template's loop":           `locals { all = "%{for a in range(1000)}x%{endfor}" }`,
		"a template of a function":    `locals { all = templatestring("%%{for a in r}x%%{endfor}", { r = range(1000) }) }`,
		"a mistake that is swallowed": `locals { all = try([for a in range(1000) : a], []) }`,
	}
	for name, source := range sources {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "main.hcl"), []byte(source+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			done := make(chan struct{})
			if _, diags := config.Load(dir, config.Options{Done: done}); diags.HasErrors() {
				t.Fatalf("it has a mistake before the interrupt: %v", diags)
			}
			close(done)
			_, diags := config.Load(dir, config.Options{Done: done})
			if len(diags) != 1 || diags[0].Summary != "Interrupted" || diags[0].Subject == nil || diags[0].Subject.Start.Line != 1 {
				t.Errorf("want one mistake, the interrupt at line 1, not %v", diags)
			}
		})
	}
}
