package planner_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"remit/config"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// TestOtherThanDeclared has a run whose plan sends fund, pay after fund, and rest after what was made long ago; files were
// edited since.
func TestOtherThanDeclared(t *testing.T) {
	made := record(declare("long-ago"), state.Recorded)
	pending := record(declare("pending"), state.Recorded, recordStatus("PENDING"))
	planned := []config.Transfer{
		declare("fund"), declare("pay", after("fund")), declare("rest", after("long-ago"), opens("all day", 0, 24*60), expires(now.Add(2*time.Hour))), declare("long-ago"), declare("pending"),
	}
	edited := func(refID string, edit func(*config.Transfer)) []config.Transfer {
		now := slices.Clone(planned)
		for i := range now {
			if now[i].Request.RefID == refID {
				now[i].DependsOn = slices.Clone(now[i].DependsOn)
				edit(&now[i])
			}
		}
		return now
	}
	for name, c := range map[string]struct {
		declared []config.Transfer
		since    []state.Detail // recorded since the plan was made
		want     string         // "" for no difference
	}{
		"nothing was edited":                           {declared: planned},
		"nothing was edited, and a line was made":      {declared: planned, since: []state.Detail{record(declare("fund"), state.Recorded)}},
		"a transfer that the run does not send":        {declared: edited("pending", expires(now.Add(time.Hour)))},
		"one that is declared since":                   {declared: append(slices.Clone(planned), declare("new"))},
		"another amount":                               {declared: edited("pay", func(t *config.Transfer) { t.Request.Amount = transfer.MustAmount("5") }), want: `ref_id "pay" is declared otherwise here than the run sends it: its request is another one`},
		"it is not declared":                           {declared: planned[1:], want: "1 of the 3 transfers that the run sends are not declared here"},
		"its time is put off":                          {declared: edited("pay", notBefore(now.Add(time.Hour))), want: "its time is put off to "},
		"its time has come, by another argument":       {declared: edited("pay", notBefore(now.Add(-time.Hour)))},
		"it expires":                                   {declared: edited("pay", expires(now.Add(time.Hour))), want: "it expires at another time"},
		"it expires earlier":                           {declared: edited("rest", expires(now.Add(time.Hour))), want: "it expires at another time"},
		"it expires no more":                           {declared: edited("rest", expires(time.Time{})), want: "it expires at another time"},
		"it has a window":                              {declared: edited("pay", func(t *config.Transfer) { t.Windows = []*config.Window{{Name: "desk"}} }), want: "its windows are other ones"},
		"it has another window":                        {declared: edited("rest", opens("afternoon", 14*60, 16*60)), want: "its windows are other ones"},
		"it depends on a line of the run as well":      {declared: edited("fund", after("rest")), want: `ref_id "fund" is declared otherwise here than the run sends it: it depends on "rest"`},
		"it depends on one that was made":              {declared: edited("fund", after("long-ago"))},
		"it depends on one that is not COMPLETED":      {declared: edited("fund", after("pending")), want: `it depends on "pending"`},
		"it depends on one that was made by the run":   {declared: edited("rest", after("fund")), since: []state.Detail{record(declare("fund"), state.Recorded)}},
		"it depends on one that nobody has made":       {declared: append(edited("fund", after("new")), declare("new")), want: `it depends on "new"`},
		"it depends on one that is unverified":         {declared: append(edited("fund", after("new")), declare("new")), since: []state.Detail{record(declare("new"), state.Unverified)}, want: `it depends on "new"`},
		"it depends on a batch that nobody has made":   {declared: append(edited("fund", afterBatch("month")), declare("new", inBatch("month"))), want: `it depends on "new"`},
		"it depends on a block without transfers":      {declared: edited("fund", after("nothing"))},
		"it depends on a batch that it is in":          {declared: edited("fund", func(t *config.Transfer) { inBatch("month")(t); afterBatch("month")(t) })},
		"a dependency is gone: the run waits for more": {declared: edited("pay", func(t *config.Transfer) { t.DependsOn = nil })},
	} {
		t.Run(name, func(t *testing.T) {
			p := plan(t, newMemory(made, pending), planner.Controls{}, planned...)
			got, err := p.OtherThanDeclared(t.Context(), slices.Values(c.declared), newMemory(append(c.since, made, pending)...))
			if err != nil {
				t.Fatal(err)
			}
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("it says %q, want %q", got, c.want)
			}
		})
	}
	t.Run("the state can't be read", func(t *testing.T) {
		p := plan(t, newMemory(made), planner.Controls{}, planned...)
		if _, err := p.OtherThanDeclared(t.Context(), slices.Values(planned), gone{newMemory(made)}); !errors.Is(err, errGone) {
			t.Errorf("error %v", err)
		}
	})
}

// gone is a state whose details can't be read.
type gone struct{ *memory }

var errGone = errors.New("gone")

// Details implements [planner.Record].
func (gone) Details(context.Context, ...string) ([]state.Detail, error) { return nil, errGone }
