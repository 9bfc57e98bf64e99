package planner_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/config"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// marks are the look-alikes and renames of a plan in short, in its order.
func marks(p *planner.Plan) []string {
	all := []string{}
	for _, c := range p.Changes.All() {
		for _, s := range c.Signals {
			if s.Kind == planner.FirstDestination || s.Kind == planner.AmountOutOfLine {
				continue
			}
			mark := fmt.Sprintf("%s: %s of %s", c.RefID, s.Kind, s.RefID)
			if s.Accepted != "" {
				mark += " by " + s.Accepted
			}
			all = append(all, mark)
		}
	}
	return all
}

func TestLookAlikes(t *testing.T) {
	old := func(status state.Status, edits ...func(*state.Detail)) state.Detail {
		return record(declare("old", twin), status, edits...)
	}
	labelled := func(status state.Status, edits ...func(*state.Detail)) state.Detail {
		return record(declare("old", twin, label), status, edits...)
	}
	byName := func(refIDs ...string) planner.Controls { return planner.Controls{AcceptDuplicate: refIDs} }
	byBatch := func(count int) planner.Controls {
		return planner.Controls{AcceptDuplicates: map[string]int{"pay": count}}
	}
	const flagB = "look-alike 1 [b] --accept-duplicate=b"
	tests := map[string]struct {
		declared  []config.Transfer
		recorded  []state.Detail
		controls  planner.Controls
		marks     []string
		obstacles []string
		accepted  []string
		unused    []string
	}{
		"a recorded twin blocks": {
			declared: []config.Transfer{declare("b", twin), declare("old", twin)}, recorded: []state.Detail{old(state.Recorded)},
			marks: []string{"b: look-alike of old"}, obstacles: []string{flagB},
		},
		"a recorded twin that is no longer declared blocks": {
			declared: []config.Transfer{declare("b", twin)}, recorded: []state.Detail{old(state.Adopted)},
			marks: []string{"b: look-alike of old"}, obstacles: []string{flagB},
		},
		"a twin in conflict blocks as well": {
			declared: []config.Transfer{declare("b", twin)}, recorded: []state.Detail{old(state.Conflict)},
			marks:     []string{"b: look-alike of old"},
			obstacles: []string{`conflict 1 [old] remit resolve old --accept-record --reason "…"`, flagB},
		},
		"a twin of another scale is one": {
			declared: []config.Transfer{declare("b", twin, func(c *config.Transfer) { amount("80")(&c.Request) })},
			recorded: []state.Detail{old(state.Recorded)},
			marks:    []string{"b: look-alike of old"}, obstacles: []string{flagB},
		},
		"a twin by the other operation is one": {
			declared: []config.Transfer{declare("b", twin, func(c *config.Transfer) { c.Request.Operation = transfer.Platform })},
			recorded: []state.Detail{old(state.Recorded)},
			marks:    []string{"b: look-alike of old"}, obstacles: []string{flagB},
		},
		"another amount is none": {
			declared: []config.Transfer{declare("b", twin, func(c *config.Transfer) { amount("80.01")(&c.Request) })},
			recorded: []state.Detail{old(state.Recorded)}, marks: []string{}, obstacles: []string{},
		},
		"what was unsent, refused, FAILED or settled as not made is no twin": {
			declared: []config.Transfer{declare("b", twin)},
			recorded: []state.Detail{
				old(state.Unsent), record(declare("r", twin), state.Refused), record(declare("t", twin), state.Tombstone),
				record(declare("f", twin), state.Recorded, recordStatus(transfer.Failed)),
			},
			marks: []string{}, obstacles: []string{},
		},
		"a twin at the window's edge blocks": {
			declared: []config.Transfer{declare("b", twin, window(10*day))}, recorded: []state.Detail{old(state.Recorded, intended(10*day))},
			marks: []string{"b: look-alike of old"}, obstacles: []string{flagB},
		},
		"an older one does not": {
			declared: []config.Transfer{declare("b", twin, window(10*day))}, recorded: []state.Detail{old(state.Recorded, intended(10*day+1e6))},
			marks: []string{}, obstacles: []string{},
		},
		"a twin of unknown age blocks": {
			declared: []config.Transfer{declare("b", twin)},
			recorded: []state.Detail{old(state.Recorded, func(d *state.Detail) { d.IntendedAt = time.Time{} })},
			marks:    []string{"b: look-alike of old"}, obstacles: []string{flagB},
		},
		"a window of 0 is a mark only": {
			declared: []config.Transfer{declare("b", twin, window(0)), declare("c", twin, window(0))}, recorded: []state.Detail{old(state.Recorded)},
			marks: []string{"b: look-alike of old", "c: look-alike of old", "c: look-alike of b"}, obstacles: []string{},
		},
		"a window of 0 lets nothing through whose twin is in doubt and no longer declared": {
			declared: []config.Transfer{declare("b", twin, window(0))}, recorded: []state.Detail{old(state.InDoubt)}, controls: byName("b"),
			marks: []string{"b: look-alike of old"}, obstacles: []string{`look-alike 1 [b] remit resolve old --recorded FILE --reason "…"`}, unused: []string{"accept-duplicate=b"},
		},
		"a window of 0 marks as far back as the default": {
			declared: []config.Transfer{declare("b", twin, window(0))}, recorded: []state.Detail{old(state.Recorded, intended(31*day))},
			marks: []string{}, obstacles: []string{},
		},
		"accepted by name": {
			declared: []config.Transfer{declare("b", twin)}, recorded: []state.Detail{old(state.Recorded)}, controls: byName("b"),
			marks: []string{"b: look-alike of old by accept-duplicate=b"}, obstacles: []string{}, accepted: []string{"accept-duplicate=b"},
		},
		"accepted by its argument": {
			declared: []config.Transfer{declare("b", twin, acceptOf("old"))}, recorded: []state.Detail{old(state.Recorded)},
			marks: []string{"b: look-alike of old by accept_duplicate_of=b"}, obstacles: []string{}, accepted: []string{"accept_duplicate_of=b"},
		},
		"an argument that names one of two twins accepts none": {
			declared: []config.Transfer{declare("b", twin, acceptOf("old"))},
			recorded: []state.Detail{old(state.Recorded), record(declare("old2", twin), state.Recorded)},
			marks:    []string{"b: look-alike of old", "b: look-alike of old2"}, obstacles: []string{flagB},
		},
		"an argument that names another than the twin accepts nothing": {
			declared: []config.Transfer{declare("b", twin, acceptOf("older"))}, recorded: []state.Detail{old(state.Recorded)},
			marks: []string{"b: look-alike of old"}, obstacles: []string{flagB},
		},
		"an argument that names another new transfer accepts nothing": {
			declared: []config.Transfer{declare("a", twin), declare("b", twin, acceptOf("c"))},
			marks:    []string{"b: look-alike of a"}, obstacles: []string{flagB},
		},
		"of two new twins, which name the recorded one and not each other, neither passes": {
			declared: []config.Transfer{declare("a", twin, acceptOf("old", "other")), declare("b", twin, acceptOf("old", "other"))},
			recorded: []state.Detail{old(state.Recorded)},
			marks:    []string{"a: look-alike of old", "b: look-alike of old", "b: look-alike of a"}, obstacles: []string{
				"look-alike 2 [a b] --accept-duplicate=a --accept-duplicate=b",
			},
		},
		"the argument of one row is not that of the next row of its block": {
			declared: []config.Transfer{declare("a", twin, named("pay", ""), acceptOf("old", "b")), declare("b", twin, named("pay", ""))},
			recorded: []state.Detail{old(state.Recorded)},
			marks: []string{
				"a: look-alike of old by accept_duplicate_of=a", "a: look-alike of b by accept_duplicate_of=a",
				"b: look-alike of old",
			},
			obstacles: []string{flagB}, accepted: []string{"accept_duplicate_of=a"},
		},
		"the only one of a batch is accepted by name": {
			declared: []config.Transfer{declare("b", twin, inBatch("pay"))}, recorded: []state.Detail{old(state.Recorded)},
			marks: []string{"b: look-alike of old"}, obstacles: []string{flagB},
		},
		"the name of the twin accepts nothing": {
			declared: []config.Transfer{declare("b", twin)}, recorded: []state.Detail{old(state.Recorded)}, controls: byName("old"),
			marks: []string{"b: look-alike of old"}, obstacles: []string{flagB}, unused: []string{"accept-duplicate=old"},
		},
		"a twin in doubt can't be accepted": {
			declared: []config.Transfer{declare("b", twin, acceptOf("old"))}, recorded: []state.Detail{old(state.InDoubt)}, controls: byName("b"),
			marks: []string{"b: look-alike of old"}, obstacles: []string{`look-alike 1 [b] remit resolve old --recorded FILE --reason "…"`},
			unused: []string{"accept-duplicate=b"},
		},
		"a twin in doubt blocks at any age": {
			declared: []config.Transfer{declare("b", twin)}, recorded: []state.Detail{old(state.InDoubt, intended(900*day))}, controls: planner.Controls{Lookup: true},
			marks: []string{"b: look-alike of old"}, obstacles: []string{"look-alike 1 [b] remit resolve old"},
		},
		"of two new twins one blocks": {
			declared: []config.Transfer{declare("a", twin), declare("b", twin)},
			marks:    []string{"b: look-alike of a"}, obstacles: []string{flagB},
		},
		"of two new twins, naming either is enough": {
			declared: []config.Transfer{declare("a", twin), declare("b", twin)}, controls: byName("a"),
			marks: []string{"a: look-alike of b by accept-duplicate=a"}, obstacles: []string{}, accepted: []string{"accept-duplicate=a"},
		},
		"of three new twins two block": {
			declared: []config.Transfer{declare("a", twin), declare("b", twin), declare("c", twin)},
			marks:    []string{"b: look-alike of a", "b: look-alike of c", "c: look-alike of a", "c: look-alike of b"},
			obstacles: []string{
				"look-alike 2 [b c] --accept-duplicate=b --accept-duplicate=c",
			},
		},
		"of three new twins, one accepted, one blocks": {
			declared: []config.Transfer{declare("a", twin), declare("b", twin), declare("c", twin)}, controls: byName("b"),
			marks: []string{
				"b: look-alike of a by accept-duplicate=b", "b: look-alike of c by accept-duplicate=b",
				"c: look-alike of a", "c: look-alike of b",
			},
			obstacles: []string{"look-alike 1 [c] --accept-duplicate=c"}, accepted: []string{"accept-duplicate=b"},
		},
		"of three new twins, each of which names those before it, none blocks": {
			declared: []config.Transfer{declare("c", twin, acceptOf("b", "a")), declare("b", twin, acceptOf("a")), declare("a", twin)},
			marks: []string{
				"c: look-alike of a by accept_duplicate_of=c", "c: look-alike of b by accept_duplicate_of=c",
				"b: look-alike of a by accept_duplicate_of=b", "b: look-alike of c by accept_duplicate_of=b",
			},
			obstacles: []string{}, accepted: []string{"accept_duplicate_of=b", "accept_duplicate_of=c"},
		},
		"of three new twins, two of which name only the first, one blocks": {
			declared:  []config.Transfer{declare("a", twin), declare("b", twin, acceptOf("a")), declare("c", twin, acceptOf("a"))},
			marks:     []string{"b: look-alike of a", "b: look-alike of c", "c: look-alike of a", "c: look-alike of b"},
			obstacles: []string{"look-alike 2 [b c] --accept-duplicate=b --accept-duplicate=c"},
		},
		"the original of two new twins is the one without a recorded twin": {
			declared: []config.Transfer{declare("a", twin), declare("b", twin, window(day))}, recorded: []state.Detail{old(state.Recorded, intended(2*day))},
			marks: []string{"a: look-alike of old", "a: look-alike of b"}, obstacles: []string{"look-alike 1 [a] --accept-duplicate=a"},
		},
		"one that waits is no twin in this plan": {
			declared: []config.Transfer{declare("a", twin, notBefore(now.Add(day))), declare("b", twin)},
			marks:    []string{}, obstacles: []string{},
		},
		"a batch is accepted by its exact count": {
			declared: []config.Transfer{declare("a", twin, inBatch("pay")), declare("b", twin, inBatch("pay")), declare("c", twin, inBatch("pay"))},
			controls: byBatch(2),
			marks: []string{
				"b: look-alike of a by accept-duplicates=pay:2", "b: look-alike of c by accept-duplicates=pay:2",
				"c: look-alike of a by accept-duplicates=pay:2", "c: look-alike of b by accept-duplicates=pay:2",
			},
			obstacles: []string{}, accepted: []string{"accept-duplicates=pay:2"},
		},
		"a batch is not accepted by another count": {
			declared:  []config.Transfer{declare("a", twin, inBatch("pay")), declare("b", twin, inBatch("pay")), declare("c", twin, inBatch("pay"))},
			controls:  byBatch(3),
			marks:     []string{"b: look-alike of a", "b: look-alike of c", "c: look-alike of a", "c: look-alike of b"},
			obstacles: []string{"look-alike 2 [b c] --accept-duplicates=pay:2"},
		},
		"a batch's count leaves out what is accepted by name": {
			declared: []config.Transfer{declare("a", twin, inBatch("pay")), declare("b", twin, inBatch("pay")), declare("c", twin, inBatch("pay"))},
			controls: planner.Controls{AcceptDuplicate: []string{"b"}, AcceptDuplicates: map[string]int{"pay": 1}},
			marks: []string{
				"b: look-alike of a by accept-duplicate=b", "b: look-alike of c by accept-duplicate=b",
				"c: look-alike of a by accept-duplicates=pay:1", "c: look-alike of b by accept-duplicates=pay:1",
			},
			obstacles: []string{}, accepted: []string{"accept-duplicate=b", "accept-duplicates=pay:1"},
		},
		"acceptances that accept nothing are no obstacle": {
			declared: []config.Transfer{declare("a", inBatch("pay"))},
			controls: planner.Controls{AcceptDuplicate: []string{"a", "typo"}, AcceptDuplicates: map[string]int{"pay": 1}},
			marks:    []string{}, obstacles: []string{},
			unused: []string{"accept-duplicate=a", "accept-duplicate=typo", "accept-duplicates=pay:1"},
		},
		"a renamed label blocks at any age and in any window": {
			declared: []config.Transfer{declare("b", twin, label, window(0))}, recorded: []state.Detail{labelled(state.Recorded, intended(900*day))},
			marks: []string{"b: rename of old"}, obstacles: []string{"rename 1 [b] ref_id = \"old\"\n--accept-renames=transfer.internal.b:1"},
		},
		"a renamed label is accepted by name": {
			declared: []config.Transfer{declare("b", twin, label)}, recorded: []state.Detail{labelled(state.Recorded, intended(900*day))}, controls: byName("b"),
			marks: []string{"b: rename of old by accept-duplicate=b"}, obstacles: []string{}, accepted: []string{"accept-duplicate=b"},
		},
		"a renamed label in doubt has to be settled first": {
			declared: []config.Transfer{declare("b", twin, label)}, recorded: []state.Detail{labelled(state.InDoubt)}, controls: byName("b"),
			marks: []string{"b: rename of old"}, obstacles: []string{`look-alike 1 [b] remit resolve old --recorded FILE --reason "…"`},
			unused: []string{"accept-duplicate=b"},
		},
		"a label that is still declared was not renamed": {
			declared: []config.Transfer{declare("b", twin, label), declare("old", twin, label)}, recorded: []state.Detail{labelled(state.Recorded, intended(900*day))},
			marks: []string{}, obstacles: []string{},
		},
		"the label of a FAILED transfer may be replaced": {
			declared: []config.Transfer{declare("b", twin, label)}, recorded: []state.Detail{labelled(state.Recorded, recordStatus(transfer.Failed))},
			marks: []string{}, obstacles: []string{},
		},
		"a ref_id that was written out is no renamed label": {
			declared: []config.Transfer{declare("b", twin)}, recorded: []state.Detail{labelled(state.Recorded, intended(900*day))},
			marks: []string{}, obstacles: []string{},
		},
		"the same transfer under its old ref_id is none": {
			declared: []config.Transfer{declare("old", twin)}, recorded: []state.Detail{labelled(state.Recorded)},
			marks: []string{}, obstacles: []string{},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := plan(t, newMemory(test.recorded...), test.controls, test.declared...)
			if diff := cmp.Diff(test.marks, marks(p)); diff != "" {
				t.Errorf("marks (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.obstacles, obstacles(p)); diff != "" {
				t.Errorf("obstacles (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.accepted, p.Header.Accepted); diff != "" {
				t.Errorf("accepted (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.unused, p.Unused); diff != "" {
				t.Errorf("unused (-want +got):\n%s", diff)
			}
			for _, o := range p.Obstacles {
				if o.Detail == "" {
					t.Errorf("an obstacle without a detail: %+v", o)
				}
			}
		})
	}
}

// TestADoubtBlocksOthersAndNotItself shows the way out of a twin in doubt without lookup.
func TestADoubtBlocksOthersAndNotItself(t *testing.T) {
	m := newMemory(record(declare("old", twin), state.InDoubt))
	declared := []config.Transfer{declare("old", twin), declare("b", twin)}
	p := plan(t, m, planner.Controls{}, declared...)
	if len(p.Obstacles) != 1 || p.Obstacles[0].Remedy != "remit apply --target=transfer.internal.old\nremit resolve old --recorded FILE --reason \"…\"" {
		t.Fatalf("obstacles %+v", p.Obstacles)
	}
	alone := plan(t, m, planner.Controls{Targets: []string{"transfer.internal.old"}}, declared...)
	if diff := cmp.Diff([]string{"? old"}, actions(alone)); diff != "" || !alone.Applicable() {
		t.Errorf("obstacles %v, lines (-want +got):\n%s", obstacles(alone), diff)
	}
}

// TestTwinsOfAHashOnly is about transfers that share 64 bits and nothing else.
func TestTwinsOfAHashOnly(t *testing.T) {
	d := record(declare("old"), state.Recorded)
	d.Twin = declare("b").Request.Twin()
	p := plan(t, newMemory(d), planner.Controls{}, declare("b"))
	if len(marks(p)) != 0 || !p.Applicable() {
		t.Errorf("marks %v, obstacles %v", marks(p), obstacles(p))
	}
	for name, edit := range map[string]func(*config.Transfer){"labels": label, "words": named("pay", "new")} {
		d := record(declare("old", label, func(t *config.Transfer) { t.Naming = "old" }), state.Recorded, intended(900*day))
		d.Twin = declare("b").Request.Twin()
		if p := plan(t, newMemory(d), planner.Controls{}, declare("b", edit)); len(marks(p)) != 0 || !p.Applicable() {
			t.Errorf("%s: marks %v, obstacles %v", name, marks(p), obstacles(p))
		}
	}
}

func TestALineShowsABoundedNumberOfTwins(t *testing.T) {
	m := newMemory()
	for i := range 30 {
		d := record(declare(fmt.Sprintf("old-%02d", i), twin), state.Recorded)
		m.details[d.RefID] = d
	}
	p := plan(t, m, planner.Controls{AcceptDuplicate: []string{"a", "b"}}, declare("a", twin), declare("b", twin))
	b := find(t, p, "b")
	if len(b.Signals) != 20 || !strings.HasSuffix(b.Signals[19].Detail, "; and 11 more") {
		t.Errorf("%d signals, the last %q", len(b.Signals), b.Signals[len(b.Signals)-1].Detail)
	}
	if !p.Applicable() {
		t.Errorf("obstacles %v", obstacles(p))
	}
	var names []string
	for i := range 30 {
		names = append(names, fmt.Sprintf("old-%02d", i))
	}
	if p := plan(t, m, planner.Controls{}, declare("a", twin, acceptOf(names[:29]...))); p.Applicable() {
		t.Error("29 of 30 twins are named, and the plan is applicable")
	}
	if p := plan(t, m, planner.Controls{}, declare("a", twin, acceptOf(names...))); !p.Applicable() {
		t.Errorf("all twins are named: %v", obstacles(p))
	}
}

func TestManyTwinsOfABatchAreOneObstacle(t *testing.T) {
	var declared []config.Transfer
	for i := range 50 {
		declared = append(declared, declare(fmt.Sprintf("a-%02d", i), twin, inBatch("pay")))
	}
	p := plan(t, newMemory(), planner.Controls{}, declared...)
	if len(p.Obstacles) != 1 || p.Obstacles[0].Count != 49 || len(p.Obstacles[0].RefIDs) != 20 || p.Obstacles[0].Remedy != "--accept-duplicates=pay:49" {
		t.Errorf("obstacles %v", obstacles(p))
	}
}

func TestRemediesAreQuoted(t *testing.T) {
	p := plan(t, newMemory(record(declare(`o"${x}`, twin, label), state.Recorded)), planner.Controls{}, declare("it's", twin, label))
	if diff := cmp.Diff([]string{`rename 1 [it's] ref_id = "o\"$${x}"` + "\n--accept-renames='transfer.internal.it'\\''s:1'"}, obstacles(p)); diff != "" {
		t.Error(diff)
	}
	p = plan(t, newMemory(record(declare("old", twin), state.Recorded)), planner.Controls{}, declare("it's", twin))
	if diff := cmp.Diff([]string{`look-alike 1 [it's] --accept-duplicate='it'\''s'`}, obstacles(p)); diff != "" {
		t.Error(diff)
	}
}

// TestAcceptancesAreInTheDigest also shows that the order in which they are typed is not.
func TestAcceptancesAreInTheDigest(t *testing.T) {
	m := newMemory(record(declare("old", twin), state.Recorded))
	declared := []config.Transfer{declare("a", twin), declare("b", twin)}
	names := []string{"a", "b"}
	both := plan(t, m, planner.Controls{AcceptDuplicate: names}, declared...)
	slices.Reverse(names)
	if again := plan(t, m, planner.Controls{AcceptDuplicate: names}, declared...); again.Digest != both.Digest {
		t.Error("the order of acceptances changes the digest")
	}
	if one := plan(t, m, planner.Controls{AcceptDuplicate: []string{"a"}}, declared...); one.Digest == both.Digest {
		t.Error("an acceptance less has the same digest")
	}
	declared = append(declared, declare("c", twin))
	first := plan(t, m, planner.Controls{AcceptDuplicate: []string{"a", "b"}}, declared...)
	if other := plan(t, m, planner.Controls{AcceptDuplicate: []string{"a", "c"}}, declared...); other.Digest == first.Digest {
		t.Error("another second acceptance has the same digest")
	}
}

func TestWhereTokensComeFromIsInTheDigest(t *testing.T) {
	m := newMemory()
	before := plan(t, m, planner.Controls{}, declare("a"))
	m.meta.Service.TokenURL = "https://login.test"
	if after := plan(t, m, planner.Controls{}, declare("a")); after.Digest == before.Digest {
		t.Error("a plan of a service with tokens from elsewhere has the same digest")
	}
}
