package planner_test

import (
	"encoding/json"
	"strings"
	"testing"

	"remit/config"
	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

// TestWhatWasMadeCounts has recorded transfers that the service made otherwise than they were asked for: a line looks like
// one of them by its request and by its record, and so does a limit count.
func TestWhatWasMadeCounts(t *testing.T) {
	accepted := func(m *memory) { m.letStand("old", "90.00") }
	conflict := func(m *memory) {
		d := m.details["old"]
		d.Status, d.RecordStatus = state.Conflict, ""
		d.Outcome.Records = []json.RawMessage{debitOf("old", "90", "USD")}
		d.Outcome.Status = state.Conflict
		m.details["old"] = d
	}
	daily := limit("l", config.PerDestinationDay, amountMax("169.99"))
	for name, test := range map[string]struct {
		happened func(*memory)
		amount   string
		want     []string
	}{
		"nothing differs":                          {func(*memory) {}, "90.00", []string{"80.00 so far"}},
		"as it was asked for":                      {accepted, "80.00", []string{"look-alike", "90.00 so far"}},
		"as it was made":                           {accepted, "90.00", []string{"look-alike", "90.00 so far", "the service's record of it has this movement"}},
		"as neither":                               {accepted, "85.00", []string{"90.00 so far"}},
		"a conflict, as the service has it":        {conflict, "90.00", []string{"look-alike", "90.00 so far"}},
		"a person let it stand and then forgot it": {forgotten(accepted), "90.00", []string{"look-alike", "90.00 so far"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMemory(record(declare("old", twin), state.Recorded))
			test.happened(m)
			p := plan(t, m, limits(daily), declare("new", twin, sum(test.amount)))
			var all []string
			for _, o := range p.Obstacles {
				if o.Kind != planner.ObstacleConflict {
					all = append(all, string(o.Kind)+": "+o.Detail)
				}
			}
			text := strings.Join(all, "\n")
			for _, want := range test.want {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
			if wantsTwin := test.want[0] == "look-alike"; strings.Contains(text, "look-alike: ") != wantsTwin {
				t.Errorf("a look-alike, which is %v to be one:\n%s", wantsTwin, text)
			}
		})
	}
}

// TestAnotherAccountIsAnotherMovement has a person let stand that the service paid into another account of the profile: a
// line into that account looks like it.
func TestAnotherAccountIsAnotherMovement(t *testing.T) {
	into := func(account string) func(*config.Transfer) {
		return func(t *config.Transfer) { twin(t); t.Request.ToAccountID = account }
	}
	for account, want := range map[string]bool{"savings": true, "current": true, "third": false} {
		m := newMemory(record(declare("old", into("current")), state.Recorded))
		credit := json.RawMessage(`{"id":"c","customer_id":"me","profile_id":"landlord","account_id":"savings","amount":"80","asset":"USD","direction":"CREDIT","type":"INTERNAL_TRANSFER_CREDIT","status":"COMPLETED"}`)
		data, err := json.Marshal(state.Outcome{
			RefID: "old", Status: state.Recorded, Source: state.SourcePerson, Records: []json.RawMessage{credit},
			Differences: []transfer.Difference{{Field: "account_id", Asked: "current", Answered: "savings"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		m.told = []state.Event{{Seq: 3, Time: now, Kind: state.KindOutcome, RefID: "old", Data: data}}
		p := plan(t, m, planner.Controls{}, declare("new", into(account)))
		if got := len(p.Obstacles) == 1 && p.Obstacles[0].Kind == planner.ObstacleLookAlike; got != want {
			t.Errorf("a line into %s looks like the one before: %v, obstacles %v", account, got, obstacles(p))
		}
	}
}

// forgotten has a person forget the transfer.
func forgotten(happened func(*memory)) func(*memory) {
	return func(m *memory) {
		happened(m)
		d := m.details["old"]
		d.Status, d.Outcome = state.Tombstone, &state.Outcome{RefID: "old", Status: state.Tombstone, Source: state.SourcePerson}
		m.details["old"] = d
	}
}

// TestWhoWasPaidOtherwise has a person let stand that the service paid another profile: that one is no first-time
// destination any more, and the one that was asked for still is.
func TestWhoWasPaidOtherwise(t *testing.T) {
	m := newMemory(record(declare("old", twin), state.Recorded))
	credit := json.RawMessage(`{"id":"c","customer_id":"me","profile_id":"somebody","amount":"80","asset":"USD","direction":"CREDIT","type":"INTERNAL_TRANSFER_CREDIT","status":"COMPLETED"}`)
	data, err := json.Marshal(state.Outcome{
		RefID: "old", Status: state.Recorded, Source: state.SourcePerson,
		Records:     []json.RawMessage{debitOf("old", "80.00", "USD"), credit},
		Differences: []transfer.Difference{{Field: "profile_id", Asked: "landlord", Answered: "somebody"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	m.told = []state.Event{{Seq: 3, Time: now, Kind: state.KindOutcome, RefID: "old", Data: data}}
	first := func(to string) bool {
		p := plan(t, m, planner.Controls{}, declare("new", sum("1.00"), func(t *config.Transfer) { t.Request.ToProfileID = to }))
		for _, s := range find(t, p, "new").Signals {
			if s.Kind == planner.FirstDestination {
				return true
			}
		}
		return false
	}
	if first("somebody") || !first("landlord") {
		t.Errorf("a first-time destination: who was paid %v, who was asked for %v", first("somebody"), first("landlord"))
	}
}
