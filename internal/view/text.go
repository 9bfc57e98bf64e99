package view

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
	"golang.org/x/text/unicode/bidi"

	"remit/internal/text/confusable"
	"remit/internal/transfer"
)

const (
	spanWidthMax      = 2000 // columns of one span
	columnWidthMax    = 400  // columns to which a column is aligned
	paragraphRunesMax = 8000
	paragraphLinesMax = 100
	marksMax          = 4 // combining marks on one character
	cutMark           = "…"
)

// Visible returns text with every character that does not show, or that changes how its
// neighbours show, written as an escape such as \u202e: what [transfer.Hidden] names, bytes
// that are not UTF-8, spaces other than the ASCII one, line ends, combining marks without a
// base or beyond the fourth, and letters that pose as those of another script: the Cyrillic
// one of a Latin word. Visible text is returned as it is, so applying Visible twice changes
// nothing.
func Visible(text string) string {
	if isPlain(text) {
		return text
	}
	b := make([]byte, 0, len(text)+16)
	posing := confusable.Letters(text)
	var m marker
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b = fmt.Appendf(b, `\x%02x`, text[i])
		case m.hides(r) || posing[i]:
			b = append(b, escape(r)...)
		default:
			b = utf8.AppendRune(b, r)
		}
		i += size
	}
	return string(b)
}

// marker counts the combining marks in a row.
type marker struct{ marks, seen int }

// hides reports whether the next character r has to be escaped. A mark at the start would
// join the character before the text.
func (m *marker) hides(r rune) bool {
	if ' ' <= r && r <= '~' {
		m.marks, m.seen = 0, 1
		return false
	}
	if !unicode.Is(unicode.M, r) {
		m.marks, m.seen = 0, 1
		return isHidden(r)
	}
	m.marks++
	return m.seen == 0 || m.marks > marksMax || isHidden(r)
}

// isHidden reports whether r does not show as itself. Spaces other than the ASCII one look
// like it and are not. Letters that are written from right to left show as themselves, and move the
// amount behind them to where another is read (UAX #9).
func isHidden(r rune) bool {
	if r < utf8.RuneSelf {
		return transfer.Hidden(r) || !unicode.IsPrint(r)
	}
	return transfer.Hidden(r) || !unicode.IsPrint(r) || isRightToLeft(r)
}

func isRightToLeft(r rune) bool {
	properties, _ := bidi.LookupRune(r)
	class := properties.Class()
	return class == bidi.R || class == bidi.AL || class == bidi.AN
}

func isPlain(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return false
		}
	}
	return true
}

func escape(r rune) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r > 0xffff:
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// displayWidth is how many columns the visible form of text takes; of a character wider than a
// span may be, it only says that. It adds up characters, as terminals do, and not grapheme
// clusters, which may be of any length.
func displayWidth(text string) int {
	if isPlain(text) {
		return min(len(text), spanWidthMax+1)
	}
	width := 0
	posing := confusable.Letters(text)
	var m marker
	for i := 0; i < len(text) && width <= spanWidthMax; {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			width += len(`\xff`)
		case m.hides(r) || posing[i]:
			width += len(escape(r))
		default:
			width += runeWidth(r)
		}
		i += size
	}
	return min(width, spanWidthMax+1)
}

// pad fills text with spaces up to width, as far as columns are aligned.
func pad(text string, width int) string { return text + gap(text, width) }

// gap is what pad adds.
func gap(text string, width int) string {
	return strings.Repeat(" ", max(0, min(width, columnWidthMax)-displayWidth(text)))
}

// cutEnd shortens visible text to width, with a mark at its end.
func cutEnd(text string, width int) string {
	if len(text) <= width || displayWidth(text) <= width {
		return text
	}
	return takeStart(text, width-1) + cutMark
}

// cutStart shortens visible text to width, with a mark at its start.
func cutStart(text string, width int) string {
	if len(text) <= width || displayWidth(text) <= width {
		return text
	}
	return cutMark + takeEnd(text, width-1)
}

// cutMiddle shortens visible text to width, with a mark in its middle, so that both ends
// can be told from others'.
func cutMiddle(text string, width int) string {
	if len(text) <= width || displayWidth(text) <= width {
		return text
	}
	tail := (width - 1) / 2
	return takeStart(text, width-1-tail) + cutMark + takeEnd(text, tail)
}

// cutRunes shortens raw text and says how much is missing.
func cutRunes(text string, most int) string {
	if len(text) <= most {
		return text
	}
	count := utf8.RuneCountInString(text)
	if count <= most {
		return text
	}
	end := 0
	for range most {
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
	}
	return fmt.Sprintf("%s%s (and %d more characters)", text[:end], cutMark, count-most)
}

func takeStart(text string, width int) string {
	used := 0
	for i, r := range text {
		if used += runeWidth(r); used > width {
			return text[:i]
		}
	}
	return text
}

func takeEnd(text string, width int) string {
	start, used := len(text), 0
	for start > 0 {
		r, size := utf8.DecodeLastRuneInString(text[:start])
		if used += runeWidth(r); used > width {
			break
		}
		start -= size
	}
	// A mark must not lose its base to the cut.
	for start < len(text) {
		r, size := utf8.DecodeRuneInString(text[start:])
		if !unicode.Is(unicode.M, r) {
			break
		}
		start += size
	}
	return text[start:]
}

func runeWidth(r rune) int {
	switch {
	case ' ' <= r && r <= '~':
		return 1
	case unicode.Is(unicode.M, r):
		return 0
	}
	return max(1, displaywidth.Rune(r))
}

// Wrap breaks visible text at its spaces into lines of at most width columns. A word that
// is longer stays whole, so that it can be copied.
func Wrap(text string, width int) []string {
	var lines []string
	var b strings.Builder
	used := 0
	for word := range strings.SplitSeq(text, " ") {
		wide := displayWidth(word)
		switch {
		case used == 0:
		case used+1+wide > width:
			lines = append(lines, b.String())
			b.Reset()
			used = 0
		default:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += wide
	}
	return append(lines, b.String())
}

// Sentences are lines of visible text for a screen: on a terminal, which would break them anywhere, they are broken
// between words.
func (s Screen) Sentences(text string) string {
	if !s.Terminal {
		return text
	}
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, Wrap(line, s.width())...)
	}
	return strings.Join(lines, "\n")
}

// chop breaks visible text anywhere into lines of at most width columns: for bytes that
// must be seen whole.
func chop(text string, width int) []string {
	var lines []string
	for {
		head := takeStart(text, width)
		if head == text || head == "" {
			return append(lines, text)
		}
		lines = append(lines, head)
		text = text[len(head):]
	}
}

// firstSentence is the beginning of text up to where a sentence ends.
func firstSentence(text string) string {
	first, _, cut := strings.Cut(text, ". ")
	if cut {
		first += "."
	}
	return first
}

// moment is RFC 3339 in UTC, to the second.
func moment(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// due is when a transfer is sent or no longer sent, with the offset that its file or its schedule says: a person who
// wrote nine o'clock reads nine o'clock.
func due(t time.Time) string {
	if t.Location() == time.Local { // nobody's words: the zone of this machine changes nothing
		return moment(t)
	}
	return t.Format(time.RFC3339)
}

// dueOr is [due]; "" for no time.
func dueOr(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return due(t)
}

// someMost is how many names some lists.
const someMost = 3

// some lists the first few names, and says how many more there are of total.
func some(names []string, total int) string {
	shown := names[:min(len(names), someMost)]
	text := strings.Join(shown, ", ")
	if more := max(total, len(names)) - len(shown); more > 0 {
		text = fmt.Sprintf("%s and %d more", text, more)
	}
	return text
}
