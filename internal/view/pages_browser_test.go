package view_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"remit/internal/view"
)

// everyPage is a page of each kind, small and large, plain and hostile.
func everyPage(t *testing.T) map[string]string {
	t.Helper()
	long := strings.Repeat("N", 300) + hostileMarkup
	pages := map[string]string{
		"a run": pastText(t, "html", pasts()["every"]), "a run of nothing": pastText(t, "html", newPast()), "a hostile run": pastText(t, "html", hostilePast(long)),
		"a report": reportHTML(t, monthLedger(), november), "a report of nothing": reportHTML(t, emptyLedger(), november),
		"a reconciliation": reconciliationHTML(t),
		"a tree":           treeFaces(t, treeOf(""))["html"],
		"a hostile tree":   treeFaces(t, treeOf(long))["html"],
		"a hostile plan":   planHTML(t, hostilePlan(long), view.PlanOptions{Saved: true, Names: map[string]string{long: long}}),
		"a crowded plan":   planHTML(t, crowdedPlan(60), view.PlanOptions{Saved: true}),
	}
	for name, o := range plans() {
		pages["the plan "+name] = planHTML(t, readPlan(t, name), o)
	}
	return pages
}

func reconciliationHTML(t testing.TB) string {
	t.Helper()
	s, o := reconciled("EUR")
	var b bytes.Buffer
	if err := view.ReconciliationHTML(&b, s, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// setWidth makes the window as wide as a device's.
func (b *browser) setWidth(t testing.TB, width int64) {
	t.Helper()
	call(t, b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 844, DeviceScaleFactor: 1, Mobile: width < 500})
}

// TestPagesFitAPhone holds that at the width of a phone nothing of a page is out of the window, and no table has
// to be moved to be read.
func TestPagesFitAPhone(t *testing.T) {
	b := newBrowser(t)
	b.setWidth(t, 390)
	for name, text := range everyPage(t) {
		t.Run(name, func(t *testing.T) {
			b.openPage(t, text)
			b.run(t, script(`for (const d of document.querySelectorAll("details")) d.open = true`), b.drawn())
			b.check(t, "the width of the page", b.text(t, `document.documentElement.scrollWidth`), "390")
			b.check(t, "what is out of the window", b.text(t, `Array.from(document.querySelectorAll("body *")).filter(e => e.checkVisibility() && !e.closest("thead") && e.tagName !== "CAPTION")
				.filter(e => { const r = e.getBoundingClientRect(); return r.width > 0 && (r.right > innerWidth + 1 || r.left < -1) }).map(e => e.outerHTML.slice(0, 90)).slice(0, 3).join(" ")`), "")
			b.check(t, "what is out of its panel", b.text(t, `Array.from(document.querySelectorAll(".panel *")).filter(e => e.checkVisibility() && e.tagName !== "CAPTION" && !e.closest("caption"))
				.filter(e => e.getBoundingClientRect().right > e.closest(".panel").getBoundingClientRect().right).map(e => e.outerHTML.slice(0, 90)).slice(0, 3).join(" ")`), "")
			b.check(t, "what has to be moved", b.text(t, `Array.from(document.querySelectorAll("body *")).filter(e => e.checkVisibility() && getComputedStyle(e).overflowX === "auto" && e.scrollWidth > e.clientWidth + 1).map(e => e.outerHTML.slice(0, 90)).join(" ")`), "")
		})
	}
}

// TestPagesHaveOneHead holds that every page begins with what it is, how much that comes to, and the tasks of
// its reader.
func TestPagesHaveOneHead(t *testing.T) {
	b := newBrowser(t)
	for name, text := range everyPage(t) {
		t.Run(name, func(t *testing.T) {
			b.openPage(t, text)
			b.check(t, "the head", b.text(t, `Array.from(document.querySelectorAll("header > :first-child, header h1, header h2")).map(e => e.tagName === "P" ? e.className.split(" ")[0] : e.tagName === "H1" ? "title" : e.textContent).join(", ")`),
				"environment, title, How much, What needs you")
		})
	}
}

// TestPagesAreSearched types what a reader looks for, and sees the rest.
func TestPagesAreSearched(t *testing.T) {
	b := newBrowser(t)
	const left = `Array.from(document.querySelectorAll("table.rows > tbody > tr:not(.group)")).filter(r => r.offsetHeight > 0).map(r => r.querySelector("th").firstChild.textContent.trim()).join(" ")`
	for name, test := range map[string]struct{ page, search, want string }{
		"a name":                         {planHTML(t, readPlan(t, "mixed"), plans()["mixed"]), "LANDLORD", "rent-2026-10 rent-2026-09 rent-2026-12 office-rent"},
		"a ref_id":                       {planHTML(t, readPlan(t, "mixed"), plans()["mixed"]), "refund-88", "refund-8841"},
		"an amount without commas":       {planHTML(t, readPlan(t, "mixed"), plans()["mixed"]), "12000.00", "funding-2026-11"},
		"a ref_id of a run":              {pastText(t, "html", pasts()["every"]), "2026-11-00004", "salary-2026-11-00004"},
		"a name in a report":             {reportHTML(t, monthLedger(), november), "landlord", "old-lease-2025 landlord"},
		"a transfer that does not match": {reconciliationHTML(t), "another-amount", ""},
		"what is nowhere":                {planHTML(t, readPlan(t, "mixed"), plans()["mixed"]), "nobody", ""},
	} {
		t.Run(name, func(t *testing.T) {
			b.openPage(t, test.page)
			b.run(t, script(`document.getElementById("text").focus()`), chromedp.KeyEvent(test.search), b.filtered())
			b.check(t, "rows", b.text(t, left), test.want)
			b.check(t, "headings of groups without a row", b.text(t, `Array.from(document.querySelectorAll("[data-group]")).filter(g => g.offsetHeight > 0 && !Array.from(g.querySelectorAll("table.rows > tbody > tr:not(.group), tr[data-action]")).some(r => r.offsetHeight > 0)).length`), "0")
			b.run(t, script(`document.querySelector("#filters button").click()`), b.filtered())
			b.check(t, "rows that are hidden after all", b.text(t, `document.querySelectorAll("tr[hidden], [data-group][hidden]").length`), "0")
		})
	}
}

// TestPagesPrint holds that paper has no filters, and that nothing is wider than it.
func TestPagesPrint(t *testing.T) {
	b := newBrowser(t)
	for name, text := range everyPage(t) {
		t.Run(name, func(t *testing.T) {
			call(t, b, emulation.ClearDeviceMetricsOverride, cdp.Empty{})
			b.openPage(t, text)
			printed, err := chromedp.Call(b, page.PrintToPDF, page.PrintToPDFParams{PreferCSSPageSize: new(true), PrintBackground: new(true)})
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.HasPrefix(printed.Data, []byte("%PDF-")) {
				t.Errorf("it prints %.20q", printed.Data)
			}
			call(t, b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
			b.check(t, "filters on paper", b.text(t, `Array.from(document.querySelectorAll("#filters, #shown")).filter(e => e.offsetHeight > 0).length`), "0")
			// 182 mm are between the margins of A4, at 96 pixels an inch, and 269 mm of one that lies.
			b.setWidth(t, 687)
			b.check(t, "wider than the paper", b.text(t, `Array.from(document.querySelectorAll("table, svg, p, h1, h2, h3")).filter(e => e.getBoundingClientRect().right > (e.closest(".all") ? 1017 : innerWidth) + 1).map(e => e.outerHTML.slice(0, 80)).join()`), "")
			call(t, b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: ""})
		})
	}
}

// TestFlowOfFundsHasNoCrossedLabel holds that no line of the picture goes through a label or a box that it does not
// belong to, and that no two labels overlap.
func TestFlowOfFundsHasNoCrossedLabel(t *testing.T) {
	b := newBrowser(t)
	for name, text := range flowPages(t) {
		t.Run(name, func(t *testing.T) {
			b.openPage(t, text)
			b.check(t, "crossed", b.text(t, `(() => {
				const svg = document.querySelector("svg.flow"), crossed = [];
				const lines = Array.from(svg.querySelectorAll("path.flow-arrow")), labels = Array.from(svg.querySelectorAll("text.flow-label"));
				const boxes = Array.from(svg.querySelectorAll("rect.flow-box")).map(r => r.getBBox());
				const text = labels.map(l => l.getBBox());
				const inside = (p, r, by) => p.x > r.x + by && p.x < r.x + r.width - by && p.y > r.y + by && p.y < r.y + r.height - by;
				lines.forEach((line, n) => {
					const length = line.getTotalLength();
					for (let at = 0; at <= length; at += 2) {
						const p = line.getPointAtLength(at);
						text.forEach((r, of) => { if (of !== n && inside(p, r, 1)) crossed.push("line " + n + " crosses label " + labels[of].textContent) });
						boxes.forEach(r => { if (inside(p, r, 3)) crossed.push("line " + n + " crosses a box") });
					}
				});
				text.forEach((a, i) => text.forEach((c, j) => { if (i < j && a.x < c.x + c.width && c.x < a.x + a.width && a.y < c.y + c.height - 2 && c.y < a.y + a.height - 2) crossed.push(labels[i].textContent + " overlaps " + labels[j].textContent) }));
				return Array.from(new Set(crossed)).slice(0, 5).join("; ");
			})()`), "")
		})
	}
}

func flowPages(t testing.TB) map[string]string {
	t.Helper()
	var chain, circle payments
	for i := range 30 { // a sender pays many, and some of them pay each other and one far away
		chain.pay("treasury", fmt.Sprintf("entity-%02d", i), fmt.Sprintf("%d.00", 10+i*i), "USD")
		if i%3 == 0 {
			chain.pay(fmt.Sprintf("entity-%02d", i), fmt.Sprintf("entity-%02d", (i+7)%30), "5.00", []string{"EUR", "USD"}[i%2])
		}
	}
	chain.pay("treasury", "entity-07-sub", "1.00", "USD")
	chain.pay("entity-07", "entity-07-sub", "12345678.00", "USD")
	for i := range 6 {
		circle.pay(fmt.Sprintf("profile-%d", i), fmt.Sprintf("profile-%d", (i+1)%6), fmt.Sprintf("%d.00", 1+i), "USD")
		circle.pay("profile-0", fmt.Sprintf("profile-%d", 1+i%5), "7.00", "EUR")
	}
	pages := map[string]string{"a chain": planHTML(t, chain.plan(), view.PlanOptions{}), "a circle": planHTML(t, circle.plan(), view.PlanOptions{})}
	for _, name := range []string{"payroll", "marketplace", "mixed", "sandbox"} {
		pages[name] = planHTML(t, readPlan(t, name), view.PlanOptions{Names: flowNames})
	}
	return pages
}
