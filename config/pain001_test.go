package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"
	"pgregory.net/rapid"
)

const instructions = `
data "pain001" "pay" {
  file = "pay.xml"
}
transfer "internal" "pay" {
  for_each        = data.pain001.pay.rows
  ref_id          = each.key
  from_profile_id = "A-1"
  to_profile_id   = each.value.creditor_iban
  amount          = each.value.amount
  asset           = each.value.currency
  metadata        = { date = each.value.requested_date, info = each.value.payment_information_id }
}
`

// TestInstructionsAreRows writes random files of both kinds of versions: each instruction is a
// row with what stands above it, and a control total that is off by one is a mistake.
func TestInstructionsAreRows(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "main.hcl", []byte(instructions))
	rapid.Check(t, func(rt *rapid.T) {
		version := rapid.SampledFrom([]string{"03", "09", "11"}).Draw(rt, "version")
		prefix := rapid.SampledFrom([]string{"", "p:"}).Draw(rt, "prefix")
		space := rapid.SampledFrom([]string{"", " ", "\n  "}).Draw(rt, "space")
		tag := func(name, content string) string {
			return "<" + prefix + name + ">" + content + "</" + prefix + name + ">" + space
		}
		var want []string
		var body strings.Builder
		sum := decimal.Zero
		for i := range rapid.IntRange(1, 3).Draw(rt, "PmtInf") {
			date := fmt.Sprintf("2026-11-%02d", i+10)
			dated := date
			if version != "03" {
				dated = tag("Dt", date)
			}
			info := tag("PmtInfId", fmt.Sprint("P", i)) + tag("ReqdExctnDt", dated)
			for j := range rapid.IntRange(1, 4).Draw(rt, "instructions") {
				amount := rapid.StringMatching(`[1-9][0-9]{0,6}(\.[0-9]{1,2})?`).Draw(rt, "amount")
				sum = sum.Add(decimal.RequireFromString(amount))
				id := fmt.Sprintf("E-%d-%d", i, j)
				info += tag("CdtTrfTxInf", tag("PmtId", tag("EndToEndId", id))+
					tag("Amt", "<"+prefix+`InstdAmt Ccy="EUR">`+space+amount+"</"+prefix+"InstdAmt>")+
					tag("CdtrAcct", tag("Id", tag("IBAN", "DE"+fmt.Sprint(j)))))
				want = append(want, fmt.Sprintf(`{"amount":"%s","asset":"EUR","from_profile_id":"A-1","metadata":{"date":"%s","info":"P%d"},"ref_id":"%s","to_profile_id":"DE%d"}`, amount, date, i, id, j))
			}
			body.WriteString(tag("PmtInf", info))
		}
		off := rapid.IntRange(-1, 1).Draw(rt, "off")
		offSum := rapid.SampledFrom([]string{"-0.01", "0", "0.01"}).Draw(rt, "off")
		header := tag("GrpHdr", tag("MsgId", "M")+tag("NbOfTxs", fmt.Sprint(len(want)+off))+
			tag("CtrlSum", sum.Add(decimal.RequireFromString(offSum)).String()))
		xmlns := "xmlns"
		if prefix != "" {
			xmlns = "xmlns:p"
		}
		file := fmt.Sprintf(`<%sDocument %s="urn:iso:std:iso:20022:tech:xsd:pain.001.001.%s">`, prefix, xmlns, version) +
			tag("CstmrCdtTrfInitn", header+body.String()) + "</" + prefix + "Document>"
		write(t, dir, "pay.xml", []byte(rapid.SampledFrom([]string{"", "\ufeff"}).Draw(rt, "mark")+file))
		got, mistakes := requestsOf(rt, dir)
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Error(diff)
		}
		wrong := 0
		if off != 0 {
			wrong++
		}
		if offSum != "0" {
			wrong++
		}
		if mistakes != wrong {
			rt.Errorf("%d mistakes, want %d", mistakes, wrong)
		}
	})
}

// FuzzPain001 reads any bytes: nothing panics, and what is declared can be sent.
func FuzzPain001(f *testing.F) {
	const start = `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09"><CstmrCdtTrfInitn><GrpHdr><MsgId>M</MsgId><NbOfTxs>1</NbOfTxs><CtrlSum>1.5</CtrlSum></GrpHdr><PmtInf>`
	const instruction = `<CdtTrfTxInf><PmtId><EndToEndId>E</EndToEndId></PmtId><Amt><InstdAmt Ccy="EUR">1.50</InstdAmt></Amt><CdtrAcct><Id><IBAN>D</IBAN></Id></CdtrAcct><RmtInf><Ustrd>a</Ustrd><Ustrd>&#x62;</Ustrd></RmtInf></CdtTrfTxInf>`
	f.Add([]byte(start + instruction + `</PmtInf></CstmrCdtTrfInitn></Document>`))
	f.Add([]byte(start + `<ReqdExctnDt><Dt>2026</Dt></ReqdExctnDt><PmtMtd>CHK</PmtMtd>` + instruction))
	f.Add([]byte("\ufeff<?xml version=\"1.0\" encoding=\"latin1\"?><!DOCTYPE a><Document/>"))
	f.Add([]byte(start + instruction + instruction + `<Dbtr><Nm>late</Nm></Dbtr></PmtInf><x:y xmlns:x="z"/>`))
	f.Fuzz(func(t *testing.T, file []byte) {
		dir := t.TempDir()
		write(t, dir, "main.hcl", []byte(instructions))
		write(t, dir, "pay.xml", file)
		sound(t, dir)
	})
}
