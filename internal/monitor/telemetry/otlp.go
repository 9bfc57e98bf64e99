package telemetry

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The numbers of OTLP 1.x for the kinds of spans, and for the status of one that failed.
const (
	kindInternal = 1
	kindClient   = 3
	statusError  = 2

	textMax = 1024 // bytes of one text
)

// The JSON of OTLP: opentelemetry/proto/collector/trace/v1, in the mapping of its specification,
// with IDs in hex and 64 bit numbers as strings.
type (
	requestJSON struct {
		ResourceSpans []resourceJSON `json:"resourceSpans"`
	}
	resourceJSON struct {
		Resource struct {
			Attributes []attributeJSON `json:"attributes"`
		} `json:"resource"`
		ScopeSpans []scopeJSON `json:"scopeSpans"`
	}
	scopeJSON struct {
		Scope struct {
			Name    string `json:"name"`
			Version string `json:"version"`
		} `json:"scope"`
		Spans []spanJSON `json:"spans"`
	}
	spanJSON struct {
		TraceID    string          `json:"traceId"`
		SpanID     string          `json:"spanId"`
		ParentID   string          `json:"parentSpanId,omitempty"`
		Name       string          `json:"name"`
		Kind       int             `json:"kind"`
		Began      string          `json:"startTimeUnixNano"`
		Ended      string          `json:"endTimeUnixNano"`
		Attributes []attributeJSON `json:"attributes,omitempty"`
		Status     *statusJSON     `json:"status,omitempty"`
	}
	statusJSON struct {
		Code    int    `json:"code"`
		Message string `json:"message,omitempty"`
	}
	attributeJSON struct {
		Key   string    `json:"key"`
		Value valueJSON `json:"value"`
	}
	valueJSON struct {
		Text   *string `json:"stringValue,omitempty"`
		Number *string `json:"intValue,omitempty"`
	}
)

func (t *Trace) request(spans []spanJSON) requestJSON {
	var r resourceJSON
	r.Resource.Attributes = t.resource
	s := scopeJSON{Spans: spans}
	s.Scope.Name, s.Scope.Version = "remit", t.version
	r.ScopeSpans = []scopeJSON{s}
	return requestJSON{[]resourceJSON{r}}
}

func (t *Trace) encode(s Span, id [8]byte, parent []byte, kind int) spanJSON {
	encoded := spanJSON{
		TraceID: t.traceID, SpanID: hex.EncodeToString(id[:]), ParentID: hex.EncodeToString(parent),
		Name: cut(s.Name), Kind: kind,
		Began: strconv.FormatInt(s.Began.UnixNano(), 10), Ended: strconv.FormatInt(s.Ended.UnixNano(), 10),
	}
	for _, a := range s.Attributes {
		encoded.Attributes = append(encoded.Attributes, a.encode())
	}
	if s.Failed != "" {
		encoded.Status = &statusJSON{statusError, cut(s.Failed)}
	}
	return encoded
}

func (a Attribute) encode() attributeJSON {
	switch v := a.Value.(type) {
	case string:
		text := cut(v)
		return attributeJSON{a.Key, valueJSON{Text: &text}}
	case int:
		number := strconv.Itoa(v)
		return attributeJSON{a.Key, valueJSON{Number: &number}}
	}
	panic(fmt.Sprintf("telemetry: attribute %s is a %T", a.Key, a.Value))
}

// cut bounds a text, and makes it one that JSON can hold.
func cut(text string) string {
	if len(text) > textMax {
		text = text[:textMax]
		for len(text) > 0 && !utf8.RuneStart(text[len(text)-1]) {
			text = text[:len(text)-1]
		}
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
