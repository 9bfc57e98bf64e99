package approval

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"remit/internal/text/english"
)

// File is a signature's file, as it was found beside a plan.
type File struct {
	Name    string // without its directory
	Content []byte
	Problem string // why it could not be read; "" where it was
}

// Case is what there is to decide on.
type Case struct {
	Need    Need
	Signers *Signers
	Revoked *Revoked
	Plan    *Digest // of the plan's file
	// AuthorKey is the fingerprint of the key that the plan itself names as its author's; ""
	// where it names none. All signatures are over it.
	AuthorKey string
	// Origins are those at which a page may ask for a passkey, by RP ID; a passkey of any other RP ID counts for nothing.
	Origins map[string][]string
	Files   []File
	Now     time.Time
}

// Why names the reason for which a signature does not count.
type Why string

// The reasons.
const (
	Unreadable  Why = "unreadable"
	OtherUse    Why = "other namespace"
	OtherBytes  Why = "other bytes"
	UnknownKey  Why = "unknown key"
	RevokedKey  Why = "revoked key"
	ExpiredKey  Why = "expired key"
	NotYetValid Why = "key not yet valid"
	OtherOrigin Why = "another origin" // a passkey that was asked at another origin, or for another RP ID
	Unverified  Why = "user not verified"
	BackedUp    Why = "backed up"
	IsAuthor    Why = "the author"
	SamePerson  Why = "the same person"
	OtherPerson Why = "another person" // than the record of a run says
)

// Counted is a signature that counts.
type Counted struct {
	Principal string
	Key       Key
	File      File
	person    Person
}

// SHA256 is the hexadecimal hash of the signature's file.
func (c *Counted) SHA256() string {
	sum := sha256.Sum256(c.File.Content)
	return hex.EncodeToString(sum[:])
}

// Discounted is a signature that does not count.
type Discounted struct {
	File      string
	Principal string // "" where it is not known
	Why       Why
	Detail    string // a sentence, for a person
}

// Verdict is the decision on a plan's approvals.
type Verdict struct {
	Need Need
	// Author signed with the key that the plan names; nil where nobody did, and one approver
	// more is needed.
	Author     *Counted
	Approvers  []Counted // distinct people, none of them the author
	Discounted []Discounted
	// Could are the people who are neither counted nor the author, and have a key that counts
	// now.
	Could []string
}

// Needed is how many approvers are needed, the one for a missing author among them.
func (v *Verdict) Needed() int {
	if v.Author == nil {
		return v.Need.Approvers + 1
	}
	return v.Need.Approvers
}

// Enough reports whether the plan is approved.
func (v *Verdict) Enough() bool { return len(v.Approvers) >= v.Needed() }

// Decide judges every signature, in the order of the files' names.
func Decide(c Case) Verdict {
	v := Verdict{Need: c.Need}
	files := slices.Clone(c.Files)
	slices.SortStableFunc(files, func(a, b File) int { return cmp.Compare(a.Name, b.Name) })
	author, isNamed := c.Signers.OwnerOf(c.AuthorKey)
	var rest []Counted
	for _, file := range files {
		counted, why := c.judge(file)
		switch {
		case why != nil:
			v.Discounted = append(v.Discounted, *why)
		case v.Author == nil && counted.Key.Fingerprint() == c.AuthorKey:
			v.Author = counted
		default:
			rest = append(rest, *counted)
		}
	}
	taken := map[Person]string{} // with whose file
	for _, counted := range rest {
		why := Discounted{File: counted.File.Name, Principal: counted.Principal}
		switch earlier, isTwice := taken[counted.person]; {
		case isNamed && counted.person == author:
			why.Why, why.Detail = IsAuthor, fmt.Sprintf("%s is the plan's author, who cannot approve it", c.Signers.Name(counted.person))
		case isTwice:
			why.Why, why.Detail = SamePerson, fmt.Sprintf("%s is the same person as in %s, and counts once", c.Signers.Name(counted.person), earlier)
		default:
			taken[counted.person] = counted.File.Name
			v.Approvers = append(v.Approvers, counted)
			continue
		}
		v.Discounted = append(v.Discounted, why)
	}
	for _, p := range c.Signers.Able(c.Revoked, c.Now) {
		if _, isTaken := taken[p]; !isTaken && (!isNamed || p != author) {
			v.Could = append(v.Could, c.Signers.Name(p))
		}
	}
	return v
}

// judge says whose signature a file is, or why it is nobody's.
func (c *Case) judge(file File) (*Counted, *Discounted) {
	no := func(principal string, why Why, detail string) (*Counted, *Discounted) {
		return nil, &Discounted{file.Name, principal, why, detail}
	}
	if file.Problem != "" {
		return no("", Unreadable, file.Problem)
	}
	if strings.HasSuffix(file.Name, PasskeySuffix) {
		return c.judgePasskey(file, no)
	}
	sig, err := ParseSignature(file.Content)
	if err != nil {
		return no("", Unreadable, err.Error())
	}
	key := SSHKey(sig.Key())
	person, _ := c.Signers.Owner(key) // nobody's key is refused below
	use := c.Signers.Use(key, c.Revoked, c.Now)
	principal := use.Principal
	if sig.Namespace() != Namespace {
		return no(principal, OtherUse, fmt.Sprintf("it was made for the namespace %q, and an approval is for %q", sig.Namespace(), Namespace))
	}
	if err := sig.Verify(c.Plan); err != nil {
		return no(principal, OtherBytes, "it is not over the bytes of this plan: it approves another file, or the plan or the signature was changed since")
	}
	if use.Why != "" {
		return no(principal, use.Why, use.Detail+" "+inBrackets(key.Fingerprint()))
	}
	return &Counted{principal, key, file, person}, nil
}

// judgePasskey is judge of the file of an assertion.
func (c *Case) judgePasskey(file File, no func(principal string, why Why, detail string) (*Counted, *Discounted)) (*Counted, *Discounted) {
	a, err := ParseAssertion(file.Content)
	if err != nil {
		return no("", Unreadable, err.Error())
	}
	p := c.Signers.PasskeyOf(a.RPID, a.CredentialID)
	if p == nil {
		return no("", UnknownKey, fmt.Sprintf("allowed_passkeys does not have the credential %s of %s", encodeID(a.CredentialID), a.RPID))
	}
	key := Key{passkey: p}
	person, _ := c.Signers.Owner(key)
	use := c.Signers.Use(key, c.Revoked, c.Now)
	if why, detail := a.verify(p, c.Plan, c.Origins[a.RPID]); why != "" {
		return no(use.Principal, why, detail)
	}
	if use.Why != "" {
		return no(use.Principal, use.Why, use.Detail+" "+inBrackets(key.Fingerprint()))
	}
	if c.Need.DeviceBound != "" && a.IsBackedUp() {
		return no(use.Principal, BackedUp, fmt.Sprintf(
			"its authenticator says that the passkey is backed up, and the rule at %s wants one that is not", c.Need.DeviceBound))
	}
	return &Counted{use.Principal, key, file, person}, nil
}

func inBrackets(text string) string { return "(" + text + ")" }

// Able are the people who have a key that counts at a time, in the order of the file.
func (s *Signers) Able(revoked *Revoked, now time.Time) []Person {
	able := map[Person]bool{}
	for i, e := range s.entries {
		if s.Use(e.key, revoked, now).Why == "" {
			able[s.people.of[i]] = true
		}
	}
	return slices.DeleteFunc(s.People(), func(p Person) bool { return !able[p] })
}

// Missing says in a sentence what an apply lacks; "" where nothing is missing.
func (v *Verdict) Missing() string {
	if v.Enough() {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "it has %d of the %s that the rule at %s wants (%s", len(v.Approvers), english.Plural(v.Needed(), "approver"), v.Need.Rule.Place, v.Need.Because)
	if v.Author == nil {
		b.WriteString("; one more than the rule says, because no author signed it")
	}
	b.WriteString(")")
	return b.String()
}
