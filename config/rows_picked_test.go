package config_test

import (
	"fmt"
	"strings"
	"testing"

	"remit/config"
)

// TestNumbersOfColumnsInAnotherOrder reads a text in its format and a number beside it that has none, whichever order the columns
// have in the workbook and in the block.
func TestNumbersOfColumnsInAnotherOrder(t *testing.T) {
	text := func(s string) string { return `<c t="inlineStr"><is><t>` + s + `</t></is></c>` }
	cells := map[string]string{"net": text("1.234,50 €"), "fee": `<c><v>2.75</v></c>`, "id": text("1")}
	for _, order := range [][]string{{"net", "fee", "id"}, {"fee", "net", "id"}, {"id", "net", "fee"}, {"id", "fee", "net"}, {"fee", "id", "net"}, {"net", "id", "fee"}} {
		var header, fields string
		for _, name := range order {
			header, fields = header+text(name), fields+cells[name]
		}
		workbook := madeOf(t, `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData><row>`+header+`</row><row>`+fields+`</row></sheetData></worksheet>`, false)
		for _, columns := range [][2]string{{"net", "fee"}, {"fee", "net"}} {
			t.Run(fmt.Sprint(order, columns), func(t *testing.T) {
				net, fee := "a", "b"
				if columns[1] == "net" {
					net, fee = fee, net
				}
				c := mustLoad(t, map[string]string{"pay.xlsx": string(workbook), "main.hcl": fmt.Sprintf(twoNumbers, columns[0], columns[1], net, fee)}, config.Options{})
				transfers, diags := all(c)
				var got []string
				for _, transfer := range transfers {
					if transfer.Address != "" {
						got = append(got, transfer.Request.RefID+" "+transfer.Request.Amount.String())
					}
				}
				said := strings.Join(got, ", ")
				if len(diags) != 1 || diags[0].Summary != "Currency of an amount is another one" || !strings.Contains(diags[0].Detail, "1234.50") || said != "fee-1 2.75" {
					t.Errorf("transfers %s; %v", said, diags) // the text has the sign of another currency, and the number none
				}
			})
		}
	}
}

// twoNumbers has a transfer for each of two columns of a workbook.
const twoNumbers = `
data "xlsx" "pay" {
  file          = "pay.xlsx"
  key           = "id"
  columns       = { a = %q, b = %q, id = "id" }
  number_format = { a = "1.234,56 €", b = "1.234,56 €" }
}
transfer "internal" "net" {
  for_each        = data.xlsx.pay.rows
  ref_id          = "net-${each.key}"
  from_profile_id = "A"
  to_profile_id   = "B"
  amount          = each.value.%s
  asset           = "USD"
}
transfer "internal" "fee" {
  for_each        = data.xlsx.pay.rows
  ref_id          = "fee-${each.key}"
  from_profile_id = "A"
  to_profile_id   = "B"
  amount          = each.value.%s
  asset           = "USD"
}
`

// TestARowThatWhereLeavesOutHasItsKey has a key twice, in rows that where leaves out or lets through.
func TestARowThatWhereLeavesOutHasItsKey(t *testing.T) {
	narrowed := strings.Replace(payroll, `= "id"`, "= \"id\"\n  where = row.note == \"pay\"", 1)
	for name, notes := range map[string][2]string{"both let through": {"pay", "pay"}, "the first left out": {"no", "pay"}, "the second left out": {"pay", "no"}, "both left out": {"no", "no"}} {
		file := fmt.Sprintf("id,to,net,note\n1,B-1,1.00,%s\n1,B-2,2.00,%s\n", notes[0], notes[1])
		_, diags := all(mustLoad(t, map[string]string{"main.hcl": narrowed, "pay.csv": file}, config.Options{}))
		if !strings.Contains(diags.Error(), "Key is not unique") {
			t.Errorf("%s: %v", name, diags)
		}
	}
}

// TestAnAcknowledgementOfNothingIsTold has a number for warnings that the file does not have.
func TestAnAcknowledgementOfNothingIsTold(t *testing.T) {
	known := strings.Replace(payroll, `= "id"`, "= \"id\"\n  acknowledge = { full_rows_left_out = 1 }", 1)
	_, diags := all(mustLoad(t, map[string]string{"main.hcl": known, "pay.csv": "id,to,net,note\n1,B-1,1.00,a\n"}, config.Options{}))
	if len(diags) != 1 || diags[0].Summary != "Nothing to acknowledge" {
		t.Errorf("it says %v", diags)
	}
}

// TestARowOutsideOfABatchDoesNotWaitForIt has rows of one block in a batch, in another one, and in none.
func TestARowOutsideOfABatchDoesNotWaitForIt(t *testing.T) {
	c := mustLoad(t, map[string]string{"main.hcl": `
transfer "internal" "funding" {
  ref_id          = "funding"
  from_profile_id = "A"
  to_profile_id   = "B"
  amount          = "9.00"
  asset           = "USD"
}
batch "b" { depends_on = [transfer.internal.funding] }
batch "c" {}
transfer "internal" "pay" {
  for_each        = { r1 = "b", r2 = "", r3 = "c", r4 = "b", r5 = "" }
  batch           = each.value == "" ? null : batch[each.value]
  ref_id          = each.key
  from_profile_id = "B"
  to_profile_id   = "C"
  amount          = "1.00"
  asset           = "USD"
}
`}, config.Options{})
	transfers, diags := all(c)
	if diags.HasErrors() || len(transfers) != 6 {
		t.Fatalf("%d transfers, %v", len(transfers), diags)
	}
	want := map[string]int{"r1": 1, "r4": 1}
	for _, transfer := range transfers {
		if refID := transfer.Request.RefID; len(transfer.DependsOn) != want[refID] {
			t.Errorf("%s waits for %v", refID, transfer.DependsOn)
		}
	}
}
