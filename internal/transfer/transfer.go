// Package transfer is the noun of remit: a request to move an amount of one asset
// between two profiles, and the record that the funds-transfer service keeps of it.
//
// Its one invariant: two requests have the same [Fingerprint] if and only if they ask
// for the same movement of money, however they were written down.
//
// Fields, enumerations and limits come from the operator's document of the service, which is not in this
// repository: comments call it the service's document. docs/openapi.yaml has the part of it that remit uses, and
// docs/contract.md says what remit needs beyond it.
package transfer

import "strings"

// Operation is one of the two ways in which the service creates a transfer.
type Operation string

// The two operations.
const (
	Internal Operation = "internal"
	Platform Operation = "platform"
)

// Operations lists both operations in the order of the service's document.
func Operations() []Operation { return []Operation{Internal, Platform} }

// OperationWords are the words of [Operations], as a declaration writes them.
func OperationWords() []string {
	var words []string
	for _, o := range Operations() {
		words = append(words, string(o))
	}
	return words
}

// Known reports whether o is one of [Operations].
func (o Operation) Known() bool { return o == Internal || o == Platform }

// Operator is the brand name in the place of the document's "platform": in a path segment and in
// two record types. The zero value means [DefaultOperator].
type Operator string

// DefaultOperator is the word that the service's document uses for the brand.
const DefaultOperator Operator = "platform"

// Valid reports whether o can be part of a path: lower-case letters, digits, '-' and '_', beginning
// with a letter.
func (o Operator) Valid() bool {
	for i, r := range string(o) {
		letter := 'a' <= r && r <= 'z'
		if !letter && (i == 0 || !strings.ContainsRune("0123456789-_", r)) {
			return false
		}
	}
	return o != ""
}

// PathPrefix begins the path of each creation operation.
const PathPrefix = "/v2/transfer"

// Path is where op is created, below the service's base URL.
func (o Operator) Path(op Operation) string {
	if op == Internal {
		return PathPrefix + "/internal"
	}
	return PathPrefix + "/" + string(o.or())
}

// RecordType is the type that a record of op carries on the given side.
func (o Operator) RecordType(op Operation, side Direction) RecordType {
	brand := "INTERNAL"
	if op == Platform {
		brand = strings.ToUpper(strings.ReplaceAll(string(o.or()), "-", "_"))
	}
	return RecordType(brand + "_TRANSFER_" + string(side))
}

func (o Operator) or() Operator {
	if o == "" {
		return DefaultOperator
	}
	return o
}
