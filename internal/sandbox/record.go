package sandbox

import (
	"encoding/json"
	"maps"
	"strings"
	"time"

	"github.com/shopspring/decimal"

	"remit/internal/transfer"
)

// record is a transfer record as it is answered: Transfer in docs/openapi.yaml, which
// has what concerns the two operations.
type record struct {
	ID         string `json:"id"`
	CustomerID string `json:"customer_id"`
	ProfileID  string `json:"profile_id"`
	Amount     string `json:"amount"`
	Total      string `json:"total"`
	Fee        string `json:"fee"`
	Asset      string `json:"asset"`
	Direction  string `json:"direction"`
	Type       string `json:"type"`
	Status     string `json:"status"`
	CreatedAt  string `json:"created_at"`
	UpdatedAt  string `json:"updated_at"`

	IdentityID      string          `json:"identity_id,omitempty"`
	AccountID       string          `json:"account_id,omitempty"`
	RefID           string          `json:"ref_id,omitempty"`
	BalanceAsset    string          `json:"balance_asset,omitempty"`
	Metadata        json.RawMessage `json:"metadata,omitempty"`
	CryptoNetwork   string          `json:"crypto_network,omitempty"`
	AutoConversion  json.RawMessage `json:"auto_conversion,omitempty"`
	GroupID         string          `json:"group_id,omitempty"`
	SecondaryStatus json.RawMessage `json:"secondary_status,omitempty"`
	StatusDetails   json.RawMessage `json:"status_details,omitempty"`
	SettlementLayer json.RawMessage `json:"settlement_layer,omitempty"` // of [Novel]; nobody documents it
}

const failedDetails = `{"max_rent_exceeded":{"message":"This sandbox was told to cancel the transfer.","destination_address":""}}`

// failedStage is the secondary_status of a FAILED transfer.
const failedStage = `{"stage":"settlement"}`

// record is the truth about a leg.
func (s *Sandbox) record(l leg) record {
	now := s.options.Now()
	updated := l.created
	if !now.Before(l.pendingUntil) && l.pendingUntil.After(updated) {
		updated = l.pendingUntil
	}
	r := record{
		ID: l.id, CustomerID: s.ledger.customerID, ProfileID: l.profileID,
		Amount: l.amount, Total: l.amount, Fee: "0", Asset: l.asset,
		Direction: string(l.direction), Type: string(s.options.Operator.RecordType(l.operation, l.direction)),
		Status: string(l.status(now)), CreatedAt: timestamp(l.created), UpdatedAt: timestamp(updated),
		IdentityID: l.identityID, AccountID: l.accountID, RefID: l.refID, BalanceAsset: l.asset,
		Metadata: l.metadata, AutoConversion: json.RawMessage("{}"), GroupID: l.groupID,
	}
	if l.status(now) == transfer.Failed {
		r.StatusDetails = json.RawMessage(failedDetails)
		r.SecondaryStatus = json.RawMessage(failedStage)
	}
	return r
}

func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// distort is what a record becomes under faults.
func (r record) distort(e effects) record {
	return r.distortMovement(e).distortSums(e).distortWhole(e).distortForm(e)
}

// distortMovement has the record tell of another movement of money: its amount, asset, profile, ref_id or status.
func (r record) distortMovement(e effects) record {
	if e.has(Rescaled) {
		r.Amount, r.Total = rescale(r.Amount), rescale(r.Total)
	}
	if e.has(WrongAmount) {
		r.Amount = decimal.RequireFromString(r.Amount).Add(decimal.NewFromInt(1)).String()
		r.Total = r.Amount
	}
	if e.has(WrongAsset) {
		r.Asset = map[bool]string{true: "USD", false: "EUR"}[r.Asset == "EUR"]
		r.BalanceAsset = r.Asset
	}
	if e.has(WrongProfile) {
		r.ProfileID = uuidOf(0, 0, "a profile that nobody named")
	}
	if e.has(WrongRefID) && r.RefID != "" {
		r.RefID += "-other"
	}
	isCredit := r.Direction == string(transfer.Credit)
	if (e.has(CreditFailed) && isCredit || e.has(DebitFailed) && !isCredit) && r.Status == string(transfer.Completed) {
		r = r.failed()
	}
	return r
}

// failed is the record as if its side had FAILED.
func (r record) failed() record {
	r.Status = string(transfer.Failed)
	r.StatusDetails, r.SecondaryStatus = json.RawMessage(failedDetails), json.RawMessage(failedStage)
	return r
}

// older is an earlier copy of the record, which was FAILED then.
func (r record) older() record {
	r = r.failed()
	created, err := time.Parse(time.RFC3339, r.CreatedAt)
	if err != nil {
		panic(err) // timestamp made it
	}
	r.UpdatedAt = timestamp(created.Add(-time.Second))
	return r
}

// distortSums links the record to another group or to none, adds it up wrongly, takes a fee, or leaves out what the
// service always says.
func (r record) distortSums(e effects) record {
	if e.has(Relinked) {
		r.GroupID = uuidOf(0, 0, "another group")
	}
	if e.has(Ungrouped) {
		r.GroupID = ""
	}
	if e.has(WrongTotal) {
		r.Total = "99" + r.Total
	}
	switch e[Lacking].Mode {
	case "total":
		r.Total = ""
	case "fee":
		r.Fee = ""
	case "status":
		r.Status = ""
	case "created_at":
		r.CreatedAt = ""
	case "updated_at":
		r.UpdatedAt = ""
	}
	if e.has(Fee) && r.Status != string(transfer.Pending) {
		fee := decimal.NewFromInt(int64(e[Fee].Number))
		r.Fee, r.Total = fee.String(), decimal.RequireFromString(r.Amount).Add(fee).String()
	}
	return r
}

// distortWhole has the record be that of another customer, of another transfer, or of another time.
func (r record) distortWhole(e effects) record {
	if e.has(WrongCustomer) {
		r.CustomerID = uuidOf(0, 0, "another customer")
	}
	if e.has(SameID) {
		r.ID = uuidOf(0, 0, "one for all")
	}
	if e.has(Backdated) {
		created, err := time.Parse(time.RFC3339, r.CreatedAt)
		if err != nil {
			panic(err) // timestamp made it
		}
		r.CreatedAt = timestamp(created.Add(-time.Hour))
	}
	return r
}

// distortForm is distort for a record that says nothing wrong, but in an unexpected form.
func (r record) distortForm(e effects) record {
	if e.has(Liberties) {
		r = r.takeLiberties()
	}
	if e.has(Bare) {
		r.IdentityID, r.AccountID, r.RefID, r.BalanceAsset, r.GroupID = "", "", "", "", ""
		r.Metadata, r.AutoConversion, r.SecondaryStatus, r.StatusDetails = nil, nil, nil, nil
	}
	if e.has(Novel) {
		r.CryptoNetwork = "NETWORK_OF_TOMORROW"
		r.SettlementLayer = json.RawMessage(`{"name":"tomorrow","hops":[1,2]}`)
	}
	if e.has(NovelStatus) {
		r.Status = "SETTLING"
	}
	return r
}

func rescale(amount string) string {
	whole, fraction, _ := strings.Cut(amount, ".")
	return whole + "." + fraction + strings.Repeat("0", max(0, 8-len(fraction)))
}

// shown reports whether a lookup shows a leg under its faults.
func (s *Sandbox) shown(l leg, e effects) bool {
	if e.has(Late) && s.options.Now().Before(l.created.Add(e[Late].Duration)) {
		return false
	}
	switch e[Lookup].Mode {
	case "debit":
		return l.direction == transfer.Debit
	case "credit":
		return l.direction == transfer.Credit
	case "none":
		return false
	}
	return true
}

// takeLiberties is the record as the service's document allows it, in every field that it leaves open.
func (r record) takeLiberties() record {
	r.Amount, r.Total, r.Fee = shortest(r.Amount), shortest(r.Total), shortest(r.Fee)
	if r.Direction == string(transfer.Credit) {
		r.RefID = ""
	}
	var pairs map[string]string
	if json.Unmarshal(r.Metadata, &pairs) == nil {
		maps.DeleteFunc(pairs, func(_, value string) bool { return value == "" })
		r.Metadata = encodeMetadata(transfer.NewMetadata(pairs))
	}
	return r
}

// shortest is a number without zeros at either end: .5 for 0.50, and .0 for 0.
func shortest(number string) string {
	if strings.Contains(number, ".") {
		number = strings.TrimRight(strings.TrimRight(number, "0"), ".")
	}
	if number = strings.TrimLeft(number, "0"); number == "" {
		return ".0"
	}
	return number
}
