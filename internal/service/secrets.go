package service

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"sync"
)

const (
	// secretLengthMin keeps a secret that is a common word from shredding every answer.
	secretLengthMin = 8
	// tokensKept bounds the tokens that are looked for: the newest ones.
	tokensKept = 8

	removed = "[removed]"
)

// secrets knows what must appear in nothing that is kept or shown, and removes it from what
// a service sends back: some services repeat a request's headers in their errors.
type secrets struct {
	fixed [][]byte // of the client; never changed

	mu     sync.RWMutex
	tokens [][]byte
}

func newSecrets(clientID, secret string) *secrets {
	s := &secrets{}
	escaped := url.QueryEscape(clientID) + ":" + url.QueryEscape(secret)
	for _, form := range []string{
		secret, url.QueryEscape(secret), inJSON(secret),
		base64.StdEncoding.EncodeToString([]byte(escaped)),
		base64.StdEncoding.EncodeToString([]byte(clientID + ":" + secret)),
	} {
		known := slices.ContainsFunc(s.fixed, func(b []byte) bool { return string(b) == form })
		if len(form) >= secretLengthMin && !known {
			s.fixed = append(s.fixed, []byte(form))
		}
	}
	return s
}

func inJSON(text string) string {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string always has a JSON form
	}
	return strings.Trim(string(quoted), `"`)
}

// add remembers a token.
func (s *secrets) add(token string) {
	if len(token) < secretLengthMin {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens = append(s.tokens, []byte(token))
	if len(s.tokens) > tokensKept {
		s.tokens = slices.Delete(s.tokens, 0, 1)
	}
}

// scrub returns b without any secret; b itself where it holds none.
func (s *secrets) scrub(b []byte) []byte {
	for _, secret := range s.fixed {
		b = replace(b, secret)
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, token := range s.tokens {
		b = replace(b, token)
	}
	return b
}

func replace(b, secret []byte) []byte {
	if !bytes.Contains(b, secret) {
		return b
	}
	return bytes.ReplaceAll(b, secret, []byte(removed))
}
