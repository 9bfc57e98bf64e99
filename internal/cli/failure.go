package cli

import (
	"errors"
	"fmt"
	"strings"

	"remit/executor"
	"remit/internal/cli/exit"
	"remit/internal/files/lockfile"
	"remit/internal/text/shell"
	"remit/state"
)

// stateError says what keeps the state from being used before anything was sent, and what to
// do about it. What storage itself says stands below.
func (w *workspace) stateError(err error) error {
	if known := w.knownStateError(err); known != nil {
		return known
	}
	return exit.WithHint(fmt.Errorf("the state %s cannot be used; nothing was sent. Once that is mended, let it be checked:\n%w", w.path, err), w.command("audit verify"))
}

// knownStateError is that of what is known about the state itself; nil of any other error.
func (w *workspace) knownStateError(err error) error {
	var locked *state.LockedError
	var mismatch *state.MismatchError
	var moved *state.MovedError
	switch {
	case errors.As(err, &moved) && moved.To == state.Arriving:
		return fmt.Errorf("the state %s is a copy whose move was not finished; nothing was sent. "+
			"Run remit state migrate again where the old one is, with the same --to", w.path)
	case errors.As(err, &moved):
		return fmt.Errorf("the state %s is not in use any more: it was moved to %s; nothing was sent. "+
			"Take the configuration and %s that name that place from version control", w.path, moved.To, lockfile.Name)
	case errors.Is(err, state.ErrMissing):
		return w.missing()
	case errors.Is(err, state.ErrEmpty):
		return exit.WithHint(fmt.Errorf("the state %s is empty, which a state never is; nothing was sent. Put it away, and restore it from a backup, "+
			"or, only where no backup exists, make a new one on purpose with %s. It is put away by", w.path, w.command("init --new-state")), w.place.Words().putAway)
	case errors.Is(err, state.ErrDamaged):
		return exit.WithHint(fmt.Errorf("the state %s is damaged; nothing was sent. Put it away, restore the state from a backup, and let that be checked by %s. "+
			"Only where no backup exists, run %s, and then %s with the service's export. The damaged one is put away by:\n%w",
			w.path, w.command("audit verify"), w.command("init --new-state"), w.command("import"), err), w.place.Words().putAway)
	case errors.Is(err, state.ErrForeign):
		return fmt.Errorf("what stands at %s is not a state of remit; nothing was sent, and it was left as it is. "+
			"Correct %s, or put away what stands there, restore the state from a backup, and let it be checked by %s:\n%w",
			w.path, w.place.Words().argument, w.command("audit verify"), err)
	case errors.Is(err, state.ErrNewer):
		return exit.WithHint(fmt.Errorf("the state %s was written by a newer version of remit; nothing was sent. Use that version; this one is shown by:\n%w", w.path, err),
			"remit version")
	case errors.Is(err, state.ErrOlder):
		return exit.WithHint(fmt.Errorf("the state %s was written by an older version of remit; nothing was sent. "+
			"It is brought up to date by the next command that writes to it, or by one that does nothing else", w.path), w.command("init"))
	case errors.Is(err, state.ErrBusy):
		return exit.WithHint(fmt.Errorf("the state %s is held in the middle of a commit by a process that stands still; nothing was sent. "+
			"Wait for it, or find out who it is:\n%w", w.path, err), w.command(`force-unlock --reason="…"`))
	case errors.Is(err, state.ErrLinked):
		return exit.WithHint(fmt.Errorf("the state %s has more than one name (hard links), and beside each of them there would be another log of what was "+
			"written last; nothing was sent. Remove the names that no configuration uses, while nothing runs. "+
			"All of its names on that disk are listed by:\n%w", w.path, err), "find / -xdev -samefile "+shell.Word(w.path))
	case errors.Is(err, state.ErrMounted):
		return fmt.Errorf("the state %s is mounted by itself, without the files that SQLite keeps beside it; nothing was sent. "+
			"Mount its directory instead of the file", w.path)
	case errors.Is(err, state.ErrNoLocks):
		return exit.WithHint(fmt.Errorf("the state %s is where its lock would not keep others out, so that two runs could pay at once; nothing was sent. "+
			"Keep it on a disk of this machine: copy it there, while nothing runs, and write that place into %s. "+
			"Or keep it in PostgreSQL:\n%w", w.path, w.place.Words().argument, err), w.command("state backup --out=FILE"))
	case errors.As(err, &mismatch):
		return fmt.Errorf("the state %s is not the one that this directory is bound to; nothing was sent: %w. "+
			"Restore the right one from a backup, or correct %s", w.path, mismatch, w.place.Words().argument)
	case errors.As(err, &locked):
		return fmt.Errorf("%w; nothing was sent. It is released when that process ends. Wait for it", err)
	}
	return nil
}

// lostAtEnd says that what a command wrote was written, and may be gone from the state since.
func (w *workspace) lostAtEnd(lost error) error {
	happened, next := w.happened(lost)
	return exit.New(fmt.Errorf("%s. What this command wrote may be gone from it, whatever is shown above: keep a copy of %s before anything else, restore the state from a backup, and let it be checked",
		happened, w.place.Words().kept), w.command(next), exit.Look)
}

// happened says what an error was that kept the state from being used any more, and the command
// that helps, "" for to do the same once more.
func (w *workspace) happened(failed error) (text, next string) {
	switch {
	case errors.Is(failed, state.ErrTakenForLost):
		return "this runner showed no sign of life for longer than its lease, so the other runners of the run go on without it", "show --run=latest"
	case errors.Is(failed, state.ErrFenced):
		return w.fenced(failed), "plan"
	case errors.Is(failed, state.ErrLost):
		return fmt.Sprintf("the connection on which this run held the lock of the state %s was lost: %v", w.path, cause(failed)), ""
	case errors.Is(failed, state.ErrReplaced):
		return w.place.Words().replaced, "audit verify"
	case errors.Is(failed, state.ErrDamaged):
		return fmt.Sprintf("the state %s is damaged: %v", w.path, cause(failed)), "audit verify"
	case errors.Is(failed, executor.ErrJournal):
		return fmt.Sprintf("the state %s could not be written: %v", w.path, cause(failed)), ""
	}
	return failed.Error(), ""
}

// fenced says who took the lock away from a run, and how, as far as that is known.
func (w *workspace) fenced(failed error) string {
	text := fmt.Sprintf("the lock of the state %s was taken away from this run", w.path)
	taken, ok := errors.AsType[*state.TakenError](failed)
	switch {
	case !ok:
		return text
	case taken.Reason != "":
		return fmt.Sprintf("%s by %s on %s, with remit force-unlock: %q", text, taken.By.User, taken.By.Host, taken.Reason)
	case taken.By != state.Holder{}:
		return fmt.Sprintf("%s, and not with remit force-unlock: %s on %s (process %d, %q) has it now, as is possible where %s",
			text, taken.By.User, taken.By.Host, taken.By.PID, taken.By.Command, w.place.Words().freed)
	}
	return text + ", and not with remit force-unlock, as is possible where " + w.place.Words().freed
}

// cause is an error of the journal without the words that say no more than that.
func cause(err error) string {
	text := strings.ReplaceAll(err.Error(), executor.ErrJournal.Error()+": ", "")
	return strings.ReplaceAll(text, state.ErrDamaged.Error()+": ", "")
}
