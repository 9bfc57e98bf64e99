package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"remit/internal/transfer"
	"remit/state"
	"remit/state/storage"
)

const rowColumns = `ref_id, status, doubted, from_label, fingerprint, request_digest, twin, destination,
	asset, amount, record_id, group_id, record_status, intended_ms, attempted_ms, settled_ms,
	run_id, intent_seq, outcome_seq, last_seq`

const foldRowSQL = `INSERT INTO transfers (` + rowColumns + `)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
	ON CONFLICT (ref_id) DO UPDATE SET
		status = excluded.status, doubted = excluded.doubted, from_label = excluded.from_label,
		fingerprint = excluded.fingerprint, request_digest = excluded.request_digest,
		twin = excluded.twin, destination = excluded.destination,
		asset = excluded.asset, amount = excluded.amount,
		record_id = excluded.record_id, group_id = excluded.group_id, record_status = excluded.record_status,
		intended_ms = excluded.intended_ms, attempted_ms = excluded.attempted_ms, settled_ms = excluded.settled_ms,
		run_id = excluded.run_id, intent_seq = excluded.intent_seq, outcome_seq = excluded.outcome_seq,
		last_seq = excluded.last_seq`

// appendRow appends the arguments of foldRowSQL.
func appendRow(values []driver.Value, r *storage.Row) []driver.Value {
	return append(
		values,
		r.RefID, int64(r.Status), r.Doubted, r.FromLabel, r.Fingerprint[:], r.RequestDigest[:],
		int64(r.Twin), int64(r.Destination), r.Asset, r.Amount.String(),
		textOrNull(r.StoredID()), r.GroupID, string(r.RecordStatus),
		millisOrNull(r.IntendedAt), millisOrNull(r.AttemptedAt), millisOrNull(r.SettledAt),
		r.RunID, r.IntentSeq, r.OutcomeSeq, r.Last,
	)
}

// rowScanner reads rows of transfers in the order of rowColumns.
type rowScanner struct{ assets, runs storage.Texts }

func (s *rowScanner) scan(rows *sql.Rows) (storage.Row, error) {
	var r storage.Row
	var fingerprint, digest sql.RawBytes
	var status, doubted, fromLabel, twin, destination int64
	var asset, amount, run string
	var recordID sql.NullString
	var intended, attempted, settled sql.NullInt64
	err := rows.Scan(&r.RefID, &status, &doubted, &fromLabel, &fingerprint, &digest, &twin, &destination,
		&asset, &amount, &recordID, &r.GroupID, &r.RecordStatus, &intended, &attempted, &settled,
		&run, &r.IntentSeq, &r.OutcomeSeq, &r.Last)
	if err != nil {
		return storage.Row{}, fmt.Errorf("read a row of transfers: %w", err)
	}
	if len(fingerprint) != len(r.Fingerprint) || len(digest) != len(r.RequestDigest) {
		return storage.Row{}, fmt.Errorf("read ref_id %q: a digest has another length: %w", r.RefID, state.ErrDamaged)
	}
	var isStatus bool
	if r.Status, isStatus = state.StatusOf(status); !isStatus {
		return storage.Row{}, fmt.Errorf("read ref_id %q: there is no status %d: %w", r.RefID, status, state.ErrDamaged)
	}
	if doubted != doubted&1 || fromLabel != fromLabel&1 {
		return storage.Row{}, fmt.Errorf("read ref_id %q: a flag is %d, and another %d: %w", r.RefID, doubted, fromLabel, state.ErrDamaged)
	}
	r.Doubted, r.FromLabel = doubted == 1, fromLabel == 1
	r.Fingerprint, r.RequestDigest = transfer.Fingerprint(fingerprint), state.RequestDigest(digest)
	r.Twin, r.Destination = transfer.Twin(twin), transfer.Destination(destination)
	if r.Amount, err = transfer.ParseAmount(amount); err != nil {
		return storage.Row{}, fmt.Errorf("read ref_id %q: amount %q: %w: %w", r.RefID, amount, state.ErrDamaged, err)
	}
	r.ReadID(recordID.String)
	r.IntendedAt, r.AttemptedAt, r.SettledAt = fromMillis(intended), fromMillis(attempted), fromMillis(settled)
	r.Asset, r.RunID = s.assets.Intern(asset), s.runs.Intern(run)
	return r, nil
}

const (
	eventColumns = `seq, time_ms, kind, ref_id, run_id, previous, data, hash`
	// Bytes are bound without a copy of ours; the column is a text.
	insertEventSQL = `INSERT INTO events (` + eventColumns + `) VALUES (?, ?, ?, ?, ?, ?, CAST(? AS TEXT), ?)`
)

// appendLine appends the arguments of insertEventSQL.
func appendLine(values []driver.Value, l *storage.StoredEvent) []driver.Value {
	hash, err := hex.DecodeString(l.Hash)
	if err != nil {
		panic(err) // Chain made it
	}
	return append(values, l.Seq, l.Time.UnixMilli(), string(l.Kind), l.RefID, l.RunID, l.Previous, []byte(l.Data), hash)
}

// insertEvent writes a line outside of a journal's commits.
func insertEvent(ctx context.Context, conn *sql.Conn, l storage.StoredEvent) error {
	values := appendLine(nil, &l)
	arguments := make([]any, len(values))
	for i, value := range values {
		arguments[i] = value
	}
	_, err := conn.ExecContext(ctx, insertEventSQL, arguments...)
	return err
}

func scanEvent(rows *sql.Rows) (storage.StoredEvent, error) { return scanEventAnd(rows) }

// scanEventAnd scans an event, and the columns after it.
func scanEventAnd(rows *sql.Rows, more ...any) (storage.StoredEvent, error) {
	var l storage.StoredEvent
	var millis int64
	var data, hash []byte
	into := append([]any{&l.Seq, &millis, &l.Kind, &l.RefID, &l.RunID, &l.Previous, &data, &hash}, more...)
	if err := rows.Scan(into...); err != nil {
		return storage.StoredEvent{}, fmt.Errorf("read an event: %w", err)
	}
	l.Time, l.Data, l.Hash = time.UnixMilli(millis).UTC(), json.RawMessage(data), hex.EncodeToString(hash)
	return l, nil
}

// inPlace stands where other states say to where they were moved, in a state that was made in place of one that is gone and lacks
// all that it had: see [state.Successor]. An earlier program refuses the state with these words.
const inPlace = "nowhere: it was made in place of one that is gone, and lacks what that had"

// insertMeta writes what a new state says of itself. It is in use unless moved says otherwise.
func insertMeta(ctx context.Context, conn *sql.Conn, m state.Meta, moved string) error {
	_, err := conn.ExecContext(ctx, `INSERT INTO meta
		(only, lineage, environment, base_url, operator, client_id, customer_id, precheck, created_ms, fence, folded, moved)
		VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?)`,
		m.Lineage, m.Environment, storage.Addresses(m.Service), m.Service.Operator, m.Service.ClientID, m.Service.CustomerID,
		m.Precheck, m.CreatedAt.UnixMilli(), m.Fence, moved)
	return err
}

// updateBinding writes another environment, or another identity of the service.
func updateBinding(ctx context.Context, conn *sql.Conn, m state.Meta) error {
	s := m.Service
	_, err := conn.ExecContext(ctx, `UPDATE meta SET environment = ?, base_url = ?, operator = ?, client_id = ?, customer_id = ?`,
		m.Environment, storage.Addresses(s), s.Operator, s.ClientID, s.CustomerID)
	return err
}

// head is what a reader or a writer starts from, how far the rows are folded, and whether
// the state is elsewhere.
type head struct {
	storage.Tip
	folded int64
	moved  string // where to, or from where it is being moved; "" where it is in use
}

// readHead reads it in the transaction that conn is in. The events that it lacks are those that the state itself says.
func readHead(ctx context.Context, conn *sql.Conn) (head, error) {
	var h head
	var created, at int64
	var hash []byte
	var addresses string
	err := conn.QueryRowContext(ctx, `SELECT lineage, environment, base_url, operator, client_id, customer_id,
		precheck, created_ms, fence, folded, moved, seq, time_ms, hash
		FROM meta, (SELECT seq, time_ms, hash FROM events ORDER BY seq DESC LIMIT 1)`).Scan(
		&h.Lineage, &h.Environment, &addresses, &h.Service.Operator, &h.Service.ClientID, &h.Service.CustomerID,
		&h.Precheck, &created, &h.Fence, &h.folded, &h.moved, &h.Serial, &at, &hash)
	if err != nil {
		return head{}, explain(err)
	}
	h.Service.BaseURL, h.Service.TokenURL = storage.FromAddresses(addresses)
	h.CreatedAt, h.At = time.UnixMilli(created).UTC(), time.UnixMilli(at).UTC()
	h.Head = hex.EncodeToString(hash)
	if h.moved == inPlace {
		h.moved, h.Told = "", true
		h.Lacks, _ = state.LackAll()
	}
	return h, nil
}

func textOrNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func millisOrNull(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMilli()
}

func fromMillis(ms sql.NullInt64) time.Time {
	if !ms.Valid {
		return time.Time{}
	}
	return time.UnixMilli(ms.Int64).UTC()
}
