package terminal

import (
	"bytes"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

const (
	// Hidden stands for a sensitive value.
	Hidden = "(sensitive)"

	// hiddenMin is the least length of a text to hide, in bytes: a shorter one is in every output by chance.
	hiddenMin = 4
	// wordMax is how many bytes a text has at most that is hidden as a whole word only.
	wordMax = 7
)

// writer hides the sensitive values of the configuration in all that passes. Everything that a command prints
// passes one, for people, programs and logs. Safe for concurrent use.
type writer struct {
	to io.Writer

	mu    sync.Mutex
	texts [][]byte // the longest first
	held  []byte   // the end of the output, which one of texts may go on
	last  byte     // before held
}

// hide has texts be hidden from now on.
func (h *writer) hide(texts []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, text := range texts {
		quoted := strconv.Quote(text)
		for _, form := range []string{text, quoted[1 : len(quoted)-1]} {
			isKnown := slices.ContainsFunc(h.texts, func(known []byte) bool { return string(known) == form })
			if len(form) >= hiddenMin && !isKnown && !isNumber(form) {
				h.texts = append(h.texts, []byte(form))
			}
		}
	}
	slices.SortStableFunc(h.texts, func(a, b []byte) int { return len(b) - len(a) })
}

// isNumber reports whether a short text could be an amount or a date, which no reviewer may miss.
func isNumber(text string) bool {
	return len(text) <= wordMax && strings.Trim(text, "0123456789.,-:/") == ""
}

// Write implements io.Writer. It holds the end of the text back where a sensitive value may
// begin, until more comes or [writer.flush] is called.
func (h *writer) Write(text []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.texts) == 0 {
		return h.to.Write(text)
	}
	whole := slices.Concat(h.held, text)
	var out []byte
	out, h.held = h.without(whole, len(whole)-h.open(whole))
	if len(out) == 0 {
		return len(text), nil
	}
	if _, err := h.to.Write(out); err != nil {
		return 0, err
	}
	return len(text), nil
}

// flush writes the text that is held back.
func (h *writer) flush() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.held) == 0 {
		return
	}
	out, _ := h.without(h.held, len(h.held))
	h.held = nil
	_, _ = h.to.Write(out) // nothing better can be done at the end
}

// open is how many bytes at the end may be the beginning of a text.
func (h *writer) open(whole []byte) int {
	longest := 0
	for _, text := range h.texts {
		for n := min(len(text), len(whole)); n > longest; n-- {
			isWhole := n == len(text) && len(text) > wordMax // the next bytes make no difference
			if !isWhole && bytes.HasSuffix(whole, text[:n]) {
				longest = n
			}
		}
	}
	return longest
}

// without is whole with the texts hidden that begin before end, and the rest after it.
func (h *writer) without(whole []byte, end int) (out, rest []byte) {
	isIn := func(text []byte) bool { return bytes.Contains(whole, text) }
	if !slices.ContainsFunc(h.texts, isIn) {
		if end > 0 {
			h.last = whole[end-1]
		}
		return whole[:end], whole[end:]
	}
	i := 0
	for i < end {
		if text := h.textAt(whole[i:]); text != nil {
			out = append(out, Hidden...)
			i += len(text)
		} else {
			out = append(out, whole[i])
			i++
		}
		h.last = whole[i-1]
	}
	return out, whole[i:]
}

// textAt is the longest text at the beginning of b; nil for none.
func (h *writer) textAt(b []byte) []byte {
	for _, text := range h.texts {
		if !bytes.HasPrefix(b, text) {
			continue
		}
		after := b[len(text):]
		if len(text) > wordMax || !isLetter(h.last) && (len(after) == 0 || !isLetter(after[0])) {
			return text
		}
	}
	return nil
}

// isLetter reports whether a byte belongs to a word.
func isLetter(b byte) bool {
	return b >= utf8.RuneSelf || b == '_' || b == '-' || unicode.IsLetter(rune(b)) || unicode.IsDigit(rune(b))
}

// Beneath is the writer behind one that hides: a child process inherits a file.
func Beneath(w io.Writer) io.Writer {
	if h, ok := w.(*writer); ok {
		w = h.to
	}
	if o, ok := w.(outlet); ok {
		return o.file
	}
	return w
}
