// Package workspace is what commands work on: the directory of a configuration, the state that it is bound to,
// and the service that it names. A command asks for each of them by itself.
//
// Its one invariant: no state is used that is not the one the directory is bound to, and no secret is sent before
// that is known.
package workspace

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
	"remit/internal/cli/host"
	"remit/internal/cli/terminal"
	"remit/internal/files/confined"
	"remit/internal/files/lockfile"
	"remit/internal/text/english"
	"remit/planner"
	"remit/state"
	"remit/state/postgres"
	"remit/state/sqlite"
)

// State is the state of a directory. Nothing is opened before a method asks for it.
type State struct {
	host    *host.Host
	streams *terminal.Streams
	dir     *Directory
	config  *config.Configuration

	Binding    lockfile.File // which state it must be
	Backend    Backend
	Name       string // of Backend; hidden where it is sensitive
	SandboxDir string // the directory of the sandbox's state and ledger; "" outside of the sandbox
	MayLack    bool   // the state, where it was read, lacks events or may; a person was told
	checked    bool   // the state agrees with Binding

	authStyle string   // how the token endpoint takes credentials, by an earlier run; "" for unknown
	toldCopy  bool     // a person was told that the state is a copy
	toldNotes bool     // a person was told which notes of the state can't be used, if any
	toldStale []string // the notes that are behind the state, of which a person was told
}

// NewState is a state without a backend: see [State.Find], [State.UseBackend] and [State.UseSandbox].
func NewState(h *host.Host, streams *terminal.Streams, dir *Directory, loaded *config.Configuration) *State {
	dir.loaded = loaded
	return &State{host: h, streams: streams, dir: dir, config: loaded}
}

// Find finds out which state the directory is bound to. It makes nothing, and opens a state only to explain an
// error.
func (s *State) Find() error {
	if s.dir.Sandbox {
		s.UseSandbox(s.dir.SandboxDirectory())
		return s.dir.CheckSandbox()
	}
	s.UseBackend(BackendOf(s.config, s.dir, s.host))
	found, made, err := s.dir.ReadLock()
	if err != nil {
		return err
	}
	if !made {
		return s.noLockFile()
	}
	s.Binding = found
	return s.checkBinding()
}

// CheckSandbox refuses a sandbox directory that a link leads out of: authors of the configuration can write
// there, and remit makes files in it without being asked.
func (s *Directory) CheckSandbox() error {
	root, err := os.OpenRoot(s.Path)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // nothing was written
	if err := confined.CheckDirectory(root, s.sandboxName()); err != nil {
		return fmt.Errorf("the sandbox cannot be kept in %s: %w; remove it", s.sandboxName(), err)
	}
	return nil
}

// UseSandbox binds the directory to the state of a sandbox in the directory box, which need not exist.
func (s *State) UseSandbox(box string) {
	s.SandboxDir = box
	s.UseBackend(sandboxBackend(s.host, box))
	s.Binding = lockfile.File{Environment: s.dir.SandboxEnvironment(), Service: state.SandboxIdentity()}
}

// sandboxBackend is where the state of a sandbox in the directory box is.
func sandboxBackend(h *host.Host, box string) SQLite {
	return SQLite{path: filepath.Join(box, "remit.db"), options: sqlite.Options{Now: h.Now}}
}

// UseBackend says where the state is.
func (s *State) UseBackend(there Backend) {
	s.Backend, s.Name = there, there.String()
	if !s.dir.Sandbox && s.config != nil && s.config.SensitiveState() {
		s.streams.Hide([]string{s.Name})
		s.Name = terminal.Hidden
	}
}

func (s *State) noLockFile() error {
	if err := s.dir.CheckOrphans(); err != nil {
		return err
	}
	// Where a server does not answer, to look for it ends by itself.
	if there, err := s.Backend.Look(context.Background()); err == nil && there {
		return exit.WithHint(fmt.Errorf("there is a state (%s) but no %s, which says that it is the right one. "+
			"Restore the file from version control, or write it anew from the state", s.Name, s.dir.LockName()), s.dir.Command("init"))
	}
	if gone, wasHere := s.Backend.Gone(""); wasHere {
		return GoneError(s, gone)
	}
	if s.HasSandboxBeside() {
		return exit.WithHint(errors.New("this directory has only a sandbox state; nothing was sent. Add --sandbox to use that one; for real money make a state first"),
			s.dir.Command("init"))
	}
	if s.config != nil && !s.config.ServiceDeclared() {
		return exit.WithHint(errors.New("the configuration has no service block, which names the service that moves the money; nothing was sent. "+
			"Write the block, then make the state. To try without one, add --sandbox"), s.dir.Command("init"))
	}
	return exit.WithHint(errors.New("this directory has no state yet; nothing was sent"), s.dir.Command("init"))
}

// HasSandboxBeside reports whether the directory has a sandbox, whose state is another one than this.
func (s *State) HasSandboxBeside() bool {
	if s.SandboxDir != "" {
		return false
	}
	there, err := sandboxBackend(s.host, s.dir.SandboxDirectory()).Look(context.Background())
	return err == nil && there
}

// Check refuses a state that the directory is not bound to. From then on the lock file and the state agree.
func (s *State) Check(meta state.Meta) error {
	if err := meta.Check(s.Binding.Environment, s.Binding.Lineage, s.Binding.Service); err != nil {
		return s.OtherState(meta, err)
	}
	s.checked = true
	return nil
}

// checkSnapshot is [State.Check], and warns of a state that lacks events, and of a copy of a state in which a run was under way.
func (s *State) checkSnapshot(ctx context.Context, snapshot state.Snapshot) error {
	if err := s.Check(snapshot.Meta()); err != nil {
		return err
	}
	if err := s.RecallAuth(ctx, snapshot); err != nil {
		return s.Error(err)
	}
	if meta := snapshot.Meta(); meta.MayLack() && !s.MayLack {
		s.MayLack = true
		warnOfLack(s, meta)
	}
	file, ok := snapshot.(state.Copied)
	if !ok || s.dir.Sandbox || s.toldCopy {
		return nil
	}
	run, isCopy, err := file.CopyOf(ctx)
	if err != nil {
		return s.Error(err)
	}
	if isCopy {
		s.toldCopy = true
		warnOfCopy(s.streams, s.Name, run)
	}
	return nil
}

// recalledMax bounds how many runs are searched for the way in which the token endpoint takes credentials.
const recalledMax = 100

// RecallAuth finds the way in which the token endpoint took the client's credentials, in the newest run that
// knows it. Trying it out again could count as a failed login.
func (s *State) RecallAuth(ctx context.Context, snapshot state.Snapshot) error {
	looked := 0
	for run, err := range snapshot.Runs(ctx) {
		if err != nil {
			return err
		}
		b := run.Begun
		if there := snapshot.Meta().Service; b.AuthStyle != "" && b.Service.TokenPlace() == there.TokenPlace() && b.Service.ClientID == there.ClientID {
			s.authStyle = b.AuthStyle
			return nil
		}
		if looked++; looked == recalledMax {
			return nil
		}
	}
	return nil
}

// warnOfNotes says once which notes of the state this user can't use.
func warnOfNotes(s *State) {
	if s.toldNotes || s.dir.Sandbox {
		return
	}
	s.toldNotes = true
	for _, told := range unusable(s.Backend, s.Binding.Lineage, s.host.Holder("").User) {
		warn(s.streams, told[0], "%s", told[1])
	}
}

// WarnOfUnnoted tells of the notes that a journal could not bring up to date, once it is unlocked. Those that a person was told of before are left out.
func WarnOfUnnoted(s *State, journal state.Journal) {
	if noting, is := journal.(state.Noting); is {
		warnOfUnnoted(s, noting.Unnoted())
	}
}

func warnOfUnnoted(s *State, all []state.Unnoted) {
	if s.dir.Sandbox {
		return
	}
	for _, text := range behind(all, &s.toldStale) {
		warn(s.streams, noteSummary, "%s", text)
	}
}

// warnOfLack says that a state is older than it was, or may be, and how it gets what it lacks.
func warnOfLack(s *State, meta state.Meta) {
	if meta.Lacks == 0 {
		warnOfDump(s, meta)
		return
	}
	if meta.LacksAll() {
		warnOfPlace(s, meta)
		return
	}
	note := ""
	if paths := notesThere(s.Backend, meta); len(paths) > 0 && !meta.Told {
		note = fmt.Sprintf(" Only where nothing was sent after event %d, remove %s, from which that is known.", meta.Serial, english.List(paths))
	}
	where := s.Name + ", which does not have it"
	if meta.Elsewhere {
		where = "a state under another path; " + s.Name + " is a copy of that, and does not have it"
	}
	warn(s.streams, "The state lacks events",
		"Event %d was written to %s: %s. Its newest is event %d, and transfers that were sent meanwhile are not in it. "+
			"With lookup_path an apply looks every ref_id up before it sends; without it, an apply sends nothing. %s "+
			"the service's export of all transfer records with --complete, which is your word that they are all.%s",
		meta.Lacks, where, WhyLacks(meta), meta.Serial, RestoreOrImport(meta), note)
}

// RestoreOrImport begins the advice for a state that lacks events; the export is named behind it. Of copies that were
// all used, each lacks the payments of the others.
func RestoreOrImport(meta state.Meta) string {
	if meta.Forked {
		return "No copy has all that was sent, so put none in the place of another: keep this one, and import"
	}
	if meta.Elsewhere {
		return "Work with that one, or import"
	}
	return "Restore a newer backup before any apply, or import"
}

// WhyLacks says why a state does not have the event that it lacks. A copy that was used since may have come as far again.
func WhyLacks(meta state.Meta) string {
	const older = "it is an older copy, or a part of its file was lost"
	if meta.Forked {
		return "another copy of the state was used as well"
	}
	if meta.Elsewhere {
		return "a payment was begun there since"
	}
	if meta.Serial >= meta.Lacks {
		return fmt.Sprintf("%s, and it was used since, so that its event %d is another one", older, meta.Lacks)
	}
	return older
}

// warnOfPlace says that a state was made in place of one that is gone, and how it gets what that had.
func warnOfPlace(s *State, meta state.Meta) {
	gone, _ := s.Backend.Gone("")
	never := "remove " + english.List(append([]string{s.dir.LockName(), "what is in " + s.Name}, gone.Notes...)) + ", and init again"
	if paths := notesThere(s.Backend, meta); len(paths) > 0 && !meta.Told {
		never = "remove " + english.List(paths) + ", from which that is known"
	}
	warn(s.streams, "The state was made in place of one that is gone",
		"remit init --new-state made %s, and the transfers that were sent before are not in it. "+
			"With lookup_path an apply looks every ref_id up before it sends; without it, an apply sends nothing. Have the service's operator export all transfer records, "+
			"and import them with --complete, which is your word that they are all. Where nothing was ever sent from the one that is gone, %s.",
		s.Name, never)
}

// warn tells a person; nobody reads it where it can't be written.
func warn(streams *terminal.Streams, summary, detail string, args ...any) {
	_ = streams.ReportText(nil, hcl.Diagnostics{{Severity: hcl.DiagWarning, Summary: summary, Detail: fmt.Sprintf(detail, args...)}})
}

// warnOfDump says that a state was restored from a dump, and how it gets what it may lack.
func warnOfDump(s *State, meta state.Meta) {
	warn(s.streams, "The state was restored from a dump",
		"remit did not write the rows of %s where they are: a dump was restored there, its server was replaced, or its tables were written anew. Its newest event is %d. "+
			"Transfers that were sent after the dump are not in it. "+
			"With lookup_path an apply looks every ref_id up before it sends; without it, an apply sends nothing. "+
			"Import the service's export of all transfer records with --complete, which is your word that they are all.",
		s.Name, meta.Serial)
}

// warnOfCopy says that the original of a copy may be in use.
func warnOfCopy(streams *terminal.Streams, name string, run state.Run) {
	warn(streams, "The state is a copy of one in which a run was under way",
		"Run %s of %s on %s, begun at %s, used %s and has not ended as far as %s knows. It may go on there: what it does is not in this copy. "+
			"What it had in flight is not settled as not made before the wait for it is over. Pay from one of the two alone: end that run, or make sure that it has ended, first. "+
			"Where the file was only moved to another disk, this says no more than that the run was killed.",
		run.Begun.RunID, run.Begun.By.User, run.Begun.By.Host, run.BegunAt.UTC().Format(time.RFC3339), run.Begun.File.Path, name)
}

// Read opens the state for reading. A state of the sandbox that is not made yet is empty.
func (s *State) Read(ctx context.Context) (state.Snapshot, func(), error) {
	warnOfNotes(s)
	store, err := s.Backend.OpenReadOnly(ctx)
	if err != nil {
		if s.dir.Sandbox && errors.Is(err, state.ErrMissing) {
			return empty{environment: s.Binding.Environment}, func() {}, nil
		}
		return nil, nil, s.Error(err)
	}
	snapshot, err := store.Snapshot(ctx)
	if err != nil {
		_ = store.Close()
		return nil, nil, s.Error(err)
	}
	closeAll := func() {
		_ = snapshot.Close()
		_ = store.Close()
	}
	if err := s.checkSnapshot(ctx, snapshot); err != nil {
		closeAll()
		return nil, nil, err
	}
	warnOfUnnoted(s, stale(s.Backend, snapshot.Meta()))
	return snapshot, closeAll, nil
}

// Write opens the state for writing, and makes that of the sandbox.
func (s *State) Write(ctx context.Context) (state.Store, error) {
	if s.dir.Sandbox {
		if err := s.makeSandbox(ctx); err != nil {
			return nil, err
		}
	}
	warnOfNotes(s)
	store, err := s.Backend.Open(ctx)
	if err != nil {
		return nil, s.Error(err)
	}
	switch there := s.Backend.(type) {
	case SQLite:
		if kind := sqlite.UserFS(there.path); kind != "" {
			warnOfUserFS(s.streams, s.Name, kind)
		}
	case Postgres:
		if host, what := postgres.Unproven(there.options.URL, there.options.Schema); host != "" {
			warnOfStranger(s.streams, host, what)
		}
	}
	return store, nil
}

// warnOfUserFS says that locks may not hold on the state's file system.
func warnOfUserFS(streams *terminal.Streams, name, kind string) {
	warn(streams, "The state may not be on a disk of this machine",
		"%s is on a file system of the kind %s. Its locks keep out other processes of this machine. Another machine "+
			"that uses the same files may not see them, so that two runs could write at once. Keep the state on a local disk, with backups elsewhere.", name, kind)
}

// warnOfStranger says that nothing proves which database it is.
func warnOfStranger(streams *terminal.Streams, host, what string) {
	warn(streams, "The database is not asked to prove which one it is",
		"%s %s. A machine in between can read the record, and show one in which nothing was paid yet. "+
			"Write sslmode=verify-full and sslrootcert=FILE into the url of the state, with the certificate of the authority that signed the server's.", host, what)
}

func (s *State) makeSandbox(ctx context.Context) error {
	if there, err := s.Backend.Look(ctx); err != nil || there {
		return err
	}
	return s.Create(ctx, state.Created{
		Lineage: uuid.NewString(), Environment: s.Binding.Environment, Service: s.Binding.Service, By: s.host.Holder("remit apply --sandbox"),
	})
}

// Create makes the state where its backend says; there must be none.
func (s *State) Create(ctx context.Context, created state.Created) error {
	err := s.Backend.Create(ctx, created)
	if err == nil {
		return nil
	}
	if denied := fileOf(s).kept(err); denied != nil {
		return denied
	}
	return fmt.Errorf("make the state %s: %w", s.Name, err)
}

// Locked calls act under the state's lock, with a snapshot of the state that the directory is bound to.
func (s *State) Locked(ctx context.Context, by state.Holder, wait time.Duration, act func(state.Journal, state.Snapshot) error) error {
	return s.LockedAny(ctx, by, wait, func(journal state.Journal, snapshot state.Snapshot) error {
		if err := s.checkSnapshot(ctx, snapshot); err != nil {
			return err
		}
		return act(journal, snapshot)
	})
}

// LockedAny is [State.Locked] for a state that the directory need not be bound to.
func (s *State) LockedAny(ctx context.Context, by state.Holder, wait time.Duration, act func(state.Journal, state.Snapshot) error) error {
	return s.lockedFor(ctx, by, wait, func(journal state.Journal) error { return s.withSnapshot(ctx, journal, act) })
}

// LockedThen is [State.Locked] without a wait. Under the same lock it calls then, once act has succeeded and its
// snapshot is closed.
func (s *State) LockedThen(ctx context.Context, by state.Holder, act func(state.Journal, state.Snapshot) error, then func(context.Context, state.Journal) error) error {
	return s.lockedFor(ctx, by, 0, func(journal state.Journal) error {
		err := s.withSnapshot(ctx, journal, func(journal state.Journal, snapshot state.Snapshot) error {
			if err := s.checkSnapshot(ctx, snapshot); err != nil {
				return err
			}
			return act(journal, snapshot)
		})
		if err != nil {
			return err
		}
		return then(ctx, journal)
	})
}

func (s *State) lockedFor(ctx context.Context, by state.Holder, wait time.Duration, act func(state.Journal) error) error {
	store, err := s.Write(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }() // every append was durable when it returned
	journal, err := store.Lock(ctx, by, wait)
	switch {
	case err != nil && ctx.Err() != nil:
		return exit.Interrupted("while it waited for the lock of the state")
	case err != nil:
		return s.Error(err)
	}
	err = act(journal)
	// The lock dies with the process anyway, and the journal has every event.
	lost := journal.Unlock()
	WarnOfUnnoted(s, journal)
	isLost := errors.Is(lost, state.ErrDamaged) || errors.Is(lost, state.ErrReplaced)
	if isLost && !errors.Is(err, state.ErrDamaged) && !errors.Is(err, state.ErrReplaced) {
		return s.LostAtEnd(lost)
	}
	return err
}

func (s *State) withSnapshot(ctx context.Context, journal state.Journal, act func(state.Journal, state.Snapshot) error) error {
	snapshot, err := journal.Snapshot(ctx)
	if err != nil {
		return s.Error(err)
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	return act(journal, snapshot)
}

var _ planner.Record = empty{}
