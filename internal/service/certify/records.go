package certify

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"remit/executor"
	"remit/internal/service/contract"
	"remit/internal/transfer"
)

// fieldRows are the rows of the fields that are compared.
func fieldRows() map[string]string {
	return map[string]string{
		"amount": contract.Amount, "asset": contract.Asset, "balance_asset": contract.Asset,
		"profile_id": contract.Profile, "identity_id": contract.Profile, "account_id": contract.Profile,
		"direction": contract.Side, "type": contract.Type, "ref_id": contract.RefID,
	}
}

func rowOf(field string) string {
	if strings.HasPrefix(field, "metadata.") {
		return contract.Metadata
	}
	return fieldRows()[field]
}

// answered are the attempts that were answered with a record, each of a ref_id's first request from this
// state.
func (j judgement) answered() []attempt {
	var list []attempt
	for _, p := range j.trial.made {
		attempts := j.trial.gate.of(p)
		if !p.other && len(attempts) > 0 && attempts[0].answer.Kind == executor.Answered {
			list = append(list, attempts[0])
		}
	}
	return list
}

func (j judgement) judgeRecords() {
	seen := &ids{ids: make(map[string]string), groups: make(map[string]string), customers: make(map[string]bool)}
	for _, a := range j.answered() {
		j.judgeRecord(a, seen)
	}
	if len(seen.customers) > 1 {
		j.differs(contract.CustomerID, "%d records have %d customer_ids.", len(seen.ids), len(seen.customers))
	}
	j.judgeStatus()
}

// judgeMetadata compares the answered metadata with the sent ones.
func judgeMetadata(s sheet, sent transfer.Metadata, answered map[string]string) {
	if len(answered) == 0 {
		return
	}
	var before, after []string
	for _, p := range sent {
		if answered[p.Key] != p.Value {
			before = append(before, fmt.Sprintf("%s = %q", short(p.Key), short(p.Value)))
		}
	}
	for _, p := range transfer.NewMetadata(answered) {
		if value, isSent := sent.Get(p.Key); p.Value != value || !isSent {
			after = append(after, fmt.Sprintf("%s = %q", short(p.Key), short(p.Value)))
		}
	}
	if len(before)+len(after) > 0 {
		s.differs(contract.Metadata, "Sent: %s. Came back: %s.", orNothing(before), orNothing(after))
	}
}

func orNothing(list []string) string {
	if len(list) == 0 {
		return "nothing else"
	}
	return strings.Join(list, ", ")
}

// ids are the IDs that each record must have to itself, by ref_id.
type ids struct {
	ids, groups map[string]string
	customers   map[string]bool
}

// judgeRecord compares an answered record with its request.
func (j judgement) judgeRecord(a attempt, seen *ids) {
	record := a.answer.Record
	for _, row := range []string{
		contract.Side, contract.Amount, contract.Asset, contract.Profile, contract.Type, contract.Metadata,
		contract.RecordID, contract.GroupID, contract.Total, contract.CreatedAt, contract.CustomerID, contract.RefID, contract.Form,
	} {
		j.holds(row)
	}
	if record.Direction == transfer.Credit {
		j.differs(contract.Side, "The answer is the credit side, of profile %s.", record.ProfileID)
		return // its fields are the other side's
	}
	for _, d := range transfer.Compare(a.request, *record, j.trial.Settings.Operator) {
		if row := rowOf(d.Field); row != contract.Metadata && (row != contract.RefID || !a.isOdd()) {
			j.differsIn(row, d.Field, sentence(describe(d))+".")
		}
	}
	judgeMetadata(j.sheet, a.request.SentMetadata(), record.Metadata)
	noteForm(j.sheet, a.request, record)
	if other, isTaken := seen.ids[record.ID]; isTaken {
		j.differs(contract.RecordID, "The record of %q has the id of that of %q.", a.request.RefID, other)
	}
	seen.ids[record.ID] = a.request.RefID
	switch other, isTaken := seen.groups[record.GroupID]; {
	case record.GroupID == "":
		j.differs(contract.GroupID, "The record has no group_id.")
	case isTaken:
		j.differs(contract.GroupID, "The record of %q has the group_id of that of %q.", a.request.RefID, other)
	}
	seen.groups[record.GroupID] = a.request.RefID
	seen.customers[record.CustomerID] = true
	for _, d := range transfer.Shortcomings(*record) {
		switch {
		case d.Field == "group_id": // told above
		case d.Answered == "":
			j.differsIn(contract.AnswerRecord, d.Field, fmt.Sprintf("The record has no %s.", d.Field))
		case !isOfMoney(d):
			j.differsIn(contract.AnswerRecord, d.Field, fmt.Sprintf("The record's %s is %s, where it must be %s.", d.Field, d.Answered, d.Asked))
		default:
			j.differs(contract.Total, "%s is %s where amount is %s and fee is %s.", d.Field, d.Answered, record.Amount, record.Fee)
		}
	}
	if record.Fee != "" && !transfer.SameNumber(record.Fee, "0") {
		j.note(contract.Total, "The service takes a fee: %s %s.", record.Fee, record.Asset)
	}
	j.judgeTime(a)
}

// isOfMoney reports whether a shortcoming is one of the numbers of a record.
func isOfMoney(d transfer.Difference) bool { return d.Field == "total" || d.Field == "fee" }

// madeSkewMax is how far created_at may be from the time of its own answer, or from the local clock.
const (
	madeSkewMax  = 5 * time.Second
	madeSkewOurs = clockSkewMax
)

func (j judgement) judgeTime(a attempt) {
	record := a.answer.Record
	if record.CreatedAt.IsZero() {
		return
	}
	now, most := record.AnsweredAt, madeSkewMax+a.took
	if now.IsZero() {
		now, most = a.began, madeSkewOurs+a.took
	}
	switch off := now.Sub(record.CreatedAt); {
	case off > most:
		j.differs(contract.CreatedAt, "created_at is %s before the answer.", inWords(off))
	case off < -most:
		j.differs(contract.CreatedAt, "created_at is %s after the answer.", inWords(-off))
	}
}

// noteForm notes liberties that a record takes: its amount in other digits, metadata that is not echoed, fields
// and values that are not documented.
func noteForm(s sheet, asked transfer.Request, record *transfer.Record) {
	if record.Amount != asked.Amount.String() && transfer.SameNumber(record.Amount, asked.Amount.String()) {
		s.note(contract.Amount, "It is written in other digits: %s for %s.", record.Amount, asked.Amount)
	}
	if len(record.Metadata) == 0 {
		s.note(contract.Metadata, "It is not echoed, so that fingerprint_key proves nothing.")
	}
	if record.RefID == "" {
		s.note(contract.RefID, "The record has no ref_id, so only its other fields say whose it is.")
	}
	if names := undocumented(record.Raw); len(names) > 0 {
		s.note(contract.Form, "The records have %s, which the service's document does not list.", strings.Join(names, ", "))
	}
	if n := record.CryptoNetwork; n != "" && !slices.Contains(transfer.CryptoNetworks(), n) {
		s.note(contract.Form, "crypto_network is %q, which the service's document does not list.", n)
	}
}

// documented are the fields of a record in the service's document.
func documented() []string {
	return []string{
		"id", "customer_id", "profile_id", "amount", "total", "fee", "asset", "direction", "type", "status",
		"created_at", "updated_at", "identity_id", "account_id", "ref_id", "balance_asset", "metadata",
		"destination_address", "crypto_network", "crypto_tx_hash", "crypto_tx_index", "auto_conversion", "group_id",
		"fiat_account_id", "secondary_status", "notional_value", "memo", "status_details",
	}
}

func undocumented(raw json.RawMessage) []string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return nil
	}
	var names []string
	for name := range fields {
		if !slices.Contains(documented(), name) {
			names = append(names, fmt.Sprintf("%q", name))
		}
	}
	slices.Sort(names)
	return names
}

// judgeStatus looks at the status of each transfer as it was answered, and as it became.
func (j judgement) judgeStatus() {
	for _, a := range j.answered() {
		if a.isOdd() && j.trial.final.tried || j.trial.isInterrupted && a.answer.Record.Status != transfer.Completed {
			continue // it is looked up by itself, or was not
		}
		answered := a.answer.Record
		now := *answered
		for _, r := range j.trial.final.found[a.request.RefID] {
			if r.Direction == answered.Direction && (r.ID != now.ID || r.Version().Compare(now.Version()) > 0) {
				now = r
			}
		}
		j.holds(contract.Status)
		for _, status := range []transfer.RecordStatus{answered.Status, now.Status} {
			if !status.Known() && status != transfer.NoStatus {
				j.differs(contract.Status, "The status is %q.", status)
			}
		}
		switch {
		case a.refuse:
		case now.Status == transfer.Completed && answered.Status == transfer.Failed:
			j.differs(contract.Completed, "It was FAILED in the answer, and COMPLETED in a later lookup: who pays it anew pays it twice.")
		case now.Status == transfer.Completed && answered.Status != transfer.Completed:
			j.note(contract.Completed, "It was %s in the answer, and COMPLETED in a later lookup.", answered.Status)
		case now.Status == transfer.Completed:
			j.holds(contract.Completed)
		case now.Status == transfer.Failed:
			j.differs(contract.Completed, "The status became FAILED%s.", detailsOf(now))
		case j.trial.Finder == nil:
			j.unknown(contract.Completed, "The answer says %s, and without lookup_path nobody can ask what became of it.", now.Status)
		default:
			j.differs(contract.Completed, "It was still %s after %s.", now.Status, inWords(max(j.trial.final.waited, j.trial.Clock.Now().Sub(a.began))))
		}
	}
}

func detailsOf(r transfer.Record) string {
	const most = 300
	if n := len(r.StatusDetails); n == 0 || n > most {
		return ""
	}
	return ": " + string(r.StatusDetails)
}

// describe names a difference, with values that a person can take in.
func describe(d transfer.Difference) string {
	d.Asked, d.Answered = short(d.Asked), short(d.Answered)
	return executor.Describe([]transfer.Difference{d})
}

// short is the beginning of a long text.
func short(text string) string {
	const most = 40
	if runes := []rune(text); len(runes) > most {
		return fmt.Sprintf("%s… (%d characters)", string(runes[:most]), len(runes))
	}
	return text
}
