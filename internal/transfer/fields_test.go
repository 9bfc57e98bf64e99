package transfer_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"remit/internal/transfer"
)

// fieldValues has two values of each type that a field of a request may have.
func fieldValues() map[reflect.Type][2]any {
	return map[reflect.Type][2]any{
		reflect.TypeFor[string]():             {"one", "two"},
		reflect.TypeFor[transfer.Operation](): {transfer.Platform, transfer.Internal},
		reflect.TypeFor[transfer.Amount]():    {transfer.MustAmount("1.50"), transfer.MustAmount("2.50")},
		reflect.TypeFor[transfer.Metadata]():  {transfer.Metadata{{Key: "k", Value: "one"}}, transfer.Metadata{{Key: "k", Value: "two"}}},
	}
}

// eachField sets one field of a whole request after the other to another value.
func eachField(t *testing.T, do func(t *testing.T, name string, whole, other transfer.Request)) {
	t.Helper()
	values := fieldValues()
	for _, field := range reflect.VisibleFields(reflect.TypeFor[transfer.Request]()) {
		t.Run(field.Name, func(t *testing.T) {
			some, isKnown := values[field.Type]
			if !isKnown {
				t.Fatalf("transfer.Request.%s has the type %s, of which the test has no value", field.Name, field.Type)
			}
			whole := rent()
			whole.FingerprintKey = "key"
			other := whole
			reflect.ValueOf(&whole).Elem().FieldByIndex(field.Index).Set(reflect.ValueOf(some[0]))
			reflect.ValueOf(&other).Elem().FieldByIndex(field.Index).Set(reflect.ValueOf(some[1]))
			do(t, field.Name, whole, other)
		})
	}
}

func TestEveryFieldOfARequestHasALineInTheList(t *testing.T) {
	lines := 0
	eachField(t, func(t *testing.T, name string, whole, other transfer.Request) {
		lines++
		var found []string
		for f := range transfer.FieldCount {
			if whole.Text(f) != other.Text(f) || !slices.Equal(whole.Pairs(f), other.Pairs(f)) {
				found = append(found, f.Name())
			}
		}
		if want := []string{wireName(name)}; !slices.Equal(found, want) {
			t.Errorf("transfer.Request.%s has no line of its own in the list of fields: those that change with it are %q, want %q", name, found, want)
		}
	})
	if lines != int(transfer.FieldCount) {
		t.Errorf("a request has %d fields, and the list of fields has %d lines", lines, transfer.FieldCount)
	}
}

// wireName is the name of a field of Go as the service writes it: FromProfileID is from_profile_id.
func wireName(name string) string {
	var b strings.Builder
	for i, c := range strings.ReplaceAll(name, "ID", "Id") {
		if c >= 'A' && c <= 'Z' && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(c)
	}
	return strings.ToLower(b.String())
}

// TestEveryFieldIsSentAndCounts holds the forms of a request against all of its fields but two: the
// path says the operation, and a fingerprint's key says nothing of the movement.
func TestEveryFieldIsSentAndCounts(t *testing.T) {
	eachField(t, func(t *testing.T, name string, whole, other transfer.Request) {
		if name == "Operation" {
			whole.RecipientMetadata, other.RecipientMetadata = nil, nil
			whole.FingerprintKey, other.FingerprintKey = "", ""
		}
		if isSent := name != "Operation"; isSent == (string(whole.Body()) == string(other.Body())) {
			t.Errorf("%s in the body: want %v", name, isSent)
		}
		if counts := name != "FingerprintKey"; counts == (whole.Fingerprint() == other.Fingerprint()) {
			t.Errorf("%s in the fingerprint: want %v", name, counts)
		}
		read, err := transfer.ParseRequest(other.Operation, other.Body(), other.FingerprintKey)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(other, read, compareAmounts); diff != "" {
			t.Errorf("%s is not read back (-want +got):\n%s", name, diff)
		}
		isSide := strings.HasPrefix(name, "From") || strings.HasPrefix(name, "To")
		if whole.HasSameParties(&other) == isSide {
			t.Errorf("%s is of a party: want %v", name, isSide)
		}
		moves := isSide || name == "Amount" || name == "Asset"
		if (whole.Twin() == other.Twin()) == moves || whole.IsTwin(&other) == moves {
			t.Errorf("%s makes another twin: want %v", name, moves)
		}
	})
}

func TestFieldsAreInTheOrderOfTheirNames(t *testing.T) {
	var names []string
	sides := make(map[transfer.FieldsSide][]string)
	for f := range transfer.FieldCount {
		names = append(names, f.Name())
		_, part, _ := strings.Cut(f.Name(), "_")
		sides[f.Side()] = append(sides[f.Side()], part)
	}
	if !slices.IsSorted(names) {
		t.Errorf("the body would not be in byte order: %q", names)
	}
	if diff := cmp.Diff(sides[transfer.FromSide], sides[transfer.ToSide]); diff != "" {
		t.Errorf("the parts of the sides are not in one order:\n%s", diff)
	}
	read := []string{
		"operation", "ref_id", "from_profile_id", "from_identity_id", "from_account_id", "to_profile_id", "to_identity_id", "to_account_id",
		"amount", "asset", "metadata", "recipient_metadata",
	}
	var got []string
	for _, f := range transfer.ReadingOrder() {
		got = append(got, f.Name())
	}
	if diff := cmp.Diff(read, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestARequestGoesBackToWhereItCameFrom(t *testing.T) {
	there := rent()
	back := there.Back()
	want := there
	want.FromProfileID, want.FromIdentityID, want.FromAccountID = "tp", "ti", "ta"
	want.ToProfileID, want.ToIdentityID, want.ToAccountID = "fp", "fi", "fa"
	if diff := cmp.Diff(want, back, compareAmounts); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if there.GoesToItself() {
		t.Error("the rent goes to itself")
	}
	there.ToProfileID, there.ToIdentityID, there.ToAccountID = "fp", "fi", "fa"
	if !there.GoesToItself() {
		t.Error("a transfer to its own sender does not go to itself")
	}
}
