package planner

import (
	"slices"
	"strings"

	"remit/internal/doubt"
	"remit/internal/text/shell"
	"remit/internal/transfer"
	"remit/state"
)

// Group is the thing that a transfer waits for, as a status tells it.
type Group string

// The groups, those that need a person first.
const (
	GroupConflict   Group = "conflict"       // record and declaration differ, or request and answer do
	GroupInDoubt    Group = "in doubt"       // it may or may not have been made
	GroupUnverified Group = "unverified"     // recorded, but its record falls short, or its destination could not be proven
	GroupUnknown    Group = "unknown status" // recorded, with a status of the service's own that its document does not list
	GroupLate       Group = "late"           // an occurrence that needs a person's word
	GroupFailed     Group = "failed"         // the service's status is FAILED
	GroupSettled    Group = "not made"       // a person settled it as not made, and it is still declared
	GroupRefused    Group = "refused"        // the service said no; it would be submitted again
	GroupExpired    Group = "expired"        // it was not sent in time
	GroupNever      Group = "never"          // it waits for a time, or for a transfer, that does not come
	GroupPending    Group = "pending"        // recorded for over an hour, and neither COMPLETED nor FAILED
	GroupInFlight   Group = "in flight"      // in a run that is alive
	GroupDue        Group = "due"            // an apply sends it now
	GroupWaiting    Group = "waiting"        // for another transfer, or for a window
	GroupNext       Group = "next"           // its time has not come
)

// Groups lists every group in that order.
func Groups() []Group {
	return []Group{
		GroupConflict, GroupInDoubt, GroupUnverified, GroupUnknown, GroupLate, GroupFailed, GroupSettled, GroupRefused, GroupExpired,
		GroupNever, GroupPending, GroupInFlight, GroupDue, GroupWaiting, GroupNext,
	}
}

// NeedsPerson reports whether no apply settles the transfers of the group by itself.
func (g Group) NeedsPerson() bool {
	switch g {
	case GroupConflict, GroupInDoubt, GroupUnverified, GroupUnknown, GroupLate, GroupFailed, GroupSettled, GroupRefused, GroupExpired, GroupNever:
		return true
	case GroupPending, GroupInFlight, GroupDue, GroupWaiting, GroupNext:
	}
	return false
}

// StatusGroup has the transfers of a plan that are in one group.
type StatusGroup struct {
	Group  Group
	Totals transfer.Totals
	// First are the first [StatusGroupMax] of them: of those that wait for a time the earliest,
	// of those that are pending the oldest, of others in the plan's order.
	First []Change
	// Next is the command to type for all of the group; "" for none.
	Next string
}

// StatusGroupMax bounds [StatusGroup.First].
const StatusGroupMax = 20

// StatusGroups returns the groups that have transfers, in order. A transfer with which remit and people are done
// is in none.
func (p *Plan) StatusGroups() []StatusGroup {
	groups := make(map[Group]*StatusGroup)
	for _, c := range p.Changes.All() {
		name := c.Group()
		s := groups[name]
		if s == nil {
			s = &StatusGroup{Group: name}
			groups[name] = s
		}
		s.add(c)
	}
	if doubts := groups[GroupInDoubt]; doubts != nil {
		doubts.Next = nextOfDoubts(doubts.First)
	}
	if p.Pending.Totals.Count() > 0 {
		groups[GroupPending] = &p.Pending
	}
	if p.Unknown.Totals.Count() > 0 {
		groups[GroupUnknown] = &p.Unknown
	}
	if p.Unverified.Totals.Count() > 0 {
		all := &p.Unverified
		if declared := groups[GroupUnverified]; declared != nil {
			all = declared.and(all)
		}
		groups[GroupUnverified] = all
	}
	if s := groups[GroupUnverified]; s != nil && s.Next == "" {
		s.Next = ofOneRun(s.First)
	}
	var list []StatusGroup
	for _, name := range Groups() {
		if s := groups[name]; s != nil {
			list = append(list, *s)
		}
	}
	return list
}

// nextOfDoubts is the one command for some doubts.
func nextOfDoubts(doubts []Change) string {
	nexts := make([]string, len(doubts))
	for i := range doubts {
		nexts[i] = doubts[i].Next
	}
	return doubt.NextOfAll(nexts)
}

// ofOneRun is the command that lists what a run left unverified, where it left several of these; "" where
// each is of another run.
func ofOneRun(unverified []Change) string {
	count := make(map[string]int)
	for i := range unverified {
		if r := unverified[i].Recorded; r != nil && r.RunID != "" {
			if count[r.RunID]++; count[r.RunID] > 1 {
				return "remit resolve --run=" + shell.Word(r.RunID)
			}
		}
	}
	return ""
}

// Group is the group of a plan's line.
func (c *Change) Group() Group {
	switch c.Action {
	case Submit:
		switch {
		case slices.ContainsFunc(c.Signals, func(s Signal) bool { return s.Kind == Late && s.Accepted == "" }):
			return GroupLate
		case c.Again:
			return GroupRefused
		case len(c.After) > 0:
			return GroupWaiting
		}
		return GroupDue
	case Wait:
		switch {
		case c.Recorded != nil && c.Recorded.Status == state.InDoubt:
			return GroupInFlight
		case c.Never:
			return GroupNever
		case c.Reason != "":
			return GroupWaiting
		}
		return GroupNext
	case Resolve:
		return GroupInDoubt
	case Conflict:
		return GroupConflict
	case Failed:
		if c.isSettled() {
			return GroupSettled
		}
		return GroupFailed
	case Expired:
		return GroupExpired
	case None, Undeclared: // a plan has a None only to have it looked at
		return GroupUnverified
	}
	panic("no such action: " + string(c.Action))
}

// AsksForPerson reports whether a person should look at what the state has: something is in doubt, in
// conflict or unverified, or has a status at the service that its document does not list.
func (p *Plan) AsksForPerson() bool {
	return slices.ContainsFunc(p.StatusGroups(), func(s StatusGroup) bool {
		switch s.Group {
		case GroupConflict, GroupInDoubt, GroupUnverified, GroupUnknown:
			return true
		case GroupLate, GroupFailed, GroupSettled, GroupRefused, GroupExpired, GroupNever,
			GroupPending, GroupInFlight, GroupDue, GroupWaiting, GroupNext:
		}
		return false
	})
}

// and is a group and others that are of it as well.
func (s *StatusGroup) and(others *StatusGroup) *StatusGroup {
	both := StatusGroup{Group: s.Group, Next: s.Next}
	both.Totals.Merge(s.Totals)
	both.Totals.Merge(others.Totals)
	both.First = slices.Concat(s.First, others.First)
	both.First = both.First[:min(len(both.First), StatusGroupMax)]
	return &both
}

func (s *StatusGroup) add(c *Change) {
	asset, amount := c.Request.Asset, c.Request.Amount
	if request, err := c.InForce(); err == nil { // else the plan could not have been made
		asset, amount = request.Asset, request.Amount
	}
	s.Totals.Add(asset, amount)
	at := len(s.First)
	if s.Group == GroupNext {
		at, _ = slices.BinarySearchFunc(s.First, c, func(x Change, c *Change) int {
			if d := x.Until.Compare(c.Until); d != 0 {
				return d
			}
			return strings.Compare(x.RefID, c.RefID)
		})
	}
	if at < StatusGroupMax {
		s.First = slices.Insert(s.First, at, *c)
		s.First = s.First[:min(len(s.First), StatusGroupMax)]
	}
}
