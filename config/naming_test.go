package config_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"remit/config"
)

// namings loads files, the first of which is main.hcl, and returns how the ref_ids are made.
func namings(t *testing.T, files map[string]string) []string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, diags := config.Load(dir, config.Options{Assignments: []config.Assignment{{Var: "period=2026-11"}}})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	var all []string
	for transfer, diags := range c.Transfers(context.Background()) {
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		all = append(all, transfer.Naming)
	}
	return all
}

const (
	namingPeople = "id,no,to,net\nada,1,x,1.00\nbob,2,y,2.00\n"
	namingRest   = `
  from_profile_id = "treasury"
  to_profile_id   = each.value.to
  amount          = each.value.net
  asset           = "USD"
}
variable "period" { type = string }
`
	namingData = `
data "csv" "people" {
  file = "people.csv"
  key  = "id"
}
`
	namingUsual = `ref_id = "pay-${var.period}-${each.key}", key = "id"`
)

func TestNaming(t *testing.T) {
	rows := func(refID string) string {
		return namingData + "transfer \"internal\" \"pay\" {\n  for_each = data.csv.people.rows\n  ref_id = " + refID + "\n" + namingRest
	}
	single := func(refID string) string {
		return "transfer \"internal\" \"pay\" {\n" + refID + `
  from_profile_id = "treasury"
  to_profile_id   = "x"
  amount          = "1.00"
  asset           = "USD"
}
variable "period" { type = string }
`
	}
	over := func(forEach string) string {
		return namingData + "transfer \"internal\" \"pay\" {\n  for_each = " + forEach + "\n  ref_id = \"pay-${each.key}\"\n" + namingRest
	}
	const book = `
profile "sales" {
  profile_id  = "p-1"
  account_id  = "a-${var.period}"
  description = "Sales"
}
profile "field" {
  profile_id  = "p-2"
  description = "Field ${profile.sales.description}"
}
batch "run" {
  description = "Run ${local.number}"
}
schedule "monthly" {
  description = "Each month"
  rrule       = "FREQ=MONTHLY;COUNT=2"
  start       = "2026-01-31"
}
locals {
  number = 7
  team   = profile.field
}
`
	lookup := func(arguments string) string {
		return rows(`"pay-${data.csv.codes.rows[each.key].no}"`) + "data \"csv\" \"codes\" {\n  key = \"id\"\n" + arguments + "\n}\n"
	}
	elements := func(forEach, refID string) string {
		return "transfer \"internal\" \"pay\" {\n  for_each = " + forEach + "\n  ref_id = " + refID + `
  from_profile_id = "treasury"
  to_profile_id   = "x"
  amount          = "1.00"
  asset           = "USD"
}
variable "period" { type = string }
`
	}
	tests := map[string]struct{ text, want string }{
		"a label":                {single(``), ""},
		"a null is a label":      {single(`ref_id = null`), ""},
		"text":                   {single(`ref_id = "rent"`), config.NamingWritten},
		"text in a local":        {single(`ref_id = local.id`) + `locals { id = "rent" }`, config.NamingWritten},
		"text without a meaning": {single(`ref_id = "a$${b}"`), config.NamingWritten},
		"a period":               {single(`ref_id = "rent-${var.period}"`), `ref_id = "rent-${var.period}"`},
		"a variable alone":       {single(`ref_id = "${var.period}"`), `ref_id = var.period`},
		"rows":                   {rows(`"pay-${var.period}-${each.key}"`), namingUsual},
		"other layout":           {rows("( # of a month\n    \"pay-${ var.period }-${ (each.key) }\" /* , */ )"), namingUsual},
		"a local of a part":      {rows(`"${local.run}-${each.key}"`) + `locals { run = "pay-${var.period}" }`, namingUsual},
		"locals of locals":       {rows(`local.of["run"] == null ? "" : "${local.of.run}-${each.key}"`) + "locals {\n  of  = { run = local.run, other = \"o\" }\n  run = \"pay-${var.period}\"\n}", `ref_id = (("pay-${var.period}" == null) ? "" : "pay-${var.period}-${each.key}"), key = "id"`},
		"a key in a local":       {strings.Replace(rows(`"pay-${var.period}-${each.key}"`), `= "id"`, `= local.key`, 1) + `locals { key = "id" }`, namingUsual},
		"another key":            {strings.Replace(rows(`"pay-${var.period}-${each.key}"`), `= "id"`, `= "no"`, 1), `ref_id = "pay-${var.period}-${each.key}", key = "no"`},
		"a column":               {rows(`"pay-${each.value.no}"`), `ref_id = "pay-${each.value.no}"`},
		"a picked column": {
			strings.Replace(rows(`"pay-${each.key}"`), `= "id"`, `= "id"`+"\n  columns = { id = \"no\", to = \"to\", net = \"net\" }", 1),
			`ref_id = "pay-${each.key}", key = "id", columns.id = "no"`,
		},
		"columns that are called what they are": {
			strings.Replace(rows(`"pay-${var.period}-${each.key}"`), `= "id"`, `= "id"`+"\n  columns = { id = \"id\", to = \"to\", net = \"net\" }", 1), namingUsual,
		},
		"functions":  {rows(`upper(join("-", ["pay", each.key]))`), `ref_id = upper(join("-", ["pay", each.key])), key = "id"`},
		"directives": {rows("\"%{ if each.key == \"x\" }y%{ else }${each.key}%{ endif }\""), `ref_id = ((each.key == "x") ? "y" : each.key), key = "id"`},
		"a for expression": {
			over(`{ for k, row in data.csv.people.rows : row.no => row if row.net != "0" }`),
			`ref_id = "pay-${each.key}", for_each = {for rows(key = "id") : $1.no}`,
		},
		"a for expression in a local, with other names": {
			over(`local.rows`) + `locals { rows = { for person in data.csv.people.rows : person.no => person } }`,
			`ref_id = "pay-${each.key}", for_each = {for rows(key = "id") : $1.no}`,
		},
		"a map of a file":                       {over(`{ for p in jsondecode(file("people.json")) : p.id => p }`), `ref_id = "pay-${each.key}", for_each = {for jsondecode(file("people.json")) : $1.id}`},
		"a map that is written":                 {over(`{ ada = { to = "x", net = "1.00" } }`), `ref_id = "pay-${each.key}", each.key = "ada"`},
		"a map that is in a local":              {over(`local.all`) + `locals { all = { ada = { to = "x", net = "1.00" } } }`, `ref_id = "pay-${each.key}", each.key = "ada"`},
		"a list that is written":                {over(`{ for p in [{ id = "ada", to = "x", net = "1.00" }] : p.id => p }`), `ref_id = "pay-${each.key}", each.key = "ada"`},
		"an attribute of a profile":             {single(`ref_id = "a-${var.period}-${profile.sales.description}"`) + book, `ref_id = "a-${var.period}-Sales"`},
		"an attribute by its index":             {single(`ref_id = "a-${var.period}-${profile["sales"]["description"]}"`) + book, `ref_id = "a-${var.period}-Sales"`},
		"an attribute of an attribute":          {single(`ref_id = "a-${var.period}-${profile.field.description}"`) + book, `ref_id = "a-${var.period}-Field Sales"`},
		"an attribute through a local":          {single(`ref_id = "a-${var.period}-${local.team.description}"`) + book, `ref_id = "a-${var.period}-Field Sales"`},
		"an attribute that is written as it is": {single(`ref_id = "a-${profile.field.description}"`) + book, config.NamingWritten},
		"an attribute of a variable":            {single(`ref_id = "a-${profile.sales.account_id}"`) + book, `ref_id = "a-a-${var.period}"`},
		"an attribute that is not there":        {single(`ref_id = "a-${var.period}-${coalesce(profile.field.account_id, "x")}"`) + book, `ref_id = "a-${var.period}-${coalesce(null, "x")}"`},
		"the name of a block":                   {single(`ref_id = "a-${var.period}-${batch.run.name}"`) + book, `ref_id = "a-${var.period}-run"`},
		"an attribute of a batch":               {single(`ref_id = "a-${var.period}-${batch.run.description}"`) + book, `ref_id = "a-${var.period}-Run ${7}"`},
		"an attribute of a schedule":            {single(`ref_id = "a-${var.period}-${schedule.monthly.description}"`) + book, `ref_id = "a-${var.period}-Each month"`},
		"a whole block":                         {single(`ref_id = "a-${var.period}-${lookup(batch.run, "description")}"`) + book, `ref_id = "a-${var.period}-${lookup({name = "run", description = "Run ${7}"}, "description")}"`},
		"a profile that a row picks": {
			rows(`"a-${each.key}-${profile[each.key == "ada" ? "sales" : "field"].description}"`) + book,
			`ref_id = "a-${each.key}-${{"field" = "Field Sales", "sales" = "Sales"}[((each.key == "ada") ? "sales" : "field")]}", key = "id"`,
		},
		"a row of another file":           {lookup(`file = "people.csv"`), `ref_id = "pay-${rows(key = "id")[each.key].no}", key = "id"`},
		"a row of a file of the period":   {lookup(`file = var.period == "" ? "a.csv" : "people.csv"`), `ref_id = "pay-${rows(key = "id", file = ((var.period == "") ? "a.csv" : "people.csv"))[each.key].no}", key = "id"`},
		"a row of a part of another file": {lookup("file = \"people.csv\"\n  where = row.no != \"9\""), `ref_id = "pay-${rows(key = "id", where = (row.no != "9"))[each.key].no}", key = "id"`},
		"a where of the rows themselves":  {strings.Replace(rows(`"pay-${var.period}-${each.key}"`), `= "id"`, `= "id"`+"\n  where = row.no != \"9\"", 1), namingUsual},
		"a where of rows that are keyed anew": {
			strings.Replace(over(`{ for row in values(data.csv.people.rows) : row.no => row }`), `= "id"`, `= "id"`+"\n  where = row.no != \"9\"", 1),
			`ref_id = "pay-${each.key}", for_each = {for values(rows(key = "id")) : $1.no}`,
		},
		"a written element that is a number": {elements(`{ a = { n = 5 } }`, `"pay-${each.value.n}"`), `ref_id = "pay-${each.value.n}", each.value.n = 5`},
		"a written element in an element":    {elements(`{ a = { n = { b = "x" } } }`, `"pay-${each.value.n.b}"`), `ref_id = "pay-${each.value.n.b}", each.value.n = {"b":"x"}`},
		"a written element itself":           {elements(`{ a = "x" }`, `"pay-${each.value}"`), `ref_id = "pay-${each.value}", each.key = "a", each.value = "x"`},
		"a written set":                      {elements(`toset(["x"])`, `"pay-${each.value}"`), `ref_id = "pay-${each.value}", each.key = "x"`},
		"a written map of no columns":        {strings.Replace(over(`{ ada = { to = "x", net = "1.00" } }`), "pay-${each.key}", "pay-${each.value.to}", 1), `ref_id = "pay-${each.value.to}", each.value.to = "x"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := namings(t, map[string]string{
				"main.hcl": test.text, "people.csv": namingPeople, "people.json": `[{"id":"ada","to":"x","net":"1.00"}]`,
			})
			if len(got) == 0 {
				t.Fatal("there are no transfers")
			}
			if diff := cmp.Diff(test.want, got[0]); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestNamingInJSON reads the same words from JSON.
func TestNamingInJSON(t *testing.T) {
	const text = `{
  "variable": {"period": {"type": "string"}},
  "data": {"csv": {"people": {"file": "people.csv", "key": "id"}}},
  "transfer": {"internal": {"pay": {
    "for_each": "${data.csv.people.rows}", "ref_id": "pay-${var.period}-${each.key}", "from_profile_id": "treasury",
    "to_profile_id": "${each.value.to}", "amount": "${each.value.net}", "asset": "USD"
  }}}
}`
	got := namings(t, map[string]string{"main.hcl.json": text, "people.csv": namingPeople})
	if diff := cmp.Diff([]string{namingUsual, namingUsual}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestNamingIsBounded has a ref_id that is long, or is made of locals that each double the one
// before: all of it counts, and the naming is short.
func TestNamingIsBounded(t *testing.T) {
	block := func(refID, locals string) string {
		return "locals {\n  l0 = \"x${var.period}\"\n" + locals + "}\ntransfer \"internal\" \"pay\" {\n  ref_id = " + refID + `
  from_profile_id = "treasury"
  to_profile_id   = "x"
  amount          = "1.00"
  asset           = "USD"
}
variable "period" { type = string }
`
	}
	const doublings = 60
	var doubled strings.Builder
	for i := range doublings {
		fmt.Fprintf(&doubled, "  l%d = \"${substr(local.l%d, 0, 4)}${substr(local.l%d, 0, 4)}\"\n", i+1, i, i)
	}
	long := strings.Repeat("ä", 400)
	for name, two := range map[string][2]string{
		"a long one":  {block(`substr("${var.period}`+long+`a", 0, 9)`, ""), block(`substr("${var.period}`+long+`b", 0, 9)`, "")},
		"many locals": {block(fmt.Sprintf("local.l%d", doublings), doubled.String()), strings.Replace(block(fmt.Sprintf("local.l%d", doublings), doubled.String()), `"x$`, `"y$`, 1)},
	} {
		t.Run(name, func(t *testing.T) {
			one := namings(t, map[string]string{"main.hcl": two[0]})[0]
			other := namings(t, map[string]string{"main.hcl": two[1]})[0]
			if !config.IsCutNaming(one) || config.IsCutNaming(one[:40]) {
				t.Errorf("%q is called whole, or a part of it is not", one)
			}
			if len(one) > 320 || !utf8.ValidString(one) || one == other {
				t.Errorf("two namings are %q and %q", one, other)
			}
		})
	}
}
