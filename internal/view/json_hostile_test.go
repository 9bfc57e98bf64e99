package view_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"remit/executor"
	"remit/internal/transfer"
	"remit/internal/view"
	"remit/state"
)

// everyLine writes text in every place of every line for programs.
func everyLine(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	j := view.NewJSON(&b, text)
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	plan := hostilePlan(text)
	check(j.Plan(plan, view.PlanOptions{ShowAll: true, Approvals: []view.Approval{hostileApproval(text)}}))
	event := executor.Event{RefID: text, Group: text, Reason: text, Next: text, Asset: text, Amount: transfer.MustAmount("1.00")}
	j.Handle(event)
	check(j.Summary(executor.Summary{RunID: text, Stopped: text, Head: text, Exceptions: []executor.Event{event}}, view.SummaryOptions{Next: text}))
	raw, err := json.Marshal(text)
	check(err)
	detail := state.Detail{
		Transfer: state.Transfer{RefID: text, Status: state.Conflict, Asset: text, GroupID: text, RecordID: text, RunID: text},
		Intent:   state.Intent{Path: text, Body: string(raw), Address: text, Place: text, Batch: text},
		Outcome:  &state.Outcome{Status: state.Conflict, Reason: text, Problem: raw, Records: []json.RawMessage{raw}},
	}
	check(j.StateList(rows([]state.Detail{detail}, nil), view.StateListOptions{}))
	check(j.StateShow(detail, view.StateShowOptions{Doubt: text, Next: text}))
	check(j.Error(errors.New(text), text))
	return b.String()
}

// A line for programs is JSON that a terminal shows as it is, whatever text it has.
func checkLines(t *testing.T, lines string) {
	t.Helper()
	checkShown(t, lines)
	for line := range strings.Lines(lines) {
		if !json.Valid([]byte(line)) {
			t.Errorf("no JSON: %q", line)
		}
	}
}

func TestLettersThatPoseAsOthersForPrograms(t *testing.T) {
	const text = "\u0410lice, Иван"
	lines := everyLine(t, text)
	checkLines(t, lines)
	if strings.Contains(lines, "\u0410") || !strings.Contains(lines, `\u0410lice, Иван`) {
		t.Errorf("the letter is hidden: %.300s", lines)
	}
	var header struct{ Environment string }
	line, _, _ := strings.Cut(lines[strings.Index(lines, "\n")+1:], "\n")
	if err := json.Unmarshal([]byte(line), &header); err != nil || header.Environment != text {
		t.Errorf("%q came back as %q (%v)", text, header.Environment, err)
	}
}

func FuzzLines(f *testing.F) {
	f.Add(hostile)
	f.Add("\u0410lice \\u0410 \\n\U0001d400")
	f.Fuzz(func(t *testing.T, text string) {
		if utf8.ValidString(text) { // a request is, and its body is written as it is
			checkLines(t, everyLine(t, text))
		}
	})
}
