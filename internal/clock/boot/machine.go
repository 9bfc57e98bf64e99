//go:build linux || windows

package boot

import (
	"crypto/sha256"
	"encoding/hex"
)

// digest names a machine, whose ID is not to be told (machine-id(5)). The host's name is in it because machines
// that were made from one image may share an ID.
func digest(id, host string) string {
	sum := sha256.Sum256([]byte("remit-machine/1\x00" + id + "\x00" + host))
	return hex.EncodeToString(sum[:16])
}
