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
