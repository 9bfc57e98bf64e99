package view_test

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"remit/internal/view"
	"remit/planner"
)

func planHTML(t testing.TB, p *planner.Plan, o view.PlanOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := view.PlanHTML(&b, p, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// withoutSources leaves out the style and the script, which stand in files of their own.
func withoutSources(page string) string {
	for _, tag := range []string{"style", "script"} {
		page = regexp.MustCompile(`(?s)<`+tag+`>\n.*?</`+tag+`>`).ReplaceAllString(page, "<"+tag+">…</"+tag+">")
	}
	return regexp.MustCompile(`'sha256-[^']*'`).ReplaceAllString(page, "'sha256-…'")
}

func TestPlanAsHTML(t *testing.T) {
	for name, o := range plans() {
		t.Run(name, func(t *testing.T) {
			golden(t, "plan/"+name+".html", []byte(withoutSources(planHTML(t, readPlan(t, name), o))))
		})
	}
	golden(t, "plan/hostile.html", []byte(withoutSources(planHTML(t, hostilePlan(hostileMarkup), view.PlanOptions{Saved: true}))))
}

// The elements of the page and their attributes are remit's own for every text.
func checkHTML(t *testing.T, text string) {
	t.Helper()
	o := view.PlanOptions{Saved: true, Names: map[string]string{text: text, "benign": "benign"}}
	p := hostilePlan(text)
	p.Obstacles[0].Remedy = strings.ReplaceAll(text, "\n", " ") // each line of it is a command
	got := planHTML(t, p, o)
	checkShown(t, got)
	want := elements(planHTML(t, hostilePlan("benign"), o))
	if diff := cmp.Diff(want, elements(got)); diff != "" {
		t.Errorf("other elements with %.100q (-want +got):\n%s", text, diff)
	}
	if before, _, _ := strings.Cut(got, "<style>"); strings.Count(before, "http-equiv") != 1 {
		t.Errorf("no policy stands before the style in %.1000s", got)
	}
}

// elements are the tags of a page in their order, with the names of their attributes. Shapes
// of a drawing are as wide as its texts.
func elements(page string) []string {
	_, page, _ = strings.Cut(page, "</style>")
	page, _, _ = strings.Cut(page, "<script>")
	tags := regexp.MustCompile(`<[^>]*>`).FindAllString(page, -1)
	for i := range tags {
		tags[i] = regexp.MustCompile(`"[^"]*"`).ReplaceAllString(tags[i], `""`)
	}
	return tags
}

func TestHTMLOfHostileText(t *testing.T) {
	for _, text := range []string{
		hostile, hostileMarkup, "</script><script>alert(1)</script>", `" onload="x`, "' x='", "<!--", "]]>", "%", "%s%", "&lt;b&gt;", "\x00",
		"</style>", "javascript:alert(1)", strings.Repeat("N", 64<<10), strings.Repeat("<b>", 20<<10),
	} {
		checkHTML(t, text)
	}
}

func FuzzHTML(f *testing.F) {
	f.Add(hostileMarkup)
	f.Fuzz(func(t *testing.T, text string) {
		if text == "" || len(text) > 300 {
			t.Skip() // without an identity the page is another
		}
		checkHTML(t, text)
	})
}

func TestHTMLReturnsErrorsOfItsWriter(t *testing.T) {
	if err := view.PlanHTML(brokenWriter{}, readPlan(t, "mixed"), view.PlanOptions{}); !errors.Is(err, errBroken) {
		t.Error(err)
	}
}

// A page of ten times the transfers takes no more memory at a time.
func TestHTMLIsStreamed(t *testing.T) {
	held := func(n int) uint64 {
		p := manyPlan(n)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		peak := uint64(0)
		w := writerFunc(func(b []byte) (int, error) {
			runtime.GC()
			runtime.ReadMemStats(&after)
			if after.HeapAlloc > before.HeapAlloc {
				peak = max(peak, after.HeapAlloc-before.HeapAlloc)
			}
			return len(b), nil
		})
		if err := view.PlanHTML(w, p, view.PlanOptions{}); err != nil {
			t.Fatal(err)
		}
		runtime.KeepAlive(p)
		return peak
	}
	if few, many := held(500), held(5000); many > few+1<<20 {
		t.Errorf("500 transfers take %d bytes, 5000 take %d", few, many)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

var _ io.Writer = writerFunc(nil)
