package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"
	"github.com/hashicorp/hcl/v2"

	"remit/config"
	"remit/internal/cli/exit"
	"remit/internal/cli/terminal"
	"remit/internal/files/confined"
	"remit/internal/files/lockfile"
	"remit/planner"
	"remit/state"
	"remit/state/postgres"
	"remit/state/sqlite"
)

// workspace is a configuration together with the state that it is bound to.
type workspace struct {
	*process
	source
	config  *config.Configuration
	binding lockfile.File // what the state must be
	place   place
	path    string // the name of place
	box     string // the directory of the sandbox's state and ledger
	checked bool   // the state says what binding says

	authStyle string // that the newest run found to work which knows it; "" for none

	toldCopy bool // it was told that the state is a copy
}

// sandboxName is where --sandbox keeps its state and its ledger, below the configuration's directory.
const sandboxName = ".remit/sandbox"

func sandboxDirectory(dir string) string { return filepath.Join(dir, filepath.FromSlash(sandboxName)) }

// open reads the configuration and finds out which state it is bound to. Nothing is made.
func openWorkspace(p *process, s *source, asJSON bool) (*workspace, error) {
	if err := s.checkPractice(); err != nil {
		return nil, err
	}
	loaded, err := load(p, s, asJSON)
	if err != nil {
		return nil, err
	}
	w := &workspace{process: p, source: *s, config: loaded}
	if s.sandbox {
		w.inSandbox(sandboxDirectory(s.dir))
		return w, s.checkSandbox()
	}
	w.at(w.statePlace())
	found, made, err := lockfile.Read(s.dir)
	if err != nil {
		return nil, err
	}
	if !made {
		return nil, w.noLockFile()
	}
	w.binding = found
	return w, w.checkBinding()
}

// checkSandbox refuses a directory of the sandbox that a link leads out of: it stands where the
// authors of the configuration write too, and remit makes it and writes there without being asked.
func (s *source) checkSandbox() error {
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // nothing was written
	if err := confined.CheckDirectory(root, sandboxName); err != nil {
		return fmt.Errorf("the sandbox cannot be kept in %s: %w; remove it", sandboxName, err)
	}
	return nil
}

// inSandbox binds the workspace to the state of a sandbox, in a directory that need not be there.
func (w *workspace) inSandbox(box string) {
	w.box = box
	w.at(file{filepath.Join(box, "remit.db"), sqlite.Options{Now: w.host.Now}})
	w.binding = lockfile.File{Environment: state.Sandbox, Service: state.SandboxIdentity()}
}

// at has the state be at a place.
func (w *workspace) at(there place) {
	w.place, w.path = there, there.String()
	if !w.sandbox && w.config != nil && w.config.SensitiveState() {
		w.streams.Hide([]string{w.path})
		w.path = terminal.Hidden
	}
}

func (w *workspace) noLockFile() error {
	// Where a server does not answer, to look for it ends by itself.
	if there, err := w.place.Look(context.Background()); err == nil && there {
		return exit.WithHint(fmt.Errorf("there is a state (%s) but no %s, which says that it is the right one. "+
			"Restore the file from version control, or write it anew from the state", w.path, lockfile.Name), w.command("init"))
	}
	return exit.WithHint(errors.New("this directory has no state yet; nothing was sent"), w.command("init"))
}

// command is a command line that works on the same directory.
func (w *workspace) command(words string) string { return w.source.command(words) }

// check refuses a state that is not the one that the directory is bound to. From then on the
// lock file says what the state says.
func (w *workspace) check(meta state.Meta) error {
	if err := meta.Check(w.binding.Environment, w.binding.Lineage, w.binding.Service); err != nil {
		return w.otherState(meta, err)
	}
	w.checked = true
	return nil
}

// checkWhole is check, and tells of a state that is a copy of one in which a run was under way.
func (w *workspace) checkWhole(ctx context.Context, snapshot state.Snapshot) error {
	if err := w.check(snapshot.Meta()); err != nil {
		return err
	}
	if err := w.recallAuth(ctx, snapshot); err != nil {
		return w.stateError(err)
	}
	file, ok := snapshot.(state.Copied)
	if !ok || w.sandbox || w.toldCopy {
		return nil
	}
	run, isCopy, err := file.CopyOf(ctx)
	if err != nil {
		return w.stateError(err)
	}
	if isCopy {
		w.toldCopy = true
		w.warnOfCopy(run)
	}
	return nil
}

// recalledMax bounds how many runs are looked at for where the token endpoint takes credentials.
const recalledMax = 100

// recallAuth finds out where the token endpoint took the client's credentials in the newest run that
// knows it, so that it is not tried out again: each try with a wrong secret is a failed login.
func (w *workspace) recallAuth(ctx context.Context, snapshot state.Snapshot) error {
	looked := 0
	for run, err := range snapshot.Runs(ctx) {
		if err != nil {
			return err
		}
		b := run.Begun
		if there := snapshot.Meta().Service; b.AuthStyle != "" && b.Service.TokenPlace() == there.TokenPlace() && b.Service.ClientID == there.ClientID {
			w.authStyle = b.AuthStyle
			return nil
		}
		if looked++; looked == recalledMax {
			return nil
		}
	}
	return nil
}

// warnOfCopy tells who uses a copy that its original may be in use.
func (w *workspace) warnOfCopy(run state.Run) {
	// Nobody reads it where it can't be written.
	_ = w.streams.Report(nil, hcl.Diagnostics{{
		Severity: hcl.DiagWarning,
		Summary:  "The state is a copy of one in which a run was under way",
		Detail: fmt.Sprintf("Run %s of %s on %s, begun at %s, used %s and has not ended as far as %s knows. It may go on there: what it does is not in this copy. "+
			"What it had in flight is not settled as not made before the wait for it is over. Pay from one of the two alone: end that run, or make sure that it has ended, first. "+
			"Where the file was only moved to another disk, this says no more than that the run was killed.",
			run.Begun.RunID, run.Begun.By.User, run.Begun.By.Host, run.BegunAt.UTC().Format(time.RFC3339), run.Begun.File.Path, w.path),
	}}, false)
}

// read opens the state for reading. In the sandbox a state that was never made is empty.
func (w *workspace) read(ctx context.Context) (state.Snapshot, func(), error) {
	store, err := w.place.OpenReadOnly(ctx)
	if err != nil {
		if w.sandbox && errors.Is(err, state.ErrMissing) {
			return unmade{}, func() {}, nil
		}
		return nil, nil, w.stateError(err)
	}
	snapshot, err := store.Snapshot(ctx)
	if err != nil {
		_ = store.Close()
		return nil, nil, w.stateError(err)
	}
	closeAll := func() {
		_ = snapshot.Close()
		_ = store.Close()
	}
	if err := w.checkWhole(ctx, snapshot); err != nil {
		closeAll()
		return nil, nil, err
	}
	return snapshot, closeAll, nil
}

// write opens the state for writing. In the sandbox a state that was never made is made.
func (w *workspace) write(ctx context.Context) (state.Store, error) {
	if w.sandbox {
		if err := w.makeSandbox(ctx); err != nil {
			return nil, err
		}
	}
	store, err := w.place.Open(ctx)
	if err != nil {
		return nil, w.stateError(err)
	}
	switch there := w.place.(type) {
	case file:
		if kind := sqlite.UserFS(there.path); kind != "" {
			w.warnOfUserFS(kind)
		}
	case database:
		if host, what := postgres.Unproven(there.options.URL, there.options.Schema); host != "" {
			w.warnOfStranger(host, what)
		}
	}
	return store, nil
}

// warnOfUserFS tells who is about to write that the state may not be safe where it is.
func (w *workspace) warnOfUserFS(kind string) {
	// Nobody reads it where it can't be written.
	_ = w.streams.Report(nil, hcl.Diagnostics{{
		Severity: hcl.DiagWarning,
		Summary:  "The state may not be on a disk of this machine",
		Detail: fmt.Sprintf("%s is on a file system of the kind %s. Its locks keep out other processes of this machine. Another machine "+
			"that uses the same files may not see them, so that two runs could write at once. Keep the state on a local disk, with backups elsewhere.", w.path, kind),
	}}, false)
}

// warnOfStranger tells who is about to write that the database may be another one.
func (w *workspace) warnOfStranger(host, what string) {
	// Nobody reads it where it can't be written.
	_ = w.streams.Report(nil, hcl.Diagnostics{{
		Severity: hcl.DiagWarning,
		Summary:  "The database is not asked to prove which one it is",
		Detail: fmt.Sprintf("%s %s. Whoever stands in between can read the record, and show one in which nothing was paid yet. "+
			"Write sslmode=verify-full and sslrootcert=FILE into the url of the state, with the certificate of the authority that signed the server's.", host, what),
	}}, false)
}

func (w *workspace) makeSandbox(ctx context.Context) error {
	if there, err := w.place.Look(ctx); err != nil || there {
		return err
	}
	return w.create(ctx, state.Created{
		Lineage: uuid.NewString(), Environment: w.binding.Environment, Service: w.binding.Service, By: w.host.Holder("remit apply --sandbox"),
	})
}

func (w *workspace) create(ctx context.Context, created state.Created) error {
	if err := w.place.Create(ctx, created); err != nil {
		return fmt.Errorf("make the state %s: %w", w.path, err)
	}
	return nil
}

// locked runs act under the state's lock, on a snapshot of the state that the directory is
// bound to.
func (w *workspace) locked(ctx context.Context, by state.Holder, wait time.Duration, act func(state.Journal, state.Snapshot) error) error {
	return w.lockedAny(ctx, by, wait, func(journal state.Journal, snapshot state.Snapshot) error {
		if err := w.checkWhole(ctx, snapshot); err != nil {
			return err
		}
		return act(journal, snapshot)
	})
}

// lockedAny is locked for a state that need not be the one that the directory is bound to.
func (w *workspace) lockedAny(ctx context.Context, by state.Holder, wait time.Duration, act func(state.Journal, state.Snapshot) error) error {
	store, err := w.write(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }() // every append was durable when it returned
	journal, err := store.Lock(ctx, by, wait)
	switch {
	case err != nil && ctx.Err() != nil:
		return exit.Interrupted("while it waited for the lock of the state")
	case err != nil:
		return w.stateError(err)
	}
	err = withSnapshot(ctx, w, journal, act)
	// The lock dies with the process anyway, and the journal has what was not folded.
	lost := journal.Unlock()
	isLost := errors.Is(lost, state.ErrDamaged) || errors.Is(lost, state.ErrReplaced)
	if isLost && !errors.Is(err, state.ErrDamaged) && !errors.Is(err, state.ErrReplaced) {
		return w.lostAtEnd(lost)
	}
	return err
}

func withSnapshot(ctx context.Context, w *workspace, journal state.Journal, act func(state.Journal, state.Snapshot) error) error {
	snapshot, err := journal.Snapshot(ctx)
	if err != nil {
		return w.stateError(err)
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	return act(journal, snapshot)
}

var _ planner.Record = unmade{}

// destination says where the money would move.
func (w *workspace) destination() string {
	if w.sandbox {
		return "the sandbox"
	}
	return fmt.Sprintf("%s (environment %s)", w.config.Service.BaseURL, w.config.Environment)
}
