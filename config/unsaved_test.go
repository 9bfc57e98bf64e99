package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"remit/config"
	"remit/internal/files/confined"
)

// TestUnsavedTextsAreReadInThePlaceOfFiles says of each kind of file that a text which is not saved stands for it, and
// opens no way out of the directory.
func TestUnsavedTextsAreReadInThePlaceOfFiles(t *testing.T) {
	const block = `transfer "internal" "rent" {
  from_profile_id = "treasury"
  to_profile_id   = "desk"
  amount          = NUMBER
  asset           = "USD"
}
`
	with := func(amount string) string { return strings.Replace(block, "NUMBER", amount, 1) }
	const rows = "data \"csv\" \"pay\" {\n  file = \"pay.csv\"\n  key  = \"id\"\n}\n" +
		"transfer \"internal\" \"pay\" {\n  for_each = data.csv.pay.rows\n  ref_id = each.key\n  from_profile_id = \"treasury\"\n  to_profile_id = \"desk\"\n  amount = each.value.net\n  asset = \"USD\"\n}\n"
	for name, test := range map[string]struct {
		files, links, unsaved map[string]string
		want                  string // of the amount, or of the first mistake
	}{
		"a source that is saved otherwise": {
			files: map[string]string{"dir/main.hcl": with(`"1.00"`)}, unsaved: map[string]string{"dir/main.hcl": with(`"2.00"`)}, want: "2.00",
		},
		"a source that is not saved yet": {
			files: map[string]string{"dir/other.hcl": ""}, unsaved: map[string]string{"dir/main.hcl": with(`"2.00"`)}, want: "2.00",
		},
		"a data file": {
			files: map[string]string{"dir/main.hcl": rows, "dir/pay.csv": "id,net\nE-1,1.00\n"}, unsaved: map[string]string{"dir/pay.csv": "id,net\nE-1,2.00\n"}, want: "2.00",
		},
		"a data file that is not saved yet": {
			files: map[string]string{"dir/main.hcl": rows}, unsaved: map[string]string{"dir/pay.csv": "id,net\nE-1,2.00\n"}, want: "2.00",
		},
		"a file that a function reads": {
			files: map[string]string{"dir/main.hcl": with(`file("amount.txt")`), "dir/amount.txt": "1.00"}, unsaved: map[string]string{"dir/amount.txt": "2.00"}, want: "2.00",
		},
		"a file of variables": {
			files:   map[string]string{"dir/main.hcl": with("var.amount") + "variable \"amount\" { type = string }\n", "dir/remit.hclvars": "amount = \"1.00\"\n"},
			unsaved: map[string]string{"dir/remit.hclvars": "amount = \"2.00\"\n"}, want: "2.00",
		},
		"an included directory": {
			files:   map[string]string{"dir/main.hcl": "remit {\n  include = [\"book\"]\n}\n" + with("local.amount"), "dir/book/book.hcl": "profile \"x\" { profile_id = \"x\" }\n"},
			unsaved: map[string]string{"dir/book/book.hcl": "profile \"desk\" {\n  profile_id = \"3.00\"\n}\n", "dir/main.hcl": "remit {\n  include = [\"book\"]\n}\n" + with("profile.desk.profile_id")}, want: "3.00",
		},
		"a link that stays in the directory": {
			files: map[string]string{"dir/main.hcl": with(`file("amount.txt")`), "dir/real.txt": "1.00"}, links: map[string]string{"dir/amount.txt": "real.txt"},
			unsaved: map[string]string{"dir/real.txt": "2.00"}, want: "2.00",
		},
		"a link that leads out": {
			files: map[string]string{"dir/main.hcl": with(`file("amount.txt")`), "outside.txt": "1.00"}, links: map[string]string{"dir/amount.txt": "../outside.txt"},
			unsaved: map[string]string{"outside.txt": "2.00", "dir/amount.txt": "2.00"}, want: "leads out of the directory",
		},
		"a dangling link that leads out": {
			files: map[string]string{"dir/main.hcl": with(`file("amount.txt")`)}, links: map[string]string{"dir/amount.txt": "../outside.txt"},
			unsaved: map[string]string{"outside.txt": "2.00"}, want: "leads out of the directory",
		},
		"a name that leads out": {
			files: map[string]string{"dir/main.hcl": with(`file("../outside.txt")`), "outside.txt": "1.00"}, unsaved: map[string]string{"outside.txt": "2.00"}, want: "\"..\"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			top := t.TempDir()
			at := func(name string) string {
				path := filepath.Join(top, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				return path
			}
			for name, text := range test.files {
				if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			for name, target := range test.links {
				if err := os.Symlink(target, at(name)); err != nil {
					t.Skip("links cannot be made here: ", err)
				}
			}
			texts := map[string][]byte{}
			for name, text := range test.unsaved {
				texts[at(name)] = []byte(text)
			}
			loaded, diags := config.Load(filepath.Join(top, "dir"), config.Options{Unsaved: confined.NewUnsaved(texts)})
			defer config.Close(loaded)
			var got string
			for transfer, more := range loaded.Transfers(t.Context()) {
				diags = append(diags, more...)
				got = transfer.Request.Amount.String()
			}
			if diags.HasErrors() {
				got = diags.Error()
			}
			if !strings.Contains(got, test.want) {
				t.Errorf("it is %q, and not %q", got, test.want)
			}
		})
	}
}
