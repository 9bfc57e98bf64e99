// Package report adds up the payments of a period, as the state has them: to whom, by which
// runs and with whose approval, and what a person should look at.
//
// Its one invariant: every transfer of the period is in exactly one [Standing] of one asset, and
// every other table (days, batches, destinations) adds up the paid ones, to the last digit.
// The paid, pending, unknown and unverified ones are those of the books, with their fees.
package report

import (
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"remit/internal/clock/zone"
	"remit/internal/transfer"
	"remit/state"
)

// Standing is what the state says became of a transfer.
type Standing string

// The standings, in the order of a table.
const (
	Paid       Standing = "paid"           // the service's record says COMPLETED
	Pending    Standing = "pending"        // recorded; the service has not finished it
	Unknown    Standing = "unknown status" // recorded; the service's own status is one that its document does not list
	Unverified Standing = "unverified"     // recorded, and nothing proves whom it paid
	InDoubt    Standing = "in doubt"
	Conflict   Standing = "conflict"
	Conversion Standing = "in two assets" // the record has two assets and no rate: see [books.CauseConversion]
	Unreadable Standing = "unreadable"    // an amount of the record is no plain decimal
	Failed     Standing = "failed"        // the service's own status is FAILED
	Refused    Standing = "refused"
	NotMade    Standing = "settled as not made"
)

// Standings lists every standing in the order of a table.
func Standings() []Standing {
	return []Standing{Paid, Pending, Unknown, Unverified, InDoubt, Conflict, Conversion, Unreadable, Failed, Refused, NotMade}
}

// IsOpen reports whether a person should look at such a transfer: money moved or may have moved,
// and something about it is not known.
func (s Standing) IsOpen() bool {
	switch s {
	case InDoubt, Conflict, Conversion, Unreadable, Unverified, Unknown:
		return true
	case Paid, Pending, Failed, Refused, NotMade, Late:
	}
	return false
}

// Late is the heading of payments made more than a day after its schedule's occurrence was due.
// It is no standing: it is paid as well.
const Late Standing = "late"

const (
	// TopMax is how many batches, and how many destinations, of an asset are named; the rest is
	// one row.
	TopMax = 20
	// LinesMax is how many transfers of each exception are listed.
	LinesMax = 100
	// RunsMax is how many runs are listed, the newest.
	RunsMax = 200
	// daysMax is the longest period that is added up by day; a longer one is by month.
	daysMax = 62
	// lateBy is how long after its occurrence a transfer is late.
	lateBy = 24 * time.Hour
)

// Period is what a report is about: from From, until before Until, in days of Zone.
type Period struct {
	From, Until time.Time
	Zone        *time.Location
}

// Contains reports whether a time is in the period.
func (p Period) Contains(t time.Time) bool { return !t.Before(p.From) && t.Before(p.Until) }

// Buckets are the beginnings of its days, or of its months where it is longer than two.
func (p Period) Buckets() (starts []time.Time, areMonths bool) {
	from := p.From.In(p.Zone)
	areMonths = p.From.AddDate(0, 0, daysMax).Before(p.Until)
	for at := from; at.Before(p.Until); {
		starts = append(starts, at)
		year, month, day := at.Date()
		if areMonths {
			at = zone.Midnight(year, month+1, 1, p.Zone)
		} else {
			at = zone.Midnight(year, month, day+1, p.Zone)
		}
	}
	return starts, areMonths
}

// Report is what a period comes to.
type Report struct {
	Meta      state.Meta
	Period    Period
	Buckets   []time.Time // beginnings of days or months
	AreMonths bool

	Assets     []Asset                      // in the order of their codes
	Totals     map[Standing]transfer.Totals // with hash totals
	Exceptions map[Standing]*Exceptions     // Paid and NotMade have none
	Older      map[Standing]int             // transfers that are still open or pending from before the period
	Reversals  transfer.Totals              // paid ones that give money back
	BothSides  int                          // paid transfers of which the state has both sides
	Undated    int                          // of which nothing says when they were made; they are in no period
	Runs       []Run                        // those that began in the period, the newest first
	RunCount   int                          // of them all
	Unapproved int                          // runs that recorded something and that nobody approved
}

// Asset is what the period comes to in one asset.
type Asset struct {
	Code      string
	Scale     int32 // decimals of the most precise amount
	Standings map[Standing]Sum
	Fees      map[Standing]Sum // of both sides, where there are any; of what the books have
	Buckets   []Sum            // of the paid ones, one for each bucket of the report

	Batches      []Subtotal // the largest first; at most TopMax, and then one for the rest
	Destinations []Subtotal
}

// Sum is a count and an exact sum.
type Sum struct {
	Count int
	Sum   decimal.Decimal
}

// Subtotal is what one batch or one destination comes to.
type Subtotal struct {
	Name   string // of a batch, "" for none; the profile_id of a destination
	Party  Party  // of a destination
	Others int    // how many are in it, where it is the row of the rest
	Sum
	Buckets map[int]Sum // by bucket of the report, those that are not empty
}

// Party is a destination.
type Party struct{ ProfileID, IdentityID, AccountID string }

// Exceptions are transfers that a person should look at.
type Exceptions struct {
	Totals transfer.Totals
	Lines  []Exception // the oldest first
}

// Exception is one of them.
type Exception struct {
	RefID  string
	Batch  string
	To     Party
	At     time.Time // when it was made, or tried
	Due    time.Time // of a late one
	Asset  string
	Amount decimal.Decimal
	Status state.Status
	Record transfer.RecordStatus
	Reason string
}

// Run is a run that began in the period.
type Run struct {
	state.Run
	Approvers []string // principals whose signatures counted, the author's own left out
}

// Made is how many transfers of a run were recorded or adopted.
func (r Run) Made() int {
	if r.Ended == nil {
		return 0
	}
	return r.Ended.Outcomes["recorded"] + r.Ended.Outcomes["adopted"]
}

// Empty reports whether the period has no transfer at all.
func (r *Report) Empty() bool { return len(r.Assets) == 0 }

// NeedsPerson counts the transfers that a person should look at, those from before the period too.
func (r *Report) NeedsPerson() int {
	count := 0
	for _, s := range Standings() {
		if s.IsOpen() {
			count += r.Totals[s].Count() + r.Older[s]
		}
	}
	return count
}

// OfStanding is the count and the sum of one standing in an asset.
func (a *Asset) OfStanding(s Standing) Sum { return a.Standings[s] }

// approvers are the people besides the author whose signatures counted.
func approvers(b state.Begun) []string {
	var names []string
	for _, a := range b.Approvals {
		if a.Role == state.RoleApprover && !slices.Contains(names, a.Principal) {
			names = append(names, a.Principal)
		}
	}
	return names
}
