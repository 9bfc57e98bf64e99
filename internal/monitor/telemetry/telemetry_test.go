package telemetry_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"remit/internal/monitor/telemetry"
)

// collector keeps what it is sent.
type collector struct {
	*httptest.Server
	mu      sync.Mutex
	bodies  []string
	headers []http.Header
	paths   []string
}

func newCollector(t *testing.T, status int) *collector {
	c := new(collector)
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		c.mu.Lock()
		c.bodies, c.headers, c.paths = append(c.bodies, string(body)), append(c.headers, r.Header), append(c.paths, r.URL.Path)
		c.mu.Unlock()
		w.WriteHeader(status)
	}))
	t.Cleanup(c.Close)
	return c
}

type span struct {
	TraceID, SpanID, ParentSpanID, Name string
	Kind                                int
	StartTimeUnixNano, EndTimeUnixNano  string
	Status                              struct{ Code int }
	Attributes                          []struct {
		Key   string
		Value struct{ StringValue, IntValue string }
	}
}

func (c *collector) spans(t *testing.T) []span {
	t.Helper()
	var all []span
	for _, body := range c.bodies {
		var request struct {
			ResourceSpans []struct{ ScopeSpans []struct{ Spans []span } }
		}
		if err := json.Unmarshal([]byte(body), &request); err != nil {
			t.Fatal(err)
		}
		all = append(all, request.ResourceSpans[0].ScopeSpans[0].Spans...)
	}
	return all
}

func begin(t *testing.T, variables map[string]string) *telemetry.Trace {
	t.Helper()
	getenv := func(name string) string {
		if name == "OTEL_EXPORTER_OTLP_TIMEOUT" {
			return "10000" // a busy machine answers late
		}
		return variables[name]
	}
	trace, err := telemetry.New(telemetry.Options{Getenv: getenv, Random: rand.Reader, Version: "0.1.0"})
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

func TestARunAndItsRequestsAreOneTrace(t *testing.T) {
	c := newCollector(t, http.StatusOK)
	trace := begin(t, map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": c.URL + "/", "OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20abc,x=1",
		"OTEL_RESOURCE_ATTRIBUTES": "deployment.environment=night",
	})
	began := time.Unix(1_793_588_400, 5)
	trace.Add(telemetry.Span{Name: "POST", Began: began, Ended: began.Add(time.Second), Attributes: []telemetry.Attribute{{"n", 201}, {"s", "a\xff"}}})
	if err := trace.End(t.Context(), telemetry.Span{Name: "run", Began: began, Ended: began, Failed: "why"}); err != nil {
		t.Fatal(err)
	}
	trace.Add(telemetry.Span{Name: "too late"})
	spans := c.spans(t)
	if len(spans) != 2 || spans[0].TraceID != spans[1].TraceID || len(spans[0].TraceID) != 32 ||
		spans[0].ParentSpanID != spans[1].SpanID || spans[1].ParentSpanID != "" || spans[0].SpanID == spans[1].SpanID {
		t.Errorf("they are no trace: %+v", spans)
	}
	if s := spans[0]; s.StartTimeUnixNano != "1793588400000000005" || s.Kind != 3 || s.Attributes[0].Value.IntValue != "201" || s.Attributes[1].Value.StringValue != "a\uFFFD" {
		t.Errorf("%+v", s)
	}
	if spans[1].Status.Code != 2 {
		t.Errorf("the run did not fail: %+v", spans[1])
	}
	if h := c.headers[0]; c.paths[0] != "/v1/traces" || h.Get("Authorization") != "Bearer abc" || h.Get("Content-Type") != "application/json" {
		t.Errorf("it was sent to %s with %v", c.paths[0], h)
	}
	for _, want := range []string{`"service.name"`, `"deployment.environment"`} {
		if !strings.Contains(c.bodies[0], want) {
			t.Errorf("it has no %s", want)
		}
	}
}

func TestRequestsAreSampled(t *testing.T) {
	c := newCollector(t, http.StatusOK)
	trace := begin(t, map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": c.URL})
	for range 1400 {
		trace.Add(telemetry.Span{Name: "plain", Plain: true})
	}
	for range 7 {
		trace.Add(telemetry.Span{Name: "special"})
	}
	if err := trace.End(t.Context(), telemetry.Span{Name: "run"}); err != nil {
		t.Fatal(err)
	}
	if n := len(c.spans(t)); n != 1000+4+7+1 {
		t.Errorf("%d spans came", n)
	}
}

// TestNoCollectorHoldsAnybodyUp has collectors that refuse, fail, send elsewhere, and never answer.
func TestNoCollectorHoldsAnybodyUp(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // nobody accepts
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = gone.Close()
	for name, endpoint := range map[string]string{
		"it refuses connections": "http://user:swordfish@" + gone.Addr().String(),
		"it fails":               newCollector(t, http.StatusServiceUnavailable).URL,
		"it sends elsewhere":     newCollector(t, http.StatusTemporaryRedirect).URL,
		"it never answers":       "http://" + silent.Addr().String(),
	} {
		t.Run(name, func(t *testing.T) {
			trace := begin(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint})
			const all = 5000 // more than the queue holds: Add drops, and waits for nobody
			for range all {
				trace.Add(telemetry.Span{Name: "request"})
			}
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			err := trace.End(ctx, telemetry.Span{Name: "run"})
			if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%d spans were not sent", all+1)) {
				t.Errorf("error %v", err)
			}
			if strings.Contains(fmt.Sprint(err), "swordfish") {
				t.Errorf("the error has the password: %v", err)
			}
		})
	}
}

func TestWhatIsNotAskedForIsNotSent(t *testing.T) {
	c := newCollector(t, http.StatusOK)
	for name, variables := range map[string]map[string]string{
		"no endpoint":     {},
		"disabled":        {"OTEL_EXPORTER_OTLP_ENDPOINT": c.URL, "OTEL_SDK_DISABLED": "true"},
		"no exporter":     {"OTEL_EXPORTER_OTLP_ENDPOINT": c.URL, "OTEL_TRACES_EXPORTER": "none"},
		"sampled away":    {"OTEL_EXPORTER_OTLP_ENDPOINT": c.URL, "OTEL_TRACES_SAMPLER": "always_off"},
		"a ratio of none": {"OTEL_EXPORTER_OTLP_ENDPOINT": c.URL, "OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0"},
	} {
		trace := begin(t, variables)
		if trace != nil {
			t.Errorf("%s: there is a trace", name)
		}
		trace.Add(telemetry.Span{})
		if err := trace.End(t.Context(), telemetry.Span{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheEnvironmentIsUnderstoodOrToldOf(t *testing.T) {
	for name, variables := range map[string]map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": {"OTEL_EXPORTER_OTLP_ENDPOINT": "ftp://user:swordfish@host"},
		"OTEL_EXPORTER_OTLP_PROTOCOL": {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
		"OTEL_EXPORTER_OTLP_HEADERS":  {"OTEL_EXPORTER_OTLP_HEADERS": "swordfish"},
		"OTEL_EXPORTER_OTLP_TIMEOUT":  {"OTEL_EXPORTER_OTLP_TIMEOUT": "soon"},
		"OTEL_TRACES_SAMPLER":         {"OTEL_TRACES_SAMPLER": "xray"},
		"OTEL_TRACES_SAMPLER_ARG":     {"OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": "NaN"},
		"OTEL_RESOURCE_ATTRIBUTES":    {"OTEL_RESOURCE_ATTRIBUTES": "x"},
	} {
		getenv := func(of string) string {
			if value, ok := variables[of]; ok || of != "OTEL_EXPORTER_OTLP_ENDPOINT" {
				return value
			}
			return "http://127.0.0.1:1"
		}
		trace, err := telemetry.New(telemetry.Options{Getenv: getenv, Random: rand.Reader})
		if err == nil || trace != nil || !strings.Contains(err.Error(), name+" is") || strings.Contains(err.Error(), "swordfish") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
