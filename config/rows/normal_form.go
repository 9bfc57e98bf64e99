package rows

import (
	"golang.org/x/text/unicode/norm"

	"remit/internal/transfer"
)

// NormalForm is Unicode's normal form C of a text.
func NormalForm(text string) string {
	if transfer.Plain(text) {
		return text
	}
	return norm.NFC.String(text)
}
