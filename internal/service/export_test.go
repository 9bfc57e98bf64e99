package service

import (
	"context"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"time"
)

// Patient has a client wait for a real network as long as a busy machine may need.
func Patient(o *Options) { o.startMax, o.Timeout = 5*time.Minute, 5*time.Minute }

// WriteSealed writes one request as [Client.do] does, and seals it, where it is to be, when
// it has a connection. It reports whether the request may have begun.
func WriteSealed(ctx context.Context, transport http.RoundTripper, b []byte, sealed bool) (begun bool) {
	body := newRequestBody(b)
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) {
			if sealed {
				body.seal()
			}
		},
		WroteHeaderField: func(string, []string) { body.begin() },
	})
	what := call{method: http.MethodPost, target: &url.URL{Scheme: "http", Host: "127.0.0.1:1", Path: "/"}, body: b}
	answer, err := transport.RoundTrip(newRequest(ctx, what, &token{header: make(http.Header)}, body))
	if err == nil {
		_ = answer.Body.Close()
	}
	return body.seal()
}
