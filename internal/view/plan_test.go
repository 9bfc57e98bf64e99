package view_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/clipperhouse/displaywidth"
	"pgregory.net/rapid"

	"remit/internal/transfer"
	"remit/internal/view"
	"remit/planner"
	"remit/state"
)

// plans are the fixtures of testdata/plan, with the options of their faces.
func plans() map[string]view.PlanOptions {
	return map[string]view.PlanOptions{
		"payroll": {
			Names:     map[string]string{"0acfa5a6-6f2e-41af-a833-48e301197ffd": "treasury"},
			Approvals: []view.Approval{wanted()},
		},
		"nothing":    {},
		"undeclared": {},
		"sandbox":    {Sandbox: true},
		"mixed": {Saved: true, Approvals: []view.Approval{signed("", "bob"), signed("alice", "bob", "carol")}, NoTier: []string{"EUR"}, NoLimit: []string{"EUR"}, Names: map[string]string{
			"0acfa5a6-6f2e-41af-a833-48e301197ffd": "treasury",
			"37867177-f88c-45cc-b9b5-d786e7079609": "landlord",
		}},
		"marketplace": {},
		"alike-ids":   {},
	}
}

func TestPlanOnScreens(t *testing.T) {
	for name, o := range plans() {
		for ending, screen := range screens() {
			t.Run(name+" at "+ending, func(t *testing.T) {
				o.Screen = screen
				got := planText(t, readPlan(t, name), o)
				golden(t, "plan/"+name+"."+ending, got)
				if !screen.Color {
					checkShown(t, string(got))
				}
			})
		}
	}
}

func TestPlanForPrograms(t *testing.T) {
	for name, o := range plans() {
		t.Run(name, func(t *testing.T) {
			o.ShowAll = true
			var b bytes.Buffer
			if err := view.NewJSON(&b, "0.1.0").Plan(readPlan(t, name), o); err != nil {
				t.Fatal(err)
			}
			golden(t, "plan/"+name+".jsonl", b.Bytes())
		})
	}
}

func TestPlanShowsUndeclaredOnRequest(t *testing.T) {
	o := view.PlanOptions{ShowAll: true}
	golden(t, "plan/undeclared.all.txt", planText(t, readPlan(t, "undeclared"), o))
}

// Lines of a table end within the screen; unbreakable text may not: commands, and words that
// someone copies.
func TestPlanLinesFitTheScreen(t *testing.T) {
	for name, o := range plans() {
		for _, width := range []int{80, 100, 120, 140, 200} {
			o.Width = width
			for line := range strings.SplitSeq(string(planText(t, readPlan(t, name), o)), "\n") {
				if displaywidth.String(line) > width && strings.Contains(strings.TrimLeft(line, " "), "  ") {
					t.Errorf("%s at %d: %d columns in %q", name, width, displaywidth.String(line), line)
				}
			}
		}
	}
}

// manyPlan is a plan of n transfers to n/2 destinations in two batches.
func manyPlan(n int) *planner.Plan {
	f := fixture{Header: planner.Header{Environment: "production", Service: state.Identity{BaseURL: "https://api.example.com"}}, Digest: strings.Repeat("ab", 32)}
	for i := range n {
		batch := "payroll"
		if i%3 == 0 {
			batch = ""
		}
		c := planner.Change{
			Action: planner.Submit, RefID: fmt.Sprintf("pay-%05d", i), Place: fmt.Sprintf("payroll.csv:%d", i+2), Batch: batch,
			Address: "transfer.internal.pay",
			Request: transfer.Request{
				Operation: transfer.Internal, RefID: fmt.Sprintf("pay-%05d", i), Asset: "USD",
				FromProfileID: "treasury-main", ToProfileID: fmt.Sprintf("employee-%05d", i/2),
				Amount: transfer.MustAmount(fmt.Sprintf("%d.50", 100+i)),
			},
		}
		if i%10 == 0 {
			c.Action, c.Reason = planner.Failed, "the service says FAILED"
		}
		if i%97 == 5 {
			c.Request.Asset = "EUR"
		}
		f.Changes = append(f.Changes, c)
	}
	return f.plan()
}

func TestPlanOfManyTransfersIsASummary(t *testing.T) {
	p := manyPlan(300)
	for ending, screen := range screens() {
		golden(t, "plan/many."+ending, planText(t, p, view.PlanOptions{Screen: screen}))
	}
}

// crowdedPlan is a saved plan of n transfers of which much is to be said: many batches, assets,
// targets and acceptances, every signal, and obstacles that name many transfers.
func crowdedPlan(n int) *planner.Plan {
	f := fixture{Header: planner.Header{
		Environment: "production", Service: state.Identity{BaseURL: "https://api.example.com"},
		PlanID: "7f3a9c12-0d43-4b0e-9d53-2f0e6b1f3c11", Author: "ana@example.com",
	}, Digest: strings.Repeat("ab", 32)}
	var refIDs []string
	for i := range n {
		c := planner.Change{
			Action: planner.Actions()[max(0, i%40-32)], RefID: fmt.Sprintf("salary-2026-11-employee-%05d", i),
			Place: fmt.Sprintf("payroll-2026-11.csv:%d", i+2), Batch: fmt.Sprintf("payroll-of-division-%02d", i%30),
			Address: fmt.Sprintf(`transfer.internal.pay["%d"]`, i),
			Request: transfer.Request{
				Operation: transfer.Internal, RefID: fmt.Sprintf("salary-2026-11-employee-%05d", i), Asset: fmt.Sprintf("C%02d", i%12),
				FromProfileID: "0acfa5a6-6f2e-41af-a833-48e301197ffd", ToProfileID: fmt.Sprintf("37867177-f88c-45cc-b9b5-d786e707%04d", i),
				Amount: transfer.MustAmount(fmt.Sprintf("%d.50", 100+i*7919%10000)),
			},
		}
		if c.Action == planner.Undeclared || c.Action == planner.None {
			c.Action = planner.Submit
		}
		for j, kind := range []planner.SignalKind{planner.FirstDestination, planner.AmountOutOfLine, planner.LookAlike, planner.Rename, planner.Unverified} {
			if i%(7+j) == 0 {
				c.Signals = append(c.Signals, planner.Signal{Kind: kind, RefID: c.RefID + "-before", Detail: "as it was seen"})
			}
		}
		if i < 20 {
			refIDs = append(refIDs, c.RefID)
			f.Header.Targets = append(f.Header.Targets, "batch."+c.Batch)
			f.Header.Accepted = append(f.Header.Accepted, "accept-duplicate="+c.RefID)
		}
		f.Changes = append(f.Changes, c)
	}
	for _, kind := range []planner.ObstacleKind{planner.ObstacleConflict, planner.ObstacleRename, planner.ObstacleLookAlike} {
		for range 7 {
			f.Obstacles = append(f.Obstacles, planner.Obstacle{
				Kind: kind, RefIDs: refIDs, Count: 40, Detail: strings.Repeat("What is declared and what is recorded do not agree. ", 5),
				Remedy: "--accept-duplicate=" + strings.Join(refIDs, " --accept-duplicate="),
			})
		}
	}
	return f.plan()
}

// A doubt moves its recorded amount, and not the declared one: the sums of batches and the rows of
// a register are those of the request that would be sent again.
func TestPlanCountsADoubtAsRecorded(t *testing.T) {
	var all payments
	c := all.pay(treasury, seller, "99.00", "USD")
	recorded := c.Request
	recorded.Amount = transfer.MustAmount("12.00")
	c.Action, c.Batch = planner.Resolve, "rent"
	c.Recorded = &planner.Recorded{
		Status: state.InDoubt, Operation: transfer.Internal, Body: string(recorded.Body()), Fingerprint: recorded.Fingerprint().String(),
	}
	p := all.plan()
	if got := string(planCSV(t, p)); !strings.Contains(got, ",12.00,USD,") || strings.Contains(got, "99.00") {
		t.Errorf("the register is\n%s", got)
	}
	for face, test := range map[string]struct{ text, end string }{
		"Markdown": {planMarkdown(t, p, view.PlanOptions{}), "Transfers:"},
		"HTML":     {planHTML(t, p, view.PlanOptions{}), "</table>"},
	} {
		_, batches, _ := strings.Cut(test.text, "Batches")
		if batches, _, _ = strings.Cut(batches, test.end); !strings.Contains(batches, "12.00") || strings.Contains(batches, "99.00") {
			t.Errorf("the batches in %s are %s", face, batches)
		}
	}
}

// The first 40 lines of a plan of any length have all that a reviewer has to know.
func TestPlanIsUnderstoodFromItsFirst40Lines(t *testing.T) {
	for name, p := range map[string]*planner.Plan{"many": manyPlan(10_000), "crowded": crowdedPlan(10_000)} {
		for _, width := range []int{80, 140} {
			text := string(planText(t, p, view.PlanOptions{Screen: view.Screen{Width: width}, Saved: true}))
			lines := strings.Split(text, "\n")[:40]
			if name == "crowded" {
				golden(t, fmt.Sprintf("plan/crowded.first-40.%d.txt", width), []byte(strings.Join(lines, "\n")+"\n"))
			}
			head := strings.Join(lines, "\n")
			for _, part := range []string{"Environment: ", "+  submit", "Largest of ", "\nBatches\n  "} {
				if !strings.Contains(head, part) {
					t.Errorf("%s at %d: %q is not in\n%s", name, width, part, head)
				}
			}
			if name == "crowded" && (!strings.Contains(head, "Signals: ") || !strings.Contains(head, "This plan cannot be applied")) {
				t.Errorf("%d: no signals or obstacles in\n%s", width, head)
			}
			for _, line := range lines {
				if displaywidth.String(line) > width {
					t.Errorf("%s at %d: %q is too wide", name, width, line)
				}
			}
		}
	}
}

func TestPlanListsAsManyAsAllowed(t *testing.T) {
	tests := map[string]struct {
		count   int
		showAll bool
		want    int
	}{
		"of 201 only those to look at are listed": {count: 201, want: 21},
		"all of 201 are listed on request":        {count: 201, showAll: true, want: 201},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			text := string(planText(t, manyPlan(test.count), view.PlanOptions{ShowAll: test.showAll}))
			if got := len(listedLine.FindAllString(text, -1)); got != test.want {
				t.Errorf("%d lines, want %d:\n%s", got, test.want, text)
			}
		})
	}
}

var (
	listedLine  = regexp.MustCompile(`(?m)^[+?!x<> #] (pay-\d+)`)
	countedRest = regexp.MustCompile(`(?m)^  and (\d+) more`)
)

// TestNothingToSeeIsFolded is the rule of a plan with a line for each transfer: every line that needs
// the reviewer is listed, and the others are counted.
func TestNothingToSeeIsFolded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p payments
		must := make(map[string]bool)
		count := rapid.IntRange(1, 150).Draw(t, "count")
		allFirst := rapid.Bool().Draw(t, "all pay somebody new")
		file := "a.csv"
		for n := range count {
			if rapid.IntRange(0, 30).Draw(t, "another file") == 0 {
				file += "x"
			}
			c := p.pay(treasury, landlord, strconv.Itoa(1+n%7), "USD")
			c.RefID, c.Place, c.Address = fmt.Sprintf("pay-%d", n), fmt.Sprintf("%s:%d", file, n), fmt.Sprintf(`transfer.internal.p["%d"]`, n)
			if allFirst {
				c.Signals = append(c.Signals, planner.Signal{Kind: planner.FirstDestination})
			}
			switch rapid.IntRange(0, 12).Draw(t, "kind") {
			case 0:
				c.Signals = append(c.Signals, planner.Signal{Kind: planner.LookAlike, RefID: "other", Detail: "alike"})
			case 1:
				c.Action, c.Reason = planner.Failed, "the service says FAILED"
			case 2:
				c.Action, c.Never = planner.Wait, true
			case 3:
				c.Again = true
			case 4:
				if allFirst {
					continue
				}
				c.Signals = append(c.Signals, planner.Signal{Kind: planner.FirstDestination})
			default:
				continue
			}
			must[c.RefID] = true
		}
		var b bytes.Buffer
		if err := view.Plan(&b, p.plan(), view.PlanOptions{}); err != nil {
			t.Fatal(err)
		}
		text, listed := b.String(), make(map[string]bool)
		for _, found := range listedLine.FindAllStringSubmatch(text, -1) {
			listed[found[1]] = true
		}
		for refID := range must {
			if !listed[refID] {
				t.Errorf("%s is not listed:\n%s", refID, text)
			}
		}
		all := len(listed)
		for _, rest := range countedRest.FindAllStringSubmatch(text, -1) {
			more, _ := strconv.Atoi(rest[1])
			all += more
		}
		if all != count {
			t.Errorf("%d of %d are listed or counted:\n%s", all, count, text)
		}
		if len(listed) < count && !strings.Contains(text, "remit plan --show=all") {
			t.Errorf("nothing says how to see all:\n%s", text)
		}
	})
}

// IDs that differ in what a short form leaves out are never shown alike.
func TestPlanTellsIDsApart(t *testing.T) {
	text := string(planText(t, readPlan(t, "alike-ids"), view.PlanOptions{}))
	for _, id := range []string{"aaaaaaaa-0000-4000-8000-00000000ffff", "aaaaaaaa-0000-4000-8000-00010000ffff"} {
		if !strings.Contains(text, id) {
			t.Errorf("%s is not in\n%s", id, text)
		}
	}
}

func TestPlanReturnsErrorsOfItsWriter(t *testing.T) {
	p := readPlan(t, "mixed")
	if err := view.Plan(brokenWriter{}, p, view.PlanOptions{}); !errors.Is(err, errBroken) {
		t.Errorf("text: %v", err)
	}
	if err := view.NewJSON(brokenWriter{}, "").Plan(p, view.PlanOptions{}); !errors.Is(err, errBroken) {
		t.Errorf("JSON: %v", err)
	}
}

var errBroken = errors.New("broken pipe")

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

// Every line of JSON is an object with a type, the first with the format.
func TestJSONBeginsWithItsVersion(t *testing.T) {
	var b bytes.Buffer
	j := view.NewJSON(&b, "1.2.3")
	if err := j.Plan(readPlan(t, "mixed"), view.PlanOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := j.Error(errors.New("lock held"), "remit force-unlock"); err != nil {
		t.Fatal(err)
	}
	versions := 0
	for i, line := range strings.Split(strings.TrimSpace(b.String()), "\n") {
		var object struct{ Type, Format, Remit string }
		if err := json.Unmarshal([]byte(line), &object); err != nil {
			t.Fatalf("line %d: %v", i+1, err)
		}
		if object.Type == "" {
			t.Errorf("line %d has no type: %s", i+1, line)
		}
		if object.Type == "version" {
			versions++
			if i != 0 || object.Format != view.Format || object.Remit != "1.2.3" {
				t.Errorf("line %d: %s", i+1, line)
			}
		}
	}
	if versions != 1 {
		t.Errorf("%d lines carry the version", versions)
	}
}

// Files of a new month whose ref_ids lack it look paid. The day of the newest payment, and the rule, show it.
func TestPlanWithoutChangesSaysSinceWhen(t *testing.T) {
	const rule = "The newest was sent on 2026-10-27."
	for days, says := range map[int]bool{2: false, 30: true} {
		p := readPlan(t, "nothing")
		p.Newest = time.Date(2026, 10, 27, 9, 0, 0, 0, time.UTC)
		p.Header.Created = p.Newest.AddDate(0, 0, days)
		if got := string(planText(t, p, view.PlanOptions{Screen: view.Screen{Width: 200}})); strings.Contains(got, rule) != says {
			t.Errorf("after %d days the plan says:\n%s", days, got)
		}
	}
}

// TestPlanWithoutChangesTellsWhoWaits holds that no plan calls a transfer recorded which waits for a person.
func TestPlanWithoutChangesTellsWhoWaits(t *testing.T) {
	const novel = " a status at the service that remit does not know"
	for says, of := range map[string]struct{ recorded, unverified, unknown, waiting int }{
		"The one declared transfer (USD 10.00) is recorded.":                                                      {1, 0, 0, 0},
		"The one declared transfer (USD 10.00) is unverified, and waits for a person.":                            {0, 1, 0, 0},
		"All 2 declared transfers (USD 20.00) are unverified, and wait for a person.":                             {0, 2, 0, 0},
		"1 of 2 declared transfers (USD 20.00) is unverified, and waits for a person. The other one is recorded.": {1, 1, 0, 0},
		"2 of 5 declared transfers (USD 50.00) are unverified, and wait for a person. The other 3 are recorded.":  {3, 2, 0, 0},
		"Nothing to submit and nothing to resolve: 1 to wait, 1 unverified, 2 recorded.":                          {2, 1, 0, 1},
		"Nothing to submit and nothing to resolve: 1 to wait, 1 unverified.":                                      {0, 1, 0, 1},

		"The one declared transfer (USD 10.00) has" + novel + ", and waits for a person.":                                           {0, 0, 1, 0},
		"All 2 declared transfers (USD 20.00) have" + novel + ", and wait for a person.":                                            {0, 0, 2, 0},
		"1 of 3 declared transfers (USD 30.00) has" + novel + ", and waits for a person. The other 2 are recorded.":                 {2, 0, 1, 0},
		"1 of 3 declared transfers (USD 30.00) is unverified, and 2 have" + novel + ", and wait for a person.":                      {0, 1, 2, 0},
		"2 of 4 declared transfers (USD 40.00) are unverified, and 1 has" + novel + ", and wait for a person. The other one is rec": {1, 2, 1, 0},
		"Nothing to submit and nothing to resolve: 1 to wait, 1 of an unknown status, 1 recorded.":                                  {1, 0, 1, 1},
	} {
		p := readPlan(t, "nothing")
		p.Totals = map[planner.Action]*transfer.Totals{planner.None: new(transfer.Totals), planner.Wait: new(transfer.Totals)}
		amount, diags := transfer.ParseAmount("10.00")
		if diags != nil {
			t.Fatal(diags)
		}
		p.UnknownRecorded = of.unknown
		for range of.recorded + of.unverified + of.unknown {
			p.Totals[planner.None].Add("USD", amount)
		}
		for range of.waiting {
			p.Totals[planner.Wait].Add("USD", amount)
		}
		for i := range of.unverified {
			p.Changes.Add(&planner.Change{
				Action: planner.None, RefID: fmt.Sprintf("rent-%d", i), Address: "transfer.internal.rent",
				Recorded: &planner.Recorded{Status: state.Unverified},
			})
		}
		var page bytes.Buffer
		if err := view.PlanHTML(&page, p, view.PlanOptions{}); err != nil {
			t.Fatal(err)
		}
		text := string(planText(t, p, view.PlanOptions{Screen: view.Screen{Width: 250}}))
		for face, got := range map[string]string{"terminal": text, "page": page.String()} {
			if !strings.Contains(got, "No changes. "+says) {
				t.Errorf("the %s does not say %q:\n%s", face, says, got)
			}
		}
	}
}
