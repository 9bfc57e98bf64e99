package ask_test

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
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"remit/internal/approval/ask"
	"remit/internal/proof/suite"
)

// served is a page that is being served.
type served struct {
	*testing.T
	port          int
	address, once string
	answers       atomic.Int32 // that reached the command
	took          chan string  // what it took
	cancel        context.CancelFunc
	ended         chan error
}

var errWrong = errors.New("it is wrong")

// serve serves a page, which takes the answer "yes" after a word of proceed; nil for at once.
func serve(t *testing.T, proceed chan struct{}) *served {
	t.Helper()
	s := &served{T: t, port: suite.Port(t), took: make(chan string, 1), ended: make(chan error, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	s.cancel = cancel
	told := make(chan struct{})
	page := &ask.Page{
		Port: s.port, Wait: time.Hour, Files: map[string]ask.File{"page.js": {Type: "text/javascript", Content: []byte("1")}},
		Write: func(w io.Writer) error { _, err := io.WriteString(w, "the page"); return err },
		Answer: func(_ context.Context, answer []byte) (ask.Taken, error) {
			s.answers.Add(1)
			if proceed != nil {
				<-proceed
			}
			if string(answer) != "yes" {
				return ask.Taken{}, errWrong
			}
			s.took <- string(answer)
			return ask.Taken{Said: "taken"}, nil
		},
		Tell: func(address, once string) {
			s.address, s.once = address, once
			close(told)
		},
	}
	go func() { s.ended <- page.Serve(ctx) }()
	select {
	case <-told:
	case err := <-s.ended:
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		s.nobodyListens()
	})
	return s
}

// end waits for the end of the page.
func (s *served) end() error {
	s.Helper()
	err := <-s.ended
	s.ended <- err
	return err
}

func (s *served) nobodyListens() {
	s.Helper()
	_ = s.end() // the test has looked at it
	for _, host := range []string{"127.0.0.1", "::1"} {
		l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(s.port)))
		switch {
		case errors.Is(err, syscall.EADDRINUSE):
			s.Errorf("the port is not free again at %s", host)
		case err == nil:
			_ = l.Close() // nobody came
		}
	}
}

// said is what the server says to a request.
type said struct {
	status int
	header http.Header
	body   string
}

func (s *served) ask(method, address, body string, change ...func(*http.Request)) said {
	s.Helper()
	request, err := http.NewRequestWithContext(s.Context(), method, address, strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	for _, c := range change {
		c(request)
	}
	client := &http.Client{
		Transport:     &http.Transport{DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := client.Do(request)
	if err != nil {
		s.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }() // read whole
	text, err := io.ReadAll(response.Body)
	if err != nil {
		s.Fatal(err)
	}
	return said{response.StatusCode, response.Header, string(text)}
}

// asPage makes a request as the page makes it.
func (s *served) asPage(r *http.Request) {
	r.Header.Set("Origin", ask.Origin(s.port))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
}

func with(header, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(header, value) }
}

func host(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }

func TestOnlyThePageAnswers(t *testing.T) {
	s := serve(t, nil)
	port := strconv.Itoa(s.port)
	root, answer := ask.Origin(s.port)+"/", s.address+"answer"
	byNumber := strings.Replace(s.address, "localhost", "127.0.0.1", 1)
	tests := map[string]struct {
		method, address string
		change          []func(*http.Request)
		want            int
	}{
		"the page":                              {"GET", s.address, nil, 200},
		"a part of it":                          {"GET", s.address + "page.js", nil, 200},
		"what browsers ask for unasked":         {"GET", root + "favicon.ico", nil, 204},
		"without the token":                     {"GET", root, nil, 404},
		"with another token":                    {"GET", root + strings.Repeat("A", 32) + "/", nil, 404},
		"with a part of the token":              {"GET", strings.TrimSuffix(s.address, "/")[:len(s.address)-3] + "/", nil, 404},
		"without the slash at its end":          {"GET", strings.TrimSuffix(s.address, "/"), nil, 303},
		"with a question":                       {"GET", s.address + "?x=1", nil, 404},
		"another file":                          {"GET", s.address + "november.plan", nil, 404},
		"a file above":                          {"GET", s.address + "..%2f..%2fetc/passwd", nil, 404},
		"by the machine's address":              {"GET", byNumber, nil, 308},
		"by its address of IPv6":                {"GET", strings.Replace(s.address, "localhost", "[::1]", 1), nil, 308},
		"an answer by the machine's address":    {"POST", byNumber + "answer", []func(*http.Request){s.asPage}, 421},
		"a name of somebody else":               {"GET", s.address, []func(*http.Request){host("evil.example:" + port)}, 421},
		"a name that begins like localhost":     {"GET", s.address, []func(*http.Request){host("localhost.evil.example:" + port)}, 421},
		"another port in the name":              {"GET", s.address, []func(*http.Request){host("localhost:1")}, 421},
		"no port in the name":                   {"GET", s.address, []func(*http.Request){host("localhost")}, 421},
		"an answer under a name of others":      {"POST", answer, []func(*http.Request){s.asPage, host("evil.example:" + port)}, 421},
		"an answer by GET":                      {"GET", answer, []func(*http.Request){s.asPage}, 405},
		"an answer by HEAD":                     {"HEAD", answer, []func(*http.Request){s.asPage}, 405},
		"an answer by PUT":                      {"PUT", answer, []func(*http.Request){s.asPage}, 405},
		"an answer asked for first":             {"OPTIONS", answer, []func(*http.Request){s.asPage}, 405},
		"an answer of no page":                  {"POST", answer, nil, 403},
		"an answer of a file":                   {"POST", answer, []func(*http.Request){s.asPage, with("Origin", "null")}, 403},
		"an answer of another page":             {"POST", answer, []func(*http.Request){s.asPage, with("Origin", "http://evil.example")}, 403},
		"an answer of another port":             {"POST", answer, []func(*http.Request){s.asPage, with("Origin", "http://localhost:1")}, 403},
		"an answer of another scheme":           {"POST", answer, []func(*http.Request){s.asPage, with("Origin", "https://localhost:"+port)}, 403},
		"an answer from another site":           {"POST", answer, []func(*http.Request){s.asPage, with("Sec-Fetch-Site", "cross-site")}, 403},
		"an answer from another port's page":    {"POST", answer, []func(*http.Request){s.asPage, with("Sec-Fetch-Site", "same-site")}, 403},
		"an answer that the person typed":       {"POST", answer, []func(*http.Request){s.asPage, with("Sec-Fetch-Site", "none")}, 403},
		"what a form may send":                  {"POST", answer, []func(*http.Request){s.asPage, with("Content-Type", "text/plain")}, 415},
		"what no-cors may send":                 {"POST", answer, []func(*http.Request){s.asPage, with("Content-Type", "text/plain;charset=UTF-8")}, 415},
		"an answer with another token":          {"POST", root + strings.Repeat("A", 32) + "/answer", []func(*http.Request){s.asPage}, 404},
		"a change of the page":                  {"POST", s.address, []func(*http.Request){s.asPage}, 405},
		"the address of one visit, but by HEAD": {"HEAD", s.once, nil, 404},
		"below the address of one visit":        {"POST", s.once + "/answer", []func(*http.Request){s.asPage}, 404},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			one := &served{T: t}
			got := one.ask(tt.method, tt.address, "yes", tt.change...)
			if got.status != tt.want {
				t.Errorf("%d %s, want %d", got.status, got.body, tt.want)
			}
			for header, want := range map[string]string{
				"Content-Security-Policy": "frame-ancestors 'none'", "X-Frame-Options": "DENY", "Cross-Origin-Resource-Policy": "same-origin",
				"Cross-Origin-Opener-Policy": "same-origin", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
			} {
				if has := got.header.Get(header); !strings.Contains(has, want) {
					t.Errorf("%s is %q, want %q in it", header, has, want)
				}
			}
			for _, never := range []string{"Access-Control-Allow-Origin", "Set-Cookie"} {
				if has := got.header.Get(never); has != "" {
					t.Errorf("there is %s: %s", never, has)
				}
			}
			if policy := got.header.Get("Content-Security-Policy"); strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") {
				t.Errorf("the policy is %s", policy)
			}
			if to := got.header.Get("Location"); to != "" && to != s.address {
				t.Errorf("it leads to %s", to)
			}
		})
	}
	if n := s.answers.Load(); n > 0 {
		t.Errorf("%d of these answers reached the command", n)
	}
	if got := s.ask("POST", answer, "yes", s.asPage); got.status != 200 || !strings.Contains(got.body, "taken") {
		t.Errorf("the page's own answer: %+v", got)
	}
	if err := s.end(); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

func TestAnAddressIsGoodForOneVisit(t *testing.T) {
	s := serve(t, nil)
	if got := s.ask("GET", s.once, ""); got.status != 303 || got.header.Get("Location") != s.address {
		t.Errorf("the first visit: %+v", got)
	}
	for range 2 {
		if got := s.ask("GET", s.once, ""); got.status != 404 || strings.Contains(fmt.Sprint(got), strings.Split(s.address, "/")[3]) {
			t.Errorf("a later visit: %+v", got)
		}
	}
}

func TestAnswersAreBounded(t *testing.T) {
	s := serve(t, nil)
	answer := s.address + "answer"
	if got := s.ask("POST", answer, strings.Repeat("x", 1<<20), s.asPage); got.status != 413 {
		t.Errorf("a huge answer: %d", got.status)
	}
	if got := s.ask("GET", s.address+strings.Repeat("x", 1<<20), ""); got.status != 431 {
		t.Errorf("a huge address: %d", got.status)
	}
	for n := 1; n <= 100; n++ {
		if got := s.ask("POST", answer, "no", s.asPage); got.status != 422 || !strings.Contains(got.body, errWrong.Error()) {
			t.Fatalf("wrong answer %d: %+v", n, got)
		}
	}
	if err := s.end(); !errors.Is(err, ask.ErrTooMany) {
		t.Errorf("after 100 wrong answers it ended with %v", err)
	}
}

// TestTwoTabsAnswerOnce has several tabs answer at once.
func TestTwoTabsAnswerOnce(t *testing.T) {
	const tabs = 8
	proceed := make(chan struct{})
	s := serve(t, proceed)
	said := make(chan int, tabs)
	for range tabs {
		go func() {
			request, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, s.address+"answer", strings.NewReader("yes")) // of a good address
			s.asPage(request)
			response, err := http.DefaultClient.Do(request)
			if err != nil { // it ended by then
				said <- 0
				return
			}
			_ = response.Body.Close()
			said <- response.StatusCode
		}()
	}
	close(proceed)
	taken := 0
	for range tabs {
		switch status := <-said; status {
		case 200:
			taken++
		case 0, 410:
		default:
			t.Errorf("an answer got %d", status)
		}
	}
	if err := s.end(); err != nil || taken != 1 || s.answers.Load() != 1 {
		t.Errorf("%d answers were taken, %d looked at, %v", taken, s.answers.Load(), err)
	}
}

// TestAnAnswerCountsAlsoWhereThePageEndsMeanwhile interrupts a command that takes an answer: it is written by then.
func TestAnAnswerCountsAlsoWhereThePageEndsMeanwhile(t *testing.T) {
	proceed := make(chan struct{})
	s := serve(t, proceed)
	go func() {
		request, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, s.address+"answer", strings.NewReader("yes")) // of a good address
		s.asPage(request)
		if response, err := http.DefaultClient.Do(request); err == nil {
			_ = response.Body.Close()
		}
	}()
	for s.answers.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	s.cancel()
	close(proceed)
	if err := s.end(); err != nil || <-s.took != "yes" {
		t.Errorf("it ended with %v", err)
	}
}

// TestAnAnswerCountsAlsoWhereTheBrowserDies has a browser end before it hears whether its answer counts.
func TestAnAnswerCountsAlsoWhereTheBrowserDies(t *testing.T) {
	proceed := make(chan struct{})
	s := serve(t, proceed)
	conn := s.dial("127.0.0.1")
	_, _ = fmt.Fprintf(conn, "POST /%s/answer HTTP/1.1\r\nHost: localhost:%d\r\nOrigin: %s\r\nContent-Type: application/json\r\nContent-Length: 3\r\n\r\nyes",
		strings.Split(s.address, "/")[3], s.port, ask.Origin(s.port))
	for s.answers.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	_ = conn.(*net.TCPConn).SetLinger(0) // it is reset, as by SIGKILL
	_ = conn.Close()
	close(proceed)
	if err := s.end(); err != nil {
		t.Errorf("it ended with %v", err)
	}
}

func (s *served) dial(host string) net.Conn {
	s.Helper()
	conn, err := net.Dial("tcp", net.JoinHostPort(host, strconv.Itoa(s.port)))
	if err != nil {
		s.Fatal(err)
	}
	return conn
}

// TestSlowRequestsAreCutOff sends headers and a body that never end, while others are answered.
func TestSlowRequestsAreCutOff(t *testing.T) {
	suite.Slow(t)
	t.Parallel()
	s := serve(t, nil)
	token := strings.Split(s.address, "/")[3]
	var slow []net.Conn
	for _, begun := range []string{
		"", "GET / HTTP/1.1\r\nHost: localh",
		fmt.Sprintf("POST /%s/answer HTTP/1.1\r\nHost: localhost:%d\r\nOrigin: %s\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{", token, s.port, ask.Origin(s.port)),
	} {
		conn := s.dial("127.0.0.1")
		defer func() { _ = conn.Close() }() // it was cut off
		_, _ = io.WriteString(conn, begun)
		slow = append(slow, conn)
	}
	if got := s.ask("GET", s.address, ""); got.status != 200 {
		t.Errorf("the page is not served beside slow requests: %+v", got)
	}
	for i, conn := range slow {
		if _, err := io.Copy(io.Discard, bufio.NewReader(conn)); err != nil && !strings.Contains(err.Error(), "reset") {
			t.Errorf("slow request %d: %v", i, err)
		}
	}
	if n := s.answers.Load(); n > 0 {
		t.Errorf("%d half answers reached the command", n)
	}
}

func TestBothLoopbackAddressesAreTheSamePage(t *testing.T) {
	s := serve(t, nil)
	reached := 0
	for _, address := range []string{"127.0.0.1", "::1"} {
		conn, err := net.Dial("tcp", net.JoinHostPort(address, strconv.Itoa(s.port)))
		if err != nil {
			continue // this machine lacks it
		}
		reached++
		_, _ = fmt.Fprintf(conn, "GET /%s/ HTTP/1.0\r\nHost: localhost:%d\r\n\r\n", strings.Split(s.address, "/")[3], s.port)
		text, _ := io.ReadAll(conn) // as much as came
		_ = conn.Close()
		if !bytes.HasSuffix(text, []byte("the page")) {
			t.Errorf("%s says %s", address, text)
		}
	}
	if reached == 0 {
		t.Error("nobody listens")
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range addresses {
		ip := address.(*net.IPNet).IP
		if ip.IsLoopback() || ip.IsLinkLocalUnicast() {
			continue
		}
		if conn, err := net.Dial("tcp", net.JoinHostPort(ip.String(), strconv.Itoa(s.port))); err == nil {
			_ = conn.Close()
			t.Errorf("it listens at %s, which other machines reach", ip)
		}
	}
}

func TestATakenPortIsRefused(t *testing.T) {
	for _, address := range []string{"127.0.0.1", "::1"} {
		t.Run(address, func(t *testing.T) {
			l, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
			if err != nil {
				return // this machine lacks it
			}
			defer func() { _ = l.Close() }() // nothing was said
			port := l.Addr().(*net.TCPAddr).Port
			page := &ask.Page{Port: port, Wait: time.Hour, Tell: func(string, string) { t.Error("an address is told") }}
			if err := page.Serve(t.Context()); !errors.Is(err, ask.ErrTaken) {
				t.Errorf("it ended with %v", err)
			}
			other := map[string]string{"127.0.0.1": "::1", "::1": "127.0.0.1"}[address]
			if conn, err := net.Dial("tcp", net.JoinHostPort(other, strconv.Itoa(port))); err == nil {
				_ = conn.Close()
				t.Errorf("somebody listens at %s", other)
			}
		})
	}
}

func TestNobodyAnswers(t *testing.T) {
	page := &ask.Page{Port: suite.Port(t), Wait: time.Millisecond, Tell: func(string, string) {}}
	if err := page.Serve(t.Context()); !errors.Is(err, ask.ErrTime) {
		t.Errorf("it ended with %v", err)
	}
	s := serve(t, nil)
	s.cancel()
	if err := s.end(); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted, it ended with %v", err)
	}
}

// TestASecondPageHasAnotherToken asks a page with the token of an earlier one at the same port.
func TestASecondPageHasAnotherToken(t *testing.T) {
	first := serve(t, nil)
	first.ask("POST", first.address+"answer", "yes", first.asPage)
	if err := first.end(); err != nil {
		t.Fatal(err)
	}
	addresses := make(chan string, 1)
	ctx, cancel := context.WithCancel(t.Context())
	page := &ask.Page{Port: first.port, Wait: time.Hour, Write: func(io.Writer) error { return nil }, Tell: func(address, _ string) { addresses <- address }}
	ended := make(chan error, 1)
	go func() { ended <- page.Serve(ctx) }()
	if second := <-addresses; second == first.address {
		t.Errorf("both have %s", second)
	}
	for _, address := range []string{first.address, first.once, first.address + "answer"} {
		if got := first.ask("GET", address, ""); got.status != 404 {
			t.Errorf("%s: %d", address, got.status)
		}
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the second page ended with %v", err)
	}
}

func TestWhatThePageIsToldIsJSON(t *testing.T) {
	s := serve(t, nil)
	got := s.ask("POST", s.address+"answer", "</script>", s.asPage)
	var told struct{ Said, Error string }
	if err := json.Unmarshal([]byte(got.body), &told); err != nil || told.Error != errWrong.Error() || got.header.Get("Content-Type") != "application/json" {
		t.Errorf("%+v, %v", got, err)
	}
}
