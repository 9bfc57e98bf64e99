package state

import (
	"context"
	"errors"
	"time"

	"remit/internal/transfer"
)

// ErrNoRun says that there is no run in progress in which another runner could take part.
var ErrNoRun = errors.New("there is no run in progress")

// Joiner is a [Store] whose runs several runners can carry out together.
type Joiner interface {
	// Join takes part in the run in progress: holder is signed beside those who carry it out
	// already. It waits up to wait for the lock's holder to open the run, then returns a
	// *[LockedError]. It returns [ErrNoRun] where nobody holds the lock, or the run has ended.
	Join(ctx context.Context, holder Holder, wait time.Duration) (JoinedJournal, error)
}

// JoinedJournal is the journal of one of several runners, and its share of the run.
type JoinedJournal interface {
	Journal
	Share
	// RunID is the run that was joined.
	RunID() string
	// Plan returns the plan of the run as its first runner opened it; nil where that is in a file.
	Plan(ctx context.Context) ([]byte, error)
	// Rates are the rate limits with which the run was opened.
	Rates(ctx context.Context) (map[transfer.Operation]Rate, error)
}

// Share is what a runner does with others who carry out the same run. A [Journal] of a state
// that can be shared is one as well. Until Open the runner is alone.
//
// Each runner has a lease, which it renews while it lives. One whose lease ended, or whose session
// ended, is lost: from then on its Append and its Check return [ErrFenced], and others
// claim what it had. A transfer of which it had written an intent is in doubt there.
//
// Any error but those that are named says that the runner can't go on.
type Share interface {
	// Wanted reports whether another runner asks to take part, and can be let in.
	Wanted() bool

	// Open lets others take part in the run, which has begun.
	Open(ctx context.Context, o Opening) error

	// Claim claims the next part, or every part that is free, for this runner alone. Parts of
	// a level are free once those of all lower levels are done. Done says that every part is.
	Claim(ctx context.Context, all bool) (parts []Part, done bool, err error)

	// Done says that each line of the given parts, which this runner has claimed, is settled; there
	// may be none. The tally is kept beside those that it gave before. Settled is about all parts that
	// it has done.
	Done(ctx context.Context, parts []int, settled int, tally []byte) error

	// Stop has no runner start anything new. The first reason stays.
	Stop(ctx context.Context, reason string) error

	// Stopped is the reason of Stop, at most a second late; "" where there is none.
	Stopped() string

	// Reserve reserves starts of requests of an operation, at most wanted of them and at least
	// one, each to begin before the returned time has passed since the call; or it returns 0, and
	// how long there is none to be had. No window has more starts of all runners than the rate
	// allows that the run was opened with, or this one where it allows fewer.
	Reserve(ctx context.Context, operation transfer.Operation, rate Rate, wanted int) (starts int, within time.Duration, err error)

	// Runners are all that took part, in their order, and each tally that one of them gave.
	Runners(ctx context.Context) ([]Runner, [][]byte, error)

	// Alone is asked by a runner that means to leave: it reports whether every other one has left
	// or is lost. Then the run is closed, and one that asks to take part is too late. Where another
	// one goes on, this one has left: only Leave follows.
	Alone(ctx context.Context) (bool, error)

	// Leave gives back what this runner has claimed and has not done. It appends nothing more.
	Leave(ctx context.Context) error
}

// Opening is what a run is opened with.
type Opening struct {
	// Plan are the bytes of a saved plan, for those who have no file; nil where each has the file.
	Plan []byte
	// InHand are lines that the opener has begun, which make a part of their own, number 0. It is done where there are none.
	InHand []string
	Parts  []Part // numbered from 1
	// Rates is called once, when all else is written: the opener begins no request from then
	// on that it has not reserved, until Open returns.
	Rates func() map[transfer.Operation]Rate
	// Settled and Tally are of what the opener has settled.
	Settled int
	Tally   []byte
}

// Rate is a rate limit that runners share.
type Rate struct {
	Requests int
	Window   time.Duration
	Ages     []time.Duration // how long ago requests started that count
}

// Lateness is how long a request may be under way to the service, for a rate limit of a window: the
// service counts requests as they arrive, and senders have different clocks.
func Lateness(window time.Duration) time.Duration {
	return min(time.Second, max(50*time.Millisecond, window/10))
}

// Part is a piece of a run that one runner claims at once.
type Part struct {
	Number int
	Level  int      // what its lines depend on is in parts of lower levels
	RefIDs []string // of lines of the plan; a part without any is claimed and done like every other one
	Again  bool     // another runner had it before, and may have begun it
}

// Runner is one of those who carried out a run.
type Runner struct {
	Number  int    `json:"number"` // 1 began the run
	User    string `json:"user"`
	Host    string `json:"host"`
	PID     int    `json:"pid"`
	Settled int    `json:"settled"`        // transfers, of those parts of the run that it did whole
	Lost    bool   `json:"lost,omitempty"` // it died, or was stopped for longer than its lease
}
