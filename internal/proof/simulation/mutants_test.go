//go:build unix

package main_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"remit/config"
	"remit/executor"
	"remit/internal/proof/simulation/history"
	"remit/planner"
	"remit/state"
)

// mutantSeeds is within how many histories every broken client must be caught.
const mutantSeeds = 2000

// TestEveryBrokenClientIsCaught plays histories with clients of which each breaks one rule.
func TestEveryBrokenClientIsCaught(t *testing.T) {
	if isRace {
		t.Skip("the same histories are played without -race")
	}
	p := player(t)
	caught(t, "caught.json", slices.Sorted(maps.Keys(mutants())), mutantSeeds, func(name string, seed uint64) string {
		if r := p.Play(seed, mutants()[name]); r.Violation != nil {
			return r.Violation.Error()
		}
		return ""
	})
}

// TestBrokenClientsAreCaughtByOneWrongClock plays histories in which one command has a wrong clock, and
// all else is right, with the clients that break a rule about time.
func TestBrokenClientsAreCaughtByOneWrongClock(t *testing.T) {
	if isRace {
		t.Skip("the same histories are played without -race")
	}
	p := player(t)
	names := []string{"measures the window by a local time", "measures the window by a time that never goes back", "never sends again"}
	caught(t, "caught-by-clocks.json", names, mutantSeeds/6, func(name string, seed uint64) string {
		for _, r := range p.PlayWrongClocks(seed, mutants()[name]) {
			if r.Violation != nil {
				return r.WrongClock + ": " + r.Violation.Error()
			}
		}
		return ""
	})
}

// mutants are clients that break a rule, by what they do.
func mutants() map[string]history.Client {
	all := settlingMutants()
	maps.Copy(all, allowedMutants())
	maps.Copy(all, judgingMutants())
	maps.Copy(all, approvingMutants())
	maps.Copy(all, sharingMutants())
	return all
}

// settlingMutants break entries, requests and settlements.
func settlingMutants() map[string]history.Client {
	return map[string]history.Client{
		"sends before the intent is durable": run(func(r executor.Run, _ history.View) executor.Run {
			r.Journal = &lateIntents{placed: placed{r.Journal}, held: make(map[string]state.Entry)}
			return r
		}),
		"takes a new ref_id on a retry": run(func(r executor.Run, _ history.View) executor.Run {
			r.Submitter = &renamer{Submitter: r.Submitter, seen: make(map[string]int)}
			return r
		}),
		"marks a timeout as refused": submit(func(_ executor.Submitter, _ string, _ []byte, a executor.Answer) executor.Answer {
			if a.Kind == executor.Unclear && a.HTTPStatus == 0 {
				a.Kind = executor.Rejected
			}
			return a
		}),
		"marks a 503 as not processed": submit(func(_ executor.Submitter, _ string, _ []byte, a executor.Answer) executor.Answer {
			if a.Kind == executor.Unclear && a.HTTPStatus >= 500 {
				a.Kind = executor.NotProcessed
			}
			return a
		}),
		"takes 408 for a refusal": submit(func(_ executor.Submitter, _ string, _ []byte, a executor.Answer) executor.Answer {
			if a.HTTPStatus == 408 || a.Stop && a.HTTPStatus >= 300 && a.HTTPStatus < 400 || a.HTTPStatus == 204 {
				a.Kind = executor.Rejected
			}
			return a
		}),
		"takes a 409 for success without comparing": submit(func(_ executor.Submitter, path string, body []byte, a executor.Answer) executor.Answer {
			if a.Kind == executor.Exists {
				a.Kind, a.Record = executor.Answered, agreeing(path, body, "assumed-"+refID(body))
			}
			return a
		}),
		"trusts the answer": submit(func(_ executor.Submitter, path string, body []byte, a executor.Answer) executor.Answer {
			if a.Kind == executor.Answered {
				a.Record = agreeing(path, body, a.Record.ID)
			}
			return a
		}),
		"sends twice, for safety": submit(func(s executor.Submitter, path string, body []byte, a executor.Answer) executor.Answer {
			if a.Kind == executor.Unclear {
				return s.Submit(context.Background(), path, other(body))
			}
			return a
		}),
		"repeats a request at once after a 401": submit(func(s executor.Submitter, path string, body []byte, a executor.Answer) executor.Answer {
			if a.Kind == executor.TokenRefused {
				return s.Submit(context.Background(), path, body)
			}
			return a
		}),
		"ignores the lock": run(func(r executor.Run, _ history.View) executor.Run {
			r.Journal = lockless{placed{r.Journal}}
			return r
		}),
		"says that an outcome is durable before it is": run(func(r executor.Run, _ history.View) executor.Run {
			r.Journal = &lazy{placed: placed{r.Journal}}
			return r
		}),
		"drops an intent": write(func(j *journal, entries []state.Entry) ([]state.Entry, bool) {
			_, isIntent := entries[0].(state.Intent)
			j.count++
			return entries, !isIntent || j.count%4 != 0
		}),
		"drops an outcome": write(func(j *journal, entries []state.Entry) ([]state.Entry, bool) {
			_, isOutcome := entries[0].(state.Outcome)
			j.count++
			return entries, !isOutcome || j.count%4 != 0
		}),
		"takes the 4xx of a second attempt for a refusal of all": write(func(j *journal, entries []state.Entry) ([]state.Entry, bool) {
			var changed []state.Entry
			for _, entry := range entries {
				outcome, ok := entry.(state.Outcome)
				if ok && outcome.Status == state.Refused && j.doubted[outcome.RefID] {
					entry = ended(outcome, "refused")
				}
				changed = append(changed, entry)
			}
			return changed, true
		}),
		"takes an absent record for one that was not made": run(func(r executor.Run, _ history.View) executor.Run {
			if r.Finder != nil {
				r.Finder = &believer{r.Finder, r.Journal}
			}
			return r
		}),
		"takes a record that cannot be read for an absent one": run(func(r executor.Run, _ history.View) executor.Run {
			if r.Finder != nil {
				r.Finder = overlooker{r.Finder}
			}
			return r
		}),
		"keeps the first outcome only in memory": {Crash: history.LoseLog},
		"takes a free lock for a dead holder": {Resolve: func(r executor.Resolution) executor.Resolution {
			r.Settings.RequestTimeout = -24 * time.Hour // nobody is waited for
			return r
		}},
		"prints a command that fails": {Prints: func(next string) string {
			command, _, _ := strings.Cut(next, " --reason")
			return command
		}},
		"believes a fold": {Repair: func(directory string) error {
			return os.RemoveAll(filepath.Join(directory, "remit.db-wal"))
		}},
		"settles an undeclared doubt by sending": lines(func(c *planner.Change, _ history.View) {
			if c.Action == planner.Resolve && !c.Declared() {
				c.Address = "transfer.internal.once"
			}
		}),
		"settles an edited doubt by sending": run(func(r executor.Run, view history.View) executor.Run {
			return recordedAsDeclared(r, view, false)
		}),
		"evaluates the declaration again on a retry": run(func(r executor.Run, view history.View) executor.Run {
			return recordedAsDeclared(r, view, true)
		}),
		"measures the window by a local time": run(func(r executor.Run, _ history.View) executor.Run {
			return timed(r, &turnedClock{Clock: r.Clock})
		}),
		"measures the window by a time that never goes back": run(func(r executor.Run, _ history.View) executor.Run {
			return timed(r, &turnedClock{Clock: r.Clock, least: newest(r.Journal)})
		}),
		"ignores that clocks are wrong by minutes": policy(func(p *executor.Settings) { p.ReplayWindow += 10*time.Minute + p.RequestTimeout }),
		"never sends again":                        policy(func(p *executor.Settings) { p.HoldDoubt = true }),
		"renames silently after a month": {Declare: func(t config.Transfer) config.Transfer {
			t.Naming, t.FromLabel = "", false
			return t
		}},
		"ignores while it waits that a transfer expires": lines(func(c *planner.Change, _ history.View) { c.Expires = time.Time{} }),
		"sends a doubt again for ever":                   policy(func(p *executor.Settings) { p.ReplayWindow = 10000 * time.Hour }),
		"sends a doubt that is held":                     policy(func(p *executor.Settings) { p.HoldDoubt = false }),
		"has no rate limit":                              policy(func(p *executor.Settings) { p.RateLimits = nil }),
		"does not look up before first sending": policy(func(p *executor.Settings) {
			p.LookUpFirst = false
		}),
		"continues a plan under other controls": {Controls: func(p *planner.Plan) config.Controls {
			return config.Controls{Files: []config.ControlFile{{Name: "limits.hcl", SHA256: p.Header.ControlList[0].SHA256}}}
		}},
		"sends lines that only wait": lines(func(c *planner.Change, _ history.View) {
			if c.Action == planner.Wait && c.Recorded == nil {
				c.Action = planner.Submit
			}
		}),
	}
}
