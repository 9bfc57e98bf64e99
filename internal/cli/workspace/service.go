package workspace

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"remit/config"
	"remit/executor"
	"remit/executor/ratelimit"
	"remit/internal/cli/exit"
	"remit/internal/cli/host"
	"remit/internal/cli/terminal"
	"remit/internal/files/confined"
	"remit/internal/sandbox"
	"remit/internal/service"
	"remit/internal/transfer"
	"remit/state"
)

// Service is the service that a configuration names, or the sandbox.
type Service struct {
	host    *host.Host
	streams *terminal.Streams
	dir     *Directory
	config  *config.Configuration
	state   *State

	RunID     string             // of an apply, for the log; "" for other commands
	OwnDay    bool               // the answers of a sandbox have the Date of the host's clock, which a run of remit test sets
	OnRequest func(service.Seen) // is shown each request; nil for nobody
	WatchList func(service.List) // is shown each page of a lookup; nil for nobody
}

// NewService is the service that the configuration of a state names. Nothing is sent.
func NewService(st *State) *Service {
	return &Service{host: st.host, streams: st.streams, dir: st.dir, config: st.config, state: st}
}

// Connection is a client of the service, or of a sandbox that ends with it.
type Connection struct {
	Client    *service.Client
	Submitter executor.Submitter
	Finder    executor.Finder        // nil where the service has no lookup
	Balances  executor.BalanceReader // nil where the service says no balances
	Close     func()
}

// Connect makes a client of the service, or of the sandbox, which alone takes faults. Nothing is sent yet.
func (s *Service) Connect(ctx context.Context, inFlightMax int, faults ...string) (*Connection, error) {
	options := service.Options{
		Timeout: s.config.Service.Timeout, InFlightMax: inFlightMax, LookupMax: s.config.Service.LookupMax,
		UserAgent: "remit/" + s.host.Version, Now: s.host.Now, Watch: s.OnRequest, WatchList: s.WatchList,
		Up: func() time.Duration { return s.host.Boot().Up },
	}
	var err error
	if options.Log, err = s.streams.Log(s.RunID); err != nil {
		return nil, err
	}
	if s.dir.Sandbox {
		return s.connectSandbox(ctx, options, faults)
	}
	if !s.config.ServiceDeclared() {
		return nil, exit.WithHint(errors.New("there is no service block, add a service block; nothing was sent"), s.dir.Command("apply --sandbox"))
	}
	if err := service.CheckProxy(s.host.Getenv); err != nil {
		return nil, fmt.Errorf("%w; nothing was sent", err)
	}
	credentials, diags := s.config.Credentials()
	s.streams.Hide([]string{credentials.ClientSecret})
	if err := s.streams.ReportText(s.config, diags); err != nil {
		return nil, err
	}
	// The lock file is beside the configuration: a person who can change one can change the other.
	if !s.state.checked {
		panic("a secret would be sent on the word of the lock file alone")
	}
	if err := s.state.checkService(config.Client{ID: credentials.ClientID, TokenURL: credentials.TokenURL}); err != nil {
		return nil, err
	}
	if err := checkSecret(s.dir, credentials.BesideID); err != nil {
		return nil, err
	}
	options.BaseURL, options.LookupPath = s.config.Service.BaseURL, s.config.Service.LookupPath
	options.BalancePath = s.config.Service.BalancePath
	options.TokenURL, options.Scopes = credentials.TokenURL, credentials.Scopes
	options.ClientID, options.ClientSecret = credentials.ClientID, credentials.ClientSecret
	options.AuthStyle, options.AuthFound = service.AuthStyle(s.state.authStyle), s.state.authStyle != ""
	if style := s.config.Service.AuthStyle; style != "auto" {
		options.AuthStyle, options.AuthFound = service.AuthStyle(style), false
	}
	options.Proxy = service.EnvironmentProxy
	if file := s.config.Service.CAFile; file != "" {
		if options.CA, err = confined.ReadAnywhere(s.dir.Within(file), certificatesBytesMax); err != nil {
			if s.config.Sensitive("ca_file") {
				return nil, fmt.Errorf("read ca_file: %w", err)
			}
			return nil, fmt.Errorf("read ca_file %s: %w", file, err)
		}
	}
	if err := s.prove(&options, credentials); err != nil {
		return nil, err
	}
	return newConnection(options, func() {})
}

func newConnection(options service.Options, closeServer func()) (*Connection, error) {
	client, err := service.New(options)
	if err != nil {
		closeServer()
		return nil, err
	}
	c := &Connection{Client: client, Submitter: client, Close: func() { client.Close(); closeServer() }}
	if client.HasLookup() {
		c.Finder = client
	}
	if client.HasBalances() {
		c.Balances = client
	}
	return c, nil
}

// Destination says where the money would move.
func (s *Service) Destination() string {
	if s.dir.Sandbox {
		return "the sandbox"
	}
	return fmt.Sprintf("%s (environment %s)", s.config.Service.BaseURL, s.config.Environment)
}

// connectSandbox serves the sandbox on loopback until the connection is closed.
func (s *Service) connectSandbox(ctx context.Context, options service.Options, faults []string) (*Connection, error) {
	misbehave, err := sandbox.ParseFaults(faults...)
	if err != nil {
		return nil, err
	}
	secret := rand.Text() // for this process only
	box, err := sandbox.Open(ctx, sandbox.Options{
		Path: filepath.Join(s.state.SandboxDir, "ledger.db"), Environment: s.dir.Block(), Operator: s.config.Service.Operator,
		ClientID: state.Sandbox, ClientSecret: secret, OpeningBalances: s.openingBalances(), Faults: misbehave,
		Now: s.host.Now, Dated: s.OwnDay,
	})
	if err != nil {
		return nil, fmt.Errorf("open the sandbox: %w; nothing was sent", err)
	}
	server, err := box.Listen("127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, box.Close())
	}
	options.BaseURL, options.TokenURL = server.URL, server.URL+sandbox.TokenPath
	options.LookupPath = sandbox.LookupPath(s.config.Service.Operator)
	if s.SaysBalances() {
		options.BalancePath = sandbox.BalancePath(s.config.Service.Operator)
	}
	options.ClientID, options.ClientSecret = state.Sandbox, secret
	return newConnection(options, func() {
		_ = server.Close()
		_ = box.Close()
	})
}

// SaysBalances reports whether the service tells balances. A sandbox tells the declared ones, where the real
// service has a balance_path.
func (s *Service) SaysBalances() bool {
	return s.config.Service.BalancePath != "" && (!s.dir.Sandbox || len(s.config.Sandbox.OpeningBalances) > 0)
}

func (s *Service) openingBalances() []sandbox.Balance {
	declared := s.config.Sandbox.OpeningBalances
	balances := make([]sandbox.Balance, len(declared))
	for i, b := range declared {
		balances[i] = sandbox.Balance{ProfileID: b.ProfileID, Asset: b.Asset, Amount: b.Amount.Decimal()}
	}
	return balances
}

// CanLookUp reports whether the service can be asked about a transfer.
func (s *Service) CanLookUp() bool { return s.dir.Sandbox || s.config.Service.LookupPath != "" }

// RateLimits are those of the service block, for a run.
func RateLimits(service config.Service) map[transfer.Operation]ratelimit.Limit {
	limits := make(map[transfer.Operation]ratelimit.Limit, len(service.RateLimits))
	for op, limit := range service.RateLimits {
		limits[op] = ratelimit.Limit(limit)
	}
	return limits
}
