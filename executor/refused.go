package executor

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"remit/internal/transfer"
	"remit/state"
)

const (
	// refusedMax bounds how many refused transfers are looked up before a run ends.
	refusedMax = 50_000
	// refusedFor is for how long lookups of them begin.
	refusedFor = 2 * time.Minute
)

// denied is how a run counts a transfer to which an answer said no.
type denied struct {
	result     Result
	idle       bool
	dependents []string // lines that count as idle because of it
}

// noteDenied notes a verdict on a transfer to which an answer said no, in this run or before.
func (s *scheduler) noteDenied(v verdict) {
	isDenied := v.result == ResultRefused ||
		v.result == ResultNotAttempted && (v.outcome.HTTPStatus != 0 || s.wasDenied(v.outcome.RefID))
	if isDenied {
		s.denied[v.outcome.RefID] = &denied{result: v.result, idle: v.idle}
	}
}

// takenOver counts a transfer as what a lookup made of it, and lets another apply go on with what depends on it.
func (s *scheduler) takenOver(n *news) {
	counted := s.denied[n.refID]
	if counted == nil { // it is no line of the run
		s.run.report.changed(n, "")
		return
	}
	n.wasIdle = counted.idle
	s.run.report.changed(n, counted.result)
	if n.verdict.outcome.Status.Made() && n.verdict.status != transfer.Failed {
		s.run.report.revive(n.refID, counted.dependents)
	}
}

// refusals looks up once, after the last request, the transfers that a run has as refused, or as not processed: a server in
// between may have written that answer after the service made the transfer, or have sent the request to the service twice. A listed
// record is taken over. The refusal stays where the list has none, or where a lookup fails, which is told.
type refusals struct {
	run       *activeRun
	takenOver func(*news) // called with each transfer that is something else now
	until     time.Time   // after which no lookup begins
	failures  int         // lookups in a row that failed
	failed    error       // the latest
	unasked   int         // transfers that were not looked up
}

// lookRefusedUp looks up what isOfRun accepts of them. An error is the state's.
func lookRefusedUp(run *activeRun, isOfRun func(state.Transfer) bool, takenOver func(*news)) error {
	if !run.lookups.possible() || run.journal.failure() != nil || run.report.interrupted() {
		return nil
	}
	refused, err := readRefused(run, isOfRun)
	if err != nil {
		return err
	}
	r := &refusals{run: run, takenOver: takenOver, until: run.Clock.Now().Add(refusedFor)}
	r.unasked = max(0, len(refused)-refusedMax)
	refused = refused[:min(len(refused), refusedMax)]
	if len(refused) > FindMax {
		run.report.tell(Event{
			Type: EventWaiting, Total: len(refused),
			Reason: fmt.Sprintf("An answer said no to %d transfers; the service is asked whether it made any of them all the same.", len(refused)),
		})
	}
	for lot := range slices.Chunk(refused, readMax) {
		list, err := run.watcher.read(lot, saidNo)
		if err != nil {
			return err
		}
		for page := range slices.Chunk(list, FindMax) {
			if err := r.lookUp(page); err != nil {
				return err
			}
		}
	}
	r.tellUnasked()
	return nil
}

// lookUp looks up at most [FindMax] of them.
func (r *refusals) lookUp(list []watched) error {
	if r.failures == findFailuresMax || r.run.report.interrupted() || r.run.Clock.Now().After(r.until) {
		r.unasked += len(list)
		return nil
	}
	found, err := r.run.lookups.find(r.run.life.flight, watchedIDs(list)...)
	if err != nil {
		r.failures, r.failed, r.unasked = r.failures+1, err, r.unasked+len(list)
		return nil
	}
	r.failures = 0
	r.takeOver(list, found)
	return r.run.journal.failure()
}

// tellUnasked says of how many nobody asked the service. An interrupt needs no such notice: the next run asks.
func (r *refusals) tellUnasked() {
	if r.unasked == 0 || r.run.report.interrupted() {
		return
	}
	why := "there are too many to ask for in one run"
	if r.failed != nil {
		why = r.failed.Error()
	}
	r.run.report.tell(Event{
		Type: EventNotice, Total: r.unasked,
		Reason: fmt.Sprintf("An answer said no to %d transfers, and nobody asked the service whether it made them all the same: %s. Do not pay them under other ref_ids before that is known: the next apply asks.", r.unasked, why),
	})
}

// readRefused returns the ref_ids of the run's transfers that are refused, or not processed: those of the run itself, and then those
// of earlier ones, of which each run has others first.
func readRefused(run *activeRun, isOfRun func(state.Transfer) bool) ([]string, error) {
	snapshot, err := run.journal.snapshot()
	if err != nil {
		return nil, fmt.Errorf("read the state: %w", err)
	}
	defer func() { _ = snapshot.Close() }() // it was only read
	var own, earlier []string
	for row, err := range snapshot.Transfers(run.life.lasting) {
		switch {
		case err != nil:
			return nil, fmt.Errorf("read the state: %w", err)
		case row.Status != state.Refused && row.Status != state.Unsent || !isOfRun(row):
		case row.RunID == run.Begun.RunID:
			own = append(own, strings.Clone(row.RefID))
		default:
			earlier = append(earlier, strings.Clone(row.RefID))
		}
	}
	if len(earlier) == 0 {
		return own, nil
	}
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(run.Begun.RunID)) // a hash takes all
	first := int(hash.Sum32() % uint32(len(earlier)))
	return slices.Concat(own, earlier[first:], earlier[:first]), nil
}

// saidNo reports whether nothing is known of a transfer but an answer that nothing was made.
func saidNo(d state.Detail) bool {
	return (d.Status == state.Refused || d.Status == state.Unsent) && d.Outcome != nil && d.Outcome.Source == state.SourceAnswer && d.Outcome.HTTPStatus != 0
}

// takeOver writes down which of the refused transfers are listed, and tells it.
func (r *refusals) takeOver(list []watched, found lookup) {
	var taken []watched
	var findings []finding
	for _, w := range list {
		records := found.records[w.refID]
		why := found.unreadable[w.refID]
		if len(records) > 0 && !w.isUnknown && why == "" {
			v := judgeFound(w.knownTransfer, beforeAny, records)
			if !v.unread {
				taken, findings = append(taken, w), append(findings, finding{verdict: v, settled: true})
				continue
			}
			why = v.outcome.Reason
		}
		if why != "" {
			r.run.report.tell(Event{
				Type: EventNotice, RefID: w.refID, Next: command(w.refID, "--recorded FILE"),
				Reason: "An answer said that nothing was made, and yet the service lists it: " + why + ". Do not pay it under another ref_id before that is settled.",
			})
		}
	}
	r.run.outcomes.writeAll(findings)
	for i, f := range findings {
		if !f.verdict.written {
			continue // the state has it as it was
		}
		r.takenOver(&news{
			watched: taken[i], kind: newsChanged, verdict: f.verdict,
			changes: []RecordChange{{Field: "status", Before: taken[i].detail.Status.String(), After: cmp.Or(string(f.verdict.status), f.verdict.outcome.Status.String())}},
		})
	}
}
