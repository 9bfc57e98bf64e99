package config_test

import (
	"fmt"
	"strings"
	"testing"

	"remit/config"
)

// TestPositions has ways in which a ref_id is made of where a row stands, and ways that look like them and are not.
func TestPositions(t *testing.T) {
	const key = "each.key"
	for name, test := range map[string]struct {
		forEach string
		refID   string // each.key where it is ""
		to      string // each.value.vendor where it is ""
		counts  string // the part that counts rows; "" for none
	}{
		"the index of a loop":                 {forEach: `{ for i, r in local.rows : "${i}" => r }`, counts: key},
		"the index of a loop in a local":      {forEach: `local.by_index`, counts: key},
		"indexes of a range with a length":    {forEach: `{ for i in range(length(local.rows)) : "${local.rows[i].vendor}-${i}" => local.rows[i] }`, counts: key},
		"indexes of a range with a number":    {forEach: `{ for i in range(2) : "p${i}" => local.rows[i] }`, counts: key},
		"indexes by element":                  {forEach: `{ for i in range(2) : "p${i}" => element(local.rows, i) }`, counts: key},
		"indexes of a set, in arguments":      {forEach: `toset([for i in range(2) : tostring(i)])`, to: `local.rows[tonumber(each.key)].vendor`, counts: key},
		"the function index":                  {forEach: `{ for r in local.rows : format("%03d", index(local.rows, r)) => r }`, counts: key},
		"the function index, of keys":         {forEach: `{ for k, r in data.csv.p.rows : format("%03d", index(keys(data.csv.p.rows), k)) => r }`, counts: key},
		"a column of the loop's collection":   {forEach: `{ for r in [for i, r in local.rows : merge(r, { nr = "${i}" })] : r.nr => r }`, counts: key},
		"a column that ref_id names":          {forEach: `{ for i, r in local.rows : r.inv => merge(r, { n = format("%03d", i) }) }`, refID: "each.value.n", counts: "each.value.n"},
		"all columns":                         {forEach: `{ for i, r in local.rows : r.inv => merge(r, { n = i }) }`, refID: "sha256(jsonencode(each.value))", counts: "each.value"},
		"a column of a group":                 {forEach: `{ for r in local.numbered : r.inv => r... }`, refID: "each.value[0].n", to: "each.value[0].vendor", counts: "each.value.n"},
		"a column of rows of a loop of loops": {forEach: `local.of_vendors`, refID: "each.value.n", counts: "each.value.n"},
		"a condition on the index":            {forEach: `{ for i, r in local.rows : r.inv => merge(r, { n = i == 0 ? "a" : "b" }) }`, refID: "each.value.n", counts: "each.value.n"},
		"zipmap of written keys":              {forEach: `zipmap(["a", "b"], local.rows)`, counts: key},
		"zipmap of counted keys":              {forEach: `zipmap([for i, r in local.rows : "n${i}"], local.rows)`, counts: key},

		"the keys of a map":                    {forEach: `{ for k, r in data.csv.p.rows : k => r }`},
		"the keys of a loop":                   {forEach: `{ for k, r in { for r in local.rows : r.inv => r } : k => r }`},
		"a column beside":                      {forEach: `{ for i, r in local.rows : r.inv => merge(r, { n = i }) }`},
		"a column beside, of a local":          {forEach: `{ for r in local.numbered : r.inv => r }`},
		"a column beside, of a loop of loops":  {forEach: `local.of_vendors`},
		"a column beside, of a group":          {forEach: `{ for r in local.numbered : r.inv => r... }`, refID: "each.value[0].inv", to: "each.value[0].vendor"},
		"a range that indexes nothing":         {forEach: `{ for i in range(2) : "instalment-${i}" => { vendor = "v" } }`},
		"a range that indexes a map":           {forEach: `{ for i in range(2) : "m-${i}" => { vendor = local.months["${i}"] } }`},
		"a range that indexes allocated parts": {forEach: `{ for i in range(2) : "part-${i}" => { vendor = local.parts[i] } }`},
		"zipmap of keys and values":            {forEach: `zipmap(keys(data.csv.p.rows), values(data.csv.p.rows))`},
		"zipmap of a column":                   {forEach: `zipmap(local.rows[*].inv, local.rows)`},
		"zipmap of what is written":            {forEach: `zipmap(["a", "b"], [{ vendor = var.one }, { vendor = "v2" }])`},
		"zipmap of allocated parts":            {forEach: `zipmap(["a", "b"], local.parts)`, to: `"v"`},
		"the place of a word in a written list": {
			forEach: `{ for r in local.rows : "${r.inv}-${index(["v1", "v2"], r.vendor)}" => r }`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if test.refID == "" {
				test.refID = "each.key"
			}
			if test.to == "" {
				test.to = "each.value.vendor"
			}
			_, diags := load(t, map[string]string{"p.csv": "inv,vendor,net\ni1,v1,10.00\ni2,v2,20.00\n", "main.hcl": fmt.Sprintf(`
variable "one" { default = "v1" }
data "csv" "p" {
  file = "p.csv"
  key  = "inv"
}
locals {
  rows       = values(data.csv.p.rows)
  by_index   = { for i, r in local.rows : "${i}" => r }
  numbered   = [for i, r in local.rows : merge(r, { n = i })]
  groups     = { for r in local.rows : r.vendor => r... }
  of_vendors = { for r in flatten([for v, rs in local.groups : [for i, r in rs : merge(r, { n = "${v}-${i}" })]]) : r.inv => r }
  months     = { "0" = "jan", "1" = "feb" }
  parts      = allocate("100.00", [60, 40], 2)
}
transfer "internal" "p" {
  for_each        = %s
  ref_id          = "p-${%s}"
  from_profile_id = "treasury"
  to_profile_id   = %s
  amount          = "10.00"
  asset           = "USD"
}
`, test.forEach, test.refID, test.to)}, config.Options{})
			got := ""
			for _, d := range diags {
				if d.Summary != "ref_id depends on a row's position" {
					t.Errorf("%s: %s", d.Summary, d.Detail)
					continue
				}
				got, _, _ = strings.Cut(d.Detail, " counts rows here")
			}
			if got != test.counts {
				t.Errorf("%q counts rows, want %q", got, test.counts)
			}
		})
	}
}
