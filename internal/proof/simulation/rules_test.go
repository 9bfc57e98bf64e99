//go:build unix

package main_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"time"

	"remit/config"
	"remit/executor"
	"remit/internal/proof/simulation/history"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// allowedMutants send transfers that must not be sent, not yet, not any more, or not again.
func allowedMutants() map[string]history.Client {
	return map[string]history.Client{
		"starts a dependent while PENDING": records(func(r transfer.Record) transfer.Record {
			r.Raw = bytes.Replace(r.Raw, []byte(`"PENDING"`), []byte(`"COMPLETED"`), 1)
			if r.Status == transfer.Pending {
				r.Status = transfer.Completed
			}
			return r
		}),
		"sends a doubt again before its dependency is COMPLETED": lines(func(c *planner.Change, _ history.View) {
			if c.Action == planner.Resolve {
				c.After = nil
			}
		}),
		"lets an unverified transfer meet a dependency": lines(func(c *planner.Change, _ history.View) {
			if c.Action == planner.Wait && strings.Contains(c.Reason, "unverified") {
				c.Action, c.After = planner.Submit, nil
			}
		}),
		"knows no dependencies": lines(func(c *planner.Change, _ history.View) { c.After = nil }),
		"knows no windows":      lines(func(c *planner.Change, _ history.View) { c.Windows = nil }),
		"sends a doubt again although a record was found": run(func(r executor.Run, _ history.View) executor.Run {
			if r.Finder != nil {
				r.Finder = blind{r.Finder}
			}
			return r
		}),
		"takes a failed lookup for an absent record": run(func(r executor.Run, _ history.View) executor.Run {
			if r.Finder != nil {
				r.Finder = hopeful{r.Finder}
			}
			return r
		}),
		"does not look up what is known": submit(func(_ executor.Submitter, _ string, _ []byte, a executor.Answer) executor.Answer {
			if a.Kind == executor.Exists {
				a.Kind = executor.Unclear
			}
			return a
		}),
		"sends other bytes again for a saved plan": {Unchecked: true, Run: func(r executor.Run, _ history.View) executor.Run {
			r.Saved = false
			return r
		}},
		"keeps the rate limit by a clock that somebody sets": run(func(r executor.Run, _ history.View) executor.Run {
			r.Clock = wallClock{r.Clock}
			return r
		}),
		"sends again to the very end of the replay window": policy(func(p *executor.Settings) { p.ReplayWindow += p.RequestTimeout }),
		"knows no limits": {Limits: func([]config.Limit) []config.Limit { return nil }},
		"counts a day's limit by the plan alone": {Limits: func(limits []config.Limit) []config.Limit {
			for i := range limits {
				if limits[i].Per == config.PerDay {
					limits[i].Per, limits[i].Zone = config.PerPlan, nil
				}
			}
			return limits
		}},
		"goes on when the journal fails": run(func(r executor.Run, _ history.View) executor.Run {
			r.Journal = deaf{placed{r.Journal}}
			return r
		}),
	}
}

// judgingMutants take a record for what it is not.
func judgingMutants() map[string]history.Client {
	return map[string]history.Client{
		"does not mark what was found before it was sent": write(func(_ *journal, entries []state.Entry) ([]state.Entry, bool) {
			var changed []state.Entry
			for _, entry := range entries {
				switch e := entry.(type) {
				case state.Intent:
					e.Found = false
					entry = e
				case state.Outcome:
					if e.Status == state.Adopted {
						e.Status = state.Recorded
					}
					entry = e
				}
				changed = append(changed, entry)
			}
			return changed, true
		}),
		"takes a record that is hours older for its own": records(younger),
		"takes a found record that is hours older for its own": run(func(r executor.Run, _ history.View) executor.Run {
			if r.Finder != nil {
				r.Finder = found{r.Finder, younger}
			}
			return r
		}),
		"takes a 409 to a first attempt for its own transfer": submit(func(_ executor.Submitter, _ string, _ []byte, a executor.Answer) executor.Answer {
			if a.Kind == executor.Exists && a.Record != nil {
				record := younger(*a.Record)
				a.Kind, a.Record = executor.Answered, &record
			}
			return a
		}),
		"counts a credit side alone": submit(func(_ executor.Submitter, path string, body []byte, a executor.Answer) executor.Answer {
			if a.Kind == executor.Answered && a.Record.Direction == transfer.Credit {
				a.Record = agreeing(path, body, a.Record.ID)
			}
			return a
		}),
		"does not look whose customer it is": records(func(r transfer.Record) transfer.Record {
			r.CustomerID = customer
			r.Raw = bytes.Replace(r.Raw, []byte(`"customer_id":"somebody"`), []byte(`"customer_id":"`+customer+`"`), 1)
			return r
		}),
	}
}

// younger is a record with the time of its answer.
func younger(r transfer.Record) transfer.Record {
	const hours = 5 * time.Hour
	r.CreatedAt = r.CreatedAt.Add(hours)
	return r
}

// records is a client that reads every record as change says.
func records(change func(transfer.Record) transfer.Record) history.Client {
	return run(func(r executor.Run, _ history.View) executor.Run {
		r.Submitter = &answers{r.Submitter, func(_ executor.Submitter, _ string, _ []byte, a executor.Answer) executor.Answer {
			if a.Record != nil {
				record := change(*a.Record)
				a.Record = &record
			}
			return a
		}}
		if r.Finder != nil {
			r.Finder = found{r.Finder, change}
		}
		return r
	})
}

// found changes what a lookup finds.
type found struct {
	executor.Finder
	change func(transfer.Record) transfer.Record
}

func (f found) Find(ctx context.Context, refIDs []string) (map[string][]transfer.Record, error) {
	all, err := f.Finder.Find(ctx, refIDs)
	for _, list := range all {
		for i := range list {
			list[i] = f.change(list[i])
		}
	}
	return all, err
}

// blind does not see a credit side that stands alone.
type blind struct{ executor.Finder }

func (f blind) Find(ctx context.Context, refIDs []string) (map[string][]transfer.Record, error) {
	all, err := f.Finder.Find(ctx, refIDs)
	for refID, list := range all {
		if len(list) == 1 && list[0].Direction == transfer.Credit {
			delete(all, refID)
		}
	}
	return all, err
}

// hopeful has found nothing where a lookup fails.
type hopeful struct{ executor.Finder }

func (f hopeful) Find(ctx context.Context, refIDs []string) (map[string][]transfer.Record, error) {
	all, err := f.Finder.Find(ctx, refIDs)
	if err != nil {
		return nil, nil //nolint:nilerr // it is what this one does wrong
	}
	return all, nil
}

// wallClock knows no clock but the one that anyone may set.
type wallClock struct{ executor.Clock }

func (c wallClock) Now() time.Time { return c.Clock.Now().Round(0) }

// deaf does not hear that an outcome could not be written.
type deaf struct{ placed }

func (j deaf) Append(ctx context.Context, entries ...state.Entry) error {
	err := j.Journal.Append(ctx, entries...)
	if _, isOutcome := entries[0].(state.Outcome); isOutcome && errors.Is(err, history.ErrDisk) {
		return nil
	}
	return err
}
