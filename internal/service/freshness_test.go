package service_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"remit/executor"
	"remit/internal/service"
)

// aged answers a request with these headers, each behind the other.
func aged(body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		for _, header := range headers {
			name, value, _ := strings.Cut(header, ": ")
			if ago, ok := strings.CutPrefix(value, "ago "); ok {
				d, err := time.ParseDuration(ago)
				if err != nil {
					panic(err)
				}
				value = time.Now().Add(-d).UTC().Format(http.TimeFormat)
			}
			w.Header().Add(name, value)
		}
		_, _ = io.WriteString(w, body)
	}
}

// An empty list that is not of now says nothing: what it lacks may have been made since.
func TestAnOldListSaysNothing(t *testing.T) {
	tests := map[string]struct {
		headers []string
		reason  string // "" where the list is of now
	}{
		"of the service itself":       {nil, ""},
		"of a cache, just now":        {[]string{"Age: 5"}, ""},
		"six seconds old":             {[]string{"Age: 6"}, "was made 6s ago"},
		"the largest Age there is":    {[]string{"Age: 2147483648"}, "was made more than"},
		"larger than any number":      {[]string{"Age: 99999999999999999999"}, "was made more than"},
		"a list of ages":              {[]string{"Age: 3600, 3600"}, "an Age that cannot be read"},
		"a fraction":                  {[]string{"Age: 3600.5"}, "an Age that cannot be read"},
		"a negative Age":              {[]string{"Age: -1"}, "an Age that cannot be read"},
		"no number":                   {[]string{"Age: "}, "an Age that cannot be read"},
		"two ages, the first is none": {[]string{"Age: 0", "Age: 3600"}, "was made 1h0m0s ago"},
		"a hit just now":              {[]string{"Age: 2", "X-Cache: HIT"}, ""},
		"a miss":                      {[]string{"X-Cache: MISS from squid", "X-Cache-Lookup: HIT from squid:3128"}, ""},
		"asked for anew":              {[]string{"X-Cache: RefreshHit from cloudfront", "Cache-Status: edge; fwd=stale; fwd-status=200"}, ""},
		"revalidated":                 {[]string{"X-Cache: TCP_REFRESH_HIT from a1"}, ""},
		"hits that are none":          {[]string{"X-Cache: HIT-FOR-MISS", "X-Proxy-Cache: NO_HIT", "X-Cache-Status: 0 hit", "Cache-Status: c; hit=?0; fwd=miss"}, ""},
		"the second of two warnings":  {[]string{`Warning: 199 - "x", 110 - "stale"`}, "the Warning"},
		"not cached":                  {[]string{"CF-Cache-Status: DYNAMIC", "Warning: 299 - \"the API ends soon\""}, ""},
		"a hit of Squid":              {[]string{"X-Cache: TCP_MEM_HIT from squid"}, `the X-Cache "TCP_MEM_HIT from squid" and no Age`},
		"a stale one of nginx":        {[]string{"X-Cache-Status: STALE"}, `the X-Cache-Status "STALE" and no Age`},
		"a hit of one of two":         {[]string{"Cache-Status: origin; fwd=miss", "Cache-Status: edge; hit"}, "the Cache-Status"},
		"a warning":                   {[]string{"Warning: 110 - \"Response is Stale\""}, "the Warning"},
		"a Date of an hour ago":       {[]string{"Date: ago 1h"}, "the answer's Date, "},
		"a Date of eight minutes ago": {[]string{"Date: ago 8m"}, ""},
		"a Date that is ahead":        {[]string{"Date: ago -1h"}, ""},
		"a Date that is none":         {[]string{"Date: yesterday"}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := &world{api: aged(`{"items":[]}`, tt.headers...)}
			w.in(t, func(t *testing.T, c *service.Client) {
				_, err := c.Find(t.Context(), []string{"a"})
				if tt.reason == "" && err != nil || tt.reason != "" && (err == nil || !strings.Contains(err.Error(), tt.reason)) {
					t.Errorf("error %v, want %q", err, tt.reason)
				}
			})
		})
	}
}

// The Date of an answer that is given again, as it was stored, does not make a record of today's.
func TestTheDateOfAStoredAnswer(t *testing.T) {
	tests := map[string]struct {
		headers  []string
		believed bool
	}{
		"of now":             {[]string{"Date: ago 2s"}, true},
		"20 days ago":        {[]string{"Date: ago 480h"}, false},
		"20 days, by an Age": {[]string{"Age: 1728000"}, false},
		"both":               {[]string{"Date: ago 480h", "Age: 1728000"}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := &world{api: aged(answer, tt.headers...)}
			w.in(t, func(t *testing.T, c *service.Client) {
				if _, err := c.Ready(t.Context()); err != nil {
					t.Fatal(err)
				}
				got := c.Submit(t.Context(), path, []byte(request))
				if got.Record == nil || got.Record.AnsweredAt.IsZero() == tt.believed {
					t.Errorf("%+v, want its Date believed: %v", got.Record, tt.believed)
				}
			})
		})
	}
	// A local clock that is a day off does not matter where the token says what time it is at the service.
	t.Run("the local clock is a day ahead", func(t *testing.T) {
		w := &world{api: aged(answer)}
		w.in(t, func(t *testing.T, c *service.Client) {
			if _, err := c.Ready(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := c.Submit(t.Context(), path, []byte(request)); got.Record == nil || got.Record.AnsweredAt.IsZero() {
				t.Errorf("%+v", got.Record)
			}
		}, func(o *service.Options) { o.Now = func() time.Time { return time.Now().Add(24 * time.Hour) } })
	})
}

// A service that pages and does not know its own cursor shows the first page alone: the others are asked for by themselves.
func TestFindWithoutCursors(t *testing.T) {
	made := map[string]string{"a": record("a", "a1"), "b": record("b", "b1"), "c": record("c", "c1"), "d": record("d", "d1")}
	asked := []string{"a", "b", "none", "c", "d"}
	for size := 1; size <= len(made); size++ {
		t.Run(fmt.Sprintf("%d a page", size), func(t *testing.T) {
			w := &world{api: func(rw http.ResponseWriter, r *http.Request) {
				var items []string
				for _, refID := range r.URL.Query()["ref_ids"] {
					if item := made[refID]; item != "" {
						items = append(items, item)
					}
				}
				next, total := "", len(items)
				if len(items) > size {
					next, items = "more", items[:size]
				}
				always(200, "", fmt.Sprintf(`{"items":[%s],"total_count":%d,"next_page_cursor":%q}`, strings.Join(items, ","), total, next))(rw, r)
			}}
			w.in(t, func(t *testing.T, c *service.Client) {
				found, err := c.Find(t.Context(), asked)
				if err != nil || len(found) != len(made) || len(found["none"]) > 0 {
					t.Errorf("found %v, error %v", found, err)
				}
			})
		})
	}
}

// A service that has one cursor for all pages, and filters after it has cut them, may begin with empty ones.
func TestFindAfterEmptyPagesOfOneCursor(t *testing.T) {
	pages := 0
	w := &world{api: func(rw http.ResponseWriter, r *http.Request) {
		if pages++; pages < 4 {
			always(200, "", `{"items":[],"next_page_cursor":"scroll"}`)(rw, r)
			return
		}
		always(200, "", `{"items":[`+record("a", "a1")+`],"next_page_cursor":""}`)(rw, r)
	}}
	w.in(t, func(t *testing.T, c *service.Client) {
		if found, err := c.Find(t.Context(), []string{"a"}); err != nil || len(found["a"]) != 1 {
			t.Errorf("found %v, error %v", found, err)
		}
	})
}

// twice serves each request of a connection by f, to which it gives the answer that it gave before there.
func twice(f func(conn net.Conn, r *http.Request, before string) (answer string)) func(net.Conn) {
	return func(conn net.Conn) {
		defer func() { _ = conn.Close() }()
		before := ""
		for in := bufio.NewReader(conn); ; {
			r, err := http.ReadRequest(in)
			if err != nil {
				return
			}
			body, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(strings.NewReader(string(body)))
			before = f(conn, r, before)
		}
	}
}

// respond writes an answer and returns it.
func respond(conn net.Conn, status int, body string) string {
	text := fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Length: %d\r\n\r\n%s", status, http.StatusText(status), len(body), body)
	_, _ = io.WriteString(conn, text)
	return text
}

// An answer that comes a second time, when the next request is under way, is not taken for the answer to that: neither a refusal,
// however long the service takes for the next one, nor an empty list.
func TestAnAnswerTwice(t *testing.T) {
	t.Run("a refusal", func(t *testing.T) {
		first := true
		w := &world{serve: twice(func(conn net.Conn, _ *http.Request, before string) string {
			if first {
				first = false
				return respond(conn, 400, `{"title":"bad account"}`)
			}
			_, _ = io.WriteString(conn, before)
			time.Sleep(10 * time.Second) // much longer than the refusal took
			return respond(conn, 201, answer)
		})}
		w.in(t, func(t *testing.T, c *service.Client) {
			for _, want := range []executor.AnswerKind{executor.Rejected, executor.Answered} {
				if got := c.Submit(t.Context(), path, []byte(request)); got.Kind != want {
					t.Errorf("%v, want %v: %s", got.Kind, want, got.Reason)
				}
			}
		})
	})
	t.Run("an empty list", func(t *testing.T) {
		w := &world{serve: twice(func(conn net.Conn, r *http.Request, before string) string {
			_, _ = io.WriteString(conn, before)
			if slices.Equal(r.URL.Query()["ref_ids"], []string{"a"}) {
				return respond(conn, 200, `{"items":[`+record("a", "a1")+`]}`)
			}
			return respond(conn, 200, `{"items":[]}`)
		})}
		w.in(t, func(t *testing.T, c *service.Client) {
			for _, tt := range []struct {
				refID string
				want  int
			}{{"b", 0}, {"a", 1}, {"b", 0}} {
				if found, err := c.Find(t.Context(), []string{tt.refID}); err != nil || len(found[tt.refID]) != tt.want {
					t.Errorf("%s: found %v, error %v", tt.refID, found, err)
				}
			}
		})
	})
}
