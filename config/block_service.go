package config

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/config/syntax"
	"remit/internal/service/operator"
	"remit/internal/transfer"
	"remit/state"
)

const (
	inFlightDefault = 8
	lookupMax       = 100 // ref_ids (docs/language/service.md)
	inFlightMax     = 100_000
	timeoutDefault  = 30 * time.Second
	timeoutMax      = time.Hour
	replayDefault   = 24 * time.Hour
	replayMax       = 10 * 365 * 24 * time.Hour
	rateWindowMax   = 24 * time.Hour
	rateMax         = 10_000_000

	noPath = "none" // of lookup_path and balance_path: the operator's is not used either

	profilePart = operator.ProfilePart
)

// serviceBlock is the service block, kept because a token's arguments are evaluated later.
type serviceBlock struct {
	*eval.Block
	complete bool // base_url was there
}

func serviceKind() eval.Kind {
	return eval.Kind{
		Name: "service", Single: true,
		Optional: slices.Concat(addressArguments(), credentialArguments(), []string{
			"operator", "lookup_path", "lookup_max", "balance_path", "fingerprint_key", "replay_window", "on_doubt", "precheck", "auth_style",
			"max_in_flight", "timeout",
		}),
		Nested: []eval.Kind{
			{Name: "rate_limit", Optional: transfer.OperationWords()},
			signingKind(),
		},
	}
}

// addressArguments are not needed where the sandbox replaces the service.
func addressArguments() []string { return []string{"base_url", "ca_file"} }

// credentialArguments are not needed before a token is.
func credentialArguments() []string {
	return []string{"token_url", "client_id", "client_secret", "scopes", "client_certificate_file", "client_key_file"}
}

func serviceDefaults() Service {
	return Service{
		Operator: transfer.DefaultOperator, ReplayWindow: replayDefault, AuthStyle: "auto",
		LookupMax: lookupMax, InFlightMax: inFlightDefault, Timeout: timeoutDefault,
		RateLimits: map[transfer.Operation]RateLimit{},
	}
}

// evaluateService reads all of the service block but what a token needs.
func evaluateService(c *checker, b *eval.Block, opts Options) (Service, *serviceBlock) {
	s := serviceDefaults()
	if b == nil {
		return s, nil
	}
	for _, a := range b.All() {
		later := opts.Need == NeedState || slices.Contains(credentialArguments(), a.Name) || a.Within == signingName || opts.Sandbox && slices.Contains(addressArguments(), a.Name)
		c.resolveArgument(a, eval.NarrowReach(), later)
	}
	block := &serviceBlock{Block: b}
	r := &eval.Reader{Scope: c.scope, Block: b, Secret: true}
	if !opts.Sandbox {
		block.complete = s.readAddress(r)
	}
	s.readBehaviour(r)
	c.report(r.Diags...)
	s.warnOfCredentials(c, b)
	if !opts.Sandbox {
		checkTokenURL(c, b)
	}
	checkSigning(c, b, opts.Need)
	for _, limits := range b.NestedOf("rate_limit") {
		r := &eval.Reader{Scope: c.scope, Block: limits, Secret: true}
		for _, operation := range transfer.Operations() {
			if limit, ok := rateArgument(r, string(operation)); ok {
				s.RateLimits[operation] = limit
			}
		}
		c.report(r.Diags...)
	}
	return s, block
}

// readAddress reports whether there is a base_url.
func (s *Service) readAddress(r *eval.Reader) bool {
	text, a := r.Text("base_url")
	if text != "" {
		normal, err := serviceURL(text)
		if err != nil {
			r.Refuse(a.Expr.Range(), "Invalid address of the service", "base_url %s: %s", shownURL(a, text), mistake.Sentence(err))
		}
		s.BaseURL = normal
	}
	if a == nil {
		r.Refuse(r.Block.At, "Missing required argument", "The argument \"base_url\" is required, unless the sandbox stands in for the service.")
	}
	s.CAFile, _ = r.Text("ca_file")
	return s.BaseURL != ""
}

func (s *Service) readBehaviour(r *eval.Reader) {
	if text, a := r.Text("operator"); text != "" {
		s.Operator = transfer.Operator(text)
		if !s.Operator.Valid() {
			r.Refuse(a.Expr.Range(), "Invalid operator",
				"operator %s stands in a path: lower-case letters, digits, '-' and '_', beginning with a letter.", eval.Shown(a, text))
		}
	}
	s.LookupPath = pathArgument(r, "lookup_path", operator.Of(s.Operator).LookupPath)
	s.BalancePath = pathArgument(r, "balance_path", operator.Of(s.Operator).BalancePath)
	if a := r.Block.Arguments["balance_path"]; a != nil && s.BalancePath != "" {
		if rest := strings.Replace(s.BalancePath, profilePart, "", 1); rest == s.BalancePath || strings.ContainsAny(rest, "{}") {
			r.Refuse(a.Expr.Range(), "Invalid path", "balance_path %s must have %s once, where the ID of a profile stands, and no other braces.", eval.Shown(a, s.BalancePath), profilePart)
		}
	}
	if text, a := r.Text("fingerprint_key"); text != "" {
		s.FingerprintKey = text
		if n := utf8.RuneCountInString(text); n > transfer.TextLengthMax {
			r.Refuse(a.Expr.Range(), "Metadata is too long", "fingerprint_key has %d characters; a key of metadata has at most %d.",
				n, transfer.TextLengthMax)
		}
	}
	s.ReplayWindow = r.Duration("replay_window", 0, replayMax, replayDefault)
	s.HoldDoubt = r.OneOf("on_doubt", Words("service", "on_doubt")...) == "hold"
	s.PrecheckNew = r.OneOf("precheck", Words("service", "precheck")...) == "new"
	s.AuthStyle = r.OneOf("auth_style", Words("service", "auth_style")...)
	s.LookupMax = r.Whole("lookup_max", 1, lookupMax, lookupMax)
	s.InFlightMax = r.Whole("max_in_flight", 1, inFlightMax, inFlightDefault)
	s.Timeout = r.Duration("timeout", time.Millisecond, timeoutMax, timeoutDefault)
}

// pathArgument reads where the service has something below its base_url: otherwise, where nothing is written.
func pathArgument(r *eval.Reader, name, otherwise string) string {
	text, a := r.Text(name)
	switch {
	case a == nil:
		return otherwise
	case text == noPath:
		return ""
	case text != "" && !isPlainPath(text):
		hint := ""
		if strings.Contains(text, "://") {
			hint = " base_url has the address before it, and this is the path alone, such as:\n\n  " + name + " = \"/v2/transfers\""
		}
		r.Refuse(a.Expr.Range(), "Invalid path", "%s %s must begin with one '/', and have no query, space, '%%' or '/.' in it.%s", name, eval.Shown(a, text), hint)
	}
	return text
}

// isPlainPath reports whether a path is sent as it is written.
func isPlainPath(path string) bool {
	return strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "//") && !strings.ContainsAny(path, "?#%\\ ") &&
		!strings.Contains(path, "/.") && !strings.Contains(path, "..")
}

// rateArgument reads text such as "10/1s": requests allowed in any window of that length.
func rateArgument(r *eval.Reader, name string) (RateLimit, bool) {
	text, a := r.Text(name)
	if text == "" {
		return RateLimit{}, false
	}
	count, window, _ := strings.Cut(text, "/")
	n, err := strconv.Atoi(count)
	d, errWindow := eval.ParseDuration(window)
	if err != nil || errWindow != nil || n < 1 || n > rateMax || d <= 0 || d > rateWindowMax {
		r.Refuse(a.Expr.Range(), "Invalid rate limit", "%s %s must be requests and a time of at most a day, such as \"10/1s\" or \"6000/5m\".", name, eval.Shown(a, text))
		return RateLimit{}, false
	}
	return RateLimit{Requests: n, Window: d}, true
}

// shownURL is an address in a message; one that may hold a password or a token, in front of an '@' or in a
// query, is left to the snippet, which masks it.
func shownURL(a *eval.Argument, text string) string {
	if strings.ContainsAny(text, "@?#") {
		return "is no address of a service"
	}
	return eval.Shown(a, text)
}

// warnOfCredentials warns of a secret that stands in the file, and of an ID that is none yet. A service of this
// machine has no secrets.
func (s *Service) warnOfCredentials(c *checker, b *eval.Block) {
	if s.BaseURL == "" || strings.HasPrefix(s.BaseURL, "http://") {
		return
	}
	if a := b.Arguments["client_secret"]; a != nil {
		if _, isLiteral := syntax.LiteralText(a.Expr); isLiteral {
			c.report(mistake.Warning(b.At, "Secret is written in the configuration", // of which no line is shown
				"Everybody who reads %s, or a copy of it, has the client_secret. Ask the operator for a new one, remove the argument, and name a file of your own in the environment of the apply:\n\n  REMIT_CLIENT_SECRET_FILE=FILE", a.NameAt.Filename))
		}
	}
	if a := b.Arguments["client_id"]; a != nil {
		if text, isLiteral := syntax.LiteralText(a.Expr); isLiteral && placeholder(text.AsString()) {
			c.report(mistake.Warning(a.Expr.Range(), "Value is a placeholder", "client_id %q marks the place of the ID. Write the one that the operator gave you, or leave the argument out and set %s.", text.AsString(), environmentClientID))
		}
	}
}

// checkTokenURL refuses an address of the token that is written out and that no apply would ask, before somebody plans
// with it. One that a variable gives is checked once it is needed.
func checkTokenURL(c *checker, b *eval.Block) {
	a := b.Arguments["token_url"]
	if a == nil {
		return
	}
	text, isLiteral := syntax.LiteralText(a.Expr)
	if !isLiteral || text.AsString() == "" {
		return
	}
	if _, err := serviceURL(text.AsString()); err != nil {
		c.report(invalidTokenURL(a, text.AsString(), err))
	}
}

func invalidTokenURL(a *eval.Argument, text string, err error) *hcl.Diagnostic {
	return mistake.New(a.Expr.Range(), "Invalid address of the token", "token_url %s: %s", shownURL(a, text), mistake.Sentence(err))
}

// serviceURL checks an address to which a token is sent, and normalises it as states and lock files do. What
// they refuse is refused here, before one is made.
func serviceURL(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil {
		return "", errors.New("this is not a URL")
	}
	scheme, host := strings.ToLower(u.Scheme), strings.ToLower(u.Hostname())
	switch {
	case !strings.Contains(text, "://"):
		return "", errors.New("https:// is missing at its beginning, as in \"https://api.example.com\"")
	case scheme != "https" && scheme != "http" || host == "":
		return "", errors.New("a URL such as \"https://api.example.com\" is needed")
	case strings.ContainsAny(host, "<>{}$()*%") || placeholder(host):
		return "", errors.New("the host is a placeholder; write that of your service")
	case strings.ContainsFunc(host, func(r rune) bool { return r >= utf8.RuneSelf }):
		return "", errors.New("the host has letters beyond ASCII, and some of those look like others; write its name as DNS has it, which begins with xn--")
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", errors.New("there may be neither a user nor a query nor a fragment")
	case scheme == "http" && !isLoopback(host):
		return "", errors.New("TLS (https) is required for every host but this one; write https:// in place of http://")
	}
	if slices.Contains([]string{".html", ".htm", ".json", ".yaml", ".yml"}, strings.ToLower(path.Ext(u.Path))) {
		return "", errors.New("this is the address of a page about the service; write the address in front of the service's own paths, such as \"https://api.example.com\"")
	}
	if path := strings.TrimRight(u.EscapedPath(), "/") + "/"; strings.Contains(path, transfer.PathPrefix+"/") {
		return "", fmt.Errorf("remit adds %[1]s/internal and %[1]s/OPERATOR itself; leave out all from %[1]s on", transfer.PathPrefix)
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return "", fmt.Errorf("there is no port %s", port)
		}
	}
	normal, err := state.NormalizeBaseURL(text)
	if err != nil {
		return "", fmt.Errorf("the address %w; write it without", err)
	}
	return normal, nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
