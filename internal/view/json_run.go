package view

import (
	"remit/executor"
	"remit/internal/transfer"
	"remit/state"
)

// Handle writes an event as it is: its "type" is the event's. See [JSON.Err] for errors.
func (j *JSON) Handle(e executor.Event) {
	e.Next = j.command(e.Next)
	j.write(e)
	_ = j.end()
}

type runSummaryLine struct {
	Type        string           `json:"type"` // "run_summary"
	RunID       string           `json:"run_id,omitempty"`
	Complete    bool             `json:"complete"`
	Interrupted bool             `json:"interrupted"`
	Stopped     string           `json:"stopped,omitempty"`
	Results     []totalsLine     `json:"results"` // of every result, in the order of the table
	Planned     totalsLine       `json:"planned"`
	Exceptions  []executor.Event `json:"exceptions"`
	Unfinished  int              `json:"unfinished,omitempty"`     // recorded, and neither COMPLETED nor FAILED
	Unknown     executor.Unknown `json:"unknown_status,omitempty"` // of these, how many of each status
	Waited      *refreshLine     `json:"waited,omitempty"`         // how these ended under --wait
	Head        string           `json:"head"`
	Next        string           `json:"next,omitempty"`
	Runners     []state.Runner   `json:"runners,omitempty"` // where several carried it out
	Left        bool             `json:"left,omitempty"`    // it goes on without this runner
}

// Summary writes how a run ended. It returns the first error of writing.
func (j *JSON) Summary(s executor.Summary, o SummaryOptions) error {
	j.write(j.summaryLine(s, o))
	return j.end()
}

func (j *JSON) summaryLine(s executor.Summary, o SummaryOptions) runSummaryLine {
	line := runSummaryLine{
		Type: "run_summary", RunID: s.RunID, Complete: s.Complete, Interrupted: s.Interrupted,
		Stopped: s.Stopped, Planned: totalsOf(new(transfer.Totals)),
		Exceptions: append([]executor.Event{}, s.Exceptions...), Head: s.Head, Next: asTyped(o.Next),
		Runners: s.Runners, Left: s.Left,
	}
	line.Unfinished, line.Unknown = s.Unfinished, s.Unknown
	if s.Waited != nil {
		waited := newRefreshLine(s.Waited, "")
		line.Waited = &waited
	}
	for i := range line.Exceptions {
		line.Exceptions[i].Next = j.command(line.Exceptions[i].Next)
	}
	if o.Planned.Count() > 0 {
		line.Planned = totalsOf(&o.Planned)
	}
	for _, result := range executor.Results() {
		totals := totalsOf(s.Totals[result])
		totals.Result = string(result)
		line.Results = append(line.Results, totals)
	}
	return line
}
