package workspace

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"remit/config"
	"remit/internal/cli/exit"
	"remit/internal/cli/terminal"
	"remit/internal/files/lockfile"
	"remit/internal/text/english"
	"remit/state"
	"remit/state/sqlite"
)

// checkBinding compares the configuration with the lock file, before any state is opened.
func (s *State) checkBinding() error {
	if s.config.Environment != s.Binding.Environment {
		return s.EnvironmentError(s.Binding.Environment)
	}
	if !s.config.ServiceDeclared() || s.dir.Need == config.NeedState { // it may have no value then
		return nil
	}
	return s.checkService(s.config.Named())
}

// checkService compares the configured service, and its client as far as it is known, with the service in
// the lock file.
func (s *State) checkService(client config.Client) error {
	return s.RefuseOther(s.Binding.Service, declaredService(s.config, s.Binding.Service, client))
}

// declaredService is the bound service with every field that the configuration or the client names.
func declaredService(declaredIn *config.Configuration, bound state.Identity, client config.Client) state.Identity {
	declared := bound
	declared.BaseURL = declaredIn.Service.BaseURL
	declared.Operator = string(declaredIn.Service.Operator)
	if client.ID != "" {
		declared.ClientID = client.ID
	}
	if client.TokenURL != "" {
		declared.TokenURL = state.TokenOrigin(client.TokenURL, declared.BaseURL)
	}
	return declared
}

// RefuseOther returns an error that names each difference between the declared and the bound service; nil for
// none.
func (s *State) RefuseOther(bound, declared state.Identity) error {
	err := state.Meta{Service: bound}.Check("", "", declared)
	mismatch, ok := errors.AsType[*state.MismatchError](err)
	if !ok {
		return err
	}
	differences := make([]string, len(mismatch.Mismatches))
	for i, m := range mismatch.Mismatches {
		here := strconv.Quote(m.Want)
		if s.config.Sensitive(m.Field) {
			here = "(sensitive)"
		}
		differences[i] = fmt.Sprintf("%s is %s here and %q there", m.Field, here, m.Have)
		if m.Field == "token_url" {
			differences[i] = fmt.Sprintf("token_url leads to %s here and to %q there", here, m.Have)
		}
	}
	text := fmt.Sprintf("the configuration names another service than the state is bound to: %s. "+
		"Nothing was sent, and the secret was not sent. ", strings.Join(differences, "; "))
	var others []string
	if declared.ClientID != bound.ClientID {
		if others, err = OthersOf(s.dir, declared.ClientID); err != nil {
			return err
		}
	}
	switch there, used := s.lookInto(); {
	case !there:
		return s.Error(state.ErrMissing)
	case len(others) > 0: // to bind it is refused as well
		return fmt.Errorf("%sThis client is that of %s: give %q its own, by client_id or REMIT_CLIENT_ID", text, EnvironmentsNamed(others), s.config.Environment)
	case !used:
		return exit.WithHint(errors.New(text+"No transfer was ever sent from this state, so it can be bound to the service that the configuration names"), s.dir.Command("init"))
	}
	return exit.WithHint(errors.New(text+"Correct the configuration. Only where it is the same service, which knows what was paid, bind the state to it"), s.dir.Command(`state rebind --reason="…"`))
}

// lookInto reports whether there is a state, and whether it ever sent or recorded a transfer. A state that
// can't be read counts as there and used: the next command that reads it says why.
func (s *State) lookInto() (there, used bool) {
	return lookIntoAt(s.Binding.Lineage, s.Backend)
}

func lookIntoAt(lineage string, at Backend) (there, used bool) {
	ctx := context.Background() // where a server does not answer, to look for it ends by itself
	store, err := at.OpenReadOnly(ctx)
	if err != nil {
		return !errors.Is(err, state.ErrMissing), true
	}
	defer func() { _ = store.Close() }() // it was only read
	snapshot, err := store.Snapshot(ctx)
	if err != nil {
		return true, true
	}
	defer func() { _ = snapshot.Close() }()
	if lineage != "" && snapshot.Meta().Lineage != lineage {
		return true, true // another one, of which nothing is offered
	}
	used, err = IsUsed(ctx, snapshot)
	return true, used || err != nil
}

// OtherState says what to do about a state that is not the one that the directory is bound to.
func (s *State) OtherState(meta state.Meta, err error) error {
	if mismatch, ok := errors.AsType[*state.MismatchError](err); ok && meta.Lineage != s.Binding.Lineage {
		if commit, shown := earlierLock(s.dir, meta.Lineage); commit != "" { // either of the two may have the payments
			return exit.WithHint(fmt.Errorf("the state %s is not the one that this directory is bound to; nothing was sent: %w. It is the one that %s named in commit %.12s: "+
				"the file was changed since, as by a merge from a checkout in which a new state was made. Find out which of the two states has the payments. Where it is this one, take the file of that commit back; "+
				"what was sent from the other one meanwhile is not in it, so import the service's export of transfer records before you apply. "+
				"Where it is the other one, bring that here, or correct %s. The changes of the file are shown by", s.Name, mismatch, s.dir.LockName(), commit, s.Backend.Advice().argument), shown)
		}
	}
	if meta.Precheck && meta.Serial == 1 && meta.Lineage != s.Binding.Lineage {
		return CutOff(s)
	}
	if mismatch, ok := errors.AsType[*state.MismatchError](err); ok && meta.Lineage == s.Binding.Lineage {
		if _, used := s.lookInto(); !used {
			return exit.WithHint(fmt.Errorf("%s names another environment or service than the state %s is bound to: %s. "+
				"Nothing was sent. No transfer was ever sent from this state, so it can be bound to what the configuration names", s.dir.LockName(), s.Name, mismatch), s.dir.Command("init"))
		}
	}
	return s.Error(err)
}

// GoneError says what to do where notes say that a state was here, and neither it nor the lock file is left.
func GoneError(s *State, gone sqlite.Gone) error {
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
func CutOff(s *State) error {
	return exit.WithHint(fmt.Errorf("the state %s was made by init --new-state, which was cut off before it bound this directory to it; "+
		"nothing was sent. The same command finishes that", s.Name), s.dir.Command("init --new-state"))
}

// EnvironmentError says what to do where the remit block says another environment than the
// state has.
func (s *State) EnvironmentError(bound string) error {
	if there, used := s.lookInto(); there && !used {
		return exit.WithHint(fmt.Errorf("the configuration says environment %q, and this directory is bound to the state of environment %q, "+
			"from which nothing was ever sent; nothing was sent now either. Bind that state to environment %[1]q", s.config.Environment, bound), s.dir.Command("init"))
	}
	if schema := s.schemaLeft(bound); schema != "" {
		return exit.WithHint(fmt.Errorf("the configuration says environment %q, and this directory is bound to the state of environment %q; nothing was sent. "+
			"That state is in the schema %s, and nothing was ever sent from it. Write schema = %q in the state block, which keeps it there, "+
			"and bind it to environment %[1]q", s.config.Environment, bound, schema, schema), s.dir.Command("init"))
	}
	return s.dir.UsedElsewhere(bound)
}

// schemaLeft is the schema of the bound environment, where its state never sent anything and the configuration
// leads to another schema only by its environment; "" otherwise.
func (s *State) schemaLeft(bound string) string {
	there, ok := s.Backend.(Postgres)
	if !ok || there.options.Schema != config.DefaultSchema(s.config.Environment) {
		return ""
	}
	there.options.Schema = config.DefaultSchema(bound)
	if isThere, used := lookIntoAt(s.Binding.Lineage, there); !isThere || used {
		return ""
	}
	return there.options.Schema
}

// UsedElsewhere is [State.EnvironmentError] for a state that has transfers, or that is not where the
// configuration says.
func (s *Directory) UsedElsewhere(bound string) error {
	declared := s.loaded.Environment
	if s.Block() != "" {
		return fmt.Errorf("the state of environment %q would be that of environment %q, to which it belongs for good; nothing was sent. "+
			"Write another place into the state block of one of them", declared, bound)
	}
	return fmt.Errorf("the configuration says environment %q, and this directory is bound to the state of environment %q; nothing was sent. "+
		"A state that was used belongs to one environment for good. Write environment = %[2]q in the remit block again, "+
		"or give the other environment a directory and a state of its own", declared, bound)
}

// IsOtherThan reports whether the configuration names another environment or service than the directory is
// bound to. A missing state need not be the bound one then.
func (s *State) IsOtherThan(bound lockfile.File) bool {
	if s.config.Environment != bound.Environment {
		return true
	}
	if !s.config.ServiceDeclared() || s.dir.Need == config.NeedState || bound.Service == state.NoService() {
		return false
	}
	return state.Meta{Service: bound.Service}.Check("", "", declaredService(s.config, bound.Service, s.config.Named())) != nil
}

// missing says what to do where there is no state. It never advises to bind the directory to a new state where
// the old one may be elsewhere.
func (s *State) missing() error {
	switch {
	case s.config == nil || s.dir.Sandbox:
	case s.config.Environment != s.Binding.Environment:
		return s.EnvironmentError(s.Binding.Environment)
	case s.IsOtherThan(s.Binding):
		return fmt.Errorf("there is no state at %s, and this directory is bound to a state of another service: client %q of %s; nothing was sent. "+
			"Name that service in the configuration again, or give the other one a directory and a state of its own",
			s.Name, s.Binding.Service.ClientID, s.Binding.Service.BaseURL)
	}
	if name := s.dir.FileOfState(s.Binding.Lineage); name != "" {
		return fmt.Errorf("there is no state at %s; nothing was sent. The state that this directory is bound to is in %s. Write its place into the configuration:\n\n%s",
			s.Name, name, s.dir.placeBlock(name))
	}
	if dir := s.dir.OtherTree(s.Binding.Lineage); dir != "" {
		there := *s.dir
		there.Path = dir
		return exit.WithHint(fmt.Errorf("there is no state at %s; nothing was sent. The state that this directory is bound to is in %s, another working tree of the same "+
			"git repository. Work there: a second state does not know the payments of the first", s.Name, dir), there.Command("status"))
	}
	return exit.WithHint(fmt.Errorf("the state %s is gone, or was never there; nothing was sent. %sWhere the state is kept elsewhere, correct %s. Else restore it from a backup. "+
		"Only where no backup exists, make a new one on purpose: every transfer is then looked up before it is sent, "+
		"where the service can look up, and else nothing is sent before you import the service's export of transfer records with --complete", s.Name, noteOfClone(s.dir), s.Backend.Advice().argument), s.dir.Command("init --new-state"))
}

// IsUsed reports whether a request was ever about to be sent, or a transfer recorded.
func IsUsed(ctx context.Context, snapshot state.Snapshot) (bool, error) {
	for event, err := range snapshot.Events(ctx, 0, "") {
		if err != nil {
			return false, err
		}
		switch event.Kind {
		case state.KindIntent, state.KindOutcome:
			return true, nil
		case state.KindCreated, state.KindBegun, state.KindEnded, state.KindUnlocked, state.KindRebound, state.KindClock, state.KindAsked, state.KindErased:
		}
	}
	return false, nil
}

// Identity names the service of the configuration.
func Identity(loaded *config.Configuration, streams *terminal.Streams) (state.Identity, error) {
	if !loaded.ServiceDeclared() {
		return state.NoService(), nil
	}
	client, diags := loaded.Client()
	if err := streams.ReportText(loaded, diags); err != nil {
		return state.Identity{}, err
	}
	named := state.Identity{
		BaseURL: loaded.Service.BaseURL, Operator: string(loaded.Service.Operator), ClientID: client.ID,
	}
	if client.TokenURL != "" {
		named.TokenURL = state.TokenOrigin(client.TokenURL, named.BaseURL)
	}
	return named, nil
}
