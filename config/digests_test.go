package config_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"remit/config"
	"remit/config/functions"
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
  asset           = fileexists("none.txt") ? "EUR" : "USD"
  metadata        = { files = join(" ", fileset(".", "*.txt")) }
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
	got, searches, err := c.Digests(nil)
	if err != nil {
		t.Fatal(err)
	}
	var want []config.FileDigest
	for _, name := range []string{"from.txt", "main.hcl", "rows/pay.csv", "to.tmpl"} {
		sum := sha256.Sum256([]byte(files[name]))
		want = append(want, config.FileDigest{Name: name, SHA256: hex.EncodeToString(sum[:])})
	}
	wantSearches := []functions.Search{{Path: ".", Pattern: "*.txt", Found: []string{"from.txt"}}, {Path: "none.txt"}}
	slices.SortFunc(searches, func(a, b functions.Search) int { return strings.Compare(a.Path, b.Path) })
	if diff := cmp.Diff(wantSearches, searches); diff != "" {
		t.Errorf("other searches (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("other files (-want +got):\n%s", diff)
	}
}
