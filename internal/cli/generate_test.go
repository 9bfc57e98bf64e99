package cli_test

import (
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"remit/config"
	"remit/internal/cli"
	"remit/internal/transfer"
)

// TestAGeneratedBlockIsItsRequest holds that a block which is written for a recorded request declares that request and
// nothing else, whatever its texts look like, or is a mistake: no text of it is code.
func TestAGeneratedBlockIsItsRequest(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		odd := rapid.SampledFrom([]string{
			"${var.secret}", "$${x}", "%{ if true }", "%%{", `"`, `\`, `\"`, "\n", "$", "%", "}", "#", "//", "/*", "<<EOT", "'", "é", "\u202e", "\x00", " ", "`", "a", "7", "-",
		})
		text := rapid.Custom(func(t *rapid.T) string {
			joined := "x"
			for _, part := range rapid.SliceOfN(odd, 0, 6).Draw(t, "parts") {
				joined += part
			}
			return joined
		})
		pairs := rapid.MapOfN(text, text, 0, 3)
		r := transfer.Request{
			Operation: rapid.SampledFrom(transfer.Operations()).Draw(t, "operation"), RefID: text.Draw(t, "ref_id"),
			FromProfileID: text.Draw(t, "from"), ToProfileID: "to-" + text.Draw(t, "to"), ToAccountID: text.Draw(t, "account"),
			Amount: transfer.MustAmount("1.50"), Asset: "USD",
			Metadata: transfer.NewMetadata(pairs.Draw(t, "metadata")),
		}
		block := cli.DeclarationOf(&r, "")
		if err := os.WriteFile(filepath.Join(dir, "main.hcl"), block, 0o600); err != nil {
			t.Fatal(err)
		}
		loaded, diags := config.Load(dir, config.Options{Version: "0.1.0"})
		count := 0
		if !diags.HasErrors() {
			for declared, more := range loaded.Transfers(t.Context()) {
				diags = append(diags, more...)
				if len(more) == 0 { // a warning comes by itself
					count++
					if declared.Request.RefID != r.RefID || declared.Request.Fingerprint() != r.Fingerprint() {
						t.Fatalf("the block declares another request:\n%s\n%+v\n%+v", block, declared.Request, r)
					}
				}
			}
		}
		if !diags.HasErrors() && count != 1 {
			t.Fatalf("the block declares %d transfers:\n%s", count, block)
		}
		if formatted, diags := config.Format(block, "main.hcl"); diags.HasErrors() || string(formatted) != string(block) {
			t.Fatalf("fmt would change the block: %v\n%s", diags, block)
		}
	})
}
