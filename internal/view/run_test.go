package view_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/executor"
	"remit/internal/transfer"
	"remit/internal/view"
	"remit/state"
)

// A Run and a JSON are handlers of a run's events.
var (
	_ executor.Handler = (*view.Run)(nil)
	_ executor.Handler = (*view.JSON)(nil)
)

// readEvents reads the recorded events of testdata/run.
func readEvents(t *testing.T) []executor.Event {
	t.Helper()
	raw, err := os.ReadFile("testdata/run/small.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return decodeEvents(t, raw)
}

// decodeEvents reads events from JSON Lines, the version apart.
func decodeEvents(t *testing.T, raw []byte) []executor.Event {
	t.Helper()
	var events []executor.Event
	for lines := bufio.NewScanner(bytes.NewReader(raw)); lines.Scan(); {
		var e executor.Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		if e.Type != "version" {
			events = append(events, e)
		}
	}
	return events
}

// showRun handles events and returns the text on out and on err.
func showRun(t *testing.T, events []executor.Event, s view.Screen) (string, string) {
	t.Helper()
	var out, err bytes.Buffer
	run := view.NewRun(&out, &err, view.RunOptions{Screen: s, Piped: !s.Terminal})
	for _, e := range events {
		run.Handle(e)
	}
	if e := run.Close(); e != nil {
		t.Fatal(e)
	}
	return out.String(), err.String()
}

func TestRunInAPipe(t *testing.T) {
	out, err := showRun(t, readEvents(t), view.Screen{})
	golden(t, "run/small.out.txt", []byte(out))
	golden(t, "run/small.err.txt", []byte(err))
	checkShown(t, out+err)
}

func TestRunOnATerminal(t *testing.T) {
	out, err := showRun(t, readEvents(t), view.Screen{Width: 100, Terminal: true})
	if out != "" {
		t.Errorf("on stdout: %q", out)
	}
	golden(t, "run/small.terminal.txt", []byte(err))
}

// settled is a run of n transfers, one recorded every step, but every hundredth refused.
func settled(n int, step time.Duration) []executor.Event {
	begun := time.Date(2026, 11, 27, 14, 0, 0, 0, time.UTC)
	events := []executor.Event{{Time: begun, Type: executor.EventBegun, Total: n}}
	for i := range n {
		e := executor.Event{
			Time: begun.Add(time.Duration(i+1) * step), Type: executor.EventSettled, Result: executor.ResultRecorded,
			RefID: fmt.Sprintf("pay-%d", i), Amount: transfer.MustAmount("1.00"), Asset: "USD",
		}
		if i%100 == 0 {
			e.Result, e.Reason = executor.ResultRefused, "insufficient funds"
		}
		events = append(events, e)
	}
	return events
}

func TestLongRunInAPipeTellsProgressAndExceptions(t *testing.T) {
	out, err := showRun(t, settled(1000, 50*time.Millisecond), view.Screen{})
	if got := strings.Count(out, "refused"); got != 10 {
		t.Errorf("%d refused, want 10:\n%s", got, out)
	}
	if strings.Contains(out, "recorded") {
		t.Error("a long run lists what went well")
	}
	want := `settled: 20 of 1000, 20/s, 49s left, 1 refused
settled: 220 of 1000, 20/s, 39s left, 3 refused
settled: 420 of 1000, 20/s, 29s left, 5 refused
settled: 620 of 1000, 20/s, 19s left, 7 refused
settled: 820 of 1000, 20/s, 9s left, 9 refused
`
	if diff := cmp.Diff(want, err); diff != "" {
		t.Error(diff)
	}
}

func TestProgressBarTellsCountRateAndTimeLeft(t *testing.T) {
	events := settled(1000, 50*time.Millisecond)
	_, err := showRun(t, events, view.Screen{Width: 100, Terminal: true})
	for _, want := range []string{"  50% [", "501 of 1000, 20/s, 25s left, 6 refused"} {
		if !strings.Contains(err, want) {
			t.Errorf("%q is not in %.2000q", want, err)
		}
	}
	if !strings.HasSuffix(err, "\x1b[2K\r") {
		t.Errorf("the bar stays: %q", err[len(err)-80:])
	}
}

func TestEventsForProgramsAreLossless(t *testing.T) {
	events := readEvents(t)
	var b bytes.Buffer
	j := view.NewJSON(&b, "0.1.0")
	for _, e := range events {
		j.Handle(e)
	}
	if err := j.Err(); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "\u202e") {
		t.Error("a hidden character is in the lines")
	}
	if diff := cmp.Diff(events, decodeEvents(t, b.Bytes()), sameJSON(), cmp.Comparer(transfer.Amount.Equal)); diff != "" {
		t.Error(diff)
	}
}

// sameJSON compares raw JSON by what it means.
func sameJSON() cmp.Option {
	return cmp.Transformer("JSON", func(raw json.RawMessage) any {
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			return err.Error()
		}
		return v
	})
}

// summary is the end of the run of testdata/run/small.jsonl.
func summary(t *testing.T) (executor.Summary, transfer.Totals) {
	t.Helper()
	s := executor.Summary{
		RunID: "5f2c1a90-93b1-4c7e-8a46-c9e0d4f2b7aa", Totals: make(map[executor.Result]*transfer.Totals),
		Interrupted: true, Stopped: "interrupted", Head: strings.Repeat("9c1f", 16),
	}
	var planned transfer.Totals
	for _, e := range readEvents(t) {
		if e.Type != executor.EventSettled {
			continue
		}
		if s.Totals[e.Result] == nil {
			s.Totals[e.Result] = new(transfer.Totals)
		}
		s.Totals[e.Result].Add(e.Asset, e.Amount)
		planned.Add(e.Asset, e.Amount)
		if e.Result != executor.ResultRecorded && e.Result != executor.ResultAdopted {
			s.Exceptions = append(s.Exceptions, e)
		}
	}
	return s, planned
}

func TestSummary(t *testing.T) {
	interrupted, planned := summary(t)
	complete := executor.Summary{
		RunID: "r2", Complete: true, Head: strings.Repeat("ab", 32),
		Totals: map[executor.Result]*transfer.Totals{executor.ResultRecorded: new(transfer.Totals)},
	}
	complete.Totals[executor.ResultRecorded].Add("USD", transfer.MustAmount("8200.00"))
	complete.Totals[executor.ResultRecorded].Add("BTC", transfer.MustAmount("0.5"))
	refusals := complete
	refusals.Complete, refusals.Stopped = false, "the service answered 401 twice"
	refusals.Totals = map[executor.Result]*transfer.Totals{executor.ResultRefused: new(transfer.Totals)}
	for i := range 1200 {
		e := executor.Event{Result: executor.ResultRefused, RefID: fmt.Sprintf("pay-%d", i), Amount: transfer.MustAmount("1.00"), Asset: "USD", Reason: "401"}
		refusals.Totals[e.Result].Add(e.Asset, e.Amount)
		if i < 1000 {
			refusals.Exceptions = append(refusals.Exceptions, e)
		}
	}
	together := complete
	together.Runners = []state.Runner{
		{Number: 1, User: "clerk", Host: "pay-1", PID: 411, Settled: 1},
		{Number: 2, User: "clerk", Host: "pay-2", PID: 97, Settled: 1, Lost: true},
	}
	left := interrupted
	left.Left = true
	tests := map[string]struct {
		summary executor.Summary
		options view.SummaryOptions
	}{
		"together":    {together, view.SummaryOptions{}},
		"left":        {left, view.SummaryOptions{Planned: planned}},
		"interrupted": {interrupted, view.SummaryOptions{Planned: planned, Next: "remit apply"}},
		"complete":    {complete, view.SummaryOptions{Planned: *complete.Totals[executor.ResultRecorded]}},
		"refusals":    {refusals, view.SummaryOptions{Next: "remit plan"}},
	}
	for name, test := range tests {
		for ending, screen := range screens() {
			t.Run(name+" at "+ending, func(t *testing.T) {
				test.options.Screen = screen
				var b bytes.Buffer
				if err := view.Summary(&b, test.summary, test.options); err != nil {
					t.Fatal(err)
				}
				golden(t, "run/"+name+"."+ending, b.Bytes())
			})
		}
	}
	t.Run("for programs", func(t *testing.T) {
		var b bytes.Buffer
		j := view.NewJSON(&b, "0.1.0")
		for _, name := range []string{"interrupted", "complete"} {
			if err := j.Summary(tests[name].summary, tests[name].options); err != nil {
				t.Fatal(err)
			}
		}
		golden(t, "run/summary.jsonl", b.Bytes())
	})
}
