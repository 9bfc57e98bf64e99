package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"remit/internal/cli"
)

// deceiving is text that a terminal, or an eye, would take for something else: it clears the screen, sets the title of
// the window, goes back to the begin of a line, turns the order of letters and hides some, and begins lines like remit's own.
const deceiving = "a\x1b[2J\x1b]0;title\x07b\rrecorded\bc\u202eelbisivni\u202c\u2066d\u2069\u200b\u061c\ufeff\u0085\u009b31m\u2028\nError: paid\n    remit apply\x7f\U000E0041"

// deceivingService answers each request to create in a way of its own, all of them with such text.
func deceivingService(t *testing.T) *httptest.Server {
	t.Helper()
	ways := map[string]func(http.ResponseWriter, map[string]any){
		"refused": func(w http.ResponseWriter, _ map[string]any) {
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusUnprocessableEntity)
			_ = json.NewEncoder(w).Encode(map[string]any{"type": deceiving, "title": deceiving, "status": 422, "detail": deceiving, "meta": map[string]any{deceiving: deceiving}})
		},
		"doubt": func(w http.ResponseWriter, _ map[string]any) {
			w.Header().Set("Content-Type", "text/plain")
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, deceiving+"\x9b\xff\xfe")
		},
		"recorded":   record(map[string]any{"group_id": deceiving, "customer_note": deceiving}),
		"pending":    record(map[string]any{"status": "PENDING" + deceiving, "group_id": "g-2"}),
		"unverified": record(map[string]any{"group_id": "", "fee": "0" + deceiving}),
		"conflict":   record(map[string]any{"amount": "7.00", "asset": deceiving, "metadata": map[string]string{deceiving: deceiving}, "type": deceiving}),
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked map[string]any
		switch {
		case r.URL.Path == "/oauth2/token":
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"access_token":"worth-nothing","token_type":"Bearer","expires_in":3600}`)
		case r.Method == http.MethodPost && json.NewDecoder(r.Body).Decode(&asked) == nil:
			ways[asked["ref_id"].(string)](w, asked)
		default:
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, deceiving)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

// record answers a record of the request, with some fields otherwise.
func record(otherwise map[string]any) func(http.ResponseWriter, map[string]any) {
	return func(w http.ResponseWriter, asked map[string]any) {
		now := time.Now().UTC().Format(time.RFC3339)
		fields := map[string]any{
			"id": "r-" + asked["ref_id"].(string), "customer_id": "c-1", "profile_id": asked["from_profile_id"], "amount": asked["amount"], "total": asked["amount"],
			"fee": "0", "asset": asked["asset"], "direction": "DEBIT", "type": "INTERNAL_TRANSFER_DEBIT", "status": "COMPLETED",
			"created_at": now, "updated_at": now, "ref_id": asked["ref_id"], "group_id": "g-" + asked["ref_id"].(string),
		}
		for name, value := range otherwise {
			fields[name] = value
		}
		_ = json.NewEncoder(w).Encode(fields)
	}
}

// answers are the names of transfers by their ends.
var answers = []string{"refused", "doubt", "recorded", "pending", "unverified", "conflict"}

// answeredBy is a directory with a transfer for each of answers, to be paid to a service, and a way to run commands there.
func answeredBy(t *testing.T, server *httptest.Server, secret string) (dir string, remit func(line string) (code int, stdout, stderr string)) {
	t.Helper()
	dir = t.TempDir()
	var transfers strings.Builder
	for i, refID := range answers {
		transfers.WriteString(rent(refID, "to-"+refID, fmt.Sprintf("%d.00", 10+i), ""))
	}
	writeFile(t, filepath.Join(dir, "main.hcl"), transfers.String())
	service := strings.Replace(forgeryService[:strings.Index(forgeryService, "\napproval")], "  client_id ", "  lookup_path   = \"/v2/transfers\"\n  precheck      = \"new\"\n  client_id ", 1)
	writeFile(t, filepath.Join(dir, "service.hcl"), service)
	remit = func(line string) (int, string, string) {
		env := map[string]string{"REMIT_VAR_base_url": server.URL, "REMIT_VAR_client_secret": secret, "CI": "1"}
		var stdout, stderr bytes.Buffer
		code := cli.Run(t.Context(), append(strings.Fields(line), "--chdir="+dir), strings.NewReader(""), &stdout, &stderr, func(name string) (string, bool) {
			value, ok := env[name]
			return value, ok
		})
		return code, stdout.String(), stderr.String()
	}
	if code, _, stderr := remit("init"); code != 0 {
		t.Fatal(stderr)
	}
	return dir, remit
}

// tellingCommands are an apply of answers, and every command that tells how they ended.
func tellingCommands() []string {
	month := time.Now().UTC().Format("2006-01")
	commands := []string{
		"apply --auto-approve --parallelism=6 --metrics-file=metrics.prom --json-into=run.jsonl",
		"status", "status --json", "plan", "plan --show=all", "plan --json", "plan --refresh",
		"state list", "state list --json", "state verify", "state verify --json", "show --run=latest", "show --run=latest --json",
		"refresh", "refresh --json", "report --month=" + month, "report --json --month=" + month,
		"audit log", "audit log --json", "graph", "graph --format=svg", "resolve --run=latest",
		"resolve conflict", "resolve unverified",
	}
	for _, refID := range answers {
		commands = append(commands, "state show "+refID, "state show --json "+refID, "audit log "+refID)
	}
	for _, format := range []string{"csv", "jsonl", "hledger", "beancount", "ledger", "pain002"} {
		commands = append(commands, "export --format="+format)
	}
	return commands
}

// TestNoCommandRepeatsDeceivingText has a service put such text into whatever it answers, and then every command that tells
// of it write no character that does anything but be seen, and no line that begins like remit's own.
func TestNoCommandRepeatsDeceivingText(t *testing.T) {
	dir, remit := answeredBy(t, deceivingService(t), "worth-nothing")
	repeated := 0
	for _, line := range tellingCommands() {
		code, stdout, stderr := remit(line)
		if code == 134 || strings.Contains(stderr, "unknown flag") || strings.Contains(stderr, "unknown command") {
			t.Errorf("remit %s: exit code %d\n%s", line, code, stderr)
		}
		for _, text := range []string{stdout, stderr} {
			if strings.Contains(text, "elbisivni") {
				repeated++
			}
			if at := deceives(text); at >= 0 {
				t.Errorf("remit %s writes %q", line, text[max(0, at-60):min(len(text), at+60)])
			}
		}
	}
	if repeated < 20 {
		t.Errorf("only %d outputs have text of the service", repeated)
	}
	for _, name := range []string{"metrics.prom", "run.jsonl"} {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if at := deceives(string(content)); at >= 0 {
			t.Errorf("%s has %q", name, content[max(0, at-60):])
		}
	}
}

// deceives is where text has a character that is not only seen, or a line that the service wrote; -1 for nowhere.
func deceives(text string) int {
	text = strings.ReplaceAll(text, "\r\n", "\n") // of CSV
	if !utf8.ValidString(text) {
		return 0
	}
	for at, r := range text {
		switch {
		case r == '\n':
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == '\u2028', r == '\u2029':
			return at
		}
	}
	return strings.Index(text, "\nError: paid")
}
