package planner

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"remit/config"
	"remit/config/mistake"
	"remit/internal/text/shell"
)

// TargetError says that targets name no declared transfer, block or batch.
type TargetError struct {
	Targets []string
	Near    string // a transfer, a block or a batch that one of them may mean; "" for none
}

// Error names the targets and says how one is written.
func (e *TargetError) Error() string {
	text := fmt.Sprintf("no declared transfer, block or batch has the name %s; a target is written transfer.internal.NAME, transfer.internal.NAME[\"KEY\"] or batch.NAME",
		strings.Join(e.Targets, ", "))
	if e.Near != "" {
		text += fmt.Sprintf(". Did you mean %s?", "--target="+shell.Word(e.Near))
	}
	if slices.ContainsFunc(e.Targets, isUnquoted) {
		if !strings.HasSuffix(text, "?") {
			text += "."
		}
		text += " A shell takes the quotes of a key away: put single quotes around the target"
	}
	return text
}

// isUnquoted reports whether a target has a key without quotes.
func isUnquoted(target string) bool {
	_, key, hasKey := strings.Cut(target, "[")
	return hasKey && !strings.HasPrefix(key, `"`)
}

// targets say which transfers a plan is about. Those that the targeted ones wait for are
// part of it as well, as far as they are due.
type targets struct {
	names   []string
	matched map[string]bool
	keep    []bool // by index of the change; unused without names
	// declared are the first blocks and batches, of which a wrong target may mean one.
	declared             []string
	lastBlock, lastBatch string
	// sameRefID is the address of a transfer whose ref_id one of the names is; "" for none.
	sameRefID string
}

func newTargets(names []string) *targets {
	return &targets{names: names, matched: make(map[string]bool)}
}

// match reports whether t is targeted itself.
func (ts *targets) match(t *config.Transfer) bool {
	if len(ts.names) == 0 {
		return true
	}
	ts.note(t)
	found := false
	for _, name := range ts.names {
		if name == t.Request.RefID {
			ts.sameRefID = t.Address
		}
		batch, isBatch := strings.CutPrefix(name, "batch.")
		if name == t.Address || name == t.Block || isBatch && batch != "" && batch == t.Batch {
			ts.matched[name] = true
			found = true
		}
	}
	return found
}

// mark says of the change that is about to be added whether it is targeted.
func (ts *targets) mark(index int, targeted bool) {
	if len(ts.names) == 0 {
		return
	}
	if index != len(ts.keep) {
		panic("a change was added without being marked")
	}
	ts.keep = append(ts.keep, targeted)
}

func (ts *targets) check() error {
	unknown := slices.DeleteFunc(slices.Clone(ts.names), func(name string) bool { return ts.matched[name] })
	if len(unknown) > 0 {
		return &TargetError{unknown, cmp.Or(ts.sameRefID, ts.near(unknown[0]))}
	}
	return nil
}

// near is the declared block or batch that a wrong target may mean; "" for none.
func (ts *targets) near(target string) string {
	bare, _, _ := strings.Cut(target, "[")
	for _, name := range ts.declared {
		if strings.EqualFold(name, bare) || strings.HasSuffix(name, "."+bare[strings.LastIndexByte(bare, '.')+1:]) {
			return name
		}
	}
	hint := mistake.DidYouMean(bare, ts.declared)
	for _, name := range ts.declared {
		if short := name[strings.LastIndexByte(name, '.')+1:]; hint == "" && mistake.DidYouMean(bare[strings.LastIndexByte(bare, '.')+1:], []string{short}) != "" {
			return name
		}
	}
	return strings.TrimSuffix(strings.TrimPrefix(hint, " Did you mean \""), "\"?")
}

// declaredMax is how many blocks and batches are kept for an answer to a wrong target.
const declaredMax = 1000

// note keeps the block and the batch of a declared transfer, of which most have those of the one before.
func (ts *targets) note(t *config.Transfer) {
	if t.Block == ts.lastBlock && t.Batch == ts.lastBatch {
		return
	}
	ts.lastBlock, ts.lastBatch = t.Block, t.Batch
	for _, name := range []string{t.Block, "batch." + t.Batch} {
		if name != "" && name != "batch." && len(ts.declared) < declaredMax && !slices.Contains(ts.declared, name) {
			ts.declared = append(ts.declared, name)
		}
	}
}

// keepTargets drops the changes that are neither targeted nor waited for by a targeted one
// that is due.
func (b *builder) keepTargets() {
	if len(b.targets.names) == 0 {
		return
	}
	keep := b.targets.keep
	members := b.members()
	var open []int
	for i, kept := range keep {
		if kept {
			open = append(open, i)
		}
	}
	asked := make(map[config.Dependency]bool)
	for len(open) > 0 {
		i := open[len(open)-1]
		open = open[:len(open)-1]
		if b.plan.Changes.Action(i) != Submit {
			continue
		}
		for _, d := range b.blockFactsOf(i).dependsOn {
			if asked[d] {
				continue
			}
			asked[d] = true
			for _, m := range members[d].changes {
				if !keep[m] {
					keep[m] = true
					open = append(open, int(m))
				}
			}
		}
	}
	b.retain(func(i int) bool { return keep[i] })
}

// retain drops the changes of which keep reports false.
func (b *builder) retain(keep func(i int) bool) {
	var changes Changes
	var all list[facts]
	var sent list[fingerprinted]
	next := 0 // of b.sent
	for i, c := range b.plan.Changes.All() {
		kept := keep(i)
		if next < b.sent.len() && int(b.sent.at(next).change) == i {
			if kept {
				sent.add(*b.sent.at(next)).change = int32(changes.Len())
			}
			next++
		}
		switch {
		case kept:
			changes.Add(c)
			all.add(*b.facts.at(i))
		case c.Action == Submit:
			b.uncount()
		case c.Action == Conflict:
			b.plan.ConflictsBeyond++
		}
	}
	b.plan.Changes, b.facts, b.sent = changes, all, sent
}
