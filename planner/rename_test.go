package planner_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"remit/config"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// lastPaid is what a block recorded by words at an age, of the movement that all twins make.
func lastPaid(refID, block, words string, age time.Duration, edits ...func(*state.Detail)) state.Detail {
	return record(declare(refID, twin, named(block, words)), state.Recorded, append(edits, intended(age))...)
}

// undeclared is of what no file declared.
func undeclared(d *state.Detail) { d.Status, d.Intent.Address, d.Intent.Place = state.Adopted, "", "" }

// byPeriod are the words of a monthly file.
func byPeriod(of string) string {
	return `ref_id = "` + of + `-${var.period}-${each.key}", key = "employee"`
}

func TestRenames(t *testing.T) {
	const month = 31 * day
	byBlock := func(count int) planner.Controls {
		return planner.Controls{AcceptRenames: map[string]int{"transfer.internal.pay": count}}
	}
	const flag = "rename 1 [b] --accept-renames=transfer.internal.pay:1"
	b := declare("b", twin, named("pay", "new"))
	tests := map[string]struct {
		declared  []config.Transfer
		recorded  []state.Detail
		controls  planner.Controls
		obstacles []string
		accepted  []string
		unused    []string
	}{
		"other words, a month ago":      {declared: []config.Transfer{b}, recorded: []state.Detail{lastPaid("a", "pay", "old", month)}, obstacles: []string{flag}},
		"other words, years ago":        {declared: []config.Transfer{b}, recorded: []state.Detail{lastPaid("a", "pay", "old", 900*day)}, obstacles: []string{flag}},
		"other words of another block":  {declared: []config.Transfer{b}, recorded: []state.Detail{lastPaid("a", "wages", "old", month)}, obstacles: []string{flag}},
		"other words, a mark only":      {declared: []config.Transfer{declare("b", twin, named("pay", "new"), window(0))}, recorded: []state.Detail{lastPaid("a", "pay", "old", month)}, obstacles: []string{flag}},
		"the same words":                {declared: []config.Transfer{b}, recorded: []state.Detail{lastPaid("a", "pay", "new", month)}},
		"the same words, within":        {declared: []config.Transfer{b}, recorded: []state.Detail{lastPaid("a", "pay", "new", day/2)}, obstacles: []string{"look-alike 1 [b] --accept-duplicate=b"}},
		"the same words, another block": {declared: []config.Transfer{b}, recorded: []state.Detail{lastPaid("a", "wages", "new", month)}},
		"words that nobody knows": {
			declared: []config.Transfer{b}, recorded: []state.Detail{lastPaid("a", "pay", "", month, undeclared)}, obstacles: []string{flag},
		},
		"words that nobody knows, of this shape": {
			declared: []config.Transfer{declare("b-02", twin, named("pay", "new"))}, recorded: []state.Detail{lastPaid("b-1", "pay", "", month, undeclared)},
		},
		"words that nobody knows, of this shape, within": {
			declared: []config.Transfer{declare("b-2", twin, named("pay", "new"))}, recorded: []state.Detail{lastPaid("b-1", "pay", "", day/2, undeclared)},
			obstacles: []string{"look-alike 1 [b-2] --accept-duplicate=b-2"},
		},
		"words that nobody knows, of this shape and another number": {
			declared:  []config.Transfer{declare("b-02", twin, named("pay", "new"))},
			recorded:  []state.Detail{lastPaid("b-1", "pay", "", month, undeclared), lastPaid("b-2", "pay", "", 2*month, undeclared)},
			obstacles: []string{"rename 1 [b-02] --accept-renames=transfer.internal.pay:1"},
		},
		"words that nobody knows, and its own": {
			declared: []config.Transfer{b}, recorded: []state.Detail{lastPaid("a", "pay", "", month, undeclared), lastPaid("z", "pay", "new", 2*month)},
		},
		"another movement":       {declared: []config.Transfer{declare("b", named("pay", "new"))}, recorded: []state.Detail{lastPaid("a", "pay", "old", month)}},
		"what FAILED":            {declared: []config.Transfer{b}, recorded: []state.Detail{lastPaid("a", "pay", "old", month, recordStatus(transfer.Failed))}},
		"what is still declared": {declared: []config.Transfer{b, declare("a", twin, named("pay", "old"))}, recorded: []state.Detail{lastPaid("a", "pay", "old", month)}},
		"a new block beside, whose words are new": {
			declared:  []config.Transfer{b, declare("m-2", twin, named("meal", "meal"), window(0))},
			recorded:  []state.Detail{lastPaid("m-1", "meal", "meal", month)},
			obstacles: []string{flag},
		},
		"other words, which a declared one was recorded under": {
			declared:  []config.Transfer{b, declare("m-2", twin, named("meal", "meal"))},
			recorded:  []state.Detail{lastPaid("m-1", "meal", "meal", 2*month), lastPaid("m-2", "meal", "meal", month)},
			obstacles: []string{flag},
		},
		"other words beside its own, which are declared": {
			declared: []config.Transfer{b, declare("c", twin, named("pay", "new")), declare("m-2", twin, named("meal", "meal"))},
			recorded: []state.Detail{lastPaid("m-1", "meal", "meal", 2*month), lastPaid("m-2", "meal", "meal", month), lastPaid("c", "pay", "new", month)},
		},
		"a month that is run again under new words": {
			declared: []config.Transfer{declare("new-2026-03-E-001", twin, named("pay", byPeriod("new")))},
			recorded: []state.Detail{
				lastPaid("new-2026-06-E-001", "pay", byPeriod("new"), month), lastPaid("new-2026-05-E-001", "pay", byPeriod("new"), 2*month),
				lastPaid("old-2026-04-E-001", "pay", byPeriod("old"), 3*month), lastPaid("old-2026-03-E-001", "pay", byPeriod("old"), 4*month),
			},
			obstacles: []string{"rename 1 [new-2026-03-E-001] --accept-renames=transfer.internal.pay:1"},
		},
		"the next month under words that were new once": {
			declared: []config.Transfer{declare("new-2026-07-E-001", twin, named("pay", byPeriod("new")))},
			recorded: []state.Detail{
				lastPaid("new-2026-06-E-001", "pay", byPeriod("new"), month), lastPaid("new-2026-05-E-001", "pay", byPeriod("new"), 2*month),
				lastPaid("old-2026-04-E-001", "pay", byPeriod("old"), 3*month), lastPaid("old-2025-07-E-001", "pay", byPeriod("old"), 12*month),
			},
		},
		"one of two blocks, the other paid later": {
			declared:  []config.Transfer{b, declare("m-2", twin, named("meal", "meal"), window(0))},
			recorded:  []state.Detail{lastPaid("m-1", "meal", "meal", month), lastPaid("a", "pay", "old", 2*month)},
			obstacles: []string{flag},
		},
		"another block's payment waits": {
			declared: []config.Transfer{b, declare("m-2", twin, named("meal", "meal"), notBefore(now.Add(day)))},
			recorded: []state.Detail{lastPaid("m-1", "meal", "meal", month), lastPaid("a", "pay", "new", 2*month)},
		},
		"another block's payment is made": {
			declared: []config.Transfer{declare("b", twin, named("pay", "new"), window(day)), declare("m-2", twin, named("meal", "meal"))},
			recorded: []state.Detail{lastPaid("m-1", "meal", "meal", month), lastPaid("m-2", "meal", "meal", 2*day), lastPaid("a", "pay", "new", 2*month)},
		},
		"what is made was made by words that are gone": {
			declared:  []config.Transfer{declare("b", twin, named("pay", "new"), window(day)), declare("m-2", twin, named("meal", "lunch"))},
			recorded:  []state.Detail{lastPaid("m-1", "meal", "meal", month), lastPaid("m-2", "meal", "meal", 2*day)},
			obstacles: []string{flag},
		},
		"words that changed, and changed back": {
			declared: []config.Transfer{b}, recorded: []state.Detail{lastPaid("a", "pay", "old", month), lastPaid("z", "pay", "new", 2*month)},
			obstacles: []string{flag},
		},
		"words that were accepted before": {
			declared: []config.Transfer{b}, recorded: []state.Detail{lastPaid("z", "pay", "new", month), lastPaid("a", "pay", "old", 2*month)},
		},
		"a record without a declaration, newer than other words": {
			declared:  []config.Transfer{b},
			recorded:  []state.Detail{lastPaid("i", "pay", "", month, undeclared), lastPaid("a", "pay", "old", 2*month)},
			obstacles: []string{flag},
		},
		"what 0.1.0 recorded, and older": {
			declared: []config.Transfer{b}, recorded: []state.Detail{lastPaid("i", "pay", "", month), lastPaid("a", "pay", "", 2*month)},
			obstacles: []string{flag},
		},
		"in doubt, which has to be settled": {
			declared: []config.Transfer{b}, recorded: []state.Detail{lastPaid("a", "pay", "old", month, func(d *state.Detail) { d.Status = state.InDoubt })},
			controls: byBlock(1), obstacles: []string{`look-alike 1 [b] remit resolve a --recorded FILE --reason "…"`}, unused: []string{"accept-renames=transfer.internal.pay:1"},
		},
		"a label that is written out as another": {
			declared:  []config.Transfer{declare("b", twin, func(t *config.Transfer) { t.Naming = config.NamingWritten })},
			recorded:  []state.Detail{record(declare("a", twin, label), state.Recorded, intended(900*day))},
			obstacles: []string{"rename 1 [b] ref_id = \"a\"\n--accept-renames=transfer.internal.b:1"},
		},
		"a ref_id that is written otherwise": {
			declared:  []config.Transfer{declare("b", twin, func(t *config.Transfer) { t.Naming = config.NamingWritten })},
			recorded:  []state.Detail{record(declare("a", twin, func(t *config.Transfer) { t.Naming = config.NamingWritten }), state.Recorded, intended(900*day))},
			obstacles: []string{"rename 1 [b] ref_id = \"a\"\n--accept-renames=transfer.internal.b:1"},
		},
		"all of a block are one obstacle": {
			declared:  []config.Transfer{b, declare("c", twin, named("pay", "new"), window(0)), declare("d", twin, named("pay", "new"), window(0))},
			recorded:  []state.Detail{lastPaid("a", "pay", "old", month)},
			obstacles: []string{"rename 3 [b c d] --accept-renames=transfer.internal.pay:3"},
		},
		"accepted by its block": {
			declared: []config.Transfer{b}, recorded: []state.Detail{lastPaid("a", "pay", "old", month)}, controls: byBlock(1),
			accepted: []string{"accept-renames=transfer.internal.pay:1"},
		},
		"not accepted by another count": {
			declared: []config.Transfer{b}, recorded: []state.Detail{lastPaid("a", "pay", "old", month)}, controls: byBlock(2), obstacles: []string{flag},
		},
		"not accepted by the flag of look-alikes": {
			declared: []config.Transfer{declare("b", twin, named("pay", "new"), inBatch("pay"))}, recorded: []state.Detail{lastPaid("a", "pay", "old", day/2)},
			controls:  planner.Controls{AcceptDuplicates: map[string]int{"pay": 1}},
			obstacles: []string{flag}, unused: []string{"accept-duplicates=pay:1"},
		},
		"accepted by name": {
			declared: []config.Transfer{b}, recorded: []state.Detail{lastPaid("a", "pay", "old", month)},
			controls: planner.Controls{AcceptDuplicate: []string{"b"}}, accepted: []string{"accept-duplicate=b"},
		},
		"accepted by its argument": {
			declared: []config.Transfer{declare("b", twin, named("pay", "new"), acceptOf("a"))}, recorded: []state.Detail{lastPaid("a", "pay", "old", month)},
			accepted: []string{"accept_duplicate_of=b"},
		},
		"a look-alike besides needs a word of its own": {
			declared: []config.Transfer{b, declare("c", twin, named("gift", "gift"))},
			recorded: []state.Detail{lastPaid("a", "pay", "old", month), lastPaid("c", "gift", "gift", day)}, controls: byBlock(1),
			obstacles: []string{"look-alike 1 [b] --accept-duplicate=b"}, accepted: []string{"accept-renames=transfer.internal.pay:1"},
		},
		"a flag for what was not renamed": {declared: []config.Transfer{b}, controls: byBlock(1), unused: []string{"accept-renames=transfer.internal.pay:1"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.obstacles == nil {
				test.obstacles = []string{}
			}
			p := plan(t, newMemory(test.recorded...), test.controls, test.declared...)
			if diff := cmp.Diff(test.obstacles, obstacles(p)); diff != "" {
				t.Errorf("obstacles (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.accepted, p.Header.Accepted); diff != "" {
				t.Errorf("accepted (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.unused, p.Unused); diff != "" {
				t.Errorf("unused (-want +got):\n%s", diff)
			}
		})
	}
}

func TestARenameSaysWhatChanged(t *testing.T) {
	p := plan(t, newMemory(lastPaid("a-1", "pay", "old", 62*day), lastPaid("a-2", "pay", "old", 31*day)), planner.Controls{}, declare("b", twin, named("pay", "new")))
	if len(p.Obstacles) != 1 {
		t.Fatalf("obstacles %v", obstacles(p))
	}
	at := now.Add(-31 * day)
	want := &planner.Renaming{Was: "old", Is: "new", Oldest: at, Newest: at}
	if diff := cmp.Diff(want, p.Obstacles[0].Rename); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if s := find(t, p, "b").Signals; len(s) == 0 || s[len(s)-1].RefID != "a-2" || !strings.HasSuffix(s[len(s)-1].Detail, "by old; and 1 more") {
		t.Errorf("signals %+v", s)
	}
}

// TestAMonthRunAgainIsTheOneThatWasPaid has a month that was paid under the old words, and the one before this one,
// which was paid under the new ones lately: a rename, and a look-alike that is accepted by itself. A saved plan says the same
// with the state and without it.
func TestAMonthRunAgainIsTheOneThatWasPaid(t *testing.T) {
	m := newMemory(lastPaid("new-2026-06-E-001", "pay", byPeriod("new"), day/2), lastPaid("old-2026-03-E-001", "pay", byPeriod("old"), 90*day))
	again := declare("new-2026-03-E-001", twin, named("pay", byPeriod("new")))
	p := plan(t, m, planner.Controls{AcceptRenames: map[string]int{"transfer.internal.pay": 1}}, again)
	if diff := cmp.Diff([]string{"look-alike 1 [new-2026-03-E-001] --accept-duplicate=new-2026-03-E-001"}, obstacles(p)); diff != "" {
		t.Errorf("obstacles (-want +got):\n%s", diff)
	}
	var file bytes.Buffer
	p.Header.PlanID, p.Header.Expires = "plan-1", now.Add(day)
	if err := p.Save(&file); err != nil {
		t.Fatal(err)
	}
	computed, err := alone(t, file.Bytes(), planner.Controls{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(marks(p), marks(computed)); diff != "" {
		t.Errorf("the marks without the state (-made +computed):\n%s", diff)
	}
	opened, err := planner.Open(&file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := opened.Verify(t.Context(), m, planner.Controls{}, now); err != nil {
		t.Error(err)
	}
}

// TestValuesStandInOrder is about ref_ids of the same payment.
func TestValuesStandInOrder(t *testing.T) {
	for name, test := range map[string]struct {
		refID, words, old, oldWords string
		want                        bool
	}{
		"the same":                   {"new-2026-07-03-E-1", byPeriod("new"), "old-2026-07-03-E-1", byPeriod("old"), true},
		"in another order":           {"new-2026-07-03-E-1", byPeriod("new"), "old-E-1-2026-07-03", byPeriod("old"), true},
		"with zeros and capitals":    {"new-2026-7-3-E-1", byPeriod("new"), "old-2026-07-03-e-001", byPeriod("old"), true},
		"a day for a month":          {"new-2026-07-03-E-1", byPeriod("new"), "old-2026-03-07-E-1", byPeriod("old"), false},
		"a day twice":                {"new-2026-07-07-E-1", byPeriod("new"), "old-2026-07-03-E-1", byPeriod("old"), false},
		"another month":              {"new-2026-07-E-1", byPeriod("new"), "old-2026-03-E-1", byPeriod("old"), false},
		"another written year":       {"pay-2027-02-E-1", byPeriod("pay-2027"), "pay-2026-02-E-1", byPeriod("pay-2026"), false},
		"a version in the new words": {"pay-v2-2026-03-E-1", byPeriod("pay-v2"), "pay-2026-03-E-1", byPeriod("pay"), true},
		"a version in the old words": {"pay-2026-02-E-1", byPeriod("pay"), "pay-v2-2026-01-E-1", byPeriod("pay-v2"), false},
		"names alone":                {"new-july-ada", byPeriod("new"), "old-march-ada", byPeriod("old"), false},
		"no values":                  {"rent", `ref_id = "rent"`, "rent-2026", byPeriod("old"), false},
	} {
		t.Run(name, func(t *testing.T) {
			p := plan(t, newMemory(lastPaid("newest-0-0-z", "pay", test.words, 31*day), lastPaid(test.old, "pay", test.oldWords, 90*day)), planner.Controls{},
				declare(test.refID, twin, named("pay", test.words)))
			if got := !p.Applicable(); got != test.want {
				t.Errorf("it is asked about: %t, not %t: %v", got, test.want, obstacles(p))
			}
		})
	}
}

// TestAMonthlyFileIsToldItsWindow is about the line that the diagnostic shows.
func TestAMonthlyFileIsToldItsWindow(t *testing.T) {
	for name, test := range map[string]struct {
		age  time.Duration
		edit func(*config.Transfer)
		want string
	}{
		"a short month": {28 * day, func(*config.Transfer) {}, `duplicate_within = "9d"`},
		"a week":        {7 * day, func(*config.Transfer) {}, `duplicate_within = "2d"`},
		"two days":      {2 * day, func(*config.Transfer) {}, ""},
		"no age":        {28 * day, func(t *config.Transfer) { t.Request.Asset = "EUR" }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := declare("b", twin, named("pay", "words"))
			test.edit(&b)
			p := plan(t, newMemory(lastPaid("a", "pay", "words", test.age)), planner.Controls{}, b)
			got := ""
			for _, o := range p.Obstacles {
				got += o.DuplicateWithin
			}
			if got != test.want {
				t.Errorf("the line is %q, not %q", got, test.want)
			}
		})
	}
}

// counting counts the details that are read.
type counting struct {
	*memory
	read int
}

func (c *counting) Details(ctx context.Context, refIDs ...string) ([]state.Detail, error) {
	c.read += len(refIDs)
	return c.memory.Details(ctx, refIDs...)
}

// TestTheNewestTwinIsRead has twelve months of history, and one movement each month: one of the
// recorded transfers is read, and one of five years that had other words at first. With nothing undeclared, none is.
func TestTheNewestTwinIsRead(t *testing.T) {
	m := newMemory()
	for month := range 12 {
		d := lastPaid(fmt.Sprintf("a-%02d", month), "pay", "words", time.Duration(12-month)*31*day)
		m.details[d.RefID] = d
	}
	record := &counting{memory: m}
	if p := plan(t, record, planner.Controls{}, declare("a-12", twin, named("pay", "words"))); !p.Applicable() || record.read != 1 {
		t.Errorf("%d transfers are read; obstacles %v", record.read, obstacles(p))
	}
	years := newMemory()
	for month := range 60 {
		of := map[bool]string{true: byPeriod("old"), false: byPeriod("pay")}[month < 30]
		d := lastPaid(fmt.Sprintf("%s-%d-%02d-E-007", of[len(`ref_id = "`):][:3], 2021+month/12, month%12+1), "pay", of, time.Duration(60-month)*31*day)
		years.details[d.RefID] = d
	}
	record = &counting{memory: years}
	if p := plan(t, record, planner.Controls{}, declare("pay-2026-01-E-007", twin, named("pay", byPeriod("pay")))); !p.Applicable() || record.read != 1 {
		t.Errorf("%d transfers of sixty are read; obstacles %v", record.read, obstacles(p))
	}
	record = &counting{memory: newMemory(lastPaid("a", "pay", "words", 31*day))}
	if p := plan(t, record, planner.Controls{}, declare("a", twin, named("pay", "words")), declare("b", twin, named("pay", "words"))); !p.Applicable() || record.read != 0 {
		t.Errorf("%d transfers are read; obstacles %v", record.read, obstacles(p))
	}
}

// TestNoHistoryPaysARenameUnasked draws months in which blocks pay the same person the same amount,
// and then renames one of them: it is asked about, whatever the others did, and in whatever order.
// A month in which no words change is never asked about.
func TestNoHistoryPaysARenameUnasked(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		blocks := rapid.IntRange(1, 3).Draw(t, "blocks")
		m := newMemory()
		words := func(block int) string { return fmt.Sprintf("words of %d", block) }
		refID := func(words string, month int) string {
			return strings.ReplaceAll(fmt.Sprintf("%s-%02d", words, month), " ", "-")
		}
		declareAll := func(month int, word func(int) string) []config.Transfer {
			var all []config.Transfer
			for block := range blocks {
				all = append(all, declare(refID(word(block), month), twin, named(fmt.Sprintf("block-%d", block), word(block)), window(0)))
			}
			return all
		}
		months := rapid.IntRange(1, 4).Draw(t, "months")
		for month := range months {
			for block, d := range declareAll(month, words) { // each was in use before
				age := time.Duration(months-month)*31*day + time.Duration(rapid.IntRange(0, 20).Draw(t, "later"))*day
				if block == 0 || month == 0 || rapid.Bool().Draw(t, "paid") {
					m.details[d.Request.RefID] = record(d, state.Recorded, intended(age))
				}
			}
		}
		next := func(word func(int) string) *planner.Plan {
			declared := rapid.Permutation(declareAll(months, word)).Draw(t, "order")
			p, err := planner.New(context.Background(), slices.Values(declared), m, planner.Controls{}, now)
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		if p := next(words); !p.Applicable() {
			t.Fatalf("nothing was renamed: %v", obstacles(p))
		}
		renamed := next(func(block int) string {
			if block == 0 {
				return "other words"
			}
			return words(block)
		})
		asked := slices.ContainsFunc(renamed.Obstacles, func(o planner.Obstacle) bool {
			return o.Kind == planner.ObstacleRename && o.Address == "transfer.internal.block-0"
		})
		if !asked {
			t.Fatalf("a rename is not asked about: %v", obstacles(renamed))
		}
	})
}

// TestNamingsAreSaved writes lines whose naming is that of the line before, and reads them again.
func TestNamingsAreSaved(t *testing.T) {
	p := plan(t, newMemory(), planner.Controls{}, declare("a", named("pay", "words")), declare("b", named("pay", "words")),
		declare("c", label), declare("d", named("pay", "words")), declare("e", named("pay", "others")))
	p.Header.PlanID = "plan-1"
	var file bytes.Buffer
	if err := p.Save(&file); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(file.String(), `"naming":"words"`); n != 2 {
		t.Errorf("the words are written %d times", n)
	}
	opened, err := planner.Open(&file)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range opened.Changes.All() {
		got = append(got, c.Naming)
	}
	if diff := cmp.Diff([]string{"words", "words", "", "words", "others"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
