package storage_test

import (
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"remit/internal/transfer"
	"remit/state"
	"remit/state/storage"
)

// drawRow makes any row whose times a store can hold.
func drawRow(t *rapid.T) storage.Row {
	text := rapid.StringN(0, 40, 100)
	at := func() time.Time {
		if rapid.Bool().Draw(t, "has a time") {
			return time.UnixMilli(rapid.Int64Range(-1<<40, 1<<45).Draw(t, "time")).UTC()
		}
		return time.Time{}
	}
	r := storage.Row{Last: rapid.Int64().Draw(t, "last")}
	r.RefID = rapid.StringN(1, 40, 100).Draw(t, "ref_id")
	r.Status = state.Status(rapid.Uint8Range(1, 8).Draw(t, "status"))
	copy(r.Fingerprint[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "fingerprint"))
	copy(r.RequestDigest[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "digest"))
	r.Twin = transfer.Twin(rapid.Uint64().Draw(t, "twin"))
	r.Destination = transfer.Destination(rapid.Uint64().Draw(t, "destination"))
	r.Asset, r.RecordID, r.GroupID, r.RunID = text.Draw(t, "asset"), text.Draw(t, "record"), text.Draw(t, "group"), text.Draw(t, "run")
	r.RecordStatus = transfer.RecordStatus(text.Draw(t, "record status"))
	if rapid.Bool().Draw(t, "has an amount") {
		amount, err := transfer.ParseAmount(rapid.StringMatching(`[1-9][0-9]{0,20}(\.[0-9]{1,8})?`).Draw(t, "amount"))
		if err != nil {
			t.Fatal(err)
		}
		r.Amount = amount
	}
	r.FromLabel, r.Doubted = rapid.Bool().Draw(t, "from label"), rapid.Bool().Draw(t, "doubted")
	r.IntendedAt, r.AttemptedAt, r.SettledAt = at(), at(), at()
	r.IntentSeq, r.OutcomeSeq = rapid.Int64().Draw(t, "intent"), rapid.Int64().Draw(t, "outcome")
	return r
}

// TestPackedRowsComeBackAsTheyWere puts, replaces and removes rows.
func TestPackedRowsComeBackAsTheyWere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := storage.NewPackedRows()
		want := make(map[string]storage.Row)
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			r := drawRow(t)
			if known := slices.Sorted(maps.Keys(want)); len(known) > 0 && rapid.Bool().Draw(t, "a known one") {
				r.RefID = rapid.SampledFrom(known).Draw(t, "which")
			}
			if rapid.IntRange(0, 3).Draw(t, "what") == 0 {
				rows.Remove(r.RefID)
				delete(want, r.RefID)
				continue
			}
			want[r.RefID] = r
			rows.Put(r)
		}
		for refID, r := range want {
			if got := rows.Row(refID); got != r {
				t.Fatalf("%q comes back as\n%s", refID, cmp.Diff(r, got, cmp.AllowUnexported(transfer.Amount{})))
			}
			if !rows.Has(r) || rows.Last(refID) != r.Last {
				t.Fatalf("%q is not there", refID)
			}
		}
		if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), rows.Sorted(), cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
		for _, refID := range []string{"", "absent"} {
			if _, isThere := want[refID]; !isThere && (rows.Row(refID) != storage.Row{} || rows.Last(refID) != 0 || rows.Has(storage.Row{Transfer: state.Transfer{RefID: refID}})) {
				t.Fatalf("%q, which was never there, is", refID)
			}
		}
	})
}

// TestPackedRowsTellEveryFieldApart changes one field after the other of a row, those that somebody
// adds to it included.
func TestPackedRowsTellEveryFieldApart(t *testing.T) {
	amount, err := transfer.ParseAmount("12.50")
	if err != nil {
		t.Fatal(err)
	}
	base := storage.Row{Last: 7, Transfer: state.Transfer{RefID: "a", Status: state.Recorded, Amount: amount}}
	rows := storage.NewPackedRows()
	rows.Put(base)
	if !rows.Has(base) {
		t.Fatal("the row itself is not there")
	}
	check := func(changed storage.Row, name string) {
		if rows.Has(changed) {
			t.Errorf("a row with another %s is taken for this one", name)
		}
	}
	transferType := reflect.TypeFor[state.Transfer]()
	for i := range transferType.NumField() {
		changed := base
		alter(t, reflect.ValueOf(&changed.Transfer).Elem().Field(i))
		check(changed, transferType.Field(i).Name)
	}
	changed := base
	changed.Last++
	check(changed, "Last")
	if reflect.TypeFor[storage.Row]().NumField() != 2 {
		t.Error("a row has a field that this test does not change")
	}
}

// alter gives a field another value.
func alter(t *testing.T, field reflect.Value) {
	t.Helper()
	switch {
	case field.Type() == reflect.TypeFor[time.Time]():
		field.Set(reflect.ValueOf(time.UnixMilli(1_700_000_000_123).UTC()))
	case field.Type() == reflect.TypeFor[transfer.Amount]():
		other, err := transfer.ParseAmount("12.5")
		if err != nil {
			t.Fatal(err)
		}
		field.Set(reflect.ValueOf(other))
	case field.Kind() == reflect.Bool:
		field.SetBool(!field.Bool())
	case field.Kind() == reflect.String:
		field.SetString(field.String() + "x")
	case field.CanInt():
		field.SetInt(field.Int() + 1)
	case field.CanUint():
		field.SetUint(field.Uint() + 1)
	case field.Kind() == reflect.Array:
		field.Index(field.Len() - 1).SetUint(1)
	default:
		t.Fatalf("this test cannot change a field of %s", field.Type())
	}
}
