package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"remit/internal/transfer"
	"remit/state"
	"remit/state/storage"
)

const rowColumns = `ref_id, status, doubted, from_label, fingerprint, request_digest, twin, destination,
	asset, amount, record_id, group_id, record_status, intended_ms, attempted_ms, settled_ms,
	run_id, intent_seq, outcome_seq, last_seq`

// rowReader reads rows of transfers in the order of rowColumns.
type rowReader struct{ assets, statuses, runs storage.Texts }

func (x *rowReader) read(c *columns) (storage.Row, error) {
	var r storage.Row
	r.RefID = c.text()
	r.Status = c.status()
	r.Doubted, r.FromLabel = c.boolean(), c.boolean()
	c.digest(r.Fingerprint[:])
	c.digest(r.RequestDigest[:])
	r.Twin, r.Destination = transfer.Twin(c.number()), transfer.Destination(c.number())
	r.Asset = c.interned(&x.assets)
	r.Amount = c.amount()
	r.ReadID(c.text())
	r.GroupID = c.text()
	r.RecordStatus = transfer.RecordStatus(c.interned(&x.statuses))
	r.IntendedAt, r.AttemptedAt, r.SettledAt = c.time(), c.time(), c.time()
	r.RunID = c.interned(&x.runs)
	r.IntentSeq, r.OutcomeSeq, r.Last = c.number(), c.number(), c.number()
	return r, c.damage("ref_id", r.RefID)
}

// foldRowsSQL writes rows, given as one array a column.
const foldRowsSQL = `INSERT INTO transfers (` + rowColumns + `)
	SELECT * FROM unnest($1::text[], $2::smallint[], $3::bool[], $4::bool[], $5::bytea[], $6::bytea[], $7::bigint[], $8::bigint[],
		$9::bytea[], $10::text[], $11::bytea[], $12::bytea[], $13::bytea[], $14::bigint[], $15::bigint[], $16::bigint[],
		$17::text[], $18::bigint[], $19::bigint[], $20::bigint[])
	ON CONFLICT (ref_id) DO UPDATE SET
		status = excluded.status, doubted = excluded.doubted, from_label = excluded.from_label,
		fingerprint = excluded.fingerprint, request_digest = excluded.request_digest,
		twin = excluded.twin, destination = excluded.destination,
		asset = excluded.asset, amount = excluded.amount,
		record_id = excluded.record_id, group_id = excluded.group_id, record_status = excluded.record_status,
		intended_ms = excluded.intended_ms, attempted_ms = excluded.attempted_ms, settled_ms = excluded.settled_ms,
		run_id = excluded.run_id, intent_seq = excluded.intent_seq, outcome_seq = excluded.outcome_seq,
		last_seq = excluded.last_seq`

// foldRows has a batch write rows. A record that moves from one ref_id to another does not
// happen, so their order is of no matter; it is that of ref_ids, which is that of pages.
func foldRows(b *pgx.Batch, rows *storage.Overlay) {
	n := len(rows.Rows)
	refIDs, amounts, runs := make([]string, 0, n), make([]string, 0, n), make([]string, 0, n)
	statuses := make([]int16, 0, n)
	doubted, labels := make([]bool, 0, n), make([]bool, 0, n)
	fingerprints, digests, assets := make([][]byte, 0, n), make([][]byte, 0, n), make([][]byte, 0, n)
	records, groups, recordStatuses := make([][]byte, 0, n), make([][]byte, 0, n), make([][]byte, 0, n)
	twins, destinations := make([]int64, 0, n), make([]int64, 0, n)
	intended, attempted, settled := make([]*int64, 0, n), make([]*int64, 0, n), make([]*int64, 0, n)
	intents, outcomes, lasts := make([]int64, 0, n), make([]int64, 0, n), make([]int64, 0, n)
	for _, refID := range rows.Sorted() {
		r := rows.Rows[refID]
		refIDs, amounts, runs = append(refIDs, refID), append(amounts, r.Amount.String()), append(runs, r.RunID)
		statuses = append(statuses, int16(r.Status))
		doubted, labels = append(doubted, r.Doubted), append(labels, r.FromLabel)
		fingerprints, digests = append(fingerprints, r.Fingerprint[:]), append(digests, r.RequestDigest[:])
		twins, destinations = append(twins, int64(r.Twin)), append(destinations, int64(r.Destination))
		assets, records, groups = append(assets, []byte(r.Asset)), append(records, bytesOrNull(r.StoredID())), append(groups, []byte(r.GroupID))
		recordStatuses = append(recordStatuses, []byte(r.RecordStatus))
		intended = append(intended, millisOrNull(r.IntendedAt))
		attempted = append(attempted, millisOrNull(r.AttemptedAt))
		settled = append(settled, millisOrNull(r.SettledAt))
		intents, outcomes, lasts = append(intents, r.IntentSeq), append(outcomes, r.OutcomeSeq), append(lasts, r.Last)
	}
	b.Queue(foldRowsSQL, refIDs, statuses, doubted, labels, fingerprints, digests, twins, destinations,
		assets, amounts, records, groups, recordStatuses, intended, attempted, settled, runs, intents, outcomes, lasts)
}

const (
	eventColumns = `seq, time_ms, kind, ref_id, run_id, previous, data, hash`

	insertLinesSQL = `INSERT INTO events (` + eventColumns + `)
		SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bytea[], $8::bytea[])`
)

// insertLines has a batch append lines to the journal, and note where runs begin and end.
func insertLines(b *pgx.Batch, lines []storage.StoredEvent) {
	n := len(lines)
	seqs, times, previous := make([]int64, n), make([]int64, n), make([]int64, n)
	kinds, refIDs, runIDs := make([]string, n), make([]string, n), make([]string, n)
	data, hashes := make([][]byte, n), make([][]byte, n)
	for i, l := range lines {
		seqs[i], times[i], previous[i] = l.Seq, l.Time.UnixMilli(), l.Previous
		kinds[i], refIDs[i], runIDs[i] = string(l.Kind), l.RefID, l.RunID
		data[i], hashes[i] = l.Data, hashBytes(l.Hash)
	}
	b.Queue(insertLinesSQL, seqs, times, kinds, refIDs, runIDs, previous, data, hashes)
	for _, l := range lines {
		switch l.Kind {
		case state.KindBegun:
			b.Queue(`INSERT INTO runs (begun_seq, run_id) VALUES ($1, $2)`, l.Seq, l.RunID)
		case state.KindEnded:
			b.Queue(`UPDATE runs SET ended_seq = $1 WHERE run_id = $2`, l.Seq, l.RunID)
		case state.KindCreated, state.KindIntent, state.KindOutcome, state.KindUnlocked, state.KindRebound, state.KindClock, state.KindAsked, state.KindErased:
		}
	}
}

// schemaFolded is the first schema that has a mark of the newest event that is in the rows.
const schemaFolded = 7

// markFolded has a batch say, in a schema of a version, that the rows have every event up to seq, and that this transaction
// wrote that event.
func markFolded(b *pgx.Batch, version int, seq int64) {
	switch {
	case version >= schemaWritten:
		b.Queue(`UPDATE meta SET folded = $1, written = txid_current()`, seq)
	case version >= schemaFolded:
		b.Queue(`UPDATE meta SET folded = $1`, seq)
	}
}

func readLine(c *columns) (storage.StoredEvent, error) {
	var l storage.StoredEvent
	l.Seq, l.Time = c.number(), c.time()
	l.Kind = state.Kind(c.text())
	l.RefID, l.RunID, l.Previous = c.text(), c.text(), c.number()
	l.Data = c.bytes()
	l.Hash = hex.EncodeToString(c.sized(sha256.Size))
	return l, c.damage("event", l.Seq)
}

// insertMeta writes what a new state says of itself. It is in use unless moved says otherwise.
func insertMeta(ctx context.Context, tx pgx.Tx, m state.Meta, version int, moved string) error {
	_, err := tx.Exec(ctx, `INSERT INTO meta
		(one, version, lineage, environment, base_url, operator, client_id, customer_id, precheck, created_ms, fence, lock, holder_pid, holder, moved)
		VALUES (true, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 0, 0, '', $11)`,
		version, m.Lineage, m.Environment, storage.Addresses(m.Service), m.Service.Operator, m.Service.ClientID, []byte(m.Service.CustomerID),
		m.Precheck, m.CreatedAt.UnixMilli(), m.Fence, moved)
	return err
}

// updateBinding has a batch write another environment, or another identity of the service.
func updateBinding(b *pgx.Batch, m state.Meta) {
	s := m.Service
	b.Queue(`UPDATE meta SET environment = $1, base_url = $2, operator = $3, client_id = $4, customer_id = $5`,
		m.Environment, storage.Addresses(s), s.Operator, s.ClientID, []byte(s.CustomerID))
}

// tipSQL reads what a reader or a writer starts from.
const tipSQL = `SELECT lineage, environment, base_url, operator, client_id, customer_id,
	precheck, created_ms, fence, seq, time_ms, hash, ` + isRefilledSQL + `
	FROM meta, (SELECT seq, time_ms, hash, ` + xidSQL + ` AS xid FROM events ORDER BY seq DESC LIMIT 1) newest`

// readTip is the answer to tipSQL in the transaction that q is in.
func readTip(ctx context.Context, q querier) (storage.Tip, error) {
	return scanTip(q.QueryRow(ctx, tipSQL))
}

func scanTip(row pgx.Row) (storage.Tip, error) {
	var t storage.Tip
	var created, at int64
	var customer, hash []byte
	var addresses string
	err := row.Scan(
		&t.Lineage, &t.Environment, &addresses, &t.Service.Operator, &t.Service.ClientID, &customer,
		&t.Precheck, &created, &t.Fence, &t.Serial, &at, &hash, &t.Restored)
	if errors.Is(err, pgx.ErrNoRows) {
		err = state.ErrEmpty
	}
	if err != nil {
		return storage.Tip{}, err
	}
	t.Service.BaseURL, t.Service.TokenURL = storage.FromAddresses(addresses)
	t.Service.CustomerID = string(customer)
	t.CreatedAt, t.At = time.UnixMilli(created).UTC(), time.UnixMilli(at).UTC()
	t.Head = hex.EncodeToString(hash)
	return t, nil
}

func hashBytes(text string) []byte {
	hash, err := hex.DecodeString(text)
	if err != nil {
		panic(err) // Chain made it
	}
	return hash
}

func bytesOrNull(text string) []byte {
	if text == "" {
		return nil
	}
	return []byte(text)
}

func millisOrNull(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	ms := t.UnixMilli()
	return &ms
}
