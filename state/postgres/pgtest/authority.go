//go:build unix

package pgtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Authority signs certificates for a test.
type Authority struct {
	File string // its own certificate, as sslrootcert names it

	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// NewAuthority makes an authority with a key of its own, which is valid for two days before and after a time.
func NewAuthority(tb testing.TB, now time.Time, name string) Authority {
	tb.Helper()
	a := Authority{key: newKey(tb)}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: now.Add(-48 * time.Hour), NotAfter: now.Add(48 * time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &a.key.PublicKey, a.key)
	if err != nil {
		tb.Fatal(err)
	}
	if a.certificate, err = x509.ParseCertificate(der); err != nil {
		tb.Fatal(err)
	}
	a.File = filepath.Join(tb.TempDir(), name+".crt")
	if err := os.WriteFile(a.File, encode("CERTIFICATE", der), 0o600); err != nil {
		tb.Fatal(err)
	}
	return a
}

// Sign returns a certificate and its key, as PEM. It is valid until the given time, as long as the authority is.
func (a Authority) Sign(tb testing.TB, subject string, until time.Time, hosts ...string) (certificate, key []byte) {
	tb.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: subject},
		NotBefore: a.certificate.NotBefore, NotAfter: until, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	private := newKey(tb)
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &private.PublicKey, a.key)
	if err != nil {
		tb.Fatal(err)
	}
	text, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		tb.Fatal(err)
	}
	return encode("CERTIFICATE", der), encode("PRIVATE KEY", text)
}

func newKey(tb testing.TB) *ecdsa.PrivateKey {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	return key
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// Present has a server show a certificate, and ask clients for one of the authorities in a file, from its next start or
// reload on.
func (s *Server) Present(authorities, certificate, key []byte) error {
	settings := "ssl = on\n"
	for setting, content := range map[string][]byte{"ssl_cert_file": certificate, "ssl_key_file": key, "ssl_ca_file": authorities} {
		path, err := s.Place(setting, content)
		if err != nil {
			return err
		}
		settings += setting + " = '" + path + "'\n"
	}
	return s.Configure(settings)
}
