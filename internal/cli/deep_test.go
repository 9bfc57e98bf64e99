package cli_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestADeepAnswerLeavesTheStateReadable has a service answer records, and a problem, whose fields are nested ever deeper. The
// journal has an answer two levels deeper than it came, and what reads JSON ends at 10,000: whatever is kept of an answer is read
// again, by every command.
func TestADeepAnswerLeavesTheStateReadable(t *testing.T) {
	t.Parallel()
	for _, depth := range []int{100, 9_000, 9_996, 9_997, 9_998, 9_999, 10_000} {
		t.Run(fmt.Sprint(depth), func(t *testing.T) {
			t.Parallel()
			deep := json.RawMessage(strings.Repeat("[", depth) + strings.Repeat("]", depth))
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var asked map[string]any
				switch {
				case r.URL.Path == "/oauth2/token":
					w.Header().Set("Content-Type", "application/json")
					_, _ = io.WriteString(w, `{"access_token":"worth-nothing","token_type":"Bearer","expires_in":3600}`)
				case r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&asked) != nil:
					w.WriteHeader(http.StatusForbidden)
				case asked["ref_id"] == "refused":
					w.Header().Set("Content-Type", "application/problem+json")
					w.WriteHeader(http.StatusUnprocessableEntity)
					_, _ = fmt.Fprintf(w, `{"title":"no","status":422,"meta":{"existing":%s}}`, deep)
				case asked["ref_id"] == "unverified":
					record(map[string]any{"group_id": "", "x": deep})(w, asked)
				default:
					record(map[string]any{"x": deep})(w, asked)
				}
			}))
			t.Cleanup(server.Close)
			_, remit := answeredBy(t, server, "worth-nothing")
			remit("apply --auto-approve")
			for _, line := range []string{
				"state verify", "state export", "state list", "state show recorded --json", "state show refused --json", "audit log --json",
				"status --json", "plan --json", "show --run=latest --json", "export --format=jsonl", "report --month=2026-11 --json",
			} {
				if _, stdout, stderr := remit(line); strings.Contains(stdout+stderr, "damaged") || strings.Contains(stdout+stderr, "depth") {
					t.Errorf("remit %s: %.300s", line, stderr)
				}
			}
		})
	}
}
