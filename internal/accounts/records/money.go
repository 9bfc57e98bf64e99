package records

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/shopspring/decimal"

	"remit/internal/transfer"
)

// exponentMax bounds the exponent of a number of which the digits are written out.
const exponentMax = 64

// quoteMoney returns the record with the quotes that its money lacks: some exports write an
// amount as a JSON number. Its digits stay as they are, and an exponent is written out exactly; no
// binary number comes between. It is false where no money was such a number.
func quoteMoney(record []byte) ([]byte, bool) {
	d := json.NewDecoder(bytes.NewReader(record))
	if _, err := d.Token(); err != nil {
		return nil, false
	}
	var out []byte
	copied := 0
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, false
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, false
		}
		name, _ := token.(string) // the decoder allows nothing else there
		if !isMoney(name) || value[0] != '-' && (value[0] < '0' || value[0] > '9') {
			continue
		}
		end := int(d.InputOffset())
		out = append(out, record[copied:end-len(value)]...)
		out = append(append(append(out, '"'), digits(string(value))...), '"')
		copied = end
	}
	return append(out, record[copied:]...), copied > 0
}

// isMoney reports whether a field of a record is money (Decimal in docs/openapi.yaml).
func isMoney(name string) bool {
	switch name {
	case "amount", "total", "fee", "notional_value":
		return true
	}
	return false
}

// digits is a JSON number without an exponent. One that is out of all bounds stays as it is,
// which is then no amount.
func digits(number string) string {
	if !strings.ContainsAny(number, "eE") || len(number) > exponentMax {
		return number
	}
	d, err := decimal.NewFromString(number)
	if err != nil || d.Exponent() > exponentMax || d.Exponent() < -exponentMax {
		return number
	}
	return transfer.Digits(d)
}
