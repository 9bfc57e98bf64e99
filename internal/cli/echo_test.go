package cli_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// echoForms are the ways in which a service writes a text into a string of JSON.
var echoForms = map[string]func(string) string{
	"as it is":                func(text string) string { return strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) },
	"with escapes of slashes": func(text string) string { return strings.ReplaceAll(text, "/", `\/`) },
	"in escapes":              func(text string) string { return eachByte(text, `\u%04x`) },
	"in JSON in JSON":         func(text string) string { return eachByte(text, `\\u%04x`) },
	"percent-encoded":         func(text string) string { return eachByte(text, "%%%02X") },
	"in base64":               func(text string) string { return base64.StdEncoding.EncodeToString([]byte("x" + text)) },
	"in hexadecimal digits":   func(text string) string { return hex.EncodeToString([]byte(text)) },
}

func eachByte(text, format string) string {
	var out strings.Builder
	for _, c := range []byte(text) {
		fmt.Fprintf(&out, format, c)
	}
	return out.String()
}

// TestNoCommandRepeatsASecretOfTheServicesAnswers has a service repeat the client's secret and its token in whatever it
// answers, plain or encoded: no command that tells of an answer prints either, and no file has one, in any form.
func TestNoCommandRepeatsASecretOfTheServicesAnswers(t *testing.T) {
	const secret, token = "sEcReT/of=clerk-4711", "tOkEn/of=clerk-0815+x"
	for form, write := range echoForms {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			echo := "before " + write(token) + " and " + write(secret) + " after"
			dir, remit := answeredBy(t, echoingService(t, token, echo), secret)
			kept := 0
			for _, line := range append(tellingCommands(), "plan --out=new.plan") {
				_, stdout, stderr := remit(line)
				tells(t, "remit "+line, stdout+stderr, token, secret)
				if strings.Contains(stdout+stderr, "before ") {
					kept++
				}
			}
			if kept < 10 {
				t.Errorf("only %d outputs have what the service wrote", kept)
			}
			err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
				if err != nil || entry.IsDir() {
					return err
				}
				content, err := os.ReadFile(path)
				tells(t, path, string(content), token, secret)
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// tells fails where text has one of the secrets, plain or encoded.
func tells(t *testing.T, what, text string, secrets ...string) {
	t.Helper()
	for _, secret := range secrets {
		for form, write := range echoForms {
			if written := write(secret); strings.Contains(text, written) {
				t.Errorf("%s tells a secret %s: %q", what, form, written)
			}
		}
	}
}

// echoingService answers each request to create in a way of its own, all of them with echo, which stands in strings of JSON.
func echoingService(t *testing.T, token, echo string) *httptest.Server {
	t.Helper()
	const mark = "THE-ECHO" // the echo's way, byte by byte
	ways := map[string]func(http.ResponseWriter, map[string]any){
		"refused": func(w http.ResponseWriter, _ map[string]any) {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusUnprocessableEntity)
			_, _ = io.WriteString(w, `{"type":"no","title":"THE-ECHO","status":422,"detail":"THE-ECHO","meta":{"THE-ECHO":"THE-ECHO"}}`)
		},
		"doubt": func(w http.ResponseWriter, _ map[string]any) {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, mark)
		},
		"recorded":   record(map[string]any{"customer_note": mark}),
		"pending":    record(map[string]any{"status": "PENDING", "status_details": mark, "secondary_status": mark}),
		"unverified": record(map[string]any{"group_id": "", "customer_note": mark}),
		"conflict":   record(map[string]any{"amount": "7.00", "metadata": map[string]string{"note": mark}}),
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked map[string]any
		if r.URL.Path == "/oauth2/token" {
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": 3600})
			return
		}
		answer := httptest.NewRecorder()
		if r.Method == http.MethodPost && json.NewDecoder(r.Body).Decode(&asked) == nil {
			ways[asked["ref_id"].(string)](answer, asked)
		} else {
			answer.WriteHeader(http.StatusForbidden)
			_, _ = answer.WriteString(mark)
		}
		w.Header().Set("Content-Type", answer.Header().Get("Content-Type"))
		w.WriteHeader(answer.Code)
		_, _ = w.Write(bytes.ReplaceAll(answer.Body.Bytes(), []byte(mark), []byte(echo)))
	}))
	t.Cleanup(server.Close)
	return server
}
