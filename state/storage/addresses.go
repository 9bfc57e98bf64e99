package storage

import (
	"strings"

	"remit/state"
)

// Addresses is what both stores keep in the column base_url: that address and, where tokens come
// from elsewhere, behind a space, which no address has, that one. So a state of before needs
// no migration, and a program of before, which would ask anyone for a token, takes a
// state that has both for that of another service.
func Addresses(i state.Identity) string {
	if i.TokenURL == "" {
		return i.BaseURL
	}
	return i.BaseURL + " " + i.TokenURL
}

// FromAddresses reads what Addresses made.
func FromAddresses(text string) (baseURL, tokenURL string) {
	baseURL, tokenURL, _ = strings.Cut(text, " ")
	return baseURL, tokenURL
}
