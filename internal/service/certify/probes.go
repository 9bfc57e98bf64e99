package certify

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"remit/config"
	"remit/internal/transfer"
)

// The names of probes, which end their ref_ids.
const (
	nameMade    = "made"  // made once; its ref_id is then asked for from the other state
	nameAgain   = "again" // sent again at once, and again at the end
	nameLater   = "later" // sent again by a later trial
	nameLower   = "case-a"
	nameUpper   = "case-A"
	nameTooMuch = "too-much"
	nameLong    = "long"
	nameSigns   = "signs"
)

// AmountsMax bounds the amounts of a trial.
const AmountsMax = 10

// signs are the characters in the ref_id of a probe beside plain letters: JSON, addresses and shells read them in a
// way of their own.
const signs = ` a&b=c+d%20e/f?g#h;i,"j'k\l <m>`

// refIDLengthMax is of characters (the language).
const refIDLengthMax = 100

// probes are all that a series asks for, in their order.
func (t *Trial) probes() []*probe {
	var all []*probe
	add := func(p *probe, operation transfer.Operation, amount transfer.Amount, refID string) {
		p.request = t.request(operation, amount, refID)
		all = append(all, p)
	}
	operations := t.operations()
	for _, operation := range operations {
		for i, amount := range t.Amounts {
			name := fmt.Sprintf("%s-%s-%d", nameMade, operation, i+1)
			add(&probe{name: nameMade}, operation, amount, t.series+name)
		}
	}
	operation, amount := operations[0], t.Amounts[0]
	add(&probe{name: nameAgain, keep: true}, operation, amount, t.series+nameAgain)
	add(&probe{name: nameLater, keep: true}, operation, amount, t.series+nameLater)
	long := t.series + nameLong + "-"
	add(&probe{name: nameLong}, operation, amount, long+strings.Repeat("x", refIDLengthMax-len(long)))
	add(&probe{name: nameSigns}, operation, amount, t.series+nameSigns+signs)
	add(&probe{name: nameLower}, operation, amount, t.series+nameLower)
	add(&probe{name: nameUpper}, operation, amount, t.series+nameUpper)
	if !t.TooMuch.IsZero() {
		add(&probe{name: nameTooMuch, refuse: true}, operation, t.TooMuch, t.series+nameTooMuch)
	}
	return append(all, t.others(all)...)
}

// others are requests under ref_ids of made ones from a state that does not know them: one with
// other metadata and the same amount, and one with another amount.
func (t *Trial) others(made []*probe) []*probe {
	words := *made[0]
	words.name, words.other = "other metadata", true
	words.request.Metadata = transfer.NewMetadata(map[string]string{"Certify": "another request"})
	others := []*probe{&words}
	for _, amount := range t.Amounts {
		if amount.Equal(made[0].request.Amount) {
			continue
		}
		amounts := *made[0]
		amounts.name, amounts.other, amounts.request.Amount = "another amount", true, amount
		if len(t.operations())*len(t.Amounts) > 1 {
			amounts.request.RefID = made[1].request.RefID
			amounts.request.Operation, amounts.request.Amount = made[1].request.Operation, t.Amounts[0]
		}
		if amounts.request.Operation == made[0].request.Operation {
			others = append(others, &amounts)
		}
		break
	}
	return others
}

// isOdd reports whether a probe is there for its ref_id, which has rows of its own: its result counts for no
// other row.
func (p *probe) isOdd() bool {
	return slices.Contains([]string{nameLong, nameSigns, nameLower, nameUpper}, p.name)
}

func (t *Trial) operations() []transfer.Operation {
	var operations []transfer.Operation
	if t.To != (Party{}) {
		operations = append(operations, transfer.Internal)
	}
	if t.PlatformTo != (Party{}) {
		operations = append(operations, transfer.Platform)
	}
	return operations
}

// request asks for an amount, with metadata of which a service could keep too little.
func (t *Trial) request(operation transfer.Operation, amount transfer.Amount, refID string) transfer.Request {
	to := t.To
	if operation == transfer.Platform {
		to = t.PlatformTo
	}
	r := transfer.Request{
		Operation: operation, RefID: refID, Amount: amount, Asset: t.Asset,
		FromProfileID: t.From.ProfileID, FromIdentityID: t.From.IdentityID, FromAccountID: t.From.AccountID,
		ToProfileID: to.ProfileID, ToIdentityID: to.IdentityID, ToAccountID: to.AccountID,
		Metadata: transfer.NewMetadata(map[string]string{
			"Certify": "remit certify",
			"Text":    `Ünïcode & "signs" <100%>`,
			"Long":    strings.Repeat("0123456789", 10),
		}),
		FingerprintKey: t.Settings.FingerprintKey,
	}
	if operation == transfer.Platform {
		r.RecipientMetadata = transfer.NewMetadata(map[string]string{"Certify": "recipient"})
	}
	return r
}

// declare makes declarations of requests. They are alike on purpose, so nothing is a look-alike of another.
func declare(requests []transfer.Request) iter.Seq[config.Transfer] {
	return func(yield func(config.Transfer) bool) {
		for i, r := range requests {
			block := fmt.Sprintf("transfer.%s.certify", r.Operation)
			declared := config.Transfer{
				Request: r, Address: fmt.Sprintf("%s[%q]", block, r.RefID), Block: block,
				Place: config.Place{File: "remit certify", Line: i + 1},
			}
			if !yield(declared) {
				return
			}
		}
	}
}
