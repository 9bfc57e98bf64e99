package approval_test

import (
	"encoding/base64"
	"testing"

	"remit/internal/approval"
)

// TestBothFilesOfRevokedKeysCount has an approval block with revoked_keys and, in its passkeys block, revoked passkeys.
func TestBothFilesOfRevokedKeysCount(t *testing.T) {
	c, ada, _ := passkeyCase(t)
	key := signer(t, "bob")
	c.Signers = approval.Join(signers(t, "bob@example.com "+keyLine(key)), c.Signers)
	keys, mistakes := approval.ParseRevoked([]byte(keyLine(key) + "\n"))
	ids, more := approval.ParseRevokedPasskeys([]byte("localhost " + base64.RawURLEncoding.EncodeToString([]byte("ada's")) + "\n"))
	if len(mistakes)+len(more) > 0 {
		t.Fatal(mistakes, more)
	}
	c.Revoked = approval.JoinRevoked(keys, ids)
	c.Files = []approval.File{fileOf("p.ada", ada.approve(t, passkeyPlan))}
	if v := approval.Decide(c); len(v.Approvers) > 0 || len(v.Discounted) != 1 || v.Discounted[0].Why != approval.RevokedKey {
		t.Errorf("a revoked passkey approves: %+v", v.Discounted)
	}
	if use := c.Signers.Use(approval.SSHKey(key.PublicKey()), c.Revoked, c.Now); use.Why != approval.RevokedKey {
		t.Errorf("a revoked key counts: %q", use.Why)
	}
}
