package planner

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"io"

	"remit/internal/transfer"
)

// DigestOfLines is the digest that the lines of a plan file have, whatever its footer says.
func DigestOfLines(r io.Reader) (string, error) {
	o := opener{
		in: bufio.NewReader(r), sum: sha256.New(), lines: newIndex(0),
		plan: &Plan{Totals: make(map[Action]*transfer.Totals)},
	}
	if err := o.next(); err != nil {
		return "", err
	}
	if err := o.readHeader(); err != nil {
		return "", err
	}
	for {
		if err := o.next(); err != nil {
			return "", err
		}
		if bytes.HasPrefix(o.bytes, []byte(footerStart)) {
			return o.plan.digest()
		}
		if bytes.HasPrefix(o.bytes, []byte(keptStart)) {
			continue
		}
		if err := o.readChange(); err != nil {
			return "", err
		}
	}
}
