package cli

import (
	"errors"
	"fmt"
	"strings"

	"remit/executor"
	"remit/internal/cli/exit"
	"remit/internal/cli/workspace"
	"remit/state"
)

// runError explains an error that ended a run: the event, the certain transfers, the doubts, and the next
// command.
func runError(a *applying, w *opened, failed error, s executor.Summary) error {
	happened, next := w.state.Explain(failed)
	certain := "what is listed as recorded or adopted is in the state."
	if next == "" {
		next = a.again() + a.planning.dir.PracticeWord()
	}
	isJournal := errors.Is(failed, executor.ErrJournal)
	switch {
	case errors.Is(failed, state.ErrReplaced):
		certain = "what is listed as recorded or adopted " + w.state.Backend.Advice().Holds
	case errors.Is(failed, state.ErrDamaged):
		certain = "the journal had what is listed as recorded or adopted. Keep a copy of " + w.state.Backend.Advice().Kept + " before anything else. Then restore the state from a backup, and let it be checked."
	}
	if lacking, isLacking := errors.AsType[*executor.LackingError](failed); isLacking && s.Requests == 0 {
		return exit.New(lacking, w.dir.Command("import FILE --complete"), exit.Look) // as status says
	}
	behind, isBehind := errors.AsType[*executor.BehindError](failed)
	jumped, isJumped := errors.AsType[*executor.JumpedError](failed)
	const sayTime = `state clock --reason="…"`
	switch {
	case !isBehind && !isJumped:
	case s.Requests > 0: // of the run before, whose server failed over
		next = sayTime
	case isBehind:
		return exit.WithHint(behind, w.dir.Command(sayTime))
	default:
		return exit.WithHint(jumped, w.dir.Command(sayTime))
	}
	if full, isFull := errors.AsType[*state.FullError](failed); isFull && s.Requests == 0 {
		return w.state.Error(full)
	}
	if s.Requests == 0 {
		if !isJournal {
			next = ""
		}
		return exit.New(exit.Explain(failed, happened+"; nothing was sent"), commandOrNone(a, next), exit.Error)
	}
	doubts := inDoubt(s)
	if isLacking(a, w.state, failed) {
		certain = "what is listed as recorded or adopted " + w.state.Backend.Advice().Holds
		looksUp := w.service.CanLookUp() && !w.config.Service.PrecheckNew
		if doubts = inDoubtOfLacking(s, looksUp); !looksUp {
			next = "import FILE --complete"
		}
	}
	text := strings.Join([]string{
		happened + a.failover.reason + ".",
		"Certain: " + certain + " Nothing was started since.",
		"In doubt: " + doubts,
	}, "\n")
	return exit.New(exit.Explain(failed, text), commandOrNone(a, next), exit.Look)
}

// isLacking reports whether a server that took over lacks what a run wrote, or may lack it. A file that was replaced is another
// thing: the note beside it says what it had.
func isLacking(a *applying, st *workspace.State, failed error) bool {
	_, isServer := st.Backend.(workspace.Postgres)
	return a.failover.mayLack || isServer && errors.Is(failed, state.ErrReplaced)
}

// inDoubtOfLacking names the transfers that a run leaves open if its events are missing in part, and how the next apply treats them.
func inDoubtOfLacking(s executor.Summary, looksUp bool) string {
	text := "each transfer of this run of which that server lacks the events"
	if t := s.Totals[executor.ResultInDoubt]; t != nil && t.Count() > 0 {
		text += fmt.Sprintf(", and %d that may have been under way", t.Count())
	}
	text += ". They may have been made, and an apply that has this state does not know of what is missing. "
	if looksUp {
		return text + "It asks the service about each ref_id before it sends it, as lookup_path says, and so never pays one twice."
	}
	return text + `Without lookup_path, or with precheck = "new", it would send them again: apply nothing before the events are back, ` +
		"or the service's records are imported."
}

// inDoubt says what a run without its journal leaves open, and why that pays nothing twice.
func inDoubt(s executor.Summary) string {
	n := 0
	if t := s.Totals[executor.ResultInDoubt]; t != nil {
		n = t.Count()
	}
	switch n {
	case 0:
		return "nothing. Every request of this run has its outcome in the state."
	case 1:
		return "1 transfer, which may have been made. It was written down before it was sent: the next apply that has this state settles it first, and never pays it twice."
	}
	return fmt.Sprintf("%d transfers, which may have been made. They were written down before they were sent: "+
		"the next apply that has this state settles them first, and never pays one twice.", n)
}

// commandOrNone is the command line of words, or "" for no words.
func commandOrNone(a *applying, words string) string {
	if words == "" {
		return ""
	}
	return a.planning.dir.Command(words)
}
