package view

import (
	"encoding/json"
	"iter"
	"time"

	"remit/internal/transfer"
	"remit/state"
)

// transferLine is what a state knows of a ref_id in its row.
type transferLine struct {
	Type         string                `json:"type"`             // "transfer"
	Format       string                `json:"format,omitempty"` // of an object by itself
	Remit        string                `json:"remit,omitempty"`
	RefID        string                `json:"ref_id"`
	Status       state.Status          `json:"status"`
	RecordStatus transfer.RecordStatus `json:"record_status"`
	GroupID      string                `json:"group_id"`
	RecordID     string                `json:"record_id"`
	Amount       string                `json:"amount"`
	Asset        string                `json:"asset"`
	Fingerprint  string                `json:"fingerprint"`
	Doubted      bool                  `json:"doubted"`
	RunID        string                `json:"run_id"`
	IntendedAt   time.Time             `json:"intended_at,omitzero"`
	AttemptedAt  time.Time             `json:"attempted_at,omitzero"`
	SettledAt    time.Time             `json:"settled_at,omitzero"`
	DisplayName  string                `json:"display_name,omitempty"` // as the author said
	Accepted     []transfer.Difference `json:"accepted_differences,omitempty"`
}

// detailLine is all that a state knows of a ref_id.
type detailLine struct {
	transferLine
	Operation transfer.Operation `json:"operation"`
	Path      string             `json:"path"`
	Request   json.RawMessage    `json:"request"` // the recorded body; null where there is none
	Address   string             `json:"address"`
	Place     string             `json:"place"`
	Batch     string             `json:"batch"`
	Record    json.RawMessage    `json:"record"`  // the service's deciding record; null where there is none
	Outcome   *state.Outcome     `json:"outcome"` // the latest; null where there is none
	Doubt     string             `json:"doubt,omitempty"`
	Next      string             `json:"next,omitempty"`
}

func newTransferLine(t *state.Transfer) transferLine {
	return transferLine{
		Type: "transfer", RefID: t.RefID, Status: t.Status, RecordStatus: t.RecordStatus,
		GroupID: t.GroupID, RecordID: t.RecordID, Amount: t.Amount.String(), Asset: t.Asset,
		Fingerprint: fingerprint(t), Doubted: t.Doubted, RunID: t.RunID,
		IntendedAt: t.IntendedAt, AttemptedAt: t.AttemptedAt, SettledAt: t.SettledAt,
	}
}

func newDetailLine(d *state.Detail) detailLine {
	line := detailLine{
		transferLine: newTransferLine(&d.Transfer),
		Operation:    d.Intent.Operation, Path: d.Intent.Path, Request: rawOrNull(d.Intent.Body),
		Address: d.Intent.Address, Place: d.Intent.Place, Batch: d.Intent.Batch, Outcome: d.Outcome,
	}
	line.DisplayName, line.Accepted = d.Intent.DisplayName, d.Accepted()
	isMade := d.Outcome != nil && d.Outcome.Status != state.Tombstone // its records are those that a person was shown, and not its own
	if isMade && len(d.Outcome.Records) > 0 {
		line.Record = rawOrNull(string(d.Outcome.Records[0]))
	}
	return line
}

// StateList writes a "transfer" for each row. Of the options it takes names and accepted differences. An error that rows yield ends
// the list and is returned; else the first error of writing is.
func (j *JSON) StateList(rows iter.Seq2[state.Transfer, error], o StateListOptions) error {
	j.begin()
	for t, err := range rows {
		if err != nil {
			_ = j.end()
			return err
		}
		line := newTransferLine(&t)
		line.DisplayName, line.Accepted = o.Names[t.IntentSeq], o.Accepted[t.RefID]
		j.write(line)
		if j.err != nil {
			break
		}
	}
	return j.end()
}

// StateShow writes one object by itself: it carries the format. It returns the first error of
// writing.
func (j *JSON) StateShow(d state.Detail, o StateShowOptions) error {
	line := newDetailLine(&d)
	line.Format, line.Remit, line.Doubt, line.Next = Format, j.version, o.Doubt, j.command(o.Next)
	j.begun = true
	j.object(line)
	return j.end()
}

// rawOrNull is JSON as it was recorded. A recorded text that is no JSON becomes a string,
// and none becomes null.
func rawOrNull(text string) json.RawMessage {
	switch {
	case text == "":
		return json.RawMessage("null")
	case json.Valid([]byte(text)):
		return json.RawMessage(text)
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string always has a JSON form
	}
	return quoted
}
