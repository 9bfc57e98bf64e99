package planner

import (
	"fmt"
	"slices"
	"strings"

	"remit/config"
	"remit/internal/confusable"
	"remit/internal/transfer"
)

// mixedScripts marks a declared transfer in whose texts letters of one script may pose as those
// of another; nil where there are none. Transfers with such letters in the same fields have
// equal signals, so that a change stays packed.
func mixedScripts(t *config.Transfer) []Signal {
	r := &t.Request
	var fields []string
	look := func(field, text string) {
		if !transfer.Plain(text) && confusable.Mixed(text) {
			fields = append(fields, field)
		}
	}
	look("ref_id", r.RefID)
	look("address", t.Address)
	look("batch", t.Batch)
	look("from_profile_id", r.FromProfileID)
	look("from_identity_id", r.FromIdentityID)
	look("from_account_id", r.FromAccountID)
	look("to_profile_id", r.ToProfileID)
	look("to_identity_id", r.ToIdentityID)
	look("to_account_id", r.ToAccountID)
	look("asset", r.Asset)
	for _, pairs := range []transfer.Metadata{r.Metadata, r.RecipientMetadata} {
		for i := range pairs {
			look("metadata", pairs[i].Key)
			look("metadata", pairs[i].Value)
		}
	}
	if fields == nil {
		return nil
	}
	return []Signal{{
		Kind:   MixedScripts,
		Detail: fmt.Sprintf("letters that may pass for those of another script, in %s", strings.Join(slices.Compact(fields), ", ")),
	}}
}
