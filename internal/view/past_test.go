package view_test

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/executor"
	"remit/internal/proof/suite"
	"remit/internal/transfer"
	"remit/internal/view"
	"remit/state"
)

// pastRun is a run of the journal and how to show it.
type pastRun struct {
	past *executor.PastRun
	view.PastOptions
}

var pastBegun = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

// newPast is a run of no transfers, by ana on her laptop.
func newPast() pastRun {
	const id = "6c1d2f7e-52a4-4d3c-9f0a-8b7e6d5c4b3a"
	return pastRun{
		past: &executor.PastRun{Run: state.Run{
			Begun: state.Begun{
				RunID: id, By: state.Holder{User: "ana", Host: "laptop", PID: 4711, Command: "remit apply november.plan", Since: pastBegun, Version: "1.0.0"},
				PlanID: "7f3a9c12-0d43-4b0e-9d53-2f0e6b1f3c11", Digest: strings.Repeat("ab", 32), Author: "ben@example.com",
			},
			BegunAt: pastBegun, EndedAt: pastBegun.Add(2 * time.Minute),
			Ended: &state.Ended{RunID: id, Outcomes: map[string]int{}, Complete: true},
		}},
		PastOptions: view.PastOptions{
			Meta:    state.Meta{Environment: "production", Service: state.Identity{BaseURL: "https://api.example.com"}, Lineage: "c0ffee00-0000-4000-8000-000000000001"},
			Names:   map[string]string{"0acfa5a6-6f2e-41af-a833-48e301197ffd": "Treasury"},
			Command: "remit show --run=" + id,
		},
	}
}

// add adds the n-th transfer.
func (r *pastRun) add(result executor.Result, amount, asset, reason string) *executor.PastLine {
	n := len(r.past.Lines)
	l := executor.PastLine{
		RefID: fmt.Sprintf("salary-2026-11-%05d", n), Result: result, Reason: reason,
		Address: fmt.Sprintf(`transfer.internal.salary["%d"]`, n), Place: fmt.Sprintf("payroll-2026-11.csv:%d", n+2), Batch: "payroll",
		At: pastBegun.Add(time.Duration(n) * time.Second),
	}
	l.Request = transfer.Request{
		Operation: transfer.Internal, RefID: l.RefID, Asset: asset, Amount: transfer.MustAmount(amount),
		FromProfileID: "0acfa5a6-6f2e-41af-a833-48e301197ffd", ToProfileID: fmt.Sprintf("37867177-f88c-45cc-b9b5-d786e707%04d", n),
	}
	switch result {
	case executor.ResultRecorded, executor.ResultAdopted, executor.ResultUnverified, executor.ResultFailed:
		l.RecordID, l.GroupID, l.RecordStatus = fmt.Sprintf("rec-%05d", n), fmt.Sprintf("9b2f1c44-1111-4222-8333-44445555%04d", n), transfer.Completed
		if result == executor.ResultFailed {
			l.RecordStatus = transfer.Failed
		}
	case executor.ResultRefused, executor.ResultInDoubt, executor.ResultConflict, executor.ResultNotAttempted:
	}
	r.past.Run.Ended.Outcomes[string(result)]++
	r.past.Lines = append(r.past.Lines, l)
	return &r.past.Lines[n]
}

// pasts are the runs that goldens show.
func pasts() map[string]pastRun {
	complete := newPast()
	complete.add(executor.ResultRecorded, "8200.00", "USD", "")
	complete.add(executor.ResultRecorded, "310.5", "USD", "").RecordStatus = transfer.Pending
	complete.add(executor.ResultAdopted, "0.00012", "BTC", "found by lookup")

	every := newPast()
	every.Now = map[string]view.PastNow{}
	every.add(executor.ResultRecorded, "100.00", "USD", "")
	every.add(executor.ResultAdopted, "200.00", "USD", "")
	for i, now := range []view.PastNow{
		{Status: state.Unverified, Next: `remit resolve salary-2026-11-00002 --accept-record --reason "…"`},
		{Status: state.Refused, Next: "remit plan"},
		{Status: state.Recorded, RecordStatus: transfer.Failed, Next: "remit plan"},
		{Status: state.InDoubt, Next: "remit apply"},
		{Status: state.Tombstone},
		{Status: state.Unsent, Next: "remit plan"},
	} {
		refID := every.add(executor.Results()[i+2], fmt.Sprintf("%d.00", 100*(i+3)), "USD", "The service said so.").RefID
		every.Now[refID] = now
	}
	every.add(executor.ResultInDoubt, "12", "EUR", "No answer came within 30s")
	every.Now[every.past.Lines[8].RefID] = view.PastNow{Status: state.Recorded, RecordStatus: transfer.Completed}
	every.past.Run.Begun.Accepted = []string{"--accept-duplicate=salary-2026-11-00001"}
	every.past.Run.Begun.Approvals = approvedBy("carol")
	every.past.Run.Ended.Outcomes["not_attempted"] += 12
	every.past.Run.Ended.Complete, every.past.Run.Ended.Error = false, "the service asked to stop"

	died := newPast()
	died.add(executor.ResultRecorded, "8200.00", "USD", "")
	died.add(executor.ResultInDoubt, "310.00", "USD", "The run wrote no outcome of it.").RefID = "rent"
	died.Now = map[string]view.PastNow{"rent": {Status: state.InDoubt, Next: "remit apply"}}
	died.past.Run.Ended, died.past.Run.EndedAt = nil, time.Time{}

	sandbox := newPast()
	sandbox.add(executor.ResultRecorded, "1", "USD", "")
	sandbox.Meta.Environment, sandbox.Meta.Service = state.Sandbox, state.SandboxIdentity()
	sandbox.Meta.Service.CustomerID = "customer-1"

	return map[string]pastRun{
		"complete": complete, "every": every, "died": died, "sandbox": sandbox, "nothing": newPast(),
		"many": manyPast(250), "hostile": hostilePast(hostileMarkup),
	}
}

// manyPast is a run of n transfers, every 50th refused.
func manyPast(n int) pastRun {
	r := newPast()
	r.Now = map[string]view.PastNow{}
	for i := range n {
		if i%50 == 7 {
			l := r.add(executor.ResultRefused, "12.50", "USD", "HTTP 422: the balance is too low")
			r.Now[l.RefID] = view.PastNow{Status: state.Refused, Next: "remit plan"}
			continue
		}
		r.add(executor.ResultRecorded, fmt.Sprintf("%d.50", 100+i), "USD", "")
	}
	return r
}

// hostilePast has text in every field that takes any.
func hostilePast(text string) pastRun {
	r := newPast()
	for _, result := range executor.Results() {
		l := r.add(result, "1.00", text, text)
		l.RefID, l.Address, l.Place, l.Batch, l.RecordID, l.GroupID, l.RecordStatus = text, text, text, text, text, text, transfer.RecordStatus(text)
		l.Request = transfer.Request{
			Operation: transfer.Operation(text), RefID: text, Amount: transfer.MustAmount("1.00"), Asset: text,
			FromProfileID: text, FromIdentityID: text, FromAccountID: text, ToProfileID: text + text, ToIdentityID: text, ToAccountID: text,
		}
	}
	r.Names = map[string]string{text: text, "benign-text": "benign-text"}
	r.Now = map[string]view.PastNow{text: {Status: state.InDoubt, Next: text}}
	r.Meta = state.Meta{Environment: text, Service: state.Identity{BaseURL: text}}
	b := &r.past.Run.Begun
	b.RunID, b.PlanID, b.Digest, b.Author, b.Accepted = text, text, text, text, []string{text, "override-limit=" + text}
	b.Approvals = approvedBy(text)
	b.By = state.Holder{User: text, Host: text, Command: text}
	r.past.Run.Ended.Error, r.Command = text, text
	return r
}

type writePast func(*bytes.Buffer, pastRun) error

// pastFaces are the faces of a past run, by the ending of their goldens.
func pastFaces() map[string]writePast {
	faces := map[string]writePast{
		"csv":  func(b *bytes.Buffer, r pastRun) error { return view.PastCSV(b, r.past, r.PastOptions) },
		"md":   func(b *bytes.Buffer, r pastRun) error { return view.PastMarkdown(b, r.past, r.PastOptions) },
		"html": func(b *bytes.Buffer, r pastRun) error { return view.PastHTML(b, r.past, r.PastOptions) },
		"jsonl": func(b *bytes.Buffer, r pastRun) error {
			return view.NewJSON(b, "1.0.0").Past(r.past, r.PastOptions)
		},
	}
	for ending, screen := range screens() {
		faces[ending] = func(b *bytes.Buffer, r pastRun) error {
			r.Screen = screen
			return view.Past(b, r.past, r.PastOptions)
		}
	}
	return faces
}

func pastText(t *testing.T, face string, r pastRun) string {
	t.Helper()
	var b bytes.Buffer
	if err := pastFaces()[face](&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPastRunOnEveryFace(t *testing.T) {
	for name, r := range pasts() {
		for face := range pastFaces() {
			if name == "many" && face != "80.txt" {
				continue
			}
			t.Run(name+"."+face, func(t *testing.T) {
				golden(t, "past/"+name+"."+face, []byte(withoutSources(pastText(t, face, r))))
			})
		}
	}
}

// However many transfers a run had, the terminal shows the transfers that need a person, and where
// the rest is; with ShowAll it shows each.
func TestPastRunOfManyTransfers(t *testing.T) {
	r := manyPast(3000)
	short := pastText(t, "80.txt", r)
	if lines := strings.Count(short, "\n"); lines > 80 || strings.Contains(short, "salary-2026-11-00008") {
		t.Errorf("%d lines", lines)
	}
	for _, want := range []string{"salary-2026-11-00007", "and 40 more", r.Command + " --csv", r.Command + " --html"} {
		if !strings.Contains(short, want) {
			t.Errorf("%q is not in %s", want, short)
		}
	}
	r.ShowAll = true
	if all := pastText(t, "80.txt", r); !strings.Contains(all, "salary-2026-11-02999") || strings.Count(all, "refused") < 60 {
		t.Error("not every transfer is shown")
	}
	r.ShowAll = false
	markdown := pastText(t, "md", r)
	if len(markdown) > 60_000 || !regexp.MustCompile(`\n\d+ more\. remit show --run=\S+ --html has all of them\.\n`).MatchString(markdown) {
		t.Errorf("%d characters of Markdown", len(markdown))
	}
}

// Environment comes first, whatever a run was.
func TestPastRunBeginsWithItsEnvironment(t *testing.T) {
	for _, face := range []string{"80.txt", "md", "html"} {
		_, shown, _ := strings.Cut("<body>\n<header>\n"+pastText(t, face, newPast()), "<body>\n<header>\n")
		if face == "html" {
			_, shown, _ = strings.Cut(shown, "<body>\n<header>\n")
		}
		first, _, _ := strings.Cut(shown, "\n")
		if !strings.Contains(first, "Environment") || !strings.Contains(first, "production") {
			t.Errorf("%s begins with %q", face, first)
		}
	}
}

// No face lets a text become anything but text.
func checkPast(t *testing.T, text string) {
	t.Helper()
	got, benign := hostilePast(text), hostilePast("benign-text")
	for face := range pastFaces() {
		if face != "csv" && face != "140.color.txt" { // the ends of lines, and colours
			checkShown(t, pastText(t, face, got))
		}
	}
	checkCSV(t, pastText(t, "csv", got))
	numbers := regexp.MustCompile(`\d+( more (lines?|characters))?`)
	want := numbers.ReplaceAllString(outsideCode(t, pastText(t, "md", benign)), "N")
	if diff := cmp.Diff(want, numbers.ReplaceAllString(outsideCode(t, pastText(t, "md", got)), "N")); diff != "" {
		t.Errorf("other Markdown of %.100q (-want +got):\n%s", text, diff)
	}
	if diff := cmp.Diff(elements(pastText(t, "html", benign)), elements(pastText(t, "html", got))); diff != "" {
		t.Errorf("other elements with %.100q (-want +got):\n%s", text, diff)
	}
}

func TestPastRunOfHostileText(t *testing.T) {
	suite.Slow(t)
	for _, text := range []string{
		hostile, hostileMarkup, "=1+1", "@SUM(1)", "a\n=1", "`", "a|b", "<b>", "```\n# h", "</details>", "</script>", `" onload="x`, "%", "\x00", "</style>",
		strings.Repeat("N", 64<<10), strings.Repeat("<b>", 20<<10), strings.Repeat("`", 300),
	} {
		checkPast(t, text)
	}
}

// Only remit's own words begin a line at its left edge.
func TestTextOfAPastRunNeverBeginsALine(t *testing.T) {
	own := []string{"  ", "Environment: ", "Run ", "Accepted: ", "Overridden limit: ", "Transfers", "Unverified", "Refused", "Failed", "In doubt", "Conflict", "Not attempted"}
	for line := range strings.SplitSeq(pastText(t, "80.txt", hostilePast(strings.Repeat("~word ", 40))), "\n") {
		if line != "" && !slices.ContainsFunc(own, func(start string) bool { return strings.HasPrefix(line, start) }) {
			t.Errorf("a line of its own: %q", line)
		}
	}
}

func FuzzPast(f *testing.F) {
	f.Add(hostileMarkup)
	f.Fuzz(func(t *testing.T, text string) {
		if text == "" || len(text) > 300 {
			t.Skip() // nothing to hide in, or cut
		}
		checkPast(t, text)
	})
}

func TestPastRunReturnsErrorsOfItsWriter(t *testing.T) {
	r := manyPast(3)
	for name, err := range map[string]error{
		"terminal": view.Past(brokenWriter{}, r.past, r.PastOptions),
		"csv":      view.PastCSV(brokenWriter{}, r.past, r.PastOptions),
		"markdown": view.PastMarkdown(brokenWriter{}, r.past, r.PastOptions),
		"html":     view.PastHTML(brokenWriter{}, r.past, r.PastOptions),
		"json":     view.NewJSON(brokenWriter{}, "").Past(r.past, r.PastOptions),
	} {
		if !errors.Is(err, errBroken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
