// Package contract lists what remit needs of a funds-transfer service, row by row, and what a trial of a
// service found of it.
//
// Its one invariant: docs/contract.md has the same rows, in the same order and words.
package contract

import (
	"slices"
	"time"
)

// Requirement is one thing that remit needs.
type Requirement struct {
	Name      string // of lower-case letters and dashes; it never changes
	Part      Part
	Needs     string // one sentence
	Otherwise string // what remit does where the service differs, and what its user can do: sentences
}

// Part is a section of the contract.
type Part string

// The parts, in their order.
const (
	Tokens   Part = "Tokens"
	Answers  Part = "Answers to a request to create"
	Records  Part = "Transfer records"
	Replays  Part = "ref_ids and replays"
	Lookups  Part = "Lookups"
	Refusals Part = "Refusals"
	Balances Part = "Balances"
)

// Parts lists every part in its order.
func Parts() []Part { return []Part{Tokens, Answers, Records, Replays, Lookups, Refusals, Balances} }

// The names of the rows.
const (
	Token      = "token"
	TokenScope = "token-scope"
	TokenLife  = "token-life"
	Clock      = "clock"

	Accepted     = "accepted"
	Answer       = "answer"
	AnswerRecord = "answer-record"
	Redirect     = "redirect"
	Pace         = "pace"

	Side       = "side"
	Amount     = "amount"
	Asset      = "asset"
	Profile    = "profile"
	Type       = "type"
	Metadata   = "metadata"
	RecordID   = "record-id"
	GroupID    = "group-id"
	Total      = "total"
	CreatedAt  = "created-at"
	CustomerID = "customer-id"
	Form       = "form"
	Status     = "status"
	Completed  = "completed"

	RefID        = "ref-id"
	RefIDLength  = "ref-id-length"
	RefIDSigns   = "ref-id-signs"
	RefIDCase    = "ref-id-case"
	Replay       = "replay"
	ReplayAnswer = "replay-answer"
	ReplayOther  = "replay-other"
	ReplayLasts  = "replay-lasts"

	Lookup       = "lookup"
	LookupFound  = "lookup-found"
	LookupLag    = "lookup-lag"
	LookupRecord = "lookup-record"
	LookupSides  = "lookup-sides"
	LookupCredit = "lookup-credit"
	LookupEmpty  = "lookup-empty"
	LookupAbsent = "lookup-absent"
	LookupLength = "lookup-length"

	RefusalFunds = "refusal-funds"

	Balance      = "balance"
	BalanceFalls = "balance-falls"
)

// Rows lists every row in its order.
func Rows() []Requirement {
	return slices.Concat(tokenRows(), answerRows(), recordRows(), replayRows(), lookupRows(), refusalRows(), balanceRows())
}

// Verdict is what a trial found of a row.
type Verdict string

// The verdicts.
const (
	Holds   Verdict = "holds"
	Differs Verdict = "differs"
	Unknown Verdict = "unknown" // it was not tried
)

// Finding is the verdict on one row.
type Finding struct {
	Row     Requirement
	Verdict Verdict
	// Seen has the observations, or why the row was not tried, in sentences. It is "" where the row holds
	// and there is nothing to add.
	Seen string
}

// Report is what a trial found.
type Report struct {
	Findings []Finding // of every row, in the order of [Rows]
	Series   int       // of the trial, from 1 in its state; 0 where nothing was created
	Made     int       // transfers of the series that the service made, as far as answers and lookups say
	Requests int       // to create, that began
	LeftOpen []string  // ref_ids that are in doubt and that a further trial will settle
	Kept     int       // ref_ids that are kept in doubt to be sent again later
	Slowest  time.Duration
}

// Count is how many findings have a verdict.
func (r *Report) Count(v Verdict) int {
	n := 0
	for _, f := range r.Findings {
		if f.Verdict == v {
			n++
		}
	}
	return n
}
