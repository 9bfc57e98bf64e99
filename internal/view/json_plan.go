package view

import (
	"encoding/json"
	"time"

	"remit/internal/transfer"
	"remit/planner"
	"remit/state"
)

type headerLine struct {
	Type      string `json:"type"` // "header"
	Sandbox   bool   `json:"sandbox"`
	Protected bool   `json:"protected,omitempty"` // the environment, by the configuration at hand
	planner.Header
	Begun *planner.Begun `json:"begun,omitempty"` // earlier runs of this very plan
}

// changeLine is a [planner.Change] with its request as an object.
type changeLine struct {
	Type        string                `json:"type"` // "change"
	Action      planner.Action        `json:"action"`
	RefID       string                `json:"ref_id"`
	Operation   transfer.Operation    `json:"operation"`
	Address     string                `json:"address,omitempty"`
	Place       string                `json:"place,omitempty"`
	Batch       string                `json:"batch,omitempty"`
	Request     json.RawMessage       `json:"request"` // the body that is sent
	Fingerprint string                `json:"fingerprint"`
	FromLabel   bool                  `json:"from_label,omitempty"`
	Naming      string                `json:"naming,omitempty"`
	Reverses    string                `json:"reverses,omitempty"`
	Again       bool                  `json:"again,omitempty"`
	After       []string              `json:"after,omitempty"`
	Until       time.Time             `json:"until,omitzero"`
	Never       bool                  `json:"never,omitempty"`
	Expires     time.Time             `json:"expires,omitzero"`
	Due         time.Time             `json:"due,omitzero"`
	Windows     []string              `json:"windows,omitempty"`
	Reason      string                `json:"reason,omitempty"`
	Next        string                `json:"next,omitempty"` // a command for a person
	Differences []transfer.Difference `json:"differences,omitempty"`
	Recorded    *planner.Recorded     `json:"recorded,omitempty"`
	Signals     []planner.Signal      `json:"signals,omitempty"`
	DisplayName string                `json:"display_name,omitempty"` // as the author says
	FromPlace   string                `json:"from_place,omitempty"`   // of a profile that another directory declares
	ToPlace     string                `json:"to_place,omitempty"`
	Now         state.Status          `json:"now,omitzero"` // the status in the state, of a line that an earlier run of this very plan began
}

type obstacleLine struct {
	Type string `json:"type"` // "obstacle"
	planner.Obstacle
}

type planSummaryLine struct {
	Type       string       `json:"type"` // "summary"
	Applicable bool         `json:"applicable"`
	Totals     []totalsLine `json:"totals"`              // of the actions that occur
	Shortened  int          `json:"shortened,omitempty"` // transfers to submit with a shortened duplicate_within
	HashTotal  string       `json:"hash_total"`          // of the submits and resolves
	Batches    []batchLine  `json:"batches"`
	Digest     string       `json:"digest"`

	Movements []movementLine `json:"movements"` // of the profiles that pay, at most 1000

	UndeclaredFailed *totalsLine `json:"undeclared_failed,omitempty"`   // of the undeclared: FAILED, and not paid
	UnknownRecorded  int         `json:"none_unknown_status,omitempty"` // of the none: the service gives them a status that remit does not know
	Unmade           *unmadeLine `json:"undeclared_unmade,omitempty"`   // beside the undeclared: refused or never sent
}

// unmadeLine is the transfers that were not made, with the first 20 ref_ids.
type unmadeLine struct {
	totalsLine
	RefIDs []string `json:"ref_ids"`
}

// totalsLine is a count and the exact sums of some transfers.
type totalsLine struct {
	Action string      `json:"action,omitempty"` // of a plan
	Result string      `json:"result,omitempty"` // of a run
	Count  int         `json:"count"`
	Assets []assetLine `json:"assets"`

	HashTotal string `json:"hash_total,omitempty"` // absent where a destination is not known
}

// batchLine are the control totals of one batch as it is declared.
type batchLine struct {
	Name string `json:"name"`
	totalsLine
	Controlled bool `json:"controlled"` // it has a control block
	// ControlSaid and ControlHere are the control block of the plan and that of the configuration, where they are not the same.
	ControlSaid string `json:"control_said,omitempty"`
	ControlHere string `json:"control_here,omitempty"`
}

type assetLine struct {
	Asset string `json:"asset"`
	Count int    `json:"count"`
	Sum   string `json:"sum"`
}

// Plan writes a plan: its header, a "change" for each transfer in declaration order, the
// undeclared ones after them where o.ShowAll asks for them, an "obstacle" for each, and a
// "summary". It returns the first error of writing.
func (j *JSON) Plan(p *planner.Plan, o PlanOptions) error {
	if o.Here != nil {
		j.here = o.Here
	}
	j.write(headerLine{"header", o.Sandbox, j.protected, p.Header, p.Begun})
	for _, c := range p.Changes.All() {
		j.change(c)
	}
	if o.ShowAll {
		for i := range p.Undeclared {
			j.change(&p.Undeclared[i])
		}
	}
	for _, obstacle := range p.Obstacles {
		obstacle.Remedy = j.command(obstacle.Remedy)
		j.write(obstacleLine{"obstacle", obstacle})
	}
	for i := range o.Approvals {
		j.approval(&o.Approvals[i])
	}
	s := planSummaryLine{Type: "summary", Applicable: p.Applicable(), Totals: []totalsLine{}, Shortened: p.Shortened(), Digest: p.Digest, Movements: movementLinesOf(p), UnknownRecorded: p.UnknownRecorded}
	for _, a := range append(listed(), planner.Undeclared) {
		if p.Count(a) > 0 {
			line := totalsOf(p.Totals[a])
			line.Action = string(a)
			s.Totals = append(s.Totals, line)
		}
	}
	if p.UndeclaredFailed.Count() > 0 {
		line := totalsOf(&p.UndeclaredFailed)
		s.UndeclaredFailed = &line
	}
	if p.Unmade.Count() > 0 {
		s.Unmade = &unmadeLine{totalsOf(&p.Unmade.Totals), p.Unmade.RefIDs}
	}
	sent := p.Sent()
	s.HashTotal, s.Batches = totalsOf(&sent).HashTotal, []batchLine{}
	for i := range p.Batches {
		b := &p.Batches[i]
		line := batchLine{Name: b.Name, totalsLine: totalsOf(&b.Totals), Controlled: b.Controlled}
		if b.Changed != nil {
			line.ControlSaid, line.ControlHere = b.Changed.Said, b.Changed.Here
		}
		s.Batches = append(s.Batches, line)
	}
	j.write(s)
	if o.Against != nil {
		j.against(o.Against)
	}
	return j.end()
}

func (j *JSON) change(c *planner.Change) { j.write(j.newChangeLine(c)) }

func (j *JSON) newChangeLine(c *planner.Change) changeLine {
	return changeLine{
		Type: "change", Action: c.Action, RefID: c.RefID, Operation: c.Request.Operation,
		Address: c.Address, Place: c.Place, Batch: c.Batch,
		Request: c.Request.Body(), Fingerprint: c.Request.Fingerprint().String(),
		FromLabel: c.FromLabel, Naming: c.Naming, Reverses: c.Reverses, Again: c.Again, After: c.After, Until: c.Until, Never: c.Never, Expires: c.Expires,
		Due: c.Due, Windows: c.Windows,
		Reason: c.Reason, Next: j.command(c.Next), Differences: c.Differences, Recorded: c.Recorded, Signals: c.Signals, DisplayName: c.DisplayName, FromPlace: c.FromPlace, ToPlace: c.ToPlace, Now: c.Now,
	}
}

func totalsOf(t *transfer.Totals) totalsLine {
	line := totalsLine{Assets: []assetLine{}}
	if t == nil {
		return line
	}
	line.Count = t.Count()
	for total := range t.All() {
		line.Assets = append(line.Assets, assetLine{total.Asset, total.Count, sum(total.Sum)})
	}
	line.HashTotal = hashTotal(t)
	return line
}
