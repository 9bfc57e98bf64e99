package confusable

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Reading is one of the ways in which a reader takes a name in. Two names can be taken for each other where a skeleton of
// the one is a skeleton of the other.
type Reading int

// The readings.
const (
	ByLetters Reading = iota // a capital letter is its small one
	ByShapes                 // a letter is what it looks like: a capital I is a small L; so is a bar
)

// AppendSkeleton appends what is left of a name in one reading: no case, spaces or signs, and one letter for those that look alike,
// after the skeletons of Unicode's Technical Standard 39. Accents are left. A name without letters and digits has none.
func AppendSkeleton(b []byte, name string, reading Reading) []byte {
	if !isASCII(name) {
		return appendOther(b, name, reading)
	}
	for i := range len(name) {
		if c := name[i]; c == 'm' || c == 'M' {
			b = append(b, "rn"...)
		} else if c = ofASCII(c, reading); c != 0 {
			b = append(b, c)
		}
	}
	return b
}

// HasTwoReadings reports whether the skeletons of a name may differ.
func HasTwoReadings(name string) bool {
	return strings.IndexByte(name, 'I') >= 0 || strings.IndexByte(name, '|') >= 0 || !isASCII(name)
}

// ofASCII is what a character of ASCII is in a skeleton; 0 for nothing.
func ofASCII(c byte, reading Reading) byte {
	switch {
	case reading == ByShapes && (c == 'I' || c == '|'), c == '1':
		return 'l'
	case c == '0':
		return 'o'
	case 'A' <= c && c <= 'Z':
		return c + 'a' - 'A'
	case 'a' <= c && c <= 'z', '2' <= c && c <= '9':
		return c
	}
	return 0
}

// appendOther is AppendSkeleton for names with characters beyond ASCII. Letters are looked at before and after the normal
// form is made: it takes the look of some away.
func appendOther(b []byte, name string, reading Reading) []byte {
	look := func(r rune) rune {
		if reading == ByLetters {
			r = unicode.ToLower(r)
		}
		if r == 'ı' {
			return 'i'
		}
		return latinAlike(r)
	}
	looked := strings.Map(look, name)
	if normal := norm.NFKC.String(looked); normal != looked {
		looked = strings.Map(look, normal)
	}
	for _, r := range looked {
		switch {
		case r < utf8.RuneSelf:
			b = AppendSkeleton(b, string(r), reading)
		case unicode.In(r, unicode.L, unicode.M, unicode.N):
			b = utf8.AppendRune(b, unicode.ToLower(r))
		}
	}
	return b
}
