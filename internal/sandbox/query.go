package sandbox

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"remit/internal/transfer"
)

// legs reads the legs for which a condition holds, in their order, at most so many.
func (b *batch) legs(where string, args []any, limit int) ([]leg, error) {
	rows, err := b.ledger.conn.QueryContext(b.ctx, `
		SELECT t.seq, l.side = 'CREDIT', l.id, t.group_id, coalesce(t.ref_id, ''), t.operation, l.side, l.profile_id,
			l.identity_id, l.account_id, l.asset, l.amount, l.metadata, t.failed, t.created_ms, t.pending_until_ms, t.pending_lookups
		FROM transfers t JOIN legs l ON l.seq = t.seq
		WHERE `+where+` ORDER BY t.seq, l.side DESC LIMIT ?`, append(slices.Clone(args), limit)...)
	if err != nil {
		return nil, fmt.Errorf("read the ledger: %w", err)
	}
	defer rows.Close()
	var legs []leg
	for rows.Next() {
		var l leg
		var metadata string
		var created, pendingUntil int64
		if err := rows.Scan(&l.Seq, &l.Side, &l.id, &l.groupID, &l.refID, &l.operation, &l.direction, &l.profileID,
			&l.identityID, &l.accountID, &l.asset, &l.amount, &metadata, &l.failed, &created, &pendingUntil, &l.pendingLookups); err != nil {
			return nil, fmt.Errorf("read the ledger: %w", err)
		}
		if metadata != "" {
			l.metadata = []byte(metadata)
		}
		l.created = time.UnixMilli(created).UTC()
		if pendingUntil != 0 {
			l.pendingUntil = time.UnixMilli(pendingUntil).UTC()
		}
		legs = append(legs, l)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read the ledger: %w", err)
	}
	return legs, nil
}

// page reads the legs after a position: of the given ref_ids, or of all where that is nil.
func (l *ledger) page(ctx context.Context, refIDs []string, after position, limit int) ([]leg, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	where := "t.seq >= ? AND (t.seq > ? OR l.side = 'CREDIT' AND ? = 0)"
	args := []any{after.Seq, after.Seq, after.Side}
	if refIDs != nil {
		where += " AND t.ref_id IN (?" + strings.Repeat(", ?", len(refIDs)-1) + ")"
		for _, refID := range refIDs {
			args = append(args, refID)
		}
	}
	var legs []leg
	err := l.do(func(b *batch) (err error) {
		legs, err = b.legs(where, args, limit)
		return err
	})
	return legs, err
}

// looked counts a lookup of the transfers that are pending for a number of lookups.
func (l *ledger) looked(legs []leg) error {
	var pending []int64
	for _, leg := range legs {
		if leg.pendingLookups > 0 && !slices.Contains(pending, leg.Seq) {
			pending = append(pending, leg.Seq)
		}
	}
	if len(pending) == 0 {
		return nil
	}
	return l.do(func(b *batch) error {
		for _, seq := range pending {
			if _, err := l.statements.looked.ExecContext(b.ctx, seq); err != nil {
				return fmt.Errorf("count a lookup: %w", err)
			}
		}
		return nil
	})
}

func (l *ledger) balances(ctx context.Context) ([]Balance, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var balances []Balance
	err := l.do(func(b *batch) error {
		balances = nil
		moved, err := b.moved()
		if err != nil {
			return err
		}
		for of, opening := range l.opening {
			moved[of] = moved[of].Add(opening)
		}
		for of, amount := range moved {
			balances = append(balances, Balance{of.profileID, of.asset, amount})
		}
		return nil
	})
	slices.SortFunc(balances, func(a, b Balance) int {
		return cmp.Or(cmp.Compare(a.ProfileID, b.ProfileID), cmp.Compare(a.Asset, b.Asset))
	})
	return balances, err
}

func (b *batch) moved() (map[account]decimal.Decimal, error) {
	if err := b.writeBalances(); err != nil {
		return nil, err
	}
	rows, err := b.ledger.conn.QueryContext(b.ctx, "SELECT profile_id, asset, net FROM balances")
	if err != nil {
		return nil, fmt.Errorf("read balances: %w", err)
	}
	defer rows.Close()
	moved := make(map[account]decimal.Decimal)
	for rows.Next() {
		var of account
		var amount decimal.Decimal
		if err := rows.Scan(&of.profileID, &of.asset, &amount); err != nil {
			return nil, fmt.Errorf("read balances: %w", err)
		}
		moved[of] = amount
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read balances: %w", err)
	}
	return moved, nil
}

// status is the service's own status of a leg at the given time.
func (l leg) status(now time.Time) transfer.RecordStatus {
	switch {
	case l.pendingLookups > 0, now.Before(l.pendingUntil):
		return transfer.Pending
	case l.failed:
		return transfer.Failed
	}
	return transfer.Completed
}
