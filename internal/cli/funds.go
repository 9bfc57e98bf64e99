package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"remit/config"
	"remit/executor"
	"remit/internal/cli/exit"
	"remit/internal/cli/host"
	"remit/internal/cli/terminal"
	"remit/internal/cli/workspace"
	"remit/internal/rehearsal"
	"remit/internal/transfer"
	"remit/internal/view"
	"remit/planner"
	"remit/state"
)

// feesRead bounds how many of the newest records of a state are read for what they say of fees.
const feesRead = 500

// shortNamed bounds how many shortfalls an error names; all of them are shown before it.
const shortNamed = 10

// shortfall says that the service has too little for what a run would take. It is advice that a person
// may overrule: others may pay in meanwhile, balances lag, and some profiles may overdraw.
type shortfall struct {
	funds  []rehearsal.Fund // those that are short, none of them accepted
	names  map[string]string
	scales transfer.Scales
	// hasDoubts says that some of the plan is in doubt.
	hasDoubts bool
}

// leavesDoubts reports whether a plan that is not applied, because of why, has transfers in doubt. An earlier run of it may have left
// one so that the plan is to submit.
func leavesDoubts(plan *planner.Plan, why error) bool {
	short, isShort := errors.AsType[*shortfall](why)
	return plan.Count(planner.Resolve) > 0 || isShort && short.hasDoubts
}

// Error names each profile, the asset and the amount.
func (s *shortfall) Error() string {
	var parts []string
	for i := range s.funds[:min(len(s.funds), shortNamed)] {
		f := &s.funds[i]
		part := fmt.Sprintf("%s has %s %s available, and this plan takes %s", s.name(f.ProfileID), view.Visible(f.Asset),
			s.scales.ShownSum(f.Available, f.Asset), s.scales.ShownSum(f.Takes, f.Asset))
		if !f.Covered.IsZero() {
			part += fmt.Sprintf(", %s of it covered by what comes in before", s.scales.ShownSum(f.Covered, f.Asset))
		}
		if !f.InDoubt.IsZero() {
			part += fmt.Sprintf(", %s of it in doubt, which may have been debited already", s.scales.ShownSum(f.InDoubt, f.Asset))
		}
		parts = append(parts, part+fmt.Sprintf(": %s is missing", s.scales.ShownSum(f.Left().Neg(), f.Asset)))
	}
	if more := len(s.funds) - len(parts); more > 0 {
		parts = append(parts, fmt.Sprintf("And %d more, shown above", more))
	}
	return fmt.Sprintf("the plan takes more than there is; nothing was sent. %s. "+
		"Fund the profile and apply again. Only where it may be overdrawn, or the service's balance lags, accept it", strings.Join(parts, ". "))
}

func (s *shortfall) name(profileID string) string {
	if name := s.names[profileID]; name != "" {
		return fmt.Sprintf("%s (%s)", view.Visible(name), view.Visible(profileID))
	}
	return view.Visible(profileID)
}

// tooLittle says how the same apply is typed where the shortfall is meant.
func (a *applying) tooLittle(short *shortfall) error {
	words := same(a)
	if a.file == "" && a.approved() {
		words += " " + a.approval()
	}
	return exit.New(short, a.planning.dir.CommandWithPractice(words+short.flags()), exit.Control)
}

// flags accept all that is short.
func (s *shortfall) flags() string {
	var profiles []string
	for _, f := range s.funds {
		if name := cmp.Or(s.names[f.ProfileID], f.ProfileID); !slices.Contains(profiles, name) {
			profiles = append(profiles, name)
		}
	}
	return flagWords("accept-shortfall", profiles)
}

// fund compares the balances of profiles with the amounts that the plan takes of them, and shows
// both. The error is a *shortfall where one has too little that nobody accepted. An unreadable
// balance stops nothing.
func (a *applying) fund(ctx context.Context, w *opened, run executor.Run, begun *state.Begun, snapshot state.Snapshot, balances executor.BalanceReader) error {
	funds, at, err := readFunds(ctx, w.host, w.state, run.Plan, snapshot, balances, run.Settings)
	if err != nil || ctx.Err() != nil || len(funds) == 0 {
		return errors.Join(err, context.Cause(ctx))
	}
	short := &shortfall{names: w.config.ProfileNames(), scales: w.streams.Scales}
	used := make(map[string]bool)
	for i := range funds {
		f := &funds[i]
		short.hasDoubts = short.hasDoubts || !f.InDoubt.IsZero()
		by := a.acceptedBy(f.ProfileID, short.names)
		if by != "" {
			used[by] = true
		}
		if f.Accepted = by != ""; f.IsShort() && !f.Accepted {
			short.funds = append(short.funds, *f)
		}
	}
	if err := showFunds(w.streams, w.config, funds, at, &a.planning); err != nil {
		return err
	}
	for _, name := range a.acceptShortfall {
		if !used[name] {
			return exit.WithHint(fmt.Errorf("--accept-shortfall=%s names no profile that pays in this plan; it takes the profile_id or the name of a profile block", view.Visible(name)), a.planning.dir.Command("plan"+a.planning.typed()))
		}
	}
	if len(short.funds) > 0 {
		return short
	}
	for i := range funds {
		if f := &funds[i]; f.IsShort() {
			begun.Shortfalls = append(begun.Shortfalls, state.Shortfall{
				ProfileID: f.ProfileID, Asset: f.Asset, Available: transfer.Digits(f.Available), Needed: transfer.Digits(f.Least()),
			})
		}
	}
	return nil
}

// tellNoShortfall names the profiles whose shortfall was accepted, where nothing is sent. It stops nothing: the
// command line of a timer may accept a shortfall that only some nights have.
func (a *applying) tellNoShortfall(streams *terminal.Streams) error {
	for _, name := range a.acceptShortfall {
		if _, err := fmt.Fprintf(streams.Err, "Notice: --accept-shortfall=%s accepted nothing: this plan sends nothing.\n", view.Visible(name)); err != nil {
			return err
		}
	}
	return nil
}

// acceptedBy is the flag's word by which a person accepts a shortfall of a profile; "" for none.
func (a *applying) acceptedBy(profileID string, names map[string]string) string {
	for _, name := range a.acceptShortfall {
		if name == names[profileID] || transfer.IsSameParty(name, profileID) {
			return name
		}
	}
	return ""
}

// readFunds asks once for each profile that pays. It returns when that was, by the service's clock
// where it says so, and nothing where the plan takes nothing.
func readFunds(ctx context.Context, h *host.Host, st *workspace.State, plan *planner.Plan, snapshot state.Snapshot, balances executor.BalanceReader, settings executor.Settings) ([]rehearsal.Fund, time.Time, error) {
	known, err := knownOf(ctx, plan, snapshot)
	if err != nil {
		return nil, time.Time{}, st.Error(err)
	}
	known.LeavesRefused = settings.LeaveRefused
	needs, err := rehearsal.Needs(plan, known)
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("add up what the plan takes: %w", err)
	}
	var profiles []string
	for _, n := range needs {
		if len(profiles) == 0 || profiles[len(profiles)-1] != n.ProfileID {
			profiles = append(profiles, n.ProfileID)
		}
	}
	reads := executor.ReadBalances(ctx, balances, settings, h.Clock(), profiles)
	funds := make([]rehearsal.Fund, len(needs))
	at := h.Now().UTC()
	for i, n := range needs {
		read := &reads[slices.Index(profiles, n.ProfileID)]
		if !read.At.IsZero() && read.At.Before(at) {
			at = read.At
		}
		funds[i].Need = n
		if read.Err != nil {
			funds[i].Unread = read.Err.Error()
		} else if funds[i].Available, err = read.Of(n.Asset); err != nil {
			funds[i].Unread = err.Error()
		}
	}
	slices.SortStableFunc(funds, func(x, y rehearsal.Fund) int { // shortfalls first
		switch {
		case x.IsShort() == y.IsShort():
			return 0
		case x.IsShort():
			return -1
		}
		return 1
	})
	return funds, at, nil
}

// payer is who pays how, in which asset: what a fee may depend on.
type payer struct {
	operation        transfer.Operation
	profileID, asset string
}

func payerOf(r *transfer.Request) payer {
	spelled := r.OneSpelling()
	return payer{r.Operation, spelled.FromProfileID, spelled.Asset}
}

// knownOf reads from a state what it knows beyond a plan: the fee that the newest record of a payer has,
// among the newest ones of the state, and the transfers of earlier runs that are PENDING or in doubt.
func knownOf(ctx context.Context, plan *planner.Plan, snapshot state.Snapshot) (rehearsal.Known, error) {
	newest, doubts, err := newestRecords(ctx, snapshot)
	if err != nil {
		return rehearsal.Known{}, err
	}
	fees, err := readFees(ctx, snapshot, newest)
	if err != nil {
		return rehearsal.Known{}, err
	}
	known := rehearsal.Known{Credits: make(map[string]transfer.Request), Doubts: doubts}
	known.Fee = func(r *transfer.Request) decimal.Decimal {
		if len(fees) == 0 {
			return decimal.Decimal{}
		}
		return fees[payerOf(r)]
	}
	for chunk := range slices.Chunk(waitedFor(plan), feesRead) {
		details, err := snapshot.Details(ctx, chunk...)
		if err != nil {
			return rehearsal.Known{}, err
		}
		for i := range details {
			if d := &details[i]; d.RecordStatus == transfer.Pending {
				if r, err := transfer.ParseRequest(d.Intent.Operation, []byte(d.Intent.Body), ""); err == nil {
					known.Credits[d.RefID] = r
				}
			}
		}
	}
	return known, nil
}

// waitedFor are the ref_ids that lines of a plan wait for and that are no lines themselves.
func waitedFor(plan *planner.Plan) []string {
	var outside []string
	var seen map[string]bool
	var find func(string) (int, bool)
	var last *string // lines share their lists
	for _, c := range plan.Changes.All() {
		if len(c.After) == 0 || &c.After[0] == last {
			continue
		}
		last = &c.After[0]
		if find == nil {
			find, seen = plan.Changes.Find(), make(map[string]bool)
		}
		for _, refID := range c.After {
			if seen[refID] {
				continue
			}
			seen[refID] = true
			if n, isLine := find(refID); !isLine || !isTaken(plan.Changes.At(n).Action) {
				outside = append(outside, refID)
			}
		}
	}
	slices.Sort(outside)
	return outside
}

// isTaken reports whether a run takes the amounts of lines with this action.
func isTaken(a planner.Action) bool { return a == planner.Submit || a == planner.Resolve }

// readFees are the fees of the given records, the newest first, by who paid them. Without any fee there is none.
func readFees(ctx context.Context, snapshot state.Snapshot, refIDs []string) (map[payer]decimal.Decimal, error) {
	details, err := snapshot.Details(ctx, refIDs...)
	if err != nil {
		return nil, err
	}
	fees, isKnown := make(map[payer]decimal.Decimal), make(map[payer]bool)
	for i := range details {
		d := &details[i]
		if d.Outcome == nil || len(d.Outcome.Records) == 0 || d.Intent.Body == "" {
			continue
		}
		r, err := transfer.ParseRequest(d.Intent.Operation, []byte(d.Intent.Body), "")
		record, unread := transfer.ParseRecord(d.Outcome.Records[0])
		if err != nil || unread != nil || record.Direction != transfer.Debit || isKnown[payerOf(&r)] {
			continue
		}
		fee, isNumber := transfer.ParseNumber(record.Fee)
		if isKnown[payerOf(&r)] = isNumber; isNumber && fee.IsPositive() {
			fees[payerOf(&r)] = fee
		}
	}
	return fees, nil
}

// newestRecords are the ref_ids of the transfers with the newest records, the newest first, and those in doubt.
func newestRecords(ctx context.Context, snapshot state.Snapshot) (refIDs []string, doubts map[string]bool, err error) {
	type written struct {
		seq   int64
		refID string
	}
	var newest []written
	doubts = make(map[string]bool)
	byAge := func(a, b written) int { return cmp.Compare(b.seq, a.seq) }
	for t, err := range snapshot.Transfers(ctx) {
		if err != nil {
			return nil, nil, err
		}
		if t.Status == state.InDoubt {
			doubts[strings.Clone(t.RefID)] = true
		}
		if t.RecordID == "" || t.RecordStatus == transfer.Failed {
			continue
		}
		newest = append(newest, written{t.OutcomeSeq, strings.Clone(t.RefID)})
		if len(newest) == 2*feesRead {
			slices.SortFunc(newest, byAge)
			newest = newest[:feesRead]
		}
	}
	slices.SortFunc(newest, byAge)
	newest = newest[:min(len(newest), feesRead)]
	refIDs = make([]string, len(newest))
	for i, w := range newest {
		refIDs[i] = w.refID
	}
	return refIDs, doubts, nil
}

// askFunds is readFunds with a connection of its own, for commands that send nothing.
func askFunds(ctx context.Context, w *opened, plan *planner.Plan) ([]rehearsal.Fund, time.Time, error) {
	snapshot, done, err := w.state.Read(ctx)
	if err != nil {
		return nil, time.Time{}, err
	}
	defer done()
	connection, err := w.service.Connect(ctx, w.config.Service.InFlightMax)
	if err != nil {
		return nil, time.Time{}, err
	}
	defer connection.Close()
	if _, err := connection.Submitter.Ready(ctx); err != nil {
		return nil, time.Time{}, &unreadFunds{err}
	}
	settings := executor.Settings{InFlightMax: w.config.Service.InFlightMax, RateLimits: workspace.RateLimits(w.config.Service)}
	funds, at, err := readFunds(ctx, w.host, w.state, plan, snapshot, connection.Balances, settings)
	if err == nil {
		err = context.Cause(ctx)
	}
	return funds, at, err
}

// unreadFunds is why nothing could be asked for.
type unreadFunds struct{ error }

func (u *unreadFunds) Unwrap() error { return u.error }

// noteFunds shows, beside a plan, what profiles have. It is no part of the plan: by the time that the plan is
// applied it may be otherwise, and apply asks again.
func (o *planning) noteFunds(ctx context.Context, w *opened, plan *planner.Plan) error {
	if w.dir.Sandbox {
		if there, err := w.state.Backend.Look(ctx); err != nil || !there {
			return err // its ledger makes itself at the first apply
		}
	}
	funds, at, err := askFunds(ctx, w, plan)
	if unread, ok := errors.AsType[*unreadFunds](err); ok {
		_, err := fmt.Fprintf(w.streams.Err, "Notice: the balances are not known: %s.\n", view.Visible(unread.Error()))
		return err
	}
	if err != nil || len(funds) == 0 {
		return err
	}
	return showFunds(w.streams, w.config, funds, at, o)
}

// balancesFor are what the service says that the profiles of a plan have, to rehearse it with.
func balancesFor(ctx context.Context, w *opened, plan *planner.Plan) ([]rehearsal.OpeningBalance, time.Time, error) {
	if !w.service.SaysBalances() {
		return nil, time.Time{}, errors.New("--from-balances needs balance_path in the service block, and with --sandbox opening balances too: nobody says what a profile has")
	}
	if w.dir.Sandbox {
		if there, err := w.state.Backend.Look(ctx); err != nil || !there {
			return nil, time.Time{}, errors.Join(err, errors.New("the sandbox has no ledger before its first apply: without --from-balances a rehearsal begins with the opening balances that are declared"))
		}
	}
	funds, at, err := askFunds(ctx, w, plan)
	if err != nil {
		return nil, at, err
	}
	balances := make([]rehearsal.OpeningBalance, len(funds))
	for i := range funds {
		f := &funds[i]
		if f.Unread != "" {
			return nil, at, fmt.Errorf("the balance of %s in %s is not known, so no rehearsal can begin with it: %s",
				view.Visible(f.ProfileID), view.Visible(f.Asset), view.Visible(f.Unread))
		}
		balances[i] = rehearsal.OpeningBalance{ProfileID: f.ProfileID, Asset: f.Asset, Amount: f.Available}
	}
	return balances, at, nil
}

// showFunds shows what profiles have and what a plan takes of it.
func showFunds(streams *terminal.Streams, loaded *config.Configuration, funds []rehearsal.Fund, at time.Time, o *planning) error {
	options := view.FundsOptions{Screen: streams.Screen(streams.Out), ShowAll: o.show == "all", Names: loaded.ProfileNames(), At: at}
	if streams.WantsLines() {
		if err := streams.JSON().Funds(funds, options); streams.AsJSON || err != nil {
			return err
		}
	}
	return view.Funds(streams.Out, funds, options)
}
