package cli

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"remit/config"
	"remit/config/mistake"
)

// TestAStreamThatAnInterruptEndedIsNotWhole interrupts after a transfer that was read in full: the next one
// is read as well, but nobody may take these for all that is declared.
func TestAStreamThatAnInterruptEndedIsNotWhole(t *testing.T) {
	dir := t.TempDir()
	source := `transfer "internal" "pay" {
  for_each        = toset(["a", "b", "c"])
  ref_id          = each.key
  from_profile_id = "treasury"
  to_profile_id   = each.key
  amount          = "1.00"
  asset           = "USD"
}
`
	if err := os.WriteFile(filepath.Join(dir, "main.hcl"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	loaded, diags := config.Load(dir, config.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var mistakes mistake.Set
	count := 0
	for range declared(ctx, loaded, &mistakes) {
		count++
		interrupt()
	}
	if said := mistakes.Diagnostics(); count != 1 || len(said) != 1 || said[0].Summary != "Interrupted" {
		t.Errorf("%d transfers were read, with the mistakes %v; want one and the interrupt", count, said)
	}
}
