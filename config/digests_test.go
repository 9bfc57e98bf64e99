package config_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/google/go-cmp/cmp"

	"remit/config"
)

// TestDigestsNameWhatWasRead holds that each file which a declaration was made from is named,
// and no file of variables, whose values may be secret.
func TestDigestsNameWhatWasRead(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		"main.hcl": `
variable "period" {}
data "csv" "pay" {
  file = "rows/pay.csv"
  key  = "id"
}
transfer "internal" "pay" {
  for_each        = data.csv.pay.rows
  ref_id          = "pay-${var.period}-${each.key}"
  from_profile_id = file("./from.txt")
  to_profile_id   = templatefile("to.tmpl", { to = each.value.to })
  amount          = "1.00"
  asset           = "USD"
}`,
		"rows/pay.csv":      "id,to\n1,landlord\n",
		"from.txt":          "treasury",
		"to.tmpl":           "${to}",
		"remit.hclvars":     `period = "2026-11"`,
		"more.auto.hclvars": ``,
		"unread.csv":        "id\n",
	}
	for name, content := range files {
		write(t, dir, name, []byte(content))
	}
	c, diags := config.Load(dir, config.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for _, diags := range c.Transfers(context.Background()) {
		if diags.HasErrors() {
			t.Fatal(diags)
		}
	}
	got, err := c.Digests(nil)
	if err != nil {
		t.Fatal(err)
	}
	var want []config.FileDigest
	for _, name := range []string{"from.txt", "main.hcl", "rows/pay.csv", "to.tmpl"} {
		sum := sha256.Sum256([]byte(files[name]))
		want = append(want, config.FileDigest{Name: name, SHA256: hex.EncodeToString(sum[:])})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("other files (-want +got):\n%s", diff)
	}
}
