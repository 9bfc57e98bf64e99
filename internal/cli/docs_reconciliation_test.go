package cli_test

import (
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"remit/internal/accounts/reconcile"
)

// TestDocsReconciliation holds what reconciliation.md shows against what the script compares.
func TestDocsReconciliation(t *testing.T) {
	doc := readFile(t, "../../docs/reconciliation.md")
	script, err := txtar.ParseFile("../../testdata/script/reconcile.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range script.Files {
		if (file.Name == "matches.txt" || file.Name == "differs.txt") && !strings.Contains(doc, string(file.Data)) {
			t.Errorf("reconciliation.md does not show %s of the script:\n%s", file.Name, file.Data)
		}
	}
	for _, b := range reconcile.Breaks() {
		if !strings.Contains(doc, "`"+string(b)+"`") {
			t.Errorf("reconciliation.md does not list %q", b)
		}
	}
}
