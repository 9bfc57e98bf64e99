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
	return s.details().ByRefID(ctx, refIDs)
}

// DetailsOf implements [state.Detailer].
func (s *snapshot) DetailsOf(ctx context.Context, rows []state.Transfer) ([]state.Detail, error) {
	return s.details().Of(ctx, rows)
}

func (s *snapshot) details() storage.Details {
	events := func(ctx context.Context, seqs []int64) (map[int64]*state.Event, error) {
		return eventsAt(ctx, s.conn, seqs)
	}
	return storage.Details{Rows: s.find, Events: events, Name: s.nameDetails}
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

// packedEventsMax is how many events are packed into one text. Each may be as long as an answer of the
// service, which may have a megabyte.
const packedEventsMax = 128

// eventsAt returns the number, the kind, the ref_id and the payload of events, without those that are not
// there. SQLite packs them into texts, as it packs rows: see packed. Where it fails to, or a text does not
// have exactly these events, they are read one by one, and an error is that of the second way.
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

// packedEventsAt puts the events of a list of numbers into events, and reports whether it could. Each event
// is four fields. A NULL would make them three, as concat_ws leaves it out, so there must be none.
func packedEventsAt(ctx context.Context, conn *sql.Conn, list string, events map[int64]*state.Event) bool {
	var count, texts int
	var text sql.NullString
	// See query for why the statement itself is not interrupted.
	row := conn.QueryRowContext(context.WithoutCancel(ctx), `SELECT count(*), count(kind) + count(ref_id) + count(data),
		group_concat(concat_ws(x'1f', seq, kind, ref_id, data), x'1f')`+eventsListed, list)
	return row.Scan(&count, &texts, &text) == nil && texts == 3*count && unpackEvents(count, text.String, events)
}

// unpackEvents puts so many events into events. It returns false, and puts none, where the text is not
// exactly theirs.
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
