package cli

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"remit/internal/sandbox"
	"remit/internal/transfer"
)

// serving is remit sandbox serve.
type serving struct {
	listen, ledger         string
	clientID, clientSecret string
	operator               string
	faults, opening        []string
	seed                   uint64
	asJSON                 bool
}

func newSandbox(p *process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "sandbox",
		Short: "The embedded service, where no money moves",
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return p.unknownCommand(cmd, args[0])
			}
			return cmd.Help()
		},
	}
	cmd.AddCommand(newSandboxServe(p), newSandboxExport(p))
	return cmd
}

func newSandboxServe(p *process) *cobra.Command {
	var s serving
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the sandbox on this machine until it is interrupted",
		Long: "Serve the sandbox on this machine until it is interrupted. It writes its addresses and\n" +
			"credentials to standard output once it listens. --fault makes it misbehave.",
		Args: exactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return s.run(cmd.Context(), p)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&s.listen, "listen", "127.0.0.1:0", "listen at this loopback `address`; port 0 is any that is free")
	flags.StringVar(&s.ledger, "ledger", "", "keep the ledger in this `file`; without it, in memory")
	flags.StringVar(&s.clientID, "client-id", sandbox.DefaultClientID, "the client that gets tokens")
	flags.StringVar(&s.clientSecret, "client-secret", "", "its secret; without it, a new one is made and written out")
	flags.StringVar(&s.operator, "operator", string(transfer.DefaultOperator), "the operator's word in paths and types")
	flags.StringArrayVar(&s.opening, "opening-balance", nil, "what a profile has at first, as `PROFILE_ID,ASSET,AMOUNT`; without any, every profile has enough; may be repeated")
	flags.StringArrayVar(&s.faults, "fault", nil, "misbehave, as `KIND=VALUE`; may be repeated")
	flags.Uint64Var(&s.seed, "seed", 1, "what decides the faults that chance decides")
	flags.BoolVar(&s.asJSON, "json", false, "write the addresses as one JSON object")
	return cmd
}

func (s *serving) run(ctx context.Context, p *process) error {
	faults, err := sandbox.ParseFaults(s.faults...)
	if err != nil {
		return err
	}
	opening, err := openingOf(s.opening)
	if err != nil {
		return err
	}
	if s.clientSecret == "" {
		s.clientSecret = rand.Text()
	}
	box, err := sandbox.Open(ctx, sandbox.Options{
		Path: s.ledger, Operator: transfer.Operator(s.operator),
		ClientID: s.clientID, ClientSecret: s.clientSecret, OpeningBalances: opening, Faults: faults, Seed: s.seed, Now: p.host.Now,
	})
	if err != nil {
		return err
	}
	server, err := box.Listen(s.listen)
	if err != nil {
		return errors.Join(err, box.Close())
	}
	if err := s.announce(p, server.URL); err != nil {
		return errors.Join(err, server.Close(), box.Close())
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	select {
	case err = <-ended:
	case <-ctx.Done():
		err = server.Close()
	}
	return errors.Join(err, box.Close())
}

// openingOf reads PROFILE_ID,ASSET,AMOUNT. An ID may have commas.
func openingOf(texts []string) ([]sandbox.Balance, error) {
	var balances []sandbox.Balance
	for _, text := range texts {
		parts := strings.Split(text, ",")
		n := len(parts)
		if n < 3 || parts[0] == "" || parts[n-2] == "" {
			return nil, fmt.Errorf("--opening-balance=%s is not PROFILE_ID,ASSET,AMOUNT", text)
		}
		amount, isNumber := transfer.ParseNumber(parts[n-1])
		if !isNumber {
			return nil, fmt.Errorf("--opening-balance=%s: %q is not a decimal", text, parts[n-1])
		}
		balances = append(balances, sandbox.Balance{ProfileID: strings.Join(parts[:n-2], ","), Asset: parts[n-2], Amount: amount})
	}
	return balances, nil
}

// sandboxAddresses is what sandbox serve --json prints.
type sandboxAddresses struct {
	BaseURL      string `json:"base_url"`
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	LookupPath   string `json:"lookup_path"`
	TokenURL     string `json:"token_url"`
}

func (s *serving) announce(p *process, base string) error {
	fields := [][2]string{
		{"base_url", base},
		{"token_url", base + sandbox.TokenPath},
		{"lookup_path", sandbox.LookupPath(transfer.Operator(s.operator))},
		{"client_id", s.clientID},
		{"client_secret", s.clientSecret},
	}
	if s.asJSON {
		return json.NewEncoder(p.streams.Out).Encode(sandboxAddresses{
			BaseURL: fields[0][1], TokenURL: fields[1][1], LookupPath: fields[2][1], ClientID: s.clientID, ClientSecret: s.clientSecret,
		})
	}
	if _, err := fmt.Fprintln(p.streams.Out, "SANDBOX: no money moves"); err != nil {
		return err
	}
	for _, field := range fields {
		if _, err := fmt.Fprintf(p.streams.Out, "%-13s = %q\n", field[0], field[1]); err != nil {
			return err
		}
	}
	return nil
}
