package sandbox

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"remit/internal/transfer"
)

// batch is one transaction of the ledger and what it has read so far.
type batch struct {
	ledger *ledger
	ctx    context.Context
	next   int64 // seq of the next transfer; 0 where it is not known yet
	nets   map[account]*movement
}

// movement is the credits to one account less its debits, opening balance apart.
type movement struct {
	amount  decimal.Decimal
	changed bool
}

// statements are those that run once or more a transfer.
type statements struct {
	lastSeq, replayed, forget, addTransfer, addLeg, readNet, writeNet, looked *sql.Stmt
}

func prepareStatements(ctx context.Context, conn *sql.Conn) (statements, error) {
	var s statements
	for text, into := range map[string]**sql.Stmt{
		"SELECT coalesce(max(seq), 0) FROM transfers":                                                      &s.lastSeq,
		"SELECT seq, fingerprint FROM transfers WHERE ref_id = ? AND forgotten = 0":                        &s.replayed,
		"UPDATE transfers SET forgotten = seq WHERE seq = ?":                                               &s.forget,
		"INSERT INTO legs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)":                                              &s.addLeg,
		"SELECT net FROM balances WHERE profile_id = ? AND asset = ?":                                      &s.readNet,
		"INSERT OR REPLACE INTO balances (profile_id, asset, net) VALUES (?, ?, ?)":                        &s.writeNet,
		"UPDATE transfers SET pending_lookups = pending_lookups - 1 WHERE seq = ? AND pending_lookups > 0": &s.looked,
		`INSERT INTO transfers (seq, group_id, ref_id, operation, fingerprint, asset, amount, failed,
			created_ms, pending_until_ms, pending_lookups) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`: &s.addTransfer,
	} {
		statement, err := conn.PrepareContext(ctx, text) //nolint:sqlclosecheck // statements.close does
		if err != nil {
			return s, fmt.Errorf("prepare %q: %w", text, err)
		}
		*into = statement
	}
	return s, nil
}

// close lets go of the file, which SQLite keeps open for as long as a statement of it is.
func (s *statements) close() error {
	var failures []error
	for _, statement := range []*sql.Stmt{s.lastSeq, s.replayed, s.forget, s.addTransfer, s.addLeg, s.readNet, s.writeNet, s.looked} {
		if statement != nil {
			failures = append(failures, statement.Close())
		}
	}
	return errors.Join(failures...)
}

// position is a leg's place in the order of the ledger: the debit of a transfer is 0, its
// credit 1. The zero value is before all.
type position struct {
	Seq  int64 `json:"seq"`
	Side int   `json:"side"`
}

// leg is one side of one transfer with all that its record says.
type leg struct {
	position
	id, groupID, refID               string
	operation                        transfer.Operation
	direction                        transfer.Direction
	profileID, identityID, accountID string
	asset, amount                    string
	metadata                         json.RawMessage // nil for none
	failed                           bool
	created, pendingUntil            time.Time
	pendingLookups                   int
}

// creation is a transfer that is asked for, valid as far as its own text goes.
type creation struct {
	request        transfer.Request
	failed         bool // made as FAILED: it moves nothing
	now            time.Time
	pendingFor     time.Duration
	pendingLookups int
	forgetAfter    int64 // transfers after which a ref_id is forgotten; 0 for never
}

// made is the result of a creation.
type made struct {
	legs         []leg // debit, credit; nil where funds are insufficient
	replay       bool  // they were made by an earlier request with this ref_id
	sameBody     bool  // of that request
	insufficient bool
}

// create makes a transfer, or finds the one that its ref_id already has.
func (b *batch) create(c creation) (made, error) {
	seq, err := b.nextSeq()
	if err != nil {
		return made{}, err
	}
	earlier, ok, err := b.replayed(c, seq)
	if err != nil || ok {
		return earlier, err
	}
	if !c.failed {
		ok, err := b.move(c.request)
		if err != nil || !ok {
			return made{insufficient: !ok}, err
		}
	}
	b.next++
	t := leg{
		position: position{Seq: seq}, groupID: uuidOf(b.ledger.seed, seq, "group"), refID: c.request.RefID,
		operation: c.request.Operation, asset: c.request.Asset, amount: c.request.Amount.String(),
		failed: c.failed, created: time.UnixMilli(milliseconds(c.now)).UTC(),
	}
	t.pendingLookups = c.pendingLookups
	if c.pendingFor > 0 {
		t.pendingUntil = c.now.Add(c.pendingFor)
	}
	return made{legs: sides(b.ledger.seed, t, c.request)}, b.insert(t, c.request)
}

// sides are the two legs of a transfer.
func sides(seed uint64, t leg, r transfer.Request) []leg {
	debit, credit := t, t
	debit.direction, debit.id = transfer.Debit, uuidOf(seed, t.Seq, "debit")
	debit.profileID, debit.identityID, debit.accountID = r.FromProfileID, r.FromIdentityID, r.FromAccountID
	debit.metadata = encodeMetadata(r.Metadata)
	credit.Side, credit.direction, credit.id = 1, transfer.Credit, uuidOf(seed, t.Seq, "credit")
	credit.profileID, credit.identityID, credit.accountID = r.ToProfileID, r.ToIdentityID, r.ToAccountID
	credit.metadata = debit.metadata
	if r.Operation == transfer.Platform {
		credit.metadata = encodeMetadata(r.RecipientMetadata)
	}
	return []leg{debit, credit}
}

func encodeMetadata(m transfer.Metadata) json.RawMessage {
	if len(m) == 0 {
		return nil
	}
	pairs := make(map[string]string, len(m))
	for _, p := range m {
		pairs[p.Key] = p.Value
	}
	text, err := json.Marshal(pairs)
	if err != nil {
		panic(err) // strings always have a JSON form
	}
	return text
}

func (b *batch) nextSeq() (int64, error) {
	if b.next > 0 {
		return b.next, nil
	}
	err := b.ledger.statements.lastSeq.QueryRowContext(b.ctx).Scan(&b.next)
	b.next++
	return b.next, err
}

func (b *batch) replayed(c creation, next int64) (made, bool, error) {
	if c.request.RefID == "" {
		return made{}, false, nil
	}
	var seq int64
	var fingerprint []byte
	err := b.ledger.statements.replayed.QueryRowContext(b.ctx, c.request.RefID).Scan(&seq, &fingerprint)
	if errors.Is(err, sql.ErrNoRows) {
		return made{}, false, nil
	}
	if err != nil {
		return made{}, false, err
	}
	if c.forgetAfter > 0 && next-seq > c.forgetAfter {
		_, err := b.ledger.statements.forget.ExecContext(b.ctx, seq)
		return made{}, false, err
	}
	legs, err := b.legs("t.seq = ?", []any{seq}, 2)
	asked := c.request.Fingerprint()
	return made{legs: legs, replay: true, sameBody: string(fingerprint) == string(asked[:])}, true, err
}

func (b *batch) insert(t leg, r transfer.Request) error {
	fingerprint := r.Fingerprint()
	refID := sql.NullString{String: r.RefID, Valid: r.RefID != ""}
	var pendingUntil int64
	if !t.pendingUntil.IsZero() {
		pendingUntil = milliseconds(t.pendingUntil)
	}
	if _, err := b.ledger.statements.addTransfer.ExecContext(b.ctx, t.Seq, t.groupID, refID, string(t.operation), fingerprint[:],
		t.asset, t.amount, t.failed, milliseconds(t.created), pendingUntil, t.pendingLookups); err != nil {
		return fmt.Errorf("write the transfer %q: %w", r.RefID, err)
	}
	for _, l := range sides(b.ledger.seed, t, r) {
		if _, err := b.ledger.statements.addLeg.ExecContext(b.ctx, l.Seq, string(l.direction), l.id, l.profileID, l.identityID,
			l.accountID, l.asset, l.amount, string(l.metadata)); err != nil {
			return fmt.Errorf("write the %s of the transfer %q: %w", l.direction, r.RefID, err)
		}
	}
	return nil
}

// move debits the sender and credits the destination, or reports that the sender has too
// little and moves nothing.
func (b *batch) move(r transfer.Request) (bool, error) {
	from, err := b.movement(account{r.FromProfileID, r.Asset})
	if err != nil {
		return false, err
	}
	to, err := b.movement(account{r.ToProfileID, r.Asset})
	if err != nil {
		return false, err
	}
	amount := r.Amount.Decimal()
	if opening := b.ledger.opening; opening != nil {
		has := opening[account{r.FromProfileID, r.Asset}].Add(from.amount)
		if has.LessThan(amount) {
			return false, nil
		}
	}
	from.amount, from.changed = from.amount.Sub(amount), true
	to.amount, to.changed = to.amount.Add(amount), true
	return true, nil
}

func (b *batch) movement(of account) (*movement, error) {
	if n, ok := b.nets[of]; ok {
		return n, nil
	}
	n := &movement{}
	var text string
	err := b.ledger.statements.readNet.QueryRowContext(b.ctx, of.profileID, of.asset).Scan(&text)
	switch {
	case errors.Is(err, sql.ErrNoRows):
	case err != nil:
		return nil, err
	default:
		if n.amount, err = decimal.NewFromString(text); err != nil {
			return nil, fmt.Errorf("balance of %s: %w", of.profileID, err)
		}
	}
	b.nets[of] = n
	return n, nil
}

func (b *batch) writeBalances() error {
	for of, n := range b.nets {
		if !n.changed {
			continue
		}
		if _, err := b.ledger.statements.writeNet.ExecContext(b.ctx, of.profileID, of.asset, n.amount.String()); err != nil {
			return fmt.Errorf("write the balance of %s: %w", of.profileID, err)
		}
	}
	return nil
}
