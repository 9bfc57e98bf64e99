package view

import (
	"time"

	"remit/internal/accounts/reconcile"
	"remit/internal/transfer"
	"remit/state"
)

// reconciledLine is one transfer of a reconciliation.
type reconciledLine struct {
	Type    string            `json:"type"` // "reconciled"
	Result  reconcile.Result  `json:"result"`
	Breaks  []reconcile.Break `json:"breaks,omitempty"`
	RefID   string            `json:"ref_id,omitempty"`
	GroupID string            `json:"group_id,omitempty"`
	Amount  string            `json:"amount"`
	Asset   string            `json:"asset"`
	Batch   string            `json:"batch,omitempty"`

	State       *reconciledState       `json:"state,omitempty"`
	Debit       *reconciledSide        `json:"debit,omitempty"`
	Credit      *reconciledSide        `json:"credit,omitempty"`
	More        []reconciledSide       `json:"more,omitempty"`
	Differences []reconcile.Difference `json:"differences,omitempty"`
	Reason      string                 `json:"reason,omitempty"`
	Next        string                 `json:"next,omitempty"`
}

// reconciledState is what the state has of it.
type reconciledState struct {
	Status       state.Status          `json:"status"`
	RecordStatus transfer.RecordStatus `json:"record_status,omitempty"`
	RecordID     string                `json:"record_id,omitempty"`
	RunID        string                `json:"run_id,omitempty"`
}

// reconciledSide is a record at the service.
type reconciledSide struct {
	ID        string                `json:"id"`
	RefID     string                `json:"ref_id,omitempty"`
	GroupID   string                `json:"group_id,omitempty"`
	ProfileID string                `json:"profile_id"`
	Direction transfer.Direction    `json:"direction"`
	Kind      transfer.RecordType   `json:"record_type"`
	Amount    string                `json:"amount"`
	Asset     string                `json:"asset"`
	Status    transfer.RecordStatus `json:"status"`
	CreatedAt time.Time             `json:"created_at"`
	Place     string                `json:"place,omitempty"`
}

func reconciledSideOf(s *reconcile.Side) *reconciledSide {
	if s == nil {
		return nil
	}
	return &reconciledSide{
		ID: s.ID, RefID: s.RefID, GroupID: s.GroupID, ProfileID: s.ProfileID, Direction: s.Direction, Kind: s.Type,
		Amount: s.Amount, Asset: s.Asset, Status: s.Status, CreatedAt: s.CreatedAt, Place: s.Place,
	}
}

// Reconciled writes a "reconciled": one transfer of a reconciliation. It returns the first error
// of writing; lines are handed over with the "reconciliation" at the end.
func (j *JSON) Reconciled(l *reconcile.Item) error {
	line := reconciledLine{
		Type: "reconciled", Result: l.Result, Breaks: l.Breaks, RefID: l.RefID, GroupID: l.GroupID, Amount: l.Amount, Asset: l.Asset,
		Batch: l.Batch, Debit: reconciledSideOf(l.Debit), Credit: reconciledSideOf(l.Credit),
		Differences: l.Differences, Reason: l.Reason, Next: j.command(l.Next),
	}
	if s := l.State; s != nil {
		line.State = &reconciledState{s.Status, s.RecordStatus, s.RecordID, s.RunID}
	}
	for i := range l.More {
		line.More = append(line.More, *reconciledSideOf(&l.More[i]))
	}
	j.write(line)
	return j.err
}

// reconciliationLine is the end of a reconciliation.
type reconciliationLine struct {
	Type        string         `json:"type"` // "reconciliation"
	Environment string         `json:"environment"`
	Protected   bool           `json:"protected,omitempty"`
	Service     state.Identity `json:"service"`
	Lineage     string         `json:"lineage"`
	Serial      int64          `json:"serial"`

	Agrees     bool             `json:"agrees"`
	Files      []ReconciledFile `json:"files,omitempty"`
	LookedUp   bool             `json:"looked_up,omitempty"`
	DebitsOnly bool             `json:"debits_only,omitempty"`
	Records    int              `json:"records"`
	First      time.Time        `json:"first,omitzero"`
	Last       time.Time        `json:"last,omitzero"`
	From       time.Time        `json:"from,omitzero"`
	Until      time.Time        `json:"until,omitzero"`
	Batch      string           `json:"batch,omitempty"`

	Matched     int                           `json:"matched"`
	Accepted    int                           `json:"accepted"`
	Differ      int                           `json:"differ"`
	Pending     int                           `json:"pending"`
	Unknown     map[transfer.RecordStatus]int `json:"unknown_status,omitempty"`
	Breaks      map[reconcile.Break]int       `json:"breaks"`
	NotMade     int                           `json:"not_made"`
	OutOfPeriod int                           `json:"out_of_period"`
	OtherBatch  int                           `json:"other_batch"`
	OtherTypes  map[transfer.RecordType]int   `json:"other_types"`
	Assets      []reconciledAsset             `json:"assets"`
}

// reconciledAsset are the totals of one asset.
type reconciledAsset struct {
	Asset      string         `json:"asset"`
	State      reconciledPart `json:"state"`
	Debits     reconciledPart `json:"debits"`
	Credits    reconciledPart `json:"credits"`
	Matched    reconciledPart `json:"matched"`
	Difference string         `json:"difference"`
}

type reconciledPart struct {
	Count int    `json:"count"`
	Sum   string `json:"sum"`
}

// Reconciliation writes a "reconciliation", the end of one. It returns the first error of writing.
func (j *JSON) Reconciliation(s *reconcile.Summary, o ReconciliationOptions) error {
	line := reconciliationLine{
		Type: "reconciliation", Environment: o.Meta.Environment, Protected: j.protected, Service: o.Meta.Service, Lineage: o.Meta.Lineage, Serial: o.Meta.Serial,
		Agrees: s.Agrees(), Files: o.Files, LookedUp: s.LookedUp, DebitsOnly: s.DebitsOnly, Records: s.Records, First: s.First, Last: s.Last,
		From: s.From, Until: s.Until, Batch: s.Batch, Matched: s.Matched, Accepted: s.Accepted, Differ: s.Differ, Pending: s.Pending, Unknown: s.Unknown, Breaks: s.Breaks,
		NotMade: s.NotMade, OutOfPeriod: s.OutOfPeriod, OtherBatch: s.OtherBatch, OtherTypes: s.OtherTypes, Assets: []reconciledAsset{},
	}
	part := func(t transfer.Total) reconciledPart { return reconciledPart{t.Count, sum(t.Sum)} }
	for _, a := range s.Assets {
		line.Assets = append(line.Assets, reconciledAsset{a.Asset, part(a.State), part(a.Debits), part(a.Credits), part(a.Matched), sum(a.Difference())})
	}
	j.write(line)
	return j.end()
}
