package approval

import (
	"crypto/sha1"
	"crypto/sha256"
	"errors"
	"fmt"

	"golang.org/x/crypto/ssh"
)

// krlMagic begins a binary list that ssh-keygen -k wrote (PROTOCOL.krl of OpenSSH).
const krlMagic = "SSHKRL\n\x00"

// The sections of such a list.
const (
	krlCertificates      = 1
	krlExplicitKey       = 2
	krlFingerprintSHA1   = 3
	krlSignature         = 4
	krlFingerprintSHA256 = 5
	krlExtension         = 255
)

// krlHashes are the hashes of keys that a list has, each as its bytes.
type krlHashes struct {
	sha1, sha256 map[string]bool
}

func (h *krlHashes) has(blob []byte) bool {
	weak, strong := sha1.Sum(blob), sha256.Sum256(blob)
	return h.sha1[string(weak[:])] || h.sha256[string(strong[:])]
}

// parseKRL reads a list behind its magic. Certificates that it revokes are passed over, because
// no certificate counts here; what else is not understood is an error.
func (r *Revoked) parseKRL(content []byte) error {
	var header struct {
		Format                    uint32
		Version, Generated, Flags uint64
		Reserved, Comment         string
		Rest                      []byte `ssh:"rest"`
	}
	if err := ssh.Unmarshal(content, &header); err != nil {
		return errCutKRL
	}
	if header.Format != 1 {
		return fmt.Errorf("it is a binary list (KRL) of the format %d, and only 1 is known", header.Format)
	}
	for rest := header.Rest; len(rest) > 0; {
		var section struct {
			Kind byte
			Data []byte
			Rest []byte `ssh:"rest"`
		}
		if err := ssh.Unmarshal(rest, &section); err != nil {
			return errCutKRL
		}
		if err := r.parseSection(section.Kind, section.Data); err != nil {
			return err
		}
		rest = section.Rest
	}
	return nil
}

var errCutKRL = errors.New("it is a binary list (KRL) that was cut off or changed")

func (r *Revoked) parseSection(kind byte, data []byte) error {
	switch kind {
	case krlCertificates:
		return nil
	case krlExplicitKey:
		return eachString(data, func(blob string) { r.keys[blob] = 0 })
	case krlFingerprintSHA1:
		return eachString(data, func(hash string) { r.hashes.sha1[hash] = true })
	case krlFingerprintSHA256:
		return eachString(data, func(hash string) { r.hashes.sha256[hash] = true })
	case krlSignature:
		return errors.New("it is a binary list (KRL) with a signature, which is not verified here; write it without one")
	case krlExtension:
		var extension struct {
			Name     string
			Critical bool
			Contents []byte
		}
		if err := ssh.Unmarshal(data, &extension); err != nil {
			return errCutKRL
		}
		if extension.Critical {
			return fmt.Errorf("it is a binary list (KRL) with the extension %q, which is not known", extension.Name)
		}
		return nil
	}
	return fmt.Errorf("it is a binary list (KRL) with a section of the type %d, which is not known", kind)
}

// eachString calls use for each string of a sequence.
func eachString(data []byte, use func(string)) error {
	for len(data) > 0 {
		var next struct {
			Text string
			Rest []byte `ssh:"rest"`
		}
		if err := ssh.Unmarshal(data, &next); err != nil {
			return errCutKRL
		}
		use(next.Text)
		data = next.Rest
	}
	return nil
}
