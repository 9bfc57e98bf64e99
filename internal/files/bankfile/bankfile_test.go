package bankfile_test

import (
	"testing"

	"remit/internal/files/bankfile"
)

func TestName(t *testing.T) {
	const begin = `<?xml version="1.0" encoding="UTF-8"?>` + "\n<!-- November -->\n"
	for head, want := range map[string]string{
		begin + `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08">`:            "a bank statement (camt.053)",
		"\xef\xbb\xbf" + `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.054.001.02">`:   "a list of what a bank booked (camt.054)",
		begin + `<p:Document xmlns:p="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09">`:        bankfile.Pain001(),
		begin + `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pacs.008.001.08">`:            "a message of ISO 20022 (pacs.008)",
		":20:STARTUMS\n:25:10020030/1234567\n":                                                 "a bank statement (MT940)",
		"{1:F01BANKDEFFXXXX0000000000}{2:I940BANKDEFFXXXXN}{4:\n":                              "a bank statement (MT940)",
		"{1:F01BANKDEFFXXXX0000000000}{2:O9421200261126BANKDEFFXXXX}{4:\n":                     "a report of a bank on an account (MT942)",
		"{1:F01BANKDEFFXXXX0000000000}{2:I103BANKDEFFXXXXN}{4:\n":                              "a message of a bank (MT103)",
		":20:PAY1\n:28D:1/1\n:50H:/DE1\n":                                                      "a file of payments (MT101)",
		"01,122099999,123456789,261126,0200,1,,,2/\r\n02,031001234,122099999,1,261125,,USD,2/": "a bank statement (BAI2)",
		"01,a,b,261126,0200,x\n03,c,d\n":                                                       "",
		"101 091000019 1234567892611261200A094101FIRST BANK":                                   "a file of payments (NACHA)",
		"0128AGK100200300000000":                                                               "a file of payments (DTAUS)",
		"0000026112672505        00000000":                                                     "a bank statement (CODA)",
		"OFXHEADER:100\nDATA:OFXSGML\n<OFX>":                                                   "a bank statement (OFX)",
		begin + "<OFX><SIGNONMSGSRSV1>":                                                        "a bank statement (OFX)",
		"!Type:Bank\nD11/03/26\n":                                                              "a file of a finance program (QIF)",
		begin + "<rows><row/></rows>":                                                          "",
		"id,ref_id,note\n1,a,urn:iso:std:iso:20022:tech:xsd:camt.053.001.08\n":                 "",
		`{"id":"1","metadata":{"about":"urn:iso:std:iso:20022:tech:xsd:camt.053"}}`:            "",
		"": "",
	} {
		if name := bankfile.Name([]byte(head)); name != want {
			t.Errorf("%q is %q, want %q", head, name, want)
		}
	}
}
