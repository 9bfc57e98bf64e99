package approval

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"

	"golang.org/x/crypto/ssh"
)

// Key is what somebody approves with: an SSH key or a passkey. The zero Key is nobody's.
type Key struct {
	ssh     ssh.PublicKey // nil for a passkey
	passkey *Passkey      // nil for an SSH key
}

// SSHKey is a key of allowed_signers.
func SSHKey(key ssh.PublicKey) Key { return Key{ssh: key} }

// PasskeyKey is a key of allowed_passkeys.
func PasskeyKey(p *Passkey) Key { return Key{passkey: p} }

// SSH is the SSH key; nil for a passkey.
func (k Key) SSH() ssh.PublicKey { return k.ssh }

// Passkey is the passkey; nil for an SSH key.
func (k Key) Passkey() *Passkey { return k.passkey }

// Fingerprint is SHA256: and a hash in base64: of an SSH key as ssh-keygen -l writes it, of a passkey the hash
// of its public key as SubjectPublicKeyInfo.
func (k Key) Fingerprint() string {
	switch {
	case k.ssh != nil:
		return ssh.FingerprintSHA256(k.ssh)
	case k.passkey != nil:
		sum := sha256.Sum256(k.passkey.PublicKey)
		return "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:])
	}
	return ""
}

// Text is the key on one line: of an SSH key as a line of authorized_keys without options and comment, of a passkey
// the word passkey and the fields of allowed_passkeys from RP ID to public key.
func (k Key) Text() string {
	switch {
	case k.ssh != nil:
		return strings.TrimSpace(string(ssh.MarshalAuthorizedKey(k.ssh)))
	case k.passkey != nil:
		return fmt.Sprintf("%s %s %s %s %s", passkeyWord, k.passkey.RPID, encodeID(k.passkey.ID), k.passkey.Algorithm,
			base64.StdEncoding.EncodeToString(k.passkey.PublicKey))
	}
	return ""
}

// passkeyWord begins the text of a passkey, which no SSH key's begins with.
const passkeyWord = "passkey"

// ParseKey reads what [Key.Text] wrote.
func ParseKey(text string) (Key, error) {
	rest, isPasskey := strings.CutPrefix(text, passkeyWord+" ")
	if !isPasskey {
		key, err := parseKey(text)
		return Key{ssh: key}, err
	}
	fields := strings.Fields(rest)
	if len(fields) != 4 {
		return Key{}, errPasskeyFields
	}
	p, err := newPasskey(fields[0], fields[1], fields[2], fields[3])
	return Key{passkey: p}, err
}

// blob is what two keys have in common that are one. A passkey is known by its credential: an authenticator makes a
// key for each.
func (k Key) blob() string {
	switch {
	case k.ssh != nil:
		return string(k.ssh.Marshal())
	case k.passkey != nil:
		return passkeyWord + "\x00" + k.passkey.RPID + "\x00" + string(k.passkey.ID)
	}
	return ""
}
