package state

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Sandbox is the word that stands for the identity of the embedded service, in all of its
// fields, and for its environment.
const Sandbox = "sandbox"

// SandboxIdentity names the embedded service.
func SandboxIdentity() Identity {
	return Identity{BaseURL: Sandbox, Operator: Sandbox, ClientID: Sandbox}
}

// IsSandbox reports whether i names the embedded service, before or after its first record,
// which says whose it is.
func (i Identity) IsSandbox() bool {
	i.CustomerID = ""
	return i == SandboxIdentity()
}

// NoService is the identity of a state that was made before its configuration named a
// service: the word "none". Such a state can only be bound to one, not used.
func NoService() Identity {
	return Identity{BaseURL: "none", Operator: "none", ClientID: "none"}
}

// NormalizeBaseURL returns the one way to write a service's address: lower-case scheme and
// host, no default port, no slash at the end. It refuses a text that is not an absolute http or
// https URL with a host, or that has user information, a query, a fragment, or segments of
// dots in its path. It keeps the rest of the path as it is.
func NormalizeBaseURL(text string) (string, error) {
	u, err := url.Parse(text)
	if err != nil {
		// The parser's error repeats the text, which may hold a password.
		return "", errors.New("is not a URL")
	}
	scheme := strings.ToLower(u.Scheme)
	switch {
	case scheme != "https" && scheme != "http":
		return "", errors.New("must begin with https:// (or http:// on loopback)")
	case u.Hostname() == "":
		return "", errors.New("names no host")
	case u.User != nil:
		return "", errors.New("must not hold a user or a password")
	case u.RawQuery != "" || u.ForceQuery:
		return "", errors.New("must not have a query")
	case strings.Contains(text, "#"):
		return "", errors.New("must not have a fragment")
	}
	rest := strings.TrimRight(u.EscapedPath(), "/")
	for segment := range strings.SplitSeq(rest, "/") {
		if plain, _ := url.PathUnescape(segment); plain == "." || plain == ".." {
			return "", fmt.Errorf("must not have %q in its path", plain)
		}
	}
	host := strings.ToLower(u.Host)
	host = strings.TrimSuffix(host, ":")
	host = strings.TrimSuffix(host, map[string]string{"https": ":443", "http": ":80"}[scheme])
	return scheme + "://" + host + rest, nil
}

// HasClientOf reports whether both name one client of one service, however their addresses are written.
func (i Identity) HasClientOf(other Identity) bool {
	return i.ClientID == other.ClientID && i.Operator == other.Operator && i.HasServiceOf(other)
}

// HasServiceOf reports whether both name one service, whoever their clients are and however their addresses are written.
func (i Identity) HasServiceOf(other Identity) bool {
	return serverOf(i.BaseURL) == serverOf(other.BaseURL)
}

// serverOf is one text for the addresses that a network takes to one server and one path: the host without a dot at its
// end (RFC 1034, section 3.1), an IP address in its shortest form, and the port as a number.
func serverOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address // the word of an identity that has no address
	}
	host := strings.ToLower(norm.NFKC.String(u.Hostname()))
	host = strings.TrimSuffix(strings.ReplaceAll(host, "。", "."), ".") // a dot of RFC 3490, section 3.1
	if ip, err := netip.ParseAddr(host); err == nil {
		host = ip.Unmap().String()
	}
	port := strings.TrimLeft(u.Port(), "0")
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[strings.ToLower(u.Scheme)]
	}
	return net.JoinHostPort(host, port) + path.Clean("/"+u.Path)
}

// TokenOrigin returns what [Identity.TokenURL] says of a token's address: its scheme, host and
// port, or "" where they are those of the service's own address. Both addresses are normalised,
// as NormalizeBaseURL does it.
func TokenOrigin(tokenURL, baseURL string) string {
	if origin := originOf(tokenURL); origin != originOf(baseURL) {
		return origin
	}
	return ""
}

func originOf(address string) string {
	scheme, rest, isURL := strings.Cut(address, "://")
	if !isURL {
		return address // the word of an identity that has no address
	}
	host, _, _ := strings.Cut(rest, "/")
	return scheme + "://" + host
}

// TokenPlace is where the tokens of a service come from: its TokenURL, or what that stands for.
func (i Identity) TokenPlace() string {
	if i.TokenURL != "" {
		return i.TokenURL
	}
	return originOf(i.BaseURL)
}

// Check compares the state with what the configuration and the lock file expect. The error
// is a *[MismatchError] that names all that differs. An empty lineage or customer is not
// compared.
func (m Meta) Check(environment, lineage string, service Identity) error {
	mismatches := []Mismatch{
		{"environment", m.Environment, environment},
		{"lineage", m.Lineage, lineage},
		{"base_url", m.Service.BaseURL, service.BaseURL},
		{"operator", m.Service.Operator, service.Operator},
		{"client_id", m.Service.ClientID, service.ClientID},
		{"token_url", m.Service.TokenPlace(), service.TokenPlace()},
		{"customer_id", m.Service.CustomerID, service.CustomerID},
	}
	mismatches = slices.DeleteFunc(mismatches, func(x Mismatch) bool {
		if x.Field == "token_url" && m.Service.TokenURL == service.TokenURL {
			return true // both that of base_url, which is compared
		}
		known := x.Have != "" && x.Want != ""
		return x.Have == x.Want || !known && (x.Field == "lineage" || x.Field == "customer_id")
	})
	if len(mismatches) > 0 {
		return &MismatchError{Mismatches: mismatches}
	}
	return nil
}
