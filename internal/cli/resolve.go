package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"remit/config"
	"remit/config/mistake"
	"remit/executor"
	"remit/internal/cli/exit"
	"remit/internal/cli/terminal"
	"remit/internal/cli/workspace"
	"remit/internal/text/english"
	"remit/internal/text/shell"
	"remit/internal/transfer"
	"remit/internal/view"
	"remit/state"
)

// resolving is one remit resolve.
type resolving struct {
	dir          workspace.Directory
	refID        string
	recorded     string
	acceptRecord bool
	notMade      bool
	reason       string
	runID        string // with count: all that this run left unverified
	count        int
	stored       state.Transfer // what the state has of refID
}

func newResolve(p *process) *cobra.Command {
	r := resolving{dir: workspace.Directory{Need: config.NeedService}}
	cmd := &cobra.Command{
		Use:   "resolve {REF_ID | --run=RUN_ID | --recorded=EXPORT}",
		Short: "Settle a transfer that is in doubt, unverified or in conflict",
		Long: "Settle a transfer that is in doubt, unverified or in conflict. It sends no transfer.\n\n" +
			"Without a flag it asks the service, where that can look up. The other three are\n" +
			"your word: they need --reason, and the journal keeps it under your name:\n\n" +
			"    --recorded FILE  the service's record of it, as JSON (- is standard input)\n" +
			"    --accept-record  a conflict, or an unverified transfer, is as the service\n" +
			"                     has it; with --recorded, as the given record has it\n" +
			"    --not-made       it was not made; this ref_id is never sent again\n\n" +
			"With --run alone it lists what a run left unverified, by the fields in which the records fall\n" +
			"short. --recorded without a REF_ID lists the doubts that an export of the service's records has under\n" +
			"a ref_id in other letters, and that agree with it in all else. With --count as well, --accept-record\n" +
			"accepts all of it, where they are exactly so many.",
		Args: oneArgAtMost("REF_ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				r.refID = args[0]
			}
			return r.run(cmd.Context(), p)
		},
	}
	directoryFlags(&r.dir, cmd)
	flags := cmd.Flags()
	flags.StringVar(&r.recorded, "recorded", "", "store the record in this `file`, one or both sides")
	flags.BoolVar(&r.acceptRecord, "accept-record", false, "let the kept record stand, or with --recorded the given one")
	flags.BoolVar(&r.notMade, "not-made", false, "settle it as not made, for good")
	flags.StringVar(&r.reason, "reason", "", "why, for the journal")
	flags.StringVar(&r.runID, "run", "", "list what this `run` left unverified; with --accept-record and --count, accept it")
	flags.IntVar(&r.count, "count", 0, "how many --run, or --recorded without a REF_ID, lists")
	atMostOne(cmd, "recorded", "not-made")
	atMostOne(cmd, "accept-record", "not-made")
	atMostOne(cmd, "recorded", "run")
	return cmd
}

func (r *resolving) run(ctx context.Context, p *process) error {
	isWord := r.recorded != "" && r.refID != "" || r.acceptRecord || r.notMade
	if err := r.checkBulk(); err != nil {
		return err
	}
	if isWord && isBlank(r.reason) {
		return exit.WithHint(errors.New("--recorded, --accept-record and --not-made need --reason: the journal keeps it under your name; nothing was changed"), "remit resolve --help")
	}
	w, err := open(p, &r.dir)
	if err != nil {
		return err
	}
	if r.runID != "" && !r.acceptRecord {
		return r.list(ctx, w.streams, w.state)
	}
	by := p.host.Holder("remit resolve")
	return w.state.Locked(ctx, by, 0, func(journal state.Journal, snapshot state.Snapshot) error {
		if r.runID != "" {
			return r.acceptRun(ctx, w, journal, snapshot, by)
		}
		if r.refID == "" {
			return r.letters(ctx, w, journal, snapshot, by)
		}
		details, err := snapshot.Details(ctx, r.refID)
		if err != nil {
			return w.state.Error(err)
		}
		if len(details) == 0 {
			return notInState(ctx, w.dir, w.state, snapshot, r.refID)
		}
		r.stored = details[0].Transfer
		return r.resolve(ctx, w, journal, by, r.refID)
	})
}

// acceptRun accepts all that a run left unverified and that a person can accept, where they are as many as was said.
func (r *resolving) acceptRun(ctx context.Context, w *opened, journal state.Journal, snapshot state.Snapshot, by state.Holder) error {
	unverified, refIDs, err := r.unverified(ctx, w.state, snapshot)
	switch {
	case err != nil:
		return err
	case len(refIDs) != r.count:
		what := english.Plural(len(refIDs), "transfer") + " unverified"
		if unverified.Apart() > 0 {
			what += " that can be accepted"
		}
		return exit.WithHint(fmt.Errorf("run %s left %s, not %d. Nothing was changed", r.runID, what, r.count), r.dir.Command(r.listing()))
	}
	outcomes, err := executor.ResolveAcceptRecords(ctx, newResolution(w, journal, by, "", r.reason), refIDs)
	if err != nil {
		return r.explain(err)
	}
	for _, outcome := range outcomes {
		if _, err := fmt.Fprintln(w.streams.Out, view.Resolved(&outcome, time.Time{})); err != nil {
			return err
		}
	}
	return nil
}

// list shows what a run left unverified, and changes nothing.
func (r *resolving) list(ctx context.Context, streams *terminal.Streams, st *workspace.State) error {
	snapshot, done, err := st.Read(ctx)
	if err != nil {
		return err
	}
	defer done()
	unverified, refIDs, err := r.unverified(ctx, st, snapshot)
	if err != nil {
		return err
	}
	if len(refIDs) > 0 {
		unverified.Next = r.dir.Command(fmt.Sprintf(`%s --count=%d --accept-record --reason="…"`, r.listing(), len(refIDs)))
	}
	code := exit.Done
	if len(refIDs)+unverified.Apart() > 0 {
		code = exit.Look
	}
	if err := unverified.Write(streams.Out, streams.Screen(streams.Out)); err != nil {
		return unshown(err, code)
	}
	if code != exit.Done {
		return exit.Code(code)
	}
	return nil
}

// listing is the command that lists all that are to be settled together.
func (r *resolving) listing() string {
	if r.runID != "" {
		return "resolve --run=" + shell.Word(r.runID)
	}
	return "resolve --recorded=" + shell.File(r.recorded)
}

// unverified is what a run left unverified, and the ref_ids of those that a person can accept. A FAILED transfer moved no money.
func (r *resolving) unverified(ctx context.Context, st *workspace.State, snapshot state.Snapshot) (view.Unverified, []string, error) {
	all := view.Unverified{RunID: r.runID}
	var left, acceptable []string
	for row, err := range snapshot.Transfers(ctx) {
		if err != nil {
			return all, nil, st.Error(err)
		}
		if row.Status == state.Unverified && row.RunID == r.runID && row.Outline().AsksForPerson() {
			left = append(left, row.RefID)
		}
	}
	if len(left) == 0 && !r.acceptRecord {
		runID, err := findRun(ctx, &r.dir, st, snapshot, r.runID)
		if err != nil {
			return all, nil, err
		}
		if runID != r.runID { // the beginning of an ID, or the word latest
			r.runID = runID
			return r.unverified(ctx, st, snapshot)
		}
	}
	for some := range slices.Chunk(left, detailsPerCall) {
		details, err := snapshot.Details(ctx, some...)
		if err != nil {
			return all, nil, st.Error(err)
		}
		for i := range details {
			why := executor.Unacceptable(details[i])
			if all.Add(&details[i], why); why == "" {
				acceptable = append(acceptable, details[i].RefID)
			}
		}
	}
	return all, acceptable, nil
}

func (r *resolving) resolve(ctx context.Context, w *opened, journal state.Journal, by state.Holder, refID string) error {
	outcome, err := r.settle(ctx, w, newResolution(w, journal, by, refID, r.reason))
	if err != nil {
		return r.explain(err)
	}
	_, err = fmt.Fprintln(w.streams.Out, view.Resolved(&outcome, r.stored.IntendedAt))
	if outcome.Status == state.Conflict || outcome.Status == state.Unverified {
		return unshown(err, exit.Look)
	}
	return err
}

// newResolution is a person's word about one ref_id.
func newResolution(w *opened, journal state.Journal, by state.Holder, refID, reason string) executor.Resolution {
	service := w.config.Service
	return executor.Resolution{
		RefID: refID, By: by, Reason: reason, Journal: journal, Clock: w.host.Clock(), Date: func(ctx context.Context) time.Time { return dateOfNow(ctx, w.service) },
		Waiting: func(text string) { _, _ = fmt.Fprintf(w.streams.Err, "waiting: %s.\n", view.Visible(text)) }, // a failure of stderr ends no wait
		Unasked: func(err error) { // nor does it end a word
			_, _ = fmt.Fprintf(w.streams.Err, "Notice: Your word alone says that %s was not made: the service could not be asked (%s).\n", view.Visible(refID), view.Visible(err.Error()))
		},
		Settings: executor.Settings{
			Operator: service.Operator, FingerprintKey: service.FingerprintKey, RequestTimeout: service.Timeout,
		},
		Declares: func(ctx context.Context, is func(string) bool) (string, error) {
			whole := *w.dir // what settles a transfer was read without the declarations
			whole.Need = config.NeedAll
			loaded, err := workspace.Load(ctx, w.host, w.streams, &whole)
			if err != nil {
				return "", err
			}
			return declaredAs(ctx, w.streams, loaded, is)
		},
	}
}

// declaredAs is a ref_id that the files declare and that fits; "" for none.
func declaredAs(ctx context.Context, streams *terminal.Streams, loaded *config.Configuration, is func(refID string) bool) (string, error) {
	var mistakes mistake.Set
	found := ""
	for t := range declared(ctx, loaded, &mistakes) {
		if found == "" && is(t.Request.RefID) {
			found = t.Request.RefID
		}
	}
	return found, streams.Report(loaded, mistakes.Diagnostics())
}

// dateOfNow is what the service's clock says, or the zero time where it can't be asked.
func dateOfNow(ctx context.Context, service *workspace.Service) time.Time {
	connection, err := service.Connect(ctx, 1)
	if err != nil {
		return time.Time{}
	}
	defer connection.Close()
	date, err := connection.Submitter.Ready(ctx)
	if err != nil {
		return time.Time{}
	}
	return date
}

func (r *resolving) settle(ctx context.Context, w *opened, resolution executor.Resolution) (state.Outcome, error) {
	var records []transfer.Record
	if r.recorded != "" {
		fold := transfer.FoldRefID(r.refID)
		read, err := r.read(ctx, w, func(record *transfer.Record) bool {
			isStored := r.stored.RecordID != "" && record.ID == r.stored.RecordID || r.stored.GroupID != "" && record.GroupID == r.stored.GroupID
			return isStored || transfer.FoldRefID(record.RefID) == fold
		})
		if err != nil {
			return state.Outcome{}, err
		}
		records = read.records()
	}
	switch {
	case r.acceptRecord:
		return executor.ResolveAcceptRecord(ctx, resolution, records)
	case r.recorded != "":
		return executor.ResolveRecorded(ctx, resolution, records)
	case r.notMade && !w.service.CanLookUp():
		return executor.ResolveNotMade(ctx, resolution)
	case !w.service.CanLookUp():
		return state.Outcome{}, r.noLookup(ctx, w, resolution.Journal)
	}
	finder := lateFinder{w: w}
	defer finder.close()
	if r.notMade {
		resolution.Finder = &finder
		return executor.ResolveNotMade(ctx, resolution)
	}
	return executor.ResolveByLookup(ctx, resolution, &finder)
}

// noLookup says what a person can say of a transfer where the service has no lookup.
func (r *resolving) noLookup(ctx context.Context, w *opened, journal executor.Journal) error {
	const none = "the service block has no lookup_path, so nothing can be looked up; nothing was changed"
	snapshot, err := journal.Snapshot(ctx)
	if err != nil {
		return w.state.Error(err)
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	details, err := snapshot.Details(ctx, r.refID)
	switch {
	case err != nil:
		return w.state.Error(err)
	case len(details) == 0:
		return fmt.Errorf("resolve %q: %w", r.refID, executor.ErrUnknownRefID)
	}
	switch d := &details[0]; d.Status {
	case state.InDoubt:
		u, err := doubtsOf(ctx, w, snapshot)(d)
		if err != nil {
			return err
		}
		next, err := settling(ctx, w, snapshot, d, u.Next())
		if err != nil {
			return err
		}
		return exit.WithHint(fmt.Errorf("%s. %s", none, u.Sentence()), r.dir.Here(next))
	case state.Unverified, state.Conflict:
		return exit.WithHint(fmt.Errorf("%s. %s is %s: accept what is kept of it, where that is right, or give its record", none, r.refID, d.Status), r.dir.Here(nextFor(d, false)))
	case state.Unsent, state.Recorded, state.Adopted, state.Refused, state.Tombstone:
	}
	return &executor.StatusError{RefID: r.refID, Status: details[0].Status}
}

// lateFinder connects to the service when something is looked up: where the state alone says that
// there is nothing to settle, nobody is asked for a secret.
type lateFinder struct {
	w          *opened
	connection *workspace.Connection
}

// Find implements [executor.Finder].
func (f *lateFinder) Find(ctx context.Context, refIDs []string) (map[string][]transfer.Record, error) {
	if f.connection == nil {
		connection, err := f.w.service.Connect(ctx, 1)
		if err != nil {
			return nil, err
		}
		f.connection = connection
		if _, err := connection.Submitter.Ready(ctx); err != nil {
			return nil, err
		}
	}
	return f.connection.Finder.Find(ctx, refIDs)
}

func (f *lateFinder) close() {
	if f.connection != nil {
		f.connection.Close()
	}
}

// explain adds the next step to a failure.
func (r *resolving) explain(err error) error {
	if r.refID == "" { // of several, one by one
		return exit.WithHint(err, r.dir.Command(r.listing()))
	}
	more, next := executor.Remedy(err, r.refID, r.recorded)
	if more != "" {
		err = fmt.Errorf("%w. %s", err, more)
	}
	if next == "" {
		return err
	}
	return exit.WithHint(err, r.dir.Here(next))
}
