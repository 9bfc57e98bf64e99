package view_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"

	"remit/config"
	"remit/executor"
	"remit/internal/transfer"
	"remit/internal/view"
	"remit/planner"
	"remit/state"
)

// hostilePlan has text in every field that takes any.
func hostilePlan(text string) *planner.Plan {
	request := transfer.Request{
		Operation: transfer.Operation(text), RefID: text, Amount: transfer.MustAmount("1.00"), Asset: text,
		FromProfileID: text, FromIdentityID: text, FromAccountID: text, ToProfileID: text + text, ToIdentityID: text, ToAccountID: text,
	}
	recorded := &planner.Recorded{
		Status: state.Recorded, RecordStatus: transfer.RecordStatus(text), GroupID: text, RecordID: text, RunID: text,
		Address: text, Place: text, Reason: text, Path: text, Body: text,
	}
	f := fixture{Digest: text, Header: planner.Header{
		Environment: text, PlanID: text, Author: text, Accepted: []string{text, "override-limit=" + text}, Targets: []string{text},
		Service: state.Identity{BaseURL: text}, ControlList: []config.ControlDigest{{Name: text}},
	}}
	for _, a := range planner.Actions() {
		f.Changes = append(f.Changes, planner.Change{
			Action: a, RefID: text, Address: text, Place: text, Batch: text, Request: request, Reason: text, Recorded: recorded,
			Again: a == planner.Submit, After: []string{text}, DuplicateWithin: config.DuplicateWithinDefault,
			Differences: []transfer.Difference{{Field: text, Asked: text, Answered: text}},
			DisplayName: text,
			Signals:     []planner.Signal{{Kind: planner.SignalKind(text), RefID: text, Place: text, Detail: text, Accepted: text}},
		})
	}
	f.Undeclared = f.Changes[:1]
	f.Obstacles = []planner.Obstacle{{Kind: planner.ObstacleKind(text), RefIDs: []string{text}, Count: 1, Detail: text, Remedy: text}}
	return f.plan()
}

// everyFace writes text in every place of every face for people, without colours.
func everyFace(t *testing.T, text string, width int) string {
	t.Helper()
	s := view.Screen{Width: width}
	var b bytes.Buffer
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	names := map[string]string{text: text}
	plan := hostilePlan(text)
	check(view.Plan(&b, plan, view.PlanOptions{Screen: s, Saved: true, ShowAll: true, Names: names, Approvals: []view.Approval{hostileApproval(text)}, NoTier: []string{text}, NoLimit: []string{text}}))
	many, harmless := hostilePlan(text), hostilePlan("harmless")
	for many.Changes.Len() <= 200 { // a plan that large is laid out in another way
		for _, c := range harmless.Changes.All() {
			many.Changes.Add(c)
		}
	}
	check(view.Plan(&b, many, view.PlanOptions{Screen: s, Names: names, Approvals: []view.Approval{hostileApproval(text)}, NoTier: []string{text}, NoLimit: []string{text}}))
	event := executor.Event{Changes: []executor.RecordChange{{Field: text, Before: text, After: text}, {Field: "status_details", After: text}, {Field: "status", After: text}}, RefID: text, Group: text, Reason: text, Next: text, Asset: text, Amount: transfer.MustAmount("1.00")}
	run := view.NewRun(&b, &b, view.RunOptions{Screen: s, Piped: !s.Terminal})
	for _, kind := range []executor.EventType{executor.EventBegun, executor.EventWaiting, executor.EventNotice, executor.EventStopping, executor.EventChanged, executor.EventSettled} {
		e := event
		e.Type, e.Total, e.Result = kind, 1, executor.ResultInDoubt
		run.Handle(e)
	}
	check(run.Close())
	var totals transfer.Totals
	totals.Add(text, event.Amount)
	check(view.Refreshed(&b, &executor.Refreshed{Pending: totals, Absent: 1, Named: []string{text}, Head: text}, view.RefreshOptions{Screen: s, Next: text}))
	event.Result = executor.ResultConflict
	check(view.Summary(&b, executor.Summary{RunID: text, Stopped: text, Head: text, Exceptions: []executor.Event{event}},
		view.SummaryOptions{Screen: s, Next: text}))
	raw, err := json.Marshal(text)
	check(err)
	detail := state.Detail{
		Transfer: state.Transfer{RefID: text, Status: state.Conflict, Asset: text, GroupID: text, RecordID: text, RunID: text},
		Intent:   state.Intent{Path: text, Body: text, Address: text, Place: text, Batch: text},
		Outcome: &state.Outcome{
			Status: state.Conflict, Source: state.Source(text), Reason: text, Problem: raw, Records: []json.RawMessage{raw},
			Differences: []transfer.Difference{{Field: text, Asked: text, Answered: text}}, By: &state.Holder{User: text, Host: text},
		},
	}
	check(view.StateShow(&b, detail, view.StateShowOptions{Screen: s, Doubt: text, Next: text}))
	check(view.StateList(&b, rows([]state.Detail{detail}, nil), view.StateListOptions{Screen: s}))
	check(view.Error(&b, errors.New(text), text, s))
	r := hcl.Range{Filename: text, Start: hcl.InitialPos, End: hcl.Pos{Line: 9, Byte: 3}}
	check(view.Diagnostics(&b, hcl.Diagnostics{{Summary: text, Detail: text, Subject: &r}}, map[string]*hcl.File{text: {Bytes: []byte(text)}}, s))
	return b.String()
}

const hostile = "\x1b[2K\x1b[1A\u202e evil\u200b\nPlan: 0 to submit.\r\a\u009b31m e\u0301\u0301\u0301\u0301\u0301\u0301 \u3000\U000e0041 \xff end"

// hostileMarkup is for the faces that are read by more than a terminal.
const hostileMarkup = "=HYPERLINK(\"//x.example\") \u0410lice</script></details><img src=x> |@all http://x.example #1 ```\n" +
	"# h ![i](//x.example/i.png) [a](javascript:1) ~~~ `a`` ;=1+1,\"-2 \t@SUM(1)\" &#64; <!-- " + hostile

func TestHostileTextIsShownAsItIs(t *testing.T) {
	for name, text := range map[string]string{
		"escape sequences and overrides": hostile,
		"64 KiB of one word":             strings.Repeat("N", 64<<10),
		"many marks on one letter":       "e" + strings.Repeat("\u0301", 500),
		"a cluster without end":          strings.Repeat("\u1100", 300),
		"line ends":                      strings.Repeat("\n", 1000),
		"wide characters":                strings.Repeat("給与", 80),
	} {
		t.Run(name, func(t *testing.T) {
			shown := everyFace(t, text, 80)
			checkShown(t, shown)
		})
	}
}

// Only remit's own words begin a line at its left edge, however text from elsewhere is
// broken into lines. The rows of a state's list begin with a ref_id and are a table.
func TestTextFromElsewhereNeverBeginsALine(t *testing.T) {
	own := []string{
		"+ ", "? ", "  ", "> ", "< ", "! ", "x ", "# ", "Environment: ", "Plan ", "Plan: ", "Partial plan (--target): ", "Accepted: ", "Overridden limit: ", "Checked against: ", "Approval of the rule at ",
		"This plan cannot be applied", "Batch ", "Of batch ", "Block ", "Digest: ", "To look at: ", "Batches", "Largest of ", "waiting: ", "notice: ", "stopping: ", "in doubt ",
		"Run ", "Conflict", "Journal head: ", "Next:", "Transfer ", "Recorded request", "Latest outcome", "ref_id ", "Error: ",
		"208 transfers. ", "Refresh of ", "Still PENDING: ",
	}
	text := strings.Repeat("~word ", 40)
	for line := range strings.SplitSeq(everyFace(t, text, 80), "\n") {
		if line == "" || slices.ContainsFunc(own, func(start string) bool { return strings.HasPrefix(line, start) }) {
			continue
		}
		if !strings.Contains(line, "  conflict  ") {
			t.Errorf("a line of its own: %q", line)
		}
	}
}

func TestHostilePlanOnScreens(t *testing.T) {
	for ending, screen := range screens() {
		golden(t, "plan/hostile."+ending, planText(t, hostilePlan(hostile), view.PlanOptions{Screen: screen}))
	}
}

// A plan of a few lines stays one, whatever its texts are: 64 KiB are cut with a mark.
func TestLongTextIsCut(t *testing.T) {
	text := strings.Repeat("N", 64<<10)
	p := hostilePlan("x")
	p.Changes.Update(0, func(c *planner.Change) {
		c.Reason = text
		c.Signals[0].RefID = text
		c.Differences[0].Answered = text
	})
	p.Obstacles[0].Detail = text
	shown := string(planText(t, p, view.PlanOptions{}))
	if len(shown) > 20_000 || !strings.Contains(shown, "…") {
		t.Errorf("%d bytes are shown", len(shown))
	}
}

// JSON keeps hostile text whole, in escapes.
func TestHostileTextForPrograms(t *testing.T) {
	text := strings.ToValidUTF8(hostile, "?")
	var b bytes.Buffer
	j := view.NewJSON(&b, text)
	j.Handle(executor.Event{Time: time.Unix(0, 0).UTC(), Type: executor.EventNotice, Reason: text})
	if err := j.Err(); err != nil {
		t.Fatal(err)
	}
	checkShown(t, b.String())
	if got := decodeEvents(t, b.Bytes())[0].Reason; got != text {
		t.Errorf("%q came back as %q", text, got)
	}
}

func FuzzFaces(f *testing.F) {
	f.Add(hostile, 80)
	f.Add("\ta\n  b", 200)
	f.Add("\u1100\u1161\u0301\u0628", 1)
	f.Fuzz(func(t *testing.T, text string, width int) {
		shown := everyFace(t, text, width%1000)
		checkShown(t, shown)
		if !utf8.ValidString(shown) {
			t.Error("not UTF-8")
		}
	})
}
