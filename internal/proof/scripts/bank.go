//go:build unix

package scripts

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"io/fs"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"remit/internal/sandbox"
)

// runBank is the script command
//
//	bank make DIRECTORY     make the certificate of https://bank.example
//	bank start DIRECTORY    serve it, with the certificate and the ledger of the directory
//
// The service has one address for ever, because plans and states name it; the requests find
// their way through a proxy.
func runBank(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: bank make|start DIRECTORY")
	}
	dir := ts.MkAbs(args[1])
	switch args[0] {
	case "make":
		ts.Check(makeCertificate(dir))
	case "start":
		ts.Value(serviceKey{}).(*fakeService).startBank(ts, dir)
	default:
		ts.Fatalf("unknown: bank %s", args[0])
	}
}

const bankHost = "bank.example"

// makeCertificate writes bank.pem and bank.key, which prove nothing to anybody but a test.
func makeCertificate(dir string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: bankHost}, DNSNames: []string{bankHost},
		NotBefore: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	certificate, err := x509.CreateCertificate(rand.Reader, &template, &template, key.Public(), key)
	if err != nil {
		return err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	write := func(name, kind string, der []byte, mode fs.FileMode) error {
		return os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), mode)
	}
	return errors.Join(write("bank.pem", "CERTIFICATE", certificate, 0o644), write("bank.key", "PRIVATE KEY", private, 0o600))
}

// startBank serves https://bank.example, to clients that go through HTTPS_PROXY.
func (s *fakeService) startBank(ts *testscript.TestScript, dir string) {
	s.secret = rand.Text()
	box, err := sandbox.Open(context.Background(), sandbox.Options{
		ClientID: "finance", ClientSecret: s.secret, Now: s.now, Path: filepath.Join(dir, "ledger.db"),
		CustomerID: "c0ffee00-0000-4000-8000-000000000001",
	})
	ts.Check(err)
	s.box = box
	certificate, err := tls.LoadX509KeyPair(filepath.Join(dir, "bank.pem"), filepath.Join(dir, "bank.key"))
	ts.Check(err)
	server := httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	server.StartTLS()
	proxy := httptest.NewServer(tunnel(server.Listener.Addr().String()))
	ts.Defer(func() {
		server.CloseClientConnections()
		_ = box.Close() // ends requests that hang
		server.Close()
		proxy.Close()
	})
	ts.Setenv("HTTPS_PROXY", proxy.URL)
	ts.Setenv("REMIT_VAR_client_secret", s.secret)
}

// tunnel is a proxy that leads every connection to one address.
func tunnel(address string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodConnect || r.Host != bankHost+":443" {
			http.Error(w, "this proxy leads to "+bankHost+" alone", http.StatusForbidden)
			return
		}
		there, err := (&net.Dialer{}).DialContext(r.Context(), "tcp", address)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer func() { _ = there.Close() }() // the copied bytes are on their way
		here, rest, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return // the client is gone
		}
		defer func() { _ = here.Close() }() // so
		if _, err := io.WriteString(here, "HTTP/1.1 200 OK\r\n\r\n"); err != nil {
			return // the client is gone
		}
		go func() {
			_, _ = io.Copy(there, rest) // ends with either connection
			_ = there.Close()
		}()
		_, _ = io.Copy(here, there) // ends with either connection
	}
}
