//go:build unix

package scripts

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// demands are what the service of a script asks of who sends, beside a token.
type demands struct {
	header      string // "" where nothing needs to be signed
	keys        map[string]crypto.PublicKey
	seen        map[string]bool   // each jti
	signatures  []string          // that were accepted
	certificate *x509.Certificate // of the client; nil where none is asked for
}

// demand is the script command
//
//	demand keys                 make ed.pem, ec.pem, client.pem and client-key.pem
//	demand certificate          before service start: TLS, and the client of client.pem alone; makes ca.pem
//	demand signature HEADER     of each request, by a key that demand keys made
//	demand signatures           print those that were accepted
func (s *fakeService) demand(ts *testscript.TestScript, args []string) {
	switch args[0] {
	case "keys":
		s.makeKeys(ts)
	case "certificate":
		block, _ := pem.Decode([]byte(ts.ReadFile("client.pem")))
		certificate, err := x509.ParseCertificate(block.Bytes)
		ts.Check(err)
		s.demands.certificate = certificate
	case "signature":
		s.mu.Lock()
		defer s.mu.Unlock()
		s.demands.header = args[1]
	case "signatures":
		s.mu.Lock()
		defer s.mu.Unlock()
		printLines(ts, s.demands.signatures)
	default:
		ts.Fatalf("unknown: demand %s", args[0])
	}
}

func (s *fakeService) makeKeys(ts *testscript.TestScript) {
	edwards, edwardsKey, err := ed25519.GenerateKey(rand.Reader)
	ts.Check(err)
	p256, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ts.Check(err)
	s.demands.keys = map[string]crypto.PublicKey{"ed": edwards, "ec": &p256.PublicKey}
	s.demands.seen = map[string]bool{}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "finance"},
		NotBefore: time.Unix(0, 0), NotAfter: time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, edwards, edwardsKey)
	ts.Check(err)
	for name, block := range map[string]*pem.Block{
		"ed.pem": private(ts, edwardsKey), "ec.pem": private(ts, p256), "client-key.pem": private(ts, edwardsKey),
		"client.pem": {Type: "CERTIFICATE", Bytes: certificate},
	} {
		ts.Check(os.WriteFile(ts.MkAbs(name), pem.EncodeToMemory(block), 0o600))
	}
}

func private(ts *testscript.TestScript, key any) *pem.Block {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	ts.Check(err)
	return &pem.Block{Type: "PRIVATE KEY", Bytes: der}
}

// listen serves as the script wants it: with TLS where a certificate is demanded.
func (s *fakeService) listen(ts *testscript.TestScript) *httptest.Server {
	server := httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	if s.demands.certificate == nil {
		server.Start()
		return server
	}
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS = &tls.Config{
		ClientAuth: tls.RequireAnyClientCert,
		VerifyConnection: func(state tls.ConnectionState) error {
			if !state.PeerCertificates[0].Equal(s.demands.certificate) {
				return errors.New("another client")
			}
			return nil
		},
	}
	server.StartTLS()
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	ts.Check(os.WriteFile(ts.MkAbs("ca.pem"), authority, 0o644))
	return server
}

// verify says why a request is not signed as is demanded, with no code of the signer.
func (s *fakeService) verify(r *http.Request, body []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.demands.header == "" {
		return nil
	}
	values := r.Header.Values(s.demands.header)
	if len(values) != 1 {
		return fmt.Errorf("%d signatures", len(values))
	}
	parts := strings.Split(values[0], ".")
	if len(parts) != 3 || parts[1] != "" {
		return errors.New("no detached signature")
	}
	raw, err := base64.RawURLEncoding.DecodeString(parts[0])
	if err != nil {
		return err
	}
	var header struct {
		Alg, Kid, Htm, Htu, Jti string
		B64                     *bool
		Crit                    []string
		Iat                     int64
	}
	if err := json.Unmarshal(raw, &header); err != nil {
		return err
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		return err
	}
	signed, digest := false, sha256.Sum256([]byte(parts[0]+"."+string(body)))
	switch key := s.demands.keys[header.Kid].(type) {
	case ed25519.PublicKey:
		signed = header.Alg == "EdDSA" && ed25519.Verify(key, []byte(parts[0]+"."+string(body)), signature)
	case *ecdsa.PublicKey:
		signed = header.Alg == "ES256" && len(signature) == 64 &&
			ecdsa.Verify(key, digest[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:]))
	}
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	age := s.now().Sub(time.Unix(header.Iat, 0)).Abs()
	switch {
	case !signed:
		return errors.New("the signature is not that of the key")
	case header.B64 == nil || *header.B64 || len(header.Crit) != 1 || header.Crit[0] != "b64":
		return errors.New("the body is not as it is")
	case header.Htm != r.Method || header.Htu != scheme+"://"+r.Host+r.URL.Path:
		return fmt.Errorf("signed for %s %s", header.Htm, header.Htu)
	case age > 5*time.Minute || s.demands.seen[header.Jti]:
		return errors.New("an old signature")
	}
	s.demands.seen[header.Jti] = true
	s.demands.signatures = append(s.demands.signatures, values[0])
	return nil
}
