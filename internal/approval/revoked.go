package approval

import (
	"bytes"
	"fmt"

	"golang.org/x/crypto/ssh"
)

// Revoked are keys that count for nothing any more. A nil Revoked has none.
type Revoked struct {
	keys   map[string]int // lines, by the key's blob; 0 in a binary list
	hashes krlHashes
}

// ParseRevoked reads what ssh-keygen -Y verify takes with -r: a list of public keys, one a line,
// or a binary list (KRL) of ssh-keygen -k. A line that is not understood is a mistake: nothing is
// passed over that could revoke a key.
func ParseRevoked(content []byte) (*Revoked, []Mistake) {
	r := &Revoked{keys: map[string]int{}, hashes: krlHashes{map[string]bool{}, map[string]bool{}}}
	if rest, isBinary := bytes.CutPrefix(content, []byte(krlMagic)); isBinary {
		if err := r.parseKRL(rest); err != nil {
			return r, []Mistake{{0, err.Error()}}
		}
		return r, nil
	}
	var mistakes []Mistake
	for number, line := range lines(content) {
		err := checkLine(line)
		var key ssh.PublicKey
		if err == nil {
			key, err = parseKey(line)
		}
		if err != nil {
			mistakes = append(mistakes, Mistake{number, err.Error()})
			continue
		}
		if _, twice := r.keys[string(key.Marshal())]; !twice {
			r.keys[string(key.Marshal())] = number
		}
	}
	return r, mistakes
}

// where says where a key was revoked; "" where it was not.
func (r *Revoked) where(key ssh.PublicKey) string {
	if r == nil {
		return ""
	}
	line, ok := r.keys[string(key.Marshal())]
	if !ok && !r.hashes.has(key.Marshal()) {
		return ""
	}
	if line == 0 {
		return "revoked_keys has the key"
	}
	return fmt.Sprintf("revoked_keys line %d has the key", line)
}
