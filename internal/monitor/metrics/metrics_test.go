package metrics_test

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/executor"
	"remit/internal/monitor/metrics"
	"remit/internal/transfer"
	"remit/state"
)

func write(t *testing.T, r metrics.Run, before metrics.Past) string {
	t.Helper()
	var b bytes.Buffer
	if err := metrics.Write(&b, r, before); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func ran(code int, paid ...string) metrics.Run {
	totals := new(transfer.Totals)
	for _, amount := range paid {
		totals.Add("USD", transfer.MustAmount(amount))
	}
	began := time.UnixMilli(1_793_588_400_250)
	return metrics.Run{
		Environment: "production", Directory: "payments", Began: began, Ended: began.Add(1500 * time.Millisecond), ExitCode: code,
		Summary: &executor.Summary{Totals: map[executor.Result]*transfer.Totals{executor.ResultRecorded: totals}},
	}
}

func TestWhatIsCountedOverRunsIsKept(t *testing.T) {
	past := metrics.Past{}
	for _, r := range []metrics.Run{ran(0, "10.50", "3"), ran(4), ran(143), ran(1), ran(4, "0.000000000000000001")} {
		var err error
		if past, err = metrics.Read(strings.NewReader(write(t, r, past))); err != nil {
			t.Fatal(err)
		}
	}
	want := metrics.Past{
		Environment: "production", Directory: "payments", Success: 1_793_588_401_750,
		Runs:      map[int]int64{0: 1, 1: 1, 3: 0, 4: 2, 5: 0, 129: 0, 130: 0, 143: 1},
		Transfers: map[executor.Result]int64{},
	}
	for _, result := range executor.Results() {
		want.Transfers[result] = 0
	}
	want.Transfers[executor.ResultRecorded] = 3
	if diff := cmp.Diff(want, past); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAmountsAreExact(t *testing.T) {
	text := write(t, ran(0, "90071992547409931.10", "0.000000000000000001"), metrics.Past{})
	if want := `asset="USD"} 90071992547409931.100000000000000001` + "\n"; !strings.Contains(text, want) {
		t.Errorf("the file does not have %q:\n%s", want, text)
	}
}

func TestAnotherDirectorysFileIsSeen(t *testing.T) {
	past := metrics.Past{Environment: "production", Directory: "payments"}
	for name, c := range map[string]struct {
		environment, directory string
		want                   bool
	}{
		"the same":                      {"production", "payments", false},
		"another environment":           {"sandbox", "payments", true},
		"another directory":             {"production", "payroll", true},
		"an environment nobody can say": {"", "payments", false},
	} {
		if got := past.Other(metrics.Run{Environment: c.environment, Directory: c.directory}); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if (metrics.Past{}).Other(ran(0)) {
		t.Error("no file is another's")
	}
}

// TestDocs holds the metrics of operations.md, and those that alerts are about, against those that
// are written.
func TestDocs(t *testing.T) {
	r := ran(0, "1")
	now := time.Now()
	r.State = &metrics.StateCounts{OldestInDoubt: now, OldestPending: now}
	name := regexp.MustCompile(`remit_[a-z_]+`)
	var written []string
	for line := range strings.Lines(write(t, r, metrics.Past{})) {
		if strings.HasPrefix(line, "# TYPE ") {
			written = append(written, name.FindString(line))
		}
	}
	slices.Sort(written)
	doc, err := os.ReadFile("../../../docs/monitoring.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for line := range strings.Lines(string(doc)) {
		if cells := strings.Split(line, "|"); strings.HasPrefix(line, "| `remit_") {
			listed = append(listed, name.FindAllString(cells[1], -1)...)
		}
	}
	slices.Sort(listed)
	if diff := cmp.Diff(written, listed); diff != "" {
		t.Errorf("monitoring.md lists others (-written +listed):\n%s", diff)
	}
	alerts, err := os.ReadFile("../../../docs/recipes/remit-alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(alerts)) {
		if !strings.Contains(line, "expr:") {
			continue
		}
		for _, of := range name.FindAllString(line, -1) {
			if !slices.Contains(written, of) {
				t.Errorf("an alert is about %s, which nothing writes", of)
			}
		}
	}
}

// FuzzRead reads anything, and reads files with any names as they were written.
func FuzzRead(f *testing.F) {
	f.Add("remit_runs_total{exit_code=\"0\"} 1\n", "production", `pay"ments\`)
	f.Add("x{", "a\nb", "\xff}")
	f.Fuzz(func(t *testing.T, text, environment, directory string) {
		_, _ = metrics.Read(strings.NewReader(text)) // it must only not panic
		r := ran(3, "2")
		r.Environment, r.Directory = environment, directory
		r.State = &metrics.StateCounts{Count: map[state.Status]int{state.Recorded: 1}}
		past, err := metrics.Read(strings.NewReader(write(t, r, metrics.Past{})))
		if err != nil {
			t.Fatal(err)
		}
		want := strings.ToValidUTF8(environment, "\uFFFD")
		if past.Environment != want || past.Runs[3] != 1 {
			t.Errorf("%+v, not the environment %q", past, want)
		}
	})
}
