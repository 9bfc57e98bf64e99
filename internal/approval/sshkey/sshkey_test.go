package sshkey_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"remit/internal/approval"
	"remit/internal/approval/sshkey"
	"remit/internal/proof/suite"
)

const planText = "the bytes of a plan\n"

// desk is a directory with a plan and keys, and perhaps an agent.
type desk struct {
	t      *testing.T
	dir    string
	socket string
	ring   sshkey.Keyring
	digest *approval.Digest
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("ssh-keygen is not installed here (Debian: apt-get install openssh-client)")
	}
	d := &desk{t: t, dir: t.TempDir(), digest: approval.NewDigest()}
	d.ring = sshkey.Keyring{
		Dir: d.dir, Flag: "--key", Stderr: io.Discard,
		Getenv: func(name string) string {
			return map[string]string{"SSH_AUTH_SOCK": d.socket, "HOME": d.dir}[name]
		},
	}
	d.write("plan", planText)
	_, _ = io.WriteString(d.digest, planText) // never fails
	return d
}

func (d *desk) write(name, content string) {
	d.t.Helper()
	if err := os.WriteFile(filepath.Join(d.dir, name), []byte(content), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

// run runs a command of OpenSSH in the directory.
func (d *desk) run(name string, args ...string) {
	d.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = d.dir, append(os.Environ(), "SSH_AUTH_SOCK="+d.socket)
	if out, err := cmd.CombinedOutput(); err != nil {
		d.t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
}

func (d *desk) keygen(name, kind, passphrase string) {
	d.t.Helper()
	d.run("ssh-keygen", "-q", "-t", kind, "-N", passphrase, "-f", name)
}

// startAgent starts the real ssh-agent.
func (d *desk) startAgent() {
	d.t.Helper()
	d.socket = filepath.Join(suite.SocketDir(d.t), "s")
	cmd := exec.Command("ssh-agent", "-D", "-a", d.socket)
	out, err := cmd.StdoutPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if _, err := out.Read(make([]byte, 1)); err != nil { // it says where it listens once it does
		d.t.Fatal(err)
	}
}

// sign opens a key and signs the plan with it.
func (d *desk) sign(name string) (*sshkey.Key, error) {
	all := func(ssh.PublicKey) bool { return true }
	key, err := d.ring.Open(context.Background(), name, all)
	if err != nil {
		return nil, err
	}
	_, err = key.Sign(context.Background(), filepath.Join(d.dir, "plan"), d.digest)
	return key, err
}

func (d *desk) mustSign(name, source string) {
	d.t.Helper()
	key, err := d.sign(name)
	if err != nil {
		d.t.Fatalf("sign with %q: %v", name, err)
	}
	if key.Source != source {
		d.t.Errorf("signed with %q, not with %q", key.Source, source)
	}
}

func (d *desk) mustFail(name, want string) {
	d.t.Helper()
	if _, err := d.sign(name); err == nil || !strings.Contains(err.Error(), want) {
		d.t.Errorf("sign with %q: got %v, want %q", name, err, want)
	}
}

func TestKeyFiles(t *testing.T) {
	d := newDesk(t)
	for _, kind := range []string{"ed25519", "ecdsa", "rsa"} {
		d.keygen(kind, kind, "")
		d.mustSign(kind, kind)
	}
	d.mustSign("~/ed25519", "~/ed25519")
	d.mustFail("ed25519.pub", "SSH_AUTH_SOCK is not set")
	d.mustFail("", "name a key with --key=FILE")
	d.mustFail("none", "read the key none")
	d.mustFail("plan", "read the key plan")
}

func TestPassphrase(t *testing.T) {
	d := newDesk(t)
	d.keygen("locked", "ed25519", "open sesame")
	d.mustFail("locked", "cannot ask for it here")
	answer := "wrong"
	d.ring.Passphrase = func(context.Context, string) ([]byte, error) { return []byte(answer), nil }
	d.mustFail("locked", "read the key locked")
	answer = "open sesame"
	d.mustSign("locked", "locked")
	d.ring.Passphrase = func(context.Context, string) ([]byte, error) { return nil, errors.New("went away") }
	d.mustFail("locked", "went away")
}

// TestAgent signs with keys that the real ssh-agent holds.
func TestAgent(t *testing.T) {
	d := newDesk(t)
	d.startAgent()
	d.mustFail("", "ssh-agent holds no key; give it one with ssh-add, or name one with --key=FILE")
	d.keygen("ed25519", "ed25519", "")
	d.run("ssh-add", "-q", "ed25519")
	d.mustSign("", "ssh-agent")
	d.mustSign("ed25519.pub", "ssh-agent")

	d.keygen("rsa", "rsa", "")
	d.mustFail("rsa.pub", "it does not have the key SHA256:")
	d.run("ssh-add", "-q", "rsa")
	d.mustSign("rsa.pub", "ssh-agent")
	d.mustFail("", "ssh-agent holds 2 keys that can sign here")

	// A key whose passphrase was said to the agent is not asked for again.
	d.run("ssh-keygen", "-q", "-p", "-P", "", "-N", "open sesame", "-f", "ed25519")
	d.mustSign("ed25519", "ssh-agent")
}

// securityKey is a security key in software, in an agent: it signs as PROTOCOL.u2f says.
type securityKey struct {
	agent.ExtendedAgent
	private ed25519.PrivateKey
}

func (k securityKey) blob() []byte {
	return ssh.Marshal(struct {
		Name        string
		Key         []byte
		Application string
	}{ssh.KeyAlgoSKED25519, k.private.Public().(ed25519.PublicKey), "ssh:"})
}

func (k securityKey) List() ([]*agent.Key, error) {
	return []*agent.Key{{Format: ssh.KeyAlgoSKED25519, Blob: k.blob(), Comment: "token"}}, nil
}

func (k securityKey) SignWithFlags(_ ssh.PublicKey, data []byte, _ agent.SignatureFlags) (*ssh.Signature, error) {
	application, message := sha256.Sum256([]byte("ssh:")), sha256.Sum256(data)
	tail := binary.BigEndian.AppendUint32([]byte{1}, 7)
	signed := append(append(application[:], tail...), message[:]...)
	return &ssh.Signature{Format: ssh.KeyAlgoSKED25519, Blob: ed25519.Sign(k.private, signed), Rest: tail}, nil
}

func (k securityKey) Sign(key ssh.PublicKey, data []byte) (*ssh.Signature, error) {
	return k.SignWithFlags(key, data, 0)
}

// file is what ssh-keygen -t ed25519-sk leaves on disk, as far as anybody but ssh-keygen reads
// it.
func (k securityKey) file() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "OPENSSH PRIVATE KEY", Bytes: append([]byte("openssh-key-v1\x00"), ssh.Marshal(struct {
		CipherName, KdfName, KdfOptions string
		KeyCount                        uint32
		Public, Private                 []byte
	}{"none", "none", "", 1, k.blob(), ssh.Marshal(struct {
		Check1, Check2 uint32
		Keytype        string
		Rest           []byte `ssh:"rest"`
	}{1, 1, ssh.KeyAlgoSKED25519, bytes.Repeat([]byte{0}, 32)})})...)}))
}

// TestSecurityKey signs with a security key through an agent, and without one through
// ssh-keygen, which alone can talk to it.
func TestSecurityKey(t *testing.T) {
	d := newDesk(t)
	seed := sha256.Sum256([]byte("token"))
	token := securityKey{agent.NewKeyring().(agent.ExtendedAgent), ed25519.NewKeyFromSeed(seed[:])}
	d.write("id_sk", token.file())

	// No security key is plugged in: ssh-keygen is asked, and fails.
	d.mustFail("id_sk", "ssh-keygen, which signs with a security key")

	d.socket = filepath.Join(suite.SocketDir(t), "s")
	listener, err := net.Listen("unix", d.socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go func() { _ = agent.ServeAgent(token, connection) }()
		}
	}()
	d.mustSign("id_sk", "ssh-agent")
	d.mustSign("", "ssh-agent")

	// Where the agent does not have it, what ssh-keygen hands back is verified: here it signs
	// with another key than was asked for.
	d.socket = ""
	d.keygen("other", "ed25519", "")
	bin := filepath.Join(d.dir, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	real, err := exec.LookPath("ssh-keygen")
	if err != nil {
		t.Fatal(err)
	}
	d.write("bin/ssh-keygen", "#!/bin/sh\nexec "+real+" -Y sign -n remit-plan -f "+filepath.Join(d.dir, "other")+"\n")
	if err := os.Chmod(filepath.Join(bin, "ssh-keygen"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	d.mustFail("id_sk", "it is for another use or by another key")
	made, err := approval.Sign(d.digest, signerOf{token})
	if err != nil {
		t.Fatal(err)
	}
	d.write("made", string(made))
	d.write("bin/ssh-keygen", "#!/bin/sh\n[ \"$*\" = \"-Y sign -n remit-plan -f "+filepath.Join(d.dir, "id_sk")+"\" ] && cmp -s - "+
		filepath.Join(d.dir, "plan")+" && cat "+filepath.Join(d.dir, "made")+"\n")
	d.mustSign("id_sk", "id_sk")
}

// signerOf is a security key as a signer.
type signerOf struct{ securityKey }

func (s signerOf) PublicKey() ssh.PublicKey {
	key, err := ssh.ParsePublicKey(s.blob())
	if err != nil {
		panic(err)
	}
	return key
}

func (s signerOf) Sign(_ io.Reader, data []byte) (*ssh.Signature, error) {
	return s.SignWithFlags(nil, data, 0)
}
