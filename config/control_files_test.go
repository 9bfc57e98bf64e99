package config_test

import (
	"fmt"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"remit/config"
)

// TestControlsAreNotOfTheRowsThemselves has control totals that are computed from files, some of which have the rows that are paid.
func TestControlsAreNotOfTheRowsThemselves(t *testing.T) {
	const rows = "data.csv.p.rows"
	for name, test := range map[string]struct {
		count, forEach string
		of             string // the argument batch of the transfers; batch.b where it is ""
		isRefused      bool
	}{
		"the file of the data block":       {count: `length(local.all)`, forEach: rows, isRefused: true},
		"the same file in other words":     {count: `length(csvdecode(file("./p.csv")))`, forEach: rows, isRefused: true},
		"through locals on both sides":     {count: `local.n`, forEach: `local.keyed`, isRefused: true},
		"through another data block":       {count: `local.n`, forEach: `{ for k, r in data.csv.p.rows : k => r }`, isRefused: true},
		"files of a set":                   {count: `sum([for f in fileset(".", "p*.csv") : length(csvdecode(file(f)))])`, forEach: rows, isRefused: true},
		"a batch that a row chooses":       {count: `local.n`, forEach: rows, of: `batch[each.value.batch]`, isRefused: true},
		"a file of totals":                 {count: `local.hr.count`, forEach: rows},
		"a file of totals and of a period": {count: `local.hr.count`, forEach: `{ for k, r in data.csv.p.rows : "${local.hr.period}-${k}" => r }`},
		"the rows of another batch":        {count: `local.n`, forEach: rows, of: `batch.other`},
		"what was typed in":                {count: `2`, forEach: rows},
	} {
		t.Run(name, func(t *testing.T) {
			if test.of == "" {
				test.of = "batch.b"
			}
			_, diags := load(t, map[string]string{
				"p.csv":        "inv,vendor,net,batch\ni1,v1,10.00,b\ni2,v2,20.00,b\n",
				"control.json": `{"count": 2, "period": "2026-11"}`,
				"main.hcl": fmt.Sprintf(`
data "csv" "p" {
  file = "p.csv"
  key  = "inv"
}
locals {
  all   = csvdecode(file("p.csv"))
  n     = length(local.all)
  keyed = { for r in local.all : r.inv => r }
  hr    = jsondecode(file("control.json"))
}
batch "b" {
  control {
    count = %s
  }
}
batch "other" {}
transfer "internal" "p" {
  for_each        = %s
  batch           = %s
  ref_id          = "p-${each.key}"
  from_profile_id = "treasury"
  to_profile_id   = each.value.vendor
  amount          = each.value.net
  asset           = "USD"
}
`, test.count, test.forEach, test.of),
			}, config.Options{})
			isRefused := false
			for _, d := range diags {
				switch {
				case d.Summary == "Control total of the rows themselves":
					isRefused = true
				case d.Severity == hcl.DiagError:
					t.Errorf("%s: %s", d.Summary, d.Detail)
				}
			}
			if isRefused != test.isRefused {
				t.Errorf("refused is %v, want %v", isRefused, test.isRefused)
			}
		})
	}
}
