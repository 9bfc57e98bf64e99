package cli

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"remit/config"
	"remit/internal/cli/exit"
	"remit/internal/files/lockfile"
	"remit/state"
)

// checkBinding compares the configuration with the lock file, before any state is opened.
func (w *workspace) checkBinding() error {
	if w.config.Environment != w.binding.Environment {
		return w.environmentError(w.binding.Environment)
	}
	if !w.config.ServiceDeclared() || w.need == config.NeedState { // it may have no value then
		return nil
	}
	return w.checkService(w.config.Named())
}

// checkService compares the service of the configuration, and its client as far as it is known,
// with the one of the lock file, which is that of the state.
func (w *workspace) checkService(client config.Client) error {
	return w.refuseOther(w.binding.Service, w.declaredService(w.binding.Service, client))
}

// declaredService is the bound service with all that the configuration says of it, and of its client
// as far as it is known.
func (w *workspace) declaredService(bound state.Identity, client config.Client) state.Identity {
	declared := bound
	declared.BaseURL = w.config.Service.BaseURL
	declared.Operator = string(w.config.Service.Operator)
	if client.ID != "" {
		declared.ClientID = client.ID
	}
	if client.TokenURL != "" {
		declared.TokenURL = state.TokenOrigin(client.TokenURL, declared.BaseURL)
	}
	return declared
}

// refuseOther says in what the declared service is another one than the bound one, if it is.
func (w *workspace) refuseOther(bound, declared state.Identity) error {
	err := state.Meta{Service: bound}.Check("", "", declared)
	mismatch, ok := errors.AsType[*state.MismatchError](err)
	if !ok {
		return err
	}
	differences := make([]string, len(mismatch.Mismatches))
	for i, m := range mismatch.Mismatches {
		here := strconv.Quote(m.Want)
		if w.config.Sensitive(m.Field) {
			here = "(sensitive)"
		}
		differences[i] = fmt.Sprintf("%s is %s here and %q there", m.Field, here, m.Have)
		if m.Field == "token_url" {
			differences[i] = fmt.Sprintf("token_url leads to %s here and to %q there", here, m.Have)
		}
	}
	text := fmt.Sprintf("the configuration names another service than the state is bound to: %s. "+
		"Nothing was sent, and nobody was given the client's secret. ", strings.Join(differences, "; "))
	switch there, used := w.lookInto(); {
	case !there:
		return w.stateError(state.ErrMissing)
	case !used:
		return exit.WithHint(errors.New(text+"No transfer was ever sent from this state, so it can be bound to the service that the configuration names"), w.command("init"))
	}
	return exit.WithHint(errors.New(text+"Correct the configuration. Only where the service itself changed, bind the state to it"), w.command(`state rebind --reason="…"`))
}

// lookInto reports whether there is a state, and whether a transfer was ever sent from it or recorded in
// it. A state that can't be read is there and used: whoever reads it next says why.
func (w *workspace) lookInto() (there, used bool) {
	return w.lookIntoAt(w.place)
}

func (w *workspace) lookIntoAt(at place) (there, used bool) {
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
	if w.binding.Lineage != "" && snapshot.Meta().Lineage != w.binding.Lineage {
		return true, true // another one, of which nothing is offered
	}
	used, err = isUsed(ctx, snapshot)
	return true, used || err != nil
}

// otherState says what to do about a state that is not the one that the directory is bound to.
func (w *workspace) otherState(meta state.Meta, err error) error {
	if meta.Precheck && meta.Serial == 1 && meta.Lineage != w.binding.Lineage {
		return exit.WithHint(fmt.Errorf("the state %s was made by init --new-state, which was cut off before it bound this directory to it; "+
			"nothing was sent. The same command finishes that", w.path), w.command("init --new-state"))
	}
	if mismatch, ok := errors.AsType[*state.MismatchError](err); ok && meta.Lineage == w.binding.Lineage {
		if _, used := w.lookInto(); !used {
			return exit.WithHint(fmt.Errorf("%s names another environment or service than the state %s is bound to: %w. "+
				"Nothing was sent. No transfer was ever sent from this state, so it can be bound to what the configuration names", lockfile.Name, w.path, mismatch), w.command("init"))
		}
	}
	return w.stateError(err)
}

// environmentError says what to do where the remit block says another environment than the
// state has.
func (w *workspace) environmentError(bound string) error {
	if there, used := w.lookInto(); there && !used {
		return exit.WithHint(fmt.Errorf("the configuration says environment %q, and this directory is bound to the state of environment %q, "+
			"from which nothing was ever sent; nothing was sent now either. Bind that state to environment %[1]q", w.config.Environment, bound), w.command("init"))
	}
	if schema := w.schemaLeft(bound); schema != "" {
		return exit.WithHint(fmt.Errorf("the configuration says environment %q, and this directory is bound to the state of environment %q; nothing was sent. "+
			"That state is in the schema %s, and nothing was ever sent from it. Write schema = %q in the state block, which keeps it there, "+
			"and bind it to environment %[1]q", w.config.Environment, bound, schema, schema), w.command("init"))
	}
	return w.usedElsewhere(bound)
}

// schemaLeft is the schema of the bound environment, where a state from which nothing was ever sent is in
// it and the configuration leads to another one for no other reason than its environment; else "".
func (w *workspace) schemaLeft(bound string) string {
	there, ok := w.place.(database)
	if !ok || there.options.Schema != config.DefaultSchema(w.config.Environment) {
		return ""
	}
	there.options.Schema = config.DefaultSchema(bound)
	if isThere, used := w.lookIntoAt(there); !isThere || used {
		return ""
	}
	return there.options.Schema
}

// usedElsewhere is environmentError for a state that has transfers, or that is not where the
// configuration says it is.
func (w *workspace) usedElsewhere(bound string) error {
	return fmt.Errorf("the configuration says environment %q, and this directory is bound to the state of environment %q; nothing was sent. "+
		"A state that was used belongs to one environment for good. Write environment = %[2]q in the remit block again, "+
		"or give the other environment a directory and a state of its own", w.config.Environment, bound)
}

// isOtherThan reports whether the configuration names another environment or service than the ones that
// the directory is bound to: a state that is missing then need not be the one that is bound.
func (w *workspace) isOtherThan(bound lockfile.File) bool {
	if w.config.Environment != bound.Environment {
		return true
	}
	if !w.config.ServiceDeclared() || w.need == config.NeedState || bound.Service == state.NoService() {
		return false
	}
	return state.Meta{Service: bound.Service}.Check("", "", w.declaredService(bound.Service, w.config.Named())) != nil
}

// missing says what to do where there is no state. The lock file is taken away from no state that
// may be elsewhere.
func (w *workspace) missing() error {
	switch {
	case w.config == nil || w.sandbox:
	case w.config.Environment != w.binding.Environment:
		return w.environmentError(w.binding.Environment)
	case w.isOtherThan(w.binding):
		return fmt.Errorf("there is no state at %s, and this directory is bound to a state of another service: client %q of %s; nothing was sent. "+
			"Name that service in the configuration again, or give the other one a directory and a state of its own",
			w.path, w.binding.Service.ClientID, w.binding.Service.BaseURL)
	}
	return exit.WithHint(fmt.Errorf("the state %s is gone, or was never there; nothing was sent. Where the state is kept elsewhere, correct %s. Else restore it from a backup. "+
		"Only where no backup exists, make a new one on purpose: every transfer is then looked up before it is sent, "+
		"where the service can look up", w.path, w.place.Words().argument), w.command("init --new-state"))
}

// isUsed reports whether a request was ever about to be sent, or a transfer recorded.
func isUsed(ctx context.Context, snapshot state.Snapshot) (bool, error) {
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

// identity names the service of the configuration.
func (w *workspace) identity() (state.Identity, error) {
	if !w.config.ServiceDeclared() {
		return state.NoService(), nil
	}
	client, diags := w.config.Client()
	if err := w.streams.Report(w.config, diags, false); err != nil {
		return state.Identity{}, err
	}
	identity := state.Identity{
		BaseURL: w.config.Service.BaseURL, Operator: string(w.config.Service.Operator), ClientID: client.ID,
	}
	if client.TokenURL != "" {
		identity.TokenURL = state.TokenOrigin(client.TokenURL, identity.BaseURL)
	}
	return identity, nil
}
