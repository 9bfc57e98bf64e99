package state

import (
	"context"
	"fmt"
	"iter"
	"time"
)

// WrongClock is a time that some clock says and that can't be right.
type WrongClock struct {
	Seq   int64         `json:"seq,omitempty"`    // of the event that shows it; 0 where a run does
	RunID string        `json:"run_id,omitempty"` // of the run that shows it; "" where an event does
	At    time.Time     `json:"at"`               // what the clock said
	By    time.Duration `json:"-"`                // how far that is from what it is held against
	Words string        `json:"words"`            // what is wrong, as a sentence
}

// clockReader is what [WrongClocks] reads of a state; a [Snapshot] is one.
type clockReader interface {
	Meta() Meta
	Jumps(ctx context.Context) iter.Seq2[Jump, error]
	Runs(ctx context.Context) iter.Seq2[Run, error]
}

// WrongClocks names the times of a state that can't be right at the time now, of a machine whose
// clocks say here, the newest first, at most most of them: an event that is in the future or older
// than the one before it, a run whose local clock and boottime disagree. With settled, those count
// too after which a [Clock] says that all is right.
func WrongClocks(ctx context.Context, s clockReader, now time.Time, here Clocks, settled bool, most int) ([]WrongClock, error) {
	var wrong []WrongClock
	if meta := s.Meta(); meta.At.Sub(now) > JumpMin {
		by := meta.At.Sub(now)
		wrong = append(wrong, WrongClock{Seq: meta.Serial, At: meta.At, By: by, Words: fmt.Sprintf(
			"Event %d, the newest, is of %s: %s in the future by the clock of this machine.", meta.Serial, inUTC(meta.At), by.Round(time.Second))})
	}
	for jump, err := range s.Jumps(ctx) {
		if err != nil {
			return nil, err
		}
		if len(wrong) >= most || jump.Settled && !settled {
			break // the newest come first
		}
		wrong = append(wrong, WrongClock{Seq: jump.Seq, At: jump.At, By: jump.Back, Words: fmt.Sprintf(
			"Event %d (%s) is of %s: %s earlier than the event before it.", jump.Seq, jump.Kind, inUTC(jump.At), jump.Back.Round(time.Second))})
	}
	later := dated{at: now, clocks: here, words: "The clock of this machine"}
	for run, err := range s.Runs(ctx) {
		if err != nil {
			return nil, err
		}
		if len(wrong) >= most {
			break
		}
		if run.Ended != nil {
			end := dated{run.Begun.RunID, run.EndedAt, run.Ended.Clocks, fmt.Sprintf("The end of run %s", run.Begun.RunID)}
			wrong = appendWrong(wrong, end, later)
			later = end
		}
		begin := dated{run.Begun.RunID, run.BegunAt, run.Begun.Clocks, fmt.Sprintf("The begin of run %s", run.Begun.RunID)}
		wrong = appendWrong(wrong, begin, later)
		if later = begin; !settled {
			break // of older ones the newest run has made the best
		}
	}
	return wrong, nil
}

// dated is a moment by several clocks.
type dated struct {
	runID  string
	at     time.Time
	clocks Clocks
	words  string
}

// appendWrong adds what the boottime of one machine says against its local clock between two moments.
func appendWrong(wrong []WrongClock, earlier, later dated) []WrongClock {
	if earlier.clocks.Boot == "" || earlier.clocks.Boot != later.clocks.Boot {
		return wrong
	}
	passed := later.clocks.SinceBoot() - earlier.clocks.SinceBoot()
	by := later.at.Round(0).Sub(earlier.at.Round(0)) - passed
	if by.Abs() <= JumpMin {
		return wrong
	}
	return append(wrong, WrongClock{RunID: later.runID, At: later.at, By: by, Words: fmt.Sprintf(
		"%s is of %s: by the time since the machine booted it is %s after %s of %s, which the clock has as %s.",
		later.words, inUTC(later.at), passed.Round(time.Second), lowerFirst(earlier.words), inUTC(earlier.at), (by + passed).Round(time.Second))})
}

func inUTC(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func lowerFirst(text string) string { return "t" + text[1:] }
