package approval

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"strings"

	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"
)

// Signature is a file that ssh-keygen -Y sign writes (PROTOCOL.sshsig of OpenSSH).
type Signature struct {
	sig *sshsig.Signature
}

// Key is the key that the signature says it was made with.
func (s *Signature) Key() ssh.PublicKey { return s.sig.PublicKey }

// Namespace is what the signature was made for.
func (s *Signature) Namespace() string { return s.sig.Namespace }

// ArmorStart is the first line of a signature's file.
const ArmorStart = "-----BEGIN SSH SIGNATURE-----"

const (
	armorEnd = "-----END SSH SIGNATURE-----"
)

// ParseSignature reads a signature's file. It is strict: each byte has a meaning, so that a
// file with any byte changed is refused, or is another signature.
func ParseSignature(text []byte) (*Signature, error) {
	blob, err := unarmor(string(text))
	if err != nil {
		return nil, err
	}
	sig, err := sshsig.ParseSignature(blob)
	if err != nil {
		return nil, fmt.Errorf("it is no SSH signature: %w", err)
	}
	isHardware := strings.HasPrefix(sig.PublicKey.Type(), "sk-")
	switch {
	case !bytes.Equal(sig.Marshal(), blob): // what the library leaves out, or reads leniently
		return nil, errors.New("it is no SSH signature: it has something that OpenSSH does not write")
	case len(sig.Signature.Rest) > 0 && !isHardware:
		return nil, errors.New("it is no SSH signature: something follows it")
	}
	if _, isCertificate := sig.PublicKey.(*ssh.Certificate); isCertificate {
		return nil, errors.New("it was made with a certificate, which is not supported; sign with the key itself")
	}
	return &Signature{sig}, nil
}

func unarmor(text string) ([]byte, error) {
	text = strings.ReplaceAll(text, "\r\n", "\n") // as a mail or a checkout may leave it
	body, ok := strings.CutPrefix(text, ArmorStart+"\n")
	if ok {
		body, ok = strings.CutSuffix(strings.TrimSuffix(body, "\n"), "\n"+armorEnd)
	}
	if !ok {
		return nil, fmt.Errorf("it is no SSH signature, which begins with %q and ends with %q", ArmorStart, armorEnd)
	}
	if strings.Contains(body, ArmorStart) {
		return nil, errors.New("it has several signatures; each stands in a file of its own")
	}
	if strings.ContainsAny(body, "\r") {
		return nil, errors.New("it is no SSH signature: it is not base64")
	}
	blob, err := base64.StdEncoding.Strict().DecodeString(body) // passes over line feeds
	if err != nil {
		return nil, errors.New("it is no SSH signature: it is not base64")
	}
	return blob, nil
}

// Digest holds the hashes of a file that signatures are over. It is written to as the file is
// read, so that the bytes that were signed are those that are used.
type Digest struct {
	sha256, sha512 hash.Hash
	challenge      hash.Hash // begins with challengeLabel
}

// NewDigest returns the digest of nothing yet.
func NewDigest() *Digest {
	d := &Digest{sha256.New(), sha512.New(), sha256.New()}
	_, _ = d.challenge.Write([]byte(challengeLabel)) // never fails
	return d
}

// Write never fails.
func (d *Digest) Write(p []byte) (int, error) {
	_, _ = d.sha256.Write(p)
	_, _ = d.challenge.Write(p)
	return d.sha512.Write(p)
}

// SHA256 is the hash in bytes.
func (d *Digest) SHA256() []byte { return d.sha256.Sum(nil) }

// message is what a signature signs: not the file, but its hash and what it is for.
func (d *Digest) message(namespace string, algorithm sshsig.HashAlgorithm) []byte {
	sum := d.sha512
	if algorithm == sshsig.HashSHA256 {
		sum = d.sha256
	}
	signed := ssh.Marshal(struct {
		Namespace, Reserved, HashAlgorithm, Hash string
	}{namespace, "", string(algorithm), string(sum.Sum(nil))})
	return append([]byte("SSHSIG"), signed...)
}

// Verify returns an error where the key that the signature names did not make it over the file of d, for its
// namespace.
func (s *Signature) Verify(d *Digest) error {
	return s.sig.PublicKey.Verify(d.message(s.sig.Namespace, s.sig.HashAlgorithm), s.sig.Signature)
}

// Sign makes a signature's file over a file with that digest.
func Sign(d *Digest, signer ssh.Signer) ([]byte, error) {
	message := d.message(Namespace, sshsig.HashSHA512)
	var made *ssh.Signature
	var err error
	if signer.PublicKey().Type() == ssh.KeyAlgoRSA { // SHA-1 is not allowed in these signatures
		algorithms, ok := signer.(ssh.AlgorithmSigner)
		if !ok {
			return nil, errors.New("the RSA key cannot sign with SHA-512")
		}
		made, err = algorithms.SignWithAlgorithm(rand.Reader, message, ssh.KeyAlgoRSASHA512)
	} else {
		made, err = signer.Sign(rand.Reader, message)
	}
	if err != nil {
		return nil, err
	}
	return armor((&sshsig.Signature{
		Version: 1, PublicKey: signer.PublicKey(), Namespace: Namespace,
		HashAlgorithm: sshsig.HashSHA512, Signature: made,
	}).Marshal()), nil
}

// armor writes lines of 70 characters, as ssh-keygen does.
func armor(blob []byte) []byte {
	const width = 70
	var b bytes.Buffer
	b.WriteString(ArmorStart + "\n")
	text := base64.StdEncoding.EncodeToString(blob)
	for len(text) > width {
		b.WriteString(text[:width] + "\n")
		text = text[width:]
	}
	b.WriteString(text + "\n" + armorEnd + "\n")
	return b.Bytes()
}
