package config_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"remit/config"
)

const (
	carolID  = "rwS0xAiKJMkjY1xYC1Ze31XEBco"
	carolKey = "localhost " + carolID + " ES256 MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEktcnDSsSohwUASLe+/AwT5gVjXYaG0kcWaS4jcJL7B/93Cu2t2hRFAAcTCzumX9bdPJ0P5zX3zrPhO3f2KvauA=="
	daveKey  = "localhost u722Lotl_0OjaqOPySiQz4z-OCs ES256 MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEwOpArH/WzxR+BJ4m6gB5rKctSr3m6uba003m9j1CWIWDAYYnOPrLLiwjmIg3YslOCxVh9N9ukRTuJN/qq9TiSQ=="
)

// passkeyFiles are a configuration whose approval block has keys of alice and bob and passkeys of carol and dave, with more arguments
// of the block and of its passkeys block.
func passkeyFiles(arguments, ofPasskeys string) map[string]string {
	files := approvalFiles(arguments + "  passkeys {\n    file = \"passkeys\"\n" + ofPasskeys + "  }\n  rule {\n    approvers = 1\n  }\n")
	files["passkeys"] = "carol " + carolKey + "\ndave " + daveKey + "\n"
	return files
}

// TestRevokedPasskeysLeaveRevokedKeysRevoked has a file of revoked keys and one of revoked passkeys in one approval block.
func TestRevokedPasskeysLeaveRevokedKeysRevoked(t *testing.T) {
	files := passkeyFiles("  revoked_keys = \"no-keys\"\n", "    revoked = \"no-passkeys\"\n")
	files["no-keys"], files["no-passkeys"] = bobKey+"\n", "localhost "+carolID+"\n"
	blocks, whole := mustLoad(t, files, config.Options{}).Approvals()
	if !whole || len(blocks) != 1 {
		t.Fatalf("%d approval blocks, whole: %t", len(blocks), whole)
	}
	var able []string
	for _, p := range blocks[0].Signers.Able(blocks[0].Revoked, time.Date(2026, 11, 27, 15, 0, 0, 0, time.UTC)) {
		able = append(able, blocks[0].Signers.Name(p))
	}
	if diff := cmp.Diff([]string{"alice", "dave"}, able); diff != "" {
		t.Errorf("who may approve (-want +got):\n%s", diff)
	}
}

// TestOrigins has origins at which a browser would ask for passkeys of an RP ID, and others.
func TestOrigins(t *testing.T) {
	for list, isRight := range map[string]bool{
		`"https://example.com"`:                                 true,
		`"https://pay.example.com:8443"`:                        true,
		`"https://example.com", "https://pay.example.com"`:      true,
		`"https://badexample.com"`:                              false,
		`"https://example.com.evil.net"`:                        false,
		`"https://example.com", "https://badexample.com"`:       false,
		`"https://example.com", "http://pay.example.com"`:       false,
		`"https://example.com", "https://pay.example.com/page"`: false,
	} {
		_, diags := load(t, passkeyFiles("", "    origins = { localhost = [\"http://localhost:7468\"], \"example.com\" = ["+list+"] }\n"), config.Options{})
		isRefused := false
		for _, d := range diags {
			isRefused = isRefused || d.Summary == "Invalid origin"
		}
		if isRefused == isRight || isRight && diags.HasErrors() {
			t.Errorf("origins %s: %v", list, diags)
		}
	}
}
