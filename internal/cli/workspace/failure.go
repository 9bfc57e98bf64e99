package workspace

import (
	"errors"
	"fmt"
	"strings"

	"remit/executor"
	"remit/internal/cli/exit"
	"remit/internal/text/shell"
	"remit/state"
)

// Error says why the state can't be used, before anything was sent, and what to do about it. The storage's own
// words follow on the next line.
func (s *State) Error(err error) error {
	if known := s.KnownError(err); known != nil {
		return known
	}
	if denied := fileOf(s).kept(err); denied != nil {
		return denied
	}
	return fmt.Errorf("the state %s cannot be used; nothing was sent. Once that is mended, type the same again:\n%w", s.Name, err)
}

// KnownError is [State.Error] for the errors of package state; nil for any other error.
func (s *State) KnownError(err error) error {
	var locked *state.LockedError
	var mismatch *state.MismatchError
	var moved *state.MovedError
	switch {
	case errors.As(err, &moved) && moved.To == state.Arriving:
		return fmt.Errorf("the state %s is a copy whose move was not finished; nothing was sent. "+
			"Run remit state migrate again where the old one is, with the same --to", s.Name)
	case errors.As(err, &moved) && moved.Mark != "":
		return fmt.Errorf("the state %s is not in use any more: it was moved to %s, and the file here is an older copy, as %s says; nothing was sent. "+
			"Take the configuration and %s that name that place from version control. Where that one is gone, restore its newest backup there",
			s.Name, moved.To, moved.Mark, s.dir.LockName())
	case errors.As(err, &moved):
		return fmt.Errorf("the state %s is not in use any more: it was moved to %s; nothing was sent. "+
			"Take the configuration and %s that name that place from version control", s.Name, moved.To, s.dir.LockName())
	case errors.Is(err, state.ErrMissing):
		return s.missing()
	case errors.Is(err, state.ErrEmpty):
		return exit.WithHint(fmt.Errorf("the state %s is empty, which a state never is; nothing was sent. Put it away, and restore it from a backup, "+
			"or, only where no backup exists, make a new one on purpose with %s. It is put away by", s.Name, s.dir.Command("init --new-state")), s.Backend.PutAway("damaged"))
	case errors.Is(err, state.ErrDamaged):
		return exit.WithHint(fmt.Errorf("the state %s is damaged; nothing was sent. Put it away, restore the state from a backup, and let that be checked by %s. "+
			"Only where no backup exists, run %s, and then %s with the service's export. The damaged one is put away by:\n%w",
			s.Name, s.dir.Command("audit verify"), s.dir.Command("init --new-state"), s.dir.Command("import"), err), s.Backend.PutAway("damaged"))
	case errors.Is(err, state.ErrNotFile):
		return fileOf(s).missing(s.Backend.String())
	case errors.Is(err, state.ErrForeign):
		return fmt.Errorf("what stands at %s is not a state of remit; nothing was sent, and it was left as it is. "+
			"Correct %s, or put away what stands there, restore the state from a backup, and let it be checked by %s:\n%w",
			s.Name, s.Backend.Advice().argument, s.dir.Command("audit verify"), err)
	case errors.Is(err, state.ErrNewer):
		return exit.WithHint(fmt.Errorf("the state %s was written by a newer version of remit; nothing was sent. Use that version; this one is shown by:\n%w", s.Name, err),
			"remit version")
	case errors.Is(err, state.ErrOlder):
		return exit.WithHint(fmt.Errorf("the state %s was written by an older version of remit; nothing was sent. "+
			"It is brought up to date by the next command that writes to it, or by one that does nothing else", s.Name), s.dir.Command("init"))
	case errors.Is(err, state.ErrBusy):
		return exit.WithHint(fmt.Errorf("the state %s is held in the middle of a commit by a process that stands still; nothing was sent. "+
			"Wait for it, or find out who it is:\n%w", s.Name, err), s.dir.Command(`force-unlock --reason="…"`))
	case errors.Is(err, state.ErrLinked):
		return exit.WithHint(fmt.Errorf("the state %s has more than one name (hard links), and beside each of them there would be another log of what was "+
			"written last; nothing was sent. Remove the names that no configuration uses, while nothing runs. "+
			"All of its names on that disk are listed by:\n%w", s.Name, err), "find / -xdev -samefile "+shell.Word(s.Name))
	case errors.Is(err, state.ErrMounted):
		return fmt.Errorf("the state %s is mounted by itself, without the files that SQLite keeps beside it; nothing was sent. "+
			"Mount its directory instead of the file", s.Name)
	case errors.Is(err, state.ErrNoLocks):
		return exit.WithHint(fmt.Errorf("the state %s is where its lock would not keep others out, so that two runs could pay at once; nothing was sent. "+
			"Keep it on a disk of this machine: copy it there, while nothing runs, and write that place into %s. "+
			"Or keep it in PostgreSQL:\n%w", s.Name, s.Backend.Advice().argument, err), s.dir.Command("state backup --out=FILE"))
	case errors.As(err, &mismatch):
		return fmt.Errorf("the state %s is not the one that this directory is bound to; nothing was sent: %s. "+
			"Restore the right one from a backup, or correct %s", s.Name, mismatch, s.Backend.Advice().argument)
	case errors.As(err, &locked):
		return fmt.Errorf("%w; nothing was sent. It is released when that process ends. Wait for it", err)
	}
	return nil
}

// LostAtEnd says that a command wrote everything, and that the state may have lost it since.
func (s *State) LostAtEnd(lost error) error {
	happened, next := s.Explain(lost)
	return exit.New(fmt.Errorf("%s. What this command wrote may be gone from it, whatever is shown above: keep a copy of %s before anything else, restore the state from a backup, and let it be checked",
		happened, s.Backend.Advice().Kept), s.dir.Command(next), exit.Look)
}

// Explain says why a command had to stop using the state, and names the command that helps; "" means the same
// command again.
func (s *State) Explain(failed error) (text, next string) {
	switch {
	case errors.Is(failed, state.ErrTakenForLost):
		return "this runner showed no sign of life for longer than its lease, so the other runners of the run go on without it", "show --run=latest"
	case errors.Is(failed, state.ErrFenced):
		return lockTaken(s.Name, s.Backend.Advice().freed, failed), "plan"
	case errors.Is(failed, state.ErrLost):
		return fmt.Sprintf("the connection on which this run held the lock of the state %s was lost: %v", s.Name, cause(failed)), ""
	case errors.Is(failed, state.ErrReplaced):
		return s.Backend.Advice().replaced, "audit verify"
	case errors.Is(failed, state.ErrDamaged):
		return fmt.Sprintf("the state %s is damaged: %v", s.Name, cause(failed)), "audit verify"
	case errors.Is(failed, executor.ErrJournal):
		return fmt.Sprintf("the state %s could not be written: %v", s.Name, cause(failed)), ""
	}
	return failed.Error(), ""
}

// lockTaken says who took the lock away from a run, and how, as far as that is known.
func lockTaken(name, freed string, failed error) string {
	text := fmt.Sprintf("the lock of the state %s was taken away from this run", name)
	taken, ok := errors.AsType[*state.TakenError](failed)
	switch {
	case !ok:
		return text
	case taken.Reason != "":
		return fmt.Sprintf("%s by %s on %s, with remit force-unlock: %q", text, taken.By.User, taken.By.Host, taken.Reason)
	case taken.By != state.Holder{}:
		return fmt.Sprintf("%s, and not with remit force-unlock: %s on %s (process %d, %q) has it now, as is possible where %s",
			text, taken.By.User, taken.By.Host, taken.By.PID, taken.By.Command, freed)
	}
	return text + ", and not with remit force-unlock, as is possible where " + freed
}

// cause is the text of a journal error without the words of its sentinels.
func cause(err error) string {
	text := strings.ReplaceAll(err.Error(), executor.ErrJournal.Error()+": ", "")
	return strings.ReplaceAll(text, state.ErrDamaged.Error()+": ", "")
}
