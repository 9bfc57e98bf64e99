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

// tally counts what became of transfers, as runners tell one another.
type tally struct {
	Results    map[Result]*transfer.Totals
	Count      int
	Short      int     // lines of the plan that have no outcome
	Idle       int     // in doubt or not attempted: another apply would not go on with them
	Unfinished int     // recorded, and neither COMPLETED nor FAILED
	Unknown    Unknown // of these
}

func newTally() tally { return tally{Results: make(map[Result]*transfer.Totals)} }

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

func (t *tally) remove(request transfer.Request, result Result) {
	t.Count--
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
}

// writtenTally is a tally in JSON: sums are exact.
type writtenTally struct {
	Count      int             `json:"count"`
	Short      int             `json:"short"`
	Idle       int             `json:"idle,omitempty"`
	Unfinished int             `json:"unfinished"`
	Unknown    Unknown         `json:"unknown_status,omitempty"`
	Results    []writtenTotals `json:"results"`
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

// tally is what was settled so far, where so many lines of the plan are not.
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
