package sshkey

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"strings"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"remit/internal/approval"
)

const agentSource = "ssh-agent"

// withAgent talks to ssh-agent, until ctx ends: a touch of a security key may be waited for.
func (r *Keyring) withAgent(ctx context.Context, talk func(agent.ExtendedAgent) error) error {
	socket := r.Getenv("SSH_AUTH_SOCK")
	if socket == "" {
		return errors.New("no ssh-agent is known here (SSH_AUTH_SOCK is not set)")
	}
	var d net.Dialer
	connection, err := d.DialContext(ctx, "unix", socket)
	if err != nil {
		return fmt.Errorf("reach ssh-agent: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = connection.Close() })
	defer stop()
	defer func() { _ = connection.Close() }()
	if err := talk(agent.NewClient(connection)); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return err
	}
	return nil
}

// keys are those that ssh-agent holds, without certificates.
func (r *Keyring) keys(ctx context.Context) ([]ssh.PublicKey, error) {
	var keys []ssh.PublicKey
	err := r.withAgent(ctx, func(a agent.ExtendedAgent) error {
		held, err := a.List()
		for _, k := range held {
			key, err := ssh.ParsePublicKey(k.Blob)
			if _, isCertificate := key.(*ssh.Certificate); err == nil && !isCertificate {
				keys = append(keys, key)
			}
		}
		return err
	})
	return keys, err
}

// held is a key of ssh-agent.
func (r *Keyring) held(ctx context.Context, public ssh.PublicKey) (*Key, error) {
	keys, err := r.keys(ctx)
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		if bytes.Equal(key.Marshal(), public.Marshal()) {
			return r.agentKey(key), nil
		}
	}
	return nil, fmt.Errorf("it does not have the key %s; ssh-add gives it one", ssh.FingerprintSHA256(public))
}

func (r *Keyring) agentKey(public ssh.PublicKey) *Key {
	return &Key{
		Public: public, Source: agentSource,
		sign: func(ctx context.Context, _ string, d *approval.Digest) (text []byte, err error) {
			err = r.withAgent(ctx, func(a agent.ExtendedAgent) error {
				signers, err := a.Signers()
				if err != nil {
					return err
				}
				for _, s := range signers {
					if bytes.Equal(s.PublicKey().Marshal(), public.Marshal()) {
						text, err = approval.Sign(d, s)
						return err
					}
				}
				return errors.New("it does not have the key any more")
			})
			return text, err
		},
	}
}

// fromAgent is the only key of ssh-agent that accept likes.
func (r *Keyring) fromAgent(ctx context.Context, accept func(ssh.PublicKey) bool) (*Key, error) {
	keys, err := r.keys(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w; name a key with %s=FILE", err, r.Flag)
	}
	var liked []ssh.PublicKey
	var names []string
	for _, key := range keys {
		if accept(key) {
			liked = append(liked, key)
			names = append(names, ssh.FingerprintSHA256(key))
		}
	}
	switch {
	case len(keys) == 0:
		return nil, fmt.Errorf("ssh-agent holds no key; give it one with ssh-add, or name one with %s=FILE", r.Flag)
	case len(liked) == 0:
		return nil, fmt.Errorf("none of the %d keys that ssh-agent holds can sign here; name another with %s=FILE", len(keys), r.Flag)
	case len(liked) == 1:
		return r.agentKey(liked[0]), nil
	}
	return nil, fmt.Errorf("ssh-agent holds %d keys that can sign here (%s); say which by its public key, with %s=FILE.pub",
		len(liked), strings.Join(names, ", "), r.Flag)
}

func decodePEM(content []byte) []byte {
	block, _ := pem.Decode(content)
	if block == nil {
		return nil
	}
	return block.Bytes
}
