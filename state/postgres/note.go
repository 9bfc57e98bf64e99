package postgres

import (
	"context"
	"encoding/hex"
	"errors"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"remit/state"
	"remit/state/storage"
)

// NotePath is the file in the directory notes that says which event of a lineage was durable last, as far as this user of
// this machine has seen; "" where there is none.
func NotePath(notes, lineage string) string {
	if notes == "" || uuid.Validate(lineage) != nil {
		return ""
	}
	return storage.LineageNote(notes, lineage)
}

func (s *Store) notePath(lineage string) string { return NotePath(s.notes, lineage) }

// noted reads the notes of a lineage: that of the newest event, and that of a copy, such as the file from which the state was moved, which
// lacked it and paid.
func (s *Store) noted(lineage string) []storage.Noted {
	path := s.notePath(lineage)
	if path == "" {
		return nil
	}
	return []storage.Noted{storage.ReadNote(path), storage.ReadNote(path + storage.BranchSuffix)}
}

// lacksAny returns the number of the newest event of notes that the state does not have; 0 where it has all.
func lacksAny(ctx context.Context, q querier, notes []storage.Noted, tip storage.Tip) (missing int64, err error) {
	for _, n := range notes {
		seq, err := lacks(ctx, q, n, tip)
		if err != nil {
			return 0, err
		}
		missing = max(missing, seq)
	}
	return missing, nil
}

// lacks returns the number of the noted event, where the state does not have it; 0 where it has.
func lacks(ctx context.Context, q querier, n storage.Noted, tip storage.Tip) (int64, error) {
	return n.Lacks(tip, func(seq int64) (string, error) {
		var hash []byte
		err := q.QueryRow(ctx, `SELECT hash FROM events WHERE seq = $1`, seq).Scan(&hash)
		if errors.Is(err, pgx.ErrNoRows) {
			err = nil
		}
		return hex.EncodeToString(hash), err
	})
}

// noteFrom notes that an event is durable, and has each commit note its own from then on. A complete state needs no
// note, so nothing fails where none can be written: the journal says so.
func (j *journal) noteFrom(tip storage.Tip) {
	if path := j.store.notePath(tip.Lineage); path != "" && j.note.Load() == nil {
		file := storage.OpenSeen(path, tip.Lineage, true, &j.unnoted)
		if file == nil {
			return
		}
		j.note.Store(file)
	}
	j.note.Load().Write(tip.Serial, tip.Head)
}

// Unnoted implements [state.Noting].
func (j *journal) Unnoted() []state.Unnoted { return j.unnoted.Unnoted() }
