package sandbox

import (
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"slices"
	"unicode/utf8"

	"remit/internal/transfer"
)

const (
	bodyMax  = 1 << 20 // bytes of a request
	scaleMax = 18      // decimals of an amount
)

// validate reads the body of a request to create and checks every limit that the service's
// document names (sections 4 and 8), and that the transfer moves something.
func validate(op transfer.Operation, contentType string, body []byte) (transfer.Request, *problem) {
	if kind, _, err := mime.ParseMediaType(contentType); err != nil || kind != "application/json" {
		return transfer.Request{}, invalid(http.StatusUnsupportedMediaType, "content-type", "Content-Type must be application/json")
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(body, &fields) != nil || fields == nil {
		return transfer.Request{}, invalid(http.StatusBadRequest, "malformed", "the body is not one JSON object")
	}
	f := reader{fields: fields}
	r := transfer.Request{
		Operation: op, RefID: f.text("ref_id", optional), Asset: f.text("asset", required),
		FromProfileID: f.text("from_profile_id", required), FromIdentityID: f.text("from_identity_id", optional), FromAccountID: f.text("from_account_id", optional),
		ToProfileID: f.text("to_profile_id", required), ToIdentityID: f.text("to_identity_id", optional), ToAccountID: f.text("to_account_id", optional),
		Metadata: f.pairs("metadata"),
	}
	amount := f.text("amount", required)
	if op == transfer.Platform {
		r.RecipientMetadata = f.pairs("recipient_metadata")
	}
	f.nothingElse()
	if f.wrong != nil {
		return transfer.Request{}, f.wrong
	}
	var err error
	if r.Amount, err = transfer.ParseAmount(amount); err != nil {
		return transfer.Request{}, invalid(http.StatusUnprocessableEntity, "amount", fmt.Sprintf("amount %q: %v", amount, err))
	}
	if r.Amount.ScaleWritten() > scaleMax {
		return transfer.Request{}, invalid(http.StatusUnprocessableEntity, "amount", fmt.Sprintf("amount %q has more than %d decimals", amount, scaleMax))
	}
	if r.GoesToItself() {
		return transfer.Request{}, invalid(http.StatusUnprocessableEntity, "same-profile", "sender and destination are the same")
	}
	return r, nil
}

type presence bool

const (
	required presence = true
	optional presence = false
)

// reader takes fields by their exact names and keeps the first thing that is wrong.
type reader struct {
	fields map[string]json.RawMessage
	wrong  *problem
}

func (f *reader) fail(status int, kind, format string, args ...any) {
	if f.wrong == nil {
		f.wrong = invalid(status, kind, fmt.Sprintf(format, args...))
	}
}

// take returns a field and lets nothingElse forget it. A field that is null is wrong: a
// client that means nothing sends nothing.
func (f *reader) take(name string, into any) bool {
	raw, ok := f.fields[name]
	delete(f.fields, name)
	if ok && (string(raw) == "null" || json.Unmarshal(raw, into) != nil) {
		f.fail(http.StatusBadRequest, "type", "field %s has another JSON type than documented", name)
	}
	return ok
}

func (f *reader) text(name string, needed presence) string {
	var value string
	switch present := f.take(name, &value); {
	case !present && needed == required:
		f.fail(http.StatusBadRequest, "missing", "field %s is required", name)
	case present && value == "":
		f.fail(http.StatusUnprocessableEntity, "empty", "field %s is empty", name)
	}
	return value
}

func (f *reader) pairs(name string) transfer.Metadata {
	var values map[string]*string
	f.take(name, &values)
	pairs := make(map[string]string, len(values))
	for key, value := range values {
		if value == nil {
			f.fail(http.StatusBadRequest, "type", "%s.%s is not a string", name, key)
			continue
		}
		if utf8.RuneCountInString(key) > transfer.TextLengthMax || utf8.RuneCountInString(*value) > transfer.TextLengthMax {
			f.fail(http.StatusUnprocessableEntity, "metadata", "a key or a value of %s has more than %d characters", name, transfer.TextLengthMax)
		}
		pairs[key] = *value
	}
	if len(pairs) > transfer.MetadataPairsMax {
		f.fail(http.StatusUnprocessableEntity, "metadata", "%s has %d pairs, more than %d", name, len(pairs), transfer.MetadataPairsMax)
	}
	return transfer.NewMetadata(pairs)
}

func (f *reader) nothingElse() {
	for _, name := range slices.Sorted(maps.Keys(f.fields)) {
		f.fail(http.StatusBadRequest, "unknown-field", "field %q is not documented for this operation", name)
	}
}
