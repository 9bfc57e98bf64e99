// Package config is the language: it turns the HCL and data files of one directory into
// declared transfers, and every mistake of their author into a diagnostic at its place.
//
// Its one invariant: the same files and variables mean the same transfers. No clock, random
// number, network or environment can be read from an expression.
package config

import (
	"fmt"
	"time"

	"remit/internal/transfer"
)

// Configuration is one directory, read and checked except for its transfers, which
// [Configuration.Transfers] evaluates as they are asked for.
type Configuration struct {
	Dir         string
	Environment string // of the remit block; "default" where it says nothing
	State       StateBackend
	Service     Service
	Sandbox     Sandbox
	Batches     []Batch // in declaration order
	// unexported fields follow in the implementation
}

// StateBackend is the state block.
type StateBackend struct {
	Kind string // "sqlite"
	Path string // of the SQLite file, relative to Dir unless absolute
}

// Service is the service block without what only a token needs; see
// [Configuration.Credentials].
type Service struct {
	BaseURL        string
	Operator       transfer.Operator
	LookupPath     string // "" where the service has no lookup
	FingerprintKey string
	ReplayWindow   time.Duration
	HoldDoubt      bool // on_doubt = "hold"
	PrecheckNew    bool // precheck = "new"
	InFlightMax    int
	Timeout        time.Duration // of one request
	RateLimits     map[transfer.Operation]RateLimit
	CAFile         string // relative to Dir unless absolute
}

// RateLimit allows so many requests in any window of the given length.
type RateLimit struct {
	Requests int
	Window   time.Duration
}

// Credentials are what a token needs.
type Credentials struct {
	TokenURL     string
	ClientID     string
	ClientSecret string
	Scopes       []string
}

// Sandbox is the sandbox block.
type Sandbox struct {
	OpeningBalances []OpeningBalance // empty: every profile has enough
}

// OpeningBalance is what a profile of the sandbox has of one asset.
type OpeningBalance struct {
	ProfileID string
	Asset     string
	Amount    transfer.Amount
}

// Batch is a batch block.
type Batch struct {
	Name        string
	Description string
	Place       Place
}

// Transfer is one declared transfer. What its batch and its block say is already in it.
type Transfer struct {
	Request           transfer.Request
	Address           string // transfer.internal.payroll["E-17"]
	Block             string // transfer.internal.payroll
	FromLabel         bool   // no ref_id argument: the label is the ref_id
	Place             Place  // the data row, or the block
	Batch             string // "" for none
	NotBefore         time.Time
	Expires           time.Time
	DependsOn         []Dependency // shared by the transfers of one block; not to be changed
	DuplicateWithin   time.Duration
	AcceptDuplicateOf []string // ref_ids
}

// Dependency is what a transfer waits for: all transfers of a block or of a batch. One of
// the two is set.
type Dependency struct {
	Block string
	Batch string
}

// DuplicateWithinDefault is how far back a look-alike stops a plan.
const DuplicateWithinDefault = 30 * 24 * time.Hour

// Place is where something stands in the author's files.
type Place struct {
	File   string // relative to the configuration's directory
	Line   int
	Column int // 0 where the whole line is meant
}

// String is file:line.
func (p Place) String() string { return fmt.Sprintf("%s:%d", p.File, p.Line) }

// Options are what the command line and its environment say about variables.
type Options struct {
	Vars     []string            // NAME=VALUE of --var, in order
	VarFiles []string            // of --var-file, in order
	Getenv   func(string) string // for REMIT_VAR_name and the credentials
}
