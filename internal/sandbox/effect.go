package sandbox

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Request is what a fault, or a script, is decided by.
type Request struct {
	Number  int    // 1 for the first request to create, and so on; 0 for a lookup
	Attempt int    // 1 for the first request to create with this ref_id, and so on
	Method  string // "" where a record of a lookup is asked about
	Path    string
	Header  http.Header
	RefID   string // of the request to create, or of the record of a lookup
	Body    []byte
}

// effects are the faults that one request meets.
type effects map[FaultKind]Fault

func (e effects) has(kind FaultKind) bool {
	_, ok := e[kind]
	return ok
}

func (e effects) status(kind FaultKind) int {
	if n := e[kind].Number; n != 0 {
		return n
	}
	return forms()[kind].standard
}

// effects decides which faults r meets. Chance hangs on the seed, the ref_id and the attempt
// alone, so that the order in which requests arrive changes nothing. Records have the same
// faults in an answer and in every lookup.
func (s *Sandbox) effects(r Request, own Faults) effects {
	faults := *s.faults.Load()
	if len(own) == 0 && len(faults) == 0 && s.options.Script == nil {
		return nil
	}
	e := make(effects)
	for _, f := range faults {
		if s.meets(r, f) {
			e[f.Kind] = f
		}
	}
	if s.options.Script != nil {
		for _, f := range s.options.Script(r) {
			if s.meets(r, f) {
				e[f.Kind] = f
			}
		}
	}
	for _, f := range own {
		if s.meets(r, f) {
			e[f.Kind] = f
		}
	}
	return e
}

func (s *Sandbox) meets(r Request, f Fault) bool {
	if f.Nth != 0 && f.Nth != r.Number || f.RefID != "" && f.RefID != r.RefID {
		return false
	}
	if f.Percent == 0 {
		return true
	}
	attempt := r.Attempt
	if ofRecord(f.Kind) {
		attempt = 0
	}
	text := binary.BigEndian.AppendUint64(nil, s.options.Seed)
	text = binary.BigEndian.AppendUint64(text, uint64(attempt))
	if r.RefID == "" {
		text = binary.BigEndian.AppendUint64(text, uint64(r.Number))
	}
	sum := sha256.Sum256(append(text, string(f.Kind)+"\x00"+r.RefID...))
	roll := float64(binary.BigEndian.Uint64(sum[:8])) / math.MaxUint64 * 100
	return roll < f.Percent
}

// ofRecord reports whether a fault belongs to a transfer and not to one request about it.
func ofRecord(kind FaultKind) bool {
	switch kind {
	case Lookup, Late, Rescaled, WrongAmount, WrongAsset, WrongProfile, WrongRefID, WrongCustomer, SameID, Backdated, Bare, Novel, NovelStatus, Fee, Relinked, Ungrouped, WrongTotal, Lacking, CreditFailed, DebitFailed, Versions, Unreadable, Liberties:
		return true
	case Latency, TokenExpired, ResetBefore, Hang, ErrorBefore, Throttled, TooEarly, Redirect, Refuse,
		LostAnswer, HangAfter, ErrorAfter, HalfAnswer, Endless, Garbage, Answer, Fail, PendingFor, PendingMore, Replay, Forget, LookupError, TokenError:
		return false
	}
	panic(fmt.Sprintf("sandbox: unknown fault %q", kind))
}

// number counts a request to create, and the attempts of its ref_id where chance needs them.
func (s *Sandbox) number(r *Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.created++
	r.Number = s.created
	if len(*s.faults.Load()) > 0 || s.options.Script != nil {
		s.attempts[r.RefID]++
		r.Attempt = s.attempts[r.RefID]
	}
}

// wait sleeps as long as a Latency says, and ends the request where its client goes away.
func (s *Sandbox) wait(r *http.Request, e effects) {
	if e[Latency].Duration == 0 {
		return
	}
	timer := time.NewTimer(e[Latency].Duration)
	defer timer.Stop()
	select {
	case <-timer.C:
		return
	case <-r.Context().Done():
	case <-s.closed:
	}
	panic(http.ErrAbortHandler)
}

// misbehaveBefore answers, or doesn't, before the ledger knows of a request; it reports
// whether it did.
func (s *Sandbox) misbehaveBefore(w http.ResponseWriter, r *http.Request, e effects) bool {
	switch {
	case e.has(ResetBefore):
		reset(w)
	case e.has(Hang):
		s.hang(r)
	case e.has(ErrorBefore):
		status := e.status(ErrorBefore)
		fail(w, status, "told-to-fail", "This sandbox was told to fail before it makes the transfer")
	case e.has(Throttled):
		if wait := e[Throttled].Duration; wait > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
		}
		fail(w, http.StatusTooManyRequests, "too-many-requests", "Too many requests")
	case e.has(TooEarly):
		fail(w, http.StatusTooEarly, "too-early", "Too early")
	case e.has(Redirect):
		w.Header().Set("Location", "http://"+r.Host+"/elsewhere")
		w.WriteHeader(e.status(Redirect))
	case e.has(Refuse):
		fail(w, e.status(Refuse), "told-to-refuse", "This sandbox was told to refuse")
	default:
		return false
	}
	return true
}

// misbehaveAfter does the same when the ledger has the transfer; answer is the honest one.
func (s *Sandbox) misbehaveAfter(w http.ResponseWriter, r *http.Request, e effects, status int, answer []byte) bool {
	switch {
	case e.has(LostAnswer):
		panic(http.ErrAbortHandler) // closes the connection
	case e.has(HangAfter):
		s.hang(r)
	case e.has(ErrorAfter):
		fail(w, e.status(ErrorAfter), "told-to-fail", "This sandbox was told to fail after it made the transfer")
	case e.has(HalfAnswer):
		w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
		w.WriteHeader(status)
		_, _ = w.Write(answer[:len(answer)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	case e.has(Endless):
		w.WriteHeader(status)
		s.writeEndlessly(w, r)
	case e.has(Garbage):
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `<html><body>It works!</body></html>`)
	case e[Answer].Mode == "none":
		w.WriteHeader(http.StatusNoContent)
	default:
		return false
	}
	return true
}

// hang holds the request until its client goes away or the sandbox is closed.
func (s *Sandbox) hang(r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-s.closed:
	}
	panic(http.ErrAbortHandler)
}

func (s *Sandbox) writeEndlessly(w http.ResponseWriter, r *http.Request) {
	chunk := []byte(strings.Repeat("x", 16<<10))
	_, err := io.WriteString(w, `{"id":"`)
	for err == nil && r.Context().Err() == nil {
		select {
		case <-s.closed:
			return
		default:
		}
		_, err = w.Write(chunk)
	}
}

// reset ends the connection so that the client's system sees a reset, where there is a
// connection of its own to end.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}
