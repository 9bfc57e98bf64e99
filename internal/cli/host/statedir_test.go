//go:build unix

package host_test

import (
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"testing"

	"remit/internal/cli/host"
)

// TestStateDir looks for the directory in which programs of a user keep what they have seen.
func TestStateDir(t *testing.T) {
	account, err := user.Current()
	if err != nil {
		t.Skip(err)
	}
	own := filepath.Join(account.HomeDir, ".local", "state", "remit")
	for name, c := range map[string]struct {
		env  map[string]string
		want string
	}{
		"a unit of systemd":     {map[string]string{"STATE_DIRECTORY": "/var/lib/remit/pay:/other", "HOME": "/"}, "/var/lib/remit/pay/remit /other/remit /.local/state/remit"},
		"XDG":                   {map[string]string{"XDG_STATE_HOME": "/state", "HOME": "/home/no-clerk"}, "/state/remit /home/no-clerk/.local/state/remit"},
		"a home":                {map[string]string{"HOME": "/home/no-clerk"}, "/home/no-clerk/.local/state/remit"},
		"nothing at all":        {nil, own},
		"not an absolute path":  {map[string]string{"XDG_STATE_HOME": "here"}, own},
		"a home that is no one": {map[string]string{"HOME": "~"}, ""},
	} {
		h := &host.Host{Environ: os.Environ, LookupEnv: func(name string) (string, bool) { value, isSet := c.env[name]; return value, isSet }}
		var kept []string
		for _, dir := range h.StateDirs() {
			if dir.IsKept {
				kept = append(kept, dir.Path())
			}
		}
		if got := strings.Join(kept, " "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
