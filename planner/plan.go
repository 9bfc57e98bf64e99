// Package planner compares declared transfers with recorded ones and says, for each
// ref_id, what an apply would do.
//
// Its one invariant: a plan is a function of the declaration, the record, the controls and
// the given time. It reads no clock, no network and no file.
package planner

import (
	"context"
	"iter"
	"time"

	"remit/config"
	"remit/internal/doubt"
	"remit/internal/transfer"
	"remit/state"
)

// Action is what an apply would do about one ref_id.
type Action string

// The actions, as docs/commands/plan.md explains them.
const (
	Submit     Action = "submit"     // + nothing recorded, or unsent, or refused; and due
	Resolve    Action = "resolve"    // ? in doubt
	None       Action = "none"       //   recorded, and the declaration agrees
	Wait       Action = "wait"       // > not yet due, or in flight in a live run
	Expired    Action = "expired"    // < expires passed before it was submitted
	Conflict   Action = "conflict"   // ! the record and the declaration differ
	Failed     Action = "failed"     // x the service's status is FAILED, or a person settled it as not made
	Undeclared Action = "undeclared" // # recorded, no longer declared
)

// Symbol is the one character that stands for the action at the start of a line.
func (a Action) Symbol() string {
	switch a {
	case Submit:
		return "+"
	case Resolve:
		return "?"
	case None:
		return " "
	case Wait:
		return ">"
	case Expired:
		return "<"
	case Conflict:
		return "!"
	case Failed:
		return "x"
	case Undeclared:
		return "#"
	}
	panic("no such action: " + string(a))
}

// Actions lists every action in the order of that table.
func Actions() []Action {
	return []Action{Submit, Resolve, None, Wait, Expired, Conflict, Failed, Undeclared}
}

// Change is one ref_id of a plan. It is whole by itself: a saved plan is its changes. One
// without an Address is no longer declared.
type Change struct {
	Action  Action           `json:"action"`
	RefID   string           `json:"ref_id"`
	Address string           `json:"address,omitempty"`
	Place   string           `json:"place,omitempty"` // file:line of the declaration
	Batch   string           `json:"batch,omitempty"`
	Request transfer.Request `json:"request"` // the declaration; of an undeclared one, the record

	FromLabel bool `json:"from_label,omitempty"`
	// Naming is how the ref_id of a declared transfer is made, as config.Transfer has it; "" where it is a
	// label, or where nothing is known of it.
	Naming string `json:"naming,omitempty"`
	// DisplayName is what the author calls the destination of a declared transfer; "" where they don't.
	// It is sent to nobody and is no part of the digest.
	DisplayName string `json:"display_name,omitempty"`
	// FromPlace and ToPlace are file:line of the profiles that pay and are paid, where another directory than
	// the configuration's declares them; "" elsewhere.
	FromPlace string `json:"from_place,omitempty"`
	ToPlace   string `json:"to_place,omitempty"`
	// Reverses is the ref_id of the transfer of which this one gives money back; "" for none.
	Reverses string `json:"reverses,omitempty"`

	// DuplicateWithin is how far back a look-alike of a Submit stops the plan, in
	// nanoseconds; 0 makes it a mark only.
	DuplicateWithin time.Duration `json:"duplicate_within,omitempty"`
	// AcceptOf are the ref_ids of which the declaration says that a Submit may look like them.
	AcceptOf []string `json:"accept_duplicate_of,omitempty"`
	// Again says that an earlier, different or equal request was refused; Recorded has it.
	Again bool `json:"again,omitempty"`
	// After are the ref_ids, as yet unmet, that must be COMPLETED first. Those of a Submit
	// are themselves submitted by this plan, or recorded and not yet COMPLETED; those of a
	// Resolve may be anything, and hold its recorded request back. The slice is shared by
	// the changes that wait for the same; it is not to be changed.
	After []string `json:"after,omitempty"`
	// Until is when a Wait may be over, or the recorded request of a Resolve may be sent
	// again; zero where no time is known. A rehearsal submits although it has one.
	Until time.Time `json:"until,omitzero"`
	// Never says of a Wait that it will not be over: no time is in sight at which all windows
	// are open, the transfer expires before its time, or it depends on one that expired, failed or
	// will not be sent. It needs a person.
	Never bool `json:"never,omitempty"`
	// Expires is when an unsent transfer is no longer wanted; zero for never.
	Expires time.Time `json:"expires,omitzero"`
	// Due is when the occurrence of a schedule is due for which the transfer is made, and
	// CatchUp, in nanoseconds, how late it may be without a person's word; zero for none.
	Due     time.Time     `json:"due,omitzero"`
	CatchUp time.Duration `json:"catch_up,omitempty"`
	// Occurrence is which one that is: the schedule's name and the unadjusted date.
	Occurrence string `json:"occurrence,omitempty"`
	// Windows are the names of those that must all be open when it is sent. The slice is
	// shared; it is not to be changed.
	Windows []string `json:"windows,omitempty"`
	// Reason says why, in words.
	Reason string `json:"reason,omitempty"`
	// Next is the command by which a person settles what an apply may not; "" for none.
	Next string `json:"next,omitempty"`
	// Differences are between the declaration (Asked) and the record (Answered), by
	// the request's fields; of a recorded conflict, between request and answer.
	Differences []transfer.Difference `json:"differences,omitempty"`
	// Recorded is what the state knows; nil where it knows nothing.
	Recorded *Recorded `json:"recorded,omitempty"`
	// Signals are marks for the reviewer.
	Signals []Signal `json:"signals,omitempty"`
	// Now is the status in the state of a line that an earlier run of this very plan began; zero for any other. It is
	// no part of the saved plan.
	Now state.Status `json:"-"`
}

// Declared reports whether the transfer is still declared.
func (c *Change) Declared() bool { return c.Address != "" }

// Recorded is what a reviewer needs of a [state.Detail].
type Recorded struct {
	Status       state.Status          `json:"status"`
	RecordStatus transfer.RecordStatus `json:"record_status,omitempty"`
	GroupID      string                `json:"group_id,omitempty"`
	RecordID     string                `json:"record_id,omitempty"`
	RunID        string                `json:"run_id,omitempty"`
	At           time.Time             `json:"at,omitzero"` // of the latest outcome or attempt
	Address      string                `json:"address,omitempty"`
	Place        string                `json:"place,omitempty"`
	Reason       string                `json:"reason,omitempty"`
	Operation    transfer.Operation    `json:"operation,omitempty"`   // of the recorded request
	Path         string                `json:"path,omitempty"`        // where it goes
	Body         string                `json:"body,omitempty"`        // its exact bytes
	Fingerprint  string                `json:"fingerprint,omitempty"` // as String of a Fingerprint writes it
}

// Signal marks something that a reviewer should look at.
type Signal struct {
	Kind   SignalKind `json:"kind"`
	RefID  string     `json:"ref_id,omitempty"` // the other transfer
	Place  string     `json:"place,omitempty"`  // the place of that one in the files
	Detail string     `json:"detail,omitempty"`
	// Accepted says by which flag or argument it was accepted; "" where it was not, or is
	// only a mark.
	Accepted string `json:"accepted,omitempty"`
}

// Obstacle makes a plan not applicable.
type Obstacle struct {
	Kind ObstacleKind `json:"kind"`
	// Address is of the block whose check fails, such as limit.desk; "" where the transfers
	// alone are concerned.
	Address string   `json:"address,omitempty"`
	RefIDs  []string `json:"ref_ids,omitempty"` // those concerned, at most 20 of them
	Count   int      `json:"count"`
	Detail  string   `json:"detail"` // what, why, and what to do, in sentences
	// Remedy is a line to type or to write into a file; "" where there is none.
	Remedy string `json:"remedy,omitempty"`
	// Rename describes the rename, where that is the kind.
	Rename *Renaming `json:"rename,omitempty"`
	// From is when the plan may be applied after all; zero where no time does it. It is of a closed window alone, and not saved.
	From time.Time `json:"-"`
	// DuplicateWithin is a line for the batch or the block, for a file that comes again: with
	// it, payments of the period before would not have stopped this plan.
	DuplicateWithin string `json:"duplicate_within,omitempty"`
}

// ObstacleKind names why a plan is not applicable.
type ObstacleKind string

// The obstacles.
const (
	ObstacleConflict  ObstacleKind = "conflict"   // exit 1
	ObstacleEmpty     ObstacleKind = "empty"      // exit 1: nothing declared over a non-empty state
	ObstacleLookAlike ObstacleKind = "look-alike" // exit 5
	ObstacleRename    ObstacleKind = "rename"     // exit 5
	ObstacleReversal  ObstacleKind = "reversal"   // exit 5: not of a COMPLETED transfer, or of more than it moved
	ObstacleLate      ObstacleKind = "late"       // exit 5
	ObstacleWindow    ObstacleKind = "window"     // exit 5: of a saved plan
	ObstacleElsewhere ObstacleKind = "elsewhere"  // exit 5: of plan --recursive, paid from another directory

	ObstacleControl ObstacleKind = "control total" // exit 5: a batch does not come to what its control block says
	ObstacleLimit   ObstacleKind = "limit"         // exit 5: a limit would be exceeded
	ObstaclePolicy  ObstacleKind = "policy"        // exit 5: a policy does not hold
)

// Format is the version of saved plans that this package writes and reads.
const Format = "remit-plan/1"

// FormatVersion is which plans of that format are written: those of version 2 say all that is needed
// to compute them again. A plan of 0.1.0 says none; it is computed again as far as it says enough,
// and is refused by the first difference where it does not.
const FormatVersion = 2

// Header is what a plan says of itself: the first line of a saved plan. [New] fills in
// Format, Environment, Service, Lineage, Serial, Controls, ControlList, Created, Accepted,
// Targets and Windows; the caller adds ToolVersion, PlanID, Author, AuthorKey, Expires, Origin and ReadWarnings.
// Of these only Environment, Service and Accepted are part of the plan's digest.
type Header struct {
	Format string `json:"format"` // the constant Format
	// FormatVersion is the constant FormatVersion; 0 of what 0.1.0 saved.
	FormatVersion int            `json:"format_version,omitempty"`
	ToolVersion   string         `json:"tool_version"`
	PlanID        string         `json:"plan_id"`
	Environment   string         `json:"environment"`
	Service       state.Identity `json:"service"`
	Lineage       string         `json:"lineage"`
	Serial        int64          `json:"serial"`
	Controls      string         `json:"controls"` // digest of limits, policies and approval rules
	// ControlList are the controls of that digest, by which the one that is another later is
	// named; empty where there are none.
	ControlList []config.ControlDigest `json:"control_list,omitempty"`
	Author      string                 `json:"author"`
	// AuthorKey is the fingerprint of the key with which the author signs the saved plan, as
	// ssh-keygen -l shows it; "" where they don't. All signatures are over it.
	AuthorKey string        `json:"author_key,omitempty"`
	Created   time.Time     `json:"created"`
	Expires   time.Time     `json:"expires,omitzero"`   // zero for never
	Accepted  []string      `json:"accepted,omitempty"` // flag=name of each accepted or overridden exception
	Targets   []string      `json:"targets,omitempty"`
	Windows   []WindowHours `json:"windows,omitempty"` // that changes name, in order of their names
	// Scales are the decimals with which a person is shown the amounts of assets that asset
	// blocks name. They are no part of the digest: they change no number.
	Scales transfer.Scales `json:"scales,omitempty"`
	Origin state.Origin    `json:"origin,omitzero"` // what the plan was made from
	// ReadWarnings are of the data files that the plan was made of, for those who do not have them. They are
	// their author's word.
	ReadWarnings []config.ReadWarning `json:"read_warnings,omitempty"`
	// Lacks says what the state lacks that the plan was made of, as of an older copy: a line may have been paid already. It is "" where nothing
	// is known to be missing, and its author's word.
	Lacks string `json:"lacks,omitempty"`
}

// Controls are what a plan is checked against, and what a person accepted.
type Controls struct {
	// Declared are those of the configuration and its policy directories.
	Declared      config.Controls
	OverrideLimit []string // names of limits

	// Batches are the declared ones, with their control blocks.
	Batches []config.Batch
	// OwnBlocks says that a saved plan is shown and not sent: its own control blocks are those under which it is computed
	// again, where the configuration was edited since. Otherwise that is a *[ControlBlockError].
	OwnBlocks bool

	Scales transfer.Scales // that asset blocks declare

	AllowEmpty       bool
	AcceptDuplicate  []string       // ref_ids
	AcceptDuplicates map[string]int // batch, or block with for_each and without a batch → exact count
	AcceptRenames    map[string]int // block → exact count
	AcceptLate       int            // exact count; 0 for none
	// Targets are addresses (transfer.internal.payroll["E-17"]), blocks
	// (transfer.internal.payroll) or batches (batch.payroll); empty for all.
	Targets []string

	// Rehearsal says that times to come are shown and not waited for: in the sandbox, a transfer that
	// is not due yet is submitted.
	Rehearsal bool

	// Operator is the service's, as the types of records have it.
	Operator transfer.Operator

	// How the service settles doubts. It changes no action, only what the reason of a
	// Resolve says about it.
	Lookup    bool // lookup is configured
	HoldDoubt bool // on_doubt = "hold"
	// TooOld returns why an apply finds a doubt too old to send its recorded request again; nil where nobody knows.
	TooOld func(*state.Detail) (doubt.Hold, error)
}

// Record is what the planner reads of a state; a [state.Snapshot] is one.
type Record interface {
	Meta() state.Meta
	Holder() (state.Holder, bool)
	Outlines(ctx context.Context) iter.Seq2[state.Outline, error]
	Details(ctx context.Context, refIDs ...string) ([]state.Detail, error)
	Names(ctx context.Context) iter.Seq2[state.Name, error]
}

// Plan is what an apply would do, as data.
type Plan struct {
	Header Header

	// Changes are all but the actions None and Undeclared, in declaration order, then those
	// in doubt or in conflict that are no longer declared, in order of ref_id. A None is among them
	// only where a person should look: recorded, but unverified.
	Changes Changes
	// Undeclared are listed apart, in order of ref_id, the first [UndeclaredMax] of them.
	// Their requests have what a row has: ref_id, asset and amount. A saved plan only
	// counts them.
	Undeclared []Change
	// UndeclaredFailed are those of them all that FAILED. They are not saved.
	UndeclaredFailed transfer.Totals
	// Unmade are transfers that the service refused, or that never reached it, and that no file declares any more. They are not saved.
	Unmade Unmade
	// Totals are the count and sums of each action, None and Undeclared included; a Resolve
	// counts with the recorded ones. Those of the actions that have lines have a hash total.
	Totals map[Action]*transfer.Totals
	// Newest is when the newest of the transfers was begun that are declared and recorded; zero where there is none, or no state says it.
	// It is not saved.
	Newest time.Time
	// Otherwise are the declared and recorded ones that were made as another movement than was asked for, which a person accepted: the sums of
	// the plan have what is declared. They are not saved.
	Otherwise []string
	// Pending are those that the service has not finished for long, declared or not. An apply does
	// nothing about them, and they are not saved.
	Pending StatusGroup
	// Unknown are those whose status at the service is none that its document lists; the same holds.
	Unknown StatusGroup
	// UnknownRecorded is how many of those are declared and, like the others under [None], have no line. It is not saved.
	UnknownRecorded int
	// Unverified are those that nobody declares any more; the same holds.
	Unverified StatusGroup
	// ConflictsBeyond is how many more changes would be a [Conflict] without the targets. It is not
	// saved.
	ConflictsBeyond int
	// Batches are those that have transfers or a control block, in declaration order.
	Batches []Batch
	// Kept are declared and have no line; only those without which the plan can't be computed again.
	Kept []Kept
	// Namings are, of the ways in which declared ref_ids are made, those that say whether a line
	// was renamed.
	Namings []string
	// Obstacles keep the plan from being applied; empty where it is applicable.
	Obstacles []Obstacle
	// Unused are acceptances, as in Header.Accepted, that accepted nothing: worth a notice.
	// A command line that is run again has them, so they are no obstacle. They are not saved.
	Unused []string
	// Digest is the hexadecimal SHA-256 over the requests that it would send; digest.go has the form.
	Digest string
	// SHA256 is of the bytes of the file that the plan was opened from, hexadecimal; "" of one
	// that was made.
	SHA256 string
	// Begun tells of earlier runs of this very plan; nil where there is none, or no state says it. It is not saved.
	Begun *Begun
}

// Unmade are transfers that were not made.
type Unmade struct {
	transfer.Totals
	RefIDs []string // in order, at most 20
}

// UndeclaredMax bounds [Plan.Undeclared].
const UndeclaredMax = 1000

// Applicable reports whether an apply may send what the plan says.
func (p *Plan) Applicable() bool { return len(p.Obstacles) == 0 }

// Empty reports whether there is nothing to send and nothing to settle.
func (p *Plan) Empty() bool {
	return p.Count(Submit) == 0 && p.Count(Resolve) == 0
}

// Count is how many ref_ids have the given action.
func (p *Plan) Count(a Action) int {
	if t := p.Totals[a]; t != nil {
		return t.Count()
	}
	return 0
}

// Shortened counts the transfers to submit whose duplicate_within is shorter than the
// default, so that fewer look-alikes stop the plan.
func (p *Plan) Shortened() int {
	n := 0
	for c, count := range p.Changes.Kinds() {
		if c.Action == Submit && c.DuplicateWithin < config.DuplicateWithinDefault {
			n += count
		}
	}
	return n
}
