// Package evidence writes and checks the proof of a run, for people who were not there: the saved
// plan, its approvals, the part of the journal that is about the run, and the end of each transfer.
//
// Its one invariant: everything in a pack but the journal's part, the plan and the signatures
// is made from these, and a check makes it again.
package evidence

import (
	"io"
	"time"

	"remit/executor"
	"remit/state"
)

// Format is the version of packs that this package writes and reads.
const Format = "remit-evidence/1"

// The files of a pack. Each approval has a file of its own besides: see [Approval].
const (
	FactsFile         = "evidence.json"
	JournalFile       = "journal.jsonl"
	LinesFile         = "outcomes.jsonl"
	RegisterFile      = "outcomes.csv"
	PlanFile          = "plan.jsonl"
	SignersFile       = "allowed_signers"
	PasskeysFile      = "allowed_passkeys"
	ManifestFile      = "SHA256SUMS"
	ManifestSignature = "SHA256SUMS.sig" // is not in the manifest, which it is over
)

// Face is a file of a pack that shows how each transfer of a run ended.
type Face struct {
	File  string // such as LinesFile
	Write func(io.Writer, *executor.PastRun) error
}

// Facts are what a pack says in short.
type Facts struct {
	Format      string         `json:"format"` // the constant Format
	Remit       string         `json:"remit"`  // version that wrote the pack
	Environment string         `json:"environment"`
	Lineage     string         `json:"lineage"`
	Service     state.Identity `json:"service"`
	Run         RunFacts       `json:"run"`
	Plan        PlanFacts      `json:"plan"`
	Origin      state.Origin   `json:"origin"`
	Approvals   []Approval     `json:"approvals"`
	Journal     JournalFacts   `json:"journal"`
	Results     []Result       `json:"results"` // those that there were, in the order of [executor.Results]
}

// RunFacts are what a pack says of its run.
type RunFacts struct {
	RunID       string                `json:"run_id"`
	By          state.Holder          `json:"by"`
	Begun       time.Time             `json:"begun"`
	Ended       time.Time             `json:"ended,omitzero"` // zero where it did not end
	Complete    bool                  `json:"complete"`       // each line of its plan has an outcome
	Stopped     string                `json:"stopped,omitempty"`
	PlanID      string                `json:"plan_id,omitempty"`
	Digest      string                `json:"digest"`
	Author      string                `json:"author,omitempty"`
	Controls    string                `json:"controls,omitempty"`
	ControlList []state.ControlDigest `json:"control_list,omitempty"` // what Controls is the digest of
	Accepted    []string              `json:"accepted,omitempty"`
}

// PlanFacts say where the plan of a run is.
type PlanFacts struct {
	File   string `json:"file,omitempty"`   // PlanFile; "" where the run planned by itself
	Name   string `json:"name,omitempty"`   // as apply was given it
	SHA256 string `json:"sha256,omitempty"` // of its bytes
	// Absent says why there is none; "" where there is one.
	Absent string `json:"absent,omitempty"`
}

// planAbsent is why a pack has no plan.
const planAbsent = "the run planned by itself and saved no plan; the requests that it sent are in the journal and in the outcomes"

// Approval is a signature over the plan that counted when the run began.
type Approval struct {
	Role        state.ApprovalRole `json:"role"`
	Principal   string             `json:"principal"`
	Fingerprint string             `json:"fingerprint"`
	Key         string             `json:"key"`
	File        string             `json:"file"`   // in the pack
	FoundAs     string             `json:"was"`    // beside the plan
	SHA256      string             `json:"sha256"` // of the signature's file
}

// JournalFacts say which part of the journal a pack has.
type JournalFacts struct {
	First    int64  `json:"first"` // number of the first event of the pack
	Begun    int64  `json:"begun"` // of the event with which the run began
	Last     int64  `json:"last"`  // of the run's last event, or of another's before the next run
	LastHash string `json:"last_hash"`
	Shown    int    `json:"shown"`    // events in full
	Withheld int    `json:"withheld"` // events of which the pack has the digest alone
	Head     int64  `json:"head"`     // number of the newest event when the pack was made
	HeadHash string `json:"head_hash"`
}

// Result is the count and the sums of one result.
type Result struct {
	Result executor.Result `json:"result"`
	Count  int             `json:"count"`
	Assets []Asset         `json:"assets"`
}

// Asset is a part of a result.
type Asset struct {
	Asset string `json:"asset"`
	Count int    `json:"count"`
	Sum   string `json:"sum"` // exact, in plain notation
}
