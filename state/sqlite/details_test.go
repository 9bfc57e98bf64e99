package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mattn/go-sqlite3"

	"remit/state"
	"remit/state/sqlite"
)

// TestEventsComeOutAsTheyWentIn has payloads that a packed text could mistake for others. It holds what is read against what was
// written, and that only the strange ones are read one by one.
func TestEventsComeOutAsTheyWentIn(t *testing.T) {
	t.Parallel()
	conn := looseEvents(t)
	type row struct{ seq, kind, refID, data any }
	for name, c := range map[string]struct {
		rows   []row
		packed bool
	}{
		"usual":                     {[]row{{1, "intent", "a", `{}`}, {2, "outcome", "a", `{"b":"ä"}`}}, true},
		"none":                      {nil, true},
		"empty":                     {[]row{{1, "", "", ""}, {2, "intent", "a", ""}}, true},
		"zero bytes":                {[]row{{1, "intent", "a\x00b", "{\x00}"}, {2, "intent", "c", "\x00"}}, true},
		"invalid UTF-8":             {[]row{{1, "intent", "a\xff", "\xff\x80"}}, true},
		"a separator in a payload":  {[]row{{1, "intent", "a", "x\x1fy"}, {2, "intent", "b", "{}"}}, false},
		"a separator in a ref_id":   {[]row{{1, "intent", "a\x1fb", "{}"}}, false},
		"an event within a payload": {[]row{{1, "intent", "a", "{}\x1f2\x1foutcome\x1fb\x1f{}"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			write(t, conn, `DELETE FROM events`)
			want := make(map[int64]*state.Event)
			seqs := []int64{77} // which is not there
			for _, r := range c.rows {
				write(t, conn, `INSERT INTO events VALUES (?, ?, ?, ?)`, r.seq, r.kind, r.refID, r.data)
				seq := int64(r.seq.(int))
				seqs = append(seqs, seq)
				want[seq] = &state.Event{Seq: seq, Kind: state.Kind(r.kind.(string)), RefID: r.refID.(string), Data: []byte(r.data.(string))}
			}
			got, packed, err := sqlite.EventsAt(t.Context(), conn, seqs...)
			if err != nil {
				t.Fatal(err)
			}
			if packed != c.packed {
				t.Errorf("packed: %t", packed)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestANullIsNoField has a field that is missing beside a separator that would make up for it.
func TestANullIsNoField(t *testing.T) {
	t.Parallel()
	conn := looseEvents(t)
	write(t, conn, `INSERT INTO events VALUES (4, NULL, 'intent', 'r1' || char(31) || '{}'), (9, 'outcome', NULL, 'z' || char(31) || '{}'),
		(10, 'outcome', 'k' || char(31) || '{}', NULL)`)
	for _, seq := range []int64{4, 9} {
		if got, packed, err := sqlite.EventsAt(t.Context(), conn, seq); err == nil || packed {
			t.Errorf("event %d is read as %v, packed: %t", seq, got[seq], packed)
		}
	}
	got, packed, err := sqlite.EventsAt(t.Context(), conn, 10)
	if err != nil || packed || len(got[10].Data) > 0 || got[10].RefID != "k\x1f{}" {
		t.Errorf("event 10 is read as %v, packed: %t, %v", got[10], packed, err)
	}
}

// TestEventsTooLongToPackAreRead has a few that SQLite can't hold in one text.
func TestEventsTooLongToPackAreRead(t *testing.T) {
	t.Parallel()
	conn := looseEvents(t)
	write(t, conn, `INSERT INTO events SELECT value, 'intent', 'r' || value, printf('%.*c', 300, 'x') FROM json_each('[1,2,3,4,5]')`)
	err := conn.Raw(func(c any) error {
		c.(*sqlite3.SQLiteConn).SetLimit(sqlite3.SQLITE_LIMIT_LENGTH, 1000)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	got, packed, err := sqlite.EventsAt(t.Context(), conn, 1, 2, 3, 4, 5)
	if err != nil || packed || len(got) != 5 {
		t.Fatalf("%d events, packed: %t, %v", len(got), packed, err)
	}
	for seq, e := range got {
		if e.RefID != fmt.Sprint("r", seq) || string(e.Data) != strings.Repeat("x", 300) {
			t.Errorf("event %d is %v", seq, e)
		}
	}
}

// FuzzUnpackEvents holds that a text makes as many events as were counted, of all that is in it, or none.
func FuzzUnpackEvents(f *testing.F) {
	f.Add(1, "1\x1fintent\x1fa\x1f{}")
	f.Add(2, "1\x1fintent\x1fa\x1f{}\x1f2\x1foutcome\x1fa\x1f{}")
	f.Add(0, "")
	f.Add(1, "")
	f.Add(0, "1")
	f.Add(1, "1\x1fintent\x1fa")
	f.Fuzz(func(t *testing.T, count int, text string) {
		if count < 0 || count > 1000 {
			return
		}
		events, ok := sqlite.UnpackEvents(count, text)
		if !ok {
			if len(events) > 0 {
				t.Errorf("%d of %q: some were read", count, text)
			}
			return
		}
		if fields := strings.Count(text, "\x1f") + 1; count > 0 && fields != 4*count || count == 0 && text != "" {
			t.Errorf("%q is read as %d events", text, count)
		}
		for _, e := range events {
			if part := strings.Join([]string{string(e.Kind), e.RefID, string(e.Data)}, "\x1f"); !strings.Contains(text, part) {
				t.Errorf("%q has no %q", text, part)
			}
		}
	})
}

// TestARowNewerThanItsJournalIsDamage restores, as it were, an older journal under a row.
func TestARowNewerThanItsJournalIsDamage(t *testing.T) {
	t.Parallel()
	s, path := many(t, 300)
	damaged := scattered(1)
	execute(t, path, `UPDATE transfers SET last_seq = 5000 WHERE ref_id = '`+damaged+`'`)
	snap, err := s.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	isNamed := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, state.ErrDamaged) || !strings.Contains(err.Error(), damaged) {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err = snap.Details(t.Context(), damaged)
	isNamed("Details", err)
	for _, err = range state.AllDetails(t.Context(), snap) {
		if err != nil {
			break
		}
	}
	isNamed("AllDetails", err)
	for _, err = range snap.Transfers(t.Context()) {
		if err != nil {
			break
		}
	}
	isNamed("Transfers", err)
}

// looseEvents is a connection to a table of events without the rules of a state's.
func looseEvents(t *testing.T) *sql.Conn {
	t.Helper()
	db, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	write(t, conn, `CREATE TABLE events (seq INTEGER PRIMARY KEY, kind TEXT, ref_id TEXT, data TEXT)`)
	return conn
}

func write(t *testing.T, conn *sql.Conn, text string, args ...any) {
	t.Helper()
	if _, err := conn.ExecContext(context.WithoutCancel(t.Context()), text, args...); err != nil {
		t.Fatal(err)
	}
}
