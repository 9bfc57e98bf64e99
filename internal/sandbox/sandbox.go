// Package sandbox is an embedded funds-transfer service: real HTTP, a real token endpoint, a
// double-entry ledger in SQLite. It is there to rehearse with, and it is the fake of the
// tests, so it can be told to misbehave.
//
// Its one invariant: however it answers, its ledger is right. Each transfer has a debit and
// a credit of the same amount and asset under one group_id, both or none, and a ref_id that
// is protected has one transfer.
package sandbox

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"remit/internal/service/operator"
	"remit/internal/transfer"
)

// TokenPath is where the sandbox hands out tokens, below its base URL.
const TokenPath = "/oauth2/token"

// LookupPath is where the sandbox of an operator looks transfers up, below its base URL.
func LookupPath(name transfer.Operator) string {
	return cmp.Or(operator.Of(name).LookupPath, "/v2/transfers")
}

// BalancePath is where the sandbox of an operator says what a profile has, below its base URL, with
// [operator.ProfilePart] in it.
func BalancePath(name transfer.Operator) string {
	return cmp.Or(operator.Of(name).BalancePath, "/v2/profiles/"+operator.ProfilePart+"/balances")
}

// Credentials that a sandbox accepts where its options name no others.
const (
	DefaultClientID     = "sandbox-client"
	DefaultClientSecret = "sandbox-secret-worth-nothing"
)

const (
	tokenLifetimeDefault = time.Hour
	pageSizeDefault      = 100
)

// Options say what a sandbox is. The zero value of each field but Now is useful.
type Options struct {
	Path     string            // of the ledger's file; "" keeps the ledger in memory
	Operator transfer.Operator // "" for the document's own word

	ClientID     string // "" for [DefaultClientID]
	ClientSecret string // "" for [DefaultClientSecret]
	Environment  string // whose ledger it is, and no other's; "" for one that belongs to none
	CustomerID   string // of all records; "" for one that is made of Seed. It can't be changed later

	// OpeningBalances are what profiles have before the ledger's first transfer; a
	// profile or asset that is not named has nothing. With none at all, every profile has
	// enough of everything.
	OpeningBalances []Balance

	TokenLifetime time.Duration // 0 for an hour
	PageSize      int           // records a page of the lookup; 0 for 100

	// An internal transfer is PENDING for so long, or for so many lookups of it, before
	// it is COMPLETED. 0 and 0: it is COMPLETED at once.
	PendingFor     time.Duration
	PendingLookups int

	Faults Faults
	// Script returns further faults for one request. It is called concurrently.
	Script func(Request) Faults

	Seed  uint64           // decides IDs and faults
	Now   func() time.Time // required
	Dated bool             // the Date of answers is by Now as well, and not by the clock of the server
}

// Balance is an amount of one asset that a profile has. It may be negative.
type Balance struct {
	ProfileID string
	Asset     string
	Amount    decimal.Decimal
}

// Sandbox is an open sandbox. It is an http.Handler, safe for concurrent use.
type Sandbox struct {
	options  Options
	contract operator.Contract
	ledger   *ledger
	mux      *http.ServeMux
	tokens   *tokenTable
	faults   atomic.Pointer[Faults]
	closed   chan struct{}

	mu       sync.Mutex
	created  int            // requests to create so far
	attempts map[string]int // by ref_id; filled while faults need it
}

// Open opens or makes the ledger and returns a sandbox that serves it. The ledger stays open
// until [Sandbox.Close].
func Open(ctx context.Context, o Options) (*Sandbox, error) {
	if o.Now == nil {
		panic("sandbox: Options.Now is required")
	}
	o = o.withDefaults()
	if !o.Operator.Valid() || o.Operator == transfer.Operator(transfer.Internal) {
		return nil, fmt.Errorf("operator %q cannot stand in a path", o.Operator)
	}
	l, err := openLedger(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("open the sandbox's ledger: %w", err)
	}
	s := &Sandbox{
		options: o, contract: operator.Of(o.Operator), ledger: l, mux: http.NewServeMux(), tokens: newTokenTable(o),
		closed: make(chan struct{}), attempts: make(map[string]int),
	}
	s.SetFaults(o.Faults)
	s.mux.HandleFunc("POST "+TokenPath, s.serveToken)
	s.mux.HandleFunc("GET "+LookupPath(o.Operator), s.serveLookup)
	s.mux.HandleFunc("GET "+BalancePath(o.Operator), s.serveBalances)
	for _, op := range transfer.Operations() {
		s.mux.HandleFunc("POST "+o.Operator.Path(op), func(w http.ResponseWriter, r *http.Request) {
			s.serveCreate(w, r, op)
		})
	}
	return s, nil
}

func (o Options) withDefaults() Options {
	if o.Operator == "" {
		o.Operator = transfer.DefaultOperator
	}
	if o.ClientID == "" {
		o.ClientID = DefaultClientID
	}
	if o.ClientSecret == "" {
		o.ClientSecret = DefaultClientSecret
	}
	if o.TokenLifetime == 0 {
		o.TokenLifetime = tokenLifetimeDefault
	}
	if o.PageSize == 0 {
		o.PageSize = pageSizeDefault
	}
	return o
}

// ServeHTTP implements http.Handler.
func (s *Sandbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.options.Dated {
		w.Header().Set("Date", s.options.Now().UTC().Format(http.TimeFormat))
	}
	s.mux.ServeHTTP(w, r)
}

// SetFaults replaces the faults of the options, for the requests that come from now on.
func (s *Sandbox) SetFaults(faults Faults) { s.faults.Store(&faults) }

// Close ends the requests that hang and closes the ledger. The server that serves the
// sandbox should be closed after it.
func (s *Sandbox) Close() error {
	select {
	case <-s.closed:
		return errors.New("the sandbox is closed already")
	default:
	}
	close(s.closed)
	return s.ledger.close()
}

// Ledger yields the record of every leg as the service has it, without any fault: in the
// order in which the transfers were made, the debit first.
func (s *Sandbox) Ledger(ctx context.Context) iter.Seq2[transfer.Record, error] {
	return func(yield func(transfer.Record, error) bool) {
		for l, err := range s.legs(ctx) {
			var record transfer.Record
			if err == nil {
				record, err = transfer.ParseRecord(s.encode(s.record(l)))
			}
			if !yield(record, err) || err != nil {
				return
			}
		}
	}
}

// legs yields every leg of the ledger in its order. An error ends it.
func (s *Sandbox) legs(ctx context.Context) iter.Seq2[leg, error] {
	return func(yield func(leg, error) bool) {
		after := position{}
		for {
			legs, err := s.ledger.page(ctx, nil, after, pageSizeDefault*10)
			if err != nil {
				yield(leg{}, err)
				return
			}
			for _, l := range legs {
				if !yield(l, nil) {
					return
				}
				after = l.position
			}
			if len(legs) == 0 {
				return
			}
		}
	}
}

// Debits are the count and the sums of all transfers that moved money: those that are or
// will be FAILED are not counted.
func (s *Sandbox) Debits(ctx context.Context) (transfer.Totals, error) {
	var totals transfer.Totals
	for l, err := range s.legs(ctx) {
		if err != nil {
			return transfer.Totals{}, err
		}
		if l.direction != transfer.Debit || l.failed {
			continue
		}
		amount, err := transfer.ParseAmount(l.amount)
		if err != nil {
			return transfer.Totals{}, fmt.Errorf("leg %s of the ledger: %w", l.id, err)
		}
		totals.Add(l.asset, amount)
	}
	return totals, nil
}

// Balances are what each profile has of each asset that it ever had or moved: the opening
// balance and all that was credited and debited since, in order of profile and asset.
func (s *Sandbox) Balances(ctx context.Context) ([]Balance, error) { return s.ledger.balances(ctx) }

// uuidOf makes an ID of a seed, a number and a word: the same ledger gets the same IDs again.
func uuidOf(seed uint64, number int64, word string) string {
	text := binary.BigEndian.AppendUint64(nil, seed)
	text = binary.BigEndian.AppendUint64(text, uint64(number))
	sum := sha256.Sum256(append(text, word...))
	id := uuid.UUID(sum[:16])
	id[6] = id[6]&0x0f | 0x80 // version 8: made by a rule of its maker (RFC 9562)
	id[8] = id[8]&0x3f | 0x80
	return id.String()
}

func (s *Sandbox) encode(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // our own structs always have a JSON form
	}
	return text
}
