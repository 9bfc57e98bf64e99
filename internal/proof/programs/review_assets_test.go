package programs_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestAnApproverTypesTheTotalOfEachAsset approves a plan of two assets on the page, which then says nothing else than that.
func TestAnApproverTypesTheTotalOfEachAsset(t *testing.T) {
	t.Parallel()
	r := newReviewer(t).in(t)
	ada := r.authenticator(-7)
	ada.register("ada@example.com")
	r.configure(`above = { USD = "100.00" }`)
	r.write("rent.hcl", `transfer "platform" "rent-zurich" {
  from_profile_id = "treasury-chf"
  to_profile_id   = "landlord-zurich"
  amount          = "1250.00"
  asset           = "CHF"
}
`)
	r.plan()
	defer ada.plugIn()()
	served := r.page("review", "november.plan", "--sandbox", "--practice-approvals")
	const labels = `Array.from(document.querySelectorAll("#ask label"), (label) => label.textContent).join(", ")`
	if asked := served.eval(labels); asked != "Number of transfers, Total of USD, Total of CHF" {
		t.Errorf("the page asks for %s", asked)
	}
	typed := func(usd, chf string) {
		t.Helper()
		served.eval(`for (const field of document.querySelectorAll("#ask input")) field.value = ""; ""`)
		if err := chromedp.Do(r.browser, chromedp.SendKeys("#count", "3"), chromedp.SendKeys("#total", usd), chromedp.SendKeys("#total-2", chf)); err != nil {
			t.Fatal(err)
		}
	}
	typed("8510.50", "1250.01")
	if said := served.said(); said != "The plan does not move \"1250.01\" of CHF in all; nothing was signed. Read the plan, and type its total of CHF." {
		t.Errorf("the page says %q", said)
	}
	if focus := served.eval(`document.activeElement.id`); focus != "total-2" {
		t.Errorf("after a wrong total of CHF the focus is on %q", focus)
	}
	typed("8510.50", "1,250.00")
	if said := served.said(); !strings.Contains(said, "Approved by ada@example.com") {
		t.Fatalf("the page says %q", said)
	}
	text := served.eval(`document.body.innerText`)
	for what, isThere := range map[string]bool{
		"You approved this plan": true, "Not approved yet: 1 of 2 approvers": true, "0 of 2": false, "could still approve: ada": false,
		"approved by ada@example.com, in november.plan.ada": true, "Type what the plan moves": false,
	} {
		if strings.Contains(strings.ToLower(text), strings.ToLower(what)) != isThere {
			t.Errorf("that the page has %q is not %v:\n%s", what, isThere, text)
		}
	}
	served.answered = true
	if code, out := served.stop(); code != 0 {
		t.Errorf("review ends with %d:\n%s", code, out)
	}
}
