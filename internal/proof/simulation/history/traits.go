//go:build unix

package history

import (
	"math/rand/v2"
	"time"

	"remit/executor/ratelimit"
	"remit/internal/sandbox"
	"remit/internal/transfer"
)

// Faults that a sandbox, which is no network, does not have.
const (
	noConnection  sandbox.FaultKind = "no-connection"  // nothing is written
	delayed       sandbox.FaultKind = "delayed"        // it arrives when nobody waits for an answer any more
	repeated      sandbox.FaultKind = "repeated"       // it arrives a second time
	movedWrong    sandbox.FaultKind = "moved-wrong"    // another amount is really moved
	wrongMetadata sandbox.FaultKind = "wrong-metadata" // other pairs are echoed
	torn          sandbox.FaultKind = "torn"           // a lookup shows it in pieces
	noGroup       sandbox.FaultKind = "no-group-id"
	foreignGroup  sandbox.FaultKind = "foreign-group-id" // that of the first transfer of all
	wrongTotal    sandbox.FaultKind = "wrong-total"      // neither amount, nor with the fee, nor without it
	feeOnTop      sandbox.FaultKind = "fee-on-top"       // total is amount and fee, as it may be
	feeWithin     sandbox.FaultKind = "fee-within"       // total is amount without the fee, as it may be
)

// copyStopMax is how long a run pauses whose state is copied: it sends what it had in flight before
// anybody may say in the copy that it was not made.
const copyStopMax = 5 * time.Minute

// requestTimeout is the service block's timeout in every history.
const requestTimeout = 30 * time.Second

// recordFaults are those of a movement's records.
func recordFaults() []sandbox.FaultKind {
	return []sandbox.FaultKind{
		sandbox.Rescaled, sandbox.WrongAmount, sandbox.WrongAsset, sandbox.WrongProfile, sandbox.WrongRefID,
		sandbox.WrongCustomer, sandbox.SameID, sandbox.Backdated, sandbox.Bare, sandbox.Novel, sandbox.NovelStatus, wrongMetadata,
		noGroup, foreignGroup, wrongTotal, feeOnTop, feeWithin,
	}
}

// requestFaults are those of one request, of its answer, or of the network.
func requestFaults() []sandbox.FaultKind {
	return []sandbox.FaultKind{
		noConnection, delayed, repeated, movedWrong,
		sandbox.Latency, sandbox.TokenExpired, sandbox.ResetBefore, sandbox.Hang, sandbox.ErrorBefore,
		sandbox.Throttled, sandbox.TooEarly, sandbox.Redirect, sandbox.Refuse,
		sandbox.LostAnswer, sandbox.HangAfter, sandbox.ErrorAfter, sandbox.HalfAnswer, sandbox.Endless, sandbox.Garbage, sandbox.Answer,
		sandbox.Fail, sandbox.LookupError, sandbox.TokenError, torn,
	}
}

// traits are how the service, the network, the machine and the people of a history are.
type traits struct {
	replay         string
	forgets        bool // a ref_id, once replayWindow has passed
	replayWindow   time.Duration
	hasLookup      bool
	lookupShows    string // "debit", "credit" or "" for both sides
	late           time.Duration
	pending        float64
	fingerprintKey string
	delayMax       time.Duration
	rates          map[sandbox.FaultKind]float64

	holdDoubt  bool
	inFlight   int
	rateLimits map[transfer.Operation]ratelimit.Limit

	crash, stop, interrupt float64 // chance of each step of an apply
	rival                  float64 // of another apply beside it
	loss                   float64 // of the state, before an apply
	backups                float64 // that one is made, before an apply
	restore                float64 // of an older backup
	edits                  float64
	saved                  float64
	people                 float64 // that a person resolves something
	shareStore             bool    // commands find the state's file open already
	clocks                 clocks
	files                  fileTraits
	rules                  ruleTraits
	shares                 shareTraits
	isQuiet                bool    // little happens to services, machines, files and people
	payroll                bool    // a block with rows is declared
	months                 float64 // that one passes before a chapter
}

// stepsMax is of how many steps a history may be. Runners that share a run look after one another each second, and
// look for one another four times a second, however long they wait.
func (t *traits) stepsMax() int {
	if t.shares.joins > 0 {
		return 10 * stepsMax
	}
	return stepsMax
}

// ruleTraits are the rules that people declare for when a transfer may be sent, and the faults that keep
// a run from following them.
type ruleTraits struct {
	windows float64           // chance that a block has a window of its own
	depends float64           // that it depends on another one
	edits   float64           // of each edit, that it is of what a block depends on, or of how it writes its amount
	limits  map[string]string // the most that a day may have, by the name of controls; nil for none
	daily   bool              // the declared transfers are of one asset, and keeps a day's limit, which is the same under all names, alone
	trusts  bool              // only a state that was made anew is looked up before the first sending
	journal float64           // of each append, that the disk is full: nothing is written
	unsaid  float64           // of each append, that it is written and the answer is an error

	approvers int // how many people must approve a plan; 0 for none
}

// newRuleTraits draws them, from dice of their own: what else happens in most histories stays as it is.
// Where much depends on other things, these are often not COMPLETED at once, and often fall short.
func newRuleTraits(seed uint64, t *traits) ruleTraits {
	r := rand.New(rand.NewPCG(seed, 0x72756c6573))
	rules := ruleTraits{
		windows: pick(r, 0, 0, 0.2, 0.5), depends: pick(r, 0.2, 0.2, 0.7),
		journal: pick(r, 0, 0, 0, 0.05), unsaid: pick(r, 0, 0, 0, 0.05),
	}
	// A process without lookups needs a service that never forgets.
	t.clocks.sets, t.clocks.jumps = pick(r, 0, 0, 0, 0.01), pick(r, 0, 0, 0, 0.3)
	if r.Float64() < 0.1 {
		t.tighten()
	}
	rules.trusts = r.Float64() < 0.3 && t.hasLookup && !t.forgets
	if rules.depends > 0.5 {
		rules.edits = pick(r, 0.2, 0.5)
		t.pending = pick(r, 0.3, 0.7)
		t.rates[noGroup] = pick(r, 0, 0, 0.2)
	}
	rules.limits = drawLimits(r)
	rules.daily = t.drawDaily(r, rules.limits)
	rules.approvers = drawApprovers(seed, t)
	if rules.trusts && seed%4 == 3 { // a restored backup sends old transfers, and only a lookup shows how old
		t.loss, t.restore, t.replay = 0, 0.5, sandbox.ReplayConflict
	}
	if !rules.daily && r.Float64() < 0.03 {
		t.outlive()
		rules.trusts, rules.journal, rules.unsaid = true, 0, 0
	}
	return rules
}

// outlive has doubts be younger than their records: a backup is restored from before a transfer was made, nothing
// is looked up before the first sending, and requests are lost.
func (t *traits) outlive() {
	t.quiet()
	t.hasLookup, t.forgets, t.holdDoubt, t.late, t.replay = true, false, false, 0, sandbox.ReplayConflict
	t.edits, t.backups, t.restore, t.months = 0, 0.7, 0.5, 0.3
	t.rates[sandbox.ResetBefore] = 0.5
}

// tighten has doubts come, stay and be sent again, with nothing to tell their age by but clocks that are as
// wrong as they may be.
func (t *traits) tighten() {
	t.clocks = tightClocks()
	t.holdDoubt, t.hasLookup, t.replayWindow = false, false, 24*time.Hour
	t.loss, t.restore, t.crash, t.stop, t.months = 0, 0, 0, 0, 0
	clear(t.rates)
	t.rates[sandbox.ResetBefore], t.rates[sandbox.LostAnswer] = 0.5, 0.2
}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// newTraits draws the traits of one history. Few faults are on in each, so that those that
// hide one another also happen alone.
func newTraits(r *rand.Rand) traits {
	chance := func(p float64) bool { return r.Float64() < p }
	t := traits{
		replay:       pick(r, "", sandbox.ReplayConflict, sandbox.ReplayExisting, sandbox.ReplayIgnore),
		replayWindow: pick(r, time.Hour, 24*time.Hour),
		hasLookup:    chance(0.6),
		lookupShows:  pick(r, "", "", "debit", "credit"),
		late:         pick(r, 0, 0, 5*time.Second, time.Minute),
		pending:      pick(r, 0, 0.3),
		delayMax:     20 * time.Minute,
		rates:        make(map[sandbox.FaultKind]float64),
		holdDoubt:    chance(0.1),
		inFlight:     1 + r.IntN(4),
		crash:        pick(r, 0, 0.01, 0.03, 0.1), stop: pick(r, 0, 0, 0.02), interrupt: pick(r, 0, 0, 0.01),
		rival: pick(r, 0, 0, 0.5), edits: pick(r, 0, 0.3, 0.6), saved: pick(r, 0, 0.5), people: pick(r, 0, 0.3),
		shareStore: chance(0.9), backups: 0.3,
	}
	if chance(0.3) {
		t.fingerprintKey = "fingerprint"
	}
	t.drawForgetting(r, chance)
	t.drawRates(r, chance)
	t.clocks = newClocks(r)
	if t.payroll = chance(0.3); t.payroll {
		t.months = pick(r, 0, 0.3, 0.5)
	}
	return t
}

// drawForgetting says whether the service forgets ref_ids after their window. A state may be lost only where that does no harm.
func (t *traits) drawForgetting(r *rand.Rand, chance func(p float64) bool) {
	t.forgets = chance(0.4)
	if t.forgets {
		// Protection ends with the window, and so a request may not arrive later than
		// its timeout after it began.
		t.delayMax = requestTimeout - startMax - time.Second
		t.late = 0
	}
	if !t.forgets || t.hasLookup {
		t.loss, t.restore = pick(r, 0, 0, 0.2), pick(r, 0, 0, 0.3)
	}
}

// drawRates says how often the service makes each fault, and how many requests it takes.
func (t *traits) drawRates(r *rand.Rand, chance func(p float64) bool) {
	for _, kind := range requestFaults() {
		if chance(0.35) {
			t.rates[kind] = pick(r, 0.05, 0.2, 0.5)
		}
	}
	for _, kind := range recordFaults() {
		if chance(0.1) {
			t.rates[kind] = pick(r, 0.1, 0.4)
		}
	}
	if rate, ok := t.rates[sandbox.Endless]; ok {
		t.rates[sandbox.Endless] = min(rate, 0.05) // a mebibyte each
	}
	if chance(0.5) {
		t.rateLimits = map[transfer.Operation]ratelimit.Limit{
			transfer.Internal: {Requests: 1 + r.IntN(4), Window: pick(r, time.Second, 10*time.Second, time.Minute)},
		}
	}
}
