package transfer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Direction is the side of a transfer that a record describes.
type Direction string

// The two sides.
const (
	Debit  Direction = "DEBIT"
	Credit Direction = "CREDIT"
)

// Known reports whether the document lists d.
func (d Direction) Known() bool { return d == Debit || d == Credit }

// RecordStatus is the service's own status of a transfer.
type RecordStatus string

// The statuses that the service's document lists.
const (
	Pending   RecordStatus = "PENDING"
	Completed RecordStatus = "COMPLETED"
	Failed    RecordStatus = "FAILED"
)

// Final reports whether the service is done with a transfer of this status. One that the
// document does not list is not final.
func (s RecordStatus) Final() bool { return s == Completed || s == Failed }

// NoStatus stands for the status of a record that has none. The document requires one.
const NoStatus RecordStatus = "(none)"

// Known reports whether the document lists s.
func (s RecordStatus) Known() bool { return s == Pending || s == Completed || s == Failed }

// Own is a copy of s that keeps nothing else in memory: the status of a record that was read is a part of its text.
func (s RecordStatus) Own() RecordStatus {
	for _, known := range []RecordStatus{Completed, Pending, Failed} {
		if s == known {
			return known
		}
	}
	return RecordStatus(strings.Clone(string(s)))
}

// RecordType is what kind of transfer a record describes. Values that the document does not
// list are tolerated and kept.
type RecordType string

// RecordTypes lists the types of the service's document, in its order.
func RecordTypes() []RecordType {
	return []RecordType{
		"INTERNAL_TRANSFER_DEBIT", "INTERNAL_TRANSFER_CREDIT", "CRYPTO_DEPOSIT", "CRYPTO_WITHDRAWAL",
		"WIRE_DEPOSIT", "WIRE_WITHDRAWAL", "SEN_DEPOSIT", "SEN_WITHDRAWAL", "BANK_DEPOSIT", "BANK_WITHDRAWAL",
		"PLATFORM_TRANSFER_DEBIT", "PLATFORM_TRANSFER_CREDIT", "SIGNET_DEPOSIT", "SIGNET_WITHDRAWAL",
		"CBIT_WITHDRAWAL", "CBIT_DEPOSIT", "CUBIX_DEPOSIT", "CUBIX_WITHDRAWAL",
	}
}

// IsRail reports whether the document lists the type as one of a deposit or a withdrawal: money that came from
// outside of the service or left for it, which is no transfer of either operation. Small letters are taken for large ones.
func (t RecordType) IsRail() bool {
	t = RecordType(strings.ToUpper(string(t)))
	isRail := strings.HasSuffix(string(t), "_DEPOSIT") || strings.HasSuffix(string(t), "_WITHDRAWAL")
	return isRail && slices.Contains(RecordTypes(), t)
}

// CryptoNetwork is the network of a crypto transfer. Values that the document does not list
// are tolerated and kept.
type CryptoNetwork string

// CryptoNetworks lists the networks of the service's document, in its order.
func CryptoNetworks() []CryptoNetwork {
	return []CryptoNetwork{
		"BITCOIN", "ETHEREUM", "BITCOIN_CASH", "LITECOIN", "SOLANA", "POLYGON_POS", "BASE", "ARBITRUM_ONE", "INK",
	}
}

// Record is one side of one transfer as the service keeps it: every field of the service's document.
// Optional fields that were absent, null or "" are zero. So are total, fee and both times, which the
// document requires, and Status is [NoStatus]: what falls short in them is a record all the same, and
// [Shortcomings] names it.
type Record struct {
	ID         string
	CustomerID string
	ProfileID  string
	Amount     string // numeric format not shown; compare with [SameNumber]
	Total      string
	Fee        string
	Asset      string
	Direction  Direction
	Type       RecordType
	Status     RecordStatus
	CreatedAt  time.Time
	UpdatedAt  time.Time

	IdentityID         string
	AccountID          string
	RefID              string
	BalanceAsset       string
	Metadata           map[string]string // nil where absent, empty where {}
	DestinationAddress string
	CryptoNetwork      CryptoNetwork
	CryptoTxHash       string
	CryptoTxIndex      string
	AutoConversion     json.RawMessage
	GroupID            string
	FiatAccountID      string
	SecondaryStatus    json.RawMessage
	NotionalValue      string
	Memo               string
	StatusDetails      json.RawMessage

	// Raw is the record as it came, unknown fields included.
	Raw json.RawMessage

	// AnsweredAt is the Date of the service's answer in which the record came: what its clock said
	// then. It is no part of the record, and zero where the answer had none and in a file.
	AnsweredAt time.Time
}

// ParseRecord reads one JSON object. It is an error if a field that says which transfer it is (id, customer_id,
// profile_id, amount, asset, direction, type) is absent, null or empty, a field is there twice or, times and
// status apart, has another JSON type than documented, or anything follows the object. Names are compared exactly.
// Unknown fields and enumeration values are kept. The error names fields and no values.
func ParseRecord(raw []byte) (Record, error) {
	if TooDeep(raw) {
		return Record{}, fmt.Errorf("read transfer record: it is nested more than %d levels deep", nestMax)
	}
	return ParseKept(raw)
}

// ParseKept is [ParseRecord] for a record that a journal has: an earlier version kept what is nested deeper.
func ParseKept(raw []byte) (Record, error) {
	raw = bytes.Clone(raw)
	var room [membersUsual]member
	members, err := parseObject(raw, room[:0])
	if err != nil {
		return Record{}, fmt.Errorf("read transfer record: %w", err)
	}
	p := recordParser{members: members, wrong: new(mistakes)}
	r := Record{
		ID:         p.required("id"),
		CustomerID: p.required("customer_id"),
		ProfileID:  p.required("profile_id"),
		Amount:     p.required("amount"),
		Total:      p.optional("total"),
		Fee:        p.optional("fee"),
		Asset:      p.required("asset"),
		Direction:  Direction(p.required("direction")),
		Type:       RecordType(p.required("type")),
		Status:     p.status("status"),
		CreatedAt:  p.timestamp("created_at"),
		UpdatedAt:  p.timestamp("updated_at"),

		IdentityID:         p.optional("identity_id"),
		AccountID:          p.optional("account_id"),
		RefID:              p.optional("ref_id"),
		BalanceAsset:       p.optional("balance_asset"),
		Metadata:           p.pairs("metadata"),
		DestinationAddress: p.optional("destination_address"),
		CryptoNetwork:      CryptoNetwork(p.optional("crypto_network")),
		CryptoTxHash:       p.optional("crypto_tx_hash"),
		CryptoTxIndex:      p.optional("crypto_tx_index"),
		AutoConversion:     p.object("auto_conversion"),
		GroupID:            p.optional("group_id"),
		FiatAccountID:      p.optional("fiat_account_id"),
		SecondaryStatus:    p.object("secondary_status"),
		NotionalValue:      p.optional("notional_value"),
		Memo:               p.optional("memo"),
		StatusDetails:      p.object("status_details"),

		Raw: bytes.TrimSpace(raw),
	}
	if len(*p.wrong) > 0 {
		return Record{}, fmt.Errorf("read transfer record: %s", strings.Join(*p.wrong, "; "))
	}
	return r, nil
}

// recordParser picks fields by their exact names and collects their mistakes, in words.
type recordParser struct {
	members []member
	wrong   *mistakes // apart, so that members can lie on the stack
}

// mistakes are those of a record, in words.
type mistakes []string

func (m *mistakes) add(format string, name string) { *m = append(*m, fmt.Sprintf(format, name)) }

// find is the member of a name; nil where there is none.
func (p *recordParser) find(name string) *member {
	for i := range p.members {
		if p.members[i].name == name {
			return &p.members[i]
		}
	}
	return nil
}

func (p *recordParser) optional(name string) string {
	m := p.find(name)
	switch {
	case m == nil:
		return ""
	case m.isText:
		return m.text
	}
	var value string
	p.decode(name, &value)
	return value
}

func (p *recordParser) required(name string) string {
	before := len(*p.wrong)
	value := p.optional(name)
	if value == "" && len(*p.wrong) == before {
		p.wrong.add("the required field %s is missing or empty", name)
	}
	return value
}

// text is the member of a name where it is a string, else "": another type is no mistake.
func (p *recordParser) text(name string) string {
	quiet := recordParser{members: p.members, wrong: new(mistakes)}
	return quiet.optional(name)
}

// timestamp is zero where there is none that can be read.
func (p *recordParser) timestamp(name string) time.Time {
	t, err := time.Parse(time.RFC3339, strings.ToUpper(p.text(name))) // T and Z may be small (RFC 3339, section 5.6)
	if year := t.UTC().Year(); err != nil || year > lastYear || year < 1 {
		return time.Time{}
	}
	return t
}

// lastYear is that of a time that RFC 3339 can write. With its offset a time may be one of the year after it in UTC: some programs
// answer their last moment for one that they do not know.
const lastYear = 9999

func (p *recordParser) status(name string) RecordStatus {
	return cmp.Or(RecordStatus(p.text(name)), NoStatus)
}

func (p *recordParser) pairs(name string) map[string]string {
	m := p.find(name)
	if m == nil {
		return nil
	}
	var room [MetadataPairsMax]member
	if inner, ok := scanObject(m.raw, string(m.raw), room[:0]); ok {
		if value, ok := texts(inner); ok {
			return value
		}
	}
	var value map[string]string
	p.decode(name, &value)
	return value
}

// texts are members of which each is a string; the last of those with one name counts, as package
// json has it.
func texts(members []member) (map[string]string, bool) {
	value := make(map[string]string, len(members))
	for _, m := range members {
		if !m.isText {
			return nil, false
		}
		value[m.name] = m.text
	}
	return value, true
}

func (p *recordParser) object(name string) json.RawMessage {
	m := p.find(name)
	if m == nil || string(m.raw) == "null" {
		return nil
	}
	if m.raw[0] != '{' {
		p.decode(name, new(map[string]json.RawMessage)) // in the words of all others
		return nil
	}
	return m.raw
}

func (p *recordParser) decode(name string, into any) {
	m := p.find(name)
	if m == nil {
		return
	}
	if err := json.Unmarshal(m.raw, into); err != nil {
		p.wrong.add("field %s has an unexpected JSON type", name)
	}
}
