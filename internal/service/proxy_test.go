package service_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"remit/executor"
	"remit/internal/service"
)

func TestCheckProxy(t *testing.T) {
	tests := map[string]struct {
		name, value string
		good        bool
	}{
		"a proxy":                     {"HTTPS_PROXY", "http://proxy.example.com:8080", true},
		"with a password":             {"https_proxy", "https://user:secret@proxy.example.com", true},
		"a host and a port":           {"HTTPS_PROXY", "proxy.example.com:8080", true},
		"a host alone":                {"HTTP_PROXY", "proxy", true},
		"of SOCKS":                    {"HTTPS_PROXY", "socks5h://[::1]:1080", true},
		"nothing":                     {"HTTPS_PROXY", "", true},
		"a variable that isn't read":  {"FTP_PROXY", "::bad", true},
		"no address":                  {"HTTPS_PROXY", "::bad", false},
		"a password that isn't coded": {"HTTPS_PROXY", "http://u:secret%zz@h", false},
		"the same without a scheme":   {"http_proxy", "u:secret%zz@h", false},
		"a port that is no number":    {"HTTP_PROXY", "http://h:secret", false},
		"a space before it":           {"https_proxy", " http://h:8080", false},
		"a space":                     {"HTTPS_PROXY", " ", false},
		"no host":                     {"HTTPS_PROXY", "http://", false},
		"no host before the port":     {"HTTPS_PROXY", "http://:8080", false},
		"a scheme that isn't spoken":  {"HTTPS_PROXY", "ftp://h", false},
		"a scheme twice":              {"HTTPS_PROXY", "http://http://u:secret@h", false},
		"one slash":                   {"HTTPS_PROXY", "http:/proxy:8080", false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			err := service.CheckProxy(func(name string) string {
				if name == tt.name {
					return tt.value
				}
				return ""
			})
			if (err == nil) != tt.good {
				t.Fatalf("error %v", err)
			}
			if err != nil && (!strings.HasPrefix(err.Error(), tt.name+" is set") || strings.Contains(err.Error(), "secret")) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// TestAProxyIsNamed asks through a proxy that lets nothing through, and one that is not there.
func TestAProxyIsNamed(t *testing.T) {
	through := func(o *service.Options) {
		o.BaseURL, o.TokenURL = "https://api.example.com", "http://127.0.0.1:1/oauth2/token"
		o.Proxy = func(*http.Request) (*url.URL, error) { return url.Parse("http://127.0.0.1:2") }
	}
	t.Run("that refuses", func(t *testing.T) {
		w := &world{serve: func(conn net.Conn) {
			defer conn.Close()
			if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
				_, _ = io.WriteString(conn, "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
			}
		}}
		w.in(t, func(t *testing.T, c *service.Client) {
			got := c.Submit(t.Context(), path, []byte(request))
			if got.Kind != executor.Unwritten || !strings.Contains(got.Reason, "the proxy 127.0.0.1:2 refused the connection with 407 Proxy Authentication Required") {
				t.Errorf("%+v", got)
			}
		}, through)
	})
	t.Run("that is away", func(t *testing.T) {
		w := &world{dial: func(context.Context) (net.Conn, error) { return nil, errors.New("connection refused") }}
		w.in(t, func(t *testing.T, c *service.Client) {
			got := c.Submit(t.Context(), path, []byte(request))
			if got.Kind != executor.Unwritten || !strings.Contains(got.Reason, "the proxy that HTTPS_PROXY names cannot be reached: connection refused") {
				t.Errorf("%+v", got)
			}
		}, through)
	})
}
