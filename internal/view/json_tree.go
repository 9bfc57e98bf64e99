package view

import (
	"encoding/json"
	"time"

	"remit/internal/tree"
	"remit/planner"
)

// entryLine is one configuration of a tree.
type entryLine struct {
	Type        string            `json:"type"` // "entry"
	Directory   string            `json:"directory"`
	Environment string            `json:"environment"`
	Protected   bool              `json:"protected"`
	Entity      string            `json:"entity"`
	ExitCode    int               `json:"exit_code"`
	Applicable  bool              `json:"applicable"`
	NeedsAction bool              `json:"needs_action"`
	Digest      string            `json:"digest,omitempty"`
	Saved       string            `json:"saved,omitempty"` // the file that has the plan
	Actions     []totalsLine      `json:"actions"`
	Groups      []statusTotals    `json:"groups"`
	ToSend      totalsLine        `json:"to_send"` // "blocked" where the plan is not applicable
	Signals     []signalLine      `json:"signals"`
	Obstacles   []treeObstacle    `json:"obstacles"`
	Approvals   []string          `json:"approvals"`
	Error       string            `json:"error,omitempty"`
	Next        string            `json:"next,omitempty"` // a whole command line
	Told        []json.RawMessage `json:"told"`           // lines that its own command writes besides its result
}

type signalLine struct {
	Kind     planner.SignalKind `json:"kind"`
	Count    int                `json:"count"`
	Accepted int                `json:"accepted,omitempty"`
}

type treeObstacle struct {
	Kind    planner.ObstacleKind `json:"kind"`
	Address string               `json:"address,omitempty"`
	Count   int                  `json:"count"`
	RefIDs  []string             `json:"ref_ids,omitempty"` // the first 20
	Detail  string               `json:"detail"`
}

// treeSumLine is a sum of several configurations of one environment.
type treeSumLine struct {
	Type        string     `json:"type"` // "tree_sum"
	By          string     `json:"by"`   // "environment", "entity" or "asset"
	Name        string     `json:"name"`
	Environment string     `json:"environment"`
	Sent        totalsLine `json:"to_send"`
	Blocked     totalsLine `json:"blocked"`
}

// treeLine is the last one.
type treeLine struct {
	Type        string        `json:"type"` // "tree"
	Asked       tree.Question `json:"asked"`
	AsOf        time.Time     `json:"as_of"`
	Sandbox     bool          `json:"sandbox"`
	Count       int           `json:"configurations"`
	Sending     int           `json:"sending"`
	Quiet       int           `json:"quiet"`
	Blocked     int           `json:"blocked"`
	Failed      int           `json:"failed"`
	NeedsAction int           `json:"needs_action"`
	ExitCode    int           `json:"exit_code"`
	Others      []string      `json:"others"`
	Untouched   []string      `json:"untouched"`
	Gone        []string      `json:"gone"`
	Unread      []string      `json:"unread"`
	Shared      []string      `json:"shared"`
	Links       []string      `json:"links"`
}

// Tree writes an "entry" for each configuration of a tree, a "tree_sum" for each environment, entity and asset, and
// a "tree" at the end. It returns the first error of writing.
func (j *JSON) Tree(t *tree.Tree) error {
	for i := range t.Entries {
		j.write(newEntryLine(&t.Entries[i]))
	}
	for _, by := range []struct {
		name string
		sums []tree.Sum
	}{{"environment", t.ByEnvironment()}, {"entity", t.ByEntity()}, {"asset", assetSums(t)}} {
		for i := range by.sums {
			s := &by.sums[i]
			line := treeSumLine{"tree_sum", by.name, s.Name, s.Environment, sumsOf(&s.Sent), sumsOf(&s.Blocked)}
			if by.name == "environment" {
				line.Name = s.Environment
			}
			j.write(line)
		}
	}
	c := t.Counts()
	j.write(treeLine{
		Type: "tree", Asked: t.Asked, AsOf: t.At, Sandbox: t.Sandbox, Count: c.All, Sending: c.Sending, Quiet: c.Quiet, Blocked: c.Blocked,
		Failed: c.Failed, NeedsAction: c.NeedAction, ExitCode: t.ExitCode(),
		Others: list(t.Others), Untouched: list(t.Untouched), Gone: list(t.Gone), Unread: list(t.Unread), Shared: list(t.Found.Shared), Links: list(t.Found.Links),
	})
	return j.end()
}

// list is a list that JSON writes as one, though it is empty.
func list[T any](of []T) []T {
	if of == nil {
		return []T{}
	}
	return of
}

func newEntryLine(e *tree.Entry) entryLine {
	line := entryLine{
		Type: "entry", Directory: e.Directory, Environment: e.Environment, Protected: e.Protected, Entity: e.Entity, ExitCode: e.ExitCode, NeedsAction: e.NeedsAction(),
		Actions: []totalsLine{}, Groups: []statusTotals{}, ToSend: totalsOf(nil), Signals: []signalLine{}, Obstacles: []treeObstacle{}, Approvals: []string{},
		Error: e.Error, Next: asTyped(e.Next), Told: list(e.Lines),
	}
	b := e.Brief
	if b == nil {
		return line
	}
	line.Applicable, line.Digest, line.Saved, line.ToSend, line.Approvals = b.Applicable, b.Digest, b.SavedAs, totalsOf(&b.Sent), list(b.Approvals)
	for _, a := range append(listed(), planner.Undeclared) {
		if totals := b.Actions[a]; totals != nil && totals.Count() > 0 {
			of := totalsOf(totals)
			of.Action = string(a)
			line.Actions = append(line.Actions, of)
		}
	}
	for i := range b.Groups {
		line.Groups = append(line.Groups, statusTotals{b.Groups[i].Group, totalsOf(&b.Groups[i].Totals), asTyped(b.Groups[i].Next)})
	}
	for _, s := range b.Signals {
		line.Signals = append(line.Signals, signalLine{s.Kind, s.Count, s.Accepted})
	}
	for _, o := range b.Obstacles {
		line.Obstacles = append(line.Obstacles, treeObstacle{o.Kind, o.Address, o.Count, o.RefIDs, o.Detail})
	}
	return line
}
