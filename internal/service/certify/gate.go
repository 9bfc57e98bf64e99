package certify

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"remit/executor"
	"remit/internal/transfer"
)

// busyMax is how often a request may go unprocessed before the trial waits for it no longer.
const busyMax = 3

// Statuses of HTTP (RFC 9110, and RFC 6585 for the last) that a trial tells apart.
const (
	statusUnauthorized   = 401
	statusConflict       = 409
	statusTooLarge       = 413
	statusURITooLong     = 414
	statusHeaderTooLarge = 431
)

// gate is between a run and the service. It keeps each answer for the judgement, and those of probes whose
// answer is kept back from the run as well: to the run they are lost on the way, as the network loses some.
type gate struct {
	to    executor.Submitter
	clock executor.Clock

	mu       sync.Mutex
	probe    *probe // that is being sent; nil while doubts are settled
	attempts []attempt
	busy     int
	readyErr error // of the latest token
	dated    bool  // its answer had a Date
	apart    time.Duration
	tokens   int
}

// attempt is one request to create, and its answer as it came.
type attempt struct {
	*probe
	answer executor.Answer
	began  time.Time
	took   time.Duration
}

// Ready implements [executor.Submitter].
func (g *gate) Ready(ctx context.Context) (time.Time, error) {
	date, err := g.to.Ready(ctx)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.readyErr = err
	if err == nil {
		g.tokens++
		if g.dated = !date.IsZero(); g.dated {
			g.apart = g.clock.Now().Sub(date)
		}
	}
	return date, err
}

// Submit implements [executor.Submitter].
func (g *gate) Submit(ctx context.Context, path string, body []byte) executor.Answer {
	began := g.clock.Now()
	a := g.to.Submit(ctx, path, body)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.probe == nil {
		return a
	}
	g.attempts = append(g.attempts, attempt{g.probe, a, began, g.clock.Now().Sub(began)})
	if a.Kind == executor.NotProcessed {
		g.busy++
		a.Stop = a.Stop || g.busy >= busyMax
	}
	isSecond := g.probe.first != nil && a.Record != nil && a.Record.ID != g.probe.first.ID // it is not sent a third time
	if g.probe.keep && !isSecond && (a.Kind == executor.Answered || a.Kind == executor.Exists) {
		return keptBack(a)
	}
	return a
}

// keptBack is an answer as a run has it that must not know it. The journal has the record all the same, in
// the form in which services repeat one (RFC 9457 and meta.existing).
func keptBack(a executor.Answer) executor.Answer {
	p := keptProblem{Type: keptType, Title: "remit certify kept this answer back, to send the request again"}
	if a.Record != nil {
		p.Meta.Existing = a.Record.Raw
	}
	problem, err := json.Marshal(p)
	if err != nil {
		panic(err) // its parts are JSON
	}
	return executor.Answer{Kind: executor.Unclear, HTTPStatus: a.HTTPStatus, Problem: problem, Reason: p.Title + "."}
}

const keptType = "urn:remit:certify:kept-back"

type keptProblem struct {
	Type  string `json:"type"`
	Title string `json:"title"`
	Meta  struct {
		Existing json.RawMessage `json:"existing,omitempty"`
	} `json:"meta"`
}

// keptRecord is the record of an answer that was kept back; nil where there is none.
func keptRecord(problem json.RawMessage) *transfer.Record {
	var p keptProblem
	if json.Unmarshal(problem, &p) != nil || p.Type != keptType {
		return nil
	}
	record, err := transfer.ParseRecord(p.Meta.Existing)
	if err != nil {
		return nil
	}
	return &record
}

// sending counts the requests from now on as those of a probe; nil for none.
func (g *gate) sending(p *probe) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.probe, g.busy = p, 0
}

// of are the attempts of a probe.
func (g *gate) of(p *probe) []attempt {
	var list []attempt
	for _, a := range g.attempts {
		if a.probe == p {
			list = append(list, a)
		}
	}
	return list
}
