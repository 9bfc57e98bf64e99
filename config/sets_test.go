package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"remit/config"
)

// TestASetThatIsWrittenIsASet holds for_each = toset([…]), of which no set is made, against the same list
// through a local, of which the library makes one: the same transfers in the same order.
func TestASetThatIsWrittenIsASet(t *testing.T) {
	dir := t.TempDir()
	declared := func(t *rapid.T, head, set string) []string {
		t.Helper()
		text := fmt.Sprintf(`%s
transfer "internal" "pay" {
  for_each        = %s
  ref_id          = "pay-${each.key}-${each.value}"
  from_profile_id = "treasury"
  to_profile_id   = "payee"
  amount          = "1.00"
  asset           = "USD"
}
`, head, set)
		if err := os.WriteFile(filepath.Join(dir, "main.hcl"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		loaded, diags := config.Load(dir, config.Options{})
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		var refIDs []string
		for transfer, diags := range loaded.Transfers(t.Context()) {
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			refIDs = append(refIDs, transfer.Address+" "+transfer.Request.RefID)
		}
		return refIDs
	}
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.StringMatching(`[a-cA-Cäé0-9]{1,3}`), 0, 12).Draw(t, "texts")
		quoted := make([]string, len(texts))
		for i, text := range texts {
			quoted[i] = strconv.Quote(text)
		}
		list := "[" + strings.Join(quoted, ", ") + "]"
		want := declared(t, "locals {\n  set = toset("+list+")\n}", "local.set")
		for name, got := range map[string][]string{
			"a written list": declared(t, "", "toset("+list+")"),
			"in parentheses": declared(t, "", "(toset("+list+"))"),
			"a list by name": declared(t, "locals {\n  list = "+list+"\n}", "toset(local.list)"),
			"a real list":    declared(t, "", "toset(tolist("+list+"))"),
		} {
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-a set +this):\n%s", name, diff)
			}
		}
	})
}
