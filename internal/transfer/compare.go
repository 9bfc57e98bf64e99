package transfer

import (
	"maps"
	"slices"
)

// Difference is one field on which a request and a record disagree.
type Difference struct {
	Field    string `json:"field"`    // the record's field, such as "amount" or "metadata.employee"
	Asked    string `json:"asked"`    // "" where nothing was asked
	Answered string `json:"answered"` // "" where nothing was answered
}

// Compare names each field of rec that disagrees with what req asked for, always in
// the same order. Optional fields are compared when present, amounts as numbers, parties as [IsSameParty] does. A record of the
// credit side is compared with the destination, any other with the sender. No difference in
// a credit record says nothing about the debit: see [Examine].
func Compare(req Request, rec Record, operator Operator) []Difference {
	side, profile, identity, account := Debit, req.FromProfileID, req.FromIdentityID, req.FromAccountID
	metadata := req.SentMetadata()
	if isCreditSide(req, rec, operator) {
		side, profile, identity, account = Credit, req.ToProfileID, req.ToIdentityID, req.ToAccountID
		if req.Operation == Platform {
			metadata = req.RecipientMetadata
		}
	}
	var c comparison
	c.party("profile_id", profile, rec.ProfileID)
	if !SameNumber(req.Amount.String(), rec.Amount) {
		c.differ("amount", req.Amount.String(), rec.Amount)
	}
	c.text("asset", req.Asset, rec.Asset)
	c.text("direction", string(side), string(rec.Direction))
	c.text("type", string(operator.RecordType(req.Operation, side)), string(rec.Type))
	c.presentParty("identity_id", identity, rec.IdentityID)
	c.presentParty("account_id", account, rec.AccountID)
	c.present("ref_id", req.RefID, rec.RefID)
	c.present("balance_asset", req.Asset, rec.BalanceAsset)
	c.metadata(metadata, rec.Metadata)
	return c.differences
}

// isCreditSide reports whether rec presents itself as the credit side in both fields that
// say so; a record at odds with itself is compared as a debit and fails.
func isCreditSide(req Request, rec Record, operator Operator) bool {
	return rec.Direction == Credit && rec.Type == operator.RecordType(req.Operation, Credit)
}

type comparison struct{ differences []Difference }

func (c *comparison) differ(field, asked, answered string) {
	c.differences = append(c.differences, Difference{field, asked, answered})
}

func (c *comparison) text(field, asked, answered string) {
	if asked != answered {
		c.differ(field, asked, answered)
	}
}

// present compares an optional field: only where both sides name a value.
func (c *comparison) present(field, asked, answered string) {
	if asked != "" && answered != "" {
		c.text(field, asked, answered)
	}
}

// party compares IDs of parties: a service may answer a UUID in its usual spelling, whatever spelling was asked, and
// names the same party by it.
func (c *comparison) party(field, asked, answered string) {
	if !IsSameParty(asked, answered) {
		c.differ(field, asked, answered)
	}
}

// presentParty is party where both sides name one.
func (c *comparison) presentParty(field, asked, answered string) {
	if asked != "" && answered != "" {
		c.party(field, asked, answered)
	}
}

// metadata compares echoed pairs. A service that echoes nothing says so by no object, or by an empty
// one. A pair without a value, with an empty one and no pair are one thing.
func (c *comparison) metadata(asked Metadata, answered map[string]string) {
	if len(answered) == 0 || isSameMetadata(asked, answered) {
		return
	}
	keys := slices.Collect(maps.Keys(answered))
	for _, p := range asked {
		if _, ok := answered[p.Key]; !ok {
			keys = append(keys, p.Key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		want, _ := asked.Get(key)
		if got := answered[key]; want != got {
			c.differ("metadata."+key, want, got)
		}
	}
}

// isSameMetadata tells the usual case without a list of differences.
func isSameMetadata(asked Metadata, answered map[string]string) bool {
	for key, got := range answered {
		if want, _ := asked.Get(key); want != got {
			return false
		}
	}
	return !slices.ContainsFunc(asked, func(p Pair) bool { return answered[p.Key] != p.Value })
}

// Finding is what the records under one ref_id say about one request.
type Finding struct {
	// Debit decides; nil where no record of the debit side was found.
	Debit *Record
	// Credit is the other side of the same group_id, where it was found.
	Credit *Record
	// Differences are empty where all that was found agrees.
	Differences []Difference
	// DestinationProven says that the records name the destination that was asked for,
	// by a credit record or by the echoed fingerprint.
	DestinationProven bool
}

// Agrees reports whether a debit record was found and nothing differs.
func (f Finding) Agrees() bool { return f.Debit != nil && len(f.Differences) == 0 }

// Examine compares all records found under the ref_id of req with it. A debit record
// decides; a credit record of the same group_id proves the destination, unless it FAILED and the
// debit did not; a credit record alone that agrees proves nothing. Records of more than one
// transfer disagree: the difference then is in "group_id" or "id", and one that [Difference.IsSeveral] says how many did not fail. So do a debit that FAILED and a
// credit that did not, see [ContradictSides]. Of several copies of one record the newest counts;
// where nothing tells which is newer and one is COMPLETED and another FAILED, the difference is in "status".
// A difference that both sides have is listed once.
func Examine(req Request, records []Record, operator Operator) Finding {
	var f Finding
	var c comparison
	records = WithoutIncome(req, records, operator)
	if own, foreign := Own(req, records, operator); len(own) == 0 && len(foreign) > 0 && foreign[0].Direction == Credit {
		f.Differences = []Difference{ofForeign(foreign)}
		return f
	}
	for i := range records {
		rec := &records[i]
		c.differences = append(c.differences, Compare(req, *rec, operator)...)
		seen := &f.Debit
		if isCreditSide(req, *rec, operator) {
			seen = &f.Credit
		}
		if *seen != nil && (*seen).ID != rec.ID {
			c.differ("id", (*seen).ID, rec.ID)
			continue
		}
		if *seen == nil {
			*seen = rec
			continue
		}
		before, now := (*seen).Version(), rec.Version()
		if now.Contradicts(before) {
			c.differ("status", string((*seen).Status), string(rec.Status))
		}
		if now.Compare(before) > 0 {
			*seen = rec
		}
	}
	if d, ok := several(req, records, operator); ok {
		c.differences = append(c.differences, d)
	}
	linked := false
	if f.Debit != nil && f.Credit != nil {
		c.present("group_id", f.Debit.GroupID, f.Credit.GroupID)
		c.differences = append(c.differences, ContradictSides(f.Debit, f.Credit)...)
		arrived := f.Credit.Status != Failed || f.Debit.Status == Failed
		linked = arrived && f.Debit.GroupID != "" && f.Debit.GroupID == f.Credit.GroupID
	}
	for _, d := range c.differences {
		if !slices.Contains(f.Differences, d) {
			f.Differences = append(f.Differences, d)
		}
	}
	f.DestinationProven = f.Agrees() && (linked || echoesFingerprint(req, f.Debit))
	return f
}

func echoesFingerprint(req Request, rec *Record) bool {
	return req.FingerprintKey != "" && rec.Metadata[req.FingerprintKey] == req.Fingerprint().String()
}

// CompareCopies names each field on which a newer copy of a record contradicts an older one.
// The fields that a service changes as it goes on are not compared: status, fee and total, times,
// and the explanation of the status. Amounts are compared as numbers, parties as [IsSameParty] does, optional fields
// where both copies have them. Asked is the older value.
func CompareCopies(older, newer Record) []Difference {
	var c comparison
	c.text("id", older.ID, newer.ID)
	c.text("customer_id", older.CustomerID, newer.CustomerID)
	c.party("profile_id", older.ProfileID, newer.ProfileID)
	if older.Amount != newer.Amount && !SameNumber(older.Amount, newer.Amount) {
		c.differ("amount", older.Amount, newer.Amount)
	}
	c.text("asset", older.Asset, newer.Asset)
	c.text("direction", string(older.Direction), string(newer.Direction))
	c.text("type", string(older.Type), string(newer.Type))
	c.presentParty("identity_id", older.IdentityID, newer.IdentityID)
	c.presentParty("account_id", older.AccountID, newer.AccountID)
	c.present("ref_id", older.RefID, newer.RefID)
	c.present("balance_asset", older.BalanceAsset, newer.BalanceAsset)
	c.present("group_id", older.GroupID, newer.GroupID)
	if older.Metadata != nil {
		c.metadata(NewMetadata(older.Metadata), newer.Metadata)
	}
	return c.differences
}
