package view

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	json "github.com/go-json-experiment/json/v1" // writes as encoding/json does, in less time

	"remit/internal/text/confusable"
)

// Format names the JSON Lines that this package writes. Within it, fields are only added.
const Format = "remit/1"

// JSON writes for programs: one object a line, each with a "type", the first of them of the
// type "version". It is an [executor.Handler]. Characters that do not show are escaped, so
// that a line is safe on a terminal too. Its methods must not be called concurrently.
type JSON struct {
	w         *bufio.Writer               // flushed at the end of each method
	version   string                      // of remit
	here      func(command string) string // nil leaves commands as they are
	protected bool                        // the environment
	begun     bool
	err       error // the first of writing; nothing is written after it

	line    bytes.Buffer // of the object that is written
	encoder *json.Encoder
}

// NewJSON returns a JSON that writes to w. Nothing is written before the first object.
func NewJSON(w io.Writer, version string) *JSON {
	j := &JSON{w: bufio.NewWriterSize(w, 64<<10), version: version}
	j.encoder = json.NewEncoder(&j.line)
	j.encoder.SetEscapeHTML(false)
	return j
}

// versionLine is the first object of a stream.
type versionLine struct {
	Type   string `json:"type"` // "version"
	Format string `json:"format"`
	Remit  string `json:"remit"`
}

// SetProtected says that the output is of a protected environment: see [Screen].
func (j *JSON) SetProtected(is bool) { j.protected = is }

// SetHere sets how commands are made to work where the reader is: see [Screen].
func (j *JSON) SetHere(here func(command string) string) { j.here = here }

// command is text, in which each line that is a command works where the reader is.
func (j *JSON) command(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = Screen{Here: j.here}.here(line)
	}
	return asTyped(strings.Join(lines, "\n"))
}

// Err returns the first error of writing.
func (j *JSON) Err() error { return j.err }

// write writes one object of a stream, after the version where it is the first.
func (j *JSON) write(object any) {
	j.begin()
	j.object(object)
}

func (j *JSON) begin() {
	if !j.begun {
		j.begun = true
		j.object(versionLine{"version", Format, j.version})
	}
}

// end hands over the written lines, and returns the first error of writing.
func (j *JSON) end() error {
	if err := j.w.Flush(); j.err == nil {
		j.err = err
	}
	return j.err
}

func (j *JSON) object(object any) {
	if j.err != nil {
		return
	}
	j.line.Reset()
	if err := j.encoder.Encode(object); err != nil {
		panic(fmt.Sprintf("encode %T: %v", object, err))
	}
	_, j.err = j.w.Write(escapeHidden(j.line.Bytes()))
}

// escapeHidden writes characters that do not show, and letters that pose as others, as \u
// escapes. They can be only inside the strings of a JSON text, where an escape means the same. The
// line's end stays.
func escapeHidden(line []byte) []byte {
	text := bytes.TrimSuffix(line, []byte("\n"))
	if isPlain(string(text)) {
		return line
	}
	out := make([]byte, 0, len(line)+16)
	posing := confusable.Letters(string(text))
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRune(text[at:])
		if isHidden(r) || posing[at] {
			out = appendEscape(out, r)
		} else {
			out = append(out, text[at:at+size]...)
		}
		at += size
	}
	return append(out, '\n')
}

// appendEscape writes one or two UTF-16 units (RFC 8259, section 7).
func appendEscape(b []byte, r rune) []byte {
	if r > 0xffff {
		r -= 0x10000
		return fmt.Appendf(b, `\u%04x\u%04x`, 0xd800+(r>>10), 0xdc00+(r&0x3ff))
	}
	return fmt.Appendf(b, `\u%04x`, r)
}

type errorLine struct {
	Type string `json:"type"` // "error"
	Text string `json:"error"`
	Hint string `json:"hint,omitempty"`
}

// Error writes an error, and a command that helps where there is one.
func (j *JSON) Error(err error, hint string) error {
	j.write(errorLine{"error", err.Error(), asTyped(hint)})
	return j.end()
}
