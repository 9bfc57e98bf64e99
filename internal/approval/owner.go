package approval

import (
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
)

// Has reports whether a principal has a key, by any line of the file.
func (s *Signers) Has(principal string, key ssh.PublicKey) bool {
	for _, i := range s.people.byKey[string(key.Marshal())] {
		if slices.ContainsFunc(s.entries[i].principals, func(name string) bool { return sameName(name) == sameName(principal) }) {
			return true
		}
	}
	return false
}

// Allows reports whether a line of the file has a key for a namespace, whenever it is valid.
func (s *Signers) Allows(key ssh.PublicKey, namespace string) bool {
	for _, i := range s.people.byKey[string(key.Marshal())] {
		if e := &s.entries[i]; e.namespaces == "" || matchList(e.namespaces, namespace) {
			return true
		}
	}
	return false
}

// KeyText is a key as a line of authorized_keys, without options and comment.
func KeyText(key ssh.PublicKey) string {
	return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))
}
