package approval

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/go-webauthn/webauthn/protocol"
)

// PasskeySuffix ends the name of a file with an [Assertion]; the name begins with that of its plan.
const PasskeySuffix = ".passkey"

// challengeLabel begins the bytes of which a passkey signs the hash: no challenge of another use is one of a plan.
const challengeLabel = "remit plan approval by passkey 1\n"

// Assertion is the answer of an authenticator to the challenge of a plan (WebAuthn Level 3, 7.2), in the file that
// stands beside the plan. The bytes are those that the browser gave; the file has them in base64.
type Assertion struct {
	RPID              string
	CredentialID      []byte
	ClientData        []byte // clientDataJSON
	AuthenticatorData []byte
	Signature         []byte

	client protocol.CollectedClientData
	device protocol.AuthenticatorData
}

// assertionFile is the form of the file.
type assertionFile struct {
	Format            string `json:"format"`
	RPID              string `json:"rp_id"`
	CredentialID      string `json:"credential_id"`
	ClientData        []byte `json:"client_data_json"`
	AuthenticatorData []byte `json:"authenticator_data"`
	Signature         []byte `json:"signature"`
}

const assertionFormat = "remit-passkey-1"

var errNoAssertion = errors.New("it is no approval by a passkey: remit review writes one")

// ParseAssertion reads a file that [Assertion.Text] wrote. Each of its bytes has a meaning: a file with any byte changed is
// refused, or is another assertion.
func ParseAssertion(text []byte) (*Assertion, error) {
	var file assertionFile
	if json.Unmarshal(text, &file) != nil || file.Format != assertionFormat {
		return nil, errNoAssertion
	}
	id, err := base64.RawURLEncoding.Strict().DecodeString(file.CredentialID)
	if err != nil {
		return nil, errNoAssertion
	}
	a, err := NewAssertion(file.RPID, id, file.ClientData, file.AuthenticatorData, file.Signature)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(a.Text(), bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))) {
		return nil, errors.New("it is no approval by a passkey as remit writes it: something in the file was changed")
	}
	return a, nil
}

// NewAssertion reads what a browser gave.
func NewAssertion(rpID string, id, clientData, authenticatorData, signature []byte) (*Assertion, error) {
	a := &Assertion{RPID: rpID, CredentialID: id, ClientData: clientData, AuthenticatorData: authenticatorData, Signature: signature}
	if err := CheckRPID(rpID); err != nil {
		return nil, err
	}
	if json.Unmarshal(clientData, &a.client) != nil {
		return nil, errors.New("the client data of its passkey cannot be read")
	}
	if a.device.Unmarshal(authenticatorData) != nil {
		return nil, errors.New("the authenticator data of its passkey cannot be read")
	}
	return a, nil
}

// Text is the file of an assertion.
func (a *Assertion) Text() []byte {
	text, err := json.MarshalIndent(assertionFile{
		assertionFormat, a.RPID, encodeID(a.CredentialID), a.ClientData, a.AuthenticatorData, a.Signature,
	}, "", "  ")
	if err != nil {
		panic(err) // of texts and bytes
	}
	return append(text, '\n')
}

// IsBackedUp reports whether the authenticator says that a copy of the key is kept elsewhere. Without an attestation
// this is its word and no proof.
func (a *Assertion) IsBackedUp() bool { return a.device.Flags.HasBackupState() }

// Challenge is what a passkey answers to approve the plan of a digest: the SHA-256 of a label and of the file's bytes.
func (d *Digest) Challenge() []byte { return d.challenge.Sum(nil) }

// Verify returns an error where an assertion is none by a passkey for the plan of a digest, asked at an origin of its
// RP ID: the RP ID itself, or a host below it.
func (a *Assertion) Verify(p *Passkey, plan *Digest) error {
	origin, err := url.Parse(a.client.Origin)
	if err != nil || origin.Hostname() != a.RPID && !strings.HasSuffix(origin.Hostname(), "."+a.RPID) {
		return fmt.Errorf("its passkey was asked at %q, which is no origin of the RP ID %s", a.client.Origin, a.RPID)
	}
	if p.RPID != a.RPID || !bytes.Equal(p.ID, a.CredentialID) {
		return errors.New("it was made with another passkey")
	}
	if why, detail := a.verify(p, plan, []string{a.client.Origin}); why != "" {
		return errors.New(detail)
	}
	return nil
}

// verify says why an assertion is none by a passkey for the plan of a digest; "" where it is one. The origins are those
// at which a page may ask it.
func (a *Assertion) verify(p *Passkey, plan *Digest, origins []string) (Why, string) {
	switch {
	case a.client.Type != protocol.AssertCeremony:
		return OtherUse, fmt.Sprintf("its passkey was asked for %q, and an approval is an answer to %q", a.client.Type, protocol.AssertCeremony)
	case a.client.Challenge != base64.RawURLEncoding.EncodeToString(plan.Challenge()):
		return OtherBytes, "it is not over the bytes of this plan: it approves another file, or the plan or the approval was changed since"
	case a.client.CrossOrigin || a.client.TopOrigin != "":
		return OtherOrigin, "its passkey was asked from within a page of another origin"
	case !slices.Contains(origins, a.client.Origin):
		return OtherOrigin, fmt.Sprintf("its passkey was asked at %q; the approval block has %s for the RP ID %s", a.client.Origin, strings.Join(origins, ", "), a.RPID)
	}
	want := sha256.Sum256([]byte(a.RPID))
	switch flags := a.device.Flags; {
	case !bytes.Equal(a.device.RPIDHash, want[:]):
		return OtherOrigin, fmt.Sprintf("its authenticator answered for another RP ID than %s", a.RPID)
	case !flags.HasUserPresent():
		return Unverified, "its authenticator saw nobody touch it"
	case !flags.HasUserVerified():
		return Unverified, "its authenticator did not verify who touched it, by a PIN, a fingerprint or a face"
	case flags.HasBackupState() && !flags.HasBackupEligible(), flags.HasAttestedCredentialData():
		return Unreadable, "the flags of its authenticator contradict each other"
	}
	if !p.signed(a) {
		return OtherBytes, "it is no signature by that passkey: it was changed, or another key made it"
	}
	return "", ""
}

// signed reports whether the passkey made the signature of an assertion (WebAuthn Level 3, 7.2, step 21).
func (p *Passkey) signed(a *Assertion) bool {
	client := sha256.Sum256(a.ClientData)
	message := slices.Concat(a.AuthenticatorData, client[:])
	sum := sha256.Sum256(message)
	switch key := p.public.(type) {
	case *ecdsa.PublicKey:
		return ecdsa.VerifyASN1(key, sum[:], a.Signature)
	case ed25519.PublicKey:
		return ed25519.Verify(key, message, a.Signature)
	case *rsa.PublicKey:
		return rsa.VerifyPKCS1v15(key, crypto.SHA256, sum[:], a.Signature) == nil
	}
	return false
}
