package view_test

import (
	"fmt"
	"strings"
	"testing"

	"remit/executor"
)

func TestPastRunInABrowser(t *testing.T) {
	b := newBrowser(t)
	b.openPage(t, pastText(t, "html", pasts()["every"]))
	b.check(t, "rows", fmt.Sprint(len(strings.Fields(b.refIDs(t)))), "9")
	choose := func(id, value string) {
		t.Helper()
		b.run(t, script(fmt.Sprintf(`{const e = document.getElementById(%q); e.value = %q; e.dispatchEvent(new Event("change"))}`, id, value)))
	}
	choose("action", "in_doubt")
	b.check(t, "in doubt", b.refIDs(t), "salary-2026-11-00005 salary-2026-11-00008")
	b.run(t, script(`document.querySelector("#filters button").click()`), b.filtered())
	choose("signal", "1")
	b.check(t, "status FAILED", b.refIDs(t), "salary-2026-11-00004")
	b.run(t, script(`document.querySelector("#filters button").click()`), b.filtered())
	b.run(t, script(`document.querySelectorAll("#all thead button")[3].click()`))
	b.check(t, "least of the first asset", strings.Fields(b.refIDs(t))[0], "salary-2026-11-00008")

	for _, text := range []string{hostileMarkup, `</script><script>document.title="got"</script><img src=x onerror='document.title="got"'>`} {
		b.openPage(t, pastText(t, "html", hostilePast(text)))
		b.check(t, "foreign elements", b.text(t, `document.querySelectorAll("img, a, iframe, object, link, base, body script ~ script").length`), "0")
		b.check(t, "rows", b.text(t, `document.querySelectorAll("#all > tbody > tr:not(.group)").length`), fmt.Sprint(len(executor.Results())))
		if title := b.text(t, "document.title"); !strings.HasPrefix(title, "Run ") {
			t.Errorf("the title is %q", title)
		}
	}
}
