// Package sshkey signs saved plans with the keys that people have: a key file, a key that
// ssh-agent holds, or a security key that ssh-keygen talks to.
//
// Its one invariant: what it returns is a signature over the given digest by the key that it said
// it would use, whichever program made it.
package sshkey

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/ssh"

	"remit/internal/approval"
	"remit/internal/files/access"
	"remit/internal/files/confined"
)

// keyBytesMax bounds a key file.
const keyBytesMax = 1 << 20

// Keyring is where keys are looked for.
type Keyring struct {
	Getenv func(string) string // SSH_AUTH_SOCK and HOME
	Dir    string              // to which the names of files are relative
	Flag   string              // by which a person names a key, such as --key
	// Passphrase asks a person for the passphrase of a file; nil where nobody can be asked.
	Passphrase func(ctx context.Context, file string) ([]byte, error)
	Stderr     io.Writer // where ssh-keygen asks for a touch
	// Environ is the whole environment of ssh-keygen.
	Environ []string
	// Exposed says why a private key's file is not one person's; "" where it is. It may be nil.
	Exposed func(path string) string
}

// Key is one that can sign.
type Key struct {
	Public ssh.PublicKey
	Source string // where it is, for a person: a file, or ssh-agent
	sign   func(ctx context.Context, path string, d *approval.Digest) ([]byte, error)
}

// Fingerprint names the key as ssh-keygen -l does, such as SHA256:….
func (k *Key) Fingerprint() string { return ssh.FingerprintSHA256(k.Public) }

// Sign returns the signature's file over the file at path, whose digest is d.
func (k *Key) Sign(ctx context.Context, path string, d *approval.Digest) ([]byte, error) {
	text, err := k.sign(ctx, path, d)
	if err != nil {
		return nil, fmt.Errorf("sign with %s: %w", k.Source, err)
	}
	sig, err := approval.ParseSignature(text)
	if err == nil {
		err = sig.Verify(d)
	}
	if err == nil && (sig.Namespace() != approval.Namespace || !bytes.Equal(sig.Key().Marshal(), k.Public.Marshal())) {
		err = errors.New("it is for another use or by another key")
	}
	if err != nil {
		return nil, fmt.Errorf("sign with %s: what came back is not a signature of this file: %w", k.Source, err)
	}
	return text, nil
}

// Open finds a key: that of a private key's file; of a public key's file, the one that
// ssh-agent holds; and where name is "", the only one that ssh-agent holds of those that
// accept likes. A file with a passphrase, or of a security key, is left to ssh-agent where that
// has the key.
func (r *Keyring) Open(ctx context.Context, name string, accept func(ssh.PublicKey) bool) (*Key, error) {
	if name == "" {
		return r.fromAgent(ctx, accept)
	}
	path := r.path(name)
	content, err := readKey(path)
	if err != nil {
		return nil, fmt.Errorf("read the key %s: %w", name, err)
	}
	if public, _, _, _, err := ssh.ParseAuthorizedKey(content); err == nil {
		key, err := r.held(ctx, public)
		if err != nil {
			private := strings.TrimSuffix(name, ".pub")
			if private == name {
				private = "FILE"
			}
			return nil, fmt.Errorf("%s is a public key, and ssh-agent has no private one for it: %w. Name the private key: %s=%s", name, err, r.Flag, private)
		}
		return key, nil
	}
	return r.fromFile(ctx, name, path, content)
}

// path is where a key's file is. A shell leaves the ~ of --key=~/… as it is.
func (r *Keyring) path(name string) string {
	if rest, ok := strings.CutPrefix(name, "~/"); ok && r.Getenv("HOME") != "" {
		return filepath.Join(r.Getenv("HOME"), rest)
	}
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(r.Dir, name)
}

func readKey(path string) ([]byte, error) {
	return confined.ReadAnywhere(path, keyBytesMax)
}

func (r *Keyring) fromFile(ctx context.Context, name, path string, content []byte) (*Key, error) {
	signer, err := ssh.ParsePrivateKey(content)
	public := publicOf(content)
	var locked *ssh.PassphraseMissingError
	isHardware := public != nil && strings.HasPrefix(public.Type(), "sk-")
	if err != nil && !errors.As(err, &locked) && !isHardware {
		if bytes.HasPrefix(content, []byte("PuTTY-User-Key-File-")) {
			return nil, fmt.Errorf("the key %s is one of PuTTY. Write it as one of OpenSSH: puttygen %s -O private-openssh -o %s", name, name, strings.TrimSuffix(name, ".ppk"))
		}
		if err.Error() == "ssh: no key found" {
			return nil, fmt.Errorf("read the key %s: it is no private key of SSH: it does not begin with -----BEGIN. ssh-keygen makes one: ssh-keygen -t ed25519 -f FILE", name)
		}
		return nil, fmt.Errorf("read the key %s: %w", name, err)
	}
	if why := r.exposed(path); why != "" {
		return nil, fmt.Errorf("the key %s %s, so a signature by it proves nothing; %s makes it its owner's alone, and a key that others may have read is to be replaced", name, why, access.Closing(""))
	}
	if err == nil {
		return newKey(signer, name), nil
	}
	if public != nil {
		if key, err := r.held(ctx, public); err == nil {
			return key, nil
		}
	}
	if isHardware {
		return &Key{Public: public, Source: name, sign: r.signWithOpenSSH(path)}, nil
	}
	if r.Passphrase == nil {
		return nil, fmt.Errorf("the key %s has a passphrase, and cannot ask for it here (no terminal, CI is set, or --input=false); give the key to ssh-agent first, with ssh-add", name)
	}
	passphrase, err := r.Passphrase(ctx, name)
	if err != nil {
		return nil, err
	}
	signer, err = ssh.ParsePrivateKeyWithPassphrase(content, passphrase)
	if err != nil {
		return nil, fmt.Errorf("read the key %s: %w", name, err)
	}
	return newKey(signer, name), nil
}

func (r *Keyring) exposed(path string) string {
	if r.Exposed == nil {
		return ""
	}
	return r.Exposed(path)
}

func newKey(signer ssh.Signer, source string) *Key {
	return &Key{
		Public: signer.PublicKey(), Source: source,
		sign: func(_ context.Context, _ string, d *approval.Digest) ([]byte, error) { return approval.Sign(d, signer) },
	}
}

// signWithOpenSSH has ssh-keygen sign, which can talk to a security key.
func (r *Keyring) signWithOpenSSH(key string) func(context.Context, string, *approval.Digest) ([]byte, error) {
	return func(ctx context.Context, path string, _ *approval.Digest) ([]byte, error) {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }() // only read
		cmd := exec.CommandContext(ctx, "ssh-keygen", "-Y", "sign", "-n", approval.Namespace, "-f", key)
		cmd.Env = append([]string{}, r.Environ...) // nil would mean this process's, with its secrets
		cmd.Stdin, cmd.Stderr = file, r.Stderr
		text, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("ssh-keygen, which signs with a security key: %w", err)
		}
		return text, nil
	}
}

// publicOf is the public key of a private key's file, which OpenSSH leaves readable
// (PROTOCOL.key); nil where it is not to be had.
func publicOf(content []byte) ssh.PublicKey {
	const magic = "openssh-key-v1\x00"
	block := decodePEM(content)
	if !bytes.HasPrefix(block, []byte(magic)) {
		return nil
	}
	var header struct {
		CipherName, KdfName, KdfOptions string
		KeyCount                        uint32
		Public                          []byte
		Rest                            []byte `ssh:"rest"`
	}
	if err := ssh.Unmarshal(block[len(magic):], &header); err != nil || header.KeyCount != 1 {
		return nil
	}
	public, err := ssh.ParsePublicKey(header.Public)
	if err != nil {
		return nil
	}
	return public
}
