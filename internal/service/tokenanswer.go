package service

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// tokenTransport sends the requests of oauth2 as ours and keeps of the answer what oauth2
// drops. It is used by one renewal.
type tokenTransport struct {
	client *Client
	path   string
	status int
	date   time.Time
	flaw   string // why an answer without a refusal holds no token; "" where nothing is known of it
}

// RoundTrip implements http.RoundTripper.
func (t *tokenTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	var connected atomic.Bool
	r = r.Clone(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	}))
	r.Header.Set("User-Agent", t.client.userAgent)
	r.Header.Set("Accept", "application/json")
	r.Header.Set("Accept-Encoding", identity)
	t.path = r.URL.Path
	began := t.client.watches.start()
	answer, err := t.client.transport.RoundTrip(r)
	if err != nil && errors.Is(r.Context().Err(), context.DeadlineExceeded) && !connected.Load() {
		return nil, &noConnectionError{t.client.wording.timeout}
	}
	if err != nil {
		return nil, err
	}
	t.status = answer.StatusCode
	t.date = dateOf(answer.Header)
	t.client.time.learn(t.date, began)
	unpack(answer)
	if body := wholeSeconds(answer); answer.StatusCode < 300 {
		t.flaw = tokenFlaw(answer.Header, body)
	}
	return answer, nil
}

// tokenFlaw says why nobody can read a token from an answer; "" where nothing is known of it.
func tokenFlaw(h http.Header, body []byte) string {
	if isWebPage(body) {
		return "the token endpoint answered a page and no token, as a proxy or a page for signing in does; correct token_url"
	}
	if coding := foreignCoding(h, body); coding != "" {
		return "the token endpoint's answer holds no token that can be read: " + coding
	}
	return ""
}

// tokenAnswerMax bounds, in bytes, a token endpoint's answer; oauth2 reads as much.
const tokenAnswerMax = 1 << 20

// wholeSeconds has an expires_in in the whole seconds that oauth2 reads, rounded down: JSON has one kind of number (RFC 8259),
// and some endpoints write it as a text. One that is no number is removed, since oauth2 would not read the token beside it. It
// returns the body, without a byte order mark.
func wholeSeconds(answer *http.Response) []byte {
	body, failed := io.ReadAll(io.LimitReader(answer.Body, tokenAnswerMax))
	body = withoutMark(body)
	var fields map[string]json.RawMessage
	if json.Unmarshal(body, &fields) == nil && fields["expires_in"] != nil {
		if life, isNumber := seconds(fields["expires_in"]); isNumber {
			fields["expires_in"] = strconv.AppendInt(nil, life, 10)
		} else {
			delete(fields, "expires_in")
		}
		var err error
		if body, err = json.Marshal(fields); err != nil {
			panic(err) // each field was JSON
		}
	}
	answer.Body = &readAgain{Reader: bytes.NewReader(body), failed: failed, Closer: answer.Body}
	return body
}

// seconds reads a number, or a text of one.
func seconds(raw json.RawMessage) (whole int64, isNumber bool) {
	text := string(raw)
	_ = json.Unmarshal(raw, &text) // it is no text otherwise
	life, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) || math.IsNaN(life) {
		return 0, false
	}
	return int64(min(max(life, 0), math.MaxInt32)), true
}

// readAgain is a body that was read, in whole or in part.
type readAgain struct {
	*bytes.Reader
	io.Closer
	failed error // after its bytes; nil where it was whole
}

// Read repeats the bytes that were read, and then their failure.
func (r *readAgain) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	if err == io.EOF && r.failed != nil {
		return n, r.failed
	}
	return n, err
}
