package view_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"remit/internal/proof/suite"
	"remit/internal/view"
	"remit/planner"
)

// browser is a real Chromium in which a page is open.
type browser struct {
	context.Context
	isScriptless bool

	mu         sync.Mutex
	address    string   // of the page
	requests   []string // every address that was asked for
	complaints []string // errors and logs: a violation of the page's policy, too
}

// TestMain ends the Chromium that the tests share.
func TestMain(m *testing.M) {
	defer func() { endChromium() }()
	m.Run()
}

var endChromium = func() {} // until there is one

// chromium starts Chromium without a window, once: tests have tabs of it. Debian's package is enough:
// apt-get install chromium.
var chromium = sync.OnceValues(func() (context.Context, error) {
	path, err := exec.LookPath("chromium")
	if err != nil {
		return nil, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.WindowSize(1400, 1000),
		chromedp.Env("TMPDIR=/tmp"), // its socket has no longer name
		chromedp.WSURLReadTimeout(15*time.Minute))
	ctx, end := chromedp.NewExecAllocator(context.Background(), options...)
	endChromium = end
	ctx, _ = chromedp.NewContext(ctx) // it ends with the allocator
	return ctx, chromedp.Do(ctx)
})

// newBrowser opens a tab of Chromium for a test.
func newBrowser(t testing.TB) *browser {
	t.Helper()
	suite.Slow(t)
	if _, err := exec.LookPath("chromium"); err != nil {
		t.Skip("chromium is not installed here (Debian: apt-get install chromium)")
	}
	ctx, err := chromium()
	if err != nil {
		t.Fatal(err)
	}
	b := new(browser)
	var cancel context.CancelFunc
	b.Context, cancel = chromedp.NewContext(ctx, chromedp.WithListener(b.hear))
	t.Cleanup(cancel)
	call(t, b, network.Enable, network.EnableParams{})
	call(t, b, log.Enable, cdp.Empty{})
	t.Cleanup(func() { b.checkQuiet(t) })
	return b
}

func (b *browser) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	case *log.EventEntryAdded:
		b.complaints = append(b.complaints, e.Entry.Text)
	case *runtime.EventExceptionThrown:
		b.complaints = append(b.complaints, e.ExceptionDetails.Text)
	}
}

func (b *browser) run(t testing.TB, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(b, actions...); err != nil {
		t.Fatal(err)
	}
}

func call[P, R any](t testing.TB, b *browser, command cdp.Command[P, R], params P) {
	t.Helper()
	if _, err := chromedp.Call(b, command, params); err != nil {
		t.Fatal(err)
	}
}

// script runs a statement in the page, whose policy does not hold for it.
func script(text string) chromedp.Action[chromedp.Void] {
	return chromedp.Evaluate[chromedp.Void](text, chromedp.EvalAwaitPromise)
}

// open opens the page of a plan from a file, and returns how long it took until it was drawn.
func (b *browser) open(t testing.TB, p *planner.Plan, o view.PlanOptions) time.Duration {
	t.Helper()
	return b.openPage(t, planHTML(t, p, o))
}

func (b *browser) openPage(t testing.TB, page string) time.Duration {
	t.Helper()
	path := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(path, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	b.checkQuiet(t)
	b.mu.Lock()
	b.address = (&url.URL{Scheme: "file", Path: path}).String()
	b.requests, b.complaints = nil, nil
	b.mu.Unlock()
	start := time.Now()
	b.run(t, chromedp.Navigate(b.address))
	if !b.isScriptless {
		b.run(t, b.drawn())
	}
	return time.Since(start)
}

// checkQuiet fails where the page asked for more than itself, or the browser complained.
func (b *browser) checkQuiet(t testing.TB) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.address != "" && (len(b.requests) != 1 || b.requests[0] != b.address) {
		t.Errorf("the page asked for %q", b.requests)
	}
	if len(b.complaints) > 0 {
		t.Errorf("the browser says %q", b.complaints)
	}
}

// drawn waits until the visible part is drawn.
func (b *browser) drawn() chromedp.Action[chromedp.Void] {
	return script(`new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`)
}

// filtered waits until a page of few rows, which filters them right after the event that asks for it, has done so and is drawn.
func (b *browser) filtered() chromedp.Action[chromedp.Void] {
	return script(`new Promise(done => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(() => done(true)))))`)
}

func (b *browser) text(t testing.TB, expression string) string {
	t.Helper()
	text, err := chromedp.Run(b, chromedp.Evaluate[string]("Promise.resolve("+expression+").then(String)", chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// refIDs are those of the transfers that are to be seen, in their order.
func (b *browser) refIDs(t testing.TB) string {
	t.Helper()
	return b.text(t, `Array.from(document.querySelectorAll("#all > tbody > tr:not(.group)")).filter(r => r.offsetHeight > 0).map(r => r.cells[1].firstChild.textContent.trim()).join(" ")`)
}

func (b *browser) check(t testing.TB, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func TestHTMLInABrowser(t *testing.T) {
	b := newBrowser(t)
	all := b.in(t, "mixed", plans()["mixed"])
	const expected = "funding-2026-11 sweep-2026-11-apac sweep-2026-11-emea refund-8841 rent-2026-10 rent-2026-09 fx-2026-09 bonus-2026-09-E-1004 rent-2026-12 promo-17 bonus-2026-11-E-1002 office-rent"
	b.check(t, "all", all, expected)

	t.Run("filters by text", func(t *testing.T) {
		b.run(t, script(`document.getElementById("text").focus()`), chromedp.KeyEvent("LANDLORD"), b.filtered())
		b.check(t, "transfers", b.refIDs(t), "rent-2026-10 rent-2026-09 rent-2026-12 office-rent")
		b.check(t, "status", b.text(t, `document.getElementById("shown").textContent`), "4 of 12 transfers shown")
	})
	t.Run("filters by action as well", func(t *testing.T) {
		b.run(t, script(`document.getElementById("action").value = "wait"; document.getElementById("action").dispatchEvent(new Event("change"))`))
		b.check(t, "transfers", b.refIDs(t), "rent-2026-12")
	})
	t.Run("shows all again", func(t *testing.T) {
		b.run(t, script(`document.querySelector("#filters button").click()`), b.filtered())
		b.check(t, "transfers", b.refIDs(t), expected)
	})
	t.Run("filters by signal", func(t *testing.T) {
		b.run(t, script(`document.getElementById("signal").value = "0"; document.getElementById("signal").dispatchEvent(new Event("change"))`))
		b.check(t, "transfers", b.refIDs(t), "bonus-2026-11-E-1002 office-rent")
		b.run(t, script(`document.querySelector("#filters button").click()`), b.filtered())
	})
	t.Run("sorts by keyboard", func(t *testing.T) {
		const amount = `document.querySelectorAll("#all thead th")[3]`
		b.run(t, script(amount+`.firstChild.focus()`), chromedp.KeyEvent(kb.Enter))
		b.check(t, "direction", b.text(t, amount+`.getAttribute("aria-sort")`), "ascending")
		b.check(t, "least", strings.Fields(b.refIDs(t))[0], "promo-17")
		b.run(t, chromedp.KeyEvent(kb.Enter))
		b.check(t, "direction", b.text(t, amount+`.getAttribute("aria-sort")`), "descending")
		b.check(t, "largest", strings.Fields(b.refIDs(t))[0], "funding-2026-11")
		b.run(t, chromedp.KeyEvent(kb.Enter))
		b.check(t, "transfers", b.refIDs(t), expected)
	})
}

func (b *browser) in(t testing.TB, name string, o view.PlanOptions) string {
	t.Helper()
	b.open(t, readPlan(t, name), o)
	return b.refIDs(t)
}

func TestHTMLWithoutScript(t *testing.T) {
	b := newBrowser(t)
	b.isScriptless = true
	call(t, b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.open(t, readPlan(t, "mixed"), view.PlanOptions{})
	b.check(t, "rows", fmt.Sprint(len(strings.Fields(b.refIDs(t)))), "12")
	b.check(t, "filters", b.text(t, `getComputedStyle(document.getElementById("filters")).display`), "none")
	b.check(t, "heads that sort", b.text(t, `document.querySelectorAll("#all thead button, [aria-sort]").length`), "0")
}

// A hostile plan is a page of remit's own elements, which runs nothing and asks for nothing.
func TestHostileHTMLInABrowser(t *testing.T) {
	b := newBrowser(t)
	for _, text := range []string{hostileMarkup, `</script><script>document.title="got"</script><img src=x onerror='document.title="got"'>`} {
		b.open(t, hostilePlan(text), view.PlanOptions{Saved: true, Names: map[string]string{text: text}})
		b.check(t, "foreign elements", b.text(t, `document.querySelectorAll("img, a, iframe, object, link, base, body script ~ script").length`), "0")
		b.check(t, "rows", b.text(t, `document.querySelectorAll("#all > tbody > tr:not(.group)").length`), fmt.Sprint(len(planner.Actions())))
		if title := b.text(t, "document.title"); !strings.HasPrefix(title, "Plan ") {
			t.Errorf("the title is %q", title)
		}
	}
}

// TestHTMLIsAccessible needs axe-core, at the path that REMIT_AXE names: npm install axe-core,
// then node_modules/axe-core/axe.min.js.
func TestHTMLIsAccessible(t *testing.T) {
	b := newBrowser(t)
	path := os.Getenv("REMIT_AXE")
	if path == "" {
		t.Skip("REMIT_AXE does not name axe-core's axe.min.js: .ci/run tests installs it")
	}
	axe, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const violations = `axe.run().then(found => found.violations.map(v => v.id + ": " + v.help + " at " + v.nodes.slice(0, 3).map(n => n.html.slice(0, 150)).join(" | ")).join("\n"))`
	for name, page := range everyPage(t) {
		if strings.Contains(name, "hostile") { // they have the elements of the others
			continue
		}
		for width, scheme := range map[int64]string{1280: "light", 390: "dark"} {
			t.Run(name+" in "+scheme, func(t *testing.T) {
				b.setWidth(t, width)
				call(t, b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
					Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
				})
				b.openPage(t, page)
				b.run(t, script(string(axe)))
				b.check(t, "violations", b.text(t, violations), "")
			})
		}
	}
}

// BenchmarkHTMLInABrowser says how long a reader of 10,000 transfers waits.
func BenchmarkHTMLInABrowser(t *testing.B) {
	b := newBrowser(t)
	t.ResetTimer()
	for range t.N {
		opened, sorted, filtered := b.useManyTransfers(t)
		t.ReportMetric(opened.Seconds(), "s/open")
		t.ReportMetric(sorted.Seconds(), "s/sort")
		t.ReportMetric(filtered.Seconds(), "s/filter")
	}
}

func TestHTMLOfManyTransfersIsUsable(t *testing.T) {
	newBrowser(t).useManyTransfers(t)
}

// useManyTransfers opens, sorts and filters a page of 10,000 transfers.
func (b *browser) useManyTransfers(t testing.TB) (opened, sorted, filtered time.Duration) {
	t.Helper()
	opened = b.open(t, crowdedPlan(10_000), view.PlanOptions{Saved: true})
	start := time.Now()
	b.run(t, script(`document.querySelectorAll("#all thead button")[3].click()`), b.drawn())
	sorted = time.Since(start)
	start = time.Now()
	b.run(t, script(`document.getElementById("action").value = "conflict"; document.getElementById("action").dispatchEvent(new Event("change"))`), b.drawn())
	filtered = time.Since(start)
	shown := b.text(t, `document.getElementById("shown").textContent`)
	if !strings.Contains(shown, " of 10000 transfers shown") {
		t.Errorf("after filtering the page says %q", shown)
	}
	return opened, sorted, filtered
}
