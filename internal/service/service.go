// Package service speaks the funds-transfer service over HTTP with OAuth 2 client
// credentials, and says what its answers mean.
//
// Its one invariant: an attempt is called unwritten only where no byte of the request's body
// left and none can leave any more, and a request is never written twice. Without such a proof an
// attempt is unclear.
//
// Traces apart (internal/monitor/telemetry), it is the only outgoing HTTP of the program. It follows no redirect, reads no endless
// answer, and tells no token and no secret to a log, an error or an answer.
package service

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"remit/executor"
	"remit/internal/service/jws"
	"remit/internal/text/redact"
)

const (
	timeoutDefault     = 30 * time.Second
	inFlightMaxDefault = 8

	// idleMax is how long an unused connection is kept. Servers close theirs after 5 s and
	// more; being first avoids writing a request into a connection that is being closed,
	// which would leave a transfer in doubt.
	idleMax = 4 * time.Second

	headerBytesMax = 64 << 10
)

// Options say which service to speak to, and how.
type Options struct {
	BaseURL      string // https, or http to this machine; paths are appended to it
	TokenURL     string // https, or http to this machine
	ClientID     string
	ClientSecret string `json:"-"`
	Scopes       []string
	AuthStyle    AuthStyle // where the token endpoint takes ClientID and ClientSecret; AuthAuto finds out
	AuthFound    bool      // AuthStyle was found out by an earlier run: nobody has written it
	LookupPath   string    // "" where the service has no lookup
	LookupMax    int       // ref_ids in one lookup; 0, or more than [executor.FindMax], means that
	BalancePath  string    // with [operator.ProfilePart] in it; "" where the service says no balances

	Timeout     time.Duration // of one request, its answer's body included; 0 means 30 s
	InFlightMax int           // idle connections kept to each host; 0 means 8
	CA          []byte        // PEM certificates, trusted instead of the system's; nil for the system's
	UserAgent   string        // such as remit/0.1.0

	Certificate *tls.Certificate // with its key, shown to who asks; nil for none

	// Sign returns the value of SignatureHeader for one attempt to create. It must return when
	// ctx ends and is called concurrently. Nil signs nothing. Where it fails, nothing is sent.
	Sign            func(ctx context.Context, what ToSign) (string, error) `json:"-"`
	SignatureHeader string

	// Proxy chooses the proxy of an https request, as [http.Transport] has it. With nil
	// there is none: the environment isn't read here. Plain http never takes a proxy.
	Proxy func(*http.Request) (*url.URL, error)
	// Dial opens connections; nil means TCP. It is there for networks that are simulated.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)

	Log   zerolog.Logger   // one line a request; its writer must be safe for concurrent use
	Watch func(Seen)       // is told of each request, by several goroutines; returns at once; nil for nobody
	Now   func() time.Time // required

	// Up is how long the machine is up, sleep included: by it deadlines are held that pass while the
	// machine sleeps. Nil, or one that always returns 0, is a system that has no such clock.
	Up func() time.Duration

	WatchList func(List) // is told of each page of a lookup, as Watch is; nil for nobody

	startMax time.Duration // 0 means executor.StartMax, which a busy machine can exceed on a real network in a test
}

// AuthStyle says where a request for a token has the client's credentials (RFC 6749, section 2.3.1).
type AuthStyle string

// The places of credentials. The texts are those of the argument auth_style.
const (
	AuthAuto  AuthStyle = ""      // not known: the first token tells
	AuthBasic AuthStyle = "basic" // the header Authorization
	AuthPost  AuthStyle = "post"  // the body
)

// ToSign is one request, before it is sent.
type ToSign struct {
	Method string
	URL    string // the whole address
	Body   []byte // exactly as it is sent; not to be changed
}

// String names the service without its secret.
func (o Options) String() string {
	return fmt.Sprintf("service %s as client %q", o.BaseURL, o.ClientID)
}

// Format writes [Options.String] whatever the verb, so that no way to print Options shows
// the secret.
func (o Options) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, o.String()) }

// Client speaks to one service. It implements executor.Submitter and executor.Finder, and
// is safe for concurrent use.
type Client struct {
	name        string
	base        *url.URL
	lookupPath  string
	lookupMax   int // ref_ids in one lookup
	balancePath string
	lookups     *lookupLength
	asked       *askedAddresses
	userAgent   string
	sign        func(ctx context.Context, what ToSign) (string, error) // nil for no signature
	signed      string                                                 // the header of a signature
	transport   *http.Transport                                        // for tokens, lookups and proxies
	direct      *direct                                                // for requests to create
	tokens      *tokens
	startMax    time.Duration // how long after the call a request may begin
	wording     wording
	witness     *witness
	now         func() time.Time
	watches     watches
	time        *serviceTime
	answering   *sync.Map // paths where a transfer record came as an answer
}

// New checks options and returns a client. Nothing is sent before [Client.Ready]. It is an
// error if a URL would send money or a secret over plain http to another machine.
func New(o Options) (*Client, error) {
	base, err := checkURL("base_url", o.BaseURL)
	if err != nil {
		return nil, err
	}
	if base.RawQuery != "" {
		return nil, fmt.Errorf("base_url %q has a query; paths are appended to it", o.BaseURL)
	}
	if _, err := checkURL("token_url", o.TokenURL); err != nil {
		return nil, err
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	o.startMax = cmp.Or(o.startMax, executor.StartMax)
	transport, err := o.transport()
	if err != nil {
		return nil, err
	}
	base.Path, base.RawPath = strings.TrimRight(base.Path, "/"), ""
	c := &Client{
		name: o.String(), base: base, lookupPath: o.LookupPath, lookupMax: cmp.Or(min(o.LookupMax, executor.FindMax), executor.FindMax), balancePath: o.BalancePath, lookups: new(lookupLength), asked: new(askedAddresses), userAgent: o.UserAgent,
		sign: o.Sign, signed: http.CanonicalHeaderKey(o.SignatureHeader), transport: transport,
		startMax: o.startMax, wording: wording{secrets: o.secrets(), timeout: cmp.Or(o.Timeout, timeoutDefault)},
		witness: &witness{log: o.Log, watch: o.Watch, watchList: o.WatchList},
		now:     o.Now, watches: watches{now: o.Now, up: o.Up}, time: &serviceTime{now: o.Now}, answering: new(sync.Map),
	}
	c.direct = newDirect(base, transport, c.watches)
	c.tokens = newTokens(o, c)
	return c, nil
}

// secrets returns the texts that nothing kept or shown may have. A short secret is removed only in the
// form of the header of a request for a token.
func (o Options) secrets() *redact.Set {
	s := new(redact.Set)
	for _, form := range []string{
		o.ClientSecret, url.QueryEscape(o.ClientSecret),
		o.ClientID + ":" + o.ClientSecret, url.QueryEscape(o.ClientID) + ":" + url.QueryEscape(o.ClientSecret),
	} {
		s.Add(form)
	}
	return s
}

func (o Options) check() error {
	switch {
	case o.ClientID == "":
		return errors.New("client_id is empty")
	case o.ClientSecret == "":
		return errors.New("client_secret is empty")
	case o.Timeout < 0:
		return fmt.Errorf("timeout %s is negative", o.Timeout)
	case o.LookupPath != "" && checkPath(o.LookupPath) != nil:
		return fmt.Errorf("lookup_path: %w", checkPath(o.LookupPath))
	case o.BalancePath != "" && checkBalancePath(o.BalancePath) != nil:
		return fmt.Errorf("balance_path: %w", checkBalancePath(o.BalancePath))
	case o.Sign != nil && jws.CheckHeader(o.SignatureHeader) != nil:
		return fmt.Errorf("header %w", jws.CheckHeader(o.SignatureHeader))
	case o.Now == nil:
		panic("service: Options.Now is required")
	}
	return nil
}

func (o Options) transport() (*http.Transport, error) {
	t := &http.Transport{
		DialContext:            o.Dial,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout:    cmp.Or(o.Timeout, timeoutDefault),
		MaxIdleConnsPerHost:    o.InFlightMax, // of direct
		DisableKeepAlives:      true,          // an answer that came twice would be taken for that to the next request
		MaxResponseHeaderBytes: headerBytesMax,
		DisableCompression:     true, // a bound on bytes read is one on bytes kept
		Protocols:              new(http.Protocols),
	}
	t.Protocols.SetHTTP1(true) // measured faster than HTTP/2 for many small requests
	if t.DialContext == nil {
		t.DialContext = newDialer(cmp.Or(o.Timeout, timeoutDefault)).DialContext // a request to create ends it earlier
	}
	if t.MaxIdleConnsPerHost <= 0 {
		t.MaxIdleConnsPerHost = inFlightMaxDefault
	}
	if proxy := o.Proxy; proxy != nil {
		t.Proxy = func(r *http.Request) (*url.URL, error) {
			if r.URL.Scheme != "https" {
				return nil, nil
			}
			return proxy(r)
		}
		t.OnProxyConnectResponse = proxyAnswer
	}
	if o.Certificate != nil {
		t.TLSClientConfig.Certificates = []tls.Certificate{*o.Certificate}
	}
	if o.CA != nil {
		t.TLSClientConfig.RootCAs = x509.NewCertPool()
		if !t.TLSClientConfig.RootCAs.AppendCertsFromPEM(o.CA) {
			return nil, errors.New("ca_file has no certificate in PEM form, which begins with -----BEGIN CERTIFICATE-----")
		}
	}
	return t, nil
}

// HasLookup reports whether Find may be called.
func (c *Client) HasLookup() bool { return c.lookupPath != "" }

// Close drops idle connections and ends a renewal of the token that is under way. Attempts
// in flight are left alone.
func (c *Client) Close() {
	c.tokens.stop()
	c.transport.CloseIdleConnections()
	c.direct.CloseIdleConnections()
}

// String names the service without its secret.
func (c Client) String() string { return c.name }

// Format writes [Client.String] whatever the verb, so that no way to print a Client shows a
// secret or a token.
func (c Client) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.name) }

// target returns the address of a path at the service. A path comes out of a state or a saved plan,
// so it must not lead to another host.
func (c *Client) target(path string) (*url.URL, error) {
	if err := checkPath(path); err != nil {
		return nil, err
	}
	u := *c.base
	u.Path += path
	return &u, nil
}

func checkPath(path string) error {
	if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") {
		return fmt.Errorf("path %q does not begin with a single /", path)
	}
	if strings.ContainsAny(path, "?#%\\ ") || strings.Contains(path, "/.") {
		return fmt.Errorf("path %q is not a plain path", path)
	}
	return nil
}

func checkURL(name, text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s is not a URL", name) // url.Error would repeat a password in it
	}
	switch {
	case u.User != nil:
		return nil, fmt.Errorf("%s holds a user name or a password; credentials belong in client_id and client_secret", name)
	case u.Host == "" || u.Hostname() == "":
		return nil, fmt.Errorf("%s %q names no host; write it like https://api.example.com", name, text)
	case u.Fragment != "":
		return nil, fmt.Errorf("%s %q has a fragment, which is never sent", name, text)
	case u.Scheme == "https", u.Scheme == "http" && isLoopback(u.Hostname()):
		return u, nil
	case u.Scheme == "http":
		return nil, fmt.Errorf("%s %q is plain http to another machine, where anyone on the way reads the token; write https", name, text)
	}
	return nil, fmt.Errorf("%s %q is neither https nor http", name, text)
}

func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.Unmap().IsLoopback()
}
