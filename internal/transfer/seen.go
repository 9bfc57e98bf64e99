package transfer

import (
	"encoding/binary"
	"iter"
	"math/bits"
	"unicode"
	"unicode/utf8"
)

// HiddenIn yields the hidden characters of a file of text with their offsets: those that [Hidden] knows, but no tab, line feed, or
// carriage return before a line feed. What is not UTF-8 is passed over.
func HiddenIn(text []byte) iter.Seq2[int, rune] {
	return func(yield func(int, rune) bool) {
		for at := nextStrange(text, 0); at < len(text); at = nextStrange(text, at) {
			r, size := utf8.DecodeRune(text[at:])
			isLineEnd := r == '\r' && at+1 < len(text) && text[at+1] == '\n'
			isBroken := r == utf8.RuneError && size == 1
			if !isLineEnd && !isBroken && Hidden(r) && !yield(at, r) {
				return
			}
			at += size
		}
	}
}

// nextStrange is the offset of the next byte, from one on, that is no printable character of ASCII, tab or line feed; the length
// of the text where there is none.
func nextStrange(text []byte, i int) int {
	const (
		ones  = 0x0101010101010101
		highs = 0x8080808080808080
	)
	isStrange := func(c byte) bool { return (c < ' ' || c > '~') && c != '\n' && c != '\t' }
	for ; i+8 <= len(text); i += 8 { // as Plain does it; of a byte that is not plain, the one behind it may be taken for another
		x := binary.LittleEndian.Uint64(text[i:])
		for marks := (x | (x - ' '*ones) | (x + ones)) & highs; marks != 0; marks &= marks - 1 {
			if at := i + bits.TrailingZeros64(marks)/8; isStrange(text[at]) {
				return at
			}
		}
	}
	for ; i < len(text) && !isStrange(text[i]); i++ {
	}
	return i
}

// SeenOtherwise says, behind the name of a hidden character, what a reader sees of a text that has it.
func SeenOtherwise(r rune) string {
	switch {
	case r == '\r':
		return "a carriage return without a line feed, at which many editors and browsers begin a new line, and remit does not"
	case r == '\v' || r == '\f' || r == '\u0085' || r == '\u2028' || r == '\u2029':
		return "at which many editors and browsers begin a new line, and remit does not"
	case unicode.Is(unicode.Bidi_Control, r):
		return "which changes the order in which a reader sees the text around it"
	}
	return "which cannot be seen"
}

// JoinsLetters reports whether r is a hidden character that only chooses the forms of its neighbours, as Persian, the scripts of India and
// emoji need it: a joiner or non-joiner, or a choice between text and emoji. It hides and moves nothing where nobody compares texts, as in a comment.
func JoinsLetters(r rune) bool {
	return r == '\u200c' || r == '\u200d' || r == '\ufe0e' || r == '\ufe0f'
}
