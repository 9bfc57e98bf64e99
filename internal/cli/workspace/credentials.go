package workspace

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"remit/config"
	"remit/internal/cli/exit"
	"remit/internal/cli/host"
	"remit/internal/cli/terminal"
	"remit/internal/files/access"
	"remit/internal/files/confined"
	"remit/internal/service"
	"remit/internal/service/jws"
)

// signatureMax bounds the output of a command that signs, in bytes.
const signatureMax = 64 << 10

// prove adds the client's certificate and the signature of requests to the options. An error says that nothing
// was sent.
func (s *Service) prove(options *service.Options, credentials config.Credentials) error {
	if credentials.CertificateFile != "" {
		certificate, err := s.certificate(credentials.CertificateFile, credentials.KeyFile)
		if err != nil {
			return err
		}
		options.Certificate = certificate
	}
	signing := credentials.Signing
	if signing == nil {
		return nil
	}
	options.SignatureHeader = signing.Header
	if signing.KeyFile == "" {
		words, err := host.SplitWords(signing.Command)
		if err == nil && len(words) == 0 {
			err = errors.New("it has no word")
		}
		if err != nil {
			return fmt.Errorf("REMIT_SIGN_COMMAND=%s is not one command: %w; nothing was sent", signing.Command, err)
		}
		command := &signCommand{host: s.host, streams: s.streams, words: words, signing: signing}
		options.Sign = command.sign
		return nil
	}
	text, err := s.secretFile("key_file", signing.KeyFile)
	if err != nil {
		return err
	}
	key, err := jws.ParseKey(text, signing.KeyID)
	if err != nil {
		return fmt.Errorf("key_file %s cannot sign: %w; nothing was sent", signing.KeyFile, err)
	}
	options.Sign = func(_ context.Context, what service.ToSign) (string, error) {
		return key.Sign(jws.Content{Method: what.Method, URL: what.URL, Body: what.Body, At: s.host.Now()})
	}
	return nil
}

// Bounds of files of certificates and of private keys.
const (
	certificatesBytesMax = 16 << 20
	keyFileBytesMax      = 1 << 20
)

func (s *Service) certificate(file, keyFile string) (*tls.Certificate, error) {
	public, err := confined.ReadAnywhere(s.dir.Within(file), certificatesBytesMax)
	if err != nil {
		return nil, fmt.Errorf("read client_certificate_file %s: %w; nothing was sent", file, err)
	}
	private, err := s.secretFile("client_key_file", keyFile)
	if err != nil {
		return nil, err
	}
	certificate, err := tls.X509KeyPair(public, private)
	if err != nil {
		return nil, fmt.Errorf("client_certificate_file %s and client_key_file %s are no pair: %w; nothing was sent", file, keyFile, err)
	}
	if ends := certificate.Leaf.NotAfter; s.host.Now().After(ends) {
		return nil, fmt.Errorf("the certificate of client_certificate_file %s ended on %s; nothing was sent", file, ends.UTC().Format(time.RFC3339))
	}
	return &certificate, nil
}

// secretFile reads a private key, unless others can read it too.
func (s *Service) secretFile(argument, file string) ([]byte, error) {
	path := s.dir.Within(file)
	if why := access.Exposed(path); why != "" {
		return nil, exit.WithHint(fmt.Errorf("%s %s %s, so it proves nothing; nothing was sent", argument, file, why), access.Closing(path))
	}
	text, err := confined.ReadAnywhere(path, keyFileBytesMax)
	if err != nil {
		return nil, fmt.Errorf("read %s %s: %w; nothing was sent", argument, file, err)
	}
	return text, nil
}

// signCommand is the program of REMIT_SIGN_COMMAND. It gets the body on its standard input and prints the value
// of the header.
type signCommand struct {
	host    *host.Host
	streams *terminal.Streams
	words   []string
	signing *config.Signing

	mu sync.Mutex // several may print to standard error
}

func (s *signCommand) sign(ctx context.Context, what service.ToSign) (string, error) {
	var value, complaint atMost
	cmd := s.host.Command(ctx, s.words)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(what.Body), &value, &complaint
	cmd.Env = append(cmd.Env,
		"REMIT_SIGN_METHOD="+what.Method, "REMIT_SIGN_URL="+what.URL,
		"REMIT_SIGN_HEADER="+s.signing.Header, "REMIT_SIGN_KEY_ID="+s.signing.KeyID)
	err := cmd.Run()
	s.mu.Lock()
	defer s.mu.Unlock()
	if complaint.Len() > 0 {
		_, _ = s.streams.Err.Write(complaint.Bytes()) // it is shown, and not kept
	}
	if err != nil {
		return "", fmt.Errorf("REMIT_SIGN_COMMAND: %s: %w", filepath.Base(s.words[0]), err)
	}
	return strings.TrimRight(value.String(), "\r\n"), nil
}

// atMost keeps the first [signatureMax] bytes.
type atMost struct{ bytes.Buffer }

// Write implements io.Writer.
func (a *atMost) Write(b []byte) (int, error) {
	_, _ = a.Buffer.Write(b[:min(len(b), signatureMax-a.Len())]) // a buffer has no error
	return len(b), nil
}
