package cli_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"remit/internal/cli"
	"remit/internal/sandbox"
	"remit/internal/transfer"
)

var libertyRows = flag.Int("liberties.rows", 400, "transfers that are paid to a service that takes every liberty of its document")

// TestAServiceThatTakesEveryLiberty pays a service whose lookups are half a minute late besides: each transfer is
// made once, and what the service has is what the state has.
func TestAServiceThatTakesEveryLiberty(t *testing.T) {
	var late atomic.Int64 // how far the service's clock is ahead
	faults, err := sandbox.ParseFaults("liberties", "late=30s")
	if err != nil {
		t.Fatal(err)
	}
	box, err := sandbox.Open(t.Context(), sandbox.Options{
		Faults: faults, Now: func() time.Time { return time.Now().Add(time.Duration(late.Load())) },
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(box.ServeHTTP))
	t.Cleanup(func() {
		server.Close()
		_ = box.Close()
	})
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "main.hcl"), libertyDeclaration(server.URL))
	var rows strings.Builder
	rows.WriteString("key,amount\n")
	for i := range *libertyRows {
		fmt.Fprintf(&rows, "%s-%06d,%s\n", strings.Repeat("k", 70), i, []string{"0.50", "0.05", "10.00", "1.20"}[i%4])
	}
	writeFile(t, filepath.Join(dir, "rows.csv"), rows.String())
	remit := func(args ...string) string {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if code := cli.Run(context.Background(), append(args, "--chdir="+dir), strings.NewReader(""), &stdout, &stderr, func(string) (string, bool) { return "", false }); code != 0 {
			t.Fatalf("remit %v: exit code %d\n%s%s", args, code, &stdout, &stderr)
		}
		return stdout.String()
	}
	remit("init")
	remit("apply", "--auto-approve")
	late.Store(int64(31 * time.Second)) // the made transfers are listed now
	said := remit("reconcile")
	if !strings.Contains(said, "not matched") || strings.Contains(said, "in doubt") {
		t.Errorf("remit reconcile said:\n%s", said)
	}
	remit("plan", "--detailed-exitcode")

	paid := make(map[string]int)
	for record, err := range box.Ledger(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if record.Direction == transfer.Debit {
			paid[record.RefID]++
		}
	}
	for refID, times := range paid {
		if times > 1 {
			t.Errorf("%s was paid %d times", refID, times)
		}
	}
	if len(paid) != *libertyRows {
		t.Errorf("the service made %d transfers, want %d", len(paid), *libertyRows)
	}
}

func libertyDeclaration(url string) string {
	return fmt.Sprintf(`
service {
  base_url      = %[1]q
  token_url     = "%[1]s%[2]s"
  client_id     = %[3]q
  client_secret = %[4]q
  lookup_path   = "/v2/transfers"
}
data "csv" "rows" {
  file = "rows.csv"
  key  = "key"
}
transfer "internal" "pay" {
  for_each         = data.csv.rows.rows
  ref_id           = "liberties-${each.key}"
  from_profile_id  = "treasury"
  to_profile_id    = "kitchen"
  amount           = each.value.amount
  asset            = "USD"
  duplicate_within = "0"
  metadata         = { employee = each.key, note = "" }
}
`, url, sandbox.TokenPath, sandbox.DefaultClientID, sandbox.DefaultClientSecret)
}
