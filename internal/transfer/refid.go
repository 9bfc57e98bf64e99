package transfer

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// TextLengthMax bounds, in characters, a ref_id (ours) and each metadata key and value
// (docs/openapi.yaml).
const TextLengthMax = 100

// CheckRefID says why text is no ref_id: 1 to 100 printable characters, no space at either end.
func CheckRefID(text string) error {
	if text != "" && len(text) <= TextLengthMax && text[0] != ' ' && text[len(text)-1] != ' ' && Plain(text) {
		return nil
	}
	switch n := utf8.RuneCountInString(text); {
	case text == "":
		return errors.New("is empty")
	case n > TextLengthMax:
		return fmt.Errorf("has %d characters, more than %d", n, TextLengthMax)
	case strings.TrimSpace(text) != text:
		return errors.New("begins or ends with a space")
	}
	if err := CheckText(text); err != nil {
		return err
	}
	for _, r := range text {
		if !unicode.IsPrint(r) {
			return fmt.Errorf("contains %U, which is not printable", r)
		}
	}
	return nil
}

// CheckText refuses text that a reviewer could not see as it is sent: invalid UTF-8,
// control, bidirectional and invisible characters, line separators, private use.
func CheckText(text string) error {
	if Plain(text) {
		return nil
	}
	for i, r := range text {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(text[i:]); size == 1 {
				return errors.New("is not valid UTF-8")
			}
		}
		if Hidden(r) {
			return fmt.Errorf("contains the character %U, which cannot be seen", r)
		}
	}
	return nil
}

// Plain reports whether text has nothing but printable ASCII characters, and spaces. Most
// text is so, and then is visible and in Unicode's normal form without a further look.
func Plain(text string) bool {
	const (
		ones  = 0x0101010101010101
		highs = 0x8080808080808080
	)
	i := 0
	for ; i+8 <= len(text); i += 8 { // eight bytes at once: a high bit is set where one is not plain
		eight := text[i : i+8]
		x := uint64(eight[0]) | uint64(eight[1])<<8 | uint64(eight[2])<<16 | uint64(eight[3])<<24 |
			uint64(eight[4])<<32 | uint64(eight[5])<<40 | uint64(eight[6])<<48 | uint64(eight[7])<<56
		if (x|(x-' '*ones)|(x+ones))&highs != 0 {
			return false
		}
	}
	for ; i < len(text); i++ {
		if c := text[i]; c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

// Hidden reports whether r is a character that does not show, or that changes how its
// neighbours show: controls, format and bidirectional characters, line separators, private
// use, and what Unicode lets a renderer ignore (DerivedCoreProperties, Default_Ignorable).
func Hidden(r rune) bool {
	switch {
	case ' ' <= r && r < 0x7f, 0xa1 <= r && r < 0x300 && r != 0xad, // Latin
		0x370 <= r && r < 0x600,                              // Greek to Hebrew
		0x3400 <= r && r < 0xa000, 0xac00 <= r && r < 0xd7a4: // Han, Hangul
		return false
	}
	return unicode.In(r,
		unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector,
		unicode.Noncharacter_Code_Point) || r == '\u2800'
}
