package view_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"remit/executor"
	"remit/internal/view"
	"remit/planner"
	"remit/state"
)

// TestEachFaceNamesEveryOverriddenLimit has more look-alikes accepted than any face has room for: by their flags, all of them come
// before the limits.
func TestEachFaceNamesEveryOverriddenLimit(t *testing.T) {
	var accepted []string
	for i := range 500 {
		accepted = append(accepted, fmt.Sprintf("accept-duplicate=payment-of-a-long-name-%05d", i))
	}
	accepted = append(accepted, "override-limit=desk", "override-limit=treasury")
	small := &planner.Plan{Header: planner.Header{Accepted: accepted}}
	large := crowdedPlan(1000)
	large.Header.Accepted = accepted
	past := &executor.PastRun{Run: state.Run{Begun: state.Begun{RunID: "run-1", Accepted: accepted}}}
	page := func(write func(*bytes.Buffer) error) string {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"a plan":             page(func(b *bytes.Buffer) error { return view.Plan(b, small, view.PlanOptions{ShowAll: true}) }),
		"a large plan":       page(func(b *bytes.Buffer) error { return view.Plan(b, large, view.PlanOptions{}) }),
		"a plan in Markdown": page(func(b *bytes.Buffer) error { return view.PlanMarkdown(b, small, view.PlanOptions{}) }),
		"a large plan in it": page(func(b *bytes.Buffer) error { return view.PlanMarkdown(b, large, view.PlanOptions{}) }),
		"a plan in HTML":     page(func(b *bytes.Buffer) error { return view.PlanHTML(b, small, view.PlanOptions{}) }),
		"a run":              page(func(b *bytes.Buffer) error { return view.Past(b, past, view.PastOptions{}) }),
		"a run in Markdown":  page(func(b *bytes.Buffer) error { return view.PastMarkdown(b, past, view.PastOptions{}) }),
		"a run in HTML":      page(func(b *bytes.Buffer) error { return view.PastHTML(b, past, view.PastOptions{}) }),
	} {
		at := strings.Index(text, "verridden limit")
		if at < 0 || at > strings.Index(text, "accept-duplicate=") {
			t.Errorf("%s names no limit before the look-alikes: %.600s", name, text)
			continue
		}
		for _, limit := range []string{"desk", "treasury"} {
			if rest, _, _ := strings.Cut(text[at:], "accept-duplicate="); !strings.Contains(rest, limit) {
				t.Errorf("%s does not name the limit %s: %.600s", name, limit, text[at:])
			}
		}
	}
}
