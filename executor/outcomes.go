package executor

import (
	"fmt"
	"slices"

	"remit/internal/doubt"
	"remit/state"
)

// finding is what a lookup says of one transfer.
type finding struct {
	verdict verdict
	settled bool          // verdict is final
	lead    []state.Entry // to be written before its outcome
	undue   doubt.Hold    // why it must not be sent (again) although it is not settled; nothing where it was absent
	unread  string        // why what is listed can't be read, where undue is that
}

// outcomeWriter makes outcomes durable.
type outcomeWriter struct {
	journal *journalWriter
	life    *lifetime
}

// write makes an outcome durable, after the entries that lead to it. If the record belongs to another
// transfer, so that the state refuses it, the outcome is a conflict; if the group_id does, it is
// unverified. If the journal fails, the transfer is in doubt, as the state has it: an intent without
// an outcome.
func (w *outcomeWriter) write(v verdict, lead ...state.Entry) verdict {
	err := w.journal.append(slices.Concat(lead, []state.Entry{v.outcome})...)
	if against, ok := w.journal.contradiction(err, v); ok {
		v = against
		w.stopBefore(v)
		err = w.journal.append(slices.Concat(lead, []state.Entry{v.outcome})...)
	}
	if err != nil {
		w.life.halt(fmt.Sprintf("the outcome of %q could not be written: %v", v.outcome.RefID, err))
		v.outcome.Reason = fmt.Sprintf("Its outcome, %v, could not be written: %v.", v.outcome.Status, err)
		v.outcome.Status, v.result, v.next, v.written = state.InDoubt, ResultInDoubt, "remit apply", false
		return v
	}
	v.written = true
	return v
}

// stopBefore halts the run where a verdict stops it, before its outcome is written: a runner that dies in between has told the
// others of the stop, and of nothing that they could not find out.
func (w *outcomeWriter) stopBefore(v verdict) {
	if v.stop != "" {
		<-w.life.halt(v.stop)
	}
}

// writeAll makes settled findings durable: all at once, or one by one if one of them contradicts
// the state.
func (w *outcomeWriter) writeAll(findings []finding) {
	var entries []state.Entry
	for _, f := range findings {
		if f.settled {
			w.stopBefore(f.verdict)
			entries = append(append(entries, f.lead...), f.verdict.outcome)
		}
	}
	if len(entries) == 0 {
		return
	}
	together := w.journal.append(entries...) == nil
	for i := range findings {
		f := &findings[i]
		switch {
		case !f.settled:
			continue
		case together:
			f.verdict.written = true
		default:
			f.verdict = w.write(f.verdict, f.lead...)
		}
	}
}
