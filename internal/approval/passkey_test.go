package approval_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/internal/approval"
)

// authenticator plays a browser and a device with keys.
type authenticator struct {
	key    crypto.Signer
	id     []byte
	rpID   string
	origin string
	flags  byte
	client func(map[string]any)
}

const (
	userPresent  = 1
	userVerified = 4
	eligible     = 8
	backedUp     = 16
	localOrigin  = "http://localhost:7468"
)

func newAuthenticator(t testing.TB, algorithm approval.Algorithm, id string) *authenticator {
	t.Helper()
	a := &authenticator{id: []byte(id), rpID: "localhost", origin: localOrigin, flags: userPresent | userVerified}
	var err error
	switch algorithm {
	case approval.ES256:
		a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case approval.EdDSA:
		_, a.key, err = ed25519.GenerateKey(rand.Reader)
	case approval.RS256:
		a.key, err = rsa.GenerateKey(rand.Reader, 2048)
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func (a *authenticator) passkey(t testing.TB, algorithm approval.Algorithm) *approval.Passkey {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(a.key.Public())
	if err != nil {
		t.Fatal(err)
	}
	p, err := approval.NewPasskey(a.rpID, a.id, algorithm, der)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// approve answers the challenge of a plan.
func (a *authenticator) approve(t testing.TB, plan string) *approval.Assertion {
	t.Helper()
	client := map[string]any{
		"type": "webauthn.get", "challenge": base64.RawURLEncoding.EncodeToString(digestOf(plan).Challenge()),
		"origin": a.origin, "crossOrigin": false,
	}
	if a.client != nil {
		a.client(client)
	}
	clientData, err := json.Marshal(client)
	if err != nil {
		t.Fatal(err)
	}
	rp := sha256.Sum256([]byte(a.rpID))
	device := append(rp[:], a.flags, 0, 0, 0, 7)
	hash := sha256.Sum256(clientData)
	message := slices.Concat(device, hash[:])
	signed, options := message, crypto.SignerOpts(crypto.Hash(0))
	if _, isEd := a.key.(ed25519.PrivateKey); !isEd {
		sum := sha256.Sum256(message)
		signed, options = sum[:], crypto.SHA256
	}
	signature, err := a.key.Sign(rand.Reader, signed, options)
	if err != nil {
		t.Fatal(err)
	}
	made, err := approval.NewAssertion("localhost", a.id, clientData, device, signature)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func digestOf(plan string) *approval.Digest {
	d := approval.NewDigest()
	_, _ = d.Write([]byte(plan)) // it never fails
	return d
}

func passkeys(t testing.TB, text string) *approval.Signers {
	t.Helper()
	s, mistakes := approval.ParsePasskeys([]byte(text), time.UTC)
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	return s
}

const passkeyPlan = "a plan\n"

// passkeyCase has two people with passkeys, of whom bob has an SSH key too, and a rule for two approvers.
func passkeyCase(t testing.TB) (c approval.Case, ada, bob *authenticator) {
	t.Helper()
	ada, bob = newAuthenticator(t, approval.ES256, "ada's"), newAuthenticator(t, approval.EdDSA, "bob's")
	text := approval.PasskeyLine("ada@example.com", ada.passkey(t, approval.ES256), time.Now(), false) + "\n" +
		approval.PasskeyLine("bob@example.com", bob.passkey(t, approval.EdDSA), time.Now(), false) + "\n"
	return approval.Case{
		Need:    approval.Need{Approvers: 1, Rule: approval.Rule{Place: "main.hcl:3", Approvers: 1}},
		Signers: passkeys(t, text), Plan: digestOf(passkeyPlan), Now: time.Now(),
		Origins: map[string][]string{"localhost": {localOrigin}},
	}, ada, bob
}

func fileOf(name string, a *approval.Assertion) approval.File {
	return approval.File{Name: name + approval.PasskeySuffix, Content: a.Text()}
}

func TestTwoPeopleApproveWithPasskeysOfEachAlgorithm(t *testing.T) {
	for _, algorithm := range approval.Algorithms() {
		t.Run(string(algorithm), func(t *testing.T) {
			c, _, bob := passkeyCase(t)
			eve := newAuthenticator(t, algorithm, "eve's")
			c.Signers = approval.Join(c.Signers, passkeys(t, approval.PasskeyLine("eve@example.com", eve.passkey(t, algorithm), time.Now(), true)))
			c.Files = []approval.File{fileOf("p.bob", bob.approve(t, passkeyPlan)), fileOf("p.eve", eve.approve(t, passkeyPlan))}
			v := approval.Decide(c)
			var names []string
			for _, a := range v.Approvers {
				names = append(names, a.Principal)
			}
			if diff := cmp.Diff([]string{"bob@example.com", "eve@example.com"}, names); diff != "" || !v.Enough() {
				t.Errorf("approvers (-want +got):\n%s%+v", diff, v.Discounted)
			}
		})
	}
}

func TestAPasskeyDoesNotCount(t *testing.T) {
	tests := map[string]struct {
		spoil func(t *testing.T, c *approval.Case, ada *authenticator)
		want  approval.Why
	}{
		"for another plan":                              {func(_ *testing.T, c *approval.Case, _ *authenticator) { c.Plan = digestOf(passkeyPlan + " ") }, approval.OtherBytes},
		"asked at another origin":                       {func(_ *testing.T, _ *approval.Case, a *authenticator) { a.origin = "http://localhost:7469" }, approval.OtherOrigin},
		"asked at the same origin under another scheme": {func(_ *testing.T, _ *approval.Case, a *authenticator) { a.origin = "https://localhost:7468" }, approval.OtherOrigin},
		"whose authenticator answers for another RP ID": {func(_ *testing.T, _ *approval.Case, a *authenticator) { a.rpID = "example.com" }, approval.OtherOrigin},
		"asked from a frame": {func(_ *testing.T, _ *approval.Case, a *authenticator) {
			a.client = func(c map[string]any) { c["crossOrigin"] = true }
		}, approval.OtherOrigin},
		"with a page around it": {func(_ *testing.T, _ *approval.Case, a *authenticator) {
			a.client = func(c map[string]any) { c["topOrigin"] = "https://evil.example" }
		}, approval.OtherOrigin},
		"that answers the making of a passkey": {func(_ *testing.T, _ *approval.Case, a *authenticator) {
			a.client = func(c map[string]any) { c["type"] = "webauthn.create" }
		}, approval.OtherUse},
		"whose person was not verified":   {func(_ *testing.T, _ *approval.Case, a *authenticator) { a.flags = userPresent }, approval.Unverified},
		"that nobody touched":             {func(_ *testing.T, _ *approval.Case, a *authenticator) { a.flags = userVerified }, approval.Unverified},
		"that is backed up and cannot be": {func(_ *testing.T, _ *approval.Case, a *authenticator) { a.flags |= backedUp }, approval.Unreadable},
		"that nobody has":                 {func(_ *testing.T, _ *approval.Case, a *authenticator) { a.id = []byte("another") }, approval.UnknownKey},
		"by another key under the same ID": {func(t *testing.T, _ *approval.Case, a *authenticator) {
			a.key = newAuthenticator(t, approval.ES256, "x").key
		}, approval.OtherBytes},
		"of an RP ID that the block has not": {func(_ *testing.T, c *approval.Case, _ *authenticator) { c.Origins = nil }, approval.OtherOrigin},
		"that has expired": {func(t *testing.T, c *approval.Case, a *authenticator) {
			c.Signers = passkeys(t, approval.PasskeyLine("ada@example.com", a.passkey(t, approval.ES256), time.Now(), false)+`,valid-before="20200101Z"`)
		}, approval.ExpiredKey},
		"that is not valid yet": {func(t *testing.T, c *approval.Case, a *authenticator) {
			c.Signers = passkeys(t, approval.PasskeyLine("ada@example.com", a.passkey(t, approval.ES256), time.Now(), false)+`,valid-after="21000101Z"`)
		}, approval.NotYetValid},
		"that was revoked": {func(t *testing.T, c *approval.Case, _ *authenticator) {
			revoked, mistakes := approval.ParseRevokedPasskeys([]byte("localhost " + base64.RawURLEncoding.EncodeToString([]byte("ada's")) + "\n"))
			if len(mistakes) > 0 {
				t.Fatal(mistakes)
			}
			c.Revoked = approval.JoinRevoked(nil, revoked)
		}, approval.RevokedKey},
		"that is backed up, where a rule wants one that is not": {func(_ *testing.T, c *approval.Case, a *authenticator) {
			a.flags |= eligible | backedUp
			c.Need.DeviceBound = "main.hcl:3"
		}, approval.BackedUp},
		"of the author": {func(t *testing.T, c *approval.Case, _ *authenticator) {
			key := signer(t, "author")
			c.Signers = approval.Join(signers(t, "ADA@example.com "+keyLine(key)), c.Signers)
			c.AuthorKey = approval.SSHKey(key.PublicKey()).Fingerprint()
		}, approval.IsAuthor},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c, ada, _ := passkeyCase(t)
			test.spoil(t, &c, ada)
			c.Files = []approval.File{fileOf("p.ada", ada.approve(t, passkeyPlan))}
			v := approval.Decide(c)
			if len(v.Approvers) > 0 || len(v.Discounted) != 1 || v.Discounted[0].Why != test.want || v.Discounted[0].Detail == "" {
				t.Errorf("approvers %d, discounted %+v; want %q", len(v.Approvers), v.Discounted, test.want)
			}
		})
	}
}

// TestAnOriginIsTheRPIDOrAHostBelowIt verifies an assertion of which nobody knows the approval block, as that of a pack of evidence.
func TestAnOriginIsTheRPIDOrAHostBelowIt(t *testing.T) {
	const rpID = "pay.example.com"
	for origin, want := range map[string]bool{
		"https://pay.example.com": true, "https://a.pay.example.com:8443": true, "https://evilpay.example.com": false,
		"https://example.com": false, "https://pay.example.com.evil.example": false, "https://evil.example/?.pay.example.com": false,
	} {
		ada := newAuthenticator(t, approval.ES256, "ada's")
		ada.rpID, ada.origin = rpID, origin
		made := ada.approve(t, passkeyPlan)
		a, err := approval.NewAssertion(rpID, made.CredentialID, made.ClientData, made.AuthenticatorData, made.Signature)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Verify(ada.passkey(t, approval.ES256), digestOf(passkeyPlan)); (err == nil) != want {
			t.Errorf("%s: %v, want it to count: %v", origin, err, want)
		}
	}
}

// TestAPersonCountsOnceWithWhateverKeys has one person approve with a passkey and with an SSH key.
func TestAPersonCountsOnceWithWhateverKeys(t *testing.T) {
	c, ada, _ := passkeyCase(t)
	key := signer(t, "ada")
	c.Signers = approval.Join(signers(t, "ada@example.com "+keyLine(key)), c.Signers)
	text, err := approval.Sign(c.Plan, key)
	if err != nil {
		t.Fatal(err)
	}
	c.Files = []approval.File{{Name: "p.sig", Content: text}, fileOf("p.ada", ada.approve(t, passkeyPlan))}
	v := approval.Decide(c)
	if len(v.Approvers) != 1 || len(v.Discounted) != 1 || v.Discounted[0].Why != approval.SamePerson {
		t.Errorf("approvers %d, discounted %+v", len(v.Approvers), v.Discounted)
	}
}

// TestAKeyUnderTwoNamesIsOnePersons lists one key with two credential IDs, of which the file of an assertion says one.
func TestAKeyUnderTwoNamesIsOnePersons(t *testing.T) {
	c, ada, _ := passkeyCase(t)
	again := *ada
	again.id = []byte("another")
	c.Signers = approval.Join(c.Signers, passkeys(t, approval.PasskeyLine("eve@example.com", again.passkey(t, approval.ES256), time.Now(), false)))
	c.Files = []approval.File{fileOf("p.ada", ada.approve(t, passkeyPlan)), fileOf("p.eve", again.approve(t, passkeyPlan))}
	v := approval.Decide(c)
	if len(v.Approvers) != 1 || len(v.Discounted) != 1 || v.Discounted[0].Why != approval.SamePerson {
		t.Errorf("approvers %d, discounted %+v", len(v.Approvers), v.Discounted)
	}
}

// TestEachByteOfAnAssertionMatters changes each byte of the file, and of the plan.
func TestEachByteOfAnAssertionMatters(t *testing.T) {
	c, ada, _ := passkeyCase(t)
	text := ada.approve(t, passkeyPlan).Text()
	if _, err := approval.ParseAssertion(text); err != nil {
		t.Fatal(err)
	}
	for i := range text {
		changed := bytes.Clone(text)
		changed[i] ^= 1
		c.Files = []approval.File{{Name: "p.ada" + approval.PasskeySuffix, Content: changed}}
		if v := approval.Decide(c); len(v.Approvers) > 0 {
			t.Errorf("with byte %d changed it counts:\n%s", i, changed)
		}
	}
}

func TestAllowedPasskeysAreRead(t *testing.T) {
	ada := newAuthenticator(t, approval.ES256, "ada's")
	good := approval.PasskeyLine("ada@example.com", ada.passkey(t, approval.ES256), time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC), false)
	tests := map[string]struct{ line, want string }{
		"a good line":                  {good, ""},
		"two names":                    {"ada," + good, ""},
		"a name with a space":          {strings.Replace(good, "ada@example.com", `"Ada L"`, 1), ""},
		"an expired one":               {good + `,valid-before="20200101"`, ""},
		"no key":                       {"ada@example.com localhost", "a line is PERSON"},
		"another algorithm":            {strings.Replace(good, "ES256", "EdDSA", 1), "is not one of EdDSA"},
		"an unknown algorithm":         {strings.Replace(good, "ES256", "ES512", 1), "there are ES256, EdDSA and RS256"},
		"an RP ID in capitals":         {strings.Replace(good, "localhost", "LOCALHOST", 1), "is no host name"},
		"a namespace":                  {good + `,namespaces="remit-plan"`, "is not known"},
		"a pattern":                    {strings.Replace(good, "ada@", "*@", 1), "is a pattern"},
		"a backup that is neither":     {strings.Replace(good, `backup="no"`, `backup="perhaps"`, 1), `it is "yes" or "no"`},
		"something behind the options": {good + " # hers", "follows its options"},
		"a hidden character":           {strings.Replace(good, "ada", "a\u200bda", 1), "does not show"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, mistakes := approval.ParsePasskeys([]byte(test.line+"\n"), time.UTC)
			got := fmt.Sprint(mistakes)
			if (test.want == "") != (len(mistakes) == 0) || !strings.Contains(got, test.want) {
				t.Errorf("mistakes %s, want %q", got, test.want)
			}
		})
	}
	if _, mistakes := approval.ParsePasskeys([]byte(good+"\n"+good+"\n"), time.UTC); len(mistakes) != 1 || mistakes[0].Line != 2 {
		t.Errorf("a credential that stands twice: %v", mistakes)
	}
}

func TestTheTextOfAKeyIsReadAgain(t *testing.T) {
	for _, algorithm := range approval.Algorithms() {
		key := approval.PasskeyKey(newAuthenticator(t, algorithm, "an ID").passkey(t, algorithm))
		read, err := approval.ParseKey(key.Text())
		if err != nil || read.Text() != key.Text() || read.Fingerprint() != key.Fingerprint() {
			t.Errorf("%s: %v, %v", key.Text(), read.Text(), err)
		}
	}
}

func FuzzParseAssertion(f *testing.F) {
	f.Add([]byte(`{"format":"remit-passkey-1","rp_id":"localhost","credential_id":"YQ","client_data_json":"e30=","authenticator_data":"","signature":""}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		a, err := approval.ParseAssertion(text)
		if err != nil {
			return
		}
		again, err := approval.ParseAssertion(a.Text())
		if err != nil || !bytes.Equal(again.Text(), a.Text()) {
			t.Errorf("%q is read, and not again: %v", text, err)
		}
	})
}
