package reconcile

import (
	"maps"
	"slices"
	"time"

	"github.com/shopspring/decimal"

	"remit/internal/transfer"
)

// Summary is the result of a reconciliation.
type Summary struct {
	From, Until time.Time // as in [Options]
	Batch       string
	DebitsOnly  bool
	LookedUp    bool

	Records     int       // that were given or found
	First, Last time.Time // the oldest and the newest created_at of them

	Matched, Accepted, Differ int           // transfers of each [Result]
	Breaks                    map[Break]int // transfers that have each
	Gravest                   map[Break]int // transfers of which each is the gravest
	Pending                   int           // of those that match or were accepted, PENDING ones
	// Unknown are, of the same, those of a status that the service's document does not list, by that
	// word; where there are many words, the rest of them together under [UnknownOthers].
	Unknown map[transfer.RecordStatus]int
	// Outside is how many of those that only the state has are older than the first record or
	// newer than the last: the files may cover a part only.
	Outside int

	NotMade     int // transfers that the state says were not made, and that the service does not have
	OutOfPeriod int // transfers and records left out by From and Until
	OtherBatch  int // transfers of the state, and records that it does not know, left out by Batch

	// OtherTypes are records that no operation of remit makes, deposits and withdrawals, and
	// that belong to no ref_id of the state: they are counted and not judged.
	OtherTypes map[transfer.RecordType]int

	// Assets are the totals of every asset, in the order of their codes.
	Assets []AssetTotals

	// Lists are the first items of each break, under the gravest of an item, in the order of
	// ref_ids; at most [Options.ListMax] each.
	Lists map[Break][]Item
	// AcceptedLines are those that differ in what a person has accepted, bounded likewise.
	AcceptedLines []Item
	// MatchedLines are those that match; none unless ListMax is negative.
	MatchedLines []Item

	state, debits, credits, matched transfer.Totals
	listMax                         int
}

// AssetTotals are the count and the exact sum of one asset on both sides. A FAILED transfer moved
// nothing and is not in it.
type AssetTotals struct {
	Asset   string
	State   transfer.Total // what the state says was made, forgotten transfers too, accepted differences as accepted
	Debits  transfer.Total // the debit sides at the service
	Credits transfer.Total // the credit sides at the service
	Matched transfer.Total // what matched or was accepted
}

// Difference is how much more the service debited than the state says was made.
func (a AssetTotals) Difference() decimal.Decimal { return a.Debits.Sum.Sub(a.State.Sum) }

func newSummary(o Options) Summary {
	return Summary{
		From: o.From, Until: o.Until, Batch: o.Batch, DebitsOnly: o.DebitsOnly, LookedUp: o.LookedUp,
		Breaks: make(map[Break]int), Gravest: make(map[Break]int), OtherTypes: make(map[transfer.RecordType]int), Lists: make(map[Break][]Item),
		listMax: o.ListMax,
	}
}

// Agrees reports whether everything matches, or differs only in what a person has accepted, and the
// debits are what the state says. It is true too where there was nothing on either side: see Transfers.
func (s *Summary) Agrees() bool { return s.Differ == 0 && !s.Contradicts() }

// Contradicts reports whether no transfer differs, and yet the debits are not what the state says was made. Each sum is
// of the transfers that were compared, so one of them was taken for a match that it is not.
func (s *Summary) Contradicts() bool {
	return s.Differ == 0 && slices.ContainsFunc(s.Assets, func(a AssetTotals) bool { return !a.Difference().IsZero() })
}

// Transfers is how many were compared.
func (s *Summary) Transfers() int { return s.Matched + s.Accepted + s.Differ }

// addUp makes Assets of the added items.
func (s *Summary) addUp() {
	all := make(map[string]*AssetTotals)
	of := func(asset string) *AssetTotals {
		if all[asset] == nil {
			all[asset] = &AssetTotals{Asset: asset}
		}
		return all[asset]
	}
	for total := range s.state.All() {
		of(total.Asset).State = total
	}
	for total := range s.debits.All() {
		of(total.Asset).Debits = total
	}
	for total := range s.credits.All() {
		of(total.Asset).Credits = total
	}
	for total := range s.matched.All() {
		of(total.Asset).Matched = total
	}
	for _, asset := range slices.Sorted(maps.Keys(all)) {
		s.Assets = append(s.Assets, *all[asset])
	}
}

// took counts a record.
func (s *Summary) took(at time.Time) {
	s.Records++
	if s.First.IsZero() || at.Before(s.First) {
		s.First = at
	}
	if at.After(s.Last) {
		s.Last = at
	}
}

// count counts an item, and keeps it while there is room in its list.
func (s *Summary) count(l *Item) {
	if l.Result != Differs && l.Debit != nil {
		s.countUnfinished(l.Debit.Status)
	}
	switch l.Result {
	case Matched:
		s.Matched++
		if s.listMax < 0 {
			s.MatchedLines = append(s.MatchedLines, l.kept())
		}
	case Accepted:
		s.Accepted++
		if s.hasRoom(s.AcceptedLines) {
			s.AcceptedLines = append(s.AcceptedLines, l.kept())
		}
	case Differs:
		s.Differ++
		for _, b := range l.Breaks {
			s.Breaks[b]++
		}
		s.Gravest[l.Breaks[0]]++
		if l.Has(StateOnly) && s.Records > 0 && (l.At().Before(s.First) || l.At().After(s.Last)) {
			s.Outside++
		}
		if list := s.Lists[l.Breaks[0]]; s.hasRoom(list) {
			s.Lists[l.Breaks[0]] = append(list, l.kept())
		}
	}
}

// UnknownOthers stands for further statuses where more than [unknownMax] are not documented.
const UnknownOthers transfer.RecordStatus = "further statuses"

// unknownMax bounds the words of Summary.Unknown.
const unknownMax = 20

// countUnfinished counts a status of the service's that is neither COMPLETED nor FAILED.
func (s *Summary) countUnfinished(status transfer.RecordStatus) {
	switch {
	case status == transfer.Pending:
		s.Pending++
		return
	case status.Known():
		return
	case s.Unknown == nil:
		s.Unknown = make(map[transfer.RecordStatus]int)
	}
	if _, ok := s.Unknown[status]; !ok && len(s.Unknown) >= unknownMax {
		status = UnknownOthers
	}
	s.Unknown[status]++
}

func (s *Summary) hasRoom(list []Item) bool { return s.listMax < 0 || len(list) < s.listMax }

// add adds an amount, which is a decimal, of any sign, to totals.
func add(totals *transfer.Totals, asset, amount string) {
	if plain, err := transfer.ParseRecorded(amount); err == nil {
		totals.Add(asset, plain)
		return
	}
	sum, ok := transfer.ParseNumber(amount)
	if !ok {
		panic("reconcile: Add let the amount " + amount + " in") // it checked
	}
	totals.AddTotal(transfer.Total{Asset: asset, Count: 1, Sum: sum})
}
