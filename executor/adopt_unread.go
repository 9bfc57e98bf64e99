package executor

import (
	"fmt"

	"remit/internal/doubt"
	"remit/state"
)

// unreadVerdict leaves in doubt what the export may have: its record can't be told, and a person can give it.
func unreadVerdict(k knownTransfer, why string) verdict {
	v := undecided(k, fmt.Sprintf("The export has a record that cannot be read: %s.", why))
	v.outcome.Source = state.SourceLookup // and no record: see state.Detail.Unread
	v.next, v.idle = doubt.GiveUnread(k.refID, why), true
	return v
}

// unreadDoubts keeps with doubts that the export has something of them that can't be read, so that no apply
// sends them again. What the state says already is not written once more.
func (a *adoption) unreadDoubts(doubts []*unsettled, findings []finding) {
	var anew []finding
	var at []int
	for i, f := range findings {
		if f.settled || f.unread == "" {
			continue
		}
		v := unreadVerdict(doubts[i].knownTransfer, f.unread)
		findings[i] = finding{verdict: v, settled: true}
		if v.outcome.Reason != doubts[i].unread {
			anew, at = append(anew, findings[i]), append(at, i)
		}
	}
	a.keep(anew, at, findings)
}

// unreadFirsts keeps lines in doubt of which the export has something that can't be read: somebody may have made
// them, and an apply would make them again.
func (a *adoption) unreadFirsts(attempts []*attempt, findings []finding) {
	var anew []finding
	var at []int
	for i, f := range findings {
		if f.settled || f.unread == "" {
			continue
		}
		lead := attempts[i].intent
		lead.Found = true // nothing is sent under it
		anew = append(anew, finding{verdict: unreadVerdict(attempts[i].knownTransfer, f.unread), settled: true, lead: []state.Entry{lead}})
		at = append(at, i)
	}
	a.keep(anew, at, findings)
}

// keep writes findings, and puts them into their places.
func (a *adoption) keep(anew []finding, at []int, findings []finding) {
	a.run.outcomes.writeAll(anew)
	for i, f := range anew {
		findings[at[i]] = f
	}
}
