package service

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"remit/executor"
	"remit/internal/transfer"
)

// identity asks for answers as they are: without a word, any coding would be welcome (RFC 9110,
// section 12.5.3).
const identity = "identity"

// unpack has the body of an answer as it was before gzip, for a service that compresses whatever it is asked
// for. The bound on the bytes of a body then counts unpacked bytes, not those that come in. A body that
// can't be unpacked can't be read.
func unpack(answer *http.Response) {
	if codings := codingsOf(answer.Header); len(codings) == 1 && isGzip(codings[0]) {
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

// codingsOf returns the codings of a body, without identity.
func codingsOf(h http.Header) []string {
	var codings []string
	for coding := range strings.SplitSeq(strings.Join(h.Values("Content-Encoding"), ","), ",") {
		if coding = strings.ToLower(strings.TrimSpace(coding)); coding != "" && coding != identity {
			codings = append(codings, coding)
		}
	}
	return codings
}

func isGzip(coding string) bool { return coding == "gzip" || coding == "x-gzip" }

// withoutMark returns a body without the byte order mark that a reader of JSON may ignore (RFC 8259, section 8.1).
func withoutMark(body []byte) []byte { return bytes.TrimPrefix(body, []byte("\ufeff")) }

// foreignCoding says, as a part of a sentence, in which coding a body is that remit does not read; "" where it is not known to be
// in one.
func foreignCoding(h http.Header, body []byte) string {
	if codings := codingsOf(h); len(codings) > 1 || len(codings) == 1 && !isGzip(codings[0]) {
		return fmt.Sprintf("its Content-Encoding is %q, and remit asked for %q", visible(strings.Join(codings, ", ")), identity)
	}
	_, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	charset := strings.ToLower(params["charset"])
	switch {
	case err == nil && charset != "" && !slices.Contains([]string{"utf-8", "utf8", "us-ascii"}, charset):
		return fmt.Sprintf("its charset is %q, and JSON is in utf-8", visible(charset))
	case bytes.HasPrefix(body, []byte{0xfe, 0xff}), bytes.HasPrefix(body, []byte{0xff, 0xfe}):
		return "its charset is utf-16, and JSON is in utf-8"
	}
	return ""
}

// object reads an answer as a JSON object.
func (ex exchange) object() (map[string]json.RawMessage, error) {
	fields, err := transfer.ObjectFields(ex.body)
	if err == nil {
		return fields, nil
	}
	if coding := foreignCoding(ex.header, ex.body); coding != "" {
		return nil, errors.New("the answer cannot be read: " + coding)
	}
	return nil, fmt.Errorf("the answer cannot be read as a JSON object: %w", err)
}

// classifyCoded classifies an exchange at a path. Of an answer that cannot be read it names the coding.
func (c *Client) classifyCoded(path string, ex exchange) executor.Answer {
	a := c.classify(path, ex)
	if ex.err != nil || ex.status < 200 || ex.status >= 300 || a.Record != nil {
		return a
	}
	if coding := foreignCoding(ex.header, ex.body); coding != "" && !isEmpty(ex.body) {
		ex.err = errors.New(coding)
		return c.classify(path, ex)
	}
	return a
}
