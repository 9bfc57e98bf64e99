package config_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/config"
	"remit/config/functions"
	"remit/internal/files/confined"
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

// TestAFileThatChangesWhileItIsReadHasNoDigest has another program write a file of rows, or put another in its place, between the rows
// and the digest: the plan would name bytes that it was not made from.
func TestAFileThatChangesWhileItIsReadHasNoDigest(t *testing.T) {
	const rows = "id,to,net,note\n1,landlord,1.00,a\n2,landlord,2.00,b\n"
	for name, change := range map[string]func(t *testing.T, path string) error{
		"nothing": func(*testing.T, string) error { return nil },
		"written in place": func(_ *testing.T, path string) error {
			return os.WriteFile(path, []byte(rows+"3,landlord,3.00,c\n"), 0o600)
		},
		"another one in its place": func(t *testing.T, path string) error {
			other := t.TempDir()
			write(t, other, "pay.csv", []byte(rows))
			return os.Rename(filepath.Join(other, "pay.csv"), path)
		},
		"as long, and later": func(_ *testing.T, path string) error {
			later := time.Now().Add(time.Minute)
			return errors.Join(os.WriteFile(path, []byte(strings.ToUpper(rows)), 0o600), os.Chtimes(path, later, later))
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := mustLoad(t, map[string]string{"main.hcl": payroll, "pay.csv": rows}, config.Options{})
			if _, diags := all(c); diags.HasErrors() {
				t.Fatal(diags)
			}
			if err := change(t, filepath.Join(c.Dir, "pay.csv")); err != nil {
				t.Fatal(err)
			}
			if _, _, err := c.Digests(nil); errors.Is(err, confined.ErrChanged) == (name == "nothing") {
				t.Errorf("the digest: %v", err)
			}
		})
	}
}

// TestColumnsThatChangePlacesWhileTheFileIsReadPayNobody has another program write the file with two columns of text in each other's place
// after its header was read: a note would be taken for a payee.
func TestColumnsThatChangePlacesWhileTheFileIsReadPayNobody(t *testing.T) {
	c := mustLoad(t, map[string]string{"main.hcl": payroll, "pay.csv": "id,to,net,note\n1,landlord,1.00,mallory\n"}, config.Options{})
	write(t, c.Dir, "pay.csv", []byte("id,note,net,to\n1,landlord,1.00,mallory\n"))
	transfers, diags := all(c)
	if len(transfers) > 0 || len(diags) != 1 || diags[0].Summary != "Data file changed" {
		t.Errorf("%d transfers are made: %v", len(transfers), diags)
	}
}
