package executor

import (
	"fmt"
	"time"

	"remit/internal/doubt"
	"remit/state"
)

// precheckTries is how often a lookup before a first sending is tried: without it nothing
// may be sent.
const precheckTries = 3

// lookUpFirst asks for ref_ids before their first requests (design section 10): a restored
// backup or a second checkout must not pay again.
func (o *order) lookUpFirst(jobs []*job) {
	o.lookups++
	go func() {
		findings, err := o.c.precheck(jobs)
		o.inbox.post(func() {
			o.lookups--
			if err != nil {
				o.c.halt(fmt.Sprintf("the lookup before first sending failed: %v", err))
				o.queue = append(o.queue, jobs...) // finish settles them
				return
			}
			for i, f := range findings {
				switch {
				case f.settled:
					o.settled(jobs[i].known, f.verdict, jobs[i].planned)
				case f.undue.Holds():
					v := stranded(jobs[i].known, f.undue.Text())
					v.next = "remit import FILE" // the state knows it as well as not at all
					o.settled(jobs[i].known, v, jobs[i].planned)
				default:
					o.queue = append(o.queue, jobs[i])
				}
			}
		})
	}()
}

// precheck looks jobs up and makes durable what that settles. It returns a finding for each.
func (c *course) precheck(jobs []*job) ([]finding, error) {
	ids := make([]string, len(jobs))
	for i, j := range jobs {
		ids[i] = j.refID
	}
	found, err := c.findPatiently(ids)
	if err != nil {
		return nil, err
	}
	findings := make([]finding, len(jobs))
	for i, j := range jobs {
		if why := found.unreadable[j.refID]; why != "" {
			findings[i] = finding{undue: doubt.Unread("Nothing was sent. " + unread(why))}
		}
		if records := found.records[j.refID]; len(records) > 0 {
			lead := j.intent
			lead.Found = true
			// The intent names the request that the records are held against, although
			// it is not sent. A credit side alone leaves the transfer in doubt: it
			// exists, and nothing says yet that it is the right one.
			findings[i] = finding{verdict: judgeFound(j.known, beforeAny, records), settled: true, lead: []state.Entry{lead}}
		}
	}
	c.writeFindings(findings)
	return findings, nil
}

// findPatiently tries a lookup a few times.
func (c *course) findPatiently(ids []string) (lookup, error) {
	for try := 1; ; try++ {
		found, err := c.find(c.starting, ids...)
		if err == nil || try == precheckTries {
			return found, err
		}
		if c.run.Clock.Sleep(c.starting, time.Duration(try)*time.Second) != nil {
			return lookup{}, err
		}
	}
}
