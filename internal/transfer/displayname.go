package transfer

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// DisplayNameMax is how many characters a display name has at most: as many as the name of a party in
// pain.001 (Max140Text of ISO 20022).
const DisplayNameMax = 140

// CheckDisplayName returns why text can't be what people are shown as the name of a destination: the error
// goes on after the name of what it is about.
func CheckDisplayName(text string) error {
	switch n := utf8.RuneCountInString(text); {
	case text == "":
		return errors.New("is empty")
	case n > DisplayNameMax:
		return fmt.Errorf("has %d characters, more than %d", n, DisplayNameMax)
	case strings.TrimSpace(text) != text:
		return errors.New("begins or ends with a space")
	case strings.Contains(text, "  "):
		return errors.New("has two spaces or more in a row, which would look like two columns of a plan; write one")
	case strings.ContainsAny(text, "…→") || strings.Contains(text, "->"):
		return errors.New("has a … or an arrow, by which a plan shortens an ID or points at a destination; write it otherwise")
	}
	return CheckText(text)
}
