package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"remit/config"
	"remit/executor"
	"remit/internal/accounts/records"
	"remit/internal/cli/exit"
	"remit/internal/cli/host"
	"remit/internal/cli/terminal"
	"remit/internal/cli/workspace"
	"remit/internal/text/shell"
	"remit/internal/view"
	"remit/planner"
	"remit/state"
)

// importing is remit import.
type importing struct {
	planning    planning
	autoApprove bool
	isComplete  bool // a person says that the files have all that was made

	files []string
	spool *records.Spool
	list  importList

	newest time.Time // when the newest record of the files was made

	generate string // the file for what nobody declares; "" for none

	customers customers
	known     []string // ref_ids of transfers that are made, of which the files say something new
	twins     importTwins
	lacking   lacking
}

// isFile reports whether something has that name.
func isFile(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

func newImport(p *process) *cobra.Command {
	i := importing{planning: planning{controlFlags: controlFlags{allowEmpty: true}}}
	cmd := &cobra.Command{
		Use:   "import FILE…",
		Short: "Take over what was paid before, from the service's export of transfer records or a list",
		Long: "Take over what was paid before this state knew of it, or rebuild a lost state, from the\n" +
			"service's exports of transfer records: JSON, JSON Lines, or CSV whose header has the names\n" +
			"of the service's fields; - is standard input. Nothing is sent. Each record is compared with\n" +
			"what is declared or in doubt under its ref_id:\n\n" +
			"    adopted      it agrees, and both sides or the fingerprint prove the destination\n" +
			"    unverified   it agrees, and nothing proves the destination\n" +
			"    conflict     it disagrees\n\n" +
			"An undeclared record is adopted where the export has both of its sides, and else kept as\n" +
			"unverified: its ref_id exists at the service and is never sent.\n\n" +
			"A CSV of ref_id and group_id, with or without amount and asset, is a list: somebody's word\n" +
			"that these were paid, and no record. What it has is unverified, and never sent; a lookup,\n" +
			"an export or remit resolve completes it. An undeclared entry needs its amount and asset.\n\n" +
			"What would be recorded is shown first, and written when you say yes. The same import again\n" +
			"does nothing. A state that lacks events still does after it, unless you say with --complete\n" +
			"that the files have every transfer that was made until now. With --generate-config the transfers that the state then has, and that no file\n" +
			"declares, get blocks in a new file, for which a plan has nothing to do. That needs no export.",
		Args: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("generate-config") {
				return nil // what the state has needs no export
			}
			if len(args) > 0 && isAddress(args[0]) && !isFile(i.planning.dir.Within(args[0])) {
				return exit.WithHint(errors.New("import takes no address: it takes the service's export of transfer records, and finds out by the ref_id what each record is. Nothing was recorded"),
					i.planning.dir.Command("import FILE"))
			}
			return someArgs("FILE")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			i.files = args
			if !cmd.Flags().Changed("generate-config") {
				return i.run(cmd.Context(), p)
			}
			return i.runAndGenerate(cmd.Context(), p)
		},
	}
	directoryFlags(&i.planning.dir, cmd)
	flags := cmd.Flags()
	flags.BoolVar(&i.autoApprove, "auto-approve", false, "don't ask")
	inputFlag(cmd, p.streams)
	flags.BoolVar(&p.streams.AsJSON, "json", false, "write JSON Lines")
	flags.BoolVar(&i.isComplete, "complete", false, "the files have every transfer that was made until now: a state that lacks events counts as complete")
	flags.StringVar(&i.generate, "generate-config", "", "write blocks for transfers that the state has and no file declares into this new `file`, such as undeclared.hcl")
	return cmd
}

// runAndGenerate imports what it is given, and writes blocks for what no file declares then. An import whose records
// need a person was carried out as well.
func (i *importing) runAndGenerate(ctx context.Context, p *process) error {
	if i.generate == "" {
		return errors.New("--generate-config is empty: it takes the name of a new file, such as undeclared.hcl. Is a variable of the shell not set?")
	}
	if err := checkGenerated(i); err != nil {
		return err
	}
	var imported error
	if len(i.files) > 0 {
		imported = i.run(ctx, p)
		if code, isCode := errors.AsType[exit.Code](imported); imported != nil && (!isCode || code >= exit.Signal) {
			return imported
		}
	}
	if err := generateConfig(ctx, p, &i.planning, i.generate); err != nil {
		return exit.WithCode(err, max(exit.Error, exit.Of(imported).Code))
	}
	return imported
}

func (i *importing) run(ctx context.Context, p *process) error {
	if p.streams.AsJSON {
		p.streams.JSON() // errors are told there too
	}
	w, err := open(p, &i.planning.dir)
	if err != nil {
		return err
	}
	if i.spool, err = records.NewSpool(); err != nil {
		return fmt.Errorf("keep the records aside: %w. Nothing was changed", err)
	}
	defer func() { _ = i.spool.Close() }() // nobody else has it
	if err := i.read(ctx, w.streams, w.dir); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return exit.WithHint(fmt.Errorf("%w. Nothing was changed. It takes files with records of the service, such as its export", err), "remit import --help")
		}
		if _, isEmpty := errors.AsType[*noRecordError](err); isEmpty && i.isComplete {
			return i.emptyError(ctx, w, err)
		}
		return err
	}
	holder := p.host.Holder("remit import")
	holder.RunID = uuid.NewString()
	return w.state.Locked(ctx, holder, 0, func(journal state.Journal, snapshot state.Snapshot) error {
		return i.locked(ctx, w, journal, snapshot, holder)
	})
}

// locked shows the transfers that it would record, asks, and records them, all under one lock.
func (i *importing) locked(ctx context.Context, w *opened, journal state.Journal, snapshot state.Snapshot, holder state.Holder) error {
	if err := i.customers.check(snapshot.Meta().Service.CustomerID); err != nil {
		return err
	}
	plan, err := i.planning.make(ctx, w, snapshot)
	if err != nil {
		return err
	}
	imported, err := i.survey(ctx, w.streams, w.config, snapshot, plan)
	if err != nil {
		return w.state.Error(err)
	}
	if i.isComplete && len(i.lacking.left.byID) > 0 {
		from, err := senders(ctx, w.config, snapshot, plan)
		if err != nil {
			return w.state.Error(err)
		}
		i.lacking.left.keep(from)
	}
	others, err := i.others(ctx, w.streams, snapshot, plan, imported)
	if err != nil {
		return w.state.Error(err)
	}
	run := i.newImportRun(w.host, w.config, plan, snapshot.Meta(), holder)
	if err := i.foresee(ctx, w, run, others, snapshot, imported); err != nil {
		return err
	}
	if imported.Writes() == 0 {
		return i.complete(w, journal, snapshot.Meta(), i.standsAlready(ctx, imported))
	}
	if err := i.ask(ctx, w.streams, w.dir); err != nil {
		return err
	}
	run.Journal = journal
	asApply := applying{planning: i.planning, autoApprove: i.autoApprove}
	ended := asApply.execute(ctx, w, run, func(ctx context.Context, run executor.Run) (executor.Summary, error) {
		if !w.streams.AsJSON {
			run.Handler = silentHandler{} // it was told before
		}
		summary, err := executor.Adopt(ctx, run, others)
		i.lacking.untaken = summary.Untaken
		return summary, err
	})
	if code, isCode := errors.AsType[exit.Code](ended); ended != nil && (!isCode || code >= exit.Signal) {
		return ended // an interrupt: some records may not be there
	}
	if ended == nil && imported.NeedsPerson() {
		ended = exit.Code(exit.Look)
	}
	return i.complete(w, journal, snapshot.Meta(), ended)
}

// words are the files, as a shell takes them.
func (i *importing) words() string {
	words := make([]string, len(i.files))
	for n, file := range i.files {
		words[n] = shell.File(file)
	}
	return strings.Join(words, " ")
}

// flagWords are the flags of its own that an import was given, so that it can be asked for again as a whole.
func (i *importing) flagWords() (words string) {
	if i.isComplete {
		words += " --complete"
	}
	if i.generate != "" {
		words += " --generate-config=" + shell.Word(i.generate)
	}
	return words
}

// newImportRun is the run of an import, without its journal and its handler.
func (i *importing) newImportRun(h *host.Host, loaded *config.Configuration, plan *planner.Plan, meta state.Meta, holder state.Holder) executor.Run {
	return executor.Run{
		Plan: plan, Begun: state.Begun{
			RunID: holder.RunID, By: holder, Digest: plan.Digest,
			Environment: meta.Environment, Lineage: meta.Lineage, Service: meta.Service,
		},
		Finder: found{i}, Clock: h.Clock(), Random: rand.Float64,
		Settings: executor.Settings{Operator: loaded.Service.Operator, FingerprintKey: loaded.Service.FingerprintKey},
	}
}

// survey finds out what the state has already of what the files have.
func (i *importing) survey(ctx context.Context, streams *terminal.Streams, loaded *config.Configuration, snapshot state.Snapshot, plan *planner.Plan) (*view.Import, error) {
	imported := &view.Import{Meta: snapshot.Meta()}
	imported.Records, imported.RefIDs, imported.Repeated, imported.Without = i.spool.Counts()
	imported.Listed, imported.ListedTwice = i.list.Count()
	isLine := func(string) bool { return false }
	adoptable := linesToAdopt(plan)
	i.twins.open = slices.Clone(adoptable)
	if len(adoptable) > 0 {
		isLine = func(refID string) bool {
			_, is := slices.BinarySearch(adoptable, refID)
			return is
		}
	}
	settings := executor.Settings{Operator: loaded.Service.Operator, FingerprintKey: loaded.Service.FingerprintKey}
	var page []string
	look := func() error {
		details, err := snapshot.Details(ctx, page...)
		page = page[:0]
		for n := range details {
			if err == nil {
				err = i.compare(streams, &details[n], settings, imported)
			}
		}
		return err
	}
	for row, err := range snapshot.Transfers(ctx) {
		if err != nil {
			return nil, err
		}
		i.list.note(&row)
		i.lacking.left.note(&row)
		if row.Status == state.InDoubt && !isLine(row.RefID) {
			i.twins.open = append(i.twins.open, row.RefID) // nobody declares it any more
		}
		if row.Status == state.InDoubt || isLine(row.RefID) || !i.has(row.RefID) {
			continue // it is adopted as a doubt, or as a line
		}
		if page = append(page, row.RefID); len(page) == detailsPerCall {
			if err := look(); err != nil {
				return nil, err
			}
		}
	}
	slices.Sort(i.twins.open)
	return imported, look()
}

// linesToAdopt are the ref_ids of which the plan says that nothing is recorded, sorted.
func linesToAdopt(plan *planner.Plan) []string {
	var refIDs []string
	for _, c := range plan.Changes.All() {
		switch c.Action {
		case planner.Submit, planner.Wait, planner.Expired, planner.Resolve:
			refIDs = append(refIDs, c.RefID)
		case planner.None, planner.Conflict, planner.Failed, planner.Undeclared:
		}
	}
	slices.Sort(refIDs)
	return refIDs
}

// compare says of a transfer that the state has whether the files say something else of it.
func (i *importing) compare(streams *terminal.Streams, d *state.Detail, settings executor.Settings, imported *view.Import) error {
	records, err := i.spool.Of(d.RefID)
	if err != nil {
		return err
	}
	differs := func(reason string) { i.differ(streams, &d.Transfer, reason, imported) }
	switch {
	case len(records) == 0:
		if reason := i.list.against(d); reason != "" {
			differs(reason)
		}
	case d.Status.Made():
		_, differences, isNew := executor.News(*d, records, settings)
		switch {
		case isNew:
			i.known = append(i.known, d.RefID)
			return nil
		case len(differences) > 0:
			differs("The file disagrees with what is recorded: " + executor.Describe(differences) + ".")
		}
	case d.RecordID == "" && d.Status == state.Tombstone && executor.IsForeign(d, records, settings):
		// they are of other money, and say nothing of it
	case d.RecordID == "" && d.Status == state.Tombstone:
		differs("It was closed as not made, and the file has a record of it. Find out which is right: " +
			"remit resolve with --recorded takes the record.")
	case d.Status == state.Refused, d.Status == state.Unsent:
		differs("The state has it as " + d.Status.String() + ", and the file has a record of it. No file declares it any more: declare it again and import the file again.")
	}
	if d.Transfer.Outline().AsksForPerson() {
		imported.Look++
	}
	imported.Known.Add(d.Asset, d.Amount)
	return nil
}

// differ tells of a transfer that the state has, and of which the files say something else.
func (i *importing) differ(streams *terminal.Streams, row *state.Transfer, reason string, imported *view.Import) {
	if !row.Status.Made() && row.RecordID == "" {
		i.lacking.name(row.RefID)
	}
	difference := view.ImportDifference{RefID: row.RefID, Status: row.Status, Reason: reason}
	if imported.DifferingCount++; len(imported.Differing) < view.ImportLinesMax {
		imported.Differing = append(imported.Differing, difference)
	}
	if streams.AsJSON {
		streams.JSON().ImportDiffering(difference)
	}
}

// others are the ref_ids of the files of which the state has nothing, and no line of the plan. What may be the
// record of a transfer that is open is not among them.
func (i *importing) others(ctx context.Context, streams *terminal.Streams, snapshot state.Snapshot, plan *planner.Plan, imported *view.Import) (executor.Others, error) {
	taken := linesToAdopt(plan)
	i.twins.suspect(i)
	for row, err := range snapshot.Transfers(ctx) {
		if err != nil {
			return executor.Others{}, err
		}
		if i.has(row.RefID) {
			taken = append(taken, row.RefID)
		}
		if err := i.twins.note(i, &row, imported); err != nil {
			return executor.Others{}, err
		}
	}
	if err := i.twins.hold(i, func(row *state.Transfer, reason string) { i.differ(streams, row, reason, imported) }); err != nil {
		return executor.Others{}, err
	}
	slices.Sort(taken)
	other, err := i.railsBut(taken)
	if err != nil {
		return executor.Others{}, err
	}
	imported.Others = len(other)
	isTaken := func(refID string) bool {
		_, is := slices.BinarySearch(taken, refID)
		return is || other[refID] || i.twins.isNoOther(i, refID)
	}
	unknown := func(yield func(string) bool) {
		for refID := range i.spool.RefIDs() {
			if !isTaken(refID) && !yield(refID) {
				return
			}
		}
		for refID := range i.list.RefIDs() {
			if !isTaken(refID) && !i.spool.Has(refID) && i.list.hasAmount(refID) && !yield(refID) {
				return
			}
		}
	}
	for refID := range i.list.RefIDs() {
		if !isTaken(refID) && !i.spool.Has(refID) && !i.list.hasAmount(refID) {
			i.leaveOut(streams, refID, imported)
		}
	}
	return executor.Others{Unknown: unknown, Count: count(unknown), Known: i.known, Listed: i.list.claim}, nil
}

// leaveOut names a ref_id of a list without an amount.
func (i *importing) leaveOut(streams *terminal.Streams, refID string, imported *view.Import) {
	_, place, _ := i.list.Of(refID)
	i.lacking.name(refID)
	left := view.ImportLeftOut{RefID: refID, Place: place}
	if imported.LeftOutCount++; len(imported.LeftOut) < view.ImportLinesMax {
		imported.LeftOut = append(imported.LeftOut, left)
	}
	if streams.AsJSON {
		streams.JSON().ImportLeftOut(left)
	}
}

func count(all iter.Seq[string]) int {
	n := 0
	for range all {
		n++
	}
	return n
}

// foresee carries the import out on paper, and shows what it would record.
func (i *importing) foresee(ctx context.Context, w *opened, run executor.Run, others executor.Others, snapshot state.Snapshot, imported *view.Import) error {
	paper, err := executor.NewDryRun(ctx, snapshot)
	if err != nil {
		return w.state.Error(err)
	}
	w.streams.Begin("comparing the records")
	defer w.streams.Quiet()
	run.Journal, run.Handler = paper, &foreseen{imported, w}
	if imported.Outcome, err = executor.Adopt(ctx, run, others); err != nil {
		return fmt.Errorf("compare the records: %w. Nothing was changed", err)
	}
	if imported.Outcome.Interrupted {
		return exit.Interrupted("while the records were compared, and nothing was changed")
	}
	w.streams.Quiet()
	i.lacking.untaken = imported.Outcome.Untaken
	if w.streams.AsJSON {
		return w.streams.JSON().ImportPlan(imported)
	}
	return view.ImportPlan(w.streams.Out, imported, w.streams.Screen(w.streams.Out))
}

// foreseen is told what an import would do.
type foreseen struct {
	imported *view.Import
	w        *opened
}

// Handle implements executor.Handler.
func (f *foreseen) Handle(e executor.Event) {
	if e.Type != executor.EventSettled {
		return
	}
	if f.w.streams.AsJSON {
		f.w.streams.JSON().ImportLine(e)
	}
	if e.Result == executor.ResultInDoubt && e.Detail != nil {
		f.imported.Doubts++
	}
	isWritten := e.Result != executor.ResultNotAttempted && e.Result != executor.ResultInDoubt && e.Result != executor.ResultRefused
	if isWritten && len(f.imported.Lines) < view.ImportLinesMax {
		e.Detail = nil // it holds the records
		f.imported.Lines = append(f.imported.Lines, e)
	}
}

// standsAlready is the exit code where there is nothing to record.
func (i *importing) standsAlready(ctx context.Context, imported *view.Import) error {
	code := exitOfRun(ctx, imported.Outcome)
	if imported.NeedsPerson() {
		code = exit.Look
	}
	if code == exit.Done {
		return nil
	}
	return exit.Code(code)
}

// ask asks whether to record the listed transfers.
func (i *importing) ask(ctx context.Context, streams *terminal.Streams, dir *workspace.Directory) error {
	if i.autoApprove {
		return nil
	}
	why := streams.Unasked()
	if slices.Contains(i.files, "-") {
		why = cmp.Or(why, "standard input is the file")
	}
	if why != "" {
		return exit.WithHint(fmt.Errorf("cannot ask here (%s), so import needs --auto-approve to record this. Nothing was changed", why),
			dir.Command("import "+i.words()+i.flagWords()+" --auto-approve"))
	}
	return streams.Confirm(ctx, "Do you want to record this in the state? No money moves.", "import was not approved. Nothing was changed")
}
