package view_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"remit/internal/transfer"
	"remit/internal/view"
	"remit/planner"
)

// payersPlan has a plan of so many payers of small amounts in dollars, and behind them one of a large amount of another asset.
func payersPlan(dollars int) *planner.Plan {
	var f fixture
	for i := range dollars + 1 {
		asset, amount := "USD", "20.00"
		if i == dollars {
			asset, amount = "ZAR", "9999999.00"
		}
		refID := fmt.Sprintf("t-%02d", i)
		f.Changes = append(f.Changes, planner.Change{
			Action: planner.Submit, RefID: refID, Place: "main.hcl:1", Address: "transfer.internal." + refID,
			Request: transfer.Request{
				Operation: transfer.Internal, RefID: refID, Asset: asset, Amount: transfer.MustAmount(amount),
				FromProfileID: fmt.Sprintf("%08d-payer", i), ToProfileID: fmt.Sprintf("%08d-payee", i),
			},
		})
	}
	return f.plan()
}

// TestNoAssetIsLeftOutOfTheNetMovement: the largest of each asset is listed, and the others are counted and added up.
func TestNoAssetIsLeftOutOfTheNetMovement(t *testing.T) {
	p := payersPlan(11)
	var markdown, page bytes.Buffer
	if err := view.PlanMarkdown(&markdown, p, view.PlanOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := view.PlanHTML(&page, payersPlan(60), view.PlanOptions{}); err != nil {
		t.Fatal(err)
	}
	folded := `Net movement +00000000… +USD +-20\.00\n( +0000000\d… +USD +-20\.00\n){3} +00000011… +ZAR +-9,999,999\.00\n +and 7 more: USD -140\.00\. To see all of them:\n +remit plan --show=all\n`
	for name, face := range map[string]struct{ text, want string }{
		"a terminal":               {string(planText(t, p, view.PlanOptions{})), folded},
		"Markdown":                 {markdown.String(), folded},
		"a terminal that asks all": {string(planText(t, p, view.PlanOptions{Screen: view.Screen{}, ShowAll: true})), `Net movement +00000000… +USD +-20\.00\n( +\d{8}… +USD +-20\.00\n){10} +00000011… +ZAR +-9,999,999\.00\n\n`},
		"a summary":                {string(planText(t, payersPlan(300), view.PlanOptions{})), `Net movement +00000000… +USD +-20\.00\n +00000300… +ZAR +-9,999,999\.00\n +and 299 more: USD -5,980\.00\n\n`},
		"a page":                   {page.String(), `<p>and 11 more: USD -220\.00</p>`},
	} {
		if !regexp.MustCompile(face.want).MatchString(face.text) {
			from := max(strings.Index(face.text, "Net movement"), 0)
			t.Errorf("%s shows\n%s", name, face.text[from:min(len(face.text), from+1200)])
		}
	}
	var written bytes.Buffer
	if err := view.NewJSON(&written, "").Plan(payersPlan(1100), view.PlanOptions{}); err != nil {
		t.Fatal(err)
	}
	lines := written.String()
	if !strings.Contains(lines, `"asset":"ZAR","out":"9999999`) || strings.Count(lines, `"profile_id":"0000`) != 1000 {
		t.Error("programs get no movement of the second asset, or other than 1000")
	}
}
