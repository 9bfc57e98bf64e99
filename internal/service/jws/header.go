package jws

import (
	"errors"
	"fmt"
	"net/textproto"
	"slices"
	"strings"
)

const headerLengthMax = 64

// taken are the headers that a request has already, or that say how it is sent. Either of the
// last two would let a transport send it a second time by itself.
var taken = []string{
	"Accept", "Authorization", "Connection", "Content-Length", "Content-Type", "Content-Encoding", "Cookie", "Expect", "Host",
	"Keep-Alive", "Proxy-Authorization", "Proxy-Connection", "Te", "Traceparent", "Trailer", "Transfer-Encoding", "Upgrade", "User-Agent",
	"Idempotency-Key", "X-Idempotency-Key",
}

// CheckHeader returns an error, whose text goes on after the name, if the header of that name can't
// carry a signature.
func CheckHeader(name string) error {
	if name == "" || len(name) > headerLengthMax || strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return fmt.Errorf("%q is not a name of letters, digits and '-', of at most %d characters", name, headerLengthMax)
	}
	if i := slices.Index(taken, textproto.CanonicalMIMEHeaderKey(name)); i >= 0 {
		return errors.New(taken[i] + " has a meaning of its own; a signature needs another header, such as X-JWS-Signature")
	}
	return nil
}
