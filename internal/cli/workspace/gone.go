package workspace

import (
	"fmt"
	"time"

	"remit/internal/cli/exit"
	"remit/internal/text/english"
	"remit/state/sqlite"
)

// GoneError says what to do where notes say that a state was here, and neither it nor the lock file is left.
func (s *State) GoneError(gone sqlite.Gone) error {
	had := "a state with " + english.Plural(int(gone.Events), "event")
	if gone.Events == 1 {
		had = "one that was made in place of another"
	}
	return exit.WithHint(fmt.Errorf("there is neither a state (%s) nor %s, and %s was here until %s; nothing was sent. "+
		"Restore both, the state from a backup. Where that state was a trial, and nothing counts that was sent from it, remove %s, from which that is known, and init again. "+
		"Only where no backup exists, make a new one on purpose: every transfer is then looked up before it is sent, "+
		"where the service can look up, and else nothing is sent before you import the service's export of transfer records with --complete",
		s.Name, s.dir.LockName(), had, gone.Until.UTC().Format(time.RFC3339), english.List(gone.Notes)),
		s.dir.Command("init --new-state"))
}

// CutOff says what to do about a state that init --new-state made, where that was cut off.
func (s *State) CutOff() error {
	return exit.WithHint(fmt.Errorf("the state %s was made by init --new-state, which was cut off before it bound this directory to it; "+
		"nothing was sent. The same command finishes that", s.Name), s.dir.Command("init --new-state"))
}
