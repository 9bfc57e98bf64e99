package state

import (
	"fmt"
	"slices"
)

// statuses are in the order of docs/states.md, which is that of their numbers.
var statuses = [...]Status{Unsent, InDoubt, Recorded, Adopted, Unverified, Refused, Conflict, Tombstone}

// Statuses lists every status, in the order of docs/states.md.
func Statuses() []Status { return slices.Clone(statuses[:]) }

// StatusOf returns the status that a store wrote as a number; false where there is none of that number.
func StatusOf(number int64) (Status, bool) {
	if number < 1 || number > int64(len(statuses)) {
		return 0, false
	}
	return statuses[number-1], true
}

// String returns the word that people read: "in doubt".
func (s Status) String() string {
	switch s {
	case Unsent:
		return "unsent"
	case InDoubt:
		return "in doubt"
	case Recorded:
		return "recorded"
	case Adopted:
		return "adopted"
	case Unverified:
		return "unverified"
	case Refused:
		return "refused"
	case Conflict:
		return "conflict"
	case Tombstone:
		return "tombstone"
	}
	return fmt.Sprintf("status %d", uint8(s))
}

// MarshalText returns the word that programs read: "in_doubt".
func (s Status) MarshalText() ([]byte, error) {
	if s == InDoubt {
		return []byte("in_doubt"), nil
	}
	return []byte(s.String()), nil
}

// UnmarshalText reads what MarshalText returned.
func (s *Status) UnmarshalText(text []byte) error {
	for _, known := range Statuses() {
		if word, _ := known.MarshalText(); string(word) == string(text) {
			*s = known
			return nil
		}
	}
	return fmt.Errorf("unknown status %q", text)
}

// Made reports whether the service's record of the transfer is stored and agrees, or a list or a
// person says in its place that the transfer was made: see [Transfer.IsListed].
func (s Status) Made() bool { return s == Recorded || s == Adopted || s == Unverified }

// MayBeMade reports whether the service made the transfer or may have made it: what a
// look-alike is compared with.
func (s Status) MayBeMade() bool { return s.Made() || s == InDoubt || s == Conflict }
