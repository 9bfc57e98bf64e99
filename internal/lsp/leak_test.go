package lsp_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"remit/internal/proof/suite"
)

// TestEditsLeaveNothingBehind edits each of many blocks, and asks after each edit. Neither goroutines nor memory grow with the number
// of edits: a version of the text that nobody sees any more is given up.
func TestEditsLeaveNothingBehind(t *testing.T) {
	suite.Slow(t)
	edits := suite.Dose(0, 300, 3_000)
	folder := t.TempDir()
	var text strings.Builder
	text.WriteString(payroll)
	for i := range 1_000 {
		fmt.Fprintf(&text, "\nlocals {\n  number_%d = %q\n}\n", i, strings.Repeat("x", 200))
	}
	write(t, folder, map[string]string{"main.hcl": text.String(), "staff.csv": staff, ".remit.lock.hcl": ""})
	e := newEditor(t, folder)
	e.openSaved("main.hcl")
	first := strings.Count(payroll, "\n") + 2
	round := func(n int) {
		for i := range n {
			at := position{first + i%1_000*4, 18}
			e.edit("main.hcl", object{"range": span{at, position{at.Line, at.Character + 1}}, "text": string(rune('a' + i%26))})
			e.call("textDocument/documentSymbol", object{"textDocument": e.name("main.hcl")}, nil)
		}
		if found := e.diagnostics("main.hcl"); len(found) > 0 {
			t.Fatal(found)
		}
	}
	round(50)
	heap, goroutines := held()
	round(edits)
	heapAfter, goroutinesAfter := held()
	if more := heapAfter - heap; more > 40*text.Len() {
		t.Errorf("after %d edits of a text of %d bytes the heap has %d bytes more", edits, text.Len(), more)
	}
	if goroutinesAfter > goroutines+10 {
		t.Errorf("after %d edits there are %d goroutines, and there were %d", edits, goroutinesAfter, goroutines)
	}
}

// held is what the heap has when nobody holds it, and how many goroutines there are.
func held() (heap, goroutines int) {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int(stats.HeapAlloc), runtime.NumGoroutine()
}
