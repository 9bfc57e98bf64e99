package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"remit/config"
	"remit/internal/accounts/reconcile"
	"remit/internal/accounts/report"
	"remit/internal/cli/exit"
	"remit/internal/cli/terminal"
	"remit/internal/cli/workspace"
	"remit/internal/clock/zone"
	"remit/internal/files/wholefile"
	"remit/internal/view"
	"remit/state"
)

// reporting is remit report.
type reporting struct {
	dir       workspace.Directory
	month     string
	period    period
	reconcile []string
	out, into string
}

func newReport(p *process) *cobra.Command {
	r := reporting{dir: workspace.Directory{Need: config.NeedState}}
	cmd := &cobra.Command{
		Use:   "report {--month=YYYY-MM | --from=DATE --until=DATE}",
		Short: "Write a month as one page: totals, charts, exceptions, runs and approvals",
		Long: "Write a period as one page of HTML that loads nothing and prints on A4: the totals of each\n" +
			"asset, what was paid over time, by batch and by destination, what needs action,\n" +
			"and the runs with those who approved them.",
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return r.run(cmd.Context(), p, cmd.Flags().Changed)
		},
	}
	directoryFlags(&r.dir, cmd)
	flags := cmd.Flags()
	flags.StringVar(&r.month, "month", "", "the `month`, such as 2026-11")
	r.period.flags(cmd, "what was made")
	flags.StringArrayVar(&r.reconcile, "reconcile", nil, "hold the period against the service's export of records in this `file` as well; may be repeated")
	flags.StringVar(&r.out, "out", "", "write the page to this `file`, not to standard output")
	flags.BoolVar(&p.streams.AsJSON, "json", false, "write JSON Lines; the page is written where --out says a file")
	intoFlag(cmd, &r.into)
	atMostOne(cmd, "month", "from")
	atMostOne(cmd, "month", "until")
	return cmd
}

func (r *reporting) run(ctx context.Context, p *process, isGiven func(string) bool) error {
	period, err := r.bounds(isGiven)
	if err != nil {
		return err
	}
	if len(r.reconcile) > 0 {
		r.dir.Need = config.NeedService // the operator's word is in the types of records
		if err := (&reconciling{source: r.dir}).checkFiles(r.reconcile); err != nil {
			return err
		}
	}
	w, err := openInto(p, &r.dir, r.into)
	if err != nil {
		return err
	}
	if err := r.checkOut(w.dir, w.state); err != nil {
		return err
	}
	snapshot, done, err := w.state.Read(ctx)
	if err != nil {
		return err
	}
	defer done()
	gathered, options, err := r.gather(ctx, w, snapshot, period)
	if err != nil {
		return err
	}
	if err := r.sayNothingHappened(ctx, w.streams, w.state, snapshot, gathered); err != nil {
		return err
	}
	if err := r.writePage(ctx, w.streams, w.dir, gathered, options); err != nil {
		return err
	}
	if w.streams.WantsLines() {
		return w.streams.JSON().Report(gathered, options)
	}
	return nil
}

// gather adds up the period, and holds it against exports where some are given.
func (r *reporting) gather(ctx context.Context, w *opened, snapshot state.Snapshot, period report.Period) (*report.Report, view.ReportOptions, error) {
	options := view.ReportOptions{Screen: w.streams.Screen(w.streams.Out), Made: w.host.Now()}
	defer boundGarbage(w.host.Getenv)()
	w.streams.Begin("reading the state")
	defer w.streams.Quiet()
	gathered, err := report.Gather(ctx, snapshot, period)
	if err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, options, w.state.Error(err)
	}
	if options.Names, err = namesOf(ctx, w.config, snapshot); err != nil {
		return nil, options, w.state.Error(err)
	}
	if len(r.reconcile) > 0 {
		if options.Reconciled, options.Files, err = r.reconciled(ctx, w, snapshot, period); err != nil {
			return nil, options, stopped(ctx, err)
		}
	}
	return gathered, options, nil
}

// sayNothingHappened tells of a period without transfers and runs, as another month or the state of the sandbox
// may be meant. Where the page goes to a file, the line that names the file says so.
func (r *reporting) sayNothingHappened(ctx context.Context, streams *terminal.Streams, st *workspace.State, snapshot state.Snapshot, gathered *report.Report) error {
	if r.out != "" || gathered.RunCount > 0 || len(gathered.Assets) > 0 || len(gathered.Totals) > 0 {
		return nil
	}
	last := "has no event at all"
	if newest, err := newestEvent(ctx, snapshot); err != nil {
		return st.Error(err)
	} else if snapshot.Meta().Serial > 0 {
		last = "has its last event on " + newest.In(gathered.Period.Zone).Format(time.DateOnly)
	}
	_, err := fmt.Fprintf(streams.Err, "Notice: the page is empty: nothing was paid and no run began in the period. This state %s.\n", last)
	return err
}

// writePage writes the page to where the flags say; nowhere, where standard output has lines.
func (r *reporting) writePage(ctx context.Context, streams *terminal.Streams, from *workspace.Directory, gathered *report.Report, options view.ReportOptions) error {
	if r.out == "" {
		if streams.AsJSON {
			return nil
		}
		return view.ReportHTML(streams.Out, gathered, options)
	}
	err := wholefile.Replace(from.Within(r.out), 0o600, func(file io.Writer) error {
		return view.ReportHTML(exit.Interruptible(ctx, file), gathered, options)
	})
	if err != nil {
		return fmt.Errorf("write the report to %s: %w", r.out, notWritten(from.Within(r.out), err))
	}
	empty := ""
	if gathered.Empty() {
		empty = " The state has no transfer of it."
	}
	_, err = fmt.Fprintf(streams.Err, "Wrote %s, the page of the period.%s\n", view.Visible(r.out), empty)
	return err
}

// reconciled holds the period against exports.
func (r *reporting) reconciled(ctx context.Context, w *opened, snapshot state.Snapshot, period report.Period) (*reconcile.Summary, []view.ReconciledFile, error) {
	options := reconcile.Options{From: period.From, Until: period.Until, TempDir: os.TempDir()}
	knowService(&options, w.dir, w.config)
	reconciliation := reconcile.New(options)
	defer reconciliation.Close()
	files, err := readExports(ctx, w.streams, w.dir, r.reconcile, reconciliation)
	if err != nil {
		return nil, nil, err
	}
	w.streams.Begin("comparing")
	summary, err := reconciliation.Judge(ctx, snapshot)
	if err != nil {
		return nil, nil, fmt.Errorf("reconcile: %w", err)
	}
	return summary, files, nil
}

// meantMonth is a month that is written in another form, or an example.
func meantMonth(text string) string {
	if month, ok := writtenMonth(text); ok {
		return month.Format(monthForm)
	}
	return "2026-11"
}

// periodYears bounds a report.
const periodYears = 10

// bounds reads the flags that say what the report is about.
func (r *reporting) bounds(isGiven func(string) bool) (report.Period, error) {
	from, until, where, err := r.period.bounds(isGiven)
	if err != nil {
		return report.Period{}, err
	}
	if r.month != "" {
		month, err := time.Parse(monthForm, r.month)
		if err != nil {
			return report.Period{}, fmt.Errorf("--month=%s is not a month; write one such as %s", r.month, meantMonth(r.month))
		}
		from = zone.Midnight(month.Year(), month.Month(), 1, where)
		until = zone.Midnight(month.Year(), month.Month()+1, 1, where)
	}
	switch {
	case from.IsZero() || until.IsZero():
		return report.Period{}, exit.WithHint(errors.New("report needs --month=YYYY-MM, or --from=DATE and --until=DATE"), "remit report --help")
	case from.AddDate(periodYears, 0, 0).Before(until):
		return report.Period{}, fmt.Errorf("from %s to %s is more than %d years; a report is of a month, a quarter or a few years", r.period.from, r.period.until, periodYears)
	}
	return report.Period{From: from, Until: until, Zone: where}, nil
}

// checkOut refuses a file that --out must not replace: only an earlier report or an empty file is
// lost without loss.
func (r *reporting) checkOut(dir *workspace.Directory, st *workspace.State) error {
	if r.out == "" {
		return nil
	}
	path := dir.Within(r.out)
	if strings.HasSuffix(path, ".hcl") || strings.HasSuffix(path, ".hcl.json") {
		return fmt.Errorf("write the report: %s would be read as configuration; name another file with --out, such as 2026-11.html", r.out)
	}
	for _, belonging := range st.Backend.Files() {
		if samePath(path, belonging) {
			return fmt.Errorf("write the report: %s is a file of the state, which a report never replaces; name another file with --out", r.out)
		}
	}
	replaceable, err := isReplaceable(path, view.ReportStart)
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	if !replaceable {
		return fmt.Errorf("write the report: %s is there already and is no report, so it is not replaced; name another file with --out", r.out)
	}
	return nil
}
