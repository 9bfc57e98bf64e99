// Package config is the language: it turns the HCL and data files of one directory into
// declared transfers, and every mistake of their author into a diagnostic at its place.
//
// Its one invariant: the same files and variables mean the same transfers. No clock, random
// number, network or environment can be read from an expression.
package config

import (
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
	"remit/internal/transfer"
)

// Configuration is one directory, read and checked except for its transfers, which
// [Configuration.Transfers] evaluates as they are asked for. It is not for use by several
// goroutines at once.
type Configuration struct {
	Dir         string
	Environment string // of the remit block; "default" where it says nothing
	State       StateBackend
	Service     Service
	Sandbox     Sandbox
	Batches     []Batch    // in declaration order
	Schedules   []Schedule // in declaration order

	controls Controls

	approvalsBroken bool // controls lacks something of them
	sound           bool // Load found no mistake
	options         Options
	sources         *sources
	scope           *eval.Scope
	assets          scales
	service         *serviceBlock // nil where none is declared
	stateBlock      *eval.Block   // nil where none is declared
	transfers       []*transferBlock
	data            map[*eval.Node]*dataSource
	memberships     *memberships
	open            map[string]bool // names of the variables that are not sensitive
}

// Open reports whether the configuration has no mistake and a variable is declared and not
// sensitive, so that what was assigned to it may be repeated in output.
func (c *Configuration) Open(variable string) bool { return c.sound && c.open[variable] }

// Blocks are the addresses of the transfer blocks, such as transfer.internal.payroll, in declaration order.
func (c *Configuration) Blocks() []string {
	var addresses []string
	for _, t := range c.transfers {
		addresses = append(addresses, t.address)
	}
	return addresses
}

// StateBackend is the state block.
type StateBackend struct {
	Kind   string // StateSQLite or StatePostgres
	Path   string // of the SQLite file, relative to Dir unless absolute
	URL    string // of the PostgreSQL database; it may hold a password
	Schema string // in that database
}

// Service is the service block without what only a token needs; see
// [Configuration.Credentials]. Where no block is declared it has the defaults of design
// section 3 and no BaseURL; see [Configuration.RequireService].
type Service struct {
	BaseURL        string // lower-case scheme and host, no default port, no trailing slash
	Operator       transfer.Operator
	LookupPath     string // "" where the service has no lookup
	LookupMax      int    // ref_ids in one lookup, 1 to 100
	BalancePath    string // with [operator.ProfilePart] in it; "" where the service says no balances
	FingerprintKey string
	ReplayWindow   time.Duration
	HoldDoubt      bool          // on_doubt = "hold"
	PrecheckNew    bool          // precheck = "new"
	AuthStyle      string        // "auto", "basic" or "post"
	InFlightMax    int           // 1 to 100,000
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

	CertificateFile string   // relative to Dir unless absolute; "" for none
	KeyFile         string   // of the certificate; "" for none
	Signing         *Signing // nil where requests are not signed
}

// Sandbox is the sandbox block.
type Sandbox struct {
	OpeningBalances []OpeningBalance // empty: every profile has enough
}

// OpeningBalance is what a profile of the sandbox has of one asset.
type OpeningBalance struct {
	ProfileID string
	Asset     string
	Amount    transfer.Amount // the zero Amount for nothing
}

// Batch is a batch block.
type Batch struct {
	Name        string
	Description string
	Place       Place
	Control     *BatchControl // nil where it has no control block
}

// Transfer is one declared transfer. What its batch and its block say is already in it.
type Transfer struct {
	Request   transfer.Request
	Address   string // transfer.internal.payroll["E-17"]
	Block     string // transfer.internal.payroll
	FromLabel bool   // no ref_id argument: the label is the ref_id
	// Naming is how its ref_id is made, in one form whatever its layout: the ref_id expression
	// with what its locals say, and where each.key comes from; without what variables and
	// files give. It is [NamingWritten], or at most 320 bytes; "" of a label.
	Naming            string
	Place             Place  // the data row, or the block
	Batch             string // "" for none
	NotBefore         time.Time
	Expires           time.Time
	Windows           []*Window    // it is sent while all are open; shared, and not to be changed
	Occurrence        *Occurrence  // of a schedule, for which it is made; nil for none
	DependsOn         []Dependency // shared by the transfers of one block; not to be changed
	DuplicateWithin   time.Duration
	AcceptDuplicateOf []string // ref_ids
	DisplayName       string   // what people call the destination; "" where the author doesn't say. It is not sent
	Reverses          string   // ref_id of the transfer of which it gives money back; "" for none
}

// Dependency is what a transfer waits for: all transfers of a block or of a batch. One of
// the two is set.
type Dependency struct {
	Block string
	Batch string
}

// DuplicateWithinDefault is how far back a look-alike stops a plan.
const DuplicateWithinDefault = 30 * 24 * time.Hour

// Options are what the command line and its environment say.
type Options struct {
	// Assignments are --var and --var-file in the order of the command line; a later one
	// wins.
	Assignments []Assignment
	// DataFiles are read in place of the files that data sources name; of two for one data
	// source, the later.
	DataFiles []DataFile
	// Done ends the evaluation of expressions where it is closed; nil never is. The
	// configuration then has the mistake that it was interrupted.
	Done <-chan struct{}
	// Getenv reads REMIT_VAR_name and the credentials; nil means an empty environment. A
	// variable that is set to "" counts as not set.
	Getenv func(string) string
	// PolicyDirs are directories of controls, relative to the configuration's unless
	// absolute; one that is named twice is read once.
	PolicyDirs []string
	// Zone is the one of the times without a zone of an allowed_signers file, which ssh-keygen
	// takes for the machine's; nil for UTC.
	Zone *time.Location
	// Sandbox says that the embedded service is used: base_url and ca_file of the service
	// block are not evaluated, so that a variable used only there may be unset.
	Sandbox bool
	// Need says what of the configuration the caller uses; the rest may lack variables and
	// have mistakes.
	Need Need
	// Version of the program, for required_version, such as "0.1.0". Text that is no
	// semantic version, such as "dev" or "", satisfies every requirement.
	Version string
}

// Assignment is one --var, one --var-file, or a value that a test gives: one of Var, File and
// Name is set.
type Assignment struct {
	Var  string // NAME=VALUE
	File string // relative to the configuration's directory unless absolute

	Name  string
	Value cty.Value // of Name
	At    hcl.Range // where Name is given its value
}

// DataFile is a file that a data source reads in place of its own.
type DataFile struct {
	Address string // data.csv.payroll
	File    string // in the configuration's directory or below it
	At      hcl.Range
}
