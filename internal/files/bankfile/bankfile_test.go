package bankfile_test

import (
	"testing"

	"remit/internal/files/bankfile"
)

func TestName(t *testing.T) {
	const begin = `<?xml version="1.0" encoding="UTF-8"?>` + "\n<!-- November -->\n"
	for head, want := range map[string]string{
		begin + `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08">`:          "a bank statement (camt.053)",
		"\xef\xbb\xbf" + `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.054.001.02">`: "a list of what a bank booked (camt.054)",
		begin + `<p:Document xmlns:p="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09">`:      bankfile.Pain001(),
		begin + `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pacs.008.001.08">`:          "a message of ISO 20022 (pacs.008)",
		":20:STARTUMS\n:25:10020030/1234567\n":                                               "a bank statement (MT940)",
		"{1:F01BANKDEFFXXXX0000000000}{2:I940BANKDEFFXXXXN}{4:\n":                            "a bank statement (MT940)",
		"OFXHEADER:100\nDATA:OFXSGML\n<OFX>":                                                 "a bank statement (OFX)",
		begin + "<OFX><SIGNONMSGSRSV1>":                                                      "a bank statement (OFX)",
		"!Type:Bank\nD11/03/26\n":                                                            "a file of a finance program (QIF)",
		begin + "<rows><row/></rows>":                                                        "",
		"id,ref_id,note\n1,a,urn:iso:std:iso:20022:tech:xsd:camt.053.001.08\n":               "",
		`{"id":"1","metadata":{"about":"urn:iso:std:iso:20022:tech:xsd:camt.053"}}`:          "",
		"": "",
	} {
		if name := bankfile.Name([]byte(head)); name != want {
			t.Errorf("%q is %q, want %q", head, name, want)
		}
	}
}
