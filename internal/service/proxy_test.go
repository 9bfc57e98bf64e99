package service_test

import (
	"strings"
	"testing"

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
