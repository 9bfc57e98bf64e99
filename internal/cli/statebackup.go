package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"remit/config"
	"remit/internal/cli/exit"
	"remit/internal/cli/workspace"
	"remit/internal/files/wholefile"
	"remit/internal/view"
	"remit/state"
)

func newStateBackup(p *process) *cobra.Command {
	from := workspace.Directory{Need: config.NeedState}
	var out string
	cmd := &cobra.Command{
		Use:   "backup --out=FILE",
		Short: "Copy the state to a file while it is in use, and verify the copy",
		Long: "Copy the state, as it is now, to a SQLite file that only you may read, and verify the copy\n" +
			"from its first event to its last. A run may go on meanwhile. It replaces no file. A state in\n" +
			"PostgreSQL is written as a SQLite file too; pg_dump makes a backup for a database.\n" +
			"To restore a copy is to put it in the place of the state, while nothing runs: docs/upkeep.md says how.",
		Args:       exactArgs(),
		SuggestFor: []string{"restore"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if p.streams.AsJSON {
				p.streams.JSON() // errors are told there too
			}
			if out == "" {
				return errors.New("state backup needs --out: the name of the file to write, such as remit-2026-11-30.backup")
			}
			w, err := open(p, &from)
			if err != nil {
				return err
			}
			return backup(cmd.Context(), w, out)
		},
	}
	directoryFlags(&from, cmd)
	cmd.Flags().StringVar(&out, "out", "", "write the copy to this `file`, which must not be there")
	cmd.Flags().BoolVar(&p.streams.AsJSON, "json", false, "write JSON Lines")
	return cmd
}

// backup writes a verified copy of the state. An incomplete copy never has the name.
func backup(ctx context.Context, w *opened, name string) error {
	to := w.dir.Within(name)
	if strings.HasSuffix(to, ".hcl") || strings.HasSuffix(to, ".hcl.json") {
		return fmt.Errorf("--out=%s would be read as configuration; name another file, such as remit-2026-11-30.backup", name)
	}
	for _, suffix := range []string{"", "-wal", "-shm", "-journal", ".lock"} {
		if _, err := os.Lstat(to + suffix); err == nil {
			return fmt.Errorf("%s%s is there already, and a backup replaces nothing. Name another file with --out", name, suffix)
		}
	}
	defer boundGarbage(w.host.Getenv)()
	mayLack, silent := false, ", and does not say so: restored elsewhere, it pays their transfers again"
	if snapshot, done, err := w.state.Read(ctx); err == nil { // else the copying fails, and says why
		meta := snapshot.Meta()
		mayLack = meta.MayLack()
		if _, isFile := w.state.Backend.(workspace.SQLite); isFile && meta.Told {
			silent = "" // the copy has what the state says itself
		}
		done()
	}
	w.streams.Begin("copying the state")
	defer w.streams.Quiet()
	made, err := copyOut(ctx, w, to, name)
	switch {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s was made by somebody else meanwhile, and a backup replaces nothing. Name another file with --out", name)
	case err != nil:
		return err
	}
	w.streams.Quiet()
	made.File = name
	if w.streams.AsJSON {
		err = w.streams.JSON().StateBackup(made)
	} else {
		err = view.StateBackup(w.streams.Out, made, w.streams.Screen(w.streams.Out))
	}
	if err != nil || !mayLack {
		return err
	}
	return exit.WithCode(exit.WithHint(fmt.Errorf("%s lacks the same events as the state%s. "+
		"Keep the backups that you have. Import the service's export of transfer records, and make another one then", name, silent), w.dir.Command("import FILE --complete")), exit.Look)
}

// copyOut makes the copy in a directory of its own beside where it goes, verifies it there, and
// gives it its name.
func copyOut(ctx context.Context, w *opened, to, name string) (view.Backup, error) {
	var made view.Backup
	dir, err := os.MkdirTemp(filepath.Dir(to), ".remit-backup-*")
	if err != nil {
		return made, fmt.Errorf("back up the state: %w", notWritten(to, err))
	}
	defer func() { _ = os.RemoveAll(dir) }()
	copied := workspace.FileBackend(w.dir, filepath.Join(absolute(dir), "remit.db"), w.host.Now)
	by := w.host.Holder("remit state backup")
	if err := w.state.Backend.Backup(ctx, copied.String(), by); err != nil {
		if known := w.state.KnownError(err); known != nil {
			return made, known
		}
		return made, fmt.Errorf("the state %s could not be copied to %s, and nothing of the copy is left; the state was only read:\n%w", w.state.Name, name, err)
	}
	meta, err := verifyCopy(ctx, copied)
	if err == nil {
		err = meta.Check(w.state.Binding.Environment, w.state.Binding.Lineage, w.state.Binding.Service)
	}
	if err != nil {
		return made, verifyError(w.state, err)
	}
	info, err := os.Stat(copied.String())
	if err == nil {
		err = os.Chmod(copied.String(), 0o600)
	}
	if err == nil {
		err = wholefile.Publish(copied.String(), to)
	}
	if err != nil {
		return made, fmt.Errorf("back up the state: %w", err)
	}
	return view.Backup{Bytes: info.Size(), Events: meta.Serial, Head: meta.Head}, nil
}

// absolute is a name as [workspace.Directory.Within] leaves it.
func absolute(name string) string {
	if path, err := filepath.Abs(name); err == nil {
		return path
	}
	return name
}

func verifyCopy(ctx context.Context, copied workspace.Backend) (state.Meta, error) {
	store, err := copied.OpenReadOnly(ctx)
	if err != nil {
		return state.Meta{}, err
	}
	meta, err := store.Verify(ctx, "")
	return meta, errors.Join(err, store.Close())
}
