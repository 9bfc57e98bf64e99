package transfer

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Shortcomings names what a record does not say as one must that is called recorded: a status, both
// times, a fee, a group_id, and a total that is its amount, its amount plus its fee, or its amount minus its fee. (The
// service's document says so of deposits and withdrawals alone, so all three are tolerated.) Details of a cancellation contradict any
// status but FAILED (section 7 of the document), and a field of a withdrawal contradicts a transfer between profiles.
// A total has no sign that the amount has not. Asked is the expectation, in words. A record that FAILED has none: no money moved. Whether
// another transfer has the group_id, a state knows; see [SharedGroup].
func Shortcomings(rec Record) []Difference {
	if rec.Status == Failed {
		return nil
	}
	var c comparison
	if isSeen := func(c rune) bool { return unicode.IsGraphic(c) && !unicode.IsSpace(c) }; !strings.ContainsFunc(rec.GroupID, isSeen) {
		c.differ(fieldGroup, ownGroup, "")
	}
	if !AddsUp(rec) {
		c.differ(fieldTotal, "amount "+rec.Amount+", or that plus or minus fee "+rec.Fee, rec.Total)
	}
	if _, isNumber := ParseNumber(rec.Fee); !isNumber { // nobody can book it
		c.differ("fee", "a number", rec.Fee)
	}
	if rec.Status == NoStatus {
		c.differ("status", "one of the service's", "")
	}
	if rec.Status != NoStatus && tellsOfCancellation(rec.StatusDetails) {
		c.differ("status_details", "none, as its status is "+string(rec.Status), cancellation)
	}
	c.outside(rec)
	for _, f := range []struct {
		name string
		at   time.Time
	}{{"created_at", rec.CreatedAt}, {"updated_at", rec.UpdatedAt}} {
		if f.at.IsZero() {
			c.differ(f.name, "an RFC 3339 time", writtenAs(rec.Raw, f.name))
		}
	}
	return c.differences
}

// within is the value that is expected of the fields that say that money left the service.
const within = "none, as both operations move money within the service"

// outside names the fields that the service's document has for an address of a blockchain, for crypto transactions and for fiat
// withdrawals alone. crypto_network, crypto_tx_index, notional_value, memo and auto_conversion say by themselves nothing of where money went, or the
// document leaves that open.
func (c *comparison) outside(rec Record) {
	for _, f := range []struct{ name, value string }{
		{"destination_address", rec.DestinationAddress}, {"crypto_tx_hash", rec.CryptoTxHash}, {"fiat_account_id", rec.FiatAccountID},
	} {
		if f.value != "" {
			c.differ(f.name, within, f.value)
		}
	}
}

// writtenMax bounds a value that is no time, in characters.
const writtenMax = 60

// writtenAs is a member of a record as the record has it, cut where it is long; "" where it is missing or null. A text without
// visible characters is in quotation marks: nobody would see it.
func writtenAs(raw json.RawMessage, name string) string {
	var room [membersUsual]member
	members, err := parseObject(raw, room[:0])
	i := slices.IndexFunc(members, func(m member) bool { return m.name == name })
	if err != nil || i < 0 || string(members[i].raw) == "null" {
		return ""
	}
	text := string(members[i].raw)
	var value string
	isBare := func(c rune) bool { return unicode.IsGraphic(c) && !unicode.IsSpace(c) }
	if json.Unmarshal(members[i].raw, &value) == nil && strings.ContainsFunc(value, isBare) {
		text = value
	}
	if cut := []rune(text); len(cut) > writtenMax {
		return string(cut[:writtenMax]) + "…"
	}
	return text
}

// cancellation is the member of status_details that tells of a transfer which the service cancelled.
const cancellation = "max_rent_exceeded"

func tellsOfCancellation(details json.RawMessage) bool {
	var members map[string]json.RawMessage
	if len(details) == 0 || json.Unmarshal(details, &members) != nil {
		return false
	}
	said, isThere := members[cancellation]
	return isThere && string(said) != "null"
}

const (
	fieldGroup = "group_id"
	fieldTotal = "total"
	ownGroup   = "one of its own"
	ownRecord  = "a record of its own"
	ownID      = "an id of its own"
)

// SharedGroup is the shortcoming of a record with a group_id that the transfer of another ref_id has.
func SharedGroup(groupID, refID string) Difference {
	return Difference{fieldGroup, ownGroup, groupID + ", which is recorded under ref_id " + refID}
}

// SharedRecord is the difference of a record that is stored as that of another ref_id's transfer. One record is never
// two transfers, so nobody can accept it.
func SharedRecord(recordID, refID string) Difference {
	return Difference{"id", ownRecord, fmt.Sprintf("%s, which is recorded under ref_id %q", recordID, refID)}
}

// IsSharedRecord reports whether d comes from [SharedRecord].
func (d Difference) IsSharedRecord() bool { return d.Field == "id" && d.Asked == ownRecord }

// IsOfAnother reports whether d says that a record is that of another transfer: it is stored so, is foreign, or has a ref_id that differs in more
// than letters and spaces.
func (d Difference) IsOfAnother() bool {
	return d.IsSharedRecord() || d.IsForeign() || d.Field == "ref_id" && d.Answered != "" && FoldRefID(d.Asked) != FoldRefID(d.Answered)
}

// ReusedID is the difference of a record that names its own transfer, and has the id of the record that is stored of
// another ref_id's: the service gave an id again. A person can accept it.
func ReusedID(recordID, refID string) Difference {
	return Difference{"id", ownID, fmt.Sprintf("%s, which the record of ref_id %q has as well", recordID, refID)}
}

// IsReusedID reports whether d comes from [ReusedID].
func (d Difference) IsReusedID() bool { return d.Field == "id" && d.Asked == ownID }

// BeyondAccepted are the shortcomings in fields that the accepted ones do not have. A credit side that FAILED is more than one that
// was PENDING.
func BeyondAccepted(shortcomings, accepted []Difference) []Difference {
	return slices.DeleteFunc(slices.Clone(shortcomings), func(d Difference) bool {
		return slices.ContainsFunc(accepted, func(a Difference) bool {
			return a.Field == d.Field && (!d.IsOfCredit() || a.Answered == d.Answered)
		})
	})
}

// AddsUp reports whether a record's total is its amount, or that plus or minus its fee.
func AddsUp(rec Record) bool {
	if SameNumber(rec.Total, rec.Amount) {
		return true
	}
	amount, okAmount := ParseNumber(rec.Amount)
	fee, okFee := ParseNumber(rec.Fee)
	total, okTotal := ParseNumber(rec.Total)
	if total.IsNegative() && !amount.IsNegative() {
		return false
	}
	if okAmount && okTotal && total.Equal(amount) {
		return true // of a number with a sign
	}
	return okAmount && okFee && okTotal && (total.Equal(amount.Add(fee)) || total.Equal(amount.Sub(fee)))
}
