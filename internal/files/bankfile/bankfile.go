// Package bankfile knows the files that banks and their programs write.
//
// Its one invariant: it names a file only by a beginning that no table of rows has.
package bankfile

import (
	"bytes"
	"strings"

	"remit/internal/text/lazyregexp"
)

// SniffedBytes is how much of a file its name needs.
const SniffedBytes = 4 << 10

// message finds the name of a message of ISO 20022 in the declaration of its namespace.
var message = lazyregexp.New(`urn:iso:std:iso:20022:tech:xsd:\$?([a-z]{4}\.\d{3})`)

// messages are kinds of messages of ISO 20022 that newcomers have.
var messages = map[string]string{
	"camt.052": "a report of a bank on an account (camt.052)",
	"camt.053": "a bank statement (camt.053)",
	"camt.054": "a list of what a bank booked (camt.054)",
	"pain.001": "a file of payments (pain.001)",
	"pain.002": "a bank's answer to payments (pain.002)",
	"pain.008": "a file of direct debits (pain.008)",
}

// Pain001 is the name of a file of payments.
func Pain001() string { return messages["pain.001"] }

// Name says in a noun what the file with this beginning is; "" for no file of a bank that is known here.
func Name(head []byte) string {
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	text := strings.TrimLeft(string(head[:min(len(head), SniffedBytes)]), " \t\r\n")
	switch {
	case strings.HasPrefix(text, ":20:"), strings.HasPrefix(text, "{1:F01"):
		return ofSWIFT(text)
	case strings.HasPrefix(text, "OFXHEADER"), strings.HasPrefix(text, "<") && strings.Contains(text, "<OFX>"):
		return "a bank statement (OFX)"
	case strings.HasPrefix(text, "!Type:"):
		return "a file of a finance program (QIF)"
	case !strings.HasPrefix(text, "<"):
		return ofRecords(text)
	}
	found := message.FindStringSubmatch(text)
	if found == nil {
		return ""
	}
	if name := messages[found[1]]; name != "" {
		return name
	}
	return "a message of ISO 20022 (" + found[1] + ")"
}

var messageType = lazyregexp.New(`^\{1:[^}]*\}\{2:[IO](\d{3})`)

// ofSWIFT names a message of SWIFT; without its envelope it is a statement, unless it orders payments.
func ofSWIFT(text string) string {
	kind := "940"
	if found := messageType.FindStringSubmatch(text); found != nil {
		kind = found[1]
	} else if strings.Contains(text, "\n:28D:") {
		kind = "101"
	}
	switch kind {
	case "940":
		return "a bank statement (MT940)"
	case "942":
		return "a report of a bank on an account (MT942)"
	case "101":
		return "a file of payments (MT101)"
	}
	return "a message of a bank (MT" + kind + ")"
}

// ofRecords names a file whose lines are records of fixed places, or begin with the number of their kind.
func ofRecords(text string) string {
	for _, known := range []struct {
		begins *lazyregexp.Regexp
		name   string
	}{
		{bai2, "a bank statement (BAI2)"},
		{nacha, "a file of payments (NACHA)"},
		{dtaus, "a file of payments (DTAUS)"},
		{coda, "a bank statement (CODA)"},
	} {
		if known.begins.MatchString(text) {
			return known.name
		}
	}
	return ""
}

// The first record of each, up to where no table of rows is like it.
var (
	bai2  = lazyregexp.New(`^01,[^,\r\n]*,[^,\r\n]*,\d{6},\d{0,4},[^\r\n]*\r?\n(?:88,[^\r\n]*\r?\n)*02,`)
	nacha = lazyregexp.New(`^101[ \d]\d{9}[ \d]\d{9}\d{6}[ \d]{4}[A-Z\d]094101`)
	dtaus = lazyregexp.New(`^0128A[GL][BK]`)
	coda  = lazyregexp.New(`^00000\d{9}05`)
)
