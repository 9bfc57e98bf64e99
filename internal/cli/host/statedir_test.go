//go:build unix

package host_test

import (
	"testing"

	"remit/internal/cli/host"
)

// TestStateDir looks for the directory in which programs of a user keep what they have seen.
func TestStateDir(t *testing.T) {
	for name, c := range map[string]struct {
		env  map[string]string
		want string
	}{
		"a unit of systemd":     {map[string]string{"STATE_DIRECTORY": "/var/lib/remit/pay:/other", "HOME": "/root"}, "/var/lib/remit/pay/remit"},
		"XDG":                   {map[string]string{"XDG_STATE_HOME": "/state", "HOME": "/root"}, "/state/remit"},
		"a home":                {map[string]string{"HOME": "/home/clerk"}, "/home/clerk/.local/state/remit"},
		"nothing, as in cron":   {nil, ""},
		"not an absolute path":  {map[string]string{"XDG_STATE_HOME": "here"}, ""},
		"a home that is no one": {map[string]string{"HOME": "~"}, ""},
	} {
		h := &host.Host{LookupEnv: func(name string) (string, bool) { value, isSet := c.env[name]; return value, isSet }}
		if got := h.StateDir(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
