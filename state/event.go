package state

import (
	"encoding/json"
	"time"

	"remit/internal/transfer"
)

// Event is one line of the journal.
type Event struct {
	Seq   int64           `json:"seq"`              // 1, 2, 3, … without gaps
	Time  time.Time       `json:"time"`             // as the writer's clock had it: UTC, to the millisecond; the order is Seq's
	Kind  Kind            `json:"kind"`             // which Entry the payload is
	RefID string          `json:"ref_id,omitempty"` // "" where the event is of the run or the state
	RunID string          `json:"run_id,omitempty"` // "" where it is of no run
	Data  json.RawMessage `json:"data"`             // the Entry
	Hash  string          `json:"hash"`             // hexadecimal SHA-256 of the hash before it and all fields above
}

// Kind names the type of an [Entry] in the journal.
type Kind string

// The kinds of events.
const (
	KindCreated  Kind = "created"  // the state was made
	KindBegun    Kind = "begun"    // a run began
	KindIntent   Kind = "intent"   // a request is about to be sent
	KindOutcome  Kind = "outcome"  // how an attempt ended, or what a lookup or a person said
	KindEnded    Kind = "ended"    // a run ended
	KindUnlocked Kind = "unlocked" // the lock was taken away from its holder
	KindRebound  Kind = "rebound"  // the service's identity was changed
	KindClock    Kind = "clock"    // a clock that goes back was found right, by the service's or by a person
	KindAsked    Kind = "asked"    // a person's "not made" was refused until a wait is over
	KindErased   Kind = "erased"   // a person removed the display names
)

// Entry is one of the types that can be appended: [Created], [Begun], [Intent], [Outcome], [Ended],
// [Unlocked], [Rebound], [ClockConfirmed], [Asked] or [Erased].
type Entry interface {
	Kind() Kind
	// Subject is the ref_id and the run that the entry is about; either may be "".
	Subject() (refID, runID string)
}

// Created is the first event of every state.
type Created struct {
	Lineage     string   `json:"lineage"`
	Environment string   `json:"environment"`
	Service     Identity `json:"service"`
	NewState    bool     `json:"new_state"` // a person asked for it by --new-state
	By          Holder   `json:"by"`
}

// Begun is the start of a run.
type Begun struct {
	RunID    string   `json:"run_id"`
	By       Holder   `json:"by"`
	PlanID   string   `json:"plan_id,omitempty"`
	Digest   string   `json:"digest"`
	Author   string   `json:"author,omitempty"`
	Controls string   `json:"controls,omitempty"` // digest of limits, policies and approval rules
	Accepted []string `json:"accepted,omitempty"` // each accepted or overridden exception, by flag and name

	ControlList []ControlDigest `json:"control_list,omitempty"` // the controls of that digest

	// Of which state the run is, so that its events say so without those before them.
	Environment string   `json:"environment,omitempty"`
	Lineage     string   `json:"lineage,omitempty"`
	Service     Identity `json:"service,omitzero"`

	Origin Origin `json:"origin,omitzero"` // what the plan was made from

	// File is where the state was, where that is a file.
	File FilePlace `json:"file,omitzero"`

	// PlanFile is the name of the saved plan, as it was given, and PlanSHA256 is of its exact
	// bytes, which the signatures of Approvals are over; both "" where the run planned by itself.
	PlanFile   string     `json:"plan_file,omitempty"`
	PlanSHA256 string     `json:"plan_sha256,omitempty"`
	Approvals  []Approval `json:"approvals,omitempty"` // those that counted; the author's own first

	Clocks Clocks `json:"clocks,omitzero"` // what other clocks said when the run began

	// Shortfalls are those that a person accepted: the service said that there was too little.
	Shortfalls []Shortfall `json:"shortfalls,omitempty"`

	// AuthStyle says where the token endpoint took the client's credentials, as the argument
	// auth_style does; "" where that is not known.
	AuthStyle string `json:"auth_style,omitempty"`
}

// IsSamePlan reports whether a run carries out the very plan of another one: of the same ID, the same bytes of a
// file, or none, and the same lines. The ID alone is what the plan's author says. A run without an ID, such as an
// import, shares its plan with no other.
func (b Begun) IsSamePlan(other Begun) bool {
	return b.PlanID != "" && b.PlanID == other.PlanID && b.PlanSHA256 == other.PlanSHA256 && b.Digest == other.Digest
}

// Shortfall is what the service said that a profile had, and what a run needed of it at the least.
type Shortfall struct {
	ProfileID string `json:"profile_id"`
	Asset     string `json:"asset"`
	Available string `json:"available"`
	Needed    string `json:"needed"`
}

// FilePlace says which file a state was, as the kernel of the holder's host named it: two paths
// with one device and inode lead to one file, and a copy of a file has another inode. The zero
// value says nothing.
type FilePlace struct {
	Path   string `json:"path"`
	Device string `json:"device"` // "MAJOR:MINOR"; other disks may have the number after a restart
	Inode  string `json:"inode"`  // decimal
}

// IsFile reports whether q is the same file, as far as numbers and a path can say: a device may
// have another number after a restart, and a file another path after it was renamed.
func (p FilePlace) IsFile(q FilePlace) bool {
	return p.Inode != "" && p.Inode == q.Inode && (p.Device == q.Device || p.Path == q.Path)
}

// Origin says which files a plan was made from. The zero value says nothing.
type Origin struct {
	// Commit is that of the git working tree that has the configuration; "" outside of one, and before
	// its first commit.
	Commit string `json:"commit,omitempty"`
	// Modified says that the directory was not as that commit has it: files were changed,
	// added or removed.
	Modified bool `json:"modified,omitempty"`
	// Files are those of the configuration, in order of their names. Files of variables are
	// not among them.
	Files []FileDigest `json:"files,omitempty"`
	// FilesLeftOut is how many more there were than Files lists.
	FilesLeftOut int `json:"files_left_out,omitempty"`
}

// OriginFilesMax bounds [Origin.Files].
const OriginFilesMax = 1000

// FileDigest is a file and the SHA-256 of its bytes, hexadecimal.
type FileDigest struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

// ControlDigest is of a limit, a policy, an approval rule or a file of them that a run was checked
// against.
type ControlDigest struct {
	Name   string `json:"name"`            // the address of a block, or "file" and its name
	Place  string `json:"place,omitempty"` // file:line of a block
	SHA256 string `json:"sha256"`          // of what it says, or of the file's bytes; hexadecimal
}

// Approval is a signature over a saved plan that counted when a run of that plan began, with
// all that is needed to verify it again: Signature, over the bytes with the PlanSHA256, by Key,
// in the namespace remit-plan.
type Approval struct {
	Role        ApprovalRole `json:"role"`
	Principal   string       `json:"principal"`   // whose key it is, by the allowed_signers file of then
	Fingerprint string       `json:"fingerprint"` // of the key, as ssh-keygen -l shows it: SHA256:…
	Key         string       `json:"key"`         // the public key, as a line of authorized_keys without options and comment
	File        string       `json:"file"`        // name of the signature's file, without its directory
	SHA256      string       `json:"sha256"`      // of that file's bytes, hexadecimal
	Signature   string       `json:"signature"`   // those bytes: an armoured SSH signature
}

// ApprovalRole says what a signature stands for.
type ApprovalRole string

// The roles of a signature.
const (
	RoleAuthor   ApprovalRole = "author"   // by the key that the plan names as its author's
	RoleApprover ApprovalRole = "approver" // by somebody else
)

// Intent is written before a request is sent: once with the bytes, and again, with the same
// bytes, before every later run sends it again.
type Intent struct {
	RefID       string             `json:"ref_id"`
	RunID       string             `json:"run_id"`
	Operation   transfer.Operation `json:"operation"`
	Path        string             `json:"path"`
	Body        string             `json:"body"` // the exact bytes of the request
	Fingerprint string             `json:"fingerprint"`
	Address     string             `json:"address"`         // transfer.internal.payroll["E-17"]
	Place       string             `json:"place"`           // payroll.csv:118
	Batch       string             `json:"batch,omitempty"` // label of the batch
	FromLabel   bool               `json:"from_label,omitempty"`
	// Naming is how the ref_id was made, as config.Transfer has it; "" where it is a label, and
	// where nothing is known of it.
	Naming string `json:"naming,omitempty"`
	// Reverses is the ref_id of the transfer of which this one gives money back; "" for none.
	Reverses string `json:"reverses,omitempty"`
	// Due is when the occurrence of a schedule was due for which the transfer is made; zero
	// for none.
	Due time.Time `json:"due,omitzero"`
	// Occurrence is which one that is, as a plan has it: the schedule's name and the unadjusted date. It is "" for
	// none, and in the entries of older versions.
	Occurrence string `json:"occurrence,omitempty"`
	// Found says that nothing is sent under it: records were found before the first
	// sending, and it names the request that they are held against.
	Found bool `json:"found,omitempty"`
	// AfterMS is how many milliseconds after the reading of Clocks, or of those of its run where
	// it has none, it was made, by the boottime of the machine: 0 where that is not known.
	AfterMS int64 `json:"after_ms,omitempty"`
	// Clocks are those of a runner that joined the run of another one.
	Clocks Clocks `json:"clocks,omitzero"`

	// DisplayName is what the author of the plan calls the destination, "" where they don't. It is
	// no part of the journal: a store keeps it beside, as a [Name], so that it can be removed. A name that is
	// read from a journal has none.
	DisplayName string `json:"-"`
}

// Outcome is how an attempt ended, or what a lookup or a person said of it.
type Outcome struct {
	RefID       string                `json:"ref_id"`
	RunID       string                `json:"run_id,omitempty"`
	Status      Status                `json:"status"` // what the answer is; Apply decides what the ref_id becomes
	Source      Source                `json:"source"`
	Reason      string                `json:"reason,omitempty"` // in words, for a person
	HTTPStatus  int                   `json:"http_status,omitempty"`
	Problem     json.RawMessage       `json:"problem,omitempty"` // RFC 9457, or a JSON string of at most 2 KiB
	Records     []json.RawMessage     `json:"records,omitempty"` // as they came, the deciding one first
	Listed      *Listed               `json:"listed,omitempty"`  // in place of records; see there
	Differences []transfer.Difference `json:"differences,omitempty"`
	By          *Holder               `json:"by,omitempty"` // the person, where Source is SourcePerson

	// Deciding is the first of Records where the writer of the outcome has read it from those very
	// bytes, so that it is not read again; nil elsewhere. It is not written.
	Deciding *transfer.Record `json:"-"`
}

// Listed is the line that a list of payments has of a transfer. It takes the place of the service's
// record in an outcome by an import, and in a person's word that repeats the list's. It proves
// neither whom the transfer paid nor that it is COMPLETED.
type Listed struct {
	GroupID string `json:"group_id"`
	Amount  string `json:"amount,omitempty"` // as the list writes it; "" where it has none
	Asset   string `json:"asset,omitempty"`  // "" exactly where Amount is
}

// Source is where an outcome comes from.
type Source string

// The sources of an outcome.
const (
	SourceAnswer Source = "answer" // to an attempt: settles that attempt only
	SourceLookup Source = "lookup"
	SourcePerson Source = "person"
	SourceImport Source = "import"
)

// Ended is the end of a run.
type Ended struct {
	RunID    string         `json:"run_id"`
	Outcomes map[string]int `json:"outcomes"` // count by name of outcome
	Complete bool           `json:"complete"` // every line of its plan has an outcome
	Error    string         `json:"error,omitempty"`
	Runners  []Runner       `json:"runners,omitempty"` // where several carried it out
	Clocks   Clocks         `json:"clocks,omitzero"`   // what other clocks said at its end
}

// Unlocked records that a lock was taken away. The wait until its holder sends nothing any more is
// counted from it.
type Unlocked struct {
	From   Holder `json:"from"`
	By     Holder `json:"by"`
	Reason string `json:"reason"`
	Clocks Clocks `json:"clocks,omitzero"` // what clocks said that nobody can set
}

// Rebound records that the service's identity was changed by a person, and, of a state that never
// had a transfer, the environment.
type Rebound struct {
	Before Identity `json:"before"`
	After  Identity `json:"after"`
	// Both "" where the environment stays.
	EnvironmentBefore string `json:"environment_before,omitempty"`
	EnvironmentAfter  string `json:"environment_after,omitempty"`
	By                Holder `json:"by"`
	Reason            string `json:"reason"`
}

// ClockConfirmed records that the writer's clock is right although it lies behind the newest event: the
// service's clock confirms it, or a person does. Events before it may have wrong times.
type ClockConfirmed struct {
	BehindMS int64  `json:"behind_ms,omitempty"` // how far it lies behind the event before; 0 where it does not
	JumpMS   int64  `json:"jump_ms,omitempty"`   // how much more passed by it than since the machine booted, from an earlier moment of that boot on
	Clocks   Clocks `json:"clocks,omitzero"`     // with a Date where the service confirms it
	By       Holder `json:"by"`
	Reason   string `json:"reason,omitempty"` // in the person's words; "" where the service confirms it
}

// Asked records that a person asked to settle a ref_id as not made, and was refused: the one who
// began its attempt may still be alive. The wait is counted from it, by the boottime of the machine.
type Asked struct {
	About  string `json:"about"` // the ref_id
	Clocks Clocks `json:"clocks,omitzero"`
	By     Holder `json:"by"`
	Reason string `json:"reason"`
	// WaitedMS is how many milliseconds the command waited itself, on a system that has no clock but one that anybody
	// can set: attempts before it that need no longer wait are over.
	WaitedMS int64 `json:"waited_ms,omitempty"`
}

// Erased records that a person removed all display names of the state. It has none of these names.
type Erased struct {
	Names  int    `json:"names"` // how many there were, at least one
	By     Holder `json:"by"`
	Reason string `json:"reason"`
}

// Kind returns KindCreated.
func (Created) Kind() Kind { return KindCreated }

// Kind returns KindBegun.
func (Begun) Kind() Kind { return KindBegun }

// Kind returns KindIntent.
func (Intent) Kind() Kind { return KindIntent }

// Kind returns KindOutcome.
func (Outcome) Kind() Kind { return KindOutcome }

// Kind returns KindEnded.
func (Ended) Kind() Kind { return KindEnded }

// Kind returns KindUnlocked.
func (Unlocked) Kind() Kind { return KindUnlocked }

// Kind returns KindRebound.
func (Rebound) Kind() Kind { return KindRebound }

// Kind returns KindClock.
func (ClockConfirmed) Kind() Kind { return KindClock }

// Kind returns KindAsked.
func (Asked) Kind() Kind { return KindAsked }

// Kind returns KindErased.
func (Erased) Kind() Kind { return KindErased }

// Subject returns nothing: the event is of the state.
func (Created) Subject() (refID, runID string) { return "", "" }

// Subject returns the run.
func (b Begun) Subject() (refID, runID string) { return "", b.RunID }

// Subject returns the ref_id and its run.
func (i Intent) Subject() (refID, runID string) { return i.RefID, i.RunID }

// Subject returns the ref_id and its run.
func (o Outcome) Subject() (refID, runID string) { return o.RefID, o.RunID }

// Subject returns the run.
func (e Ended) Subject() (refID, runID string) { return "", e.RunID }

// Subject returns nothing: the event is of the state.
func (Unlocked) Subject() (refID, runID string) { return "", "" }

// Subject returns nothing: the event is of the state.
func (Rebound) Subject() (refID, runID string) { return "", "" }

// Subject returns nothing: the event is of the state.
func (ClockConfirmed) Subject() (refID, runID string) { return "", "" }

// Subject returns nothing: a ref_id's own events are its attempts and their outcomes.
func (Asked) Subject() (refID, runID string) { return "", "" }

// Subject returns nothing: the event is of the state.
func (Erased) Subject() (refID, runID string) { return "", "" }
