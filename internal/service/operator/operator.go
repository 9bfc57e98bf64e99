// Package operator has the public facts about those who run the funds-transfer service, beyond the
// service's own document.
//
// Its one invariant: an operator of which nothing is known is the document's, and nothing is guessed
// for it.
package operator

import (
	"remit/internal/transfer"
)

// ProfilePart stands in a BalancePath for the ID of a profile.
const ProfilePart = "{profile_id}"

// Contract is what one operator documents. Each part can be overridden in the configuration. The zero
// value documents nothing.
type Contract struct {
	// LookupPath and BalancePath are below the service's base URL; "" for none. BalancePath has
	// [ProfilePart] in it.
	LookupPath  string
	BalancePath string

	// Scopes of OAuth 2; "" for one that is not known.
	ScopeCreate  map[transfer.Operation]string
	ScopeLookup  string
	ScopeBalance string

	// How a transfer that was made, and one that lacks the funds, is answered.
	CreatedStatus int // of HTTP
	Insufficient  Problem

	// ProblemBase begins the type of each problem.
	ProblemBase string
}

// Problem is one kind of error of RFC 9457.
type Problem struct {
	Status int    // of HTTP
	Kind   string // the end of its type
}

// The operators of which something is known.
const (
	// Paxos: the OpenAPI document of its API, version 2, as of July 2026.
	Paxos transfer.Operator = "paxos"
)

// Known lists the operators that have a contract of their own.
func Known() []transfer.Operator { return []transfer.Operator{Paxos} }

// Of returns the contract of an operator. Of one that is not known it names no path and no scope, and
// answers as the sandbox always did.
func Of(name transfer.Operator) Contract {
	if name == Paxos {
		return Contract{
			LookupPath: "/v2/transfer/transfers", BalancePath: "/v2/profiles/{profile_id}/balances",
			ScopeCreate: map[transfer.Operation]string{
				transfer.Internal: "transfer:write_internal_transfer",
				transfer.Platform: "transfer:write_paxos_transfer",
			},
			ScopeLookup: "transfer:read_transfer", ScopeBalance: "funding:read_profile",
			CreatedStatus: 200,
			Insufficient:  Problem{403, "insufficient_funds"},
			ProblemBase:   "https://sandbox.invalid/v2/problems/",
		}
	}
	return Contract{
		CreatedStatus: 201,
		Insufficient:  Problem{422, "insufficient-funds"},
		ProblemBase:   "https://sandbox.invalid/problems/",
	}
}
