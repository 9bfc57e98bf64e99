package jws_test

import (
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
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/internal/service/jws"
)

func inPEM(t *testing.T, key any) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

func made[K any](t *testing.T, key K, err error) K {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// The other side is crypto/ed25519 and crypto/ecdsa, over what RFC 7797 says is signed.
func TestSignaturesAreThoseOfTheRFCs(t *testing.T) {
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p256, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	p256 = made(t, p256, err)
	sec1, err := x509.MarshalECPrivateKey(p256)
	sec1 = made(t, sec1, err)
	body := []byte("{\"amount\":\"1.00\"}\n.\xff")
	for name, c := range map[string]struct {
		pem       []byte
		algorithm string
		verify    func(input, signature []byte) bool
	}{
		"Ed25519": {inPEM(t, edwards), "EdDSA", func(input, signature []byte) bool {
			return ed25519.Verify(edwards.Public().(ed25519.PublicKey), input, signature)
		}},
		"P-256":         {inPEM(t, p256), "ES256", verifyES256(&p256.PublicKey)},
		"P-256 in SEC1": {pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: sec1}), "ES256", verifyES256(&p256.PublicKey)},
	} {
		t.Run(name, func(t *testing.T) {
			key, err := jws.ParseKey(c.pem, "k-1")
			if err != nil {
				t.Fatal(err)
			}
			seen := map[string]bool{}
			for range 300 { // short numbers of ES256 are padded
				text, err := key.Sign(jws.Content{Method: "POST", URL: "https://x.example/v2?", Body: body, At: time.Unix(7, 9)})
				if err != nil {
					t.Fatal(err)
				}
				parts := strings.Split(text, ".")
				if len(parts) != 3 || parts[1] != "" {
					t.Fatalf("not detached: %s", text)
				}
				signature, err := base64.RawURLEncoding.Strict().DecodeString(parts[2])
				if err != nil || !c.verify([]byte(parts[0]+"."+string(body)), signature) {
					t.Fatalf("not of the body: %s, %v", text, err)
				}
				if c.verify([]byte(parts[0]+"."+string(body)+" "), signature) {
					t.Fatal("of another body too")
				}
				raw, err := base64.RawURLEncoding.Strict().DecodeString(parts[0])
				if err != nil {
					t.Fatal(err)
				}
				var header map[string]any
				if err := json.Unmarshal(raw, &header); err != nil {
					t.Fatal(err)
				}
				id, _ := header["jti"].(string)
				if seen[id] || len(id) < 16 {
					t.Fatalf("the jti %q is not new", id)
				}
				seen[id] = true
				delete(header, "jti")
				want := map[string]any{
					"alg": c.algorithm, "kid": "k-1", "b64": false, "crit": []any{"b64"},
					"iat": 7.0, "htm": "POST", "htu": "https://x.example/v2?",
				}
				if diff := cmp.Diff(want, header); diff != "" {
					t.Fatal(diff)
				}
			}
		})
	}
}

func verifyES256(key *ecdsa.PublicKey) func(input, signature []byte) bool {
	return func(input, signature []byte) bool {
		digest := sha256.Sum256(input)
		return len(signature) == 64 &&
			ecdsa.Verify(key, digest[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:]))
	}
}

func TestOtherKeysAreRefused(t *testing.T) {
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	p384 = made(t, p384, err)
	long, err := rsa.GenerateKey(rand.Reader, 2048)
	var other crypto.Signer = made(t, long, err)
	for name, c := range map[string]struct {
		text []byte
		says string
	}{
		"nothing":      {nil, "no private key in PEM form"},
		"no PEM":       {[]byte("k"), "no private key in PEM form"},
		"P-384":        {inPEM(t, p384), "neither Ed25519 nor ECDSA over P-256"},
		"RSA":          {inPEM(t, other), "neither Ed25519 nor ECDSA over P-256"},
		"a passphrase": {pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: []byte("swordfish")}), "without a passphrase"},
		"damaged":      {pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("swordfish")}), "cannot be read"},
	} {
		if _, err := jws.ParseKey(c.text, "k"); err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "swordfish") {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}
