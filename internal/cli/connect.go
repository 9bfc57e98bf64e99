package cli

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
	"remit/internal/files/confined"
	"remit/internal/sandbox"
	"remit/internal/service"
	"remit/internal/transfer"
	"remit/state"
)

// connection is a client of the service, or of a sandbox that lives as long as it.
type connection struct {
	client    *service.Client
	submitter executor.Submitter
	finder    executor.Finder        // nil where the service has no lookup
	balances  executor.BalanceReader // nil where the service says no balances
	close     func()
}

// connect makes a client of the service that the configuration names, or of the sandbox,
// which alone can be told to have faults. Nothing is sent yet.
func (w *workspace) connect(ctx context.Context, inFlightMax int, faults ...string) (*connection, error) {
	options := service.Options{
		Timeout: w.config.Service.Timeout, InFlightMax: inFlightMax, LookupMax: w.config.Service.LookupMax,
		UserAgent: "remit/" + w.host.Version, Now: w.host.Now, Watch: w.watch, WatchList: w.watchList,
		Up: func() time.Duration { return w.host.Boot().Up },
	}
	var err error
	if options.Log, err = newLog(w.process); err != nil {
		return nil, err
	}
	if w.sandbox {
		return w.connectSandbox(ctx, options, faults)
	}
	if !w.config.ServiceDeclared() {
		return nil, exit.WithHint(errors.New("there is no service block, so there is nobody to send to; nothing was sent"), w.command("apply --sandbox"))
	}
	if err := service.CheckProxy(w.host.Getenv); err != nil {
		return nil, fmt.Errorf("%w; nothing was sent", err)
	}
	credentials, diags := w.config.Credentials()
	w.streams.Hide([]string{credentials.ClientSecret})
	if err := w.streams.Report(w.config, diags, false); err != nil {
		return nil, err
	}
	// The lock file stands beside the configuration, where who changes one can change the other.
	if !w.checked {
		panic("a secret would be sent on the word of the lock file alone")
	}
	if err := w.checkService(config.Client{ID: credentials.ClientID, TokenURL: credentials.TokenURL}); err != nil {
		return nil, err
	}
	options.BaseURL, options.LookupPath = w.config.Service.BaseURL, w.config.Service.LookupPath
	options.BalancePath = w.config.Service.BalancePath
	options.TokenURL, options.Scopes = credentials.TokenURL, credentials.Scopes
	options.ClientID, options.ClientSecret = credentials.ClientID, credentials.ClientSecret
	options.AuthStyle, options.AuthFound = service.AuthStyle(w.authStyle), w.authStyle != ""
	if style := w.config.Service.AuthStyle; style != "auto" {
		options.AuthStyle, options.AuthFound = service.AuthStyle(style), false
	}
	options.Proxy = service.EnvironmentProxy
	if file := w.config.Service.CAFile; file != "" {
		if options.CA, err = confined.ReadAnywhere(w.within(file), certificatesBytesMax); err != nil {
			return nil, fmt.Errorf("read ca_file: %w", err)
		}
	}
	if err := w.prove(&options, credentials); err != nil {
		return nil, err
	}
	return newConnection(options, func() {})
}

func newConnection(options service.Options, closeServer func()) (*connection, error) {
	client, err := service.New(options)
	if err != nil {
		closeServer()
		return nil, err
	}
	c := &connection{client: client, submitter: client, close: func() { client.Close(); closeServer() }}
	if client.HasLookup() {
		c.finder = client
	}
	if client.HasBalances() {
		c.balances = client
	}
	return c, nil
}

// connectSandbox serves the sandbox on loopback until the connection is closed.
func (w *workspace) connectSandbox(ctx context.Context, options service.Options, faults []string) (*connection, error) {
	misbehave, err := sandbox.ParseFaults(faults...)
	if err != nil {
		return nil, err
	}
	secret := rand.Text() // for this process only
	box, err := sandbox.Open(ctx, sandbox.Options{
		Path: filepath.Join(w.box, "ledger.db"), Operator: w.config.Service.Operator,
		ClientID: state.Sandbox, ClientSecret: secret, OpeningBalances: w.openingBalances(), Faults: misbehave, Now: w.host.Now,
	})
	if err != nil {
		return nil, fmt.Errorf("open the sandbox: %w", err)
	}
	server, err := box.Listen("127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, box.Close())
	}
	options.BaseURL, options.TokenURL = server.URL, server.URL+sandbox.TokenPath
	options.LookupPath = sandbox.LookupPath(w.config.Service.Operator)
	if w.saysBalances() {
		options.BalancePath = sandbox.BalancePath(w.config.Service.Operator)
	}
	options.ClientID, options.ClientSecret = state.Sandbox, secret
	return newConnection(options, func() {
		_ = server.Close()
		_ = box.Close()
	})
}

// saysBalances reports whether balances can be asked for. A sandbox says them where the service does that it
// stands in for, and only those that are declared.
func (w *workspace) saysBalances() bool {
	return w.config.Service.BalancePath != "" && (!w.sandbox || len(w.config.Sandbox.OpeningBalances) > 0)
}

func (w *workspace) openingBalances() []sandbox.Balance {
	declared := w.config.Sandbox.OpeningBalances
	balances := make([]sandbox.Balance, len(declared))
	for i, b := range declared {
		balances[i] = sandbox.Balance{ProfileID: b.ProfileID, Asset: b.Asset, Amount: b.Amount.Decimal()}
	}
	return balances
}

// canLookUp reports whether the service can be asked about a transfer.
func (w *workspace) canLookUp() bool { return w.sandbox || w.config.Service.LookupPath != "" }

// rateLimits are those of the service block as a run takes them.
func rateLimits(service config.Service) map[transfer.Operation]ratelimit.Limit {
	limits := make(map[transfer.Operation]ratelimit.Limit, len(service.RateLimits))
	for op, limit := range service.RateLimits {
		limits[op] = ratelimit.Limit(limit)
	}
	return limits
}
