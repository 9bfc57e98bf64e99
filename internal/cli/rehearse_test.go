package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"remit/internal/cli"
	"remit/internal/proof/suite"
)

// TestARehearsalIsWhatTheSandboxDoes draws configurations whose funds may not suffice, and
// compares what a rehearsal says of each transfer with what the sandbox then does with one in
// flight.
func TestARehearsalIsWhatTheSandboxDoes(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	suite.CheckSome(t, suite.Dose(0, 30, 100), func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		text := drawFunds(rt)
		if err := os.WriteFile(filepath.Join(dir, "main.hcl"), []byte(text), 0o600); err != nil {
			rt.Fatal(err)
		}
		want := make(map[string]string)
		lines := inProcess("apply", "--sandbox", "--rehearse", "--json", "--chdir="+dir)
		for _, line := range linesOf(rt, lines, "failure") {
			want[line.RefID] = "refused"
			if line.Cause != "" {
				want[line.RefID] = "not_attempted"
			}
		}
		got := make(map[string]string)
		lines = inProcess("apply", "--sandbox", "--auto-approve", "--json", "--parallelism=1", "--chdir="+dir)
		for _, line := range linesOf(rt, lines, "settled") {
			if line.Result != "recorded" {
				got[line.RefID] = line.Result
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatalf("the rehearsal and the sandbox differ (-rehearsal +sandbox):\n%s\nin\n%s", diff, text)
		}
	})
}

// drawFunds is a configuration of some profiles with little money, and transfers among them.
func drawFunds(t *rapid.T) string {
	var b strings.Builder
	b.WriteString("sandbox {\n")
	profiles := rapid.IntRange(2, 4).Draw(t, "profiles")
	for i := range profiles {
		fmt.Fprintf(&b, "  opening_balance {\n    profile_id = \"p%d\"\n    asset = \"USD\"\n    amount = \"%d\"\n  }\n", i, rapid.IntRange(0, 60).Draw(t, "opening"))
	}
	b.WriteString("}\n")
	count := rapid.IntRange(1, 8).Draw(t, "transfers")
	for i := range count {
		from := rapid.IntRange(0, profiles-1).Draw(t, "from")
		to := (from + rapid.IntRange(1, profiles-1).Draw(t, "to")) % profiles
		fmt.Fprintf(&b, "transfer \"internal\" \"t%d\" {\n  from_profile_id = \"p%d\"\n  to_profile_id = \"p%d\"\n  amount = \"%d.%02d\"\n  asset = \"USD\"\n",
			i, from, to, i+rapid.IntRange(1, 40).Draw(t, "amount"), i) // no two of them are alike
		if i > 0 {
			var names []string
			for _, n := range rapid.SliceOfNDistinct(rapid.IntRange(0, i-1), 0, 2, rapid.ID[int]).Draw(t, "after") {
				names = append(names, fmt.Sprintf("transfer.internal.t%d", n))
			}
			fmt.Fprintf(&b, "  depends_on = [%s]\n", strings.Join(names, ", "))
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// inProcess runs remit in this process, whatever its exit code.
func inProcess(args ...string) string {
	var stdout, stderr bytes.Buffer
	cli.Run(context.Background(), args, strings.NewReader(""), &stdout, &stderr, func(string) (string, bool) { return "", false })
	return stdout.String()
}

// lineOf is what the test reads of a line of --json.
type lineOf struct {
	Type, Result, Cause string
	RefID               string `json:"ref_id"`
}

func linesOf(t *rapid.T, text, kind string) []lineOf {
	var found []lineOf
	decoder := json.NewDecoder(strings.NewReader(text))
	for decoder.More() {
		var line lineOf
		if err := decoder.Decode(&line); err != nil {
			t.Fatal(err)
		}
		if line.Type == "error" {
			t.Fatal(text)
		}
		if line.Type == kind {
			found = append(found, line)
		}
	}
	return found
}
