// Package metrics keeps what a monitor wants to know of unattended runs in a file in the
// Prometheus text format, for the textfile collector of node_exporter.
//
// Its one invariant: counts over runs, and the time of the last good one, come from the
// file that is replaced, so that no run, however it ends, makes an earlier one forgotten.
//
// Times are points in time, not ages: an age that nobody writes anew does not grow.
package metrics

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"remit/executor"
	"remit/internal/transfer"
	"remit/state"
)

// Start is how a file of metrics begins.
const Start = "# HELP remit_info "

// Run is an apply that ended.
type Run struct {
	Environment string // "" where it is not known
	Directory   string // of the configuration, its last part
	Version     string // of remit
	Began       time.Time
	Ended       time.Time
	ExitCode    int
	Summary     *executor.Summary // nil where no run began
	State       *StateCounts      // nil where the state could not be read
}

// StateCounts counts the transfers of a state.
type StateCounts struct {
	Count         map[state.Status]int
	Pending       int       // recorded, and neither COMPLETED nor FAILED
	OldestInDoubt time.Time // first intent of the oldest doubt; zero for none
	OldestPending time.Time // the same of the oldest pending one; zero where there is none, or none with a known time
}

// CountState counts the transfers of a snapshot. A transfer that a living run has in flight is not
// in doubt.
func CountState(ctx context.Context, snapshot state.Snapshot) (*StateCounts, error) {
	s := &StateCounts{Count: make(map[state.Status]int)}
	holder, isHeld := snapshot.Holder()
	for o, err := range snapshot.Outlines(ctx) {
		if err != nil {
			return nil, err
		}
		inFlight := isHeld && o.Open && o.RunID == holder.RunID
		if inFlight {
			continue
		}
		s.Count[o.Status]++
		if o.Status == state.InDoubt {
			s.OldestInDoubt = older(s.OldestInDoubt, o.IntendedAt)
		}
		if o.HasRecord && !o.RecordStatus.Final() { // of a status that nobody knows, too
			s.Pending++
			s.OldestPending = older(s.OldestPending, o.IntendedAt)
		}
	}
	return s, nil
}

func older(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// exitCodes are those that an apply ends with by itself. Each has a line from the start, so that
// the first of its kind is seen as an increase.
var exitCodes = []int{0, 1, 3, 4, 5, 129, 130, 143}

// Write writes the metrics of a run, and of those before it.
func Write(w io.Writer, r Run, before Past) error {
	p := &page{w: bufio.NewWriter(w), labels: labels("environment", r.Environment, "directory", r.Directory)}
	after := before.with(r)
	p.family("remit_info", "gauge", "The version of remit that wrote this.")
	p.sample("1", "version", r.Version)
	p.family("remit_runs_total", "counter", "Applies that ended, by exit code.")
	for _, code := range after.codes() {
		p.sample(strconv.FormatInt(after.Runs[code], 10), "exit_code", strconv.Itoa(code))
	}
	p.family("remit_run_transfers_total", "counter", "Transfers by what all applies so far made of them.")
	for _, result := range executor.Results() {
		p.sample(strconv.FormatInt(after.Transfers[result], 10), "result", string(result))
	}
	p.family("remit_last_run_timestamp_seconds", "gauge", "When the last apply ended.")
	p.sample(seconds(r.Ended))
	p.family("remit_last_run_duration_seconds", "gauge", "How long the last apply took.")
	p.sample(milliseconds(r.Ended.Sub(r.Began).Milliseconds()))
	p.family("remit_last_run_exit_code", "gauge", "Exit code of the last apply.")
	p.sample(strconv.Itoa(r.ExitCode))
	p.family("remit_last_success_timestamp_seconds", "gauge", "When the last apply with exit code 0 ended; 0 for never.")
	p.sample(milliseconds(after.Success))
	p.lastRun(r)
	p.stateCounts(r.State)
	return p.w.Flush()
}

// lastRun writes what the last apply did; zeros where it began no run.
func (p *page) lastRun(r Run) {
	summary := executor.Summary{}
	if r.Summary != nil {
		summary = *r.Summary
	}
	p.family("remit_last_run_requests", "gauge", "Requests to create that the last apply began, retries included.")
	p.sample(strconv.Itoa(summary.Requests))
	p.family("remit_last_run_transfers", "gauge", "Transfers by what the last apply made of them.")
	for _, result := range executor.Results() {
		count := 0
		if t := summary.Totals[result]; t != nil {
			count = t.Count()
		}
		p.sample(strconv.Itoa(count), "result", string(result))
	}
	p.family("remit_last_run_amount", "gauge", "Amounts by what the last apply made of them. They are written exactly, but read as binary floats: for graphs, not for books.")
	for _, result := range executor.Results() {
		if t := summary.Totals[result]; t != nil {
			for total := range t.All() {
				p.sample(transfer.Digits(total.Sum), "result", string(result), "asset", total.Asset)
			}
		}
	}
}

func (p *page) stateCounts(s *StateCounts) {
	p.family("remit_state_readable", "gauge", "Whether the state could be read after the last apply; without it, what it would say is absent.")
	if s == nil {
		p.sample("0")
		return
	}
	p.sample("1")
	p.family("remit_state_transfers", "gauge", "Transfers in the state by status, without those in flight.")
	for _, status := range state.Statuses() {
		name, _ := status.MarshalText() // a listed status has a name
		p.sample(strconv.Itoa(s.Count[status]), "status", string(name))
	}
	p.family("remit_state_pending_transfers", "gauge", "Transfers that were PENDING when the service was last asked, or of a status that is neither COMPLETED nor FAILED.")
	p.sample(strconv.Itoa(s.Pending))
	if !s.OldestInDoubt.IsZero() {
		p.family("remit_oldest_in_doubt_timestamp_seconds", "gauge", "When that was first sent, or written down to be sent, which is in doubt for longest; absent where nothing is.")
		p.sample(seconds(s.OldestInDoubt))
	}
	if !s.OldestPending.IsZero() {
		p.family("remit_oldest_pending_timestamp_seconds", "gauge", "When that was written down to be sent which is pending for longest; absent where nothing is.")
		p.sample(seconds(s.OldestPending))
	}
}

// page is a file of metrics while it is written. Errors of writing come with the last flush.
type page struct {
	w      *bufio.Writer
	labels string // of every sample
	name   string // of the family
}

// family begins a metric; its samples follow.
func (p *page) family(name, kind, help string) {
	p.name = name
	_, _ = fmt.Fprintf(p.w, "# HELP %s %s\n# TYPE %[1]s %[3]s\n", name, help, kind)
}

func (p *page) sample(value string, more ...string) {
	all := p.labels
	if len(more) > 0 {
		all += "," + labels(more...)
	}
	_, _ = fmt.Fprintf(p.w, "%s{%s} %s\n", p.name, all, value)
}

var labelEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// labels writes names and values, each name followed by its value.
func labels(pairs ...string) string {
	var list []string
	for pair := range slices.Chunk(pairs, 2) {
		list = append(list, pair[0]+`="`+labelEscapes.Replace(strings.ToValidUTF8(pair[1], "\uFFFD"))+`"`)
	}
	return strings.Join(list, ",")
}

func seconds(t time.Time) string { return milliseconds(t.UnixMilli()) }

// milliseconds writes so many of them as seconds.
func milliseconds(n int64) string {
	n = max(n, 0) // a clock that was put back
	return fmt.Sprintf("%d.%03d", n/1000, n%1000)
}
