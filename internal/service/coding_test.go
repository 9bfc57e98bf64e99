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
	"remit/internal/service"
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

// TestAByteOrderMarkIsIgnored has one before each answer (RFC 8259, section 8.1).
func TestAByteOrderMarkIsIgnored(t *testing.T) {
	const mark = "\ufeff"
	w := &world{
		token: always(200, "Content-Type: application/json", mark+`{"access_token":"token-number-1","expires_in":"3600"}`),
		api: func(rw http.ResponseWriter, r *http.Request) {
			body := answer
			if r.Method == http.MethodGet {
				body = `{"items":[` + answer + `]}`
			}
			always(200, "", mark+body)(rw, r)
		},
	}
	w.in(t, func(t *testing.T, c *service.Client) {
		if got := c.Submit(t.Context(), path, []byte(request)); got.Kind != executor.Answered {
			t.Errorf("%+v", got)
		}
		if found, err := c.Find(t.Context(), []string{"a"}); err != nil || len(found["a"]) != 1 {
			t.Errorf("found %v: %v", found, err)
		}
	})
}

// TestForeignCodingsAreNamed answers in codings that nobody asked for.
func TestForeignCodingsAreNamed(t *testing.T) {
	wide := func(text string) string {
		b := []byte{0xff, 0xfe}
		for _, c := range text {
			b = append(b, byte(c), 0)
		}
		return string(b)
	}
	packed := func(string) string { return "x\x9c\x00" }
	plain := func(text string) string { return text }
	tests := map[string]struct {
		header string
		change func(string) string
		want   string // "" where the answer is read
	}{
		"deflate":                     {"Content-Encoding: deflate", packed, `its Content-Encoding is "deflate"`},
		"two codings":                 {"Content-Encoding: br, gzip", packed, `its Content-Encoding is "br, gzip"`},
		"utf-16":                      {"Content-Type: application/json; charset=UTF-16", wide, `its charset is "utf-16"`},
		"utf-16 that nobody names":    {"Content-Type: application/json", wide, "its charset is utf-16"},
		"a charset named as a coding": {"Content-Encoding: UTF-8", plain, ""},
		"an old charset":              {"Content-Type: application/json; charset=iso-8859-1", plain, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			says := func(kind, text string) {
				if !strings.Contains(text, tt.want) || (text == "") != (tt.want == "") {
					t.Errorf("%s: %q, want %q", kind, text, tt.want)
				}
			}
			w := &world{api: func(rw http.ResponseWriter, r *http.Request) {
				body := answer
				if r.Method == http.MethodGet {
					body = `{"items":[` + answer + `]}`
				}
				always(200, tt.header, tt.change(body))(rw, r)
			}}
			w.in(t, func(t *testing.T, c *service.Client) {
				got := c.Submit(t.Context(), path, []byte(request))
				if got.Kind == executor.Answered {
					got.Reason = ""
				}
				says("submit", got.Reason)
				_, err := c.Find(t.Context(), []string{"a"})
				says("find", words(err))
			})
			w = &world{token: always(200, tt.header, tt.change(`{"access_token":"token-number-1","token_type":"bearer"}`))}
			w.in(t, func(t *testing.T, c *service.Client) {
				if _, err := c.Ready(t.Context()); tt.want != "" || strings.Contains(tt.header, "json") {
					says("token", words(err))
				}
			})
		})
	}
}

// words are those of an error; "" of none.
func words(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
