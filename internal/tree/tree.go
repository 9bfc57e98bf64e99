// Package tree is what the configurations of a directory and of those below it come to, side by side.
//
// Its one invariant: amounts of two assets, or of two environments, are never added to each other.
package tree

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"remit/internal/transfer"
	"remit/planner"
)

// Question is what a command asks of each configuration.
type Question string

// The questions.
const (
	Plan   Question = "plan"   // which transfers would an apply send?
	Status Question = "status" // which transfers wait, and for what?
)

// Tree is the answer of all configurations that were asked.
type Tree struct {
	Top     string // the directory, as it was named
	Asked   Question
	At      time.Time
	Sandbox bool
	Entries []Entry // in the order of their names

	Found     *Found
	Others    []string // configurations that do not have the environment that was asked for, in order
	Untouched []string // configurations that no changed path touches, in order
	Gone      []string // directories of changed paths of a configuration that is not there any more, in order
	Unread    []string // configurations whose state could not be read for the transfers that were made from there, in order
}

// Entry is the answer of one configuration.
type Entry struct {
	Directory   string // relative to the tree's top, with slashes
	Environment string // "" where nobody knows
	Protected   bool   // so its block says, and money would move
	Entity      string // see [EntityOf]
	ExitCode    int    // that the command ends with that asks this configuration alone; 5 where another one pays the same
	Told        string // what that command says besides its result, with the places of mistakes
	// Lines are what it tells programs besides its result: objects of JSON.
	Lines []json.RawMessage
	Error string // why there is no plan, in a sentence; "" where there is one
	// Next is a whole command line that goes on from here; "" where nothing is to be done.
	Next  string
	Brief *Brief // nil where there is no plan
}

// Brief is what a plan comes to, without its transfers.
type Brief struct {
	Digest     string
	Applicable bool
	Empty      bool // nothing to submit and nothing to resolve
	Actions    map[planner.Action]*transfer.Totals
	Groups     []planner.StatusGroup // without their transfers
	Sent       transfer.Totals       // of what an apply would submit or resolve; a plan that is not applicable sends none of it
	Signals    []planner.SignalCount
	Shortened  int
	Obstacles  []planner.Obstacle // the first [ObstaclesMax] of them, without the transfers concerned
	Blocked    int                // how many obstacles there are
	Approvals  []string           // what approval rules ask, each in a sentence
	Scales     transfer.Scales
	SavedAs    string // the file that has the plan; "" for none
}

// ObstaclesMax bounds [Brief.Obstacles].
const ObstaclesMax = 20

// BriefOf keeps of a plan what a tree needs.
func BriefOf(plan *planner.Plan) *Brief {
	b := &Brief{
		Digest: plan.Digest, Applicable: plan.Applicable(), Empty: plan.Empty(), Actions: maps.Clone(plan.Totals), Groups: plan.StatusGroups(),
		Sent: plan.Sent(), Signals: plan.Signals(), Shortened: plan.Shortened(), Blocked: len(plan.Obstacles), Scales: plan.Header.Scales,
	}
	for i := range b.Groups {
		b.Groups[i].First = nil
	}
	b.Obstacles = slices.Clone(plan.Obstacles[:min(len(plan.Obstacles), ObstaclesMax)])
	for i := range b.Obstacles {
		b.Obstacles[i].RefIDs = slices.Clone(b.Obstacles[i].RefIDs)
	}
	return b
}

// NeedsAction reports whether a person has to do something about a configuration other than to apply its plan.
func (e *Entry) NeedsAction() bool {
	return e.Brief == nil || !e.Brief.Applicable || e.Brief.needsPerson()
}

// Sum is the money that would be sent below one name in one environment.
type Sum struct {
	Name        string
	Environment string
	Sent        transfer.Totals // by plans that are applicable
	Blocked     transfer.Totals // by the others, once they are
}

// ByEnvironment adds up each environment, in the order of their names.
func (t *Tree) ByEnvironment() []Sum {
	return t.sums(func(*Entry) string { return "" })
}

// ByEntity adds up each entity in each environment, in the order of their names.
func (t *Tree) ByEntity() []Sum {
	return t.sums(func(e *Entry) string { return e.Entity })
}

func (t *Tree) sums(nameOf func(*Entry) string) []Sum {
	type key struct{ name, environment string }
	sums := make(map[key]*Sum)
	for i := range t.Entries {
		e := &t.Entries[i]
		if e.Brief == nil || e.Brief.Sent.Count() == 0 {
			continue
		}
		k := key{nameOf(e), e.Environment}
		if sums[k] == nil {
			sums[k] = &Sum{Name: k.name, Environment: k.environment}
		}
		if e.Brief.Applicable {
			sums[k].Sent.Merge(e.Brief.Sent)
		} else {
			sums[k].Blocked.Merge(e.Brief.Sent)
		}
	}
	list := make([]Sum, 0, len(sums))
	for _, s := range sums {
		list = append(list, *s)
	}
	slices.SortFunc(list, func(a, b Sum) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Environment, b.Environment))
	})
	return list
}

// AssetSum is the money that would be sent of one asset in one environment.
type AssetSum struct {
	Asset       string
	Environment string
	Sent        transfer.Total
	Blocked     transfer.Total
}

// ByAsset adds up each asset in each environment, in the order of their codes.
func (t *Tree) ByAsset() []AssetSum {
	var list []AssetSum
	for _, s := range t.ByEnvironment() {
		var all transfer.Totals
		all.Merge(s.Sent)
		all.Merge(s.Blocked)
		for total := range all.All() {
			of := AssetSum{Asset: total.Asset, Environment: s.Environment}
			of.Sent, of.Blocked = totalOf(s.Sent, total.Asset), totalOf(s.Blocked, total.Asset)
			list = append(list, of)
		}
	}
	slices.SortStableFunc(list, func(a, b AssetSum) int { return cmp.Compare(a.Asset, b.Asset) })
	return list
}

func totalOf(totals transfer.Totals, asset string) transfer.Total {
	for total := range totals.All() {
		if total.Asset == asset {
			return total
		}
	}
	return transfer.Total{Asset: asset}
}

// Scales are the decimals with which sums of the tree are shown: of an asset that configurations show with
// different decimals, the most.
func (t *Tree) Scales() transfer.Scales {
	scales := transfer.Scales{}
	for i := range t.Entries {
		if b := t.Entries[i].Brief; b != nil {
			for asset, scale := range b.Scales {
				if known, ok := scales.Of(asset); !ok || scale > known {
					scales[asset] = scale
				}
			}
		}
	}
	return scales
}

// Counts say how the configurations of a tree stand.
type Counts struct {
	All, Sending, Quiet, Blocked, Failed, NeedAction int
}

// Counts counts the entries: those that would send something, those without anything to send, those whose plan is not
// applicable, those without a plan; and of all of them, those that need action.
func (t *Tree) Counts() Counts {
	c := Counts{All: len(t.Entries)}
	for i := range t.Entries {
		e := &t.Entries[i]
		switch {
		case e.Brief == nil:
			c.Failed++
		case !e.Brief.Applicable:
			c.Blocked++
		case e.Brief.Empty:
			c.Quiet++
		default:
			c.Sending++
		}
		if e.NeedsAction() {
			c.NeedAction++
		}
	}
	return c
}

// ExitCode is the gravest of the entries' exit codes: 4, then 5, 1, 3 and 2, then any other, and 0 where all are.
func (t *Tree) ExitCode() int {
	order := []int{4, 5, 1, 3, 2}
	gravest, rank := 0, len(order)+1
	for i := range t.Entries {
		code := t.Entries[i].ExitCode
		at := slices.Index(order, code)
		if code != 0 && at < 0 {
			at = len(order)
		}
		if code != 0 && at < rank {
			gravest, rank = code, at
		}
	}
	return gravest
}
