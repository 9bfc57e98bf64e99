package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"remit/state"
	"remit/state/storage"
)

// Details implements [state.Snapshot].
func (s *snapshot) Details(ctx context.Context, refIDs ...string) ([]state.Detail, error) {
	details := make([]state.Detail, 0, len(refIDs))
	for part := range slices.Chunk(refIDs, chunk) {
		known, err := s.find(ctx, part)
		if err != nil {
			return nil, err
		}
		more, err := s.DetailsOf(ctx, storage.InOrder(part, known))
		if err != nil {
			return nil, err
		}
		details = append(details, more...)
	}
	return details, nil
}

// DetailsOf implements [state.Detailer].
func (s *snapshot) DetailsOf(ctx context.Context, rows []state.Transfer) ([]state.Detail, error) {
	details := make([]state.Detail, 0, len(rows))
	for part := range slices.Chunk(rows, chunk) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		events, err := eventsAt(ctx, s.conn, storage.NamedEvents(part))
		if err != nil {
			return nil, err
		}
		more, err := storage.Details(part, events)
		if err != nil {
			return nil, err
		}
		if err := s.nameDetails(ctx, more); err != nil {
			return nil, err
		}
		details = append(details, more...)
	}
	return details, nil
}

// find returns the newest rows of the given ref_ids, without those that are unknown.
func (s *snapshot) find(ctx context.Context, refIDs []string) (map[string]storage.Row, error) {
	tail, err := s.overlay(ctx)
	if err != nil {
		return nil, err
	}
	found := make(map[string]storage.Row, len(refIDs))
	var missing []string
	for _, refID := range refIDs {
		if r, ok := tail.Rows[refID]; ok {
			found[refID] = *r
		} else {
			missing = append(missing, refID)
		}
	}
	if err := loadRows(ctx, s.conn, missing, func(r storage.Row) { found[r.RefID] = r }); err != nil {
		return nil, err
	}
	for _, r := range found {
		if err := r.CheckIn(s.head.Serial); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// eventsAt returns the number, the kind, the ref_id and the payload of events, without those that are not there. SQLite packs
// them into one text, as it does rows: see packed. Events that can't be packed, as those of a gigabyte, are read one by one.
func eventsAt(ctx context.Context, conn *sql.Conn, seqs []int64) (map[int64]*state.Event, error) {
	list, err := json.Marshal(seqs)
	if err != nil {
		panic(err) // a list of numbers
	}
	const at = ` FROM events WHERE seq IN (SELECT value FROM json_each(?))`
	var count int
	var text sql.NullString
	// See query for why the statement itself is not interrupted.
	row := conn.QueryRowContext(context.WithoutCancel(ctx), `SELECT count(*), group_concat(concat_ws(x'1f', seq, kind, ref_id, data), x'1f')`+at, string(list))
	if row.Scan(&count, &text) == nil {
		if events, ok := unpackEvents(count, text.String); ok {
			return events, nil
		}
	}
	events := make(map[int64]*state.Event, len(seqs))
	err = query(ctx, conn, func(rows *sql.Rows) error {
		e := new(state.Event)
		var data []byte
		if err := rows.Scan(&e.Seq, &e.Kind, &e.RefID, &data); err != nil {
			return fmt.Errorf("read an event: %w", err)
		}
		e.Data = data
		events[e.Seq] = e
		return nil
	}, `SELECT seq, kind, ref_id, data`+at, string(list))
	return events, err
}

// unpackEvents returns false where the text is not exactly that of so many events.
func unpackEvents(count int, text string) (map[int64]*state.Event, bool) {
	events := make(map[int64]*state.Event, count)
	all := make([]state.Event, count)
	f := fields{text: text}
	for i := range all {
		e := &all[i]
		seq, err := strconv.ParseInt(f.next(packedSep), 10, 64)
		if err != nil || f.over {
			return nil, false
		}
		e.Seq, e.Kind, e.RefID = seq, state.Kind(f.next(packedSep)), f.next(packedSep)
		e.Data = json.RawMessage(f.next(packedSep))
		events[seq] = e
	}
	return events, count == 0 && text == "" || f.ended()
}
