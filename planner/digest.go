package planner

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"

	"remit/internal/transfer"
)

// digestFormat is the first text of what is hashed, so that no other hash of remit's can be
// taken for a plan's digest.
const digestFormat = "remit-digest/1"

// digest returns the plan's digest: the hexadecimal SHA-256 over netstrings
// (LENGTH:BYTES,) of, in this order,
//
//   - "remit-digest/1";
//   - the environment;
//   - the service's base_url, operator, client_id and customer_id;
//   - the number of acceptances, in decimal digits, and each of Header.Accepted, sorted;
//   - the number of requests that would be sent, in decimal digits, and the fingerprint of
//     each in hexadecimal, sorted: what is declared of a Submit, what is recorded of a
//     Resolve.
//
// Times, places, order and layout are no part of it: the same facts have the same digest.
func (p *Plan) digest() (string, error) {
	var sent []transfer.Fingerprint
	for i := range p.Changes {
		c := &p.Changes[i]
		if c.Action != Submit && c.Action != Resolve {
			continue
		}
		request, err := c.inForce()
		if err != nil {
			return "", err
		}
		sent = append(sent, request.Fingerprint())
	}
	slices.SortFunc(sent, func(a, b transfer.Fingerprint) int { return bytes.Compare(a[:], b[:]) })
	accepted := slices.Sorted(slices.Values(p.Header.Accepted))

	h := sha256.New()
	service := p.Header.Service
	netstrings(h, digestFormat, p.Header.Environment,
		service.BaseURL, service.Operator, service.ClientID, service.CustomerID, fmt.Sprint(len(accepted)))
	netstrings(h, accepted...)
	netstrings(h, fmt.Sprint(len(sent)))
	for _, fingerprint := range sent {
		netstrings(h, fingerprint.String())
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// netstrings writes to a hash, which never fails.
func netstrings(h io.Writer, texts ...string) {
	for _, text := range texts {
		_, _ = fmt.Fprintf(h, "%d:%s,", len(text), text)
	}
}
