package view

import (
	"time"

	"remit/planner"
)

// whyLine is the situation of one transfer.
type whyLine struct {
	Type        string        `json:"type"` // "why"
	Format      string        `json:"format"`
	Remit       string        `json:"remit"`
	Environment string        `json:"environment"`
	Protected   bool          `json:"protected,omitempty"`
	AsOf        time.Time     `json:"as_of"`
	RefID       string        `json:"ref_id"`
	Answer      string        `json:"answer"`          // in sentences
	Group       planner.Group `json:"group,omitempty"` // as a "standing" has it

	Declared  *declaredLine      `json:"declared"` // null where nobody declares it
	Change    *changeLine        `json:"change"`   // the line of the plan; null where it has none
	After     []Stands           `json:"after,omitempty"`
	Transfer  *detailLine        `json:"transfer"` // what the state has; null for nothing
	Obstacles []planner.Obstacle `json:"obstacles,omitempty"`
	Approvals []approvalLine     `json:"approvals,omitempty"`
	Next      string             `json:"next"`
	From      time.Time          `json:"next_from,omitzero"`
}

// declaredLine is where and how a transfer is declared.
type declaredLine struct {
	File      string    `json:"file"`
	Sheet     string    `json:"sheet,omitempty"` // of a workbook that shows several
	Line      int       `json:"line"`            // of the row, or of the block
	Address   string    `json:"address"`
	Block     string    `json:"block"`
	BlockFile string    `json:"block_file"`
	BlockLine int       `json:"block_line"`
	Batch     string    `json:"batch,omitempty"`
	NotBefore time.Time `json:"not_before,omitzero"`
	Expires   time.Time `json:"expires,omitzero"`
	Windows   []string  `json:"windows,omitempty"`
	DependsOn []string  `json:"depends_on,omitempty"` // blocks and batches
	FromPlace string    `json:"from_place,omitempty"` // of a profile that another directory declares
	ToPlace   string    `json:"to_place,omitempty"`   // the same of the destination
}

// Why writes one object by itself: it carries the format. It returns the first error of writing.
func (j *JSON) Why(y *Why, o PlanOptions) error {
	line := whyLine{
		Type: "why", Format: Format, Remit: j.version, Environment: y.Plan.Header.Environment, Protected: j.protected, AsOf: y.Plan.Header.Created,
		RefID: y.RefID, Answer: y.Answer(), Group: y.Group, After: y.After, Next: j.command(y.Next), From: y.From,
	}
	if t := y.Declared; t != nil {
		line.Declared = &declaredLine{
			File: t.Place.File, Sheet: t.Place.Sheet, Line: t.Place.Line, Address: t.Address, Block: t.Block, BlockFile: y.Block.File, BlockLine: y.Block.Line,
			Batch: t.Batch, NotBefore: t.NotBefore, Expires: t.Expires, Windows: y.windows(), DependsOn: y.dependsOn(),
			FromPlace: placeOrNone(t.FromPlace), ToPlace: placeOrNone(t.ToPlace),
		}
	}
	if y.Line != nil {
		change := j.newChangeLine(y.Line)
		change.After = change.After[:min(len(change.After), planner.StatusGroupMax)]
		line.Change = &change
	}
	if y.Recorded != nil {
		detail := newDetailLine(y.Recorded)
		line.Transfer = &detail
	}
	for _, obstacle := range y.Stopped() {
		obstacle.Remedy = j.command(obstacle.Remedy)
		line.Obstacles = append(line.Obstacles, obstacle)
	}
	if y.isSent() {
		for i := range o.Approvals {
			line.Approvals = append(line.Approvals, newApprovalLine(&o.Approvals[i]))
		}
	}
	j.begun = true
	j.object(line)
	return j.end()
}
