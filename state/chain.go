package state

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"iter"

	json "github.com/go-json-experiment/json/v1" // reads as encoding/json does, and a time with escapes in it as well, in half the time
)

// The domains keep these hashes from being those of anything else.
const (
	eventDomain = "remit-event/2"
	chainDomain = "remit-chain/2"
)

// EventDigest stands for an event without its place in a chain. Its reader can go on with the chain
// without seeing the event: that is how evidence of one run reaches the newest hash of a journal
// and shows nothing of other runs.
type EventDigest [sha256.Size]byte

// String is the digest in hexadecimal.
func (d EventDigest) String() string { return hex.EncodeToString(d[:]) }

// Digest returns the SHA-256 of these fields of e, each preceded by its length in bytes as
// eight bytes, big-endian:
//
//	"remit-event/2", Seq, Time, Kind, RefID, RunID, Data
//
// Seq and Time (milliseconds since 1970) are eight bytes each, big-endian. The field Hash is
// not read.
func (e Event) Digest() EventDigest {
	h := sha256.New()
	buf := make([]byte, 0, 256)
	buf = appendSized(buf, eventDomain)
	buf = appendNumber(buf, e.Seq)
	buf = appendNumber(buf, e.Time.UnixMilli())
	buf = appendSized(buf, string(e.Kind))
	buf = appendSized(buf, e.RefID)
	buf = appendSized(buf, e.RunID)
	buf = binary.BigEndian.AppendUint64(buf, uint64(len(e.Data)))
	h.Write(buf)
	h.Write(e.Data)
	return EventDigest(h.Sum(buf[:0]))
}

// Follow returns the hash of an event with this digest after one with the hash previous, ""
// for the first: the hexadecimal SHA-256 of these fields, written as those of [Event.Digest]:
//
//	"remit-chain/2", previous, the digest's 32 bytes
func (d EventDigest) Follow(previous string) string {
	buf := make([]byte, 0, 160)
	buf = appendSized(buf, chainDomain)
	buf = appendSized(buf, previous)
	buf = binary.BigEndian.AppendUint64(buf, uint64(len(d)))
	sum := sha256.Sum256(append(buf, d[:]...))
	return hex.EncodeToString(sum[:])
}

// Chain returns the hash that e must have after an event with the hash previous, "" for the
// first.
func (e Event) Chain(previous string) string { return e.Digest().Follow(previous) }

func appendSized(b []byte, field string) []byte {
	return append(binary.BigEndian.AppendUint64(b, uint64(len(field))), field...)
}

func appendNumber(b []byte, n int64) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(b, 8), uint64(n))
}

// Verify reads a whole journal, from its first event, and returns a *[ChainError] that
// names the first event that was changed, removed, added or moved, or whose payload is not
// what its fields say. With head, a hash that was kept elsewhere, one of the events must
// have it, or the error is a *[HeadError]: a chain that was cut off before it, or written
// anew, is then found too. Without head the end of the journal is unproven. It returns an error of events as it is.
func Verify(events iter.Seq2[Event, error], head string) error {
	return VerifyEach(events, head, func(Event, Entry) {})
}

// VerifyEach is [Verify] that hands on each event that holds, with its payload.
func VerifyEach(events iter.Seq2[Event, error], head string, each func(Event, Entry)) error {
	var last Event
	seen := head == ""
	for e, err := range events {
		if err != nil {
			return err
		}
		entry, reason := entryBetween(last, e)
		if reason != "" {
			return &ChainError{Seq: last.Seq + 1, Reason: reason}
		}
		each(e, entry)
		seen = seen || e.Hash == head
		last = e
	}
	if last.Seq == 0 {
		return &ChainError{Seq: 1, Reason: "the journal is empty"}
	}
	if !seen {
		return &HeadError{Head: head, Events: last.Seq}
	}
	return nil
}

// entryBetween is the payload of e, or says why e can't be the event after last.
func entryBetween(last, e Event) (entry Entry, reason string) {
	switch {
	case e.Seq != last.Seq+1:
		return nil, fmt.Sprintf("event %d follows event %d", e.Seq, last.Seq)
	case (e.Seq == 1) != (e.Kind == KindCreated):
		return nil, fmt.Sprintf("is of kind %q; the first event, and no other, is %q", e.Kind, KindCreated)
	case e.Hash != e.Chain(last.Hash):
		return nil, "its hash is not that of its content after the event before it"
	}
	entry, err := e.Entry()
	if err != nil {
		return nil, err.Error()
	}
	if refID, runID := entry.Subject(); refID != e.RefID || runID != e.RunID {
		return nil, "its payload is of another ref_id or run"
	}
	return entry, ""
}

// Entry decodes the payload.
func (e Event) Entry() (Entry, error) {
	if entry, ok := decodePlain(e); ok {
		return entry, nil
	}
	switch e.Kind {
	case KindCreated:
		return decode[Created](e)
	case KindBegun:
		return decode[Begun](e)
	case KindIntent:
		return decode[Intent](e)
	case KindOutcome:
		return decode[Outcome](e)
	case KindEnded:
		return decode[Ended](e)
	case KindUnlocked:
		return decode[Unlocked](e)
	case KindRebound:
		return decode[Rebound](e)
	case KindClock:
		return decode[ClockConfirmed](e)
	case KindAsked:
		return decode[Asked](e)
	case KindErased:
		return decode[Erased](e)
	}
	return nil, fmt.Errorf("read event %d: unknown kind %q", e.Seq, e.Kind)
}

func decode[E Entry](e Event) (Entry, error) {
	var entry E
	if err := json.Unmarshal(e.Data, &entry); err != nil {
		return nil, fmt.Errorf("read event %d of kind %q: %w", e.Seq, e.Kind, err)
	}
	return entry, nil
}
