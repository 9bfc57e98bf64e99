package cli

import (
	"time"

	"github.com/rs/zerolog"

	"remit/executor"
	"remit/internal/cli/exit"
	"remit/internal/view"
)

// logged logs the events of a run. No amount is in it.
type logged struct{ zerolog.Logger }

// Handle writes a line.
func (l logged) Handle(e executor.Event) {
	line := l.Info()
	switch e.Type {
	case executor.EventIntended:
		line = l.Debug()
	case executor.EventNotice, executor.EventStopping:
		line = l.Warn()
	case executor.EventSettled:
		if e.Result != executor.ResultRecorded && e.Result != executor.ResultAdopted {
			line = l.Warn()
		}
	case executor.EventBegun, executor.EventWaiting, executor.EventChanged:
	}
	for _, field := range []struct{ name, value string }{
		{"ref_id", e.RefID}, {"group_id", e.Group}, {"result", string(e.Result)}, {"reason", e.Reason},
	} {
		if field.value != "" {
			line = line.Str(field.name, view.Visible(field.value))
		}
	}
	if e.Total > 0 {
		line = line.Int("transfers", e.Total)
	}
	line.Msg(string(e.Type))
}

// logEnd logs how an apply ended.
func logEnd(p *process, runID string, e view.Ended) {
	log, err := p.streams.Log(runID)
	if err != nil {
		return // it was told when the apply began
	}
	line := log.Info()
	if e.ExitCode != exit.Done {
		line = log.Warn()
	}
	if e.Error != "" {
		line = line.Str("error", view.Visible(e.Error))
	}
	line.Str("environment", e.Environment).Int("exit_code", e.ExitCode).Dur("took", e.Ended.Sub(e.Began).Round(time.Millisecond)).Msg("ended")
}
