package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// sender is a connection or a transaction.
type sender interface {
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// sendBatch sends the statements that fill queues in one go, and waits for all answers. After
// the first error the server leaves the others out.
func sendBatch(ctx context.Context, to sender, fill func(*pgx.Batch)) error {
	var b pgx.Batch
	fill(&b)
	results := to.SendBatch(ctx, &b)
	var err error
	for range b.Len() {
		if _, err = results.Exec(); err != nil {
			break
		}
	}
	if closing := results.Close(); err == nil {
		err = closing
	}
	return err
}
