package executor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"remit/internal/transfer"
)

const (
	findTimeout   = 2 * time.Minute // of one lookup, its own retries included
	precheckTries = 3               // of a lookup before a first sending: without it nothing may be sent
)

// lookups asks the service for records by ref_id.
type lookups struct {
	finder Finder // nil where the service has no lookup
	clock  Clock
	life   *lifetime
}

// lookup is the answer to a lookup.
type lookup struct {
	records    map[string][]transfer.Record // none of an absent or unreadable one
	unreadable map[string]string            // why, by ref_id
}

// possible reports whether the service has a lookup.
func (l *lookups) possible() bool { return l.finder != nil }

// find looks up at most 100 ref_ids. An error says nothing about any of them.
func (l *lookups) find(ctx context.Context, refIDs ...string) (lookup, error) {
	ctx, cancel := l.life.bounded(ctx, findTimeout)
	defer cancel()
	found, err := l.finder.Find(ctx, refIDs)
	unreadable, ok := errors.AsType[*UnreadableError](err)
	if !ok {
		return lookup{records: found}, err
	}
	for refID := range unreadable.Reasons {
		delete(found, refID)
	}
	return lookup{found, unreadable.Reasons}, nil
}

// findPatiently tries a lookup a few times.
func (l *lookups) findPatiently(refIDs []string) (lookup, error) {
	for try := 1; ; try++ {
		found, err := l.find(l.life.starting, refIDs...)
		if err == nil || try == precheckTries {
			return found, err
		}
		if l.clock.Sleep(l.life.starting, time.Duration(try)*time.Second) != nil {
			return lookup{}, err
		}
	}
}

// lateLists returns the pauses after which a run asks again for an absent ref_id:
// lists lag (docs/states.md, How a doubt ends).
func lateLists() []time.Duration {
	return []time.Duration{time.Second, 2 * time.Second, 5 * time.Second, 15 * time.Second}
}

// unread returns the sentence about a record that a lookup found, or may have found.
func unread(why string) string {
	return fmt.Sprintf("The service lists a record that cannot be read: %s.", why)
}
