package view_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"remit/internal/accounts/books"
	"remit/internal/view"
)

// painChildren are the elements that pain.002.001.10 allows in another one, in their order, as
// far as a report has them; ! marks those that must be there, and * those that may repeat.
var painChildren = map[string]string{
	"Document":          "CstmrPmtStsRpt!",
	"CstmrPmtStsRpt":    "GrpHdr! OrgnlGrpInfAndSts! OrgnlPmtInfAndSts*",
	"GrpHdr":            "MsgId! CreDtTm!",
	"OrgnlGrpInfAndSts": "OrgnlMsgId! OrgnlMsgNmId! OrgnlCreDtTm OrgnlNbOfTxs OrgnlCtrlSum GrpSts StsRsnInf* NbOfTxsPerSts*",
	"OrgnlPmtInfAndSts": "OrgnlPmtInfId! OrgnlNbOfTxs OrgnlCtrlSum PmtInfSts StsRsnInf* NbOfTxsPerSts* TxInfAndSts*",
	"NbOfTxsPerSts":     "DtldNbOfTxs! DtldSts! DtldCtrlSum",
	"TxInfAndSts":       "StsId OrgnlInstrId OrgnlEndToEndId OrgnlUETR TxSts StsRsnInf* ChrgsInf* AccptncDtTm FctvIntrBkSttlmDt AcctSvcrRef ClrSysRef OrgnlTxRef",
	"StsRsnInf":         "Orgtr Rsn AddtlInf*",
	"Rsn":               "Cd!",
	"OrgnlTxRef":        "IntrBkSttlmAmt Amt IntrBkSttlmDt ReqdColltnDt ReqdExctnDt RmtInf UltmtDbtr Dbtr DbtrAcct DbtrAgt CdtrAgt Cdtr CdtrAcct UltmtCdtr Purp",
	"Amt":               "InstdAmt!",
	"Dbtr":              "Pty!",
	"Cdtr":              "Pty!",
	"Pty":               "Nm",
}

var painTexts = map[string]*regexp.Regexp{
	"CreDtTm":      regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`),
	"OrgnlNbOfTxs": regexp.MustCompile(`^\d{1,15}$`), "DtldNbOfTxs": regexp.MustCompile(`^\d{1,15}$`),
	"OrgnlCtrlSum": regexp.MustCompile(`^\d{1,18}(\.\d{1,17})?$`), "DtldCtrlSum": regexp.MustCompile(`^\d{1,18}(\.\d{1,17})?$`),
	"InstdAmt": regexp.MustCompile(`^\d{1,18}(\.\d{1,5})?$`),
	"GrpSts":   regexp.MustCompile(`^(ACCC|ACSC|PDNG|RJCT|PART)$`), "PmtInfSts": regexp.MustCompile(`^(ACCC|ACSC|PDNG|RJCT|PART)$`),
	"TxSts": regexp.MustCompile(`^(ACCC|ACSC|PDNG|RJCT)$`), "DtldSts": regexp.MustCompile(`^(ACCC|ACSC|PDNG|RJCT)$`),
	"Cd": regexp.MustCompile(`^[A-Z]{4}$`), "AddtlInf": regexp.MustCompile(`^.{1,105}$`), "Nm": regexp.MustCompile(`^.{1,140}$`),
	"OrgnlUETR": regexp.MustCompile(`^[a-f0-9]{8}-[a-f0-9]{4}-4[a-f0-9]{3}-[89ab][a-f0-9]{3}-[a-f0-9]{12}$`),
}

var painMax35 = regexp.MustCompile(`^.{1,35}$`)

// element is one of XML, with its content.
type element struct {
	XMLName  xml.Name
	Text     string    `xml:",chardata"`
	Children []element `xml:",any"`
}

// check holds an element to the structure, and counts transfers.
func (e *element) check(t *testing.T, transfers *int) {
	t.Helper()
	name := e.XMLName.Local
	if name == "TxInfAndSts" {
		*transfers++
	}
	allowed, isParent := painChildren[name]
	if !isParent {
		pattern := painTexts[name]
		if pattern == nil {
			pattern = painMax35
		}
		if !pattern.MatchString(e.Text) {
			t.Errorf("%s is %q", name, e.Text)
		}
		return
	}
	at, order := 0, strings.Fields(allowed)
	for i := range e.Children {
		child := e.Children[i].XMLName.Local
		isChild := func(word string) bool { return strings.TrimRight(word, "!*") == child }
		n := slices.IndexFunc(order, isChild)
		switch {
		case n < 0:
			t.Errorf("%s has a %s", name, child)
		case n < at:
			t.Errorf("%s has a %s too late, or twice", name, child)
		case strings.HasSuffix(order[n], "*"):
			at = n
		default:
			at = n + 1
		}
		e.Children[i].check(t, transfers)
	}
	for _, word := range order {
		must, isMust := strings.CutSuffix(word, "!")
		if isMust && !slices.ContainsFunc(e.Children, func(c element) bool { return c.XMLName.Local == must }) {
			t.Errorf("%s has no %s", name, must)
		}
	}
}

// TestBooksPain002Structure holds that the report has the structure of pain.002.001.10, as far as
// it is written down here, whatever the texts are.
func TestBooksPain002Structure(t *testing.T) {
	list := hostileBooks()
	list = append(list, booksEntry(99, "rest", "USD", "0.123456"), booksEntry(98, strings.Repeat("9", 40), "EUR", "1234567890123456789.12"))
	for i, cause := range books.Causes() {
		list[i].Cause, list[i].Reason = cause, strings.Repeat(`A "reason" <that> is & long. `, 20)
	}
	slices.SortFunc(list, func(a, b *books.Entry) int { return strings.Compare(a.PaymentID(), b.PaymentID()) })
	var groups []books.Group
	for _, e := range list {
		groups = append(groups, books.Group{ID: e.PaymentID(), Statuses: map[books.PaymentStatus]books.StatusSum{e.PaymentStatus(): {Count: 1, Sum: e.Amount}}})
	}
	var out bytes.Buffer
	if err := view.BooksPain002(&out, &books.Summary{Groups: groups}, booksSeq(list), booksOptions()); err != nil {
		t.Fatal(err)
	}
	decoder := xml.NewDecoder(&out)
	var document element
	if err := decoder.Decode(&document); err != nil {
		t.Fatal(err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		if _, err = decoder.Token(); !errors.Is(err, io.EOF) {
			t.Errorf("something stands behind the document: %v", err)
		}
	}
	if document.XMLName.Space != "urn:iso:std:iso:20022:tech:xsd:pain.002.001.10" {
		t.Errorf("the namespace is %s", document.XMLName.Space)
	}
	transfers := 0
	document.check(t, &transfers)
	if transfers != len(list) {
		t.Errorf("%d transfers, want %d", transfers, len(list))
	}
}
