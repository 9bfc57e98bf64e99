package approval

import "slices"

// Has reports whether a principal has a key, by any line of the file.
func (s *Signers) Has(principal string, key Key) bool {
	for _, i := range s.people.byKey[key.blob()] {
		if slices.ContainsFunc(s.entries[i].principals, func(name string) bool { return sameName(name) == sameName(principal) }) {
			return true
		}
	}
	return false
}

// Allows reports whether a line of the file has a key for a namespace, whenever it is valid.
func (s *Signers) Allows(key Key, namespace string) bool {
	for _, i := range s.people.byKey[key.blob()] {
		if e := &s.entries[i]; e.namespaces == "" || matchList(e.namespaces, namespace) {
			return true
		}
	}
	return false
}
