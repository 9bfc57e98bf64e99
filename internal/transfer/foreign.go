package transfer

import (
	"fmt"
	"slices"
	"strings"
)

// ownSide is what a record of another kind of transfer is not.
const ownSide = "a side of this transfer"

// IsForeign reports whether a record under the ref_id of req is surely of another kind of transfer. The service has one
// type of record for all that it moves, and who pays in chooses the ref_id. Foreign is a deposit or a withdrawal, see [RecordType.IsRail]; money
// that came in to the sender, unless it is as much as was sent, and so may be what came back; and a credit side that differs from the request
// in two of its profile, its amount and asset, and its type. A record that differs in one of these alone may be the transfer itself,
// carried out otherwise, and so may one that is a credit by its direction and a debit by its type.
func IsForeign(req Request, rec *Record, operator Operator) bool {
	if rec.Type.IsRail() {
		return true
	}
	if rec.Direction != Credit || strings.HasSuffix(strings.ToUpper(string(rec.Type)), "_DEBIT") {
		return false
	}
	isOtherSum := req.Asset != rec.Asset || !SameNumber(req.Amount.String(), rec.Amount)
	if IsSameParty(req.FromProfileID, rec.ProfileID) {
		return isOtherSum
	}
	differing := 0
	for _, differs := range []bool{
		!IsSameParty(req.ToProfileID, rec.ProfileID),
		isOtherSum,
		rec.Type != operator.RecordType(req.Operation, Credit),
	} {
		if differs {
			differing++
		}
	}
	return differing > 1
}

// Own are the records under the ref_id of req without the foreign ones, and Foreign are these. A record that the group_id links to a debit side of its own,
// or that no group_id tells from one, is no foreign one: the service says that both are one transfer. Own shares the
// memory of records where none is foreign.
func Own(req Request, records []Record, operator Operator) (own, foreign []Record) {
	is := func(rec *Record) bool { return IsForeign(req, rec, operator) }
	if !slices.ContainsFunc(records, func(r Record) bool { return is(&r) }) {
		return records, nil
	}
	for i := range records {
		rec := &records[i]
		isLinked := func(r Record) bool {
			isUntold := (r.GroupID == "" || rec.GroupID == "") && !rec.Type.IsRail()
			return r.Direction == Debit && !is(&r) && (isUntold || r.GroupID != "" && r.GroupID == rec.GroupID)
		}
		if is(rec) && !slices.ContainsFunc(records, isLinked) {
			foreign = append(foreign, *rec)
			continue
		}
		own = append(own, *rec)
	}
	return own, foreign
}

// WithoutIncome are records under the ref_id of req without the foreign ones of money that came in, which say nothing of
// the transfer that its own records tell of. Where there are no others, they are all of them.
func WithoutIncome(req Request, records []Record, operator Operator) []Record {
	own, foreign := Own(req, records, operator)
	for i := range foreign {
		if foreign[i].Direction != Credit {
			own = append(own, foreign[i])
		}
	}
	if len(own) == 0 {
		return records
	}
	return own
}

// ofForeign is the difference of records that are all of money that came in, by the first of them.
func ofForeign(foreign []Record) Difference {
	return Difference{"type", ownSide, DescribeForeign(foreign)}
}

// DescribeForeign says what foreign records are, by the first of them: "WIRE_DEPOSIT of 0.01 USD to profile 37867177…".
func DescribeForeign(foreign []Record) string {
	first := &foreign[0]
	way := "from"
	if first.Direction == Credit {
		way = "to"
	}
	text := fmt.Sprintf("%s of %s %s %s profile %s (id %s)", first.Type, first.Amount, first.Asset, way, first.ProfileID, first.ID)
	if more := len(foreign) - 1; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

// IsForeign reports whether d says that the service has only money that came in under the ref_id.
func (d Difference) IsForeign() bool { return d.Field == "type" && d.Asked == ownSide }

// IsRail reports whether d is the type of a deposit or a withdrawal, in the place of the one that was asked for.
func (d Difference) IsRail() bool { return d.Field == "type" && RecordType(d.Answered).IsRail() }
