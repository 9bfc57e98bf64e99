package view

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"

	"remit/executor"
)

// How often progress is told, by the times of the events.
const (
	barEvery  = 100 * time.Millisecond
	lineFirst = time.Second
	lineEvery = 10 * time.Second
)

// Run shows a run to a person while it goes on. It is an [executor.Handler]: events come
// one at a time. Close ends it.
type Run struct {
	out, err *page

	total, settled int
	counts         map[executor.Result]int
	begun, told    time.Time
	waiting        string         // the latest reason to wait that was shown
	said           map[string]int // exceptions that were told, by result and reason
	changes        int            // that were told
	old            int            // transfers that were adopted by old records
	isRefresh      bool           // out shows changes
	options        RunOptions
	ref            int   // widest ref_id so far
	amount         point // widest amount so far

	bar *progressbar.ProgressBar // nil where there is none
}

// RunOptions say how to show a run while it goes on.
type RunOptions struct {
	Screen       // what err is
	Piped   bool // out is no terminal
	ShowAll bool // each settled transfer is told, however many there are
}

// NewRun returns a Run. Where err is a terminal, a progress bar runs there, and a transfer that is neither
// recorded nor adopted is told there as it happens. Each settled transfer is a line on out where
// nobody watches the bar: where out is piped, up to 200 of them; with ShowAll always. Where err is
// no terminal, progress of long runs is told there in lines.
func NewRun(out, err io.Writer, o RunOptions) *Run {
	return &Run{out: newPage(out, o.Screen), err: newPage(err, o.Screen), options: o, counts: make(map[executor.Result]int), said: make(map[string]int)}
}

// NewRefresh returns a Run for a refresh, which has no run around it: changes by a lookup go to out.
func NewRefresh(out, err io.Writer, s Screen) *Run {
	r := NewRun(out, err, RunOptions{Screen: s, Piped: !s.Terminal})
	r.isRefresh = true
	return r
}

// Handle shows one event. Write errors are kept for Close: a run goes on though nobody
// watches it.
func (r *Run) Handle(e executor.Event) {
	switch e.Type {
	case executor.EventBegun:
		r.begin(e)
	case executor.EventSettled:
		r.settle(e)
	case executor.EventWaiting:
		if e.Reason != r.waiting {
			r.waiting = e.Reason
			r.tell(toneDim, "waiting", e)
		}
	case executor.EventChanged:
		r.change(e)
	case executor.EventNotice:
		r.tell(toneNone, "notice", e)
	case executor.EventStopping:
		r.tell(toneDoubt, "stopping", e)
	case executor.EventIntended:
	}
	r.progress(e.Time)
	_ = r.out.Flush()
	_ = r.err.Flush()
}

// Close takes the progress bar away. It returns the first error of writing.
func (r *Run) Close() error {
	r.hideBar()
	r.bar = nil
	if err := r.out.Flush(); err != nil {
		return err
	}
	return r.err.Flush()
}

func (r *Run) begin(e executor.Event) {
	r.total, r.begun, r.told = e.Total, e.Time, e.Time.Add(lineFirst-lineEvery)
	if !r.err.Terminal || r.total == 0 {
		return
	}
	r.told = e.Time.Add(-barEvery)
	r.bar = progressbar.NewOptions(r.total,
		progressbar.OptionSetWriter(r.err),
		progressbar.OptionSetWidth(r.barWidth()),
		progressbar.OptionSetTheme(progressbar.ThemeASCII),
		progressbar.OptionUseANSICodes(true),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetPredictTime(false), // told by the events' own times
		progressbar.OptionSetElapsedTime(false),
		progressbar.OptionShowDescriptionAtLineEnd(),
	)
}

// barWidth leaves room for the numbers beside the bar.
func (r *Run) barWidth() int { return min(40, max(10, r.err.width()-60)) }

func (r *Run) settle(e executor.Event) {
	r.settled++
	r.counts[e.Result]++
	if isException(e.Result) {
		page := r.out
		if r.err.Terminal {
			page = r.err
		}
		if r.isSaid(&e) {
			return
		}
		r.hideBar()
		r.line(page, e)
		return
	}
	if isOldAdoption(&e) {
		r.adoptOld(e)
		return
	}
	if r.options.ShowAll || r.options.Piped && r.total <= linesMax {
		if !r.options.Piped {
			r.hideBar()
		}
		r.line(r.out, e)
	}
}

// isOldAdoption reports whether the run adopted a transfer by a record that a person has to look at.
func isOldAdoption(e *executor.Event) bool {
	return e.Reason != "" && executor.IsByOldRecord(e.Detail)
}

// adoptOld tells of a transfer that was adopted by a record so old that a person has to look at it: of the first [exceptionsMax] of them, on a
// terminal too.
func (r *Run) adoptOld(e executor.Event) {
	r.old++
	page := r.out
	if r.err.Terminal {
		page = r.err
	}
	if r.old > exceptionsMax {
		e.Reason = ""
		if !r.options.ShowAll && (!r.options.Piped || r.total > linesMax) {
			return
		}
	}
	r.hideBar()
	r.line(page, e)
}

// isSaid reports whether enough transfers with the same end and reason were told, and leaves a reason out
// that was told before: the end of the run has their number. Reasons that differ each time are
// all told.
func (r *Run) isSaid(e *executor.Event) bool {
	const reasonsMax = 1000
	what := string(e.Result) + " " + e.Reason
	before, isKnown := r.said[what]
	if isKnown || len(r.said) < reasonsMax {
		r.said[what] = before + 1
	}
	if isKnown {
		e.Reason = ""
	}
	return before >= exceptionsMax
}

// feeOf is the fee that the service's record has; "" for none, or nothing.
func feeOf(e executor.Event) string {
	if e.Detail == nil || e.Detail.Deciding == nil || strings.Trim(e.Detail.Deciding.Fee, "0.") == "" {
		return ""
	}
	return e.Detail.Deciding.Fee
}

// isException reports whether a result needs a person.
func isException(result executor.Result) bool {
	return result != executor.ResultRecorded && result != executor.ResultAdopted
}

// line tells how one transfer ended, and why where that is not clear. How to go on is said at the
// end, once for all that go on alike.
func (r *Run) line(p *page, e executor.Event) {
	r.ref = min(max(r.ref, displayWidth(e.RefID)), 48)
	r.amount.fit(p.amount(e.Amount, e.Asset))
	spans := []span{
		{pad(resultWord(e.Result), resultWidth) + "  ", resultTone(e.Result)},
		plain(pad(cutMiddle(Visible(e.RefID), r.ref), r.ref)),
		plain("  " + r.amount.align(p.amount(e.Amount, e.Asset)) + " " + Visible(e.Asset)),
	}
	if e.Group != "" {
		spans = append(spans, dim("  group_id "+e.Group))
	}
	if fee := feeOf(e); fee != "" {
		spans = append(spans, dim("  fee "+Visible(cutEnd(p.Scales.Shown(fee, e.Asset), 40))))
	}
	p.line(spans...)
	if isException(e.Result) || isOldAdoption(&e) {
		e.Next = ""
		p.explain("    ", e)
	}
}

// explain writes the reason of an exception and the command that goes on from it.
func (p *page) explain(indent string, e executor.Event) {
	if e.Reason != "" {
		p.paragraph(indent, Visible(e.Reason), toneNone)
	}
	if e.Next != "" {
		p.command(indent, p.here(e.Next))
	}
}

// tell writes an event that is of the run and not of one outcome.
func (r *Run) tell(t tone, word string, e executor.Event) {
	r.hideBar()
	text := trimEmpty([]string{e.RefID, e.Reason})
	r.err.paragraph("", word+": "+Visible(strings.Join(text, ": ")), t)
	if e.Next != "" {
		r.err.command("", r.err.here(e.Next))
	}
}

// progress moves the bar, or writes a line now and then where there is none.
func (r *Run) progress(now time.Time) {
	switch {
	case r.total == 0 || r.settled > r.total:
	case r.bar != nil:
		if now.Sub(r.told) >= barEvery && r.settled < r.total {
			r.told = now
			const around = 11 // percentage, brackets and spaces
			r.bar.Describe(cutEnd(r.describe(now), r.err.width()-r.barWidth()-around))
			_ = r.bar.Set(r.settled)
		}
	case r.total > linesMax && now.Sub(r.told) >= lineEvery:
		r.told = now
		r.err.paragraph("", "settled: "+r.describe(now), toneNone)
	}
}

// describe is how far the run is: count, rate, time left, exceptions.
func (r *Run) describe(now time.Time) string {
	text := fmt.Sprintf("%d of %d", r.settled, r.total)
	if elapsed := now.Sub(r.begun); elapsed >= lineFirst && r.settled > 0 {
		rate := float64(r.settled) / elapsed.Seconds()
		left := time.Duration(float64(r.total-r.settled) / rate * float64(time.Second))
		text += fmt.Sprintf(", %s, %s left", rateText(rate), left.Round(time.Second))
	}
	for _, result := range executor.Results() {
		if isException(result) && r.counts[result] > 0 {
			text += fmt.Sprintf(", %d %s", r.counts[result], resultWord(result))
		}
	}
	return text
}

func rateText(perSecond float64) string {
	if perSecond < 1 {
		return fmt.Sprintf("%.0f/min", perSecond*60)
	}
	return fmt.Sprintf("%.0f/s", perSecond)
}

// hideBar clears the bar's line, so that another line can be written there.
func (r *Run) hideBar() {
	if r.bar != nil {
		_ = r.bar.Clear()
		r.told = time.Time{} // the next event draws it again
	}
}
