package storage

import (
	"context"

	"remit/state"
)

// NewCall is a call to append drafts.
func NewCall(ctx context.Context, drafts ...state.Draft) *Call {
	return &Call{Drafts: drafts, ctx: ctx}
}
