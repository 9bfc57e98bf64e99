package records_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"remit/internal/accounts/records"
)

// spooled reads JSON Lines into a spool and seals it.
func spooled(t interface {
	Fatal(args ...any)
	Cleanup(f func())
}, lines []string,
) (*records.Spool, error) {
	s, err := records.NewSpool()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	for r, err := range records.NewReader("export", strings.NewReader(strings.Join(lines, "\n")), 1<<30).All() {
		if err == nil {
			err = s.Add("export", r)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return s, s.Seal()
}

// line is a debit.
func line(id, refID, amount, updated string) string {
	return fmt.Sprintf(`{"id":%q,"customer_id":"c","profile_id":"p","amount":%q,"total":"1","fee":"0","asset":"USD",`+
		`"direction":"DEBIT","type":"INTERNAL_TRANSFER_DEBIT","status":"COMPLETED",`+
		`"created_at":"2026-11-01T00:00:00Z","updated_at":%q,"ref_id":%q}`, id, amount, updated, refID)
}

func TestASpoolGivesBackWhatWasAdded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := make(map[string][]string) // ids by ref_id
		var lines []string
		copies, without := 0, 0
		for id := range rapid.IntRange(0, 40).Draw(t, "records") {
			refID := rapid.SampledFrom([]string{"", "a", "b", "c", "d", "e"}).Draw(t, "ref_id")
			name := fmt.Sprint(id)
			if refID == "" {
				without++
			} else {
				want[refID] = append(want[refID], name)
			}
			lines = append(lines, line(name, refID, "10.00", "2026-11-01T00:00:00Z"))
			if refID != "" && rapid.Bool().Draw(t, "copied") {
				copies++
				lines = append(lines, line(name, refID, "10.0", "2026-10-01T00:00:00Z"))
			}
		}
		s, err := spooled(t, lines)
		if err != nil {
			t.Fatal(err)
		}
		got := make(map[string][]string)
		for refID := range s.RefIDs() {
			all, err := s.Of(refID)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range all {
				got[refID] = append(got[refID], r.ID)
				if r.Amount != "10.00" || r.RefID != refID {
					t.Fatalf("%s: %+v", refID, r)
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
		kept, refIDs, repeated, left := s.Counts()
		if kept != len(lines)-copies-without || refIDs != len(want) || repeated != copies || left != without {
			t.Fatalf("counts %d %d %d %d", kept, refIDs, repeated, left)
		}
		if s.Has("nobody") {
			t.Fatal("it has what nobody added")
		}
	})
}

func TestCopiesThatDifferInMoreThanTheirStatusAreRefused(t *testing.T) {
	first := line("1", "a", "10.00", "2026-11-01T00:00:00Z")
	for name, second := range map[string]string{
		"amount":  line("1", "a", "10.01", "2026-11-01T00:00:00Z"),
		"ref_id":  line("1", "b", "10.00", "2026-11-01T00:00:00Z"),
		"asset":   strings.Replace(first, "USD", "EUR", 1),
		"profile": strings.Replace(first, `"p"`, `"q"`, 1),
		"account": strings.Replace(first, `"profile_id"`, `"account_id":"a-2","profile_id"`, 1),
		"group":   strings.Replace(first, `"profile_id"`, `"group_id":"g-2","profile_id"`, 1),
		"who":     strings.Replace(first, `"profile_id"`, `"identity_id":"i-2","profile_id"`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			for _, lines := range [][]string{{first, second}, {second, first}} {
				_, err := spooled(t, lines)
				wrong, ok := errors.AsType[*records.ContradictionError](err)
				if !ok || wrong.ID != "1" || !slices.Equal([]string{wrong.First, wrong.Again}, []string{"export:1", "export:2"}) {
					t.Errorf("error %v", err)
				}
			}
		})
	}
}

func TestASpoolKnowsTheTwinsOfARefID(t *testing.T) {
	const at = "2026-11-01T00:00:00Z"
	s, err := spooled(t, []string{
		line("1", "RENT", "1", at), line("2", "rent ", "1", at), line("3", "fee", "1", at), line("4", "rent", "1", at),
		line("5", "Rent", "1", at), line("6", "RENT", "1", at), line("7", "", "1", at), line("8", "rent ", "1", at),
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []records.Twin{{RefID: "RENT", Place: "export:1"}, {RefID: "Rent", Place: "export:5"}, {RefID: "rent ", Place: "export:2"}}
	if diff := cmp.Diff(want, s.Twins("rent")); diff != "" {
		t.Error(diff)
	}
	if twins := s.Twins("fee"); len(twins) > 0 {
		t.Errorf("fee has twins: %v", twins)
	}
	if twins := s.Twins(""); len(twins) > 0 {
		t.Errorf("no ref_id at all has twins: %v", twins)
	}
}

// TestACreditSideIsOfTheDebitOfItsGroup has services write other ref_ids on the credit side than on the debit side.
func TestACreditSideIsOfTheDebitOfItsGroup(t *testing.T) {
	side := func(id, direction, status, refID, group string) string {
		return fmt.Sprintf(`{"id":%q,"customer_id":"c","profile_id":"p","amount":"1","total":"1","fee":"0","asset":"USD",`+
			`"direction":%q,"type":"INTERNAL_TRANSFER_%[2]s","status":%q,"created_at":"2026-11-01T00:00:00Z","updated_at":"2026-11-01T00:00:00Z",`+
			`"ref_id":%q,"group_id":%q}`, id, direction, status, refID, group)
	}
	debit := side("1", "DEBIT", "FAILED", "rent", "g")
	tests := map[string]struct {
		lines   []string
		want    []string // the ids of rent
		counted [4]int
	}{
		"without a ref_id":                        {[]string{side("2", "CREDIT", "COMPLETED", "", "g"), debit}, []string{"1", "2"}, [4]int{2, 1, 0, 0}},
		"without a ref_id, and it agrees":         {[]string{debit, side("2", "CREDIT", "FAILED", "", "g")}, []string{"1", "2"}, [4]int{2, 1, 0, 0}},
		"without a ref_id, and twice":             {[]string{debit, side("2", "CREDIT", "COMPLETED", "", "g"), side("2", "CREDIT", "PENDING", "", "g")}, []string{"1", "2"}, [4]int{2, 1, 1, 0}},
		"without a ref_id and of another group":   {[]string{debit, side("2", "CREDIT", "COMPLETED", "", "h")}, []string{"1"}, [4]int{1, 1, 0, 1}},
		"without a ref_id and a group_id":         {[]string{side("1", "DEBIT", "FAILED", "rent", ""), side("2", "CREDIT", "COMPLETED", "", "")}, []string{"1"}, [4]int{1, 1, 0, 1}},
		"a deposit of that group":                 {[]string{debit, strings.Replace(side("2", "CREDIT", "COMPLETED", "", "g"), "INTERNAL_TRANSFER_CREDIT", "WIRE_DEPOSIT", 1)}, []string{"1"}, [4]int{1, 1, 0, 1}},
		"of a group that two debits have":         {[]string{debit, side("3", "DEBIT", "FAILED", "fee", "g"), side("2", "CREDIT", "COMPLETED", "", "g")}, []string{"1"}, [4]int{2, 2, 0, 1}},
		"under another ref_id":                    {[]string{side("2", "CREDIT", "COMPLETED", "IN-17", "g"), debit}, []string{"1", "2"}, [4]int{2, 2, 0, 0}},
		"under another ref_id, PENDING":           {[]string{debit, side("2", "CREDIT", "PENDING", "IN-17", "g")}, []string{"1", "2"}, [4]int{2, 2, 0, 0}},
		"under another ref_id, and it agrees":     {[]string{debit, side("2", "CREDIT", "FAILED", "IN-17", "g")}, []string{"1"}, [4]int{2, 2, 0, 0}},
		"under another ref_id, which has a debit": {[]string{debit, side("2", "CREDIT", "COMPLETED", "fee", "g"), side("3", "DEBIT", "COMPLETED", "fee", "h")}, []string{"1"}, [4]int{3, 2, 0, 0}},
		"under one that nobody can declare":       {[]string{debit, side("2", "CREDIT", "COMPLETED", "rent ", "g")}, []string{"1", "2"}, [4]int{1, 1, 0, 1}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s, err := spooled(t, tt.lines)
			if err != nil {
				t.Fatal(err)
			}
			found, err := s.Of("rent")
			var ids []string
			for _, r := range found {
				if ids = append(ids, r.ID); r.RefID != "rent" {
					t.Errorf("%s has the ref_id %q", r.ID, r.RefID)
				}
			}
			if diff := cmp.Diff(tt.want, ids); diff != "" || err != nil {
				t.Error(diff, err)
			}
			kept, refIDs, repeated, without := s.Counts()
			if got := [4]int{kept, refIDs, repeated, without}; got != tt.counted {
				t.Errorf("counted %v, want %v", got, tt.counted)
			}
			if found, err := s.Of("IN-17"); len(found) != strings.Count(strings.Join(tt.lines, ""), "IN-17") || err != nil {
				t.Errorf("IN-17 has %v, %v", found, err)
			}
		})
	}
}
