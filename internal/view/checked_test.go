package view_test

import (
	"bytes"
	"html"
	"regexp"
	"strings"
	"testing"

	"remit/config"
	"remit/internal/view"
	"remit/planner"
)

// TestEachFaceSaysWhatThePlanWasCheckedAgainst has plans with controls, and without. A reviewer of a saved plan is told of none, where
// the plan says so: one of an old version has a digest alone.
func TestEachFaceSaysWhatThePlanWasCheckedAgainst(t *testing.T) {
	list := []config.ControlDigest{
		{Name: "approval", SHA256: "a"},
		{Name: "approval", SHA256: "b"},
		{Name: "approval", SHA256: "c"},
		{Name: "file policies/limits.hcl", SHA256: "f"},
		{Name: "limit.daily", SHA256: "l"},
		{Name: "policy.no-friday", SHA256: "p"},
	}
	none := config.DigestOfControls(nil)
	for name, tt := range map[string]struct {
		header  planner.Header
		isSaved bool
		want    string
	}{
		"a plan":                          {planner.Header{ControlList: list, Controls: config.DigestOfControls(list)}, false, "approval (3) limit.daily policy.no-friday"},
		"a saved plan":                    {planner.Header{ControlList: list, Controls: config.DigestOfControls(list)}, true, "approval (3) limit.daily policy.no-friday"},
		"a plan without controls":         {planner.Header{Controls: none}, false, ""},
		"a saved plan without controls":   {planner.Header{Controls: none}, true, "no limit no policy and no approval rule"},
		"a saved plan of files alone":     {planner.Header{ControlList: list[3:4], Controls: config.DigestOfControls(list[3:4])}, true, "no limit no policy and no approval rule"},
		"a saved plan of a digest, and 0": {planner.Header{Controls: "of what 0.1.0 said"}, true, ""},
	} {
		for _, isLarge := range []bool{false, true} {
			plan := manyPlan(1)
			if isLarge {
				plan = crowdedPlan(1000)
			}
			plan.Header = tt.header
			o := view.PlanOptions{Saved: tt.isSaved, Screen: view.Screen{Width: 140}}
			text := planMarkdown(t, plan, o)
			for face, said := range map[string]string{"text": string(planText(t, plan, o)), "Markdown": text, "HTML": planHTML(t, plan, o)} {
				if got := checkedIn(said); got != tt.want {
					t.Errorf("%s, large %t, in %s: %q, want %q", name, isLarge, face, got, tt.want)
				}
			}
		}
	}
}

// checkedIn are the words after "Checked against" of a face, without its marks.
func checkedIn(text string) string {
	_, rest, found := strings.Cut(text, "Checked against")
	if !found {
		return ""
	}
	end := strings.IndexAny(rest, "\n")
	if isHTML := strings.HasPrefix(text, "<"); isHTML {
		end = strings.Index(rest, "</dd>")
	}
	rest = regexp.MustCompile(`<[^>]*>`).ReplaceAllString(rest[:end], " ")
	return strings.Join(strings.Fields(strings.NewReplacer(":", "", "*", "", "`", "", ",", " ").Replace(html.UnescapeString(rest))), " ")
}

// TestTheFirstOfManyControlsAreNamed has a large plan name all of them below what its beginning has room for.
func TestTheFirstOfManyControlsAreNamed(t *testing.T) {
	plan := crowdedPlan(1000)
	for i := range 40 {
		plan.Header.ControlList = append(plan.Header.ControlList, config.ControlDigest{Name: "policy.of-a-long-name-" + string(rune('a'+i%26)) + string(rune('a'+i/26))})
	}
	var b bytes.Buffer
	if err := view.Plan(&b, plan, view.PlanOptions{Screen: view.Screen{Width: 100}}); err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(strings.Fields(b.String()), " "); !strings.Contains(text, "policy.of-a-long-name-nb") {
		t.Errorf("it names the first ones alone:\n%.3000s", text)
	}
}
