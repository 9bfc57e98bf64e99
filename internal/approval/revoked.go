package approval

import (
	"bytes"
	"fmt"

	"golang.org/x/crypto/ssh"
)

// Revoked are keys that count for nothing any more. A nil Revoked has none.
type Revoked struct {
	keys map[string]int // lines, by the key's blob
}

// krlMagic begins a binary list that ssh-keygen -k wrote.
const krlMagic = "SSHKRL\n\x00"

// ParseRevoked reads a list of public keys, one a line, as ssh-keygen -Y verify takes it with
// -r. A binary list is a mistake, and so is whatever is not understood: a line is never passed
// over.
func ParseRevoked(content []byte) (*Revoked, []Mistake) {
	r := &Revoked{keys: map[string]int{}}
	if bytes.HasPrefix(content, []byte(krlMagic)) {
		return r, []Mistake{{0, "it is a binary list (KRL) of ssh-keygen -k, which is not read here; list the public keys themselves, one a line"}}
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
	if !ok {
		return ""
	}
	return fmt.Sprintf("revoked_keys line %d has the key", line)
}
