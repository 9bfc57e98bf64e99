package sandbox

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// FaultHeader is the header in which a request to create or to look up may carry a fault of
// its own, in the text form of [ParseFault]; it may be repeated.
const FaultHeader = "Remit-Sandbox-Fault"

// FaultKind names a way to misbehave.
type FaultKind string

// Faults of a request to create, before anything is written to the ledger.
const (
	Latency      FaultKind = "latency"       // Duration; lookups are late as well
	TokenExpired FaultKind = "token-expired" // 401, the token is worth nothing from now on; Number: uses that each token is good for
	ResetBefore  FaultKind = "reset-before"  // the connection is reset
	Hang         FaultKind = "hang"          // no answer, ever
	ErrorBefore  FaultKind = "error-before"  // Number: the HTTP status, 503
	Throttled    FaultKind = "throttled"     // 429 with Duration in Retry-After
	TooEarly     FaultKind = "too-early"     // 425
	Redirect     FaultKind = "redirect"      // Number: the HTTP status, 307
	Refuse       FaultKind = "refuse"        // a problem; Number: the HTTP status, 422
)

// Faults of a request to create, after the ledger has the transfer.
const (
	LostAnswer FaultKind = "lost-answer" // the connection is closed without an answer
	HangAfter  FaultKind = "hang-after"  // no answer, ever
	ErrorAfter FaultKind = "error-after" // Number: the HTTP status, 503
	HalfAnswer FaultKind = "half-answer" // the connection is closed in the middle of the answer
	Endless    FaultKind = "endless"     // an answer without an end
	Garbage    FaultKind = "garbage"     // a success whose body is no record
	Answer     FaultKind = "answer"      // Mode "credit": the credit side is answered; "none": an empty 204
)

// Faults of the ledger's memory and of its lookup.
const (
	Fail        FaultKind = "fail"         // the transfer is made as FAILED and moves nothing; with one of the next two, FAILED only later
	PendingFor  FaultKind = "pending"      // Duration: the transfer is PENDING for so long
	PendingMore FaultKind = "pending-more" // Number: the transfer is PENDING until so many lookups have seen it
	Replay      FaultKind = "replay"       // Mode: how a known ref_id is answered, see below
	Forget      FaultKind = "forget"       // Number: a ref_id is protected until so many more transfers were made
	Lookup      FaultKind = "lookup"       // Mode: "debit", "credit" or "none" is all that the lookup shows; "capitals": it shows each ref_id in capitals
	Late        FaultKind = "late"         // Duration: until then the lookup does not show a transfer
	LookupError FaultKind = "lookup-error" // Number: the HTTP status, 503
	TokenError  FaultKind = "token-error"  // Number: the HTTP status of the token endpoint, 503
)

// Faults of records, in answers and in lookups alike.
const (
	Rescaled      FaultKind = "rescaled"       // 10 is shown as 10.00000000
	WrongAmount   FaultKind = "wrong-amount"   // one more
	WrongAsset    FaultKind = "wrong-asset"    // EUR, or USD instead of it
	WrongProfile  FaultKind = "wrong-profile"  // a profile that nobody named
	WrongRefID    FaultKind = "wrong-ref-id"   // in answers; a lookup would not find it
	WrongCustomer FaultKind = "wrong-customer" // another customer_id
	SameID        FaultKind = "same-id"        // all records have one id
	Backdated     FaultKind = "backdated"      // created an hour before it was
	Bare          FaultKind = "bare"           // optional fields are missing; a lookup keeps ref_id
	Novel         FaultKind = "novel"          // fields and enumeration values that nobody knows
	NovelStatus   FaultKind = "novel-status"   // a status that nobody knows
	Fee           FaultKind = "fee"            // Number: a fee, once the transfer is not PENDING any more
	Relinked      FaultKind = "relinked"       // another group_id
	Ungrouped     FaultKind = "ungrouped"      // no group_id
	WrongTotal    FaultKind = "wrong-total"    // a total that is not of the amount and the fee
	Lacking       FaultKind = "lacking"        // Mode: the required field that is empty
	CreditFailed  FaultKind = "credit-failed"  // the credit side of a COMPLETED transfer is FAILED
	DebitFailed   FaultKind = "debit-failed"   // the debit side of a COMPLETED transfer is FAILED
	Versions      FaultKind = "versions"       // a lookup shows behind each record an older copy of it, which is FAILED
	Unreadable    FaultKind = "unreadable"     // a lookup lacks required fields; answers are whole

	// Liberties are no fault, but all at once what the service's document allows and few do: short decimals
	// (.5 for 0.50), empty values of metadata dropped, no ref_id on the credit side, 200 for a transfer that was made, a
	// further cursor on every page, and 414 for a request line of more than 8 KiB.
	Liberties FaultKind = "liberties"
)

// The values of [Replay]. Without it the same request is answered with the first record, and
// another one with a 409.
const (
	ReplayConflict = "409"          // always a 409 without the record
	ReplayExisting = "409-existing" // always a 409 with the record in meta.existing
	ReplayIgnore   = "ignore-body"  // always the first record, also where the request differs
)

// Fault is one way to misbehave, and when. Where no condition is set it is always; where
// several are, all must hold.
type Fault struct {
	Kind     FaultKind
	Duration time.Duration // of the kinds that say so; otherwise 0
	Number   int           // of the kinds that say so; 0 for the kind's own
	Mode     string        // of the kinds that say so; otherwise ""

	Percent float64 // chance of each request, decided by seed, ref_id and attempt: over 0, at most 100
	Nth     int     // only the n-th request to create; 1 is the first
	RefID   string  // only this ref_id
}

// Faults are ways to misbehave. Of two of one kind the later one counts.
type Faults []Fault

// valueForm is the form of the value behind the name of a kind.
type valueForm struct {
	duration, number bool
	modes            []string
	required         bool
	standard         int // where Number is 0
}

func forms() map[FaultKind]valueForm {
	none := valueForm{}
	status := func(standard int) valueForm { return valueForm{number: true, standard: standard} }
	return map[FaultKind]valueForm{
		Latency: {duration: true, required: true}, TokenExpired: {number: true}, ResetBefore: none, Hang: none,
		ErrorBefore: status(503), Throttled: {duration: true}, TooEarly: none, Redirect: status(307), Refuse: status(422),
		LostAnswer: none, HangAfter: none, ErrorAfter: status(503), HalfAnswer: none, Endless: none, Garbage: none,
		Answer: {modes: []string{"credit", "failed", "none"}, required: true},
		Fail:   none, PendingFor: {duration: true, required: true}, PendingMore: {number: true, required: true}, Replay: {modes: []string{ReplayConflict, ReplayExisting, ReplayIgnore}, required: true},
		Forget: {number: true, required: true}, Lookup: {modes: []string{"debit", "credit", "none", "capitals"}, required: true},
		Late: {duration: true, required: true}, LookupError: status(503), TokenError: status(503),
		Rescaled: none, WrongAmount: none, WrongAsset: none, WrongProfile: none, WrongRefID: none, WrongCustomer: none,
		SameID: none, Backdated: none, Bare: none, Novel: none, NovelStatus: none,
		Fee: {number: true, required: true}, Relinked: none, Ungrouped: none, WrongTotal: none, Lacking: {modes: []string{"total", "fee", "status", "created_at", "updated_at"}, required: true}, CreditFailed: none, DebitFailed: none, Versions: none, Unreadable: none, Liberties: none,
	}
}

// FaultKinds lists every kind, in the order of their names.
func FaultKinds() []FaultKind {
	var kinds []FaultKind
	for kind := range forms() {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	return kinds
}

// FaultModes lists what the Mode of a kind may be; none where it has none.
func FaultModes(kind FaultKind) []string { return slices.Clone(forms()[kind].modes) }

// ParseFault reads a fault from its text form: the name of a kind, and behind = its values,
// separated by commas, in any order: a duration such as 20ms, a number or a mode, where the kind
// has one; a chance such as 2%; #3 for the third request to create only; and at the end ref:REF_ID
// for one ref_id only. Examples: latency=20ms, lost-answer=2%, error-after=502,#1,
// replay=409-existing, wrong-amount=ref:rent-2026-11.
func ParseFault(text string) (Fault, error) {
	name, rest, hasRest := strings.Cut(text, "=")
	f := Fault{Kind: FaultKind(name)}
	form, ok := forms()[f.Kind]
	if !ok {
		return Fault{}, fmt.Errorf("unknown fault %q; known are %s", name, joinKinds(FaultKinds()))
	}
	valued := false
	for hasRest {
		var item string
		if refID, ok := strings.CutPrefix(rest, "ref:"); ok {
			if refID == "" {
				return Fault{}, fmt.Errorf("fault %q: ref: names no ref_id", text)
			}
			f.RefID = refID
			break
		}
		item, rest, hasRest = strings.Cut(rest, ",")
		isValue, err := f.parseItem(item, form)
		if err != nil {
			return Fault{}, fmt.Errorf("fault %q: %w", text, err)
		}
		if isValue && valued {
			return Fault{}, fmt.Errorf("fault %q has two values", text)
		}
		valued = valued || isValue
	}
	if form.required && !valued {
		return Fault{}, fmt.Errorf("fault %q needs %s", text, form.describe())
	}
	return f, nil
}

// ParseFaults reads several faults, as [ParseFault] reads one.
func ParseFaults(texts ...string) (Faults, error) {
	faults := make(Faults, 0, len(texts))
	for _, text := range texts {
		f, err := ParseFault(text)
		if err != nil {
			return nil, err
		}
		faults = append(faults, f)
	}
	return faults, nil
}

// parseItem reads one of the items and reports whether it is the value of the kind.
func (f *Fault) parseItem(item string, form valueForm) (isValue bool, err error) {
	if chance, ok := strings.CutSuffix(item, "%"); ok {
		percent, err := strconv.ParseFloat(chance, 64)
		if err != nil || !(percent > 0 && percent <= 100) || f.Percent != 0 {
			return false, fmt.Errorf("%q is not one chance over 0%% and up to 100%%", item)
		}
		f.Percent = percent
		return false, nil
	}
	if nth, ok := strings.CutPrefix(item, "#"); ok {
		if f.Nth, err = strconv.Atoi(nth); err != nil || f.Nth < 1 {
			return false, fmt.Errorf("%q is not the number of a request such as #1", item)
		}
		return false, nil
	}
	switch {
	case form.duration:
		if f.Duration, err = time.ParseDuration(item); err == nil && f.Duration >= 0 {
			return true, nil
		}
	case form.number:
		if f.Number, err = strconv.Atoi(item); err == nil && f.Number > 0 && (form.standard == 0 || 200 <= f.Number && f.Number <= 599) {
			return true, nil
		}
	case slices.Contains(form.modes, item):
		f.Mode = item
		return true, nil
	}
	return false, fmt.Errorf("%q is not %s", item, form.describe())
}

func (v valueForm) describe() string {
	value := "a chance such as 2%, a request such as #1, or ref:REF_ID"
	switch {
	case v.duration:
		return "a duration such as 20ms, " + value
	case v.standard != 0:
		return "an HTTP status, " + value
	case v.number:
		return "a number from 1, " + value
	case v.modes != nil:
		return "one of " + strings.Join(v.modes, ", ") + ", " + value
	}
	return value
}

// String is the text form that ParseFault reads.
func (f Fault) String() string {
	var items []string
	form := forms()[f.Kind]
	switch {
	case form.duration && (f.Duration != 0 || form.required):
		items = append(items, f.Duration.String())
	case form.number && f.Number != 0:
		items = append(items, strconv.Itoa(f.Number))
	case f.Mode != "":
		items = append(items, f.Mode)
	}
	if f.Percent != 0 {
		items = append(items, strconv.FormatFloat(f.Percent, 'f', -1, 64)+"%")
	}
	if f.Nth != 0 {
		items = append(items, "#"+strconv.Itoa(f.Nth))
	}
	if f.RefID != "" {
		items = append(items, "ref:"+f.RefID)
	}
	if items == nil {
		return string(f.Kind)
	}
	return string(f.Kind) + "=" + strings.Join(items, ",")
}

func joinKinds(kinds []FaultKind) string {
	names := make([]string, len(kinds))
	for i, kind := range kinds {
		names[i] = string(kind)
	}
	return strings.Join(names, ", ")
}
