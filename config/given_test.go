package config_test

import (
	"fmt"
	"strings"
	"testing"

	"remit/config"
)

// A value that was read from a file of Windows ends with a character that nobody sees.
func TestStrayMarksAreNamed(t *testing.T) {
	for value, want := range map[string]string{
		"2026-11\r": "ends with a carriage return",
		"2026-11\n": "a line break",
		"\t2026-11": "a tab",
		"2026-11 ":  "a space",
		`"2026-11"`: "has quotation marks around it",
	} {
		opts := config.Options{Getenv: environment(map[string]string{"REMIT_VAR_period": value})}
		_, diags := load(t, map[string]string{"main.hcl": "variable \"period\" {\n  type = string\n}\n"}, opts)
		if got := fmt.Sprint(diags.Errs()); !strings.Contains(got, want) {
			t.Errorf("%q: got %s, want %q", value, got, want)
		}
	}
}
