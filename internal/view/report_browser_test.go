package view_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// TestReportInABrowser compares the drawing with the tables, in every size of a month.
func TestReportInABrowser(t *testing.T) {
	b := newBrowser(t)
	for name, l := range map[string]*ledger{
		"a month": monthLedger(), "an empty month": emptyLedger(), "one transfer": oneLedger(),
		"five assets": manyLedger(400, 5, 300),
	} {
		t.Run(name, func(t *testing.T) {
			b.openPage(t, reportHTML(t, l, november))
			b.check(t, "columns that are out of their chart", b.text(t,
				`Array.from(document.querySelectorAll("svg")).filter(s => Array.from(s.querySelectorAll("rect.bar")).some(r => { const a = s.getBoundingClientRect(), c = r.getBoundingClientRect(); return c.left < a.left - 1 || c.right > a.right + 1 || c.top < a.top - 1 || c.bottom > a.bottom + 1 })).length`), "0")
			b.check(t, "charts without as many columns as their table has rows", b.text(t,
				`Array.from(document.querySelectorAll("svg.chart")).filter(s => { let t = s; while (t.tagName !== "TABLE") t = t.nextElementSibling; return s.querySelectorAll("rect.bar").length !== t.tBodies[0].rows.length }).length`), "0")
			// Amounts are added up as whole numbers of the smallest part.
			b.check(t, "tables that do not add up", b.text(t, `(() => {
				const units = cell => BigInt(cell.innerText.replace(/[^0-9]/g, ""));
				return Array.from(document.querySelectorAll("table")).filter(t => t.tFoot).filter(t => {
					const column = t.tFoot.rows[0].cells[2].cellIndex;
					const total = Array.from(t.tBodies[0].rows).reduce((sum, r) => sum + units(r.cells[column]), 0n);
					return total !== units(t.tFoot.rows[0].cells[column]);
				}).length })()`), "0")
			b.check(t, "text that is cut", b.text(t, `Array.from(document.querySelectorAll("td, th")).filter(c => c.scrollWidth > c.clientWidth + 1 && c.clientWidth > 0).length`), "0")
			b.check(t, "wider than the window", b.text(t, `document.documentElement.scrollWidth > innerWidth`), "false")
		})
	}
}

func TestReportPrints(t *testing.T) {
	b := newBrowser(t)
	b.openPage(t, reportHTML(t, monthLedger(), november))
	printed, err := chromedp.Call(b, page.PrintToPDF, page.PrintToPDFParams{PreferCSSPageSize: new(true), PrintBackground: new(true)})
	if err != nil {
		t.Fatal(err)
	}
	pages := bytes.Count(printed.Data, []byte("/Type /Page\n"))
	if !bytes.HasPrefix(printed.Data, []byte("%PDF-")) || pages < 4 || pages > 12 {
		t.Errorf("%d bytes, %d pages", len(printed.Data), pages)
	}
	call(t, b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	// 178 mm are between the margins of A4, at 96 pixels an inch.
	call(t, b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 673, Height: 1000, DeviceScaleFactor: 1})
	b.check(t, "wider than the paper", b.text(t, `Array.from(document.querySelectorAll("table, svg, p")).filter(e => e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 80)).join()`), "")
}

func TestReportOfManyTransfersOpens(t *testing.T) {
	start := time.Now()
	text := reportHTML(t, manyLedger(20_000, 5, 3000), november)
	made := time.Since(start)
	b := newBrowser(t)
	opened := b.openPage(t, text)
	b.check(t, "destinations of one asset", b.text(t, `document.querySelector("#destination-0 ~ .wide tbody").rows.length`), "21")
	t.Logf("made in %v, %d kB, opened in %v", made, len(text)>>10, opened)
	b.check(t, "size", fmt.Sprint(len(text) < 2<<20), "true")
}
