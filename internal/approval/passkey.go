package approval

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Passkey is a credential of WebAuthn: a key pair that an authenticator keeps for one relying party.
type Passkey struct {
	RPID      string
	ID        []byte // the credential's, as its authenticator chose it
	Algorithm Algorithm
	PublicKey []byte // SubjectPublicKeyInfo in DER (RFC 5280)
	public    crypto.PublicKey
}

// Algorithm is how a passkey signs, under the name that COSE gives it (RFC 9053, RFC 8812).
type Algorithm string

// The algorithms that are accepted.
const (
	ES256 Algorithm = "ES256"
	EdDSA Algorithm = "EdDSA"
	RS256 Algorithm = "RS256"
)

// Algorithms lists them in the order in which a registration asks for them.
func Algorithms() []Algorithm { return []Algorithm{ES256, EdDSA, RS256} }

// COSE is the number of an algorithm in the registry of COSE; 0 for one that is not accepted.
func (a Algorithm) COSE() int {
	switch a {
	case ES256:
		return -7
	case EdDSA:
		return -8
	case RS256:
		return -257
	}
	return 0
}

// Bounds of a passkey.
const (
	credentialIDMax = 1023 // bytes (WebAuthn Level 3, 5.1)
	rsaBitsMin      = 2048
)

var errPasskeyFields = errors.New("it is no passkey: a line is PERSON RP_ID CREDENTIAL_ID ALGORITHM PUBLIC_KEY [OPTIONS]")

// NewPasskey checks what a browser says of a new credential. The public key is SubjectPublicKeyInfo in DER, as
// getPublicKey() of the browser returns it.
func NewPasskey(rpID string, id []byte, algorithm Algorithm, publicKey []byte) (*Passkey, error) {
	return newPasskey(rpID, encodeID(id), string(algorithm), base64.StdEncoding.EncodeToString(publicKey))
}

func newPasskey(rpID, id, algorithm, publicKey string) (*Passkey, error) {
	p := &Passkey{RPID: rpID, Algorithm: Algorithm(algorithm)}
	if err := CheckRPID(rpID); err != nil {
		return nil, err
	}
	var err error
	if p.ID, err = base64.RawURLEncoding.Strict().DecodeString(id); err != nil || len(p.ID) == 0 || len(p.ID) > credentialIDMax {
		return nil, fmt.Errorf("its credential ID is not 1 to %d bytes in base64url without padding", credentialIDMax)
	}
	if p.Algorithm.COSE() == 0 {
		return nil, fmt.Errorf("its algorithm is %q; there are ES256, EdDSA and RS256", algorithm)
	}
	if p.PublicKey, err = base64.StdEncoding.Strict().DecodeString(publicKey); err != nil {
		return nil, errors.New("its public key is not base64")
	}
	if p.public, err = x509.ParsePKIXPublicKey(p.PublicKey); err != nil {
		return nil, errors.New("its public key cannot be read: it is no SubjectPublicKeyInfo")
	}
	if der, err := x509.MarshalPKIXPublicKey(p.public); err != nil || !bytes.Equal(der, p.PublicKey) {
		return nil, errors.New("its public key is written in another way than DER allows")
	}
	return p, p.checkKey()
}

// checkKey refuses a public key of another algorithm than the line says.
func (p *Passkey) checkKey() error {
	var is Algorithm
	switch key := p.public.(type) {
	case *ecdsa.PublicKey:
		if key.Curve != elliptic.P256() {
			return errors.New("its public key is of another curve than P-256, which ES256 has")
		}
		is = ES256
	case ed25519.PublicKey:
		is = EdDSA
	case *rsa.PublicKey:
		if key.N.BitLen() < rsaBitsMin {
			return fmt.Errorf("its public key has %d bits, and RS256 needs %d", key.N.BitLen(), rsaBitsMin)
		}
		is = RS256
	}
	if is != p.Algorithm {
		return fmt.Errorf("its public key is not one of %s", p.Algorithm)
	}
	return nil
}

// CheckRPID refuses a text that is no host name in small letters: a browser compares it as such.
func CheckRPID(id string) error {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789.-"
	if id == "" || len(id) > 253 || strings.Trim(id, letters) != "" || strings.HasPrefix(id, ".") || strings.HasSuffix(id, ".") {
		return fmt.Errorf("the RP ID %q is no host name in small letters, such as localhost or pay.example.com", id)
	}
	return nil
}

// encodeID writes a credential's ID as browsers do.
func encodeID(id []byte) string { return base64.RawURLEncoding.EncodeToString(id) }

// ParsePasskeys reads an allowed_passkeys file. Each line has a person, or several names of one with commas between
// them, an RP ID, a credential ID, an algorithm, a public key, and options: registered (a time), backup ("yes" or "no"),
// valid-after and valid-before, all as allowed_signers writes options. A time without a zone is one of
// where. A line that is not understood is a mistake, and none is passed over.
func ParsePasskeys(content []byte, where *time.Location) (*Signers, []Mistake) {
	s := &Signers{}
	var mistakes []Mistake
	seen := map[string]int{}
	for number, line := range lines(content) {
		e, err := parsePasskeyEntry(line, where)
		if err == nil && seen[e.key.blob()] > 0 {
			err = fmt.Errorf("line %d has the same credential; write all of its names in one line", seen[e.key.blob()])
		}
		if err != nil {
			mistakes = append(mistakes, Mistake{number, err.Error()})
			continue
		}
		seen[e.key.blob()] = number
		e.file, e.line = passkeysFile, number
		s.entries = append(s.entries, e)
	}
	if len(s.entries) == 0 && len(mistakes) == 0 {
		mistakes = append(mistakes, Mistake{0, "it names nobody, so nothing could be approved"})
	}
	s.people = newPeople(s.entries)
	return s, mistakes
}

func parsePasskeyEntry(line string, where *time.Location) (entry, error) {
	var e entry
	if err := checkLine(line); err != nil {
		return e, err
	}
	names, rest, err := cutWord(line)
	if err != nil {
		return e, errPasskeyFields
	}
	if e.principals, err = parsePrincipals(names); err != nil {
		return e, err
	}
	const wanted = 4
	fields := make([]string, 0, wanted)
	for range wanted {
		var field string
		if field, rest, _ = strings.Cut(strings.TrimLeft(rest, " \t"), " "); field == "" {
			return e, errPasskeyFields
		}
		fields = append(fields, field)
	}
	p, err := newPasskey(fields[0], fields[1], fields[2], fields[3])
	if err != nil {
		return e, err
	}
	e.key = Key{passkey: p}
	options, after, err := cutOptions(strings.TrimLeft(rest, " \t"))
	if err == nil && after != "" {
		err = fmt.Errorf("%q follows its options, which have commas between them and no spaces", after)
	}
	if err != nil {
		return e, err
	}
	return e, e.parseOptions(options, where)
}

// PasskeyLine is a line of an allowed_passkeys file for a new passkey.
func PasskeyLine(person string, p *Passkey, registered time.Time, isBackedUp bool) string {
	if strings.ContainsAny(person, " \t#") {
		person = `"` + person + `"`
	}
	backup := "no"
	if isBackedUp {
		backup = "yes"
	}
	text, _ := strings.CutPrefix(Key{passkey: p}.Text(), passkeyWord+" ")
	return fmt.Sprintf(`%s %s registered="%s",backup="%s"`, person, text, registered.UTC().Format("20060102150405Z"), backup)
}

// Join are the people of two files: names that both have are one person's, with the keys of both.
func Join(a, b *Signers) *Signers {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	joined := &Signers{entries: slices.Concat(a.entries, b.entries)}
	joined.people = newPeople(joined.entries)
	return joined
}

// Passkeys are those of the file, in its order.
func (s *Signers) Passkeys() []*Passkey {
	var all []*Passkey
	if s == nil {
		return nil
	}
	for _, e := range s.entries {
		if p := e.key.passkey; p != nil {
			all = append(all, p)
		}
	}
	return all
}

// HasSSH reports whether somebody has an SSH key.
func (s *Signers) HasSSH() bool {
	return s != nil && slices.ContainsFunc(s.entries, func(e entry) bool { return e.key.ssh != nil })
}

// HasSSHOf reports whether one of the people has an SSH key, by what [Signers.Name] calls them.
func (s *Signers) HasSSHOf(names []string) bool {
	return s != nil && slices.ContainsFunc(s.People(), func(p Person) bool {
		return slices.Contains(names, s.Name(p)) && slices.ContainsFunc(s.entries, func(e entry) bool {
			owner, _ := s.Owner(e.key)
			return owner == p && e.key.ssh != nil
		})
	})
}

// Covers reports whether the files say whose keys of the kind of a key are whose.
func (s *Signers) Covers(key Key) bool {
	if key.passkey != nil {
		return len(s.Passkeys()) > 0
	}
	return s.HasSSH()
}

// PasskeyOf is the passkey with an RP ID and a credential ID; nil where the file has none.
func (s *Signers) PasskeyOf(rpID string, id []byte) *Passkey {
	for _, p := range s.Passkeys() {
		if p.RPID == rpID && bytes.Equal(p.ID, id) {
			return p
		}
	}
	return nil
}
