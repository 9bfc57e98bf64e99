package planner

import (
	"maps"
	"slices"

	"remit/internal/transfer"
)

// Differences names each field in which two requests ask for something else, in the order
// of the service's document (sections 4.1 and 4.2), with what is declared as Asked and what
// is recorded as Answered. Amounts are compared as numbers. There is none if and only if
// the requests have one fingerprint.
func Differences(declared, recorded transfer.Request) []transfer.Difference {
	var all []transfer.Difference
	field := func(name, asked, answered string) {
		if asked != answered {
			all = append(all, transfer.Difference{Field: name, Asked: asked, Answered: answered})
		}
	}
	field("operation", string(declared.Operation), string(recorded.Operation))
	field("from_profile_id", declared.FromProfileID, recorded.FromProfileID)
	field("to_profile_id", declared.ToProfileID, recorded.ToProfileID)
	if !declared.Amount.Equal(recorded.Amount) {
		field("amount", declared.Amount.String(), recorded.Amount.String())
	}
	field("asset", declared.Asset, recorded.Asset)
	field("ref_id", declared.RefID, recorded.RefID)
	pairs(field, "metadata.", declared.Metadata, recorded.Metadata)
	field("from_identity_id", declared.FromIdentityID, recorded.FromIdentityID)
	field("from_account_id", declared.FromAccountID, recorded.FromAccountID)
	field("to_identity_id", declared.ToIdentityID, recorded.ToIdentityID)
	field("to_account_id", declared.ToAccountID, recorded.ToAccountID)
	pairs(field, "recipient_metadata.", recipientMetadata(declared), recipientMetadata(recorded))
	return all
}

// recipientMetadata are sent, and so compared, on one operation only.
func recipientMetadata(r transfer.Request) transfer.Metadata {
	if r.Operation != transfer.Platform {
		return nil
	}
	return r.RecipientMetadata
}

// pairs compares metadata. A pair with an empty value differs from none: it is sent.
func pairs(field func(name, asked, answered string), prefix string, declared, recorded transfer.Metadata) {
	keys := make(map[string]bool)
	for _, p := range slices.Concat(declared, recorded) {
		keys[p.Key] = true
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		asked, wanted := declared.Get(key)
		answered, found := recorded.Get(key)
		if asked == answered && wanted != found {
			// Both would show as nothing.
			asked, answered = presence(wanted), presence(found)
		}
		field(prefix+key, asked, answered)
	}
}

func presence(there bool) string {
	if there {
		return `""`
	}
	return ""
}

// sameMovement reports whether two requests move the same amount of the same asset from the
// same sender to the same destination: what their twins say in 64 bits.
func sameMovement(a, b *transfer.Request) bool {
	return a.Amount.Equal(b.Amount) && a.Asset == b.Asset && sameParties(a, b)
}
