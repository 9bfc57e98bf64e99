package view

import (
	"fmt"
	"io"
	"time"

	"github.com/hashicorp/hcl/v2"
)

// TestStatus is how a run of a test ended, or a file of them.
type TestStatus string

// The statuses, from best to worst; a file has the worst of its runs.
const (
	TestPass  TestStatus = "pass"
	TestSkip  TestStatus = "skip"  // an earlier apply of the file did not take place, or ended with an error
	TestFail  TestStatus = "fail"  // something is not as the run says that it must be
	TestError TestStatus = "error" // it could not be told
)

// TestRun is a run of a test that ended.
type TestRun struct {
	File, Name  string
	Line        int
	Status      TestStatus
	Took        time.Duration
	Diagnostics hcl.Diagnostics      // why it did not pass, and warnings
	Sources     map[string]*hcl.File // by the names that the diagnostics use
}

// TestCounts are how many runs ended how.
type TestCounts map[TestStatus]int

// Passed reports whether no run failed.
func (c TestCounts) Passed() bool { return c[TestFail]+c[TestError]+c[TestSkip] == 0 }

// Tests writes for a person the results of tests, while they run.
type Tests struct {
	w io.Writer
	s Screen
}

// NewTests returns a Tests that writes to w.
func NewTests(w io.Writer, s Screen) *Tests { return &Tests{w, s} }

// Begin says that the runs of a file are next.
func (t *Tests) Begin(file string) error {
	p := newPage(t.w, t.s)
	p.line(plain(file+"... "), dim("in progress"))
	return p.Flush()
}

// Ran says how a run ended, and why.
func (t *Tests) Ran(run TestRun) error {
	p := newPage(t.w, t.s)
	p.line(plain(fmt.Sprintf("  run %q... ", run.Name)), run.Status.span())
	for _, d := range run.Diagnostics {
		p.diagnostic(d, run.Sources)
	}
	if len(run.Diagnostics) > 0 {
		p.line()
	}
	return p.Flush()
}

// End says how the runs of a file ended.
func (t *Tests) End(file string, worst TestStatus) error {
	p := newPage(t.w, t.s)
	p.line(plain(file+"... "), worst.span())
	return p.Flush()
}

// Counted says how all runs ended.
func (t *Tests) Counted(counts TestCounts) error {
	p := newPage(t.w, t.s)
	word := span{"Success!", toneGood}
	if !counts.Passed() {
		word = span{"Failure!", toneBad}
	}
	text := fmt.Sprintf(" %d passed, %d failed", counts[TestPass], counts[TestFail]+counts[TestError])
	if n := counts[TestSkip]; n > 0 {
		text += fmt.Sprintf(", %d skipped", n)
	}
	p.line()
	p.line(word, plain(text+"."))
	return p.Flush()
}

func (s TestStatus) span() span {
	tones := map[TestStatus]tone{TestPass: toneGood, TestSkip: toneDim, TestFail: toneBad, TestError: toneBad}
	return span{string(s), tones[s]}
}
