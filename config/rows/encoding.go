package rows

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// The encodings of text files that can be declared. Any other file is UTF-8.
const (
	encodingUTF8    = "utf-8"
	encodingUTF16   = "utf-16" // a byte-order mark says which
	encodingUTF16LE = "utf-16le"
	encodingUTF16BE = "utf-16be"
	encodingWindows = "windows-1252"
)

// Encodings are the names of the encodings that a CSV file may have.
func Encodings() []string {
	return []string{encodingUTF8, encodingUTF16, encodingUTF16LE, encodingUTF16BE, encodingWindows}
}

const (
	markUTF8      = ByteOrderMark
	markUTF16LE   = "\xff\xfe"
	markUTF16BE   = "\xfe\xff"
	sniffedBytes  = 512
	encodingHowTo = "\n\n  encoding = %q"
)

// ByteOrderMark is what Windows programs write before UTF-8.
const ByteOrderMark = "\xef\xbb\xbf"

// decoded is the text of a file in UTF-8, without a byte-order mark unless it is UTF-8
// already. An error says what the file is instead of what it was declared to be.
func decoded(file io.Reader, encoding string) (io.Reader, error) {
	if encoding == encodingUTF8 {
		return file, nil
	}
	buffered := bufio.NewReaderSize(file, dataBufferBytes)
	head, _ := buffered.Peek(sniffedBytes)
	mark := markOf(head)
	switch {
	case mark == markUTF8:
		return nil, fmt.Errorf("is UTF-8, not %s: it begins with UTF-8's byte-order mark. Leave encoding out", encoding)
	case encoding == encodingWindows && (mark != "" || guessUTF16(head) != ""):
		return nil, fmt.Errorf("is UTF-16, not %s:"+encodingHowTo, encoding, encodingUTF16)
	case encoding == encodingUTF16 && mark == "" && len(head) > 0:
		return nil, fmt.Errorf("has no byte-order mark, which would say in which order the bytes of its UTF-16 stand. Say %q or %q", encodingUTF16LE, encodingUTF16BE)
	case encoding == encodingUTF16LE && mark == markUTF16BE:
		return nil, fmt.Errorf("has the byte-order mark of utf-16be:"+encodingHowTo, encodingUTF16BE)
	case encoding == encodingUTF16BE && mark == markUTF16LE:
		return nil, fmt.Errorf("has the byte-order mark of utf-16le:"+encodingHowTo, encodingUTF16LE)
	}
	_, _ = buffered.Discard(len(mark))
	if encoding == encodingWindows {
		return transform.NewReader(buffered, charmap.Windows1252.NewDecoder()), nil
	}
	order := unicode.LittleEndian
	if encoding == encodingUTF16BE || mark == markUTF16BE {
		order = unicode.BigEndian
	}
	return transform.NewReader(buffered, unicode.UTF16(order, unicode.IgnoreBOM).NewDecoder()), nil
}

// checkUTF8 says what a file is whose beginning can be no UTF-8 text.
func checkUTF8(head []byte) error {
	switch mark := markOf(head); {
	case mark == markUTF16LE || mark == markUTF16BE:
		return fmt.Errorf("begins with the byte-order mark of UTF-16. Say so:"+encodingHowTo, encodingUTF16)
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return errors.New("is a ZIP file, as workbooks are: a sheet of an .xlsx file is read by data \"xlsx\"")
	}
	if guess := guessUTF16(head); guess != "" {
		return fmt.Errorf("looks like UTF-16 without a byte-order mark. If it is, say so:"+encodingHowTo, guess)
	}
	return nil
}

func markOf(head []byte) string {
	for _, mark := range []string{markUTF8, markUTF16LE, markUTF16BE} {
		if bytes.HasPrefix(head, []byte(mark)) {
			return mark
		}
	}
	return ""
}

// guessUTF16 names the UTF-16 whose zero bytes text of few kinds of letters shows, or "".
func guessUTF16(head []byte) string {
	if len(head) < 2 {
		return ""
	}
	switch {
	case head[0] != 0 && head[1] == 0:
		return encodingUTF16LE
	case head[0] == 0 && head[1] != 0:
		return encodingUTF16BE
	}
	return ""
}
