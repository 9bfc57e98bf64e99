package planner

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"remit/config"
	"remit/internal/transfer"
	"remit/state"
)

// isSent reports whether a run of the plan may send the declared request of the change.
func (c *Change) isSent() bool {
	return c.Declared() && (c.Action == Submit || c.Action == Resolve)
}

// OtherThanDeclared says of one transfer, in words, how the request of the plan differs from the present declaration,
// of which every transfer is given once; "" where nothing does. A line differs in its request, or in a rule for when it
// may be sent: a later time, an expiry, windows, or a dependency that was not COMPLETED when the plan was made and is
// not now.
func (p *Plan) OtherThanDeclared(ctx context.Context, declared iter.Seq[config.Transfer], record Record) (string, error) {
	a := newAgreement(p)
	find, same := p.Changes.Find(), 0
	for t := range declared {
		a.join(&t)
		number, ok := find(t.Request.RefID)
		if !ok {
			continue
		}
		c := p.Changes.At(number)
		if !c.isSent() {
			continue
		}
		if how := a.see(&c, &t); how != "" {
			return otherLine(c.RefID, how), nil
		}
		same++
	}
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	wanted := 0
	for _, c := range p.Changes.All() {
		if c.isSent() {
			wanted++
		}
	}
	if same != wanted {
		return fmt.Sprintf("%d of the %d transfers that the run sends are not declared here", wanted-same, wanted), nil
	}
	refID, how, err := a.unmet(ctx, record)
	if how != "" {
		return otherLine(refID, how), nil
	}
	return "", err
}

// agreement compares a plan with declarations.
type agreement struct {
	plan    *Plan
	members map[config.Dependency][]string // ref_ids
	lists   map[lineDependencies]bool      // that were seen
	added   map[string]string              // by ref_id that some line waits for and the plan does not say so: one such line

	dependents []dependent
}

func newAgreement(p *Plan) *agreement {
	return &agreement{plan: p, members: make(map[config.Dependency][]string), added: make(map[string]string), lists: make(map[lineDependencies]bool)}
}

// see compares a line with its declaration, and notes what it waits for. It says how they differ, as differs does; what the plan does not
// send differs in nothing.
func (a *agreement) see(c *Change, t *config.Transfer) string {
	if !c.isSent() {
		return ""
	}
	if how := a.differs(c, t); how != "" {
		return how
	}
	if list := newLineDependencies(c, t); len(t.DependsOn) > 0 && !a.lists[list] {
		a.lists[list] = true
		a.dependents = append(a.dependents, dependent{c.RefID, c.After, t.DependsOn})
	}
	return ""
}

// dependent is a line that waits for others, one for all that wait for the same.
type dependent struct {
	refID     string
	after     []string
	dependsOn []config.Dependency
}

// lineDependencies tells what a line waits for by the lists in memory, which lines of one block share.
type lineDependencies struct {
	declared dependencyList
	after    *string
	count    int
}

func newLineDependencies(c *Change, t *config.Transfer) lineDependencies {
	var list lineDependencies
	if len(t.DependsOn) > 0 {
		list.declared = dependencyList{&t.DependsOn[0], len(t.DependsOn)}
	}
	if len(c.After) > 0 {
		list.after, list.count = &c.After[0], len(c.After)
	}
	return list
}

// join notes the names under which others wait for a transfer.
func (a *agreement) join(t *config.Transfer) {
	for _, d := range [2]config.Dependency{{Block: t.Block}, {Batch: t.Batch}} {
		if d != (config.Dependency{}) {
			a.members[d] = append(a.members[d], t.Request.RefID)
		}
	}
}

// differs says how a line differs from its declaration, its dependencies apart; "" where it does not.
func (a *agreement) differs(c *Change, t *config.Transfer) string {
	windows := make([]string, len(t.Windows))
	for i, w := range t.Windows {
		windows[i] = w.Name
	}
	slices.Sort(windows)
	switch {
	case c.Request.Fingerprint() != t.Request.Fingerprint():
		return "its request is another one"
	case c.Until.IsZero() && t.NotBefore.After(a.plan.Header.Created):
		return "its time is put off to " + t.NotBefore.UTC().Format(time.RFC3339)
	case !c.Expires.Equal(t.Expires):
		return "it expires at another time"
	case !slices.Equal(slices.Sorted(slices.Values(c.Windows)), windows):
		return "its windows are other ones"
	}
	return ""
}

// unmet names a line and a dependency of it that was added since the plan was made, and is not COMPLETED.
func (a *agreement) unmet(ctx context.Context, record Record) (refID, how string, err error) {
	for _, d := range a.dependents {
		after := make(map[string]bool, len(d.after))
		for _, refID := range d.after {
			after[refID] = true
		}
		for _, on := range d.dependsOn {
			for _, refID := range a.members[on] {
				if !after[refID] && refID != d.refID {
					a.added[refID] = d.refID
				}
			}
		}
	}
	refIDs := slices.Sorted(maps.Keys(a.added))
	for some := range slices.Chunk(refIDs, detailsPerCall) {
		details, err := record.Details(ctx, some...)
		if err != nil {
			return "", "", fmt.Errorf("read recorded details: %w", err)
		}
		for i := range details {
			if d := &details[i]; d.RecordStatus == transfer.Completed && (d.Status == state.Recorded || d.Status == state.Adopted) {
				delete(a.added, d.RefID)
			}
		}
	}
	for _, refID := range refIDs {
		if by, isUnmet := a.added[refID]; isUnmet {
			return by, fmt.Sprintf("it depends on %q", refID), nil
		}
	}
	return "", "", nil
}

func otherLine(refID, how string) string {
	return fmt.Sprintf("ref_id %q is declared otherwise here than the run sends it: %s", refID, how)
}
