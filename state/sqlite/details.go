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
		if err := ctx.Err(); err != nil { // none that is known is an answer, and not that
			return nil, err
		}
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

// packedEventsMax is how many events are packed into one text: each may be as long as an answer of the service, of a megabyte.
const packedEventsMax = 128

// eventsAt returns the number, the kind, the ref_id and the payload of events, without those that are not there. SQLite packs
// them into texts, as it does rows: see packed. Those that it can't pack are read one by one, and so are those of a text that was not
// exactly theirs: an error of the first way is one of the second.
func eventsAt(ctx context.Context, conn *sql.Conn, seqs []int64) (map[int64]*state.Event, error) {
	events := make(map[int64]*state.Event, len(seqs))
	for part := range slices.Chunk(seqs, packedEventsMax) {
		list, err := json.Marshal(part)
		if err != nil {
			panic(err) // a list of numbers
		}
		if packedEventsAt(ctx, conn, string(list), events) {
			continue
		}
		err = query(ctx, conn, func(rows *sql.Rows) error {
			e := new(state.Event)
			var data []byte
			if err := rows.Scan(&e.Seq, &e.Kind, &e.RefID, &data); err != nil {
				return fmt.Errorf("read an event: %w", err)
			}
			e.Data = data
			events[e.Seq] = e
			return nil
		}, `SELECT seq, kind, ref_id, data`+eventsListed, string(list))
		if err != nil {
			return nil, err
		}
	}
	return events, nil
}

const eventsListed = ` FROM events WHERE seq IN (SELECT value FROM json_each(?))`

// packedEventsAt puts events of a list of numbers into events; false where it could not. Each is four fields, without NULLs, which
// concat_ws would leave out.
func packedEventsAt(ctx context.Context, conn *sql.Conn, list string, events map[int64]*state.Event) bool {
	var count, texts int
	var text sql.NullString
	// See query for why the statement itself is not interrupted.
	row := conn.QueryRowContext(context.WithoutCancel(ctx), `SELECT count(*), count(kind) + count(ref_id) + count(data),
		group_concat(concat_ws(x'1f', seq, kind, ref_id, data), x'1f')`+eventsListed, list)
	return row.Scan(&count, &texts, &text) == nil && texts == 3*count && unpackEvents(count, text.String, events)
}

// unpackEvents puts so many events into events. It returns false, and puts none, where the text is not exactly theirs.
func unpackEvents(count int, text string, events map[int64]*state.Event) bool {
	all := make([]state.Event, count)
	f := fields{text: text}
	for i := range all {
		e := &all[i]
		var err error
		if e.Seq, err = strconv.ParseInt(f.next(packedSep), 10, 64); err != nil || f.over {
			return false
		}
		e.Kind, e.RefID = state.Kind(f.next(packedSep)), f.next(packedSep)
		e.Data = json.RawMessage(f.next(packedSep))
	}
	if count > 0 && !f.ended() || count == 0 && text != "" {
		return false
	}
	for i := range all {
		events[all[i].Seq] = &all[i]
	}
	return true
}
