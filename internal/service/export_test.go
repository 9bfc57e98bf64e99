package service

import (
	"context"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"time"
)

// Patient has a client wait for a real network as long as a busy machine may need.
func Patient(o *Options) { o.startMax, o.Timeout = 5*time.Minute, 5*time.Minute }

// Question connects to a nameserver.
var Question = question

// Dial connects as a client does, within a minute, with the given ways to find addresses and to connect to one.
func Dial(
	ctx context.Context, host string,
	resolve func(ctx context.Context, round int, host string) ([]net.IPAddr, error),
	connect func(ctx context.Context, network, address string) (net.Conn, error),
) (net.Conn, error) {
	d := dialer{within: time.Minute, resolve: resolve, connect: connect}
	return d.DialContext(ctx, "tcp", net.JoinHostPort(host, "443"))
}

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
