package config

import (
	"fmt"

	"remit/config/mistake"
	"remit/internal/transfer"
)

// knownOperation reads the first label of a transfer; it is "" with a hint where there is no such operation. Behind is
// the second label.
func knownOperation(text, behind string) (transfer.Operation, string) {
	operation := transfer.Operation(text)
	if operation.Known() {
		return operation, ""
	}
	if transfer.Operation(behind).Known() {
		return "", fmt.Sprintf(" The operation comes first, and the name behind it:\n\n  transfer %q %q {", behind, text)
	}
	var words []string
	for _, known := range transfer.Operations() {
		words = append(words, string(known))
	}
	return "", mistake.DidYouMean(text, words)
}
