package service

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
)

// identity asks for answers as they are: without a word, any coding would be welcome (RFC 9110,
// section 12.5.3).
const identity = "identity"

// unpack has the body of an answer as it was before gzip, for a service that compresses whatever it is asked
// for. The bound on the bytes of a body then counts unpacked bytes, not those that come in. A body that
// can't be unpacked can't be read.
func unpack(answer *http.Response) {
	if coding := answer.Header.Get("Content-Encoding"); strings.EqualFold(coding, "gzip") || strings.EqualFold(coding, "x-gzip") {
		answer.Body, answer.ContentLength = &unzipped{packed: answer.Body}, -1
	}
}

// unzipped is a body that came in gzip.
type unzipped struct {
	packed io.ReadCloser
	reader *gzip.Reader // nil before the first byte is read
}

// Read reads the next unpacked bytes. An empty body has none.
func (u *unzipped) Read(b []byte) (int, error) {
	if u.reader == nil {
		reader, err := gzip.NewReader(u.packed)
		if err != nil {
			return 0, err
		}
		u.reader = reader
	}
	return u.reader.Read(b)
}

// Close closes the packed body.
func (u *unzipped) Close() error { return u.packed.Close() }
