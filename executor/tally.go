package executor

import (
	"bytes"
	"compress/flate"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/shopspring/decimal"

	"remit/internal/transfer"
	"remit/state"
)

// tally counts the results of transfers, as runners tell one another.
type tally struct {
	Results    map[Result]*transfer.Totals
	Count      int
	Short      int     // lines of the plan that have no outcome
	Idle       int     // in doubt or not attempted: another apply would not go on with them
	Unfinished int     // recorded, and neither COMPLETED nor FAILED
	Unknown    Unknown // of these

	Revised  map[string]revision // what lookups made of transfers that some runner counts
	Restated map[string]bool     // of these, which are counted by their newest status
}

// revision is what a lookup made of a transfer.
type revision struct {
	request transfer.Request

	Before Result // as the run settled it; "" where it did not
	After  Result
	Was    transfer.RecordStatus
	Is     transfer.RecordStatus // "" of a conflict
	Idle   bool                  // it was counted among those with which another apply would not go on
}

// wasMade reports whether the transfer was counted as one that the service made.
func (r *revision) wasMade() bool {
	return r.Before != "" && r.Before != ResultRefused && r.Before != ResultNotAttempted
}

func newTally() tally {
	return tally{Results: make(map[Result]*transfer.Totals), Revised: make(map[string]revision), Restated: make(map[string]bool)}
}

// isEmpty reports whether it says nothing.
func (t *tally) isEmpty() bool {
	return t.Count == 0 && len(t.Results) == 0 && len(t.Revised) == 0 && len(t.Restated) == 0
}

func (t *tally) of(result Result) *transfer.Totals {
	if t.Results[result] == nil {
		t.Results[result] = new(transfer.Totals)
	}
	return t.Results[result]
}

func (t *tally) add(request transfer.Request, v verdict, planned bool) {
	t.of(v.result).AddRequest(&request)
	t.Count++
	if planned && isShort(v.result) {
		t.Short++
	}
	if v.idle {
		t.Idle++
	}
	if v.outcome.Status.Made() && v.outcome.Listed == nil && !v.status.Final() {
		t.Unfinished++
		t.Unknown.add(v.status, 1)
	}
}

// isShort reports whether a result leaves a line of a plan without an outcome.
func isShort(result Result) bool { return result == ResultNotAttempted || result == ResultInDoubt }

// revise counts each transfer that was revised under what it is now, once. A conflict, a failure or an unverified one of
// another run is counted as well.
func (t *tally) revise() {
	for refID, r := range t.Revised {
		if t.Restated[refID] {
			continue
		}
		if r.Before != "" {
			t.Unknown.add(r.Was, -1)
			t.Unknown.add(r.Is, 1)
		}
		switch isUnfinished := !r.Is.Final() && r.After != ResultConflict; {
		case r.wasMade() && !r.Was.Final() && !isUnfinished:
			t.Unfinished--
		case r.Before != "" && !r.wasMade() && isUnfinished:
			t.Unfinished++
		}
		if r.Before == ResultNotAttempted && !isShort(r.After) {
			t.Short--
		}
		if r.Idle {
			t.Idle--
		}
		if r.Before == r.After || r.Before == "" && r.After != ResultConflict && r.After != ResultFailed && r.After != ResultUnverified {
			continue
		}
		if r.Before != "" {
			t.remove(r.request, r.Before)
		}
		t.of(r.After).AddRequest(&r.request)
	}
	t.Revised, t.Restated = nil, nil
}

func (t *tally) remove(request transfer.Request, result Result) {
	if of := t.of(result); of.Count() > 1 {
		of.RemoveRequest(&request)
	} else {
		delete(t.Results, result)
	}
}

func (t *tally) merge(other tally) {
	for result, totals := range other.Results {
		t.of(result).Merge(*totals)
	}
	t.Count += other.Count
	t.Short += other.Short
	t.Idle += other.Idle
	t.Unfinished += other.Unfinished
	t.Unknown.merge(other.Unknown)
	maps.Copy(t.Restated, other.Restated)
	for refID, r := range other.Revised {
		if known, ok := t.Revised[refID]; !ok || known.Before == "" {
			t.Revised[refID] = r
		}
	}
}

// writtenTally is a tally in JSON: sums are exact.
type writtenTally struct {
	Count      int             `json:"count"`
	Short      int             `json:"short"`
	Idle       int             `json:"idle,omitempty"`
	Unfinished int             `json:"unfinished"`
	Unknown    Unknown         `json:"unknown_status,omitempty"`
	Results    []writtenTotals `json:"results"`

	Revised  []writtenRevision `json:"revised,omitempty"`
	Restated []string          `json:"restated,omitempty"`
}

type writtenRevision struct {
	Operation transfer.Operation    `json:"operation"`
	Body      string                `json:"body"` // of its request
	Before    Result                `json:"before,omitempty"`
	After     Result                `json:"after"`
	Was       transfer.RecordStatus `json:"was,omitempty"`
	Is        transfer.RecordStatus `json:"is,omitempty"`
	Idle      bool                  `json:"idle,omitempty"`
}

type writtenTotals struct {
	Result Result         `json:"result"`
	Hash   string         `json:"hash,omitempty"`
	Assets []writtenTotal `json:"assets"`
}

type writtenTotal struct {
	Asset string `json:"asset"`
	Count int    `json:"count"`
	Sum   string `json:"sum"`
}

func (t *tally) encode() []byte {
	w := writtenTally{Count: t.Count, Short: t.Short, Idle: t.Idle, Unfinished: t.Unfinished, Unknown: t.Unknown}
	for _, result := range slices.Sorted(maps.Keys(t.Results)) {
		totals := writtenTotals{Result: result}
		for total := range t.Results[result].All() {
			totals.Assets = append(totals.Assets, writtenTotal{total.Asset, total.Count, transfer.Digits(total.Sum)})
		}
		if hash, ok := t.Results[result].HashTotal(); ok {
			totals.Hash = transfer.Digits(hash)
		}
		w.Results = append(w.Results, totals)
	}
	for _, refID := range slices.Sorted(maps.Keys(t.Revised)) {
		r := t.Revised[refID]
		w.Revised = append(w.Revised, writtenRevision{r.request.Operation, string(r.request.Body()), r.Before, r.After, r.Was, r.Is, r.Idle})
	}
	w.Restated = slices.Sorted(maps.Keys(t.Restated))
	data, err := json.Marshal(w)
	if err != nil {
		panic(err) // nothing of it can't be written
	}
	return data
}

func decodeTally(data []byte) (tally, error) {
	t := newTally()
	if len(data) == 0 { // a runner that has done nothing
		return t, nil
	}
	var w writtenTally
	if err := json.Unmarshal(data, &w); err != nil {
		return t, fmt.Errorf("read what another runner did: %w", err)
	}
	for _, r := range w.Revised {
		request, err := transfer.ParseRequest(r.Operation, []byte(r.Body), "")
		if err != nil {
			return t, fmt.Errorf("read what another runner did: %w", err)
		}
		t.Revised[request.RefID] = revision{request, r.Before, r.After, r.Was, r.Is, r.Idle}
	}
	for _, refID := range w.Restated {
		t.Restated[refID] = true
	}
	t.Count, t.Short, t.Idle, t.Unfinished, t.Unknown = w.Count, w.Short, w.Idle, w.Unfinished, w.Unknown
	for _, totals := range w.Results {
		into := t.of(totals.Result)
		for _, asset := range totals.Assets {
			sum, err := decimal.NewFromString(asset.Sum)
			if err != nil {
				return t, fmt.Errorf("read what another runner did: %w", err)
			}
			into.AddTotal(transfer.Total{Asset: asset.Asset, Count: asset.Count, Sum: sum})
		}
		if hash, err := decimal.NewFromString(totals.Hash); err == nil {
			into.RestoreHash(hash)
		}
	}
	return t, nil
}

// tally returns the count so far, where so many lines of the plan are not settled.
func (r *report) tally(unsettled int) tally {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := newTally()
	for result, totals := range r.summary.Totals {
		t.of(result).Merge(*totals)
		t.Count += totals.Count()
	}
	t.Short, t.Idle, t.Unfinished = r.open-unsettled, r.summary.Idle, r.summary.Unfinished
	t.Unknown.merge(r.summary.Unknown)
	return t
}

// leaves reports whether an interrupt alone ended this runner: others may go on.
func (r *report) leaves(stopped string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.summary.Interrupted && r.summary.Stopped == interruptedText && stopped == ""
}

// addUp has the summary be about what all runners did.
func (r *report) addUp(whole tally, runners []state.Runner, stopped string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.summary.Stopped == "" {
		r.summary.Stopped = stopped
	}
	r.summary.Totals, r.summary.Runners = whole.Results, runners
	r.summary.Idle, r.summary.Unfinished, r.summary.Unknown = whole.Idle, whole.Unfinished, whole.Unknown
	r.open, r.counts = whole.Short, make(map[string]int)
	for result, totals := range whole.Results {
		r.counts[string(result)] = totals.Count()
	}
}

// pack compresses a plan, which repeats itself.
func pack(plan []byte) ([]byte, error) {
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestSpeed)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(plan); err != nil {
		return nil, err
	}
	err = w.Close()
	return packed.Bytes(), err
}

// Unpack reads a plan as a runner opened its run with it.
func Unpack(packed []byte) io.Reader { return flate.NewReader(bytes.NewReader(packed)) }
