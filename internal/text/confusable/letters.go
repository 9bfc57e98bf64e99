package confusable

import (
	"strings"
	"unicode"
)

// script is that of a letter, as far as letters of it are mistaken for others.
type script int

const (
	scriptOther script = iota // has no look-alikes in the others, or is used beside them
	scriptLatin
	scriptCyrillic
	scriptGreek
	scriptRare // Armenian and others that imitate Latin and are hardly mixed with it
	scriptWide // Latin letters of twice the width
)

func scriptOf(r rune) script {
	switch {
	case r < unicode.MaxASCII:
		if unicode.IsLetter(r) {
			return scriptLatin
		}
		return scriptOther
	case '\uff21' <= r && r <= '\uff5a':
		return scriptWide
	case unicode.Is(unicode.Latin, r):
		return scriptLatin
	case unicode.Is(unicode.Cyrillic, r):
		return scriptCyrillic
	case unicode.Is(unicode.Greek, r):
		return scriptGreek
	case unicode.In(r, unicode.Armenian, unicode.Cherokee, unicode.Coptic, unicode.Lisu, unicode.Deseret):
		return scriptRare
	}
	return scriptOther
}

// isLatinLike reports whether a letter of another script can be taken for a Latin one.
func isLatinLike(r rune) bool { return latinAlike(r) != r }

// isAlwaysAlike reports whether a letter is a Latin one in all but its number: of mathematics,
// or a Roman numeral.
func isAlwaysAlike(r rune) bool {
	return 0x1d400 <= r && r <= 0x1d7ff || 0x2160 <= r && r <= 0x217f
}

// Letters finds the letters of text that pose as others, by their offsets: those beside
// letters of another script in one word, and those of a text that has no letter of their
// script but such as look Latin. nil where there are none.
func Letters(text string) map[int]bool {
	if !hasForeign(text) {
		return nil
	}
	found := make(map[int]bool)
	var w wordScripts
	var alike []int // of words in one script
	isDistinct := false
	end := func() {
		switch {
		case w.isMixed():
			for _, at := range w.foreign {
				found[at] = true
			}
		case w.allAlike:
			alike = append(alike, w.foreign...)
		default:
			isDistinct = isDistinct || len(w.foreign) > 0
		}
		w = wordScripts{foreign: w.foreign[:0], allAlike: true}
	}
	w.allAlike = true
	escaped := 0 // the end of an escape, which is no part of a word
	for at, r := range text {
		if r == '\\' && at >= escaped {
			escaped = at + escapeLength(text[at:])
		}
		switch {
		case at < escaped:
			end()
		case isAlwaysAlike(r):
			end()
			found[at] = true
		case unicode.IsLetter(r):
			w.add(at, r)
		case unicode.Is(unicode.M, r): // belongs to the letter before it
		default:
			end()
		}
	}
	end()
	if !isDistinct {
		for _, at := range alike {
			found[at] = true
		}
	}
	return found
}

// escapeLength is that of the escape with which text begins, as the faces for people write it;
// 0 for none.
func escapeLength(text string) int {
	if len(text) < 2 {
		return 0
	}
	length := map[byte]int{'n': 2, 'r': 2, 't': 2, 'x': 4, 'u': 6, 'U': 10}[text[1]]
	if len(text) < length || strings.Trim(text[min(2, length):length], "0123456789abcdef") != "" {
		return 0
	}
	return length
}

// hasForeign reports whether text has any letter that may pose as another.
func hasForeign(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return scriptOf(r) > scriptLatin || isAlwaysAlike(r) }) >= 0
}

// wordScripts are the scripts of one word.
type wordScripts struct {
	seen     [scriptWide + 1]bool
	foreign  []int // offsets of its letters that are of none of the first two scripts
	allAlike bool  // those all look Latin
}

func (w *wordScripts) add(at int, r rune) {
	s := scriptOf(r)
	w.seen[s] = true
	if s > scriptLatin {
		w.foreign = append(w.foreign, at)
		w.allAlike = w.allAlike && isLatinLike(r)
	}
}

func (w *wordScripts) isMixed() bool {
	count := 0
	for _, seen := range w.seen[scriptLatin:] {
		if seen {
			count++
		}
	}
	return count > 1
}
