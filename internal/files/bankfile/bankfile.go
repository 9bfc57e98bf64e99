// Package bankfile knows the files that banks and their programs write.
//
// Its one invariant: it names a file only by a beginning that no table of rows has.
package bankfile

import (
	"bytes"
	"regexp"
	"strings"
)

// SniffedBytes is how much of a file its name needs.
const SniffedBytes = 4 << 10

// message finds the name of a message of ISO 20022 in the declaration of its namespace.
var message = regexp.MustCompile(`urn:iso:std:iso:20022:tech:xsd:\$?([a-z]{4}\.\d{3})`)

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
		return "a bank statement (MT940)"
	case strings.HasPrefix(text, "OFXHEADER"), strings.HasPrefix(text, "<") && strings.Contains(text, "<OFX>"):
		return "a bank statement (OFX)"
	case strings.HasPrefix(text, "!Type:"):
		return "a file of a finance program (QIF)"
	case !strings.HasPrefix(text, "<"):
		return ""
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
