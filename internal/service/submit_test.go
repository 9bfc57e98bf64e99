package service_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"remit/executor"
	"remit/internal/service"
)

// want is the part of an answer that matters.
type want struct {
	Kind    executor.AnswerKind
	Stop    bool
	Status  int
	Retry   time.Duration
	Record  string // its id; "" for none
	Problem string // as kept; "" for none
}

func seen(a executor.Answer) want {
	w := want{Kind: a.Kind, Stop: a.Stop, Status: a.HTTPStatus, Retry: a.RetryAfter, Problem: string(a.Problem)}
	if a.Record != nil {
		w.Record = a.Record.ID
	}
	return w
}

// Every row of the table in docs/states.md, What an answer means, that an answer alone can meet.
func TestAnswersAreClassified(t *testing.T) {
	const (
		funds  = `{"type":"https://x/insufficient-funds","title":"Insufficient funds","status":422,"detail":"There is 1 USD."}`
		exists = `{"type":"https://x/already-exists","title":"Known"}`
	)
	existing := `{"type":"urn:x:already-exists","title":"Known","meta":{"existing":` + answer + `}}`
	quoted := func(s string) string {
		text, _ := json.Marshal(s)
		return string(text)
	}
	tests := map[string]struct {
		status       int
		header, body string
		want         want
		reason       string
	}{
		"200 with a record":                      {200, "", answer, want{executor.Answered, false, 200, 0, "t1", ""}, "transfer record"},
		"201 with a record":                      {201, "", answer, want{executor.Answered, false, 201, 0, "t1", ""}, "transfer record"},
		"202 with a record":                      {202, "", answer, want{executor.Answered, false, 202, 0, "t1", ""}, "transfer record"},
		"204 without a body":                     {204, "", "", want{executor.Unclear, false, 204, 0, "", ""}, "its body is empty"},
		"200 that is no JSON":                    {200, "", "<html>", want{executor.Unclear, false, 200, 0, "", quoted("<html>")}, "no transfer record could be read"},
		"200 with half a record":                 {200, "", answer[:80], want{executor.Unclear, false, 200, 0, "", quoted(answer[:80])}, "may or may not"},
		"200 with two records":                   {200, "", answer + answer, want{executor.Unclear, false, 200, 0, "", quoted(answer + answer)}, "may or may not"},
		"200 with a record without an id":        {200, "", strings.Replace(answer, `"t1"`, `""`, 1), want{executor.Unclear, false, 200, 0, "", quoted(strings.Replace(answer, `"t1"`, `""`, 1))}, "id is missing"},
		"200 with a problem":                     {200, "", exists, want{executor.Unclear, false, 200, 0, "", quoted(exists)}, "may or may not"},
		"301":                                    {301, "Location: http://127.0.0.1:2/elsewhere", "", want{executor.Unclear, true, 301, 0, "", ""}, "never followed"},
		"303":                                    {303, "Location: http://127.0.0.1:2/elsewhere", "", want{executor.Unclear, true, 303, 0, "", ""}, "never followed"},
		"304 without a Location":                 {304, "", "", want{executor.Unclear, true, 304, 0, "", ""}, "never followed"},
		"307 with a Location that is no address": {307, "Location: http://%zz", "", want{executor.Unclear, true, 307, 0, "", ""}, "never followed"},
		"308 with a body":                        {308, "Location: http://other.example/", "x", want{executor.Unclear, true, 308, 0, "", `"x"`}, "never followed"},
		"400 with a text":                        {400, "", "Nope\n", want{executor.Rejected, false, 400, 0, "", `"Nope"`}, "400 Bad Request (Nope)."},
		"402":                                    {402, "", "", want{executor.Rejected, false, 402, 0, "", ""}, "402 Payment Required"},
		"403 with a problem":                     {403, "", funds, want{executor.Rejected, false, 403, 0, "", funds}, "Insufficient funds: There is 1 USD."},
		"404 without a body":                     {404, "", "", want{executor.Rejected, true, 404, 0, "", ""}, "check base_url"},
		"404 with a text":                        {404, "", "404 page not found", want{executor.Rejected, true, 404, 0, "", `"404 page not found"`}, "check base_url"},
		"404 with other JSON":                    {404, "", `{"message":"no Route"}`, want{executor.Rejected, true, 404, 0, "", quoted(`{"message":"no Route"}`)}, "check base_url"},
		"422 with other JSON":                    {422, "", "{\n \"code\": \"DUPLICATE\"\n}", want{executor.Rejected, false, 422, 0, "", quoted("{\n \"code\": \"DUPLICATE\"\n}")}, `422 Unprocessable Entity ({ "code": "DUPLICATE" }).`},
		"422 with a page":                        {422, "", "<html>No</html>", want{executor.Rejected, false, 422, 0, "", quoted("<html>No</html>")}, "with 422 Unprocessable Entity."},
		"400 with a page that has a title":       {400, "", "<html><head><Title>400 No &quot;certificate&quot;\u202e</title>", want{executor.Rejected, false, 400, 0, "", quoted("<html><head><Title>400 No &quot;certificate&quot;\u202e</title>")}, "400 Bad Request (400 No \"certificate\"\ufffd)."},
		"403 with a page of a firewall":          {403, "", " <html>Blocked</html>", want{executor.Unclear, false, 403, 0, "", quoted("<html>Blocked</html>")}, "may or may not"},
		"406 with a page of a firewall":          {406, "", "<title>Not Acceptable", want{executor.Unclear, false, 406, 0, "", quoted("<title>Not Acceptable")}, "may or may not"},
		"403 with a firewall's number":           {403, "", `{"supportID":"15246879412398745632"}`, want{executor.Unclear, false, 403, 0, "", quoted(`{"supportID":"15246879412398745632"}`)}, "as a firewall writes it"},
		"403 with its number as a text":          {403, "", "Blocked. Your support ID is: 77", want{executor.Unclear, false, 403, 0, "", quoted("Blocked. Your support ID is: 77")}, "may or may not"},
		"403 with an error that has one":         {403, "", `{"error":"forbidden","support_id":"8812"}`, want{executor.Rejected, false, 403, 0, "", quoted(`{"error":"forbidden","support_id":"8812"}`)}, "403 Forbidden"},
		"403 without a number":                   {403, "", `{"incident_id":null,"no":"block id"}`, want{executor.Rejected, false, 403, 0, "", quoted(`{"incident_id":null,"no":"block id"}`)}, "403 Forbidden"},
		"403 with a problem that has one":        {403, "", `{"title":"No","incident_id":"7"}`, want{executor.Rejected, false, 403, 0, "", `{"title":"No","incident_id":"7"}`}, "403 Forbidden (No"},
		"404 with a page":                        {404, "", "<html>Not here</html>", want{executor.Rejected, true, 404, 0, "", quoted("<html>Not here</html>")}, "check base_url"},
		"422 with what cannot be seen":           {422, "", "a\u202eb\x00", want{executor.Rejected, false, 422, 0, "", quoted("a\u202eb\x00")}, "(a\ufffdb\ufffd)."},
		"404 with a problem":                     {404, "", funds, want{executor.Rejected, false, 404, 0, "", funds}, "Insufficient funds"},
		"405":                                    {405, "", funds, want{executor.Rejected, true, 405, 0, "", funds}, "check base_url"},
		"408":                                    {408, "", "", want{executor.Unclear, false, 408, 0, "", ""}, "may or may not"},
		"499 of a gateway":                       {499, "", `{"code":1,"message":"context canceled"}`, want{executor.Unclear, false, 499, 0, "", quoted(`{"code":1,"message":"context canceled"}`)}, "may or may not"},
		"499 that is the record":                 {499, "", answer, want{executor.Unclear, false, 499, 0, "", quoted(answer)}, "may or may not"},
		"460 of a load balancer":                 {460, "", "", want{executor.Unclear, false, 460, 0, "", ""}, "may or may not"},
		"409 with a text":                        {409, "", "known", want{executor.Exists, false, 409, 0, "", `"known"`}, "knows this ref_id"},
		"409 with a problem of another type":     {409, "", funds, want{executor.Exists, false, 409, 0, "", funds}, "knows this ref_id"},
		"409 with the record":                    {409, "", existing, want{executor.Exists, false, 409, 0, "t1", existing}, "knows this ref_id"},
		"409 with half a record":                 {409, "", strings.Replace(existing, `"t1"`, `7`, 1), want{executor.Exists, false, 409, 0, "", strings.Replace(existing, `"t1"`, `7`, 1)}, "knows this ref_id"},
		"400 of the type already-exists":         {400, "", exists, want{executor.Exists, false, 400, 0, "", exists}, "knows this ref_id"},
		"401 of the type already-exists":         {401, "", exists, want{executor.Exists, false, 401, 0, "", exists}, "knows this ref_id"},
		"422 of the type already-exists":         {422, "", existing, want{executor.Exists, false, 422, 0, "t1", existing}, "knows this ref_id"},
		"500 of the type already-exists":         {500, "", exists, want{executor.Unclear, false, 500, 0, "", exists}, "may or may not"},
		"422 with already-exists in the detail":  {422, "", `{"title":"No","detail":"it already-exists"}`, want{executor.Rejected, false, 422, 0, "", `{"title":"No","detail":"it already-exists"}`}, "No: it already-exists"},
		"422 whose type is no string":            {422, "", `{"type":1,"title":"x already-exists"}`, want{executor.Rejected, false, 422, 0, "", quoted(`{"type":1,"title":"x already-exists"}`)}, "422"},
		"422 whose status is a string":           {422, "", `{"type":"https://x/already-exists","status":"422"}`, want{executor.Exists, false, 422, 0, "", `{"type":"https://x/already-exists","status":"422"}`}, "knows this ref_id"},
		"400 whose meta is a list":               {400, "", `{"type":"https://x/already-exists","meta":[]}`, want{executor.Exists, false, 400, 0, "", `{"type":"https://x/already-exists","meta":[]}`}, "knows this ref_id"},
		"409 that is the record":                 {409, "", answer, want{executor.Exists, false, 409, 0, "t1", quoted(answer)}, "knows this ref_id already."},
		"422 that is the record":                 {422, "", answer, want{executor.Exists, false, 422, 0, "t1", quoted(answer)}, "422 Unprocessable Entity with a transfer record"},
		"403 with the record in another problem": {403, "", `{"title":"Seen","meta":{"existing":` + answer + `}}`, want{executor.Exists, false, 403, 0, "t1", `{"title":"Seen","meta":{"existing":` + answer + `}}`}, "403 Forbidden with a transfer record"},
		"422 with half a record":                 {422, "", answer[:80], want{executor.Unclear, false, 422, 0, "", quoted(answer[:strings.LastIndex(answer[:80], `"`)+1])}, "in the middle of its JSON"},
		"422 with a problem that is cut off":     {422, "", exists[:30], want{executor.Unclear, false, 422, 0, "", quoted(exists[:9])}, "may or may not"},
		"422 with JSON that is cut off":          {422, "Content-Type: application/problem+json; charset=utf-8", ` ["exi`, want{executor.Unclear, false, 422, 0, "", quoted(`["`)}, "may or may not"},
		"422 with JSON without a body":           {422, "Content-Type: application/json", "", want{executor.Rejected, false, 422, 0, "", ""}, "refused"},
		"422 with JSON that is a text":           {422, "Content-Type: application/json", "Nope", want{executor.Rejected, false, 422, 0, "", `"Nope"`}, "refused"},
		"422 with an odd page":                   {422, "", `{{ message`, want{executor.Rejected, false, 422, 0, "", quoted(`{{ message`)}, "refused"},
		"422 with a text in quotation marks":     {422, "", `"No`, want{executor.Rejected, false, 422, 0, "", quoted(`"No`)}, "refused"},
		"401 with a problem that is cut off":     {401, "", exists[:30], want{executor.Unclear, false, 401, 0, "", quoted(exists[:9])}, "may or may not"},
		"403 with a problem that is cut off":     {403, "", exists[:30], want{executor.Unclear, false, 403, 0, "", quoted(exists[:9])}, "may or may not"},
		"404 with a problem that is cut off":     {404, "", exists[:30], want{executor.Unclear, false, 404, 0, "", quoted(exists[:9])}, "may or may not"},
		"409 with a problem that is cut off":     {409, "", exists[:30], want{executor.Exists, false, 409, 0, "", quoted(exists[:30])}, "knows this ref_id"},
		"429 with a problem that is cut off":     {429, "Retry-After: 3", exists[:30], want{executor.Unclear, false, 429, 0, "", quoted(exists[:9])}, "may or may not"},
		"401 that is the record":                 {401, "", answer, want{executor.Exists, false, 401, 0, "t1", quoted(answer)}, "401 Unauthorized with a transfer record"},
		"404 that is the record":                 {404, "", answer, want{executor.Exists, false, 404, 0, "t1", quoted(answer)}, "404 Not Found with a transfer record"},
		"405 with the record in a problem":       {405, "", `{"title":"Seen","meta":{"existing":` + answer + `}}`, want{executor.Exists, false, 405, 0, "t1", `{"title":"Seen","meta":{"existing":` + answer + `}}`}, "405 Method Not Allowed with a transfer record"},
		"408 that is the record":                 {408, "", answer, want{executor.Unclear, false, 408, 0, "", quoted(answer)}, "may or may not"},
		"425 that is the record":                 {425, "Retry-After: 3", answer, want{executor.Exists, false, 425, 0, "t1", quoted(answer)}, "425 Too Early with a transfer record"},
		"429 that is the record":                 {429, "", answer, want{executor.Exists, false, 429, 0, "t1", quoted(answer)}, "429 Too Many Requests with a transfer record"},
		"425":                                    {425, "Retry-After: 3", "", want{executor.NotProcessed, false, 425, 3 * time.Second, "", ""}, "nothing was made"},
		"429 with seconds":                       {429, "Retry-After: 120", "", want{executor.NotProcessed, false, 429, 2 * time.Minute, "", ""}, "nothing was made"},
		"429 with a date":                        {429, "Retry-After: Sat, 01 Jan 2000 00:00:30 GMT", "", want{executor.NotProcessed, false, 429, 30 * time.Second, "", ""}, "nothing was made"},
		"429 with a date that is past":           {429, "Retry-After: Fri, 31 Dec 1999 00:00:30 GMT", "", want{executor.NotProcessed, false, 429, 0, "", ""}, "nothing was made"},
		"429 with a year":                        {429, "Retry-After: 31536000", "", want{executor.NotProcessed, false, 429, time.Hour, "", ""}, "nothing was made"},
		"429 with nonsense":                      {429, "Retry-After: -5", "", want{executor.NotProcessed, false, 429, 0, "", ""}, "nothing was made"},
		"429 without a time":                     {429, "", funds, want{executor.NotProcessed, false, 429, 0, "", funds}, "nothing was made"},
		"431":                                    {431, "", "", want{executor.Rejected, false, 431, 0, "", ""}, "refused"},
		"500":                                    {500, "", "oops", want{executor.Unclear, false, 500, 0, "", `"oops"`}, "500 Internal Server Error; the transfer may or may not"},
		"503 with Retry-After":                   {503, "Retry-After: 5", "", want{executor.Unclear, false, 503, 5 * time.Second, "", ""}, "may or may not"},
		"503 without it":                         {503, "", "", want{executor.Unclear, false, 503, 500 * time.Millisecond, "", ""}, "may or may not"},
		"599":                                    {599, "", "", want{executor.Unclear, false, 599, 0, "", ""}, "may or may not"},
		"600":                                    {600, "", answer, want{executor.Unclear, false, 600, 0, "", quoted(answer)}, "may or may not"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := &world{api: always(tt.status, tt.header, tt.body)}
			w.in(t, func(t *testing.T, c *service.Client) {
				got := c.Submit(t.Context(), path, []byte(request))
				if diff := cmp.Diff(tt.want, seen(got)); diff != "" {
					t.Errorf("answer (-want +got):\n%s", diff)
				}
				if !strings.Contains(got.Reason, tt.reason) || !strings.HasSuffix(got.Reason, ".") {
					t.Errorf("reason %q does not say %q", got.Reason, tt.reason)
				}
			})
			if w.requests != 1 {
				t.Errorf("the request was sent %d times", w.requests)
			}
		})
	}
}

// A date in Retry-After is of the clock of the service, whatever that of this machine says.
func TestADateInRetryAfterIsOfTheServicesClock(t *testing.T) {
	for _, apart := range []time.Duration{-24 * time.Hour, 0, 24 * time.Hour} {
		w := &world{api: always(429, "Retry-After: Sat, 01 Jan 2000 00:00:30 GMT", "")}
		w.in(t, func(t *testing.T, c *service.Client) {
			if got := c.Submit(t.Context(), path, []byte(request)); got.RetryAfter != 30*time.Second {
				t.Errorf("a clock %s apart waits for %s, want 30s", apart, got.RetryAfter)
			}
		}, func(o *service.Options) { o.Now = func() time.Time { return time.Now().Add(apart) } })
	}
}

// A service's way with a connection, and whether the transfer may have been made. Each is done to a
// new connection and to one that has answered before.
func TestBrokenConnections(t *testing.T) {
	read := func(_ net.Conn, r *bufio.Reader) {
		if got, err := http.ReadRequest(r); err == nil {
			_, _ = io.Copy(io.Discard, got.Body)
		}
	}
	head := "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	tests := map[string]struct {
		do     func(c net.Conn, r *bufio.Reader)
		reason string
		took   time.Duration // at most
	}{
		"closed after the first byte": {func(_ net.Conn, r *bufio.Reader) { _, _ = r.ReadByte() }, "No answer was read", 0},
		"closed without an answer":    {read, "the connection was closed", 0},
		"half a header": {func(c net.Conn, r *bufio.Reader) {
			read(c, r)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nConte")
		}, "No answer was read", 0},
		"garbage instead of a header": {func(c net.Conn, r *bufio.Reader) {
			read(c, r)
			_, _ = io.WriteString(c, "SSH-2.0-OpenSSH_9.9\r\n\r\n")
		}, "No answer was read", 0},
		"an endless header": {func(c net.Conn, r *bufio.Reader) {
			read(c, r)
			_, _ = io.WriteString(c, head)
			for err := error(nil); err == nil; {
				_, err = io.WriteString(c, "X: "+strings.Repeat("x", 1000)+"\r\n")
			}
		}, "No answer was read", 0},
		"half a body": {func(c net.Conn, r *bufio.Reader) {
			read(c, r)
			_, _ = io.WriteString(c, head+fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(answer)+1, answer))
		}, "could not be read whole", 0},
		"half a chunk": {func(c net.Conn, r *bufio.Reader) {
			read(c, r)
			_, _ = io.WriteString(c, head+"Transfer-Encoding: chunked\r\n\r\nff\r\n{}")
		}, "could not be read whole", 0},
		"an endless body": {func(c net.Conn, r *bufio.Reader) {
			read(c, r)
			_, _ = io.WriteString(c, head+"Connection: close\r\n\r\n")
			for err := error(nil); err == nil; {
				_, err = io.WriteString(c, strings.Repeat("x", 1000))
			}
		}, "longer than 1048576 bytes", 0},
		"a refusal with an endless body": {func(c net.Conn, r *bufio.Reader) {
			read(c, r)
			_, _ = io.WriteString(c, "HTTP/1.1 422 No\r\n\r\n")
			for err := error(nil); err == nil; {
				_, err = io.WriteString(c, strings.Repeat("x", 1000))
			}
		}, "longer than 1048576 bytes", 0},
		"a refusal with half a problem": {func(c net.Conn, r *bufio.Reader) {
			read(c, r)
			_, _ = io.WriteString(c, "HTTP/1.1 422 No\r\nContent-Type: application/problem+json\r\nConnection: close\r\n\r\n"+`{"title":"exists","type":"https://x/alre`)
		}, "in the middle of its JSON", 0},
		"no answer, ever": {func(c net.Conn, r *bufio.Reader) {
			read(c, r)
			_, _ = r.ReadByte()
		}, "no whole answer within 30s", 30 * time.Second},
		"an answer a byte a second": {func(c net.Conn, r *bufio.Reader) {
			read(c, r)
			_, _ = io.WriteString(c, head+fmt.Sprintf("Content-Length: %d\r\n\r\n", len(answer)))
			for i := range len(answer) {
				time.Sleep(time.Second)
				if _, err := io.WriteString(c, answer[i:i+1]); err != nil {
					return
				}
			}
		}, "no whole answer within 30s", 30 * time.Second},
		"another protocol": {func(c net.Conn, r *bufio.Reader) {
			read(c, r)
			_, _ = io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
			_, _ = r.ReadByte()
		}, "101 Switching Protocols; the transfer may or may not", 0},
	}
	for name, tt := range tests {
		for _, reused := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, reused %v", name, reused), func(t *testing.T) {
				w := &world{}
				w.serve = func(c net.Conn) {
					defer c.Close()
					r := bufio.NewReader(c)
					if reused {
						read(c, r)
						_, _ = io.WriteString(c, fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(answer), answer))
						if _, err := r.Peek(1); err != nil { // the second request begins
							return
						}
					}
					tt.do(c, r)
				}
				w.in(t, func(t *testing.T, c *service.Client) {
					if reused {
						if got := c.Submit(t.Context(), path, []byte(request)); got.Kind != executor.Answered {
							t.Fatalf("first: %+v", got)
						}
						synctest.Wait()
					}
					began := time.Now()
					got := c.Submit(t.Context(), path, []byte(request))
					if got.Kind != executor.Unclear || got.Stop || !strings.Contains(got.Reason, tt.reason) {
						t.Errorf("%+v, want it unclear because %q", got, tt.reason)
					}
					if took := time.Since(began); took > tt.took {
						t.Errorf("it took %s", took)
					}
				})
				if w.dials != 1 {
					t.Errorf("%d connections were opened: something was sent again", w.dials)
				}
			})
		}
	}
}

// A connection that ends at once may be seen to end before or after the first byte is
// written. Either way one is enough, and no answer is made up.
func TestConnectionClosedAtOnce(t *testing.T) {
	w := &world{}
	w.serve = func(c net.Conn) { _ = c.Close() }
	w.in(t, func(t *testing.T, c *service.Client) {
		got := c.Submit(t.Context(), path, []byte(request))
		if got.Kind != executor.Unclear && got.Kind != executor.Unwritten || got.HTTPStatus != 0 {
			t.Errorf("%+v", got)
		}
	})
	if w.dials != 1 {
		t.Errorf("%d connections", w.dials)
	}
}

// A kept connection that the service has closed while nothing was in flight isn't used, so
// that nothing is in doubt.
func TestIdleConnectionClosedByTheService(t *testing.T) {
	w := &world{}
	w.serve = func(c net.Conn) {
		defer c.Close()
		if r, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = io.WriteString(c, fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(answer), answer))
		}
	}
	w.in(t, func(t *testing.T, c *service.Client) {
		for range 3 {
			if got := c.Submit(t.Context(), path, []byte(request)); got.Kind != executor.Answered {
				t.Fatalf("%+v", got)
			}
			synctest.Wait()
		}
	})
	if w.dials != 3 {
		t.Errorf("%d connections, want 3", w.dials)
	}
}

func TestConnectionsAreKeptForAllInFlight(t *testing.T) {
	const inFlight = 20
	w := &world{api: func(rw http.ResponseWriter, r *http.Request) {
		time.Sleep(20 * time.Millisecond)
		always(200, "", answer)(rw, r)
	}}
	w.in(t, func(t *testing.T, c *service.Client) {
		for range 5 {
			done := make(chan executor.Answer)
			for range inFlight {
				go func() { done <- c.Submit(t.Context(), path, []byte(request)) }()
			}
			for range inFlight {
				if got := <-done; got.Kind != executor.Answered {
					t.Errorf("%+v", got)
				}
			}
			synctest.Wait()
		}
	}, func(o *service.Options) { o.InFlightMax = inFlight })
	if w.dials != inFlight || w.tokens != 1 {
		t.Errorf("%d connections and %d tokens, want %d and 1", w.dials, w.tokens, inFlight)
	}
}

func TestUnwrittenIsOnlyWhatWasNotWritten(t *testing.T) {
	tests := map[string]struct {
		dial   func(context.Context) (net.Conn, error)
		reason string
		took   time.Duration
	}{
		"connection refused": {func(context.Context) (net.Conn, error) { return nil, errors.New("connection refused") }, "connection refused", 0},
		"unknown name": {func(context.Context) (net.Conn, error) {
			return nil, &net.DNSError{Err: "no such host", Name: "api.example.com", IsNotFound: true}
		}, "name cannot be resolved", 0},
		"no connection in time": {func(ctx context.Context) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, "no connection within 4s", executor.StartMax},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := &world{dial: tt.dial}
			w.in(t, func(t *testing.T, c *service.Client) {
				began := time.Now()
				got := c.Submit(t.Context(), path, []byte(request))
				if got.Kind != executor.Unwritten || got.Stop || !strings.Contains(got.Reason, tt.reason) || !strings.Contains(got.Reason, "Nothing was sent") {
					t.Errorf("%+v, want it unwritten because %q", got, tt.reason)
				}
				if took := time.Since(began); took != tt.took {
					t.Errorf("it took %s, want %s", took, tt.took)
				}
			})
		})
	}
}

func TestInterruptedAttempt(t *testing.T) {
	t.Run("before it is written", func(t *testing.T) {
		w := &world{dial: func(ctx context.Context) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }}
		w.in(t, func(t *testing.T, c *service.Client) {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			if got := c.Submit(ctx, path, []byte(request)); got.Kind != executor.Unwritten || !strings.Contains(got.Reason, "interrupted") {
				t.Errorf("%+v", got)
			}
		})
	})
	t.Run("after it was written", func(t *testing.T) {
		w := &world{api: func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
			panic(http.ErrAbortHandler)
		}}
		w.in(t, func(t *testing.T, c *service.Client) {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Second, func() { cancel(context.DeadlineExceeded) }) // as a drain that took too long
			if got := c.Submit(ctx, path, []byte(request)); got.Kind != executor.Unclear || !strings.Contains(got.Reason, "interrupted") {
				t.Errorf("%+v", got)
			}
		})
	})
}

func TestPathCannotLeadElsewhere(t *testing.T) {
	w := &world{api: always(200, "", answer)}
	w.in(t, func(t *testing.T, c *service.Client) {
		for _, bad := range []string{"", "v2", "@other.example/x", "//other.example/x", "/v2/../../x", "/v2?x=y", "/v2#x", "/%2e%2e/x", `/\other.example`, "http://other.example/"} {
			if got := c.Submit(t.Context(), bad, []byte(request)); got.Kind != executor.Unwritten || !got.Stop {
				t.Errorf("path %q: %+v", bad, got)
			}
		}
	})
	if w.dials != 0 {
		t.Error("something was sent")
	}
}

// The bytes on the wire, in full.
func TestRequestOnTheWire(t *testing.T) {
	var wire strings.Builder
	w := &world{}
	w.serve = func(c net.Conn) {
		defer c.Close()
		r := bufio.NewReader(io.TeeReader(c, &wire))
		if got, err := http.ReadRequest(r); err == nil {
			_, _ = io.Copy(io.Discard, got.Body)
			_, _ = io.WriteString(c, fmt.Sprintf("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(answer), answer))
		}
	}
	w.in(t, func(t *testing.T, c *service.Client) {
		if got := c.Submit(t.Context(), path, []byte(request)); got.Kind != executor.Answered {
			t.Fatalf("%+v", got)
		}
	}, func(o *service.Options) { o.BaseURL += "/base/" })
	want := "POST /base/v2/transfer/internal HTTP/1.1\r\nHost: 127.0.0.1:2\r\nUser-Agent: remit/1.2.3\r\n" +
		fmt.Sprintf("Content-Length: %d\r\n", len(request)) +
		"Accept: application/json, application/problem+json\r\nAccept-Encoding: identity\r\nAuthorization: Bearer token-number-1\r\nContent-Type: application/json\r\n\r\n" + request
	if diff := cmp.Diff(want, wire.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A header that leaves before its body costs both sides a system call each.
func TestRequestIsWrittenInOnePiece(t *testing.T) {
	pieces := make(chan string, 10)
	w := &world{serve: func(c net.Conn) {
		defer c.Close()
		first := make([]byte, 4096)
		n, _ := c.Read(first) // a pipe hands over what one write gave
		pieces <- string(first[:n])
		_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(answer), answer)
	}}
	w.in(t, func(t *testing.T, c *service.Client) {
		if got := c.Submit(t.Context(), path, []byte(request)); got.Kind != executor.Answered {
			t.Fatalf("%+v", got)
		}
	})
	if first := <-pieces; !strings.HasPrefix(first, "POST ") || !strings.HasSuffix(first, request) {
		t.Errorf("the first piece is %q", first)
	}
}

// A request that is given up before it is written leaves nothing to carry out, even where
// the transport is about to write it.
func TestSealedRequestLeavesWithoutItsBody(t *testing.T) {
	for name, sealed := range map[string]bool{"sealed": true, "not sealed": false} {
		t.Run(name, func(t *testing.T) {
			ours, theirs := net.Pipe()
			transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return theirs, nil }}
			var wire bytes.Buffer
			heard := make(chan struct{})
			go func() {
				defer close(heard)
				defer ours.Close()
				got, err := http.ReadRequest(bufio.NewReader(io.TeeReader(ours, &wire)))
				if err == nil {
					_, _ = io.Copy(io.Discard, got.Body)
				}
			}()
			begun := service.WriteSealed(t.Context(), transport, []byte(request), sealed)
			transport.CloseIdleConnections()
			<-heard
			if left := strings.Contains(wire.String(), "{"); left == sealed || begun == sealed {
				t.Errorf("begun is %t, and this was written: %q", begun, &wire)
			}
		})
	}
}

func TestInformationalAnswersAreNoAnswers(t *testing.T) {
	w := &world{api: func(rw http.ResponseWriter, r *http.Request) {
		rw.WriteHeader(http.StatusEarlyHints)
		rw.WriteHeader(http.StatusProcessing)
		always(200, "", answer)(rw, r)
	}}
	w.in(t, func(t *testing.T, c *service.Client) {
		if got := c.Submit(t.Context(), path, []byte(request)); got.Kind != executor.Answered {
			t.Errorf("%+v", got)
		}
	})
}

func TestErrorBodyIsKeptReadable(t *testing.T) {
	long := strings.Repeat("ü", 3000) + "\xff"
	w := &world{api: always(400, "", long)}
	w.in(t, func(t *testing.T, c *service.Client) {
		got := c.Submit(t.Context(), path, []byte(request))
		var text string
		if err := json.Unmarshal(got.Problem, &text); err != nil || len(text) != 2048 || !utf8.ValidString(text) {
			t.Errorf("kept %d bytes: %v", len(text), err)
		}
	})
	hidden := `{"title":"\u202eLook\u0000","detail":"` + strings.Repeat("x", 1000) + `"}`
	w = &world{api: always(400, "", hidden)}
	w.in(t, func(t *testing.T, c *service.Client) {
		got := c.Submit(t.Context(), path, []byte(request))
		if strings.ContainsAny(got.Reason, "\u202e\x00") || len(got.Reason) > 400 || string(got.Problem) != hidden {
			t.Errorf("reason %q", got.Reason)
		}
	})
}

// hangs is how long a fuzzer may take for one input: more is a finding, not a slow machine.
const hangs = 5 * time.Minute

// Whatever bytes come back, the attempt is never called unwritten, and is called answered or
// refused only for a whole answer.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"))
	f.Add([]byte("HTTP/1.1 201 Created\r\n\r\n" + answer))
	f.Add([]byte("HTTP/1.1 409 Conflict\r\n\r\n" + `{"type":"already-exists","meta":{"existing":` + answer + `}}`))
	f.Add([]byte("HTTP/1.1 429 Slow\r\nRetry-After: 5\r\n\r\n"))
	f.Add([]byte("HTTP/1.1 000 Nothing\r\n\r\n"))
	f.Add([]byte("HTTP/1.1 302 Found\r\nLocation: /x\r\n\r\n"))
	f.Add([]byte("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		defer time.AfterFunc(hangs, func() { panic("it hangs") }).Stop()
		w := &world{}
		w.serve = func(c net.Conn) {
			defer c.Close()
			if r, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
				_, _ = io.Copy(io.Discard, r.Body)
				_, _ = c.Write(raw)
			}
		}
		w.in(t, func(t *testing.T, c *service.Client) {
			got := c.Submit(t.Context(), path, []byte(request))
			if got.Kind < executor.Answered || got.Kind > executor.Rejected || got.Reason == "" || len(got.Problem) > 0 && !json.Valid(got.Problem) {
				t.Fatalf("%+v", got)
			}
			switch got.Kind {
			case executor.Unwritten:
				t.Fatalf("called unwritten: %+v", got)
			case executor.Answered:
				if got.Record == nil || got.HTTPStatus/100 != 2 {
					t.Fatalf("called answered: %+v", got)
				}
			case executor.Exists, executor.NotProcessed, executor.TokenRefused, executor.Rejected:
				if got.HTTPStatus/100 != 4 {
					t.Fatalf("called refused: %+v", got)
				}
			case executor.Unclear:
			}
		})
	})
}

// TestAPathThatAnsweredIsNotWrong has a server in between answer 404, as one does that lacks the page of its own errors. Where the path
// had answered with a record, the service may have made the transfer before.
func TestAPathThatAnsweredIsNotWrong(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		kind   executor.AnswerKind
	}{
		"404 with a text":    {404, "default backend - 404", executor.Unclear},
		"404 without a body": {404, "", executor.Unclear},
		"405 with a page":    {405, "<html>", executor.Unclear},
		"404 with a problem": {404, `{"title":"No profile"}`, executor.Rejected},
	} {
		t.Run(name, func(t *testing.T) {
			var requests int
			w := &world{api: func(rw http.ResponseWriter, r *http.Request) {
				if requests++; requests == 1 {
					always(200, "", answer)(rw, r)
					return
				}
				always(c.status, "", c.body)(rw, r)
			}}
			w.in(t, func(t *testing.T, client *service.Client) {
				if got := client.Submit(t.Context(), path, []byte(request)); got.Kind != executor.Answered {
					t.Fatalf("%+v", got)
				}
				if got := client.Submit(t.Context(), path, []byte(request)); got.Kind != c.kind || got.Stop != (c.kind == executor.Unclear) {
					t.Errorf("%+v", got)
				}
			})
		})
	}
}
