// Package executor carries a plan out.
//
// Its one invariant: a run writes a transfer down before it sends it, and sends the bytes that it
// wrote down (laws 1 and 2). There is one way to that, and attempt.go has it from top to
// bottom: an intent, a request, an answer, an outcome. pipeline.go takes attempts through it,
// scheduler.go decides which start when, and shared.go shares a run between runners.
package executor

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"remit/executor/ratelimit"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// Submitter sends requests to the service. Implementations classify answers and decide nothing
// about the state.
type Submitter interface {
	// Ready gets a token, before any intent is written. It returns the Date of the token's
	// answer, or the zero time where it has none.
	Ready(ctx context.Context) (time.Time, error)

	// Submit sends body to path once. It never writes a body that it has not begun to write after
	// [StartMax]. After a 401 it has a renewed token before it answers [TokenRefused]. It returns
	// an answer in every case; ctx ending is a timeout.
	Submit(ctx context.Context, path string, body []byte) Answer
}

// StartMax is how long after the call of Submit a request may begin to be written. The lock
// was checked up to a second before the call, and a request that starts more than 5 s after
// its check would have to check again (ADR 5).
const StartMax = lockCheckMax - checkAgeMax

const (
	// lockCheckMax is how old the check of the lock may be when a request begins to be
	// written (ADR 5), and checkAgeMax when it is handed to the Submitter.
	lockCheckMax = 5 * time.Second
	checkAgeMax  = time.Second
)

// FindMax is how many ref_ids one lookup may ask for (docs/contract.md).
const FindMax = 100

// Finder looks transfers up by ref_id.
type Finder interface {
	// Find returns the records of the given ref_ids, at most [FindMax], by ref_id: none, one
	// or both sides of each. Where records of some can't be read, the error wraps an
	// *[UnreadableError] that names these, and the records of the others hold. Any
	// other error says nothing about any ref_id.
	Find(ctx context.Context, refIDs []string) (map[string][]transfer.Record, error)
}

// UnreadableError says that a lookup found something of these ref_ids that can't be read, or
// may have: none of them is absent.
type UnreadableError struct {
	Reasons map[string]string // in words, by ref_id; at least one
}

// Error names one of them.
func (e *UnreadableError) Error() string {
	refID := slices.Min(slices.Collect(maps.Keys(e.Reasons)))
	text := fmt.Sprintf("the record of %q cannot be read: %s", refID, e.Reasons[refID])
	if others := len(e.Reasons) - 1; others > 0 {
		text += fmt.Sprintf(" (and so for %d more)", others)
	}
	return text
}

// Answer is how an attempt ended: a row of the table in docs/states.md, What an answer means.
type Answer struct {
	Kind       AnswerKind
	Record     *transfer.Record // of Answered; of Exists where the answer carries it; with AnsweredAt
	HTTPStatus int              // 0 where no answer was read
	Problem    json.RawMessage  // RFC 9457 as it came, or a JSON string of at most 2 KiB
	RetryAfter time.Duration    // of NotProcessed, 0 where the service did not say; of Unclear where requests may come too fast
	TokenUse   TokenUse         // of TokenRefused
	Stop       bool             // nothing new may start after it
	Reason     string           // in words, for a person
}

// AnswerKind is what an answer means for its own attempt.
type AnswerKind uint8

// The kinds of answers.
const (
	Answered     AnswerKind = iota + 1 // a readable record: to be compared
	Unclear                            // it may or may not have been made: in doubt
	Exists                             // 409, already-exists, or a refusal that carries a record: the ref_id is known
	Unwritten                          // provably nothing was written
	NotProcessed                       // 425, 429: not made, come back later
	TokenRefused                       // 401: not made; there is another token now
	Rejected                           // a definite no
)

// TokenUse is for what else a service had taken a token that it refuses.
type TokenUse uint8

// The uses of a token.
const (
	TokenUnused      TokenUse = iota // for nothing that is known
	TokenPerhapsUsed                 // for something else than a request of this path, or a request that has it is not answered yet
	TokenUsed                        // for another request of this path
)

// Journal is where a run writes down what it does; a [state.Journal] is one. Its contract
// is that type's.
type Journal interface {
	Snapshot(ctx context.Context) (state.Snapshot, error)
	Append(ctx context.Context, entries ...state.Entry) error
	Check(ctx context.Context) error
}

// Handler is told the events, in order, one at a time. It must return quickly.
type Handler interface {
	Handle(Event)
}

// Settings say how a run behaves: the arguments of the service block that an executor needs.
type Settings struct {
	Operator       transfer.Operator
	FingerprintKey string
	ReplayWindow   time.Duration
	HoldDoubt      bool // never send a doubt again
	LookUpFirst    bool // look every ref_id up before its first request
	InFlightMax    int
	RequestTimeout time.Duration
	RateLimits     map[transfer.Operation]ratelimit.Limit
	StopOnRefusal  bool
	LeaveRefused   bool          // submit nothing again that an earlier run was refused
	Wait           time.Duration // how long PENDING dependencies are polled
	WaitFinal      bool          // and all that the run recorded, after the last request
}

// NextRefused is the command that submits again what [Settings.LeaveRefused] left.
const NextRefused = "remit apply --auto-approve --retry-refused"

// Clock is time, so that tests need not wait for it.
type Clock interface {
	// Now is what the machine's clock says, which anyone may have set.
	Now() time.Time
	// Sleep returns early, with the context's error, when ctx ends.
	Sleep(ctx context.Context, d time.Duration) error
	// Boot is how long the machine is up, which nobody can set.
	Boot() Boot
}

// Boot is a reading of a clock that begins with the boot of the machine and goes on while that
// sleeps. It is zero where the system has none.
type Boot struct {
	ID      string        // of the boot: no other boot of any machine has it
	Machine string        // digest of the machine's ID and its host's name
	Up      time.Duration // since the boot
}

// Run is everything that Apply needs.
type Run struct {
	Plan      *planner.Plan
	Saved     bool          // the plan came from a file: of doubts, only its own lines are sent again
	Whole     *planner.Plan // of which an earlier run of this command did a part, and Plan is the rest; nil elsewhere
	Begun     state.Begun
	Journal   Journal
	Share     state.Share // with other runners of this run; nil where there can't be any
	Submitter Submitter
	Finder    Finder // nil where the service has no lookup
	Handler   Handler
	Settings  Settings
	Clock     Clock
	Random    func() float64 // in [0, 1), for jitter; called by one goroutine at a time

	// Prepare is called when there is a token and the clocks agree, before the run is in the journal,
	// and may add to what the journal has of it. Its error keeps the run from beginning. A runner that
	// joins a run does not call it. Nil does nothing.
	Prepare func(ctx context.Context, begun *state.Begun) error
}

// isFinished reports whether the run finishes a plan as it was reviewed, with its own bytes.
func (r *Run) isFinished() bool { return r.Saved || r.Whole != nil }
