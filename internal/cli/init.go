package cli

import (
	"context"
	_ "embed" // the starter configuration
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"remit/config"
	"remit/internal/cli/host"
	"remit/internal/files/lockfile"
	"remit/internal/view"
	"remit/state"
)

//go:embed starter.hcl
var starter []byte

// starterName is the file that init writes into an empty directory.
const starterName = "main.hcl"

func newInit(p *process) *cobra.Command {
	from := source{need: config.NeedService} // what is declared is asked for by plan
	var newState bool
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Make the state and bind this directory to it",
		Long: "Make the state and bind this directory to it with " + lockfile.Name + ", which is to be\n" +
			"committed. In an empty directory it also writes a starter configuration. It can be run\n" +
			"again: a state from which nothing was ever sent is bound to the environment and the\n" +
			"service that the configuration names now, any other is left alone.",
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return initialise(cmd.Context(), p, &from, newState)
		},
	}
	from.flags(cmd)
	_ = cmd.Flags().MarkHidden("sandbox") // its state makes itself
	cmd.Flags().BoolVar(&newState, "new-state", false, "make a new state although this directory was bound to one that is gone")
	return cmd
}

func initialise(ctx context.Context, p *process, from *source, newState bool) error {
	if from.sandbox {
		return errors.New("the sandbox needs no init: its state makes itself at the first apply")
	}
	if err := writeStarter(p, from.dir); err != nil {
		return err
	}
	loaded, err := load(p, from, false)
	if err != nil {
		return err
	}
	w := &workspace{process: p, source: *from, config: loaded}
	w.at(w.statePlace())
	service, err := w.identity()
	if err != nil {
		return err
	}
	bound, isBound, err := lockfile.Read(w.dir)
	if err != nil {
		return err
	}
	exists, err := w.place.Look(ctx)
	if err != nil {
		return fmt.Errorf("look for the state: %w", err)
	}
	w.binding = lockfile.File{Environment: loaded.Environment, Service: service}
	switch {
	case exists && newState && w.isUnfinished(ctx, bound.Lineage):
		return w.initAgain(ctx)
	case exists && newState:
		return fmt.Errorf("there is a state (%s): --new-state never replaces one. Move it away first, and keep it", w.path)
	case exists:
		if isBound {
			w.binding.Lineage = bound.Lineage
		}
		return w.initAgain(ctx)
	case isBound && (!newState || w.isOtherThan(bound)):
		w.binding = bound
		return w.stateError(state.ErrMissing)
	}
	return w.initNew(ctx, newState)
}

// writeStarter writes the starter configuration where there is none at all.
func writeStarter(p *process, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("look into the directory %s, which init does not make: %w", dir, err)
	}
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), ".hcl") || strings.HasSuffix(entry.Name(), ".hcl.json") {
			return nil
		}
	}
	if err := writeNew(filepath.Join(dir, starterName), starter); err != nil {
		return fmt.Errorf("write the starter configuration: %w", err)
	}
	if _, err := fmt.Fprintf(p.streams.Out, "Wrote %s, a starter configuration.\n", starterName); err != nil {
		return err
	}
	switch err := writeNew(filepath.Join(dir, ignoreName), []byte(ignored)); {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err != nil:
		return fmt.Errorf("write what version control leaves out: %w", err)
	}
	_, err = fmt.Fprintf(p.streams.Out, "Wrote %s, which keeps the state out of version control.\n", ignoreName)
	return err
}

const (
	ignoreName = ".gitignore"
	ignored    = "# The state is kept in one place, with backups, and never in a repository: a copy of it is older\n" +
		"# than what was paid.\n*.db\n*.db-*\n*.db.*\n.remit/\n"
)

// writeNew writes a file that is not there yet; where it is, the error is [fs.ErrExist].
func writeNew(path string, text []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Close())
}

// initNew makes a state, then the lock file that names it: a crash in between leaves a state
// that the next init finds.
func (w *workspace) initNew(ctx context.Context, newState bool) error {
	w.binding.Lineage = uuid.NewString()
	created := state.Created{
		Lineage: w.binding.Lineage, Environment: w.binding.Environment, Service: w.binding.Service,
		NewState: newState, By: w.host.Holder("remit init"),
	}
	err := w.makeAlone(ctx, created)
	switch {
	case errors.Is(err, state.ErrExists) && !newState: // another init was faster
		bound, _, err := lockfile.Read(w.dir)
		if err != nil {
			return err
		}
		w.binding.Lineage = bound.Lineage // "" where there is none yet
		return w.initAgain(ctx)
	case err != nil:
		return err
	}
	return w.bind(fmt.Sprintf("Made the state %s.", w.path), nil)
}

// isUnfinished reports whether the state is one that an init --new-state made that was cut off before
// it could bind this directory to it.
func (w *workspace) isUnfinished(ctx context.Context, bound string) bool {
	store, err := w.place.OpenReadOnly(ctx)
	if err != nil {
		return false
	}
	defer func() { _ = store.Close() }() // it was only read
	snapshot, err := store.Snapshot(ctx)
	if err != nil {
		return false
	}
	defer func() { _ = snapshot.Close() }()
	used, err := isUsed(ctx, snapshot)
	return err == nil && !used && snapshot.Meta().Precheck && snapshot.Meta().Lineage != bound
}

const (
	waitInit  = 10 * time.Second // for another init at the same time
	pauseInit = 50 * time.Millisecond
)

// makeAlone makes the state once no other init is about to make it.
func (w *workspace) makeAlone(ctx context.Context, created state.Created) error {
	var err error
	for range waitInit / pauseInit {
		err = w.create(ctx, created)
		if _, isLocked := errors.AsType[*state.LockedError](err); !isLocked {
			return err
		}
		if stopped := (host.Clock{}).Sleep(ctx, pauseInit); stopped != nil {
			return stopped
		}
	}
	return err
}

// initAgain binds a state that was never used to the environment and the service of the
// configuration, and writes the lock file where it is missing.
func (w *workspace) initAgain(ctx context.Context) error {
	by := w.host.Holder("remit init")
	return w.lockedAny(ctx, by, waitInit, func(journal state.Journal, snapshot state.Snapshot) error {
		meta := snapshot.Meta()
		if err := meta.Check(meta.Environment, w.binding.Lineage, meta.Service); err != nil {
			return w.otherState(meta, err)
		}
		used, err := isUsed(ctx, snapshot)
		if err != nil {
			return w.stateError(err)
		}
		w.binding.Lineage = meta.Lineage
		differs := meta.Check(w.binding.Environment, "", w.binding.Service)
		switch {
		case differs == nil:
			return w.bind(fmt.Sprintf("The state %s is there.", w.path), nil)
		case used && meta.Environment != w.binding.Environment:
			return w.usedElsewhere(meta.Environment)
		case used:
			return w.refuseOther(meta.Service, w.binding.Service)
		}
		if err := journal.Append(ctx, w.rebound(meta, by)); err != nil {
			return fmt.Errorf("bind the state anew: %w", err)
		}
		mismatch, ok := errors.AsType[*state.MismatchError](differs)
		if !ok {
			panic(differs)
		}
		return w.bind(fmt.Sprintf("The state %s was never used, and is bound anew:", w.path), mismatch.Mismatches)
	})
}

// rebound binds a state that was never used to what the configuration names.
func (w *workspace) rebound(meta state.Meta, by state.Holder) state.Rebound {
	r := state.Rebound{Before: meta.Service, After: w.binding.Service, By: by, Reason: "nothing was ever sent"}
	if meta.Environment != w.binding.Environment {
		r.EnvironmentBefore, r.EnvironmentAfter = meta.Environment, w.binding.Environment
	}
	return r
}

// bind writes the lock file, and says what was done and what changed by it.
func (w *workspace) bind(done string, changes []state.Mismatch) error {
	if err := lockfile.Write(w.dir, w.binding); err != nil {
		return err
	}
	next := w.command("plan")
	if !w.config.ServiceDeclared() {
		next += " --sandbox"
	}
	said := view.Visible(done) + " "
	if len(changes) > 0 {
		said = view.Visible(done) + "\n\n" + w.changesText(changes) + "\n"
	}
	_, err := fmt.Fprintf(w.streams.Out, "%s%s binds this directory to it: commit that file.\n\nNext:\n\n    %s\n",
		said, lockfile.Name, next)
	return err
}

// changesText is a line for each part of what a state is bound to, with what it was and what it is.
func (w *workspace) changesText(changes []state.Mismatch) string {
	width := 0
	for _, c := range changes {
		width = max(width, len(c.Field)+len(":"))
	}
	var b strings.Builder
	for _, c := range changes {
		now := strconv.Quote(c.Want)
		if w.config.Sensitive(c.Field) {
			now = "(sensitive)"
		}
		fmt.Fprintf(&b, "    %-*s %q -> %s\n", width, c.Field+":", c.Have, now)
	}
	return b.String()
}
