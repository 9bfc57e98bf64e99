package service_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"remit/executor"
)

// packing answers 200 with what body says of a request in gzip, although nobody asks for that.
func packing(t *testing.T, body func(r *http.Request) string, change func([]byte) []byte) *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Accept-Encoding"); got != "identity" {
			t.Errorf("%s %s accepts the codings %q", r.Method, r.URL.Path, got)
		}
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		_, _ = z.Write([]byte(body(r)))
		_ = z.Close()
		always(200, "Content-Encoding: gzip", string(change(packed.Bytes())))(w, r)
	}))
	t.Cleanup(server.Close)
	return server
}

func as(text string) func(*http.Request) string { return func(*http.Request) string { return text } }

func whole(b []byte) []byte { return b }

func TestAnswersInGzipAreRead(t *testing.T) {
	token := packing(t, as(`{"access_token":"token-number-1"}`), whole)
	api := packing(t, func(r *http.Request) string {
		if r.Method == http.MethodGet {
			return fmt.Sprintf(`{"items":[%s]}`, answer)
		}
		return answer
	}, whole)
	o := options(api.URL, token.URL)
	o.LookupPath = "/v2/transfers"
	c := newClient(t, o)
	for range 2 { // the second on the same connection
		if got := c.Submit(t.Context(), path, []byte(request)); got.Kind != executor.Answered || got.Record.ID != "t1" {
			t.Errorf("%+v", got)
		}
	}
	if found, err := c.Find(t.Context(), []string{"a"}); err != nil || len(found["a"]) != 1 {
		t.Errorf("found %v: %v", found, err)
	}
}

func TestAnswersInGzipThatCannotBeUnpacked(t *testing.T) {
	tests := map[string]struct {
		body   string
		change func([]byte) []byte
		reason string
	}{
		"half of it":                      {answer, func(b []byte) []byte { return b[:len(b)/2] }, "closed"},
		"something else":                  {answer, func([]byte) []byte { return []byte(answer) }, "gzip: invalid header"},
		"nothing":                         {answer, func([]byte) []byte { return nil }, "its body is empty"},
		"more than is kept of any answer": {strings.Repeat(" ", 1<<20) + answer, whole, "longer than"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := newClient(t, options(packing(t, as(tt.body), tt.change).URL, tokens(t)))
			if got := c.Submit(t.Context(), path, []byte(request)); got.Kind != executor.Unclear || !strings.Contains(got.Reason, tt.reason) {
				t.Errorf("%+v", got)
			}
		})
	}
}
