package cli_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"remit/internal/cli"
)

// TestTracesNameNoAmount sends the trace of an apply to a collector: the run and each request with
// its ref_id, and neither an amount nor who was paid.
func TestTracesNameNoAmount(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var sent strings.Builder
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		sent.Write(body)
	}))
	defer collector.Close()
	code, stderr := applyWith(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": collector.URL, "OTEL_EXPORTER_OTLP_TIMEOUT": "10000", "REMIT_VAR_secret": "swordfish"})
	if code != 0 || stderr != "" {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	for _, want := range []string{
		`"name":"remit apply"`, `"name":"POST /v2/transfer/platform"`, `"name":"POST /oauth2/token"`, `{"key":"remit.ref_id","value":{"stringValue":"rent-2026-11"}}`,
		`{"key":"remit.exit_code","value":{"intValue":"0"}}`, `{"key":"remit.environment","value":{"stringValue":"sandbox"}}`, `{"key":"http.response.status_code","value":{"intValue":"201"}}`,
	} {
		if !strings.Contains(sent.String(), want) {
			t.Errorf("the trace has no %s:\n%s", want, &sent)
		}
	}
	// The digits of an amount may be in the nanoseconds of a time, or in what was drawn for an ID.
	told := regexp.MustCompile(`"(startTimeUnixNano|endTimeUnixNano|traceId|spanId|parentSpanId)":"[0-9a-f]*"|\{"key":"remit\.run_id",[^}]*\}\}`).ReplaceAllString(sent.String(), "")
	for _, secret := range []string{"8200", "37867177-f88c", "swordfish", "Bearer"} {
		if strings.Contains(told, secret) {
			t.Errorf("the trace has %s:\n%s", secret, told)
		}
	}
}

// TestNoTraceIsNoFailure pays all the same where a collector is gone or the environment nonsense.
func TestNoTraceIsNoFailure(t *testing.T) {
	t.Parallel()
	for endpoint, want := range map[string]string{
		"http://127.0.0.1:1": "Warning: the trace of this run is not whole: ",
		"nonsense":           "Warning: no trace is sent: OTEL_EXPORTER_OTLP_ENDPOINT is no http",
	} {
		if code, stderr := applyWith(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint}); code != 0 || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d: %s", endpoint, code, stderr)
		}
	}
}

func applyWith(t *testing.T, variables map[string]string) (code int, stderr string) {
	t.Helper()
	dir := t.TempDir()
	copyExample(t, "../../examples/quickstart", dir)
	var out, errs bytes.Buffer
	code = cli.RunAt(t.Context(), time.Now, []string{"apply", "--sandbox", "--auto-approve", "--chdir=" + dir}, strings.NewReader(""), &out, &errs,
		func(name string) (string, bool) { value, ok := variables[name]; return value, ok })
	return code, errs.String()
}
