package approval

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// Person is somebody whom a file of keys knows: all lines that share a principal or
// a key are one person's, however many names they give. It is only good with the Signers that
// it came from.
type Person int

// people say which lines are one person's.
type people struct {
	of    []Person         // of each entry
	byKey map[string][]int // the entries with a key, by [Key.blob]
}

// sameName is one form for all names that differ in the case of letters, or as bytes alone:
// nobody's second key may pass for somebody else's by a capital letter.
func sameName(name string) string { return strings.ToLower(norm.NFKC.String(name)) }

// newPeople joins entries.
func newPeople(entries []entry) people {
	p := people{of: make([]Person, len(entries)), byKey: map[string][]int{}}
	root := func(i int) int {
		for int(p.of[i]) != i {
			i = int(p.of[i])
		}
		return i
	}
	join := func(i, earlier int) {
		a, b := root(earlier), root(i)
		p.of[max(a, b)] = Person(min(a, b))
	}
	byName, byPublic := map[string]int{}, map[string]int{}
	for i, e := range entries {
		p.of[i] = Person(i)
		blob := e.key.blob()
		p.byKey[blob] = append(p.byKey[blob], i)
		join(i, p.byKey[blob][0])
		public := e.key.Fingerprint() // the file of an assertion says which credential it is of: one key under two IDs is one person's
		if _, ok := byPublic[public]; !ok {
			byPublic[public] = i
		}
		join(i, byPublic[public])
		for _, name := range e.principals {
			name = sameName(name)
			if _, ok := byName[name]; !ok {
				byName[name] = i
			}
			join(i, byName[name])
		}
	}
	for i := range p.of {
		p.of[i] = Person(root(i))
	}
	return p
}

// Name is what a person is called: by the first principal of their first line.
func (s *Signers) Name(p Person) string { return s.entries[p].principals[0] }

// People lists everybody, in the order of the file.
func (s *Signers) People() []Person {
	var all []Person
	for i, p := range s.people.of {
		if int(p) == i {
			all = append(all, p)
		}
	}
	return all
}

// Allowed is how many people have a key that may approve, whenever it is valid.
func (s *Signers) Allowed() int {
	able := map[Person]bool{}
	for i := range s.entries {
		if list := s.entries[i].namespaces; list == "" || matchList(list, Namespace) {
			able[s.people.of[i]] = true
		}
	}
	return len(able)
}

// Owner is whose key it is, whether or not it counts now; false for nobody's.
func (s *Signers) Owner(key Key) (Person, bool) {
	with := s.people.byKey[key.blob()]
	if len(with) == 0 {
		return 0, false
	}
	return s.people.of[with[0]], true
}

// OwnerOf is Owner for a key that is known by its fingerprint, as [Key.Fingerprint]
// writes it.
func (s *Signers) OwnerOf(fingerprint string) (Person, bool) {
	for i, e := range s.entries {
		if e.key.Fingerprint() == fingerprint {
			return s.people.of[i], true
		}
	}
	return 0, false
}
