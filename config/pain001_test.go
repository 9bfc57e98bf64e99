package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"remit/config"
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
// row with the elements above it, and a control total that is off by one is a mistake.
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

// TestNothingOfAFileIsOverlooked reads files that a schema forbids: each is a mistake, because
// somebody else may read them otherwise.
func TestNothingOfAFileIsOverlooked(t *testing.T) {
	const instruction = `<CdtTrfTxInf><PmtId><EndToEndId>E</EndToEndId></PmtId><Amt><InstdAmt Ccy="EUR">1.50</InstdAmt></Amt><CdtrAcct><Id><IBAN>D</IBAN></Id></CdtrAcct></CdtTrfTxInf>`
	const whole = `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09"><CstmrCdtTrfInitn><GrpHdr><MsgId>M</MsgId><NbOfTxs>1</NbOfTxs></GrpHdr><PmtInf>` + instruction + `</PmtInf></CstmrCdtTrfInitn></Document>`
	for name, test := range map[string]struct{ from, to, says string }{
		"digits before an element":             {`>1.50<`, `>9<x/>1.50<`, "Text beside elements"},
		"digits after an element":              {`>1.50<`, `><x/>1.50<`, "Text beside elements"},
		"text where elements stand":            {`<Amt>`, `<Amt>7`, "Text beside elements"},
		"text before the document":             {`<Document`, `7<Document`, "Text outside of the document"},
		"text after the document":              {`</Document>`, `</Document>7`, "Text outside of the document"},
		"another account behind the IBAN":      {`</IBAN>`, `</IBAN><Othr><Id>X</Id></Othr>`, "Two of which one is allowed"},
		"another account before the IBAN":      {`<IBAN>`, `<Othr><Id>X</Id></Othr><IBAN>`, "Two of which one is allowed"},
		"an attribute that stands twice":       {`Ccy="EUR"`, `Ccy="EUR" Ccy="USD"`, "Attribute stands twice"},
		"an amount that stands twice":          {`<Amt>`, `<Amt><InstdAmt Ccy="USD"/>`, "Element stands twice"},
		"a second amount without currency":     {`</Amt>`, `<InstdAmt>9.00</InstdAmt></Amt>`, "Element stands twice"},
		"a second amount in an Amt of its own": {`</Amt>`, `</Amt><Amt><InstdAmt Ccy="EUR">9.00</InstdAmt></Amt>`, "Element stands twice"},
		"an amount that is empty":              {`Ccy="EUR">1.50<`, `Ccy="EUR"><`, "Amount is missing"},
		"an empty control sum":                 {`</NbOfTxs>`, `</NbOfTxs><CtrlSum/>`, "Control total does not agree"},
		"an instruction outside of PmtInf":     {`</PmtInf>`, `</PmtInf>` + instruction, "Element in a wrong place"},
		"an instruction in an extension":       {`</PmtInf>`, `<x:x xmlns:x="x">` + instruction + `</x:x></PmtInf>`, "Element in a wrong place"},
		"an instruction in another":            {`</CdtTrfTxInf>`, instruction + `</CdtTrfTxInf>`, "Element in a wrong place"},
		"no count of the instructions":         {`<NbOfTxs>1</NbOfTxs>`, ``, "Control total is missing"},
		"a debtor behind the instructions":     {`</PmtInf>`, `<Dbtr><Nm>late</Nm></Dbtr></PmtInf>`, "Element stands too late"},
		"a payment method that is none":        {`<PmtInf>`, `<PmtInf><PmtMtd>DD</PmtMtd>`, "Unknown payment method"},
		"a cheque":                             {`</CdtTrfTxInf>`, `<ChqInstr/></CdtTrfTxInf>`, "Cheques are no transfers"},
		"another namespace":                    {`xsd:pain`, `xsd:notpain`, "Not a pain.001 file"},
		"more text than anybody reads":         {`</CdtTrfTxInf>`, `<RmtInf>` + strings.Repeat(`<Ustrd>a</Ustrd>`, 10_000) + `</RmtInf></CdtTrfTxInf>`, "too long"},
		"an extension with text, as it may":    {`</CdtTrfTxInf>`, `<x:x xmlns:x="x">a<x:y/>b</x:x></CdtTrfTxInf>`, ""},
		"comments, CDATA and references too":   {`1.50`, `1<!-- -->.<![CDATA[5]]>&#48;`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "main.hcl", []byte(instructions))
			write(t, dir, "pay.xml", []byte(strings.Replace(whole, test.from, test.to, 1)))
			c, diags := config.Load(dir, config.Options{})
			requests := 0
			if !diags.HasErrors() {
				for _, more := range c.Transfers(t.Context()) {
					requests++
					diags = append(diags, more...)
				}
			}
			if said := diags.Error(); !strings.Contains(said, test.says) || diags.HasErrors() != (test.says != "") || test.says == "" && requests != 1 {
				t.Errorf("%d requests; it says %q, want %q", requests, said, test.says)
			}
		})
	}
}

// TestWhatAPmtInfSaysHoldsForItAlone has a PmtInf that says all it can, and one behind it that says nothing.
func TestWhatAPmtInfSaysHoldsForItAlone(t *testing.T) {
	const instruction = `<CdtTrfTxInf><PmtId><EndToEndId>%s</EndToEndId></PmtId><Amt><InstdAmt Ccy="EUR">1.50</InstdAmt></Amt><CdtrAcct><Id><IBAN>D</IBAN></Id></CdtrAcct></CdtTrfTxInf>`
	const above = `<PmtInfId>P</PmtInfId><ReqdExctnDt>2026-11-10</ReqdExctnDt><Dbtr><Nm>Acme</Nm></Dbtr><DbtrAcct><Id>%s</Id></DbtrAcct><DbtrAgt><FinInstnId><BICFI>B</BICFI></FinInstnId></DbtrAgt>`
	columns := []string{"debtor_name", "debtor_iban", "debtor_account", "debtor_bic", "requested_date", "payment_information_id"}
	for account, want := range map[string]string{`<IBAN>DE1</IBAN>`: "Acme,DE1,,B,2026-11-10,P", `<Othr><Id>1</Id></Othr>`: "Acme,,1,B,2026-11-10,P"} {
		file := `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.03"><CstmrCdtTrfInitn><GrpHdr><MsgId>M</MsgId><NbOfTxs>2</NbOfTxs></GrpHdr>` +
			`<PmtInf>` + fmt.Sprintf(above+instruction, account, "one") + `</PmtInf><PmtInf>` + fmt.Sprintf(instruction, "two") + `</PmtInf></CstmrCdtTrfInitn></Document>`
		said := "{ said = join(\",\", [for column in [\"" + strings.Join(columns, "\", \"") + "\"] : each.value[column]]) }"
		transfers, diags := all(mustLoad(t, map[string]string{
			"pay.xml":  file,
			"main.hcl": strings.Replace(instructions, "{ date = each.value.requested_date, info = each.value.payment_information_id }", said, 1),
		}, config.Options{}))
		if diags.HasErrors() || len(transfers) != 2 {
			t.Fatalf("%d transfers, %v", len(transfers), diags)
		}
		for i, want := range []string{want, strings.Repeat(",", len(columns)-1)} {
			if got, _ := transfers[i].Request.Metadata.Get("said"); got != want {
				t.Errorf("%s has %q from above, want %q", transfers[i].Request.RefID, got, want)
			}
		}
	}
}

// FuzzPain001 reads any bytes: nothing panics, and every declared transfer can be sent.
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
