package config

import (
	"time"

	"github.com/shopspring/decimal"

	"remit/internal/transfer"
)

// StateBackend is the state block.
type StateBackend struct {
	Kind   string // StateSQLite or StatePostgres
	Path   string // of the SQLite file, relative to Dir unless absolute
	URL    string // of the PostgreSQL database; it may hold a password
	Schema string // in that database
}

// Service is the service block without the arguments that only a token needs; see
// [Configuration.Credentials]. Where no block is declared it has the defaults of
// docs/language/service.md and no BaseURL; see [Configuration.RequireService].
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
	BesideID     string // REMIT_CLIENT_ID where the secret is set beside it and client_id names another client; "" otherwise
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

// Transfer is one declared transfer. It has the arguments of its batch and its block already.
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
	FromPlace         Place    // of the profile block in from, where another directory declares it; zero elsewhere
	ToPlace           Place    // so of to
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

// BatchControl is the control block of a batch: what all its declared transfers come to, as
// somebody says who knows it from elsewhere.
type BatchControl struct {
	Place     Place
	Count     int                        // -1 where the block does not say
	Totals    map[string]decimal.Decimal // by asset in one spelling, every one that occurs; nil where it does not say
	HashTotal *decimal.Decimal           // of [transfer.Totals.HashTotal]; nil where it does not say
}

// duplicateWithinMax bounds duplicate_within.
const duplicateWithinMax = 10 * 365 * 24 * time.Hour
