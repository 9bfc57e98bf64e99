package executor

import (
	"fmt"
	"slices"

	"remit/internal/doubt"
	"remit/state"
)

// lookupSettler settles transfers by lookup: doubts, and transfers that were never sent.
type lookupSettler struct{ run *activeRun }

func byLookup(run *activeRun) lookupSettler { return lookupSettler{run} }

// doubts asks for each ref_id once, and writes the outcomes of those that this settles. It returns
// a finding for each.
func (l lookupSettler) doubts(open []*unsettled) []finding {
	findings := make([]finding, 0, len(open))
	var failed error
	for chunk := range slices.Chunk(open, FindMax) {
		var found lookup
		if failed == nil {
			found, failed = l.run.lookups.find(l.run.life.starting, refIDs(chunk)...)
		}
		first := len(findings)
		for _, u := range chunk {
			u.age, u.isAged = l.run.clocks.ageOf(u.since, u.doubted, reading{})
			findings = append(findings, judgeDoubt(u, found, failed))
		}
		l.run.outcomes.writeAll(findings[first:])
	}
	return findings
}

// judgeDoubt judges what a lookup found of one doubt.
func judgeDoubt(u *unsettled, found lookup, failed error) finding {
	switch {
	case failed != nil:
		return finding{undue: doubt.Passing(fmt.Sprintf("It could not be looked up: %v.", failed))}
	case found.unreadable[u.refID] != "":
		return finding{undue: doubt.Unread(unread(found.unreadable[u.refID])), unread: found.unreadable[u.refID]}
	case len(found.records[u.refID]) == 0:
		return finding{}
	}
	v := judgeFound(u.knownTransfer, inDoubt, withKept(found.records[u.refID], u.kept))
	if v.unread {
		return finding{undue: doubt.Final(v.outcome.Reason)}
	}
	return finding{verdict: v, settled: true}
}

// firsts looks transfers up before their first requests, and writes the outcomes of those that this
// settles. It returns a finding for each.
func (l lookupSettler) firsts(attempts []*attempt) ([]finding, error) {
	ids := make([]string, len(attempts))
	for i, a := range attempts {
		ids[i] = a.refID
	}
	found, err := l.run.lookups.findPatiently(ids)
	if err != nil {
		return nil, err
	}
	findings := make([]finding, len(attempts))
	for i, a := range attempts {
		if why := found.unreadable[a.refID]; why != "" {
			findings[i] = finding{undue: doubt.Unread("Nothing was sent. " + unread(why)), unread: why}
		}
		if records := found.records[a.refID]; len(records) > 0 {
			lead := a.intent
			lead.Found = true
			// The intent names the request that the records are held against, although
			// it is not sent. A credit side alone leaves the transfer in doubt: it
			// exists, and nothing says yet that it is the right one.
			k := a.knownTransfer
			if k.first.IsZero() {
				k.first = l.run.Clock.Now()
			}
			findings[i] = finding{verdict: judgeFound(k, beforeAny, records), settled: true, lead: []state.Entry{lead}}
		}
	}
	l.run.outcomes.writeAll(findings)
	return findings, nil
}
