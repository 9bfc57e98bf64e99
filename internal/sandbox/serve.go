package sandbox

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"slices"
	"strings"

	"remit/internal/transfer"
)

const (
	refIDsMax = 100     // of one lookup
	lineMax   = 8 << 10 // bytes of a request line, as stock proxies have it
)

// lastPosition is behind every leg of a ledger.
func lastPosition() position { return position{Seq: math.MaxInt64} }

// serveCreate makes a transfer (CreateTransfer in docs/openapi.yaml).
func (s *Sandbox) serveCreate(w http.ResponseWriter, r *http.Request, op transfer.Operation) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, bodyMax))
	if err != nil {
		invalid(http.StatusRequestEntityTooLarge, "too-large", "the body cannot be read, or is longer than 1 MiB").write(w)
		return
	}
	own, err := ParseFaults(r.Header.Values(FaultHeader)...)
	if err != nil {
		invalid(http.StatusBadRequest, "fault", err.Error()).write(w)
		return
	}
	of := Request{Method: r.Method, Path: r.URL.Path, Header: r.Header, RefID: refIDOf(body), Body: body}
	s.number(&of)
	e := s.effects(of, own)
	s.wait(r, e)
	if p := s.authorize(w, r, e); p != nil {
		p.write(w)
		return
	}
	if s.misbehaveBefore(w, r, e) {
		return
	}
	request, p := validate(op, r.Header.Get("Content-Type"), body)
	if p != nil {
		p.write(w)
		return
	}
	status, answer := s.create(request, e)
	if s.misbehaveAfter(w, r, e, status, answer) {
		return
	}
	write(w, status, answer)
}

// refIDOf is the ref_id of a body that may be anything.
func refIDOf(body []byte) string {
	var fields map[string]json.RawMessage
	var refID string
	if json.Unmarshal(body, &fields) != nil || json.Unmarshal(fields["ref_id"], &refID) != nil {
		return ""
	}
	return refID
}

func (s *Sandbox) newCreation(request transfer.Request, e effects) creation {
	c := creation{
		request: request, failed: e.has(Fail), now: s.options.Now(), pendingFor: s.options.PendingFor,
		pendingLookups: s.options.PendingLookups, forgetAfter: int64(e[Forget].Number),
	}
	if c.request.Operation != transfer.Internal {
		c.pendingFor, c.pendingLookups = 0, 0
	}
	if e.has(PendingFor) {
		c.pendingFor = e[PendingFor].Duration
	}
	if e.has(PendingMore) {
		c.pendingLookups = e[PendingMore].Number
	}
	return c
}

// create makes a transfer and says how it is answered.
func (s *Sandbox) create(request transfer.Request, e effects) (status int, answer []byte) {
	c := s.newCreation(request, e)
	var m made
	err := s.ledger.do(func(b *batch) (err error) {
		m, err = b.create(c)
		return err
	})
	switch {
	case err != nil:
		return s.problem(&problem{Type: problemBase + "ledger", Title: "The ledger failed", Status: http.StatusInternalServerError, Detail: err.Error()})
	case m.insufficient:
		lacks := s.contract.Insufficient
		return s.problem(&problem{
			Type: s.contract.ProblemBase + lacks.Kind, Title: "Insufficient funds", Status: lacks.Status,
			Detail: "the profile has too little of the asset",
		})
	case !m.replay:
		return s.createdStatus(e), s.answer(m, e)
	}
	mode := e[Replay].Mode
	if mode == ReplayIgnore || mode == "" && m.sameBody {
		return http.StatusOK, s.answer(m, e)
	}
	p := &problem{Type: s.contract.ProblemBase + "already-exists", Title: "A transfer with this ref_id exists", Status: http.StatusConflict}
	if mode == ReplayExisting {
		p.Meta = map[string]any{"existing": json.RawMessage(s.answer(m, e))}
	}
	return s.problem(p)
}

// createdStatus is that of a transfer that was made.
func (s *Sandbox) createdStatus(e effects) int {
	if e.has(Liberties) {
		return http.StatusOK
	}
	return s.contract.CreatedStatus
}

func (s *Sandbox) problem(p *problem) (int, []byte) { return p.Status, s.encode(p) }

// answer is the record of the debit side, or what a fault makes of it.
func (s *Sandbox) answer(m made, e effects) []byte {
	side := m.legs[0]
	if e[Answer].Mode == "credit" {
		side = m.legs[1]
	}
	answered := s.record(side).distort(e)
	if e[Answer].Mode == "failed" {
		answered = answered.failed()
	}
	return s.encode(answered)
}

func write(w http.ResponseWriter, status int, body []byte) {
	kind := "application/json"
	if status >= 400 {
		kind = "application/problem+json"
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// admit waits and authorizes as the faults of a reading request say, its own included. It reports false
// where it has answered the request.
func (s *Sandbox) admit(w http.ResponseWriter, r *http.Request) (e effects, own Faults, ok bool) {
	own, err := ParseFaults(r.Header.Values(FaultHeader)...)
	if err != nil {
		invalid(http.StatusBadRequest, "fault", err.Error()).write(w)
		return e, own, false
	}
	e = s.effects(Request{Method: r.Method, Path: r.URL.Path, Header: r.Header}, own)
	s.wait(r, e)
	if p := s.authorize(w, r, e); p != nil {
		p.write(w)
		return e, own, false
	}
	return e, own, true
}

// serveLookup answers the records of up to 100 ref_ids, both sides of each, in pages.
func (s *Sandbox) serveLookup(w http.ResponseWriter, r *http.Request) {
	e, own, ok := s.admit(w, r)
	if !ok {
		return
	}
	if e.has(LookupError) {
		fail(w, e.status(LookupError), "told-to-fail", "This sandbox was told to fail")
		return
	}
	if line := len("GET  HTTP/1.1\r\n") + len(r.URL.RequestURI()); e.has(Liberties) && line > lineMax {
		fail(w, http.StatusRequestURITooLong, "uri-too-long", "The address is too long")
		return
	}
	query := r.URL.Query()
	refIDs := query["ref_ids"]
	slices.Sort(refIDs)
	refIDs = slices.Compact(refIDs)
	if len(refIDs) == 0 || len(refIDs) > refIDsMax {
		invalid(http.StatusBadRequest, "ref-ids", "ref_ids must name 1 to 100 transfers").write(w)
		return
	}
	after, err := readCursor(query.Get("page_cursor"))
	if err != nil {
		invalid(http.StatusBadRequest, "cursor", "page_cursor is none of ours").write(w)
		return
	}
	list, err := s.lookup(r, refIDs, after, own)
	if e.has(Liberties) && list.Next == "" {
		list.Next = writeCursor(lastPosition())
	}
	if err != nil {
		fail(w, http.StatusInternalServerError, "ledger", "The ledger failed")
		return
	}
	write(w, http.StatusOK, s.encode(list))
}

// list is a page of a lookup.
type list struct {
	Items []record `json:"items"`
	Next  string   `json:"next_page_cursor,omitempty"`
}

func (s *Sandbox) lookup(r *http.Request, refIDs []string, after position, own Faults) (list, error) {
	legs, err := s.ledger.page(r.Context(), refIDs, after, s.options.PageSize+1)
	if err != nil {
		return list{}, err
	}
	l := list{Items: []record{}}
	if len(legs) > s.options.PageSize {
		legs = legs[:s.options.PageSize]
		l.Next = writeCursor(legs[len(legs)-1].position)
	}
	for _, leg := range legs {
		e := s.effects(Request{Header: r.Header, Path: r.URL.Path, RefID: leg.refID}, own)
		if !s.shown(leg, e) {
			continue
		}
		shown := s.record(leg).distort(e)
		if !e.has(Liberties) {
			shown.RefID = leg.refID
		}
		if e[Lookup].Mode == "capitals" {
			shown.RefID = strings.ToUpper(shown.RefID)
		}
		if e.has(Unreadable) {
			shown.Status, shown.Amount = "", ""
		}
		l.Items = append(l.Items, shown)
		if e.has(Versions) {
			l.Items = append(l.Items, shown.older())
		}
	}
	return l, s.ledger.looked(legs)
}

func writeCursor(p position) string {
	text, err := json.Marshal(p)
	if err != nil {
		panic(err) // numbers always have a JSON form
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

func readCursor(text string) (position, error) {
	var p position
	if text == "" {
		return p, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(raw, &p)
	}
	if err == nil && (p.Seq < 1 || p.Side < 0 || p.Side > 1) {
		err = errors.New("out of range")
	}
	return p, err
}
