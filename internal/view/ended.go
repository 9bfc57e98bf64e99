package view

import (
	"time"

	"remit/executor"
	"remit/planner"
)

// Ended is how an apply ended, for readers who were not there.
type Ended struct {
	Environment  string // "" where it is not known
	Sandbox      bool
	Directory    string // of the configuration, its last part
	RunID        string // "" where no run began
	Began, Ended time.Time
	ExitCode     int
	Error, Hint  string             // the error as it was told, and a command to type; "" for none
	Obstacles    []planner.Obstacle // of a plan that could not be applied
	Summary      *executor.Summary  // nil where no run began
	Options      SummaryOptions     // of Summary
}

type endedLine struct {
	Type        string             `json:"type"` // "ended"
	Format      string             `json:"format"`
	Remit       string             `json:"remit"`
	Environment string             `json:"environment"`
	Sandbox     bool               `json:"sandbox"`
	Directory   string             `json:"directory"`
	RunID       string             `json:"run_id,omitempty"`
	Began       time.Time          `json:"began"`
	Ended       time.Time          `json:"ended"`
	ExitCode    int                `json:"exit_code"`
	Meaning     string             `json:"meaning"`
	Error       string             `json:"error,omitempty"`
	Hint        string             `json:"hint,omitempty"`
	Obstacles   []planner.Obstacle `json:"obstacles,omitempty"`
	Summary     *runSummaryLine    `json:"summary"` // null where no run began
}

// Ended writes the one object of its stream: how an apply ended, with the format in it. It
// returns the first error of writing.
func (j *JSON) Ended(e Ended) error {
	line := endedLine{
		Type: "ended", Format: Format, Remit: j.version, Environment: e.Environment, Sandbox: e.Sandbox, Directory: e.Directory,
		RunID: e.RunID, Began: e.Began, Ended: e.Ended, ExitCode: e.ExitCode, Meaning: ExitMeaning(e.ExitCode),
		Error: e.Error, Hint: e.Hint, Obstacles: e.Obstacles,
	}
	if e.Summary != nil {
		summary := j.summaryLine(*e.Summary, e.Options)
		line.Summary = &summary
	}
	j.object(line)
	return j.end()
}

// ExitMeaning says in words what an exit code of apply means.
func ExitMeaning(code int) string {
	switch code {
	case 0:
		return "done, or nothing to do"
	case 1:
		return "an error: nothing was sent"
	case 3:
		return "the run ended, and some transfers were refused, failed or not attempted"
	case 4:
		return "some transfers are in doubt, unverified or in conflict, or the state failed after the first request: action needed"
	case 5:
		return "nothing was sent: a control said no, or approvals are missing"
	case 129, 130, 143:
		return "interrupted, nothing in doubt"
	}
	return "ended by a signal"
}
