package view_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/emulation"

	"remit/internal/view"
)

// TestAReconciliationOfManyAssetsFillsItsFirstPage prints totals of more assets than the rest of a
// page has room for: they begin there, and go on on the next one.
func TestAReconciliationOfManyAssetsFillsItsFirstPage(t *testing.T) {
	b := newBrowser(t)
	call(t, b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	for assets, want := range map[int]string{3: "avoid", 20: "auto"} {
		s, o := reconciled("EUR")
		s.Assets = slices.Repeat(s.Assets, assets)
		var html bytes.Buffer
		if err := view.ReconciliationHTML(&html, s, o); err != nil {
			t.Fatal(err)
		}
		b.openPage(t, html.String())
		got := b.text(t, `getComputedStyle(document.querySelector("section")).breakInside`)
		b.check(t, fmt.Sprintf("breaks inside of the totals of %d assets", assets), got, want)
	}
}
