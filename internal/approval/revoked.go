package approval

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"
)

// Revoked are keys that count for nothing any more. A nil Revoked has none.
type Revoked struct {
	keys     map[string]int // lines, by the key's blob; 0 in a binary list
	hashes   krlHashes
	passkeys map[string]int // lines, by [Key.blob]
}

// ParseRevoked reads what ssh-keygen -Y verify takes with -r: a list of public keys, one a line,
// or a binary list (KRL) of ssh-keygen -k. A line that is not understood is a mistake: nothing is
// passed over that could revoke a key. So is a file without a word, see [checkWritten].
func ParseRevoked(content []byte) (*Revoked, []Mistake) {
	r := &Revoked{keys: map[string]int{}, hashes: krlHashes{map[string]bool{}, map[string]bool{}}}
	if err := checkWritten(content); err != nil {
		return r, []Mistake{{0, err.Error()}}
	}
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

// checkWritten refuses a file that has nothing: a full disk, a merge or a program that failed leaves such a one where keys were revoked,
// and each of them would count again.
func checkWritten(content []byte) error {
	if len(bytes.TrimSpace(content)) > 0 {
		return nil
	}
	return errors.New("it is empty, and each key that it revoked would count again; restore it or, where none is to be revoked, write the line # none into it")
}

// where says where a key was revoked; "" where it was not.
func (r *Revoked) where(key Key) string {
	if r == nil {
		return ""
	}
	if key.passkey != nil {
		if line, ok := r.passkeys[key.blob()]; ok {
			return fmt.Sprintf("revoked_passkeys line %d has the passkey", line)
		}
		return ""
	}
	blob := key.ssh.Marshal()
	line, ok := r.keys[string(blob)]
	if !ok && !r.hashes.has(blob) {
		return ""
	}
	if line == 0 {
		return "revoked_keys has the key"
	}
	return fmt.Sprintf("revoked_keys line %d has the key", line)
}

// ParseRevokedPasskeys reads passkeys that count for nothing any more: one a line, with its RP ID and credential ID, or as
// the line of allowed_passkeys that it was. A line that is not understood is a mistake, and a file without a word, see [checkWritten].
func ParseRevokedPasskeys(content []byte) (*Revoked, []Mistake) {
	r := &Revoked{passkeys: map[string]int{}}
	if err := checkWritten(content); err != nil {
		return r, []Mistake{{0, err.Error()}}
	}
	var mistakes []Mistake
	for number, line := range lines(content) {
		key, err := parseRevokedPasskey(line)
		if err != nil {
			mistakes = append(mistakes, Mistake{number, err.Error()})
			continue
		}
		if _, twice := r.passkeys[key.blob()]; !twice {
			r.passkeys[key.blob()] = number
		}
	}
	return r, mistakes
}

func parseRevokedPasskey(line string) (Key, error) {
	if err := checkLine(line); err != nil {
		return Key{}, err
	}
	fields := strings.Fields(line)
	if len(fields) != 2 {
		e, err := parsePasskeyEntry(line, time.UTC)
		return e.key, err
	}
	id, err := base64.RawURLEncoding.Strict().DecodeString(fields[1])
	if err == nil {
		err = CheckRPID(fields[0])
	}
	if err != nil || len(id) == 0 {
		return Key{}, errors.New("it is no passkey: a line is RP_ID CREDENTIAL_ID, or the line of allowed_passkeys")
	}
	return Key{passkey: &Passkey{RPID: fields[0], ID: id}}, nil
}

// JoinRevoked are the keys of two files.
func JoinRevoked(a, b *Revoked) *Revoked {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	joined := *a
	joined.passkeys = b.passkeys
	if b.passkeys == nil {
		joined.passkeys = a.passkeys
	}
	return &joined
}
