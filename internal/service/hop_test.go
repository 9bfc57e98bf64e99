package service_test

import (
	"crypto/tls"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

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
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "proxy-password") {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}
