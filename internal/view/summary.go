package view

import (
	"fmt"
	"io"
	"strings"

	"remit/executor"
	"remit/internal/doubt"
	"remit/internal/text/english"
	"remit/internal/transfer"
	"remit/state"
)

// exceptionsMax is how many exceptions of one result a summary lists.
const exceptionsMax = 20

// SummaryOptions say how to show the end of a run.
type SummaryOptions struct {
	Screen
	Planned transfer.Totals // what the plan would submit or resolve; counts nothing where unknown
	Next    string          // the command to type; "" for none
}

// Summary writes how a run ended: a table with the count and the sums per asset of every
// result, then each exception with its reason, the hash of the journal's newest event, and
// the next command. It returns only errors of w.
func Summary(w io.Writer, s executor.Summary, o SummaryOptions) error {
	p := newPage(w, o.Screen)
	p.line()
	p.ending(s)
	p.line()
	p.outcomes(s, o.Planned)
	p.unfinished(s)
	p.exceptions(s, o.Next)
	p.headAndNext(s.Head, o.Next)
	return p.Flush()
}

// headAndNext writes the newest hash of the journal, and the command to type; each may be "".
func (p *page) headAndNext(head, next string) {
	if head != "" {
		p.line()
		p.line(plain("Journal head: " + head))
	}
	if next != "" {
		p.line()
		p.line(plain("Next:"))
		p.command("", next)
	}
}

// unfinished counts recorded transfers that are not final.
func (p *page) unfinished(s executor.Summary) {
	switch {
	case s.Waited != nil:
		p.stillPending(s.Waited)
	case s.Unfinished > 0:
		if n := s.Unfinished - s.Unknown.Count(); n > 0 {
			p.paragraph("", fmt.Sprintf("PENDING: %d of these. They are recorded, and neither COMPLETED nor FAILED yet.", n), toneNone)
		}
		p.unknownStatuses("", s.Unknown)
	}
}

func (p *page) ending(s executor.Summary) {
	said := ending(s)
	p.paragraph("", Visible(said.text), said.tone)
	for _, text := range runnersText(s.Runners) {
		p.paragraph("  ", Visible(text), toneNone)
	}
}

// runnersText says who carried a run out; nothing where one did alone.
func runnersText(runners []state.Runner) []string {
	if len(runners) == 0 {
		return nil
	}
	texts := []string{english.Plural(len(runners), "runner") + " took part:"}
	for _, r := range runners {
		texts = append(texts, fmt.Sprintf("%d. %s", r.Number, runnerText(r)))
	}
	return texts
}

func runnerText(r state.Runner) string {
	text := fmt.Sprintf("%s on %s (process %d), %s settled", r.User, r.Host, r.PID, english.Plural(r.Settled, "transfer"))
	if r.Lost {
		text += "; lost: it died or stood still, and the others went on with what it had"
	}
	return text
}

// ending says in a sentence how a run ended.
func ending(s executor.Summary) span {
	name := "Run " + s.RunID
	if s.RunID == "" {
		name = "This run"
	}
	switch {
	case s.Left:
		return span{name + " goes on: this runner was interrupted, and others carry on with what it had. These are the transfers that it settled.", toneDoubt}
	case s.Interrupted:
		return span{name + " was interrupted.", toneDoubt}
	case s.Stopped != "":
		return span{name + " was stopped: " + s.Stopped, toneBad}
	case s.Complete && resultCount(s, executor.ResultInDoubt) == 0: // a doubt need not be a line of the plan
		return span{name + " is complete.", toneStrong}
	}
	return span{name + " ended: " + unresolved(s) + ".", toneDoubt}
}

// resultCount is how many transfers of a run have a result.
func resultCount(s executor.Summary, result executor.Result) int {
	if t := s.Totals[result]; t != nil {
		return t.Count()
	}
	return 0
}

// unresolved counts what of a run's plan has no outcome.
func unresolved(s executor.Summary) string {
	doubts, left := resultCount(s, executor.ResultInDoubt), resultCount(s, executor.ResultNotAttempted)-s.Standing
	n := doubts + left
	switch {
	case n == 0:
		return "some of its transfers are unresolved"
	case doubts == 0:
		return english.Plural(n, "transfer") + " not attempted"
	default:
		return english.Plural(n, "transfer") + " unresolved"
	}
}

// outcomes writes each result that occurred, and the planned totals.
func (p *page) outcomes(s executor.Summary, planned transfer.Totals) {
	var rows []totalsRow
	for _, result := range executor.Results() {
		rows = append(rows, totalsRow{
			label:  []span{{resultWord(result), resultTone(result)}},
			totals: s.Totals[result],
		})
	}
	if planned.Count() > 0 {
		rows = append(rows, totalsRow{label: []span{plain("planned")}, totals: &planned})
	}
	p.totalsTable(rows, 0)
	hashes := trimEmpty([]string{madeHash(s)})
	if hash := hashTotalShown(&planned); planned.Count() > 0 && hash != "" {
		hashes = append(hashes, hash+" planned")
	}
	if len(hashes) > 0 {
		p.paragraph("", "Hash total: "+strings.Join(hashes, ", "), toneNone)
	}
}

// madeHash is the hash total of recorded and adopted transfers; "" where it is not known or
// nothing was.
func madeHash(s executor.Summary) string {
	var made transfer.Totals
	for _, result := range []executor.Result{executor.ResultRecorded, executor.ResultAdopted} {
		if t := s.Totals[result]; t != nil {
			made.Merge(*t)
		}
	}
	if hash := hashTotalShown(&made); made.Count() > 0 && hash != "" {
		return hash + " recorded"
	}
	return ""
}

// exceptions writes the transfers that are neither recorded nor adopted, in the order of the table. A
// command that is the next one of the whole run is left for the end.
func (p *page) exceptions(s executor.Summary, next string) {
	byResult := make(map[executor.Result][]executor.Event)
	for _, e := range s.Exceptions {
		if p.here(e.Next) == next {
			e.Next = ""
		}
		byResult[e.Result] = append(byResult[e.Result], e)
	}
	for _, result := range executor.Results() {
		events := byResult[result]
		if len(events) == 0 {
			continue
		}
		all := len(events)
		if t := s.Totals[result]; t != nil {
			all = max(all, t.Count())
		}
		p.line()
		p.exceptionsOf(result, events, all, exceptionsMax)
		if more := all - exceptionsMax; more > 0 {
			p.line(dim(fmt.Sprintf("  and %d more. To see all of them:", more)))
			p.command("  ", p.here(listing(result)))
		}
	}
}

// listing is the command that lists all of a result. A transfer that was not attempted need not be in the state.
func listing(result executor.Result) string {
	if result == executor.ResultNotAttempted {
		return "remit plan --show=all"
	}
	return "remit state list"
}

// exceptionsOf writes the transfers of one result, of which there are so many in all, at most so many. A
// reason that several of them have is said once, with their number, and the command that goes on from
// all of them.
func (p *page) exceptionsOf(result executor.Result, events []executor.Event, all, most int) {
	word := resultWord(result)
	p.line(span{strings.ToUpper(word[:1]) + word[1:], resultTone(result)})
	ref, amount := 0, point{}
	for _, e := range events[:min(len(events), most)] {
		ref = max(ref, min(displayWidth(e.RefID), max(20, p.width()-40)))
		amount.fit(p.amount(e.Amount, e.Asset))
	}
	causes := causesOf(events)
	for _, c := range causes {
		if most <= 0 {
			return
		}
		count := len(c.events)
		if len(causes) == 1 {
			count = max(count, all)
		}
		if count > 1 {
			c.first.Reason = strings.TrimSuffix(fmt.Sprintf("%d transfers: %s", count, c.first.Reason), ": ")
			c.first.Next = c.next()
			p.explain("  ", c.first)
		}
		for _, e := range c.events[:min(len(c.events), most)] {
			p.line(plain("  "+pad(cutMiddle(Visible(e.RefID), ref), ref)), plain("  "+amount.align(p.amount(e.Amount, e.Asset))+" "+Visible(e.Asset)))
			if count == 1 {
				p.explain("    ", e)
			}
		}
		most -= len(c.events)
	}
}

// cause is what some transfers of one result have in common.
type cause struct {
	first  executor.Event
	events []executor.Event
}

// causesOf groups exceptions of one result by why they are none of the others, in the order in which
// that was first told. A transfer that another command settles has a cause of its own, doubts apart: they
// have one for all.
func causesOf(events []executor.Event) []*cause {
	type key struct{ reason, next string }
	var list []*cause
	byKey := make(map[key]*cause)
	for _, e := range events {
		k := key{reason: e.Reason, next: e.Next}
		if e.Result == executor.ResultInDoubt {
			k.next = ""
		}
		c := byKey[k]
		if c == nil {
			c = &cause{first: e}
			byKey[k] = c
			list = append(list, c)
		}
		c.events = append(c.events, e)
	}
	return list
}

// next is the one command that goes on from all of them.
func (c *cause) next() string {
	if c.first.Result != executor.ResultInDoubt {
		return c.first.Next
	}
	nexts := make([]string, 0, len(c.events))
	for _, e := range c.events {
		if e.Next != "" { // it is the next one of the whole run, and said there
			nexts = append(nexts, e.Next)
		}
	}
	return doubt.NextOfAll(nexts)
}

// resultWord is what people read: "in doubt".
func resultWord(r executor.Result) string { return strings.ReplaceAll(string(r), "_", " ") }

// resultWidth is the longest of the words.
const resultWidth = len(executor.ResultNotAttempted)

func resultTone(r executor.Result) tone {
	switch r {
	case executor.ResultRecorded, executor.ResultAdopted:
		return toneGood
	case executor.ResultUnverified, executor.ResultInDoubt:
		return toneDoubt
	case executor.ResultRefused, executor.ResultFailed, executor.ResultConflict:
		return toneBad
	case executor.ResultNotAttempted:
	}
	return toneNone
}
