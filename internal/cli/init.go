package cli

import (
	"cmp"
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
	"remit/internal/cli/exit"
	"remit/internal/cli/host"
	"remit/internal/cli/workspace"
	"remit/internal/files/lockfile"
	"remit/internal/view"
	"remit/state"
)

//go:embed starter.hcl
var starter []byte

// starterName is the file that init writes into an empty directory.
const starterName = "main.hcl"

func newInit(p *process) *cobra.Command {
	from := workspace.Directory{Need: config.NeedService} // plan reads the transfers
	var newState, sameClient bool
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Make the state and bind this directory to it",
		Long: "Make the state and bind this directory to it with " + lockfile.Name + ", which is to be\n" +
			"committed. In an empty directory it also writes a starter configuration. It can be run\n" +
			"again: a state from which nothing was ever sent is bound to the environment and the\n" +
			"service that the configuration names now, any other is left alone.",
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return initialise(cmd.Context(), p, &from, newState, sameClient)
		},
	}
	directoryFlags(&from, cmd)
	_ = cmd.Flags().MarkHidden("sandbox") // its state makes itself
	cmd.Flags().BoolVar(&newState, "new-state", false, "make a new state although this directory was bound to one that is gone")
	sameClientFlag(cmd, &sameClient)
	inputUnasked(cmd, p.streams)
	return cmd
}

func initialise(ctx context.Context, p *process, from *workspace.Directory, newState, sameClient bool) error {
	if from.Sandbox {
		from.Sandbox = false
		if !hasConfiguration(from.Path) {
			return exit.WithHint(errors.New("the sandbox needs no init, and this directory has no configuration. init alone writes one to begin with"), from.Command("init"))
		}
		from.Sandbox = true
		return exit.WithHint(errors.New("the sandbox needs no init: its state makes itself at the first apply"), from.Command("plan"))
	}
	if err := writeStarter(p, from.Path); err != nil {
		return err
	}
	loaded, err := workspace.Load(p.ctx, p.host, p.streams, from)
	if err != nil {
		return err
	}
	w := newOpened(p, *from, loaded)
	w.state.UseBackend(workspace.BackendOf(w.config, w.dir, w.host))
	service, err := workspace.Identity(w.config, w.streams)
	if err != nil {
		return err
	}
	bound, isBound, err := w.dir.ReadLock()
	if err != nil {
		return err
	}
	exists, err := w.state.Backend.Look(ctx)
	if err != nil {
		return w.state.Error(err)
	}
	w.state.Binding = lockfile.File{Environment: loaded.Environment, Service: service}
	gone, wasHere := w.state.Backend.Gone(lineageThere(ctx, w.state))
	// Nothing was sent from a state that was bound to no service.
	isInPlace := newState && w.config.Service.LookupPath == "" && (wasHere || isBound && bound.Service != state.NoService())
	switch {
	case exists && newState && isUnfinished(ctx, w.state, bound.Lineage):
		return initAgain(ctx, w, isInPlace, sameClient)
	case exists && newState:
		return fmt.Errorf("there is a state (%s): --new-state never replaces one. Move it away first, and keep it", w.state.Name)
	case exists && wasHere && !isBound && isUnfinished(ctx, w.state, ""):
		return workspace.CutOff(w.state)
	case exists:
		if isBound {
			w.state.Binding.Lineage = bound.Lineage
		}
		return initAgain(ctx, w, false, sameClient)
	case isBound && (!newState || w.state.IsOtherThan(bound) || w.dir.FileOfState(bound.Lineage) != "" || w.dir.OtherTree(bound.Lineage) != ""):
		w.state.Binding = bound
		return w.state.Error(state.ErrMissing)
	case wasHere && !newState:
		return workspace.GoneError(w.state, gone)
	}
	if err := w.dir.CheckOrphans(); err != nil {
		return err
	}
	if err := checkClient(w, bound.Service, service, sameClient, "init"); err != nil {
		return err
	}
	return initNew(ctx, w, newState, isInPlace, sameClient)
}

// writeStarter writes the starter configuration where there is none at all.
func writeStarter(p *process, dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("look into the directory %s, which init does not make: %w", dir, err)
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".terraform.") { // Terraform's lock file
			continue
		}
		if strings.HasSuffix(entry.Name(), ".hcl") || strings.HasSuffix(entry.Name(), ".hcl.json") {
			return writeIgnore(p, dir)
		}
	}
	if err := writeNew(filepath.Join(dir, starterName), starter); err != nil {
		return fmt.Errorf("write the starter configuration: %w", err)
	}
	if _, err := fmt.Fprintf(p.streams.Out, "Wrote %s, a starter configuration.\n", starterName); err != nil {
		return err
	}
	return writeIgnored(p, dir)
}

// writeIgnore keeps the state of a configuration that is there already out of the repository that it is in.
func writeIgnore(p *process, dir string) error {
	if !isInRepository(dir) {
		return nil
	}
	return writeIgnored(p, dir)
}

func writeIgnored(p *process, dir string) error {
	switch err := writeNew(filepath.Join(dir, ignoreName), []byte(ignored)); {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err != nil:
		return fmt.Errorf("write what version control leaves out: %w", err)
	}
	_, err := fmt.Fprintf(p.streams.Out, "Wrote %s, which keeps the state out of version control.\n", ignoreName)
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
// that the next init finds. One in place of another, whose transfers no lookup finds, is marked as such before.
func initNew(ctx context.Context, w *opened, newState, isInPlace, sameClient bool) error {
	w.state.Binding.Lineage = uuid.NewString()
	created := state.Created{
		Lineage: w.state.Binding.Lineage, Environment: w.state.Binding.Environment, Service: w.state.Binding.Service,
		NewState: newState, By: w.host.Holder("remit init"),
	}
	err := makeAlone(ctx, w.state, created)
	switch {
	case errors.Is(err, state.ErrExists) && !newState: // another init was faster
		bound, _, err := w.dir.ReadLock()
		if err != nil {
			return err
		}
		w.state.Binding.Lineage = bound.Lineage // "" where there is none yet
		return initAgain(ctx, w, false, sameClient)
	case err != nil:
		return err
	case isInPlace:
		return initAgain(ctx, w, true, sameClient)
	}
	return bind(w, fmt.Sprintf("Made the state %s.", w.state.Name), nil)
}

// isUnfinished reports whether the state is one that an init --new-state made that was cut off before
// it could bind this directory to it.
func isUnfinished(ctx context.Context, st *workspace.State, bound string) (is bool) {
	readUnbound(ctx, st, func(snapshot state.Snapshot) {
		used, err := workspace.IsUsed(ctx, snapshot)
		is = err == nil && !used && snapshot.Meta().Precheck && snapshot.Meta().Lineage != bound
	})
	return is
}

// lineageThere is the lineage of the state that is there; "" where none can be read.
func lineageThere(ctx context.Context, st *workspace.State) (lineage string) {
	readUnbound(ctx, st, func(snapshot state.Snapshot) { lineage = snapshot.Meta().Lineage })
	return lineage
}

// readUnbound reads a state, to which this directory need not be bound, where one can be read.
func readUnbound(ctx context.Context, st *workspace.State, read func(state.Snapshot)) {
	store, err := st.Backend.OpenReadOnly(ctx)
	if err != nil {
		return
	}
	defer func() { _ = store.Close() }() // it was only read
	snapshot, err := store.Snapshot(ctx)
	if err != nil {
		return
	}
	defer func() { _ = snapshot.Close() }()
	read(snapshot)
}

const (
	waitInit  = 10 * time.Second // for another init at the same time
	pauseInit = 50 * time.Millisecond
)

// makeAlone makes the state once no other init is about to make it.
func makeAlone(ctx context.Context, st *workspace.State, created state.Created) error {
	var err error
	for range waitInit / pauseInit {
		err = st.Create(ctx, created)
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
// configuration, and writes the lock file where it is missing. One that is in place of another is marked as such.
func initAgain(ctx context.Context, w *opened, isInPlace, sameClient bool) error {
	by := w.host.Holder("remit init")
	return w.state.LockedAny(ctx, by, waitInit, func(journal state.Journal, snapshot state.Snapshot) error {
		meta := snapshot.Meta()
		if err := meta.Check(meta.Environment, w.state.Binding.Lineage, meta.Service); err != nil {
			return w.state.OtherState(meta, cmp.Or(meta.Check(w.state.Binding.Environment, w.state.Binding.Lineage, meta.Service), err))
		}
		used, err := workspace.IsUsed(ctx, snapshot)
		if err != nil {
			return w.state.Error(err)
		}
		w.state.Binding.Lineage = meta.Lineage
		if successor, ok := journal.(state.Successor); ok && isInPlace {
			if err := successor.LackAll(ctx); err != nil {
				return w.state.Error(fmt.Errorf("note that the transfers of the earlier state are missing: %w", err))
			}
		}
		differs := meta.Check(w.state.Binding.Environment, "", w.state.Binding.Service)
		switch {
		case differs == nil && isInPlace:
			return bindInPlace(w)
		case differs == nil:
			return bind(w, fmt.Sprintf("The state %s is there.", w.state.Name), nil)
		case meta.Environment != w.state.Binding.Environment && (used || w.dir.Declares(meta.Environment)):
			return w.dir.UsedElsewhere(meta.Environment)
		case used:
			return w.state.RefuseOther(meta.Service, w.state.Binding.Service)
		}
		if err := checkClient(w, meta.Service, w.state.Binding.Service, sameClient, "init"); err != nil {
			return err
		}
		if err := journal.Append(ctx, rebound(w.state, meta, by)); err != nil {
			return fmt.Errorf("bind the state anew: %w", err)
		}
		mismatch, ok := errors.AsType[*state.MismatchError](differs)
		if !ok {
			panic(differs)
		}
		return bind(w, fmt.Sprintf("The state %s was never used, and is bound anew:", w.state.Name), mismatch.Mismatches)
	})
}

// rebound binds a state that was never used to what the configuration names.
func rebound(st *workspace.State, meta state.Meta, by state.Holder) state.Rebound {
	r := state.Rebound{Before: meta.Service, After: st.Binding.Service, By: by, Reason: "nothing was ever sent"}
	if meta.Environment != st.Binding.Environment {
		r.EnvironmentBefore, r.EnvironmentAfter = meta.Environment, st.Binding.Environment
	}
	return r
}

// bindInPlace is bind of a state that was made in place of one that is gone.
func bindInPlace(w *opened) error {
	const lacks = "The transfers that were sent before are not in it: apply sends nothing before you import the service's export of all transfer records."
	return bindNext(w, fmt.Sprintf("Made the state %s in place of one that is gone. %s", w.state.Name, lacks), nil, "import FILE --complete")
}

// bind writes the lock file, and tells the change.
func bind(w *opened, done string, changes []state.Mismatch) error {
	return bindNext(w, done, changes, "plan")
}

// bindNext is bind with another command to type next.
func bindNext(w *opened, done string, changes []state.Mismatch, then string) error {
	renamed, err := w.dir.WriteLock(w.state.Binding)
	if err != nil {
		return err
	}
	if err := warnOfClient(w); err != nil {
		return err
	}
	if renamed != "" {
		done += fmt.Sprintf(" %s has the name %s now.", renamed, w.dir.LockName())
	}
	next, unbound := w.dir.Command(then), ""
	if !w.config.ServiceDeclared() {
		next += " --sandbox"
		unbound = " It is bound to no service yet, as there is no service block: write one, and type " + w.dir.Command("init") + " again."
	}
	said := view.Visible(done) + " "
	if len(changes) > 0 {
		said = view.Visible(done) + "\n\n" + changesText(w.config, changes) + "\n"
	}
	_, err = fmt.Fprintf(w.streams.Out, "%s%s binds this directory to it: commit that file.%s\n\nNext:\n\n    %s\n",
		said, w.dir.LockName(), unbound, next)
	return err
}

// changesText is a line for each part of what a state is bound to, with what it was and what it is.
func changesText(loaded *config.Configuration, changes []state.Mismatch) string {
	width := 0
	for _, c := range changes {
		width = max(width, len(c.Field)+len(":"))
	}
	var b strings.Builder
	for _, c := range changes {
		now := strconv.Quote(c.Want)
		if loaded.Sensitive(c.Field) {
			now = "(sensitive)"
		}
		fmt.Fprintf(&b, "    %-*s %q -> %s\n", width, c.Field+":", c.Have, now)
	}
	return b.String()
}
