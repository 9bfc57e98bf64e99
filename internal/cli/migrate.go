package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"remit/config"
	"remit/internal/cli/exit"
	"remit/internal/cli/workspace"
	"remit/internal/view"
	"remit/state"
	"remit/state/postgres"
)

// migration is remit state migrate.
type migration struct {
	dir    workspace.Directory
	to     string
	schema string
	by     state.Holder
}

func newStateMigrate(p *process) *cobra.Command {
	m := migration{dir: workspace.Directory{Need: config.NeedState}}
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Move the state to PostgreSQL, or back to a file",
		Long: "Move the state from where the state block says that it is to another place: a database of\n" +
			"PostgreSQL, or a SQLite file. Every event is copied as it is, and the copy is verified. The old\n" +
			"state is then marked as moved and refused from there on, so that two copies never both\n" +
			"pay. A move that was cut off is finished by the same command.",
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case m.to == "":
				return errors.New("state migrate needs --to: postgres://user@host/database, or the name of a SQLite file")
			case !utf8.ValidString(m.to): // the mark on a state that is left is text
				return errors.New("--to is not valid UTF-8")
			}
			return m.run(cmd.Context(), p)
		},
	}
	directoryFlags(&m.dir, cmd)
	cmd.Flags().StringVar(&m.to, "to", "", "move to this `place`: postgres://user@host/database, or a SQLite file")
	cmd.Flags().StringVar(&m.schema, "schema", "", "the schema in the database, remit_ and the environment where it is not given")
	return cmd
}

func (m *migration) run(ctx context.Context, p *process) error {
	if m.dir.Sandbox {
		return errors.New("the sandbox's state is not moved: no money moved with it")
	}
	w, err := open(p, &m.dir)
	if err != nil {
		return err
	}
	there, err := m.place(w)
	if err != nil {
		return err
	}
	if there.String() == w.state.Backend.String() {
		return fmt.Errorf("the state is at %s already; nothing was changed", w.state.Name)
	}
	m.by = p.host.Holder("remit state migrate")
	isMoved, err := m.move(ctx, w, there)
	if err == nil && isMoved {
		err = m.compare(ctx, w.state, there)
	}
	if err != nil {
		return err
	}
	if err := there.Arrive(ctx, m.by); err != nil {
		return fmt.Errorf("use the state at %s: %w. Run the same command again to finish", there, err)
	}
	return m.tell(w, there)
}

// place is where --to leads.
func (m *migration) place(w *opened) (workspace.Backend, error) {
	if !strings.HasPrefix(m.to, "postgres://") && !strings.HasPrefix(m.to, "postgresql://") {
		if m.schema != "" || strings.Contains(m.to, "://") {
			return nil, errors.New("--to is neither postgres://user@host/database, with or without --schema, nor the name of a file")
		}
		return workspace.MovedBackend(w.dir, m.to, w.host), nil
	}
	if postgres.HasPassword(m.to) {
		return nil, errors.New("--to has a password in it, which others on this machine can see while the command runs, and which shells remember. " +
			"Give it in PGPASSWORD, or in the file that PGPASSFILE names")
	}
	if m.schema == "" {
		m.schema = config.DefaultSchema(w.config.Environment)
	}
	return workspace.NewPostgres(m.to, m.schema, w.host), nil
}

// move copies the state there, verifies the copy, and marks the old one, all under its lock.
// The copy can't be used yet: wherever the move is cut off, one of the two can be used, or none. It reports true,
// and does nothing, where an earlier move that was cut off has marked the old one.
func (m *migration) move(ctx context.Context, w *opened, there workspace.Backend) (isMoved bool, err error) {
	store, err := w.state.Write(ctx)
	if err != nil {
		return false, err
	}
	defer func() { _ = store.Close() }() // every append was durable when it returned
	journal, err := store.Lock(ctx, m.by, 0)
	var moved *state.MovedError
	switch {
	case errors.As(err, &moved) && moved.To == there.String():
		return true, nil
	case err != nil:
		return false, w.state.Error(err)
	}
	isMarked := false
	defer func() {
		if !isMarked {
			_ = journal.Unlock() // the lock dies with the process anyway
		}
	}()
	if err := m.copy(ctx, w, journal, there); err != nil {
		return false, err
	}
	mover, ok := journal.(state.Mover)
	if !ok {
		panic("a journal of a state that can't be moved")
	}
	isMarked = true
	if err := mover.Move(ctx, there.String()); err != nil {
		return false, fmt.Errorf("%w. The copy is whole and not in use; run the same command again to finish", err)
	}
	return false, nil
}

func (m *migration) copy(ctx context.Context, w *opened, journal state.Journal, there workspace.Backend) error {
	snapshot, err := journal.Snapshot(ctx)
	if err != nil {
		return w.state.Error(err)
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	meta := snapshot.Meta()
	if err := meta.Check(w.state.Binding.Environment, w.state.Binding.Lineage, w.state.Binding.Service); err != nil {
		return w.state.Error(err)
	}
	if meta.Restored { // which the copy could not know
		return exit.WithHint(errors.New("the state was restored from a dump, and may lack what was written after it. Import the service's export of transfer records, and move it then. Nothing was changed"),
			w.dir.Command("import FILE --complete"))
	}
	if meta.LacksAll() {
		return exit.WithHint(errors.New("the state was made in place of one that is gone, and lacks the transfers that were sent before. Import the service's export of transfer records, and move it then. Nothing was changed"),
			w.dir.Command("import FILE --complete"))
	}
	if meta.Lacks > 0 { // nor this
		return exit.WithHint(fmt.Errorf("the state lacks event %d, which was written to it. %s the service's export of transfer records, and move it then. Nothing was changed", meta.Lacks, workspace.RestoreOrImport(meta)),
			w.dir.Command("import FILE --complete"))
	}
	w.streams.Begin("copying the state")
	defer w.streams.Quiet()
	err = there.Receive(ctx, state.ContentsOf(ctx, snapshot), m.by)
	switch {
	case errors.Is(err, state.ErrExists):
		// An earlier move may have been cut off after it was whole; if it is another state, or an
		// older one, verifying finds that.
		verifying := m.verify(ctx, there, meta)
		if verifying == nil {
			verifying = m.unused(ctx, there)
		}
		if verifying != nil {
			if earlier := m.earlier(ctx, snapshot, there); earlier != nil {
				return earlier
			}
			return fmt.Errorf("there is something at %s already, which is no copy of this state as it is now: %w. Nothing was changed. Move it away first", there, verifying)
		}
		return nil
	case err != nil:
		return fmt.Errorf("copy the state: %w. Nothing was changed", err)
	}
	if err := m.verify(ctx, there, meta); err != nil {
		return fmt.Errorf("the copy at %s is not in use, and not what it should be: %w. The state is where it was", there, err)
	}
	return nil
}

// unused returns an error where the copy is in use.
func (m *migration) unused(ctx context.Context, there workspace.Backend) error {
	store, err := there.OpenReadOnly(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }() // it was only read
	var moved *state.MovedError
	snapshot, err := store.Snapshot(ctx)
	switch {
	case errors.As(err, &moved) && moved.To == state.Arriving:
		return nil
	case err == nil:
		return errors.Join(errors.New("it is in use"), snapshot.Close())
	}
	return err
}

// earlier returns an error that says so where an earlier copy of this state is there, from where it was moved away; nil for anything else.
func (m *migration) earlier(ctx context.Context, now state.Snapshot, there workspace.Backend) error {
	store, err := there.OpenReadOnly(ctx)
	if err != nil {
		return nil
	}
	defer func() { _ = store.Close() }() // it was only read
	var moved *state.MovedError
	snapshot, err := store.Snapshot(ctx)
	if err == nil {
		_ = snapshot.Close() // it was only read
	}
	if !errors.As(err, &moved) || moved.To == state.Arriving {
		return nil
	}
	was, err := store.Verify(ctx, "")
	if err != nil || was.Lineage != now.Meta().Lineage || !hasEvent(ctx, now, was.Serial, was.Head) {
		return nil
	}
	return exit.WithHint(fmt.Errorf("there is something at %s already: the earlier copy of this state, which was moved from there to %s. Its newest event is of %s. "+
		"Nothing was changed. Put that copy away, and run the same command again", there, moved.To, was.At.UTC().Format(time.DateOnly)), there.PutAway("old"))
}

// hasEvent reports whether a journal has an event with that hash.
func hasEvent(ctx context.Context, journal state.Snapshot, seq int64, hash string) bool {
	for event, err := range journal.Events(ctx, seq-1, "") {
		return err == nil && event.Seq == seq && event.Hash == hash
	}
	return false
}

// compare verifies both, the copy of which may have gone on since.
func (m *migration) compare(ctx context.Context, st *workspace.State, there workspace.Backend) error {
	store, err := st.Backend.OpenReadOnly(ctx)
	if err != nil {
		return st.Error(err)
	}
	defer func() { _ = store.Close() }() // it was only read
	meta, err := store.Verify(ctx, "")
	if err != nil {
		return verifyError(st, err)
	}
	if err := m.verify(ctx, there, meta); err != nil {
		return fmt.Errorf("the state at %s was moved to %s, where its copy is not what it should be: %w", st.Name, there, err)
	}
	return nil
}

// verify reads all of the copy, which must have the newest event of the state.
func (m *migration) verify(ctx context.Context, there workspace.Backend, want state.Meta) error {
	store, err := there.OpenReadOnly(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }() // it was only read
	got, err := store.Verify(ctx, want.Head)
	if err == nil && got.Lineage != want.Lineage {
		err = errors.New("it has another lineage")
	}
	return err
}

// tell names the steps that are left to do by hand.
func (m *migration) tell(w *opened, there workspace.Backend) error {
	block := fmt.Sprintf("    state \"sqlite\" {\n      path = %q\n    }\n", m.to)
	if _, isFile := there.(workspace.SQLite); !isFile {
		block = fmt.Sprintf("    state \"postgres\" {\n      url    = %q\n      schema = %q\n    }\n", m.to, m.schema)
	}
	_, err := fmt.Fprintf(w.streams.Out, "The state was moved to %s and verified there. The one at %s is kept, and refused from now on.\n\n"+
		"Next, write this state block and commit it:\n\n%s\nthen:\n\n    %s\n",
		view.Visible(there.String()), view.Visible(w.state.Name), block, w.dir.Command("plan"))
	return err
}
