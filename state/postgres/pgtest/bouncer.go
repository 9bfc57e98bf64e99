//go:build unix

package pgtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"remit/internal/proof/suite"
)

// Bouncer runs PgBouncer before the server until the test ends, with the given pool_mode, and
// returns its address. The program pgbouncer must be there.
func (s *Server) Bouncer(t *testing.T, mode string) string {
	t.Helper()
	port, err := suite.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("bouncer-%d", port) // several tests may have one of this mode at the same time
	users, config := filepath.Join(s.dir, name+".users"), filepath.Join(s.dir, name+".ini")
	for name, text := range map[string]string{
		users: fmt.Sprintf("\"postgres\" \"%s\"\n", Password),
		config: fmt.Sprintf("[databases]\n* = host=127.0.0.1 port=%d\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = %d\nunix_socket_dir =\n"+
			"auth_type = scram-sha-256\nauth_file = %s\npool_mode = %s\n", s.port, port, users, mode),
	} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := s.command("", config)
	if cmd.Path, err = exec.LookPath("pgbouncer"); err != nil {
		t.Fatal(err)
	}
	cmd.Args[0] = cmd.Path
	bouncer, err := start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { bouncer.stop(os.Kill) })
	address := fmt.Sprintf("127.0.0.1:%d", port)
	if err := bouncer.answers(strings.Replace(s.URL(), s.Address(), address, 1)); err != nil {
		t.Fatalf("start PgBouncer: %v", err)
	}
	return address
}
