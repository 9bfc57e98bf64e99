package config_test

import (
	"fmt"
	"strings"
	"testing"

	"remit/config"
)

// mergedFiles declares two files of rows and what is made of them; a for_each and an amount are put in.
const mergedFiles = `
data "csv" "a" {
  file = "a.csv"
  key  = "no"
}
data "csv" "b" {
  file = "b.csv"
  key  = "no"
}
variable "secret" {
  type      = map(string)
  sensitive = true
  default   = { a = "1.00" }
}
locals {
  all    = merge(data.csv.a.rows, data.csv.b.rows)
  config = { tags = merge({ x = { t = "1" } }, { x = { t = "2" } }), rows = { a = data.csv.a.rows, all = local.all } }
  groups = merge({ for row in data.csv.a.rows : row.to => row... }, { for row in data.csv.b.rows : row.to => row... })
  open   = merge({ a = { secret = tostring(issensitive(var.secret)) } }, { a = { secret = "2.00" } })
}
transfer "internal" "pay" {
  for_each        = %s
  ref_id          = "pay-${each.key}"
  from_profile_id = "A"
  to_profile_id   = "B"
  amount          = %s
  asset           = "USD"
}
`

// TestMergesOnTheWay follows each kind of expression from a for_each, or an amount, to the merge that loses a row there.
func TestMergesOnTheWay(t *testing.T) {
	tests := map[string]struct {
		forEach, amount string
		keys            string // that a mistake names; "" where nothing is lost
	}{
		"the local itself":                    {forEach: `local.all`, keys: `The key "1" stands`},
		"in functions that keep elements":     {forEach: `tomap(try(local.all, {}))`, keys: `The key "1" stands`},
		"the keys alone":                      {forEach: `toset(keys(local.all))`, keys: `The key "1" stands`},
		"by an attribute":                     {forEach: `local.config.rows.all`, keys: `The key "1" stands`},
		"by an index":                         {forEach: `local.config["rows"]["all"]`, keys: `The key "1" stands`},
		"by lookup":                           {forEach: `lookup(local.config.rows, "all", {})`, keys: `The key "1" stands`},
		"another attribute":                   {forEach: `local.config.rows.a`},
		"by an index that is computed":        {forEach: `local.config.rows[join("", ["a", "ll"])]`, keys: `The key "1" stands`},
		"as one of a list":                    {forEach: `one([local.all])`, keys: `The key "1" stands`},
		"as an element of a list":             {forEach: `element([{}, local.all], 1)`, keys: `The key "1" stands`},
		"through a splat":                     {forEach: `toset(values(local.all)[*].no)`, keys: `The key "1" stands`},
		"through values and a loop":           {forEach: `{ for row in values(local.all) : row.no => row }`, keys: `The key "1" stands`},
		"through lists in lists":              {forEach: `{ for row in flatten([[for row in local.all : row]]) : row.no => row }`, keys: `The key "1" stands`},
		"through zipmap":                      {forEach: `zipmap(["x", "y", "z"], values(local.all))`, keys: `The key "1" stands`},
		"in the body of a loop":               {forEach: `merge([for x in ["x", "y"] : { for no, row in merge(data.csv.a.rows, data.csv.b.rows) : "${x}-${no}" => row }]...)`, keys: `The key "1" stands`},
		"by the name of a loop's element":     {forEach: `merge([for name, rows in { x = local.all } : rows]...)`, keys: `The key "1" stands`},
		"in passes that an if leaves out":     {forEach: `merge([for x in ["x", "y"] : merge(data.csv.a.rows, x == "x" ? data.csv.b.rows : {}) if x == "y"]...)`},
		"in a later pass alone":               {forEach: `merge([for x in ["x", "y"] : { for no, row in merge(data.csv.a.rows, x == "y" ? data.csv.b.rows : {}) : "${x}-${no}" => row }]...)`, keys: `The key "1" stands`},
		"groups of rows":                      {forEach: `local.groups`, keys: `The key "ann" stands`},
		"rows of groups":                      {forEach: `{ for row in flatten([for to, rows in local.groups : rows]) : row.no => row }`, keys: `The key "ann" stands`},
		"one group":                           {forEach: `{ for row in local.groups.ann : row.no => row }`, keys: `The key "ann" stands`},
		"another group":                       {forEach: `{ for row in local.groups.bob : row.no => row }`},
		"the side of a conditional":           {forEach: `length(local.groups) > 0 ? local.all : {}`, keys: `The key "1" stands`},
		"the side that is not taken":          {forEach: `length(local.groups) > 0 ? {} : local.all`},
		"a condition that looks at it":        {forEach: `{ for no, row in data.csv.a.rows : no => row if length(local.all) > 0 }`},
		"a value that looks into it":          {forEach: `{ for no, row in data.csv.a.rows : no => local.all[no].net }`},
		"what is taken away":                  {forEach: `setsubtract(keys(data.csv.a.rows), keys(local.all))`},
		"texts that were written":             {forEach: `merge({ a = "1" }, { a = "2" })`},
		"objects that were written":           {forEach: `merge({ a = { net = "1" } }, { a = { net = "2" } })`, keys: `The key "a" stands`},
		"texts of rows":                       {forEach: `merge({ for no, row in data.csv.a.rows : no => row.net }, { for no, row in data.csv.b.rows : no => row.net })`, keys: `The key "1" stands`},
		"the same row":                        {forEach: `merge(data.csv.a.rows, { for no, row in data.csv.a.rows : no => row })`},
		"a null in the place of a map":        {forEach: `merge(data.csv.a.rows, null)`},
		"many keys":                           {forEach: `merge({ for i in range(9) : "k${i}" => { n = 1 } }, { for i in range(9) : "k${i}" => { n = 2 } })`, keys: `The keys "k0", "k1", "k2" and 6 more stand`},
		"three maps":                          {forEach: `merge({ a = { n = 1 } }, { a = { n = 2 } }, { a = { n = 3 } })`, keys: `The key "a" stands in two maps with different values, and merge keeps the last one alone: the for_each of transfer.internal.pay would lose 2 elements`},
		"a secret":                            {forEach: `local.open`, keys: `A key stands`},
		"an object with keys of rows":         {forEach: `{ (data.csv.a.rows["1"].to) = "1", (data.csv.b.rows["1"].to) = "2" }`, keys: `The key "ann" stands at main.hcl:22 already`},
		"such an object in each pass":         {forEach: `merge([for no, row in data.csv.a.rows : { "${row.to}-1" = "1", "${row.to}-${no}" = "2" }]...)`, keys: `The key "ann-1" stands`},
		"such an object of maps":              {forEach: `merge(values({ (data.csv.a.rows["1"].to) = data.csv.b.rows, (data.csv.b.rows["1"].to) = data.csv.a.rows })...)`, keys: `The key "ann" stands`},
		"such an object as a value":           {forEach: `{ for no, row in data.csv.a.rows : no => { (row.to) = "1", ann = "2" } }`},
		"a sum":                               {amount: `decimal_sum([for row in local.all : row.net])`, keys: `The key "1" stands`},
		"a sum of each pass":                  {amount: `decimal_sum(values(local.all)[*].net)`, keys: `The key "1" stands`},
		"a sum of one group":                  {amount: `decimal_sum(local.groups.bob[*].net)`},
		"an amount that looks into it":        {amount: `local.all["1"].net`},
		"a sum that is no part of the amount": {amount: `decimal_sum([for row in data.csv.a.rows : row.net])`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			forEach, amount := test.forEach, test.amount
			if forEach == "" {
				forEach = `{ x = "1" }`
			}
			if amount == "" {
				amount = `"1.00"`
			}
			_, diags := load(t, map[string]string{
				"main.hcl": fmt.Sprintf(mergedFiles, forEach, amount),
				"a.csv":    "no,to,net\n1,ann,10.00\n2,bob,20.00\n",
				"b.csv":    "no,to,net\n1,ann,30.00\n3,eva,40.00\n",
			}, config.Options{})
			if test.keys == "" {
				if diags.HasErrors() {
					t.Error(diags.Errs())
				}
				return
			}
			if len(diags) != 1 || diags[0].Summary != "merge loses a payment" && diags[0].Summary != "Key stands twice" || !strings.Contains(diags[0].Detail, test.keys) {
				t.Errorf("%v; want a payment that is lost, and %q", diags.Errs(), test.keys)
			}
		})
	}
}
