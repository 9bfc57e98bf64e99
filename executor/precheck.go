package executor

import (
	"fmt"
	"time"

	"remit/internal/transfer"
	"remit/state"
)

// precheckTries is how often a lookup before a first sending is tried: without it nothing
// may be sent.
const precheckTries = 3

// checked is what the lookup before the first request says of one job.
type checked struct {
	job     *job
	verdict verdict
	settled bool // there is nothing to send
}

// lookUpFirst asks for ref_ids before their first requests (design section 10): a restored
// backup or a second checkout must not pay again.
func (o *order) lookUpFirst(jobs []*job) {
	o.lookups++
	go func() {
		results, err := o.c.precheck(jobs)
		o.messages <- func() {
			o.lookups--
			if err != nil {
				o.c.halt(fmt.Sprintf("the lookup before first sending failed: %v", err))
				o.queue = append(o.queue, jobs...) // finish settles them
				return
			}
			for _, r := range results {
				if r.settled {
					o.settled(r.job.known, r.verdict, r.job.planned)
				} else {
					o.queue = append(o.queue, r.job)
				}
			}
		}
	}()
}

func (c *course) precheck(jobs []*job) ([]checked, error) {
	ids := make([]string, len(jobs))
	for i, j := range jobs {
		ids[i] = j.refID
	}
	found, err := c.findPatiently(ids)
	if err != nil {
		return nil, err
	}
	results := make([]checked, 0, len(jobs))
	for _, j := range jobs {
		results = append(results, c.judgePrecheck(j, found[j.refID]))
	}
	c.adopt(results)
	return results, nil
}

func (c *course) findPatiently(ids []string) (map[string][]transfer.Record, error) {
	for try := 1; ; try++ {
		found, err := c.find(c.starting, ids...)
		if err == nil || try == precheckTries {
			return found, err
		}
		if c.run.Clock.Sleep(c.starting, time.Duration(try)*time.Second) != nil {
			return nil, err
		}
	}
}

func (c *course) judgePrecheck(j *job, records []transfer.Record) checked {
	if len(records) == 0 {
		return checked{job: j}
	}
	j.customer = c.knownCustomer()
	return checked{job: j, verdict: judgeFound(j.known, beforeAny, records), settled: true}
}

// adopt makes durable what was found: the intent names the request that the record is held
// against, although it is not sent. A credit side alone leaves the transfer in doubt: it
// exists, and no request of ours may tell whether it is the right one.
func (c *course) adopt(results []checked) {
	var entries []state.Entry
	for _, r := range results {
		if r.settled {
			entries = append(entries, r.job.intent, r.verdict.outcome)
		}
	}
	if len(entries) == 0 {
		return
	}
	together := c.journal.append(entries...) == nil
	for i := range results {
		r := &results[i]
		switch {
		case !r.settled:
		case together:
			r.verdict.written = true
			c.learnCustomer(r.verdict.customer)
		default:
			r.verdict = c.write(r.verdict, r.job.intent)
		}
		if r.verdict.stop != "" {
			c.halt(r.verdict.stop)
		}
	}
}
