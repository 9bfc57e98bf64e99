// Package jws signs requests, as a JSON Web Signature whose content is not in it (RFC 7515,
// appendix F; RFC 7797): the signed bytes are a request's body as it is.
//
// Its one invariant: a signature says of exactly one request that the holder of the key sent it, to
// that address, at that time. No error holds a part of the key.
package jws

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"time"
)

// Key signs as one party. It is safe for concurrent use.
type Key struct {
	id        string
	algorithm string
	sign      func(input []byte) ([]byte, error)
}

// Content is what a signature is about.
type Content struct {
	Method string // such as POST
	URL    string // the whole address
	Body   []byte // as it is sent
	At     time.Time
}

// protected is the header that is signed with the body. b64 is critical (RFC 7797): who does
// not know it must refuse. The names of what binds the body to its request are those of RFC 9449.
type protected struct {
	Algorithm string   `json:"alg"`
	KeyID     string   `json:"kid"`
	Encoded   bool     `json:"b64"`
	Critical  []string `json:"crit"`
	At        int64    `json:"iat"` // seconds since 1970
	ID        string   `json:"jti"` // another for each signature
	Method    string   `json:"htm"`
	URL       string   `json:"htu"`
}

// ParseKey reads a private key in PEM form: Ed25519, which signs as EdDSA (RFC 8037), or
// ECDSA over P-256, which signs as ES256 (RFC 7518). id is how the other side knows the key.
func ParseKey(text []byte, id string) (*Key, error) {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		switch block.Type {
		case "PRIVATE KEY":
			key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
			if err != nil {
				return nil, errors.New("its private key cannot be read")
			}
			return newKey(key, id)
		case "EC PRIVATE KEY":
			key, err := x509.ParseECPrivateKey(block.Bytes)
			if err != nil {
				return nil, errors.New("its private key cannot be read")
			}
			return newKey(key, id)
		case "ENCRYPTED PRIVATE KEY", "OPENSSH PRIVATE KEY", "RSA PRIVATE KEY":
			return nil, fmt.Errorf("it holds one as %q; Ed25519 or ECDSA over P-256 is needed, in PKCS #8 without a passphrase", block.Type)
		}
	}
	return nil, errors.New("it holds no private key in PEM form")
}

func newKey(private any, id string) (*Key, error) {
	switch key := private.(type) {
	case ed25519.PrivateKey:
		return &Key{id, "EdDSA", func(input []byte) ([]byte, error) { return ed25519.Sign(key, input), nil }}, nil
	case *ecdsa.PrivateKey:
		if key.Curve == elliptic.P256() {
			return &Key{id, "ES256", func(input []byte) ([]byte, error) { return signES256(key, input) }}, nil
		}
	}
	return nil, errors.New("its private key is neither Ed25519 nor ECDSA over P-256")
}

// signES256 writes both numbers of a signature in 32 bytes each (RFC 7518, section 3.4).
func signES256(key *ecdsa.PrivateKey, input []byte) ([]byte, error) {
	digest := sha256.Sum256(input)
	r, s, err := ecdsa.Sign(rand.Reader, key, digest[:])
	if err != nil {
		return nil, err
	}
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	return signature, nil
}

// Sign returns HEADER..SIGNATURE, another one each time.
func (k *Key) Sign(c Content) (string, error) {
	header, err := json.Marshal(protected{
		Algorithm: k.algorithm, KeyID: k.id, Critical: []string{"b64"},
		At: c.At.Unix(), ID: rand.Text(), Method: c.Method, URL: c.URL,
	})
	if err != nil {
		panic(err) // texts and numbers always have a JSON form
	}
	first := base64.RawURLEncoding.EncodeToString(header)
	signature, err := k.sign(append([]byte(first+"."), c.Body...))
	if err != nil {
		return "", fmt.Errorf("sign as %s: %w", k.algorithm, err)
	}
	return first + ".." + base64.RawURLEncoding.EncodeToString(signature), nil
}
