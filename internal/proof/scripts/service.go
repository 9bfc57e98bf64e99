//go:build unix

package scripts

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/shopspring/decimal"

	"remit/internal/proof/machine"
	"remit/internal/sandbox"
	"remit/internal/transfer"
)

// fakeService is the service of one script: a sandbox behind a recorder.
type fakeService struct {
	box    *sandbox.Sandbox
	secret string
	clock  atomic.Pointer[machine.Clock] // nil for that of the real machine

	mu      sync.Mutex
	posts   []string // "POST path body" of each request to create
	tokens  []string // every token that was handed out
	denied  bool     // tokens are refused from now on
	demands demands
	logins  int  // requests for a token
	post    bool // credentials are taken in the body alone from now on
	mute    bool // nobody who asks for a token is answered from now on

	held    chan struct{} // closed once requests to create are served again; nil while none is held
	spare   int           // how many are served before that
	waiting int           // how many came since then, and wait

	opening  []sandbox.Balance // none: every profile has enough
	asked    int               // requests for balances
	balances http.HandlerFunc  // answers them in place of the sandbox; nil for none
	undated  bool              // no answer has a Date now
}

// command is the script command:
//
//	service start FAULT…     serve, with these faults; sets the variables that service.hcl uses
//	service fault FAULT…     misbehave so from now on; none for no faults
//	service deny             hand out no token any more
//	service allow            hand them out again
//	service post             take credentials in the body alone from now on
//	service fund PROFILE ASSET AMOUNT
//	                         give a profile so much more; before start, so that no other has anything
//	service balances STATUS BODY
//	                         answer so who asks for balances from now on; "right" for as they are
//	service balances hang    never answer them, and count those that ask from now on
//	service mute             answer nobody who asks for a token any more
//	service undated          put no Date into answers any more
//	service dated            put it there again
//	service hold             let requests to create wait from now on
//	service hold N           serve N more of them first
//	service release          serve those that wait, and all that come
//	service wait N           wait until N requests to create have come
//	service wait N WHAT      wait until N have come of WHAT: logins, balances, held
//	service requests         print them
//	service count posts|transfers|logins|balances
//	service group REF_ID     print the ledger's group_id
//	service debits           print the ledger's debits per asset
//	service export           print the ledger's records, both sides, as JSON Lines
//	service secrets          print the client secret and each token
func (s *fakeService) command(ts *testscript.TestScript, args []string) {
	switch verb, rest := args[0], args[1:]; verb {
	case "start":
		s.start(ts, rest)
	case "fault":
		s.box.SetFaults(parseFaults(ts, rest))
	case "deny", "allow":
		s.mu.Lock()
		s.denied = verb == "deny"
		s.mu.Unlock()
	case "mute":
		s.mu.Lock()
		s.mute = true
		s.mu.Unlock()
	case "hold", "release":
		s.hold(ts, args)
	case "fund":
		s.fund(ts, rest)
	case "balances":
		s.setBalances(ts, rest)
	case "post":
		s.mu.Lock()
		s.post = true
		s.mu.Unlock()
	case "undated", "dated":
		s.mu.Lock()
		s.undated = verb == "undated"
		s.mu.Unlock()
	case "wait":
		s.wait(ts, rest)
	case "requests":
		s.mu.Lock()
		defer s.mu.Unlock()
		printLines(ts, s.posts)
	case "count":
		s.count(ts, rest[0])
	case "group":
		s.group(ts, rest[0])
	case "debits":
		totals, err := s.box.Debits(context.Background())
		ts.Check(err)
		var lines []string
		for total := range totals.All() {
			lines = append(lines, fmt.Sprintf("%s %s", total.Asset, total.Sum))
		}
		printLines(ts, lines)
	case "export":
		for record, err := range s.box.Ledger(context.Background()) {
			ts.Check(err)
			printLines(ts, []string{string(record.Raw)})
		}
	case "secrets":
		s.mu.Lock()
		defer s.mu.Unlock()
		printLines(ts, append([]string{s.secret}, s.tokens...))
	default:
		ts.Fatalf("unknown: service %s", verb)
	}
}

func printLines(ts *testscript.TestScript, lines []string) {
	for _, line := range lines {
		_, err := fmt.Fprintln(ts.Stdout(), line)
		ts.Check(err)
	}
}

func parseFaults(ts *testscript.TestScript, texts []string) sandbox.Faults {
	if len(texts) == 1 && texts[0] == "none" {
		return nil
	}
	faults, err := sandbox.ParseFaults(texts...)
	ts.Check(err)
	return faults
}

func (s *fakeService) start(ts *testscript.TestScript, faults []string) {
	s.secret = rand.Text()
	box, err := sandbox.Open(context.Background(), sandbox.Options{
		ClientID: "finance", ClientSecret: s.secret, Faults: parseFaults(ts, faults), Now: s.now, OpeningBalances: s.opening,
		Operator: transfer.Operator(ts.Getenv("OPERATOR")),
	})
	ts.Check(err)
	s.box = box
	server := s.listen(ts)
	ts.Defer(func() {
		server.CloseClientConnections()
		_ = box.Close() // ends requests that hang
		server.Close()
	})
	ts.Setenv("REMIT_VAR_base_url", server.URL)
	ts.Setenv("REMIT_VAR_client_secret", s.secret)
}

// fund gives a profile an amount.
func (s *fakeService) fund(ts *testscript.TestScript, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: service fund PROFILE ASSET AMOUNT")
	}
	amount, err := decimal.NewFromString(args[2])
	ts.Check(err)
	given := sandbox.Balance{ProfileID: args[0], Asset: args[1], Amount: amount}
	if s.box == nil {
		s.opening = append(s.opening, given)
		return
	}
	ts.Check(s.box.Deposit(given))
}

// setBalances has balances be answered otherwise than they are.
func (s *fakeService) setBalances(ts *testscript.TestScript, args []string) {
	var answer http.HandlerFunc
	switch {
	case len(args) == 1 && args[0] == "right":
	case len(args) == 1 && args[0] == "hang":
		s.mu.Lock()
		s.asked = 0
		s.mu.Unlock()
		answer = func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	case len(args) == 2:
		status, err := strconv.Atoi(args[0])
		ts.Check(err)
		answer = func(w http.ResponseWriter, _ *http.Request) {
			if status >= 400 {
				w.Header().Set("Content-Type", "application/problem+json")
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, args[1]) // the client notices
		}
	default:
		ts.Fatalf("usage: service balances STATUS BODY|hang|right")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.balances = answer
}

func (s *fakeService) now() time.Time {
	if clock := s.clock.Load(); clock != nil {
		return clock.Now()
	}
	return time.Now()
}

// serve records the traffic between remit and the sandbox.
func (s *fakeService) serve(w http.ResponseWriter, r *http.Request) {
	s.date(w.Header())
	if r.URL.Path == sandbox.TokenPath {
		s.serveToken(w, r)
		return
	}
	if strings.HasSuffix(r.URL.Path, "/balances") {
		s.mu.Lock()
		s.asked++
		answer := s.balances
		s.mu.Unlock()
		if answer != nil {
			answer(w, r)
			return
		}
	}
	if r.Method == http.MethodPost {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if err := s.verify(r, body); err != nil {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusForbidden)
			_, _ = fmt.Fprintf(w, `{"title":"Not signed","detail":%q}`, err.Error()+" "+r.Header.Get(s.demands.header))
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if !s.come(r, body) {
			return
		}
	}
	s.box.ServeHTTP(w, r)
}

// hold has requests to create wait, or no more.
func (s *fakeService) hold(ts *testscript.TestScript, args []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held != nil {
		close(s.held)
		s.held = nil
	}
	if args[0] == "release" {
		return
	}
	s.held, s.spare, s.waiting = make(chan struct{}), 0, 0
	if len(args) > 1 {
		var err error
		s.spare, err = strconv.Atoi(args[1])
		ts.Check(err)
	}
}

// come writes a request to create down, and waits while such are held. It reports false where its client
// has gone by then.
func (s *fakeService) come(r *http.Request, body []byte) bool {
	s.mu.Lock()
	s.posts = append(s.posts, fmt.Sprintf("POST %s %s", r.URL.Path, body))
	held := s.held
	switch {
	case held == nil:
	case s.spare > 0:
		s.spare--
		held = nil
	default:
		s.waiting++
	}
	s.mu.Unlock()
	if held == nil {
		return true
	}
	select {
	case <-held:
		return true
	case <-r.Context().Done():
		return false
	}
}

// date says in an answer what time it is by the service's clock.
func (s *fakeService) date(header http.Header) {
	s.mu.Lock()
	defer s.mu.Unlock()
	header["Date"] = nil // or the server would put its own there
	if !s.undated {
		header.Set("Date", s.now().UTC().Format(http.TimeFormat))
	}
}

func (s *fakeService) serveToken(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.logins++
	denied, mute, post := s.denied, s.mute, s.post
	s.mu.Unlock()
	if _, _, inHeader := r.BasicAuth(); inHeader && post {
		http.Error(w, `{"error":"invalid_client"}`, http.StatusUnauthorized)
		return
	}
	if mute {
		_, _ = io.Copy(io.Discard, r.Body) // only then is it seen that the client goes away
		<-r.Context().Done()
		return
	}
	if denied {
		http.Error(w, `{"error":"invalid_client","error_description":"`+s.secret+`"}`, http.StatusUnauthorized)
		return
	}
	answer := httptest.NewRecorder()
	s.box.ServeHTTP(answer, r)
	_, rest, _ := strings.Cut(answer.Body.String(), `"access_token":"`)
	token, _, _ := strings.Cut(rest, `"`)
	s.mu.Lock()
	s.tokens = append(s.tokens, token)
	s.mu.Unlock()
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes()) // the client notices
}

func (s *fakeService) wait(ts *testscript.TestScript, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	what := strings.Join(args[1:], " ")
	const patience = 5 * time.Minute // longer than any machine is busy
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		s.mu.Lock()
		have, isKnown := map[string]int{"": len(s.posts), "logins": s.logins, "balances": s.asked, "held": s.waiting}[what]
		s.mu.Unlock()
		if !isKnown {
			ts.Fatalf("usage: service wait N [logins|balances|held]")
		}
		if have >= want {
			return
		}
	}
	ts.Fatalf("fewer than %d requests came", want)
}

func (s *fakeService) count(ts *testscript.TestScript, what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch what {
	case "posts":
		printLines(ts, []string{strconv.Itoa(len(s.posts))})
	case "balances":
		printLines(ts, []string{strconv.Itoa(s.asked)})
	case "logins":
		printLines(ts, []string{strconv.Itoa(s.logins)})
	case "transfers":
		totals, err := s.box.Debits(context.Background())
		ts.Check(err)
		printLines(ts, []string{strconv.Itoa(totals.Count())})
	default:
		ts.Fatalf("unknown: service count %s", what)
	}
}

func (s *fakeService) group(ts *testscript.TestScript, refID string) {
	for record, err := range s.box.Ledger(context.Background()) {
		ts.Check(err)
		if record.RefID == refID && record.Direction == transfer.Debit {
			printLines(ts, []string{record.GroupID})
			return
		}
	}
	ts.Fatalf("the ledger has no ref_id %q", refID)
}
