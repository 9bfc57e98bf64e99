package cli

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"remit/internal/cli/exit"
	"remit/internal/monitor/telemetry"
	"remit/internal/service"
	"remit/internal/view"
)

// traceMax is how long the end of an apply waits for a collector. Tests set it.
var traceMax = 2 * time.Second

// traceHurried is that of an apply that a person interrupted.
const traceHurried = 500 * time.Millisecond

// beginTrace begins the trace of an apply where the environment asks for one; nil where it
// does not, or can't be understood: no payment waits for a collector.
func (m *monitoring) beginTrace(p *process) *telemetry.Trace {
	trace, err := telemetry.New(telemetry.Options{
		Getenv: p.host.Getenv, Random: rand.Reader, Proxy: service.EnvironmentProxy, Version: readVersion().Version,
	})
	if err != nil {
		m.warn(p, fmt.Errorf("no trace is sent: %w", err))
	}
	if trace != nil {
		p.onRequest = func(s service.Seen) { trace.Add(requestSpan(p, s)) }
	}
	return trace
}

// requestSpan is the span of a request. It has neither amounts nor parties of a transfer.
func requestSpan(p *process, s service.Seen) telemetry.Span {
	s.Path, s.Reason = p.streams.Redact(s.Path), p.streams.Redact(s.Reason)
	span := telemetry.Span{
		Name: s.Method + " " + s.Path, Began: s.Began, Ended: s.Ended, Failed: s.Reason,
		Plain: s.Reason == "" && s.Status/100 == 2,
		Attributes: []telemetry.Attribute{
			{Key: "http.request.method", Value: s.Method}, {Key: "url.path", Value: s.Path},
		},
	}
	if s.Status != 0 {
		span.Attributes = append(span.Attributes, telemetry.Attribute{Key: "http.response.status_code", Value: s.Status})
	}
	switch len(s.RefIDs) {
	case 0:
	case 1:
		span.Attributes = append(span.Attributes, telemetry.Attribute{Key: "remit.ref_id", Value: s.RefIDs[0]})
	default:
		span.Attributes = append(span.Attributes, telemetry.Attribute{Key: "remit.ref_ids", Value: len(s.RefIDs)})
	}
	if span.Failed == "" && s.Status >= 400 {
		span.Failed = fmt.Sprintf("HTTP status %d", s.Status)
	}
	return span
}

// endTrace sends the rest of the trace, and the span of the run.
func endTrace(ctx context.Context, trace *telemetry.Trace, e view.Ended) error {
	run := telemetry.Span{
		Name: "remit apply", Began: e.Began, Ended: e.Ended,
		Attributes: []telemetry.Attribute{
			{Key: "remit.environment", Value: e.Environment},
			{Key: "remit.directory", Value: e.Directory},
			{Key: "remit.run_id", Value: e.RunID},
			{Key: "remit.exit_code", Value: e.ExitCode},
		},
	}
	if e.ExitCode != exit.Done {
		run.Failed = view.ExitMeaning(e.ExitCode)
	}
	if e.Summary != nil {
		for result, totals := range e.Summary.Totals {
			run.Attributes = append(run.Attributes, telemetry.Attribute{Key: "remit.transfers." + string(result), Value: totals.Count()})
		}
	}
	longest := traceMax
	if ctx.Err() != nil {
		longest = traceHurried
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longest)
	defer cancel()
	if err := trace.End(ctx, run); err != nil {
		return fmt.Errorf("the trace of this run is not whole: %w", err)
	}
	return nil
}
