package planner

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"slices"

	"remit/internal/transfer"
)

// digestFormat is the first text of the hashed bytes, so that no other hash of remit's can be
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
//     each in hexadecimal, sorted: the declared one of a Submit, the recorded one of a
//     Resolve.
//
// Times, places, order and layout are no part of it: the same facts have the same digest.
func (p *Plan) digest() (string, error) {
	var sent []transfer.Fingerprint
	for _, c := range p.Changes.All() {
		if c.Action != Submit && c.Action != Resolve {
			continue
		}
		request, err := c.InForce()
		if err != nil {
			return "", err
		}
		sent = append(sent, request.Fingerprint())
	}
	return p.digestOver(sent), nil
}

// digest is [Plan.digest] without computing the fingerprints of Submits again.
func (b *builder) digest() (string, error) {
	sent := make([]transfer.Fingerprint, 0, b.sent.len())
	for _, s := range b.sent.all() {
		if b.plan.Changes.Action(int(s.change)) == Submit {
			sent = append(sent, s.fingerprint)
		}
	}
	for i := range b.facts.len() {
		if b.plan.Changes.Action(i) != Resolve {
			continue
		}
		c := b.plan.Changes.At(i)
		request, err := c.InForce()
		if err != nil {
			return "", err
		}
		sent = append(sent, request.Fingerprint())
	}
	return b.plan.digestOver(sent), nil
}

// digestOver sorts and hashes the fingerprints of the requests that the plan would send.
func (p *Plan) digestOver(sent []transfer.Fingerprint) string {
	slices.SortFunc(sent, func(a, b transfer.Fingerprint) int {
		if x, y := binary.BigEndian.Uint64(a[:]), binary.BigEndian.Uint64(b[:]); x != y {
			return cmp.Compare(x, y)
		}
		return bytes.Compare(a[:], b[:])
	})
	accepted := slices.Sorted(slices.Values(p.Header.Accepted))

	h := sha256.New()
	service := p.Header.Service
	netstrings(h, digestFormat, p.Header.Environment,
		service.BaseURL, service.Operator, service.ClientID, service.CustomerID)
	if service.TokenURL != "" { // an address is no number, so that this is never taken for the count
		netstrings(h, service.TokenURL)
	}
	netstrings(h, fmt.Sprint(len(accepted)))
	netstrings(h, accepted...)
	netstrings(h, fmt.Sprint(len(sent)))
	out := bufio.NewWriterSize(h, 32<<10)
	netstring := []byte("64:")
	for i := range sent {
		netstring = append(hex.AppendEncode(netstring[:3], sent[i][:]), ',')
		_, _ = out.Write(netstring)
	}
	_ = out.Flush() // a hash never fails
	return hex.EncodeToString(h.Sum(nil))
}

// netstrings writes to a hash, which never fails.
func netstrings(h io.Writer, texts ...string) {
	for _, text := range texts {
		_, _ = fmt.Fprintf(h, "%d:%s,", len(text), text)
	}
}
