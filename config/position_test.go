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
		"the index of a loop":                              {forEach: `{ for i, r in local.rows : "${i}" => r }`, counts: key},
		"the index of a loop in a local":                   {forEach: `local.by_index`, counts: key},
		"indexes of a range with a length":                 {forEach: `{ for i in range(length(local.rows)) : "${local.rows[i].vendor}-${i}" => local.rows[i] }`, counts: key},
		"indexes of a range with a number":                 {forEach: `{ for i in range(2) : "p${i}" => local.rows[i] }`, counts: key},
		"indexes by element":                               {forEach: `{ for i in range(2) : "p${i}" => element(local.rows, i) }`, counts: key},
		"indexes of a set, in arguments":                   {forEach: `toset([for i in range(2) : tostring(i)])`, to: `local.rows[tonumber(each.key)].vendor`, counts: key},
		"the function index":                               {forEach: `{ for r in local.rows : format("%03d", index(local.rows, r)) => r }`, counts: key},
		"the function index, of keys":                      {forEach: `{ for k, r in data.csv.p.rows : format("%03d", index(keys(data.csv.p.rows), k)) => r }`, counts: key},
		"a column of the loop's collection":                {forEach: `{ for r in [for i, r in local.rows : merge(r, { nr = "${i}" })] : r.nr => r }`, counts: key},
		"a column that ref_id names":                       {forEach: `{ for i, r in local.rows : r.inv => merge(r, { n = format("%03d", i) }) }`, refID: "each.value.n", counts: "each.value.n"},
		"all columns":                                      {forEach: `{ for i, r in local.rows : r.inv => merge(r, { n = i }) }`, refID: "sha256(jsonencode(each.value))", counts: "each.value"},
		"a column of a group":                              {forEach: `{ for r in local.numbered : r.inv => r... }`, refID: "each.value[0].n", to: "each.value[0].vendor", counts: "each.value.n"},
		"a column of rows of a loop of loops":              {forEach: `local.of_vendors`, refID: "each.value.n", counts: "each.value.n"},
		"a condition on the index":                         {forEach: `{ for i, r in local.rows : r.inv => merge(r, { n = i == 0 ? "a" : "b" }) }`, refID: "each.value.n", counts: "each.value.n"},
		"zipmap of written keys":                           {forEach: `zipmap(["a", "b"], local.rows)`, counts: key},
		"zipmap of counted keys":                           {forEach: `zipmap([for i, r in local.rows : "n${i}"], local.rows)`, counts: key},
		"keys of maps that merge takes of a list":          {forEach: `merge([for v, rs in local.groups : { for i, r in rs : "${v}-${i}" => r }]...)`, counts: key},
		"keys of maps that merge takes of a written group": {forEach: `merge([for v, rs in { for r in local.rows : r.vendor => r... } : { for i, r in rs : "${v}-${i}" => r }]...)`, counts: key},
		"keys of maps that merge takes of a local":         {forEach: `merge(local.maps...)`, counts: key},
		"keys of maps whose first is empty":                {forEach: `merge([for v in ["v0", "v1"] : { for i, r in [for r in local.rows : r if r.vendor == v] : "${v}-${i}" => r }]...)`, counts: key},
		"keys of maps that merge takes one by one":         {forEach: `merge({ for i, r in local.rows : "a${i}" => r }, { for r in local.rows : r.inv => r })`, counts: key},
		"keys of a map of a variable":                      {forEach: `merge([for v, rs in var.deals : { for i, r in rs : "${v}-${i}" => r }]...)`, counts: key},
		"keys of maps of decoded text":                     {forEach: `merge([for k, r in { a = { inv = "[{\"vendor\":\"v1\"}]" } } : { for i, x in jsondecode(r.inv) : "${k}-${i}" => x }]...)`, counts: key},
		"an object of a local":                             {forEach: `local.deep.of.all`, counts: key},
		"an element of a local":                            {forEach: `local.list_of_maps[0]`, counts: key},
		"an element by one":                                {forEach: `one(local.list_of_maps)`, counts: key},
		"an element by lookup":                             {forEach: `lookup({ a = local.by_index }, "a", {})`, counts: key},
		"a default of lookup":                              {forEach: `lookup({}, "a", local.by_index)`, counts: key},
		"try":                                              {forEach: `try(local.deep.none, local.by_index)`, counts: key},
		"coalesce":                                         {forEach: `coalesce(local.by_index)`, counts: key},
		"tomap":                                            {forEach: `tomap({ for i, r in local.rows : i => r })`, counts: key},
		"a conditional":                                    {forEach: `var.one == "v1" ? local.by_index : {}`, counts: key},
		"a loop over keys that count":                      {forEach: `{ for k in keys(local.by_index) : "p-${k}" => local.by_index[k] }`, counts: key},
		"a loop over a set of keys":                        {forEach: `{ for k in toset(keys(local.by_index)) : k => local.by_index[k] }`, counts: key},
		"a map that counts, indexed by a range":            {forEach: `{ for i in range(2) : "p${i}" => local.by_index["${i}"] }`, counts: key},
		"a map that counts, looked up by a range":          {forEach: `{ for i in range(2) : "p${i}" => lookup(local.by_index, i) }`, counts: key},
		"combinations with a range":                        {forEach: `{ for p in setproduct(["a"], range(2)) : "${p[0]}-${p[1]}" => local.rows[p[1]] }`, counts: key},
		"combinations of keys that count":                  {forEach: `{ for p in setproduct(["a"], keys(local.by_index)) : "${p[0]}-${p[1]}" => local.by_index[p[1]] }`, counts: key},
		"chunks":                                           {forEach: `merge([for c, rs in chunklist(local.rows, 1) : { for r in rs : "c${c}" => r }]...)`, counts: key},
		"the index of reversed rows":                       {forEach: `{ for i, r in reverse(local.rows) : "p${i}" => r }`, counts: key},
		"the index of rows of two lists":                   {forEach: `{ for i, r in concat(local.rows, []) : "p${i}" => r }`, counts: key},
		"the index of what is flattened":                   {forEach: `{ for i, r in flatten([local.rows, []]) : "p${i}" => r }`, counts: key},
		"the index of a slice":                             {forEach: `{ for i, r in slice(local.rows, 0, 2) : "p${i}" => r }`, counts: key},
		"the index of distinct columns":                    {forEach: `{ for i, v in distinct(local.rows[*].vendor) : "p${i}" => { vendor = v } }`, counts: key},
		"keys that transpose makes":                        {forEach: `{ for n, vs in transpose({ for i, r in local.rows : r.vendor => ["n${i}"] }) : n => { vendor = vs[0] } }`, counts: key},
		"a loop with the index of another":                 {forEach: `{ for p in [for i, r in local.rows : { n = "n${i}", r = r }] : p.n => p.r }`, counts: key},
		"a pair with the index of another loop":            {forEach: `{ for p in [for i, r in local.rows : ["n${i}", r]] : p[0] => p[1] }`, counts: key},
		"the place where a loop finds the row":             {forEach: `{ for r in local.rows : "n${[for i, x in local.rows : i if x.inv == r.inv][0]}" => r }`, counts: key},
		"the place that one finds":                         {forEach: `{ for r in local.rows : "n${one([for i, x in local.rows : i if x.inv == r.inv])}" => r }`, counts: key},
		"the place that a map finds":                       {forEach: `{ for r in local.rows : "n${local.places[r.inv]}" => r }`, counts: key},
		"the rank of a row":                                {forEach: `{ for r in local.rows : "n${length([for x in local.rows : x if x.net <= r.net])}" => r }`, counts: key},
		"the rank of a row among all":                      {forEach: `{ for r in local.rows : "n${length([for x in data.csv.p.rows : x if x.net <= r.net])}" => r }`, counts: key},
		"the rank within a group":                          {forEach: `merge([for v, rs in local.groups : { for r in rs : "${v}-${length([for x in rs : x if x.net <= r.net])}" => r }]...)`, counts: key},
		"the size of a group":                              {forEach: `{ for v, rs in local.groups : "${v}-${length(rs)}" => rs[0] }`, counts: key},
		"a name that a condition on the index chooses":     {forEach: `{ for i, r in local.rows : (i == 0 ? "first" : r.inv) => r }`, counts: key},
		"a written name by its index":                      {forEach: `{ for i, r in local.rows : ["a", "b"][i] => r }`, counts: key},
		"a splat of a column that counts":                  {forEach: `{ for n in local.numbered[*].n : "p${n}" => local.rows[n] }`, counts: key},
		"a column of a group, of a local":                  {forEach: `{ for v, rs in { for r in local.numbered : r.vendor => r... } : v => { n = rs[0].n, vendor = v } }`, refID: `each.value.n`, counts: "each.value.n"},
		"the place in the ref_id":                          {forEach: `data.csv.p.rows`, refID: `index(keys(data.csv.p.rows), each.key)`, counts: "ref_id"},
		"the place in the ref_id, of a map":                {forEach: `{ for k, r in data.csv.p.rows : k => r }`, refID: `index(local.rows, each.value)`, counts: "ref_id"},
		"the rank in the ref_id":                           {forEach: `data.csv.p.rows`, refID: `length([for x in local.rows : x if decimal_cmp(x.net, each.value.net) <= 0])`, counts: "ref_id"},
		"the size of a group in the ref_id":                {forEach: `local.groups`, refID: `format("%s-%d", each.key, length(each.value))`, to: `each.value[0].vendor`, counts: "ref_id"},
		"a map of places in the ref_id":                    {forEach: `data.csv.p.rows`, refID: `local.places[each.key]`, counts: "ref_id"},

		"the keys of a map":                            {forEach: `{ for k, r in data.csv.p.rows : k => r }`},
		"the keys of a loop":                           {forEach: `{ for k, r in { for r in local.rows : r.inv => r } : k => r }`},
		"a column beside":                              {forEach: `{ for i, r in local.rows : r.inv => merge(r, { n = i }) }`},
		"a column beside, of a local":                  {forEach: `{ for r in local.numbered : r.inv => r }`},
		"a column beside, of a loop of loops":          {forEach: `local.of_vendors`},
		"a column beside, of a group":                  {forEach: `{ for r in local.numbered : r.inv => r... }`, refID: "each.value[0].inv", to: "each.value[0].vendor"},
		"a range that indexes nothing":                 {forEach: `{ for i in range(2) : "instalment-${i}" => { vendor = "v" } }`},
		"a range that indexes a map":                   {forEach: `{ for i in range(2) : "m-${i}" => { vendor = local.months["${i}"] } }`},
		"a range that indexes allocated parts":         {forEach: `{ for i in range(2) : "part-${i}" => { vendor = local.parts[i] } }`},
		"zipmap of keys and values":                    {forEach: `zipmap(keys(data.csv.p.rows), values(data.csv.p.rows))`},
		"zipmap of a column":                           {forEach: `zipmap(local.rows[*].inv, local.rows)`},
		"zipmap of what is written":                    {forEach: `zipmap(["a", "b"], [{ vendor = var.one }, { vendor = "v2" }])`},
		"the index of allocated parts":                 {forEach: `{ for i, p in allocate("100.00", [60, 40], 2) : "part-${i}" => { vendor = p } }`},
		"the index of allocated parts in a local":      {forEach: `{ for i, p in local.parts : "part-${i}" => { vendor = p } }`},
		"parts of each row":                            {forEach: `merge([for k, r in { for r in local.rows : r.vendor => r } : { for i, p in allocate("10.00", [1, 1], 2) : "${k}-${i}" => { vendor = p } }]...)`},
		"zipmap of allocated parts":                    {forEach: `zipmap(["a", "b"], local.parts)`, to: `"v"`},
		"maps that merge takes of a list, by a column": {forEach: `merge([for v, rs in local.groups : { for i, r in rs : "${v}-${r.inv}" => r }]...)`},
		"values of maps that merge takes of a list":    {forEach: `merge([for v, rs in local.groups : { for i, r in rs : "${v}-${i}" => r }]...)`, refID: `each.value.inv`},
		"values beside keys that count":                {forEach: `local.by_index`, refID: `each.value.inv`},
		"values of an object of a local":               {forEach: `local.deep.of.all`, refID: `each.value.inv`},
		"other maps of a local":                        {forEach: `local.deep.of.fine`},
		"merged columns":                               {forEach: `{ for k, r in data.csv.p.rows : k => merge(r, { n = "x" }) }`, refID: `each.value.n == "x" ? each.key : "y"`},
		"a column that is written over":                {forEach: `{ for r in local.numbered : r.inv => merge(r, { n = r.inv }) }`, refID: `each.value.n`},
		"combinations of keys":                         {forEach: `{ for p in setproduct(keys(data.csv.p.rows), ["a", "b"]) : "${p[0]}-${p[1]}" => data.csv.p.rows[p[0]] }`},
		"combinations of rows and instalments":         {forEach: `{ for p in setproduct(values(data.csv.p.rows), range(1, 3)) : "${p[0].inv}-${p[1]}" => p[0] }`},
		"what is flattened, by a column":               {forEach: `{ for r in flatten([for v, rs in local.groups : [for i, r in rs : merge(r, { n = i })]]) : r.inv => r }`},
		"a pair beside an index":                       {forEach: `{ for p in [for i, r in local.rows : [i, r]] : p[1].inv => p[1] }`},
		"keys of a local's map":                        {forEach: `{ for k in keys(data.csv.p.rows) : k => data.csv.p.rows[k] }`},
		"a nested loop over a map":                     {forEach: `merge([for v, rs in { for v, rs in local.groups : v => { for r in rs : r.inv => r } } : { for k, r in rs : "${v}-${k}" => r }]...)`},
		"distinct columns":                             {forEach: `toset(distinct(local.rows[*].vendor))`, to: `each.key`},
		"lookup with a default":                        {forEach: `{ for k, r in data.csv.p.rows : k => lookup(data.csv.p.rows, k, r) }`},
		"coalesce of columns":                          {forEach: `{ for r in local.rows : coalesce(r.inv, r.vendor) => r }`},
		"the length of a text":                         {forEach: `{ for r in local.rows : (length(r.inv) > 9 ? substr(r.inv, 0, 9) : r.inv) => r }`},
		"the words of a text":                          {forEach: `{ for r in local.rows : "${r.inv}-${length(split(" ", r.vendor))}" => r }`},
		"a total of a group beside":                    {forEach: `{ for v, rs in local.groups : v => { vendor = v, n = length(rs), net = decimal_sum(rs[*].net) } }`},
		"months of a variable":                         {forEach: `merge([for m in ["jan", "feb"] : { for k, r in data.csv.p.rows : "${m}-${k}" => r }]...)`},
		"a place in a written list":                    {forEach: `data.csv.p.rows`, refID: `format("%s-%d", each.key, index(["v1", "v2"], each.value.vendor))`},
		"a word of the key by its place":               {forEach: `data.csv.p.rows`, refID: `split("i", each.key)[1]`},
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
variable "deals" { default = { v1 = [{ vendor = "v1" }], v2 = [{ vendor = "v2" }] } }
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
  maps       = [for v, rs in local.groups : { for i, r in rs : "${v}-${i}" => r }]
  places     = { for i, r in local.rows : r.inv => "n${i}" }
  deep         = { of = { all = local.by_index, fine = data.csv.p.rows } }
  list_of_maps = [local.by_index]
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
