package rows

import (
	"strings"

	"remit/config/mistake"
	"remit/internal/text/lazyregexp"
)

// unexpected matches the words of the decoder about a character: the character, and its place.
var unexpected = lazyregexp.New(`^invalid character '(\\?.)' (at start of value|after array element|after object value|after object name|in number|in string)`)

// plainJSON names the fault from a place of a JSON file on, and the remedy.
func plainJSON(err error) string {
	text := err.Error()
	if strings.HasPrefix(text, "invalid escape sequence") {
		return "a backslash in a text is written twice, as in \"C:\\\\payroll\"."
	}
	found := unexpected.FindStringSubmatch(text)
	if found == nil {
		return mistake.Sentence(err)
	}
	sign, where := found[1], found[2]
	switch {
	case sign == ",":
		return "this comma has no value behind it. Delete it."
	case sign == ";":
		return "a comma stands between two values, and no semicolon. Write a comma."
	case sign == "/" || sign == "#":
		return "JSON has no comments. Delete this one."
	case sign == `\'`:
		return "text stands in double quotation marks, and these are single ones. Write double ones."
	case where == "in number":
		return "a number has digits on both sides of its point. Write them, or the number in quotation marks."
	case where == "in string":
		return "a text ends on its line. Close its quotation mark, or write \\n in the place of a line break."
	case where == "after object name":
		return "a colon is missing behind the name of a member, as in \"net\": \"4120.35\"."
	case sign == `"` || sign == "{" || sign == "[":
		return "a comma is missing before this place. Write one."
	case where == "at start of value":
		return "text stands in double quotation marks, and true, false and null are written in small letters."
	case sign >= "0" && sign <= "9":
		return "a number does not begin with 0. Write it in quotation marks."
	}
	return mistake.Sentence(err)
}
