package planner_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"remit/config"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

const notRepaid = "pay it under a new ref_id if it is still to be paid"

// daysAgo is a time as a record has it.
func daysAgo(days time.Duration) string { return now.Add(-days * day).Format(time.RFC3339) }

// adoptedAgo is a row of the twin that was imported an hour ago, all of its rows at one time, and made so many days ago.
func adoptedAgo(refID string, days time.Duration, edits ...func(*state.Detail)) state.Detail {
	return record(declare(refID, twin), state.Adopted, append([]func(*state.Detail){foundFirst, made(daysAgo(days), daysAgo(days))}, edits...)...)
}

// bothFailed has both records say that it FAILED.
func bothFailed(d *state.Detail) {
	d.RecordStatus = transfer.Failed
	for i, raw := range d.Outcome.Records {
		d.Outcome.Records[i] = bytes.ReplaceAll(raw, []byte("COMPLETED"), []byte("FAILED"))
	}
}

// TestWhatWasImportedIsRepaidByTheTimesOfItsRecords has a transfer "a" that FAILED, beside others of the same movement, some of which this state
// never sent. When these were imported tells nothing.
func TestWhatWasImportedIsRepaidByTheTimesOfItsRecords(t *testing.T) {
	failed := recordStatus(transfer.Failed)
	own := func(refID string, days time.Duration, edits ...func(*state.Detail)) state.Detail {
		return record(declare(refID, twin), state.Recorded, append(edits, intended(days*day))...)
	}
	since := func(refID, day string) string {
		return `; the same movement was made since, as "` + refID + `" on ` + day[:10]
	}
	for name, test := range map[string]struct {
		recorded []state.Detail
		want     string
	}{
		"both are imported":               {[]state.Detail{adoptedAgo("a", 40, bothFailed), adoptedAgo("b", 39)}, since("b", daysAgo(39)) + ": remove"},
		"both are, the other one before":  {[]state.Detail{adoptedAgo("a", 40, bothFailed), adoptedAgo("b", 41)}, notRepaid},
		"an older one is imported":        {[]state.Detail{own("a", 40, failed), adoptedAgo("b", 68)}, notRepaid},
		"a newer one is imported":         {[]state.Detail{own("a", 40, failed), adoptedAgo("b", 39)}, since("b", daysAgo(39))},
		"what FAILED is imported":         {[]state.Detail{adoptedAgo("a", 40, bothFailed), own("b", 39)}, since("b", daysAgo(39))},
		"what FAILED is imported, before": {[]state.Detail{adoptedAgo("a", 40, bothFailed), own("b", 41)}, notRepaid},
		"two after it":                    {[]state.Detail{own("a", 40, failed), own("c", 8), own("b", 39)}, since("b", daysAgo(39)) + ", and 1 more time: remove"},
		"three after it":                  {[]state.Detail{own("a", 40, failed), own("d", 1), own("c", 8), own("b", 39)}, since("b", daysAgo(39)) + ", and 2 more times: remove"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := find(t, plan(t, newMemory(test.recorded...), planner.Controls{}, declare("a", twin)), "a").Reason; !strings.Contains(got, test.want) {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// TestAnotherDateOfItsScheduleIsNotInThePlaceOfAFailedOne has the rent of a month that FAILED. That of the next one is its own.
func TestAnotherDateOfItsScheduleIsNotInThePlaceOfAFailedOne(t *testing.T) {
	june, july, august := now.Add(-62*day), now.Add(-31*day), now.Add(-day)
	date := func(refID string, due time.Time, edits ...func(*config.Transfer)) config.Transfer {
		return declare(refID, append([]func(*config.Transfer){twin, occurs(due, 7*day)}, edits...)...)
	}
	sent := func(c config.Transfer, at time.Time, edits ...func(*state.Detail)) state.Detail {
		return record(c, state.Recorded, append([]func(*state.Detail){func(d *state.Detail) { d.IntendedAt, d.Intent.Due = at, c.Occurrence.Due }}, edits...)...)
	}
	a, b, c := date("rent-06", june), date("rent-07", july), date("rent-08", august)
	again := declare("again", twin)
	failed := sent(a, june, recordStatus(transfer.Failed))
	const named = `made since, as "`
	for name, test := range map[string]struct {
		recorded []state.Detail
		declared []config.Transfer
		want     string
	}{
		"the next dates":           {[]state.Detail{failed, sent(b, july), sent(c, august)}, []config.Transfer{a, b, c}, notRepaid},
		"one in its place as well": {[]state.Detail{failed, sent(b, july), sent(c, august), record(again, state.Recorded, intended(20*day))}, []config.Transfer{a, b, c, again}, named + `again" on ` + daysAgo(20)[:10] + ": remove"},
		"one whose date was edited": {
			[]state.Detail{failed, sent(b, july, func(d *state.Detail) { d.Intent.Due = june })}, []config.Transfer{a, b, c}, named + `rent-07"`,
		},
		"one that is declared no longer": {[]state.Detail{failed, sent(b, july)}, []config.Transfer{a, c}, named + `rent-07"`},
		"one of another block": {
			[]state.Detail{failed, sent(b, july)}, []config.Transfer{a, date("rent-07", july, func(t *config.Transfer) { t.Block = "transfer.internal.other" })}, named + `rent-07"`,
		},
		"one in its place after one of another block": {
			[]state.Detail{failed, sent(b, july), record(again, state.Recorded, intended(20*day))},
			[]config.Transfer{a, date("rent-07", july, func(t *config.Transfer) { t.Block = "transfer.internal.other" })},
			named + `again" on ` + daysAgo(20)[:10] + ", and 1 more time: remove",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := plan(t, newMemory(test.recorded...), planner.Controls{AcceptLate: 0}, test.declared...)
			if got := find(t, p, "rent-06").Reason; !strings.Contains(got, test.want) {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// TestNothingIsReadForWhatFAILEDButItsOwnMovement counts the details that a plan reads beside the one that FAILED.
func TestNothingIsReadForWhatFAILEDButItsOwnMovement(t *testing.T) {
	m := newMemory(
		record(declare("a", twin), state.Recorded, intended(40*day), recordStatus(transfer.Failed)),
		record(declare("before", twin), state.Recorded, intended(41*day)), record(declare("b", twin), state.Recorded, intended(39*day)),
		record(declare("other"), state.Recorded), adoptedAgo("imported-before", 50, intended(45*day)),
	)
	c := &asking{memory: m}
	p := plan(t, c, planner.Controls{}, declare("a", twin), declare("before", twin), declare("b", twin), declare("other"), declare("imported-before", twin))
	if got := strings.Join(c.asked, " "); got != "a b a" { // a by what it FAILED for, b, and a for its line
		t.Errorf("the plan reads %q (%v)", got, actions(p))
	}
}

// asking keeps which details are read.
type asking struct {
	*memory
	asked []string
}

func (c *asking) Details(ctx context.Context, refIDs ...string) ([]state.Detail, error) {
	c.asked = append(c.asked, refIDs...)
	return c.memory.Details(ctx, refIDs...)
}
