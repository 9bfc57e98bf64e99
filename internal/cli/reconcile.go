package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"remit/config"
	"remit/internal/accounts/reconcile"
	"remit/internal/accounts/records"
	"remit/internal/cli/exit"
	"remit/internal/cli/terminal"
	"remit/internal/cli/workspace"
	"remit/internal/files/confined"
	"remit/internal/text/shell"
	"remit/internal/view"
	"remit/state"
)

// reconcileFileMax bounds one export, in bytes.
const reconcileFileMax = 1 << 40

// reconciling is one remit reconcile.
type reconciling struct {
	source     workspace.Directory
	period     period
	batch      string
	debitsOnly bool
	show, into string
}

func newReconcile(p *process) *cobra.Command {
	r := reconciling{source: workspace.Directory{Need: config.NeedService}}
	cmd := &cobra.Command{
		Use:   "reconcile [FILE...]",
		Short: "Compare the service's records with the state, and list what does not match",
		Long: "Compare the service's records with the state: exports of its transfer records, with both sides\n" +
			"of each transfer, as JSON, JSON Lines or CSV; - is standard input. Without a FILE, and where the\n" +
			"service has a lookup, it is asked for every ref_id of the state.\n\n" +
			"Records belong to the transfer whose ref_id they have, and else to the one whose group_id they\n" +
			"have. A transfer matches where both sides are there once and agree in every field that an apply\n" +
			"compares. Nothing is sent and nothing is changed.\n\n" +
			"Exit codes: 0 everything matches; 1 a mistake, nothing was compared; 4 something does not match,\n" +
			"or nothing was left to compare: action needed.",
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return r.run(cmd.Context(), p, args, cmd.Flags())
		},
	}
	directoryFlags(&r.source, cmd)
	flags := cmd.Flags()
	r.period.flags(cmd, "what the service made")
	flags.StringVar(&r.batch, "batch", "", "only transfers of this `batch`; what the state does not know is left out")
	flags.BoolVar(&r.debitsOnly, "debits-only", false, "the export has no credit sides: that they are missing is no difference")
	wordFlag(flags, &r.show, "show", "with `all`, list every transfer, also those that match", "all")
	flags.BoolVar(&p.streams.AsJSON, "json", false, "write JSON Lines")
	intoFlag(cmd, &r.into)
	reconcileFaces().flags(cmd)
	atMostOne(cmd, append(reconcileFaces().names(), "json")...)
	return cmd
}

func (r *reconciling) run(ctx context.Context, p *process, files []string, flags *pflag.FlagSet) error {
	options, err := r.options(flags.Changed)
	if err != nil {
		return err
	}
	if err := r.checkFiles(files); err != nil {
		return err
	}
	w, err := openInto(p, &r.source, r.into)
	if err != nil {
		return err
	}
	knowService(&options, w.dir, w.config)
	if options.LookedUp = len(files) == 0; options.LookedUp && !options.CanLookUp {
		return exit.WithHint(errors.New("the service has no lookup (no lookup_path), so its records are needed: an export of its transfer records, "+
			"with both sides of each transfer"), r.source.Command("reconcile FILE"))
	}
	snapshot, done, err := w.state.Read(ctx)
	if err != nil {
		return err
	}
	defer done()
	defer w.streams.Quiet()
	told := reconcileTold{reconciling: r, w: w, files: files, face: atEnd(view.Reconciliation)(p.streams.Out)}
	if asked := reconcileFaces().asked(flags); len(asked) > 0 {
		told.face = asked[0].write(p.streams.Out)
	}
	if told.face.line != nil || p.streams.WantsLines() {
		options.Each = told.line
	}
	summary, err := told.compare(ctx, snapshot, options)
	if err != nil {
		return stopped(ctx, err)
	}
	if r.batch != "" && summary.Transfers() == 0 {
		return exit.WithHint(fmt.Errorf("the state has no transfer of a batch %q in what was asked for; nothing was compared", r.batch), r.source.Command("state list"))
	}
	code := exit.Done
	if isNothing := summary.Transfers() == 0 && summary.OutOfPeriod+summary.Records > 0; !summary.Agrees() || isNothing {
		code = exit.Look
	}
	if err := told.end(summary, snapshot.Meta()); err != nil {
		return unshown(err, code)
	}
	if code != exit.Done {
		return exit.Code(code)
	}
	return nil
}

// knowService takes in what a configuration says of the service.
func knowService(o *reconcile.Options, dir *workspace.Directory, loaded *config.Configuration) {
	o.Operator, o.FingerprintKey = loaded.Service.Operator, loaded.Service.FingerprintKey
	o.CanLookUp = dir.Sandbox || loaded.Service.LookupPath != ""
	o.Settling = settlingCommand(dir, loaded, "")
}

// compare reads the records of the files, or asks the service for them, and judges them against the state.
func (t *reconcileTold) compare(ctx context.Context, snapshot state.Snapshot, options reconcile.Options) (*reconcile.Summary, error) {
	reconciliation := reconcile.New(options)
	defer reconciliation.Close()
	var err error
	if options.LookedUp {
		err = lookUpAll(ctx, t.w, snapshot, reconciliation)
	} else {
		t.read, err = readExports(ctx, t.w.streams, t.w.dir, t.files, reconciliation)
	}
	if err != nil {
		return nil, err
	}
	t.w.streams.Begin("comparing")
	defer t.w.streams.Quiet()
	summary, err := reconciliation.Judge(ctx, snapshot)
	if err != nil {
		return nil, t.explain(err)
	}
	return summary, nil
}

// stopped says that an interrupt ended the command, where one did.
func stopped(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return exit.Interrupted("while the records were compared")
	}
	return err
}

// options are what the flags say.
func (r *reconciling) options(isGiven func(string) bool) (reconcile.Options, error) {
	o := reconcile.Options{Batch: r.batch, DebitsOnly: r.debitsOnly, TempDir: os.TempDir()}
	if isGiven("batch") && r.batch == "" {
		return o, errors.New("--batch is empty, which names no batch. Is a variable of the shell not set?")
	}
	switch {
	case r.show == "all":
		o.ListMax = -1
	case isGiven("show"):
		return o, fmt.Errorf("--show=%s: it takes the word all", r.show)
	}
	var err error
	o.From, o.Until, _, err = r.period.bounds(isGiven)
	return o, err
}

// checkFiles refuses a file that is named twice: each of its records would be there twice.
func (r *reconciling) checkFiles(files []string) error {
	for i, name := range files {
		if name == "" {
			return errors.New("a FILE is empty, which names none. Is a variable of the shell not set?")
		}
		for _, other := range files[:i] {
			if name == other || name != "-" && other != "-" && samePath(r.source.Within(name), r.source.Within(other)) {
				return fmt.Errorf("%s and %s are one file: each of its records would be there twice", other, name)
			}
		}
	}
	return nil
}

// readExport takes in the records of one file.
func readExport(ctx context.Context, name string, reader *records.Reader, into *reconcile.Reconciliation) error {
	into.AddFile(name)
	for record, err := range reader.All() {
		if err == nil && ctx.Err() != nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if err := into.Add(record.Record, record.Line); err != nil {
			return &records.Error{File: name, Line: record.Line, Err: err}
		}
	}
	return nil
}

// readExports takes in the records of every file, and returns how many each has.
func readExports(ctx context.Context, streams *terminal.Streams, dir *workspace.Directory, files []string, into *reconcile.Reconciliation) ([]view.ReconciledFile, error) {
	streams.Begin("reading the records")
	var read []view.ReconciledFile
	var unfinished, by string     // a file whose last page names a next one, and the field that does
	promised := make(map[int]int) // records of lists that say how many they have, by that number
	isFinished := false           // some page names none
	for _, name := range files {
		in, err := openExport(streams, dir, name)
		if err != nil {
			return nil, err
		}
		reader := records.NewReader(name, in, reconcileFileMax)
		err = readExport(ctx, name, reader, into)
		_ = in.Close() // only read
		if err != nil {
			return nil, fmt.Errorf("read the records: %w", err)
		}
		if field := reader.Continues(); field != "" {
			unfinished, by = name, field
		} else {
			isFinished = true
		}
		for total, count := range reader.Promised() {
			promised[total] += count
		}
		read = append(read, view.ReconciledFile{Name: name, Records: reader.Count()})
	}
	for _, file := range read {
		if file.Records > 0 {
			continue
		}
		streams.Quiet()
		if _, err := fmt.Fprintf(streams.Err, "Notice: %s has no record at all. Is it the whole export?\n", view.Visible(file.Name)); err != nil {
			return nil, err
		}
	}
	if unfinished != "" && !isFinished {
		return nil, fmt.Errorf("%s names a next page (%s), and no file is the last page: the export is not complete. Add the pages that are missing", unfinished, by)
	}
	for total, count := range promised {
		if total > count {
			return nil, fmt.Errorf("the export says that its list has %d records, and the files have %d: it is not complete. Add the pages that are missing", total, count)
		}
	}
	return read, nil
}

// openExport opens a file; - is standard input.
func openExport(streams *terminal.Streams, dir *workspace.Directory, name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(streams.In), nil
	}
	file, err := confined.OpenNamed(dir.Path, name)
	switch {
	case errors.Is(err, confined.ErrDirectory):
		return nil, fmt.Errorf("open the records: %s %w; name the files in it", name, err)
	case err != nil:
		return nil, fmt.Errorf("open the records %s: %w", name, err)
	}
	return file, nil
}

// reconcileTold tells the result, in the face that was asked for.
type reconcileTold struct {
	*reconciling
	w      *opened
	files  []string
	read   []view.ReconciledFile
	face   reconcileFace
	failed error // of writing
}

// line tells of one transfer as soon as it is judged.
func (t *reconcileTold) line(l *reconcile.Item) error {
	t.w.streams.Quiet()
	if t.w.streams.WantsLines() {
		t.failed = t.w.streams.JSON().Reconciled(l)
	}
	if t.face.line != nil && t.failed == nil {
		t.failed = t.face.line(l)
	}
	return t.failed
}

// explain tells an error of writing from one of the state and of temporary files.
func (t *reconcileTold) explain(err error) error {
	if t.failed != nil {
		return t.failed
	}
	if _, isPath := errors.AsType[*os.PathError](err); isPath {
		return fmt.Errorf("%w. Nothing was changed. What does not fit into memory goes to the directory for temporary files, %s, which TMPDIR names", err, os.TempDir())
	}
	return t.w.state.Error(err)
}

// end tells the end.
func (t *reconcileTold) end(s *reconcile.Summary, meta state.Meta) error {
	o := view.ReconciliationOptions{
		Screen: t.w.streams.Screen(t.w.streams.Out), Meta: meta, Files: t.read, ShowAll: t.show == "all", Command: t.command(),
	}
	if t.w.streams.WantsLines() {
		if err := t.w.streams.JSON().Reconciliation(s, o); t.w.streams.AsJSON || err != nil {
			return err
		}
	}
	return t.face.end(s, o)
}

// command is the typed command line, without its face.
func (t *reconcileTold) command() string {
	words := []string{"reconcile"}
	for _, name := range t.files {
		words = append(words, shell.File(name))
	}
	for _, flag := range []struct{ name, value string }{{"from", t.period.from}, {"until", t.period.until}, {"batch", t.batch}} {
		if flag.value != "" {
			words = append(words, "--"+flag.name+"="+shell.Word(flag.value))
		}
	}
	if t.period.zone != "UTC" {
		words = append(words, "--timezone="+shell.Word(t.period.zone))
	}
	if t.debitsOnly {
		words = append(words, "--debits-only")
	}
	return t.source.Command(strings.Join(words, " "))
}
