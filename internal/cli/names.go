package cli

import (
	"context"

	"remit/config"
	"remit/internal/accounts/books"
	"remit/internal/transfer"
	"remit/state"
)

// namesBySeq are the display names of a state, by the numbers of the intents with which they came.
func namesBySeq(ctx context.Context, snapshot state.Snapshot) (map[int64]string, error) {
	names := make(map[int64]string)
	for n, err := range snapshot.Names(ctx) {
		if err != nil {
			return nil, err
		}
		names[n.Seq] = n.Text
	}
	return names, nil
}

// firstNames are the display names of profiles, by profile_id, of which the first transfer had one; first are the
// intents of these transfers. Such a name stays when later transfers say another one, or none.
func firstNames(ctx context.Context, snapshot state.Snapshot, first *books.Firsts) (map[string]string, error) {
	bySeq, err := namesBySeq(ctx, snapshot)
	if err != nil || len(bySeq) == 0 {
		return nil, err
	}
	names := make(map[string]string)
	for profileID, seq := range first.All() {
		if name := bySeq[seq]; name != "" && seq > 0 {
			names[profileID] = name
		}
	}
	return names, nil
}

// namesOf are the names of profiles by profile_id: those of the address book and, of destinations that
// it does not have, the display name of the newest transfer that the state has. A profile of which several
// identities or accounts were paid has none of the state: the ID alone would not say which is meant.
func namesOf(ctx context.Context, loaded *config.Configuration, snapshot state.Snapshot) (map[string]string, error) {
	names := loaded.ProfileNames()
	called := make(map[string]payeeName)
	page := make([]string, 0, detailsPerCall)
	read := func() error {
		details, err := snapshot.Details(ctx, page...)
		page = page[:0]
		for i := range details {
			noteName(called, &details[i].Intent, details[i].IntentSeq)
		}
		return err
	}
	for n, err := range snapshot.Names(ctx) {
		if err != nil {
			return nil, err
		}
		if page = append(page, n.RefID); len(page) == detailsPerCall {
			if err := read(); err != nil {
				return nil, err
			}
		}
	}
	if len(page) > 0 {
		if err := read(); err != nil {
			return nil, err
		}
	}
	for profileID, as := range called {
		if _, inBook := names[profileID]; !inBook && !as.isMixed {
			names[profileID] = as.name
		}
	}
	return names, nil
}

// payeeName is what a profile was called last.
type payeeName struct {
	name              string
	seq               int64
	identity, account string
	isMixed           bool // it was paid in several identities or accounts
}

// noteName notes the name of a recorded transfer's destination.
func noteName(called map[string]payeeName, i *state.Intent, seq int64) {
	request, err := transfer.ParseRequest(i.Operation, []byte(i.Body), "")
	if err != nil || i.DisplayName == "" {
		return // the request in force has none, but one before it
	}
	before, known := called[request.ToProfileID]
	now := payeeName{name: i.DisplayName, seq: seq, identity: request.ToIdentityID, account: request.ToAccountID}
	if known {
		now.isMixed = before.isMixed || before.identity != now.identity || before.account != now.account
		if before.seq > now.seq {
			now.name, now.seq = before.name, before.seq
		}
	}
	called[request.ToProfileID] = now
}
