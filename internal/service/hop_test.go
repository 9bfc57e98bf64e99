package service_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"remit/internal/service"
)

// TestTheHopThatRefusedIsNamed has a token be refused by each hop on the way, which are told apart.
func TestTheHopThatRefusedIsNamed(t *testing.T) {
	refuse := func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "who are you?", http.StatusForbidden) }
	secure := func(t *testing.T, h http.HandlerFunc, demand tls.ClientAuthType) (address string, ca []byte) {
		s := httptest.NewUnstartedServer(h)
		s.TLS = &tls.Config{ClientAuth: demand}
		s.Config.ErrorLog = log.New(io.Discard, "", 0)
		s.StartTLS()
		t.Cleanup(s.Close)
		return s.URL, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	}
	closed := func(t *testing.T) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		return l.Addr().String()
	}
	tests := map[string]struct {
		options func(t *testing.T, o *service.Options)
		want    string
	}{
		"the proxy refuses the connection": {func(t *testing.T, o *service.Options) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusProxyAuthRequired) }))
			t.Cleanup(s.Close)
			o.TokenURL = "https://tokens.example/token"
			o.Proxy = func(*http.Request) (*url.URL, error) {
				return url.Parse(strings.Replace(s.URL, "//", "//user:proxy-password@", 1))
			}
		}, "the token endpoint cannot be reached: the proxy 127.0.0.1:"},
		"the proxy is down": {func(t *testing.T, o *service.Options) {
			at := closed(t)
			o.TokenURL = "https://tokens.example/token"
			o.Proxy = func(*http.Request) (*url.URL, error) { return &url.URL{Scheme: "http", Host: at}, nil }
		}, "the proxy that HTTPS_PROXY names cannot be reached: "},
		"the certificate of the endpoint is unknown": {func(t *testing.T, o *service.Options) {
			o.TokenURL, _ = secure(t, refuse, tls.NoClientCert)
		}, "its certificate is not trusted"},
		"the certificate of the endpoint has expired": {func(t *testing.T, o *service.Options) {
			o.TokenURL, o.CA = certified(t, func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Hour) })
		}, "Where the clock of this machine is right, whoever runs that server has to renew the certificate"},
		"the certificate of the endpoint is not valid yet": {func(t *testing.T, o *service.Options) {
			o.TokenURL, o.CA = certified(t, func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Hour) })
		}, "its certificate has expired or is not valid yet: current time "},
		"the certificate of the endpoint is another's": {func(t *testing.T, o *service.Options) {
			o.TokenURL, o.CA = certified(t, func(c *x509.Certificate) { c.IPAddresses = []net.IP{{10, 0, 0, 1}} })
		}, "its certificate is not trusted: x509: certificate is valid for 10.0.0.1, not 127.0.0.1"},
		"the endpoint wants a certificate": {func(t *testing.T, o *service.Options) {
			o.TokenURL, o.CA = secure(t, refuse, tls.RequireAnyClientCert)
		}, "it refused the TLS connection with the alert"},
		"the endpoint speaks no TLS": {func(t *testing.T, o *service.Options) {
			s := httptest.NewServer(http.HandlerFunc(refuse))
			t.Cleanup(s.Close)
			o.TokenURL = strings.Replace(s.URL, "http:", "https:", 1)
		}, "it does not speak TLS (https) at this port"},
		"nobody is there": {func(t *testing.T, o *service.Options) { o.TokenURL = "https://" + closed(t) + "/token" }, "refused"},
		"the endpoint": {func(t *testing.T, o *service.Options) {
			o.TokenURL, o.CA = secure(t, refuse, tls.NoClientCert)
		}, "the token endpoint answered 403 Forbidden: who are you?"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o := options("https://127.0.0.1:1", tokens(t))
			tt.options(t, &o)
			_, err := newClient(t, o).Ready(t.Context())
			if isUnknown := strings.Contains(name, "is unknown"); isUnknown != strings.Contains(fmt.Sprint(err), "ca_file names") {
				t.Errorf("%v: ca_file is the remedy of an unknown authority alone", err)
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "proxy-password") {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

// certified serves at an address with a certificate of its own making.
func certified(t *testing.T, change func(*x509.Certificate)) (address string, ca []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(2 * time.Hour),
		IPAddresses: []net.IP{{127, 0, 0, 1}},
	}
	change(c)
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.URL, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}
