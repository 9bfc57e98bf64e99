package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"remit/internal/doubt"
)

const (
	// renewBefore is how long ahead of its expiry a token is renewed, or a fifth of its
	// life where that is shorter.
	renewBefore = time.Minute
	// renewPause is how long a renewal ahead of expiry rests after one that failed.
	renewPause = 5 * time.Second

	tokenLengthMax = 16 << 10
)

// token is one access token. It is never changed, so that comparing pointers tells whether
// a refused token is still the current one. Its uses alone are counted.
type token struct {
	header  http.Header // of requests with it
	renewAt time.Time   // zero where its life is not known
	expires time.Time   // zero where its life is not known
	lacks   []string    // scopes that were asked for and not granted, as the endpoint says
	date    time.Time   // the Date of its answer; zero where it had none
	uses    *tokenUses
}

// tokens holds the current token for all that is in flight, and renews it one request at a
// time.
type tokens struct {
	config  *clientcredentials.Config
	client  *Client
	found   bool            // the style was found out by an earlier run
	context context.Context // of renewals: they outlive the attempt that began them
	cancel  context.CancelFunc

	mu         sync.Mutex
	style      AuthStyle // AuthAuto until it is known; changed by a renewal alone
	current    *token
	renewal    *renewal // under way; nil otherwise
	quietUntil time.Time
}

type renewal struct {
	done  chan struct{}
	token *token
	err   error
}

func newTokens(o Options, c *Client) *tokens {
	t := &tokens{
		config: &clientcredentials.Config{
			ClientID: o.ClientID, ClientSecret: o.ClientSecret, TokenURL: o.TokenURL, Scopes: o.Scopes,
		},
		client: c, style: o.AuthStyle, found: o.AuthFound,
	}
	t.context, t.cancel = context.WithCancel(context.Background())
	return t
}

// Ready gets a new token and returns the Date of its answer, or the zero time where it has
// none. The error says in words why there is no token; it holds no secret.
func (c *Client) Ready(ctx context.Context) (time.Time, error) {
	c.tokens.mu.Lock()
	r := c.tokens.renew()
	c.tokens.mu.Unlock()
	fresh, err := r.wait(ctx)
	if err != nil {
		return time.Time{}, fmt.Errorf("token request to %s: %w", host(c.tokens.config.TokenURL), err)
	}
	return fresh.date, nil
}

// get returns a token that has not expired. It renews one ahead of its expiry in the
// background, and waits only where there is none, as long as it may; 0 is as long as ctx.
func (t *tokens) get(ctx context.Context, within time.Duration) (*token, error) {
	t.mu.Lock()
	now := t.client.now()
	if have := t.current; have != nil && (have.expires.IsZero() || now.Before(have.expires)) {
		if !have.renewAt.IsZero() && !now.Before(have.renewAt) && !now.Before(t.quietUntil) {
			t.renew()
		}
		t.mu.Unlock()
		return have, nil
	}
	r := t.renew()
	t.mu.Unlock()
	if within > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, within)
		defer cancel()
	}
	return r.wait(ctx)
}

// replace returns another token than the given one, which the service refused. Where many
// are refused at once, one request renews for all of them.
func (t *tokens) replace(ctx context.Context, refused *token) (*token, error) {
	t.mu.Lock()
	if t.current == refused {
		t.current = nil
	}
	t.mu.Unlock()
	return t.get(ctx, 0)
}

// stop ends a renewal under way and returns when it has ended.
func (t *tokens) stop() {
	t.cancel()
	t.mu.Lock()
	r := t.renewal
	t.mu.Unlock()
	if r != nil {
		<-r.done
	}
}

// renew begins a renewal, or joins the one under way. The caller holds t.mu.
func (t *tokens) renew() *renewal {
	if t.renewal != nil {
		return t.renewal
	}
	r := &renewal{done: make(chan struct{})}
	t.renewal = r
	go func() {
		r.token, r.err = t.fetch()
		t.mu.Lock()
		t.renewal = nil
		if r.err == nil {
			t.current = r.token
		} else {
			t.quietUntil = t.client.now().Add(renewPause)
		}
		t.mu.Unlock()
		close(r.done)
	}()
	return r
}

func (r *renewal) wait(ctx context.Context) (*token, error) {
	select {
	case <-r.done:
		return r.token, r.err
	case <-ctx.Done():
		return nil, &tokenError{reason: "the token endpoint has not answered in time"}
	}
}

// AuthStyle returns where the token endpoint takes the client's credentials, and [AuthAuto] while
// that is not known: it is found out by the first token.
func (c *Client) AuthStyle() AuthStyle {
	c.tokens.mu.Lock()
	defer c.tokens.mu.Unlock()
	return c.tokens.style
}

// ScopesLacking returns the scopes that were asked for and that the token endpoint says it has not
// granted; none where it does not say.
func (c *Client) ScopesLacking() []string {
	c.tokens.mu.Lock()
	defer c.tokens.mu.Unlock()
	if c.tokens.current == nil {
		return nil
	}
	return c.tokens.current.lacks
}

// lackingWords says which scopes the token lacks, as a part of a sentence; "" where it lacks none.
func (c *Client) lackingWords() string {
	lacks := c.ScopesLacking()
	if len(lacks) == 0 {
		return ""
	}
	return fmt.Sprintf("; the token endpoint did not grant the scope %q, which was asked for", strings.Join(lacks, " "))
}

// fetch gets a token. Where the place of the credentials is not known, the header is tried first
// (RFC 6749, section 2.3.1, has every endpoint take it) and the body only after an answer that may
// mean that the credentials were not looked for there. Where both fail the same way, the first
// answer is the error.
func (t *tokens) fetch() (*token, error) {
	style := t.client.AuthStyle()
	if style != AuthAuto {
		fresh, err := t.fetchBy(style)
		if failure, ok := errors.AsType[*tokenError](err); ok && failure.unknownClient && t.found {
			return nil, failure.sentAs(style)
		}
		return fresh, err
	}
	fresh, err := t.fetchBy(AuthBasic)
	if first, ok := errors.AsType[*tokenError](err); ok && first.unknownClient {
		fresh, err = t.fetchBy(AuthPost)
		if second, ok := errors.AsType[*tokenError](err); ok && (second.unknownClient || !second.refused) {
			return nil, first
		}
		style = AuthPost
	} else {
		style = AuthBasic
	}
	if isKnown := err == nil || style == AuthPost; isKnown {
		t.mu.Lock()
		t.style = style
		t.mu.Unlock()
	}
	return fresh, err
}

// fetchBy asks the token endpoint once.
func (t *tokens) fetchBy(style AuthStyle) (*token, error) {
	c := t.client
	ctx, cancel := context.WithTimeout(t.context, c.wording.timeout)
	defer cancel()
	via := &tokenTransport{client: c}
	ctx = context.WithValue(ctx, oauth2.HTTPClient, &http.Client{
		Transport:     via,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	})
	config := *t.config
	config.AuthStyle = oauth2.AuthStyleInHeader
	if style == AuthPost {
		config.AuthStyle = oauth2.AuthStyleInParams
	}
	began := c.now()
	got, err := config.Token(ctx)
	seen := Seen{Method: http.MethodPost, Path: via.path, Began: began, Ended: c.now(), Status: via.status, Begun: true, Token: true}
	log := c.witness.log.Debug().Int("status", via.status).Str("auth_style", string(style)).Dur("took", seen.Ended.Sub(began))
	if err == nil {
		err = checkToken(got)
	}
	if err != nil {
		failure := t.describe(err)
		if via.flaw != "" && !failure.refused {
			failure = &tokenError{reason: via.flaw}
		}
		log.Str("reason", failure.reason).Msg("no token")
		seen.Reason = failure.reason
		c.witness.show(seen)
		return nil, failure
	}
	c.wording.secrets.AddPassing(got.AccessToken)
	c.wording.secrets.AddPassing(got.RefreshToken)
	fresh := &token{header: c.header(got.AccessToken), date: via.date, lacks: lacking(t.config.Scopes, got), uses: newTokenUses()}
	life := lifetime(got)
	seen.Life, seen.Lacks = life, fresh.lacks
	c.witness.show(seen)
	if life > 0 {
		fresh.expires = began.Add(life)
		fresh.renewAt = fresh.expires.Add(-min(renewBefore, life/5))
		log = log.Dur("life", life)
	}
	log.Strs("scopes_lacking", fresh.lacks).Msg("token renewed")
	return fresh, nil
}

// lacking returns the requested scopes that the answer's scope does not have. An answer without one
// grants all of them (RFC 6749, section 5.1). A scope such as https://host/.default stands for others.
func lacking(asked []string, got *oauth2.Token) []string {
	text, ok := got.Extra("scope").(string)
	if !ok {
		return nil
	}
	granted := strings.Fields(text)
	return slices.DeleteFunc(slices.Clone(asked), func(scope string) bool {
		return slices.Contains(granted, scope) || strings.HasSuffix(scope, "/.default")
	})
}

// lifetime returns the answer's expires_in; 0 without one. The Expiry of
// the token itself was counted on another clock than ours.
func lifetime(got *oauth2.Token) time.Duration {
	switch seconds := got.Extra("expires_in").(type) {
	case float64:
		return time.Duration(min(seconds, 1e6)) * time.Second
	case string:
		life, err := time.ParseDuration(seconds + "s")
		if err == nil {
			return life
		}
	}
	return 0
}

func checkToken(got *oauth2.Token) error {
	if kind := got.TokenType; kind != "" && !strings.EqualFold(kind, "bearer") {
		return &tokenError{reason: "the token endpoint answered a token that is not a bearer token"}
	}
	if len(got.AccessToken) > tokenLengthMax {
		return &tokenError{reason: fmt.Sprintf("the token endpoint answered a token of more than %d bytes", tokenLengthMax)}
	}
	for _, b := range []byte(got.AccessToken) {
		if b <= ' ' || b >= 0x7f {
			return &tokenError{reason: "the token endpoint answered a token that cannot stand in a header"}
		}
	}
	return nil
}

// tokenError says in words why there is no token.
type tokenError struct {
	reason  string
	remedy  string // of the author of the configuration; "" where none is known
	refused bool   // the endpoint said no: asking again changes nothing

	// unknownClient says that the endpoint may not have found credentials where they were.
	unknownClient bool
}

func (e *tokenError) Error() string { return e.reason + e.remedy }

// sentAs adds where the credentials were, which an earlier run found out: one wrong secret is one failed
// login, and an endpoint that takes them elsewhere by now is told of in the configuration.
func (e *tokenError) sentAs(style AuthStyle) *tokenError {
	told := *e
	told.remedy = ""
	told.reason += fmt.Sprintf("; the credentials were sent as with auth_style = %q, which an earlier run found to work. "+
		"Correct the secret, or write auth_style where the endpoint takes them elsewhere now", style)
	return &told
}

// describe keeps the parts of an error that hold no secret. The texts of oauth2 repeat the answer,
// and an answer that could not be read may hold a token that nobody knows yet.
func (t *tokens) describe(err error) *tokenError {
	if ours, ok := errors.AsType[*tokenError](err); ok {
		return ours
	}
	if answer, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		return t.describeAnswer(answer)
	}
	if network, ok := errors.AsType[*url.Error](err); ok {
		reason := "the token endpoint cannot be reached: " + t.client.wording.describe(network.Err)
		dial, isDial := errors.AsType[*net.OpError](network.Err)
		_, isLate := errors.AsType[*noConnectionError](network.Err)
		if isLate || isDial && dial.Op == "dial" {
			reason += ". Correct token_url, or try again when it can be reached"
		}
		return &tokenError{reason: reason}
	}
	return &tokenError{reason: "the token endpoint's answer holds no token that can be read"}
}

func (t *tokens) describeAnswer(answer *oauth2.RetrieveError) *tokenError {
	status := answer.Response.StatusCode
	e := &tokenError{reason: "the token endpoint answered " + statusWords(status)}
	if 300 <= status && status < 400 {
		e.reason += "; a redirect is never followed, because it would hand the secret to another address"
	}
	body := t.client.wording.secrets.Scrub(answer.Body)
	p, isProblem := parseProblem(body)
	switch {
	case answer.ErrorCode != "":
		e.reason += ": " + t.client.wording.quote(answer.ErrorCode)
		if answer.ErrorDescription != "" {
			e.reason += ", " + t.client.wording.quote(answer.ErrorDescription)
		}
		if answer.ErrorURI != "" {
			e.reason += ", see " + t.client.wording.quote(answer.ErrorURI)
		}
	case status < 400, mayHoldToken(body):
	case isProblem:
		e.reason += ": " + p.words()
	default:
		if words := textWords(body); words != "" {
			e.reason += ": " + words
		}
	}
	if status == http.StatusNotFound || status == http.StatusMethodNotAllowed {
		e.reason += "; correct token_url"
	}
	e.remedy = tokenRemedies[answer.ErrorCode]
	if answer.ErrorCode == "" && status == http.StatusUnauthorized {
		e.remedy = tokenRemedies["invalid_client"]
	}
	e.refused = 400 <= status && status < 500 && !doubt.IsCut(status) && status != http.StatusTooManyRequests
	// Endpoints that look for credentials in one place alone call them invalid or missing in the other.
	isAbout := answer.ErrorCode == "" || answer.ErrorCode == "invalid_client" || answer.ErrorCode == "invalid_request"
	e.unknownClient = isAbout && (status == http.StatusBadRequest || status == http.StatusUnauthorized)
	return e
}

// tokenRemedies say what to correct, by the codes of RFC 6749, section 5.2.
var tokenRemedies = map[string]string{
	"invalid_client":      ". Correct client_id or the secret",
	"unauthorized_client": ". Ask the operator to allow this client to get tokens by its secret",
	"invalid_scope":       ". Correct scopes in the service block",
}

// mayHoldToken reports whether an answer may hold a token, or part of one, that redaction has not been told
// of.
func mayHoldToken(body []byte) bool {
	isAny := func(name string) bool { return bytes.Contains(body, []byte(name)) }
	return slices.ContainsFunc([]string{"access_token", "refresh_token", "id_token"}, isAny)
}

// dateOf returns the Date of an answer; zero without one.
func dateOf(h http.Header) time.Time {
	date, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return time.Time{}
	}
	return date
}

func host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "the token endpoint"
	}
	return u.Host
}
