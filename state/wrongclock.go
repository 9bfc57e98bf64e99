package state

import (
	"context"
	"fmt"
	"iter"
	"time"
)

// WrongClock is a time that some clock says and that can't be right.
type WrongClock struct {
	Seq   int64         `json:"seq,omitempty"`    // of the event that shows it; 0 for none
	RunID string        `json:"run_id,omitempty"` // of the run that shows it; "" for none
	At    time.Time     `json:"at"`               // what the clock said
	By    time.Duration `json:"-"`                // how far that is from what it is held against
	Words string        `json:"words"`            // the contradiction, as a sentence
}

// clockReader is what [WrongClocks] reads of a state; a [Snapshot] is one.
type clockReader interface {
	Meta() Meta
	Jumps(ctx context.Context) iter.Seq2[Jump, error]
	Runs(ctx context.Context) iter.Seq2[Run, error]
	Clocks(ctx context.Context) iter.Seq2[Event, error]
}

// WrongClocks names the times of a state that can't be right at the time now, of a machine whose
// clocks say here, the newest first, at most most of them: an event that is in the future or older
// than the one before it, this machine's clock or a run where the local clock and boottime disagree.
// With settled, those count too after which a [ClockConfirmed] says that all is right.
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
	if !settled {
		jump, isOne, err := Jumped(ctx, s, now, here)
		if err == nil && isOne && len(wrong) < most {
			wrong = append(wrong, jump)
		}
		return wrong, err
	}
	return appendWrongRuns(ctx, s, wrong, dated{at: now, clocks: here, words: thisClock}, most)
}

// appendWrongRuns holds the clocks of all runs against one another, the newest first, and those of the newest against later.
func appendWrongRuns(ctx context.Context, s clockReader, wrong []WrongClock, later dated, most int) ([]WrongClock, error) {
	for run, err := range s.Runs(ctx) {
		if err != nil {
			return nil, err
		}
		if len(wrong) >= most {
			break
		}
		if run.Ended != nil {
			end := dated{run.Begun.RunID, run.EndedAt, run.Ended.Clocks, "the end of run " + run.Begun.RunID}
			wrong = appendWrong(wrong, end, later)
			later = end
		}
		begin := beginOf(run)
		wrong = appendWrong(wrong, begin, later)
		later = begin
	}
	return wrong, nil
}

// ServerSkewMax is how far a right clock may be from that of the server that keeps the state.
const ServerSkewMax = 5 * time.Minute

// FromServer says in words how the clock of this machine differs from that of the server that keeps
// the state, and how far ahead of it that is. It reports false where the two agree.
func FromServer(now, server time.Time) (words string, ahead time.Duration, isFar bool) {
	ahead = now.Round(0).Sub(server.Round(0))
	order := "ahead of"
	if ahead < 0 {
		order = "behind"
	}
	words = fmt.Sprintf("clock of this machine says %s, %s %s that of the PostgreSQL server", inUTC(now), ahead.Abs().Round(time.Second), order)
	return words, ahead, ahead.Abs() > ServerSkewMax
}

// WrongServerClock compares the clock of this machine with that of the server that keeps the state.
// Nothing in the journal settles it: it is right when both clocks are. It reports false where no server
// keeps the state.
func WrongServerClock(ctx context.Context, s Snapshot, now func() time.Time) (wrong WrongClock, isOne bool, err error) {
	kept, ok := s.(Timekeeper)
	if !ok {
		return WrongClock{}, false, nil
	}
	server, err := kept.ServerTime(ctx)
	if err != nil {
		return WrongClock{}, false, err
	}
	local := now()
	words, ahead, isFar := FromServer(local, server)
	return WrongClock{At: local, By: ahead, Words: "The " + words + ": one of the two is wrong. Set it right: what is due follows the clock of this machine."}, isFar, nil
}

// Jumped says how the clock of this machine jumped since it was last taken for right in this boot: when a
// run began, or when a [ClockConfirmed] said so. Its progress and that of boottime are then more than [JumpMin]
// apart. The clock at the end of a run is no evidence: nothing was held against it.
func Jumped(ctx context.Context, s clockReader, now time.Time, here Clocks) (jump WrongClock, isOne bool, err error) {
	if here.Boot == "" {
		return WrongClock{}, false, nil
	}
	var right dated
	consider := func(d dated) (isOfBoot bool) {
		isOfBoot = d.clocks.Boot == here.Boot
		if isOfBoot && (right.words == "" || d.clocks.BootMS > right.clocks.BootMS) {
			right = d
		}
		return isOfBoot
	}
	for run, err := range s.Runs(ctx) {
		if err != nil {
			return WrongClock{}, false, err
		}
		if consider(beginOf(run)) {
			break // the newest come first
		}
	}
	for event, err := range s.Clocks(ctx) {
		if err != nil {
			return WrongClock{}, false, err
		}
		entry, err := event.Entry()
		if err != nil {
			return WrongClock{}, false, err
		}
		if consider(dated{at: event.Time, clocks: entry.(ClockConfirmed).Clocks, words: fmt.Sprintf("event %d", event.Seq)}) {
			break
		}
	}
	wrong := appendWrong(nil, right, dated{at: now, clocks: here, words: thisClock})
	if len(wrong) == 0 {
		return WrongClock{}, false, nil
	}
	return wrong[0], true, nil
}

// dated is a moment by several clocks.
type dated struct {
	runID  string
	at     time.Time
	clocks Clocks
	words  string // "the begin of run …"
}

const thisClock = "the clock of this machine"

func beginOf(run Run) dated {
	return dated{run.Begun.RunID, run.BegunAt, run.Begun.Clocks, "the begin of run " + run.Begun.RunID}
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
	verb := "is of"
	if later.words == thisClock {
		verb = "says"
	}
	return append(wrong, WrongClock{RunID: later.runID, At: later.at, By: by, Words: fmt.Sprintf(
		"T%s %s %s: by the time since the machine booted it is %s after %s of %s, which the clock has as %s.",
		later.words[1:], verb, inUTC(later.at), passed.Round(time.Second), earlier.words, inUTC(earlier.at), (by + passed).Round(time.Second))})
}

func inUTC(t time.Time) string { return t.UTC().Format(time.RFC3339) }
