package transfer

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"remit/internal/text/jsontext"
)

// MetadataPairsMax is how many pairs each metadata object may have.
const MetadataPairsMax = 6

// Request asks for one transfer: every field of CreateTransfer in docs/openapi.yaml. An empty string is a
// field that is not sent.
type Request struct {
	Operation Operation

	RefID             string
	FromProfileID     string
	FromIdentityID    string
	FromAccountID     string
	ToProfileID       string
	ToIdentityID      string
	ToAccountID       string
	Amount            Amount
	Asset             string
	Metadata          Metadata
	RecipientMetadata Metadata // on Platform only

	// FingerprintKey names a metadata pair, not listed in Metadata, in which the
	// request's own fingerprint travels; "" for none. It is not part of the fingerprint.
	FingerprintKey string
}

// Metadata are key/value pairs in the order of their keys, each key once.
type Metadata []Pair

// Pair is one metadata entry.
type Pair struct{ Key, Value string }

// NewMetadata sorts pairs by key, in the order of their bytes. No pairs are nil.
func NewMetadata(pairs map[string]string) Metadata {
	if len(pairs) == 0 {
		return nil
	}
	m := make(Metadata, 0, len(pairs))
	for k, v := range pairs {
		m = append(m, Pair{k, v})
	}
	m.sort()
	return m
}

// Get returns the value of key, and whether it is there.
func (m Metadata) Get(key string) (string, bool) {
	for _, p := range m {
		if p.Key == key {
			return p.Value, true
		}
	}
	return "", false
}

func (m Metadata) sort() {
	slices.SortFunc(m, func(a, b Pair) int { return cmp.Compare(a.Key, b.Key) })
}

// Fingerprint is the SHA-256 of a canonical request, operation included. Requests for the
// same movement of money have the same fingerprint; it does not depend on how an amount
// was written, on the order of metadata, or on the version of Go.
type Fingerprint [sha256.Size]byte

// String returns 64 hexadecimal digits.
func (f Fingerprint) String() string { return hex.EncodeToString(f[:]) }

// IsZero reports whether f is the zero value, which is the fingerprint of nothing.
func (f Fingerprint) IsZero() bool { return f == Fingerprint{} }

// ParseFingerprint reads what String returns.
func ParseFingerprint(text string) (Fingerprint, error) {
	var f Fingerprint
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != len(f) {
		return f, fmt.Errorf("fingerprint %q is not %d hexadecimal digits", text, 2*len(f))
	}
	copy(f[:], raw)
	return f, nil
}

// Fingerprint returns the SHA-256 of the canonical form of r.
func (r Request) Fingerprint() Fingerprint {
	return sha256.Sum256(r.appendObject(make([]byte, 0, usualBytes), canonical, r.Metadata))
}

// Body returns the JSON object that is sent: the documented fields, as strings, with the
// author's digits, keys in byte order, without those that are empty.
func (r Request) Body() []byte { return r.AppendBody(make([]byte, 0, usualBytes)) }

// AppendBody appends Body to b.
func (r Request) AppendBody(b []byte) []byte { return r.appendObject(b, body, r.SentMetadata()) }

// SentMetadata are the pairs of the sender's side as they are sent: Metadata, and the
// fingerprint's pair where FingerprintKey names one.
func (r Request) SentMetadata() Metadata {
	if r.FingerprintKey == "" {
		return r.Metadata
	}
	m := slices.Concat(r.Metadata, Metadata{{r.FingerprintKey, r.Fingerprint().String()}})
	m.sort()
	return m
}

// ParseRequest reads what Body returned for an operation. Where fingerprintKey is one of
// the metadata keys and its value is the fingerprint of the rest, it becomes FingerprintKey
// again. Anything but the bytes that Body returns for the result is an error: another order,
// a field that is unknown, doubled or null, a body of another version is not guessed at.
func ParseRequest(op Operation, body []byte, fingerprintKey string) (Request, error) {
	if r, ok := scanRequest(op, string(body)); ok {
		if r, ok = r.withBody(body, fingerprintKey); ok {
			return r, nil
		}
	}
	return parseRequest(op, body, fingerprintKey)
}

// parseRequest is ParseRequest by package json: the oracle of scanRequest.
func parseRequest(op Operation, body []byte, fingerprintKey string) (Request, error) {
	var in map[string]json.RawMessage
	if err := json.Unmarshal(body, &in); err != nil {
		return Request{}, fmt.Errorf("read the request's body: %w", err)
	}
	var r Request
	for f := range FieldCount {
		raw, ok := in[f.Name()]
		if !ok {
			continue
		}
		if err := r.decode(f, raw); err != nil {
			return Request{}, fmt.Errorf("read the request's body: %s: %w", f.Name(), err)
		}
	}
	if _, err := ParseAmount(r.Amount.text); err != nil {
		return Request{}, fmt.Errorf("read the request's body: amount %q: %w", r.Amount.text, err)
	}
	r.Operation, r.FingerprintKey = op, ""
	r, ok := r.withBody(body, fingerprintKey)
	if !ok {
		return Request{}, errors.New("read the request's body: it is not in the form that is sent")
	}
	return r, nil
}

// withBody restores the fingerprint's key, and reports whether r then has the given body.
func (r Request) withBody(body []byte, fingerprintKey string) (Request, bool) {
	r.restoreFingerprintKey(fingerprintKey)
	var buffer [usualBytes]byte
	return r, bytes.Equal(r.AppendBody(buffer[:0]), body)
}

func (r *Request) restoreFingerprintKey(key string) {
	value, ok := r.Metadata.Get(key)
	if key == "" || !ok {
		return
	}
	rest := *r
	rest.Metadata = slices.DeleteFunc(slices.Clone(r.Metadata), func(p Pair) bool { return p.Key == key })
	if len(rest.Metadata) == 0 {
		rest.Metadata = nil
	}
	if rest.Fingerprint().String() == value {
		rest.FingerprintKey = key
		*r = rest
	}
}

// form is one of the two ways to write a request down; both come from one encoder.
type form int

const (
	body      form = iota // the sent bytes
	canonical             // the hashed text: normal amount, operation included, no fingerprint
)

// usualBytes is what nearly all requests need; for others a buffer grows.
const usualBytes = 512

// appendObject takes the metadata apart from r, as the two forms have different ones.
func (r *Request) appendObject(b []byte, as form, metadata Metadata) []byte {
	b = append(b, '{')
	for f := range FieldCount {
		member := fields[f].member
		switch fields[f].role {
		case isSent:
			b = appendField(b, member, *r.text(f))
		case isAmount:
			amount := r.Amount.text
			if as == canonical {
				amount = r.Amount.Normal()
			}
			b = appendField(b, member, amount)
		case isMetadata:
			b = appendPairs(b, member, metadata)
		case isMetadataPlatform:
			b = appendPairs(b, member, r.AskedPairs(f))
		case isOperation:
			if as == canonical {
				b = appendField(b, member, string(r.Operation))
			}
		case isSetting:
		}
	}
	return append(b, '}')
}

// appendTexts appends fields that have no pairs.
func (r *Request) appendTexts(b []byte, some ...Field) []byte {
	for _, f := range some {
		b = appendField(b, fields[f].member, *r.text(f))
	}
	return b
}

// appendField takes the name with its quotation marks and its colon.
func appendField(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	return jsontext.AppendFewest(append(appendComma(b), name...), value)
}

func appendPairs(b []byte, name string, pairs Metadata) []byte {
	if len(pairs) == 0 {
		return b
	}
	b = append(append(appendComma(b), name...), '{')
	for i := range pairs {
		b = append(jsontext.AppendFewest(appendComma(b), pairs[i].Key), ':')
		b = jsontext.AppendFewest(b, pairs[i].Value)
	}
	return append(b, '}')
}

func appendComma(b []byte) []byte {
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	return b
}

// Twin is the same for requests that move the same amount of the same asset from the same
// sender to the same destination, whatever their ref_ids: 64 bits of a SHA-256.
type Twin uint64

// Twin returns the twin of r, in one spelling of its asset and its parties. Two requests with one
// twin are look-alikes unless their fields say otherwise.
func (r Request) Twin() Twin {
	one := r.OneSpelling()
	return Twin(hash64(one.AppendMovement(make([]byte, 0, usualBytes))))
}

// AppendMovement appends to b the movement of r: two requests have the same bytes exactly if they
// are twins.
func (r *Request) AppendMovement(b []byte) []byte {
	b = r.appendTexts(append(b, '{'), toFields[:]...)
	b = appendField(b, fields[fieldAmount].member, r.Amount.Normal())
	b = r.appendTexts(b, fieldAsset)
	return r.appendTexts(b, fromFields[:]...)
}

// Destination is the same for requests to the same profile, identity and account: 64 bits
// of a SHA-256.
type Destination uint64

// Destination returns whom r pays, in one spelling.
func (r Request) Destination() Destination {
	one := r.OneSpelling()
	return Destination(hash64(one.appendTexts(append(make([]byte, 0, usualBytes), '{'), toFields[:]...)))
}

func hash64(b []byte) uint64 {
	sum := sha256.Sum256(b)
	return binary.BigEndian.Uint64(sum[:8])
}

// MarshalJSON writes the operation, the body as it is sent, and FingerprintKey, so that
// UnmarshalJSON restores a request with the same body and fingerprint.
func (r Request) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(savedRequest{r.Operation, r.FingerprintKey, string(r.Body())})
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// UnmarshalJSON reads what MarshalJSON wrote, also of the zero value. Of anything else it
// returns an error and leaves r as it was.
func (r *Request) UnmarshalJSON(raw []byte) error {
	var saved savedRequest
	if err := json.Unmarshal(raw, &saved); err != nil {
		return err
	}
	if saved == (savedRequest{Body: string(Request{}.Body())}) {
		*r = Request{}
		return nil
	}
	request, err := ParseRequest(saved.Operation, []byte(saved.Body), saved.FingerprintKey)
	if err != nil {
		return err
	}
	if request.FingerprintKey != saved.FingerprintKey {
		return fmt.Errorf("the request's body has no fingerprint in metadata %q", saved.FingerprintKey)
	}
	*r = request
	return nil
}

type savedRequest struct {
	Operation      Operation `json:"operation"`
	FingerprintKey string    `json:"fingerprint_key,omitempty"`
	Body           string    `json:"body"`
}
