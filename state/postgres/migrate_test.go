package postgres_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"remit/internal/proof/suite"
	"remit/internal/transfer"
	"remit/state"
	"remit/state/postgres"
	"remit/state/postgres/pgtest"
	"remit/state/statetest"
)

// rowsOf reads every row.
func rowsOf(t *testing.T, s *postgres.Store) ([]state.Transfer, error) {
	t.Helper()
	snapshot, err := s.Snapshot(t.Context())
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	var list []state.Transfer
	for row, err := range snapshot.Transfers(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, row)
	}
	return list, nil
}

// schemaSpelled is the first schema of which every row has one spelling of UUIDs.
const schemaSpelled = 12

// TestAStateOfEachOlderSchemaGoesOn has states that earlier programs made: they are read as they
// are where that can be, and migrated by the first lock, after which nothing is lost and lists can
// be written.
func TestAStateOfEachOlderSchemaGoesOn(t *testing.T) {
	t.Parallel()
	suite.Slow(t)
	server := pgtest.Shared(t)
	same := cmp.Comparer(func(a, b transfer.Amount) bool { return a == b })
	for version := 1; version < postgres.SchemaVersion(); version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			schema := server.Schema()
			old, err := postgres.CreateAt(t.Context(), statetest.Created(), options(server, schema), version)
			if err != nil {
				t.Fatal(err)
			}
			entries := []state.Entry{
				statetest.Intent("a", "run", "10.00"), statetest.Outcome("a", "run", state.SourceAnswer, state.Recorded),
				statetest.Outcome("b", "", state.SourceImport, state.Adopted), statetest.Intent("c", "run", "10.00"),
			}
			if version > 1 { // to lock a state of the first one takes the program of then
				j := lock(t, old)
				if err := j.Append(t.Context(), entries...); err != nil {
					t.Fatal(err)
				}
				if err := j.Unlock(); err != nil {
					t.Fatal(err)
				}
			}
			before, err := rowsOf(t, old)
			if version >= postgres.SchemaReadable && err != nil {
				t.Fatal(err)
			}
			closed(t, old)
			// Earlier programs wrote a movement in the letters of its request.
			asDeclared := slices.Clone(before)
			if len(before) > 0 && version < schemaSpelled {
				for i := range asDeclared {
					if asDeclared[i].RefID == "a" {
						asDeclared[i].Twin, asDeclared[i].Destination = 1, 2
					}
				}
				server.Exec(t, schema, `UPDATE transfers SET twin = 1, destination = 2 WHERE ref_id = 'a'`)
			}

			s := reopen(t, server, schema)
			switch read, err := rowsOf(t, s); {
			case version < postgres.SchemaReadable:
				if !errors.Is(err, state.ErrOlder) {
					t.Errorf("read before the migration: %v", err)
				}
			case err != nil:
				t.Errorf("read before the migration: %v", err)
			default:
				if diff := cmp.Diff(asDeclared, read, same); diff != "" {
					t.Errorf("read before the migration:\n%s", diff)
				}
				if _, err := s.Verify(t.Context(), ""); err != nil {
					t.Errorf("verified before the migration: %v", err)
				}
			}
			j := lock(t, s)
			if err := j.Append(t.Context(), statetest.Listed("d", "run", state.SourceImport, state.Unverified)); err != nil {
				t.Fatal(err)
			}
			if err := j.Unlock(); err != nil {
				t.Fatal(err)
			}
			after, err := rowsOf(t, s)
			if err != nil || len(after) != len(before)+1 {
				t.Fatal(after, err)
			}
			if diff := cmp.Diff(before, after[:len(before):len(before)], same, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("migrated:\n%s", diff)
			}
			if _, err := s.Verify(t.Context(), ""); err != nil {
				t.Errorf("verified after the migration: %v", err)
			}
			fresh := server.Schema()
			made, err := postgres.Create(t.Context(), statetest.Created(), options(server, fresh))
			if err != nil {
				t.Fatal(err)
			}
			closed(t, made)
			const rules = `SELECT string_agg(conname || ' ' || pg_get_constraintdef(oid), E'\n' ORDER BY conname) FROM pg_constraint WHERE conrelid = 'transfers'::regclass`
			if diff := cmp.Diff(server.Exec(t, fresh, rules), server.Exec(t, schema, rules)); diff != "" {
				t.Errorf("the rules are not those of a new state:\n%s", diff)
			}
			closed(t, s)
		})
	}
}
