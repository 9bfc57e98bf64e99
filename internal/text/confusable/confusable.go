// Package confusable finds text that can be taken for other text, after Unicode's Technical
// Standard 39.
//
// Its one invariant: text of ASCII alone has nothing to find and costs one look.
package confusable

import (
	"unicode"
	"unicode/utf8"
)

// Mixed reports whether a reader can be fooled by the scripts of text: where a word mixes
// scripts beyond the restriction level "highly restrictive" (TR39, section 5.2), or where [Letters]
// finds any. A word is a run of letters, marks and digits: words of different scripts may be
// neighbours, as in a name and its legal form.
//
// Characters of several scripts count for the one that Unicode gives them (Script), or for all
// (Common, Inherited): Script_Extensions would only tell apart letters that do not look alike.
func Mixed(text string) bool {
	if isASCII(text) {
		return false
	}
	var w word
	for _, r := range text {
		switch {
		case !unicode.In(r, unicode.L, unicode.M, unicode.N):
			w = word{}
		case w.add(r):
			return true
		}
	}
	return len(Letters(text)) > 0
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// word is the scripts of one word so far.
type word struct {
	script *unicode.RangeTable // of the latest letter; nil before the first
	allows allowance           // the scripts that all scripts so far may be mixed with
}

// allowance is a set of combinations of scripts.
type allowance uint8

// The combinations that TR39 allows in section 5.2, and that of Latin with nothing else.
const (
	japanese allowance = 1 << iota // Latin, Han, Hiragana, Katakana
	chinese                        // Latin, Han, Bopomofo
	korean                         // Latin, Han, Hangul
)

// allowanceOf says with which scripts a script may be mixed.
func allowanceOf(script *unicode.RangeTable) allowance {
	switch script {
	case unicode.Latin, unicode.Han:
		return japanese | chinese | korean
	case unicode.Hiragana, unicode.Katakana:
		return japanese
	case unicode.Bopomofo:
		return chinese
	case unicode.Hangul:
		return korean
	}
	return 0
}

// add reports whether the word mixes scripts with r, and can't be asked further then.
func (w *word) add(r rune) bool {
	if w.script != nil && unicode.Is(w.script, r) || unicode.In(r, unicode.Common, unicode.Inherited) {
		return false
	}
	script := scriptTable(r)
	if w.script == nil {
		w.script, w.allows = script, allowanceOf(script)
		return false
	}
	if script == w.script {
		return false
	}
	w.script, w.allows = script, w.allows&allowanceOf(script)
	return w.allows == 0
}

// scriptTable is the script of r; an empty one where Unicode knows none.
func scriptTable(r rune) *unicode.RangeTable {
	for _, often := range []*unicode.RangeTable{
		unicode.Latin, unicode.Cyrillic, unicode.Greek, unicode.Han, unicode.Hiragana, unicode.Katakana,
		unicode.Hangul, unicode.Arabic, unicode.Hebrew, unicode.Thai, unicode.Devanagari,
	} {
		if unicode.Is(often, r) {
			return often
		}
	}
	for _, table := range unicode.Scripts {
		if unicode.Is(table, r) {
			return table
		}
	}
	return unknown
}

var unknown = new(unicode.RangeTable)
