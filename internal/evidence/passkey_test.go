package evidence_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"remit/internal/approval"
	"remit/internal/evidence"
	"remit/state"
)

// byPasskey is an approval of a plan by a new passkey.
func byPasskey(t testing.TB, plan []byte, principal string) state.Approval {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(t, err)
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	check(t, err)
	passkey, err := approval.NewPasskey("localhost", []byte(principal), approval.ES256, der)
	check(t, err)
	digest := approval.NewDigest()
	_, _ = digest.Write(plan) // never fails
	client, err := json.Marshal(map[string]any{
		"type": "webauthn.get", "challenge": base64.RawURLEncoding.EncodeToString(digest.Challenge()), "origin": "http://localhost:7468", "crossOrigin": false,
	})
	check(t, err)
	rp, hash := sha256.Sum256([]byte("localhost")), sha256.Sum256(client)
	device := append(rp[:], 1|4, 0, 0, 0, 7) // present, and verified
	message := sha256.Sum256(slices.Concat(device, hash[:]))
	signature, err := key.Sign(rand.Reader, message[:], nil)
	check(t, err)
	made, err := approval.NewAssertion("localhost", []byte(principal), client, device, signature)
	check(t, err)
	k := approval.PasskeyKey(passkey)
	return state.Approval{
		Role: state.RoleApprover, Principal: principal, Fingerprint: k.Fingerprint(), Key: k.Text(),
		File: "november.plan." + principal + approval.PasskeySuffix, SHA256: sum(made.Text()), Signature: string(made.Text()),
	}
}

// TestAnApprovalByAPasskeyIsVerifiedAgain has a run whose second approval is one by a passkey.
func TestAnApprovalByAPasskeyIsVerifiedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		change func(h *history, a *state.Approval)
		text   string // "" where the pack is whole
	}{
		"as it was": {func(*history, *state.Approval) {}, ""},
		"of another plan": {func(h *history, a *state.Approval) {
			*a = byPasskey(t, append(slices.Clone(h.plan), '\n'), "bob")
		}, "it is no approval of plan.jsonl"},
		"of another passkey": {func(h *history, a *state.Approval) {
			a.Signature, a.SHA256 = "", ""
			other := byPasskey(t, h.plan, "bob")
			a.Signature, a.SHA256 = other.Signature, other.SHA256
		}, "it is no approval of plan.jsonl"},
		"under another fingerprint": {func(h *history, a *state.Approval) {
			a.Fingerprint = byPasskey(t, h.plan, "bob").Fingerprint
		}, "it was made with the key"},
		"that is none": {func(_ *history, a *state.Approval) { a.Signature, a.SHA256 = "{}", sum([]byte("{}")) }, "it is no approval"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHistory(t)
			h.retell(t, func(entry state.Entry) state.Entry {
				if begun, ok := entry.(state.Begun); ok && begun.RunID == "second" {
					begun.Approvals[1] = byPasskey(t, h.plan, "bob")
					c.change(h, &begun.Approvals[1])
					return begun
				}
				return entry
			})
			dir, _ := h.export(t, "second")
			report := verify(t, dir)
			switch {
			case c.text != "":
				requireFinding(t, report, "approval-02"+approval.PasskeySuffix, c.text)
			case !report.Whole() || !strings.HasPrefix(read(t, dir)[evidence.PasskeysFile], "bob "):
				t.Errorf("%v, %q", report.Findings, read(t, dir)[evidence.PasskeysFile])
			}
		})
	}
}

// TestAPasskeyIsNobodysWhereNobodySaidWhosePasskeysAreWhose has the people of SSH keys alone: nothing is known of the key of
// an approval by a passkey, and the approval stands.
func TestAPasskeyIsNobodysWhereNobodySaidWhosePasskeysAreWhose(t *testing.T) {
	h := newHistory(t)
	h.retell(t, func(entry state.Entry) state.Entry {
		if begun, ok := entry.(state.Begun); ok && begun.RunID == "second" {
			begun.Approvals[1] = byPasskey(t, h.plan, "bob")
			return begun
		}
		return entry
	})
	signers, mistakes := approval.ParseSigners([]byte("ada "+approval.SSHKey(signer(t, "ada").PublicKey()).Text()), time.UTC)
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	dir, _ := h.export(t, "second")
	if report := verify(t, dir, func(o *evidence.Options) { o.Signers = signers }); !report.Whole() {
		t.Errorf("with the people of SSH keys: %v", report.Findings)
	}
}
