package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"remit/config"
	"remit/internal/accounts/books"
	"remit/internal/cli/exit"
	"remit/internal/cli/terminal"
	"remit/internal/cli/workspace"
	"remit/internal/files/wholefile"
	"remit/internal/text/shell"
	"remit/internal/view"
	"remit/state"
)

// exporting is what the flags of export say.
type exporting struct {
	source      workspace.Directory
	format      string
	run, batch  string
	period      period
	prefix, out string
}

func newExportCommand(p *process) *cobra.Command {
	e := exporting{source: workspace.Directory{Need: config.NeedState}}
	cmd := &cobra.Command{
		Use:   "export --format=FORMAT",
		Short: "Write what was paid for an accountant's own tools",
		Long: "Write what was paid as " + choice(bookFaces().names()) + " (a payment status\n" +
			"report of ISO 20022). Each transfer is booked once, as the service's record says, under its\n" +
			"ref_id. What is in doubt or in conflict is not booked: it is named on standard error, and the\n" +
			"exit code is 4. The same state makes the same bytes. Nothing is sent.\n\n" +
			"Exit codes: 0 done; 1 a mistake, nothing was written; 4 done, and some need action.",
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return e.runExport(cmd.Context(), p, cmd.Flags().Changed)
		},
	}
	directoryFlags(&e.source, cmd)
	flags := cmd.Flags()
	wordFlag(flags, &e.format, "format", "write this `format`: "+choice(bookFaces().names()), bookFaces().names()...)
	flags.StringVar(&e.run, "run", "", "only what this `run` sent last or imported: its ID, the first 8 characters of it or more, or the word latest")
	flags.StringVar(&e.batch, "batch", "", "only transfers of this `batch`")
	e.period.flags(cmd, "what the service made")
	flags.StringVar(&e.prefix, "account-prefix", view.AccountPrefix, "put the accounts of profiles under this `account`")
	flags.StringVar(&e.out, "out", "", "write to this `file` instead of to standard output")
	return cmd
}

func (e *exporting) runExport(ctx context.Context, p *process, isGiven func(string) bool) error {
	face, err := e.check(isGiven)
	if err != nil {
		return err
	}
	from, until, where, err := e.period.bounds(isGiven)
	if err != nil {
		return err
	}
	filter := books.Filter{Batch: e.batch, From: from, Until: until}
	w, err := open(p, &e.source)
	if err != nil {
		return err
	}
	if err := e.checkOut(w.dir, w.state, face); err != nil {
		return err
	}
	snapshot, done, err := w.state.Read(ctx)
	if err != nil {
		return err
	}
	defer done()
	if e.run != "" {
		if filter.RunID, err = findRun(ctx, w.dir, w.state, snapshot, e.run); err != nil {
			return err
		}
	}
	defer boundGarbage(w.host.Getenv)()
	w.streams.Begin("reading the state")
	defer w.streams.Quiet()
	found, err := books.Read(ctx, snapshot, filter, face.write.by)
	if err != nil {
		return w.state.Error(err)
	}
	if e.batch != "" && !found.BatchKnown {
		return exit.WithHint(fmt.Errorf("the state has no transfer of a batch %q in what was asked for; nothing was written", e.batch), w.dir.Command("state list"))
	}
	options := view.BooksOptions{
		Meta: snapshot.Meta(), Names: w.config.ProfileNames(), Zone: where, Prefix: e.prefix, Wanted: e.wanted(filter.RunID), Version: readVersion().Version, Scales: w.config.Scales(),
	}
	if options.Called, err = firstNames(ctx, snapshot, &found.First); err != nil {
		return w.state.Error(err)
	}
	if options.AsOf, err = newestEvent(ctx, snapshot); err != nil {
		return w.state.Error(err)
	}
	write := func(out io.Writer) error {
		return face.write.books(out, &found.Summary, found.Entries(ctx), options)
	}
	code := exit.Done
	if found.NeedsPerson() > 0 {
		code = exit.Look
	}
	if err := e.put(ctx, w.streams, w.dir, write); err != nil {
		return unshown(err, code)
	}
	w.streams.Quiet()
	if err := view.BooksSummary(p.streams.Err, &found.Summary, p.streams.Screen(p.streams.Err)); err != nil {
		return unshown(err, code)
	}
	if code != exit.Done {
		return exit.Code(code)
	}
	return nil
}

// check refuses flags that say nothing, or not what they seem to.
func (e *exporting) check(isGiven func(string) bool) (face[bookWriter], error) {
	for name, value := range map[string]string{"run": e.run, "batch": e.batch, "out": e.out} {
		if isGiven(name) && value == "" {
			return face[bookWriter]{}, fmt.Errorf("--%s is empty, which would export more than was asked for, or to somewhere else. Is a variable of the shell not set?", name)
		}
	}
	face, _ := bookFaces().named(e.format) // the flag takes no other one
	if e.format == "" {
		return face, exit.WithHint(fmt.Errorf("export needs a format: %s", strings.Join(bookFaces().names(), ", ")), e.source.Command("export --format=csv"))
	}
	if err := view.CheckAccountPrefix(e.prefix); err != nil {
		return face, fmt.Errorf("--account-prefix=%s %w", e.prefix, err)
	}
	return face, nil
}

// wanted describes the selection; "" for everything.
func (e *exporting) wanted(runID string) string {
	var parts []string
	for _, part := range []struct{ name, value string }{{"run", runID}, {"batch", e.batch}, {"from", e.period.from}, {"until", e.period.until}} {
		if part.value != "" {
			parts = append(parts, part.name+" "+part.value)
		}
	}
	return strings.Join(parts, ", ")
}

// newestEvent is when the newest event of the journal was written: as of when books are.
func newestEvent(ctx context.Context, snapshot state.Snapshot) (time.Time, error) {
	for event, err := range snapshot.Events(ctx, snapshot.Meta().Serial-1, "") {
		return event.Time, err
	}
	return time.Unix(0, 0), nil // there is no journal yet
}

// checkOut refuses a file that --out must not replace: anything but an earlier export of the
// same format or an empty file. Somebody's own books look much like these.
func (e *exporting) checkOut(dir *workspace.Directory, st *workspace.State, face face[bookWriter]) error {
	if e.out == "" {
		return nil
	}
	path := dir.Within(e.out)
	for _, belonging := range st.Backend.Files() {
		if samePath(path, belonging) {
			return fmt.Errorf("--out=%s is a file of the state, which an export never replaces; name another file", e.out)
		}
	}
	if strings.HasSuffix(path, ".hcl") || strings.HasSuffix(path, ".hcl.json") {
		return fmt.Errorf("--out=%s would be read as configuration; name another file", e.out)
	}
	replaceable, err := isReplaceable(path, face.start)
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	if !replaceable {
		return fmt.Errorf("--out=%s: it is there already and no %s export of remit, so it is not replaced; name another file", e.out, face.name)
	}
	return nil
}

// put writes to where the flags say: to a file, whole or not at all.
func (e *exporting) put(ctx context.Context, streams *terminal.Streams, dir *workspace.Directory, write func(io.Writer) error) error {
	var err error
	if e.out == "" {
		err = write(exit.Interruptible(ctx, streams.Out))
	} else {
		err = wholefile.Replace(dir.Within(e.out), 0o600, func(file io.Writer) error { return write(exit.Interruptible(ctx, file)) })
	}
	var interrupt exit.Interrupt
	switch {
	case err == nil:
		return nil
	case errors.As(err, &interrupt), ctx.Err() != nil:
		return exit.Interrupted("while it exported " + shell.Word(e.format))
	case e.out != "":
		return fmt.Errorf("export to %s: %w", e.out, notWritten(dir.Within(e.out), err))
	}
	return err
}
