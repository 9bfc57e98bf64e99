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
	"remit/internal/calendar"
	"remit/internal/report"
	"remit/internal/view"
	"remit/internal/wholefile"
	"remit/internal/zone"
)

// reporting is remit report.
type reporting struct {
	source
	month, from, until string
	place              string
	out                string
}

func newReport(p *process) *cobra.Command {
	r := reporting{source: source{need: config.NeedState}}
	cmd := &cobra.Command{
		Use:   "report {--month=YYYY-MM | --from=DATE --until=DATE}",
		Short: "Write a month as one page: totals, charts, exceptions, runs and approvals",
		Long: "Write a period as one page of HTML that loads nothing and prints on A4: the totals of each\n" +
			"asset, what was paid over time, by batch and by destination, what a person should look at,\n" +
			"and the runs with those who approved them.\n\n" +
			"    remit report --month=2026-11 --timezone=Europe/Berlin --out=2026-11.html",
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return r.run(cmd.Context(), p)
		},
	}
	r.flags(cmd)
	flags := cmd.Flags()
	flags.StringVar(&r.month, "month", "", "the `month`, such as 2026-11")
	flags.StringVar(&r.from, "from", "", "from this `date` on, such as 2026-11-01")
	flags.StringVar(&r.until, "until", "", "to the end of this `date`, such as 2026-11-30")
	flags.StringVar(&r.place, "timezone", "UTC", "count days in this `zone`, such as Europe/Berlin")
	flags.StringVar(&r.out, "out", "", "write the page to this `file`, not to standard output")
	cmd.MarkFlagsMutuallyExclusive("month", "from")
	cmd.MarkFlagsMutuallyExclusive("month", "until")
	return cmd
}

func (r *reporting) run(ctx context.Context, p *process) error {
	period, err := r.period()
	if err != nil {
		return err
	}
	w, err := p.open(&r.source, false)
	if err != nil {
		return err
	}
	if err := r.checkOut(w); err != nil {
		return err
	}
	snapshot, done, err := w.read(ctx)
	if err != nil {
		return err
	}
	defer done()
	w.begin("reading the state")
	defer w.quiet()
	gathered, err := report.Gather(ctx, snapshot, period)
	if err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return w.stateError(err)
	}
	w.quiet()
	options := view.ReportOptions{Screen: w.screen(w.stdout), Made: w.now(), Names: w.config.ProfileNames()}
	if r.out == "" {
		return view.ReportHTML(w.stdout, gathered, options)
	}
	err = wholefile.Replace(w.within(r.out), 0o600, func(file io.Writer) error {
		return view.ReportHTML(interruptible{ctx, file}, gathered, options)
	})
	if err != nil {
		return fmt.Errorf("write the report to %s: %w", r.out, err)
	}
	return nil
}

// monthForm is how a month is written.
const monthForm = "2006-01"

// period reads the flags that say what the report is about.
func (r *reporting) period() (report.Period, error) {
	where, err := zone.Load(r.place)
	if err != nil {
		return report.Period{}, fmt.Errorf("--timezone=%s %w", r.place, err)
	}
	p := report.Period{Zone: where}
	if r.month != "" {
		month, err := time.Parse(monthForm, r.month)
		if err != nil {
			return p, fmt.Errorf("--month=%s is not a month; write one such as 2026-11", r.month)
		}
		p.From = time.Date(month.Year(), month.Month(), 1, 0, 0, 0, 0, where)
		p.Until = time.Date(month.Year(), month.Month()+1, 1, 0, 0, 0, 0, where)
		return p, nil
	}
	if r.from == "" || r.until == "" {
		return p, withHint(errors.New("report needs --month=YYYY-MM, or --from=DATE and --until=DATE"), "remit report --help")
	}
	for _, bound := range []struct {
		flag, text string
		days       int
		into       *time.Time
	}{{"from", r.from, 0, &p.From}, {"until", r.until, 1, &p.Until}} {
		date, err := calendar.ParseDate(bound.text)
		if err != nil {
			return p, fmt.Errorf("--%s=%s %w", bound.flag, bound.text, err)
		}
		year, month, day := date.Midnight().Date()
		*bound.into = time.Date(year, month, day+bound.days, 0, 0, 0, 0, where)
	}
	switch {
	case !p.From.Before(p.Until):
		return p, fmt.Errorf("--from=%s is after --until=%s", r.from, r.until)
	case p.From.AddDate(periodYears, 0, 0).Before(p.Until):
		return p, fmt.Errorf("from %s to %s is more than %d years; a report is of a month, a quarter or a few years", r.from, r.until, periodYears)
	}
	return p, nil
}

// periodYears bounds a report.
const periodYears = 10

// checkOut refuses a file that --out must not replace: only an earlier report or an empty file is
// lost without loss.
func (r *reporting) checkOut(w *workspace) error {
	if r.out == "" {
		return nil
	}
	path := w.within(r.out)
	if strings.HasSuffix(path, ".hcl") || strings.HasSuffix(path, ".hcl.json") {
		return fmt.Errorf("write the report: %s would be read as configuration; name another file with --out, such as 2026-11.html", r.out)
	}
	for _, belonging := range w.place.Files() {
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
