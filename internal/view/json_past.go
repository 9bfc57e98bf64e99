package view

import (
	"encoding/json"
	"time"

	"remit/executor"
	"remit/internal/transfer"
	"remit/state"
)

// pastLine is a run of the journal.
type pastLine struct {
	Type        string                `json:"type"` // "run"
	Sandbox     bool                  `json:"sandbox"`
	Environment string                `json:"environment"`
	Protected   bool                  `json:"protected,omitempty"`
	Service     state.Identity        `json:"service"`
	Lineage     string                `json:"lineage"`
	RunID       string                `json:"run_id"`
	By          state.Holder          `json:"by"`
	Begun       time.Time             `json:"begun"`
	Ended       time.Time             `json:"ended,omitzero"` // absent where it did not end
	Alive       bool                  `json:"alive"`          // it goes on right now
	PlanID      string                `json:"plan_id,omitempty"`
	Digest      string                `json:"digest,omitempty"`
	Author      string                `json:"author,omitempty"`
	Controls    string                `json:"controls,omitempty"`
	Accepted    []string              `json:"accepted,omitempty"`
	ControlList []state.ControlDigest `json:"control_list,omitempty"`

	PlanSHA256 string           `json:"plan_sha256,omitempty"`
	Approvals  []state.Approval `json:"approvals,omitempty"`
}

// outcomeLine is what a run made of one transfer.
type outcomeLine struct {
	Type         string                `json:"type"` // "outcome"
	Result       executor.Result       `json:"result"`
	RefID        string                `json:"ref_id"`
	GroupID      string                `json:"group_id,omitempty"`
	RecordID     string                `json:"record_id,omitempty"`
	RecordStatus transfer.RecordStatus `json:"record_status,omitempty"`
	Reason       string                `json:"reason,omitempty"`
	Operation    transfer.Operation    `json:"operation,omitempty"`
	Address      string                `json:"address,omitempty"`
	Place        string                `json:"place,omitempty"`
	Batch        string                `json:"batch,omitempty"`
	Amount       transfer.Amount       `json:"amount,omitzero"`
	Asset        string                `json:"asset,omitempty"`
	Request      json.RawMessage       `json:"request"` // its body; null where the state has none
	At           time.Time             `json:"at"`
	Now          *state.Status         `json:"now,omitempty"`  // of an exception
	Next         string                `json:"next,omitempty"` // the command to type, of an exception
}

// Past writes a run of the journal: a "run", an "outcome" for each transfer in the order of the
// journal, and a "run_summary". It returns the first error of writing.
func (j *JSON) Past(past *executor.PastRun, o PastOptions) error {
	r := newPastRun(past, o)
	b := past.Run.Begun
	j.write(pastLine{
		Type: "run", Sandbox: r.isSandbox(), Environment: o.Meta.Environment, Protected: j.protected, Service: o.Meta.Service, Lineage: o.Meta.Lineage,
		RunID: b.RunID, By: b.By, Begun: past.Run.BegunAt, Ended: past.Run.EndedAt, Alive: o.Alive,
		PlanID: b.PlanID, Digest: b.Digest, Author: b.Author, Controls: b.Controls, Accepted: b.Accepted,
		ControlList: b.ControlList,
		PlanSHA256:  b.PlanSHA256, Approvals: b.Approvals,
	})
	for i := range past.Lines {
		j.pastOutcome(&past.Lines[i], o)
	}
	s := past.Summary()
	for i := range s.Exceptions {
		s.Exceptions[i].Next = o.Now[s.Exceptions[i].RefID].Next
	}
	line := j.summaryLine(s, SummaryOptions{})
	for i, row := range r.rows {
		line.Results[i].Count = row.count
	}
	j.write(line)
	return j.end()
}

func (j *JSON) pastOutcome(l *executor.PastLine, o PastOptions) {
	line := outcomeLine{
		Type: "outcome", Result: l.Result, RefID: l.RefID, GroupID: l.GroupID, RecordID: l.RecordID,
		RecordStatus: l.RecordStatus, Reason: l.Reason, Operation: l.Request.Operation,
		Address: l.Address, Place: l.Place, Batch: l.Batch, Amount: l.Request.Amount, Asset: l.Request.Asset,
		Request: rawOrNull(""), At: l.At,
	}
	if l.Request.Operation != "" {
		line.Request = l.Request.Body()
	}
	if now, ok := o.Now[l.RefID]; ok {
		line.Now, line.Next = &now.Status, j.command(now.Next)
	}
	j.write(line)
}
