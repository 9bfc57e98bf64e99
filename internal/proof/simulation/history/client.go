//go:build unix

package history

import (
	"context"
	"encoding/json"
	"time"

	"remit/executor"
	"remit/internal/transfer"
)

// submitter is the real client; that a request begins is noted.
type submitter struct{ p *process }

// Ready implements executor.Submitter.
func (s submitter) Ready(ctx context.Context) (time.Time, error) {
	ctx, cancel := s.p.mortal(ctx)
	defer cancel()
	return s.p.client.Ready(ctx)
}

// date is what the service's clock says, as remit resolve asks for it.
func (p *process) date(ctx context.Context) time.Time {
	date, err := submitter{p}.Ready(ctx)
	if err != nil {
		return time.Time{}
	}
	return date
}

// Submit implements executor.Submitter.
func (s submitter) Submit(ctx context.Context, path string, body []byte) executor.Answer {
	refID := refIDOf(string(body))
	w := s.p.world
	w.kernel.first("begin "+refID, func() {
		if s.p.killed.Err() == nil { // the dead begin nothing
			w.oracle.started(s.p, path, refID)
		}
	})
	ctx, cancel := s.p.mortal(ctx)
	defer cancel()
	ctx = context.WithValue(ctx, beginningKey{}, refID)
	answer := s.p.client.Submit(ctx, path, body)
	if ctx.Err() != nil {
		// An interrupt ends many requests at once, and a context tells those who derive from it in
		// no order: the kernel decides who returns first.
		_ = s.p.do("interrupted "+refID, func() {})
	}
	return answer
}

// finder is the real client.
type finder struct{ p *process }

// Find implements executor.Finder.
func (f finder) Find(ctx context.Context, refIDs []string) (map[string][]transfer.Record, error) {
	ctx, cancel := f.p.mortal(ctx)
	defer cancel()
	if f.p.killed.Err() != nil {
		return nil, errKilled
	}
	// The client's own timeout is in real time.
	k := f.p.world.kernel
	f.p.heard.asked(refIDs) // as no event: the history stays as it is
	timeout := k.after(f.p, requestTimeout, f.p.id+" lookup times out", cancel)
	defer k.drop(timeout)
	return f.p.client.Find(ctx, refIDs)
}

func refIDOf(body string) string {
	var in struct {
		RefID string `json:"ref_id"`
	}
	_ = json.Unmarshal([]byte(body), &in) // a body without one is found by the oracle
	return in.RefID
}
