package service

import (
	"fmt"
	"hash/maphash"
	"math/bits"
	"net/url"
	"strings"
	"sync"
)

const (
	askedMax     = 1 << 16 // addresses that are remembered
	respellMax   = 16      // characters that are written otherwise
	respellTries = 8
)

// askedAddresses remembers the addresses of lookups. It is safe for concurrent use.
type askedAddresses struct {
	mu   sync.Mutex
	seed maphash.Seed
	seen map[uint64]bool // guarded by mu
}

// isNew reports whether an address was not asked before, and remembers it.
func (a *askedAddresses) isNew(query string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.seen) == 0 || len(a.seen) == askedMax {
		a.seed, a.seen = maphash.MakeSeed(), make(map[uint64]bool)
	}
	sum := maphash.String(a.seed, query)
	isNew := !a.seen[sum]
	a.seen[sum] = true
	return isNew
}

// respell writes the address of a lookup that was asked before in another way that means the same. A cache in between
// may give its old list again although it was asked not to, and without an Age: it lacks the transfers that were made
// since. The first lookup is as anybody would write it, so that a service that does not know the other
// way, and lists nothing, takes nothing from what the first one says.
func (c *Client) respell(target *url.URL) {
	plain := target.RawQuery
	first := uint32(maphash.Comparable(maphash.MakeSeed(), plain))
	for try := uint32(0); try < respellTries && !c.asked.isNew(target.RawQuery); try++ {
		// The lowest bits, of which the tries have every combination, are about the first characters: a short ref_id has no others.
		target.RawQuery = respelled(plain, bits.Reverse32(first+try)>>(31-respellMax))
	}
}

// respelled writes some of the first characters of ref_ids as %XX, and %XX as %xx, which decodes to the same (RFC 3986,
// sections 2.1 and 2.3). The query is one that [url.Values.Encode] wrote.
//
// Each bit of choices says of one character whether it is written otherwise.
func respelled(query string, choices uint32) string {
	const name = "ref_ids="
	left := respellMax
	parts := strings.Split(query, "&")
	for i, part := range parts {
		value, isRefID := strings.CutPrefix(part, name)
		if !isRefID {
			continue
		}
		var b strings.Builder
		b.WriteString(name)
		for len(value) > 0 {
			size := 1
			if value[0] == '%' {
				size = 3
			}
			isOther := left > 0 && choices>>left&1 == 0
			switch {
			case isOther && size == 3:
				b.WriteString(strings.ToLower(value[:size]))
			case isOther:
				fmt.Fprintf(&b, "%%%02X", value[0])
			default:
				b.WriteString(value[:size])
			}
			value, left = value[size:], left-1
		}
		parts[i] = b.String()
	}
	return strings.Join(parts, "&")
}
