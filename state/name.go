package state

import (
	"context"
	"errors"
	"iter"
)

// Name is a display name: what the author of a plan called the destination of a transfer when its
// request was written down. It is the author's word and part of no hash: names are data of persons,
// and [Erased] removes them without touching the journal.
type Name struct {
	Seq   int64 // of the intent with which it came: IntentSeq of the [Transfer], while that request is in force
	RefID string
	Text  string
}

// Contents are all that a state consists of, for a copy of it.
type Contents struct {
	Meta   Meta
	Events iter.Seq2[Event, error]
	Names  iter.Seq2[Name, error]
}

// ContentsOf are those of a snapshot, while it is open.
func ContentsOf(ctx context.Context, s Snapshot) Contents {
	return Contents{s.Meta(), s.Events(ctx, 0, ""), s.Names(ctx)}
}

// Scrubber is a [Journal] of a state whose files may keep bytes of removed names.
type Scrubber interface {
	// Scrub rewrites the files so that nothing of the names is left in them that an [Erased] of this
	// lock, or of an earlier one, removed. Nothing may be appended meanwhile. On an error wrapped around
	// [ErrBusy] somebody reads the state, and bytes may be left: it can be called again.
	Scrub(ctx context.Context) error
}

func (e Erased) check() error {
	if e.Names < 1 {
		return errors.New("it removes no name")
	}
	return named("reason", e.Reason)
}
