package cli_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"remit/internal/proof/scripts"
)

// TestWhatAServiceSendsUnaskedIsNotShown has a service send more than its answers, which net/http
// would print: it is untrusted text, and may hold a secret.
func TestWhatAServiceSendsUnaskedIsNotShown(t *testing.T) {
	t.Parallel()
	const unasked = "token-of-somebody-else"
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				in := bufio.NewReader(conn)
				for {
					request, err := http.ReadRequest(in)
					if err != nil {
						return
					}
					_, _ = io.Copy(io.Discard, request.Body)
					body, status := `{"title":"no"}`, "400 Bad Request"
					if strings.HasSuffix(request.URL.Path, "/token") {
						body, status = `{"access_token":"t","token_type":"Bearer","expires_in":3600}`, "200 OK"
					}
					_, _ = fmt.Fprintf(conn, "HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s%s", status, len(body), body, unasked)
				}
			}()
		}
	}()
	dir := t.TempDir()
	text := fmt.Sprintf(`
service {
  base_url      = "http://%[1]s"
  token_url     = "http://%[1]s/token"
  client_id     = "finance"
  client_secret = "worth-nothing"
  lookup_path   = "/v2/transfers"
}

transfer "platform" "rent" {
  from_profile_id = "treasury"
  to_profile_id   = "landlord"
  amount          = "10.00"
  asset           = "USD"
}
`, listener.Addr())
	if err := os.WriteFile(filepath.Join(dir, "main.hcl"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init"}, {"apply", "--auto-approve"}} {
		var stderr bytes.Buffer
		command := exec.Command(scripts.Program.Build(t), args...)
		command.Dir, command.Stderr = dir, &stderr
		_ = command.Run() // the transfer is refused
		if strings.Contains(stderr.String(), "nsolicited") || strings.Contains(stderr.String(), unasked) {
			t.Errorf("remit %s prints what nobody asked for:\n%s", args[0], &stderr)
		}
	}
}
