package approval

import (
	"fmt"
	"strings"
	"time"
)

// Use is whether a key counts at a time.
type Use struct {
	// Why says why the key does not count; "" where it does.
	Why Why
	// Detail is what the file says of it, such as until when it was valid.
	Detail string
	// Principal is the first of the line by which the key counts, or of its first line where it
	// does not: as this one ssh-keygen verifies a signature. Where a person has several names it
	// need not be their [Signers.Name]. "" for nobody's key.
	Principal string
}

// Use says whether a signature by a key of s counts at a time: by any of its lines.
func (s *Signers) Use(key Key, revoked *Revoked, now time.Time) Use {
	with := s.people.byKey[key.blob()]
	if len(with) == 0 {
		file := signersFile
		if key.passkey != nil {
			file = passkeysFile
		}
		return Use{Why: UnknownKey, Detail: file + " does not have the key"}
	}
	if where := revoked.where(key); where != "" {
		return Use{RevokedKey, where, s.entries[with[0]].principals[0]}
	}
	var first Use
	for n, i := range with {
		use := s.entries[i].use(now)
		if use.Why == "" {
			return use
		}
		if n == 0 {
			first = use
		}
	}
	return first
}

func (e *entry) use(now time.Time) Use {
	const layout = "2006-01-02 15:04:05 MST"
	name := e.principals[0]
	switch {
	case e.namespaces != "" && !matchList(e.namespaces, Namespace):
		return Use{OtherUse, fmt.Sprintf("%s line %d has the key for the namespaces %q only", e.file, e.line, e.namespaces), name}
	case !e.after.IsZero() && now.Before(e.after):
		return Use{NotYetValid, fmt.Sprintf("%s line %d has the key as valid after %s", e.file, e.line, e.after.Format(layout)), name}
	case !e.before.IsZero() && now.After(e.before):
		return Use{ExpiredKey, fmt.Sprintf("%s line %d had the key as valid before %s", e.file, e.line, e.before.Format(layout)), name}
	}
	return Use{Principal: name}
}

// matchList matches a name against a list of patterns as OpenSSH does (PATTERNS in
// ssh_config(5)): one of them must match, and none with a ! before it.
func matchList(patterns, name string) bool {
	matches := false
	for pattern := range strings.SplitSeq(patterns, ",") {
		pattern, isNegated := strings.CutPrefix(pattern, "!")
		switch {
		case !match(pattern, name):
		case isNegated:
			return false
		default:
			matches = true
		}
	}
	return matches
}

// match matches with * and ?. It takes time in proportion to the product of the lengths.
func match(pattern, name string) bool {
	p, n := 0, 0
	star, after := -1, 0 // the latest *, and where in name it ends
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, after = p, n
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == name[n]):
			p++
			n++
		case star >= 0:
			after++
			p, n = star+1, after
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
