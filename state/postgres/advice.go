package postgres

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"remit/internal/files/confined"
	"remit/internal/syserror"
)

// advised says, behind an error of a connection that was not made, what a person can do about
// it, where that is known.
func advised(err error) error {
	if advice := adviceFor(err); advice != "" {
		return retold{err, err.Error() + ". " + advice}
	}
	return err
}

func adviceFor(err error) string {
	if _, ok := errors.AsType[*pgconn.ConnectError](err); !ok {
		return ""
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "The server's certificate is not signed by an authority that is trusted here: write sslrootcert=FILE into the url of the state, " +
			"which names the certificate of the one that did sign it. If that is what it names, another machine may be answering in the server's place"
	}
	if wrong, ok := errors.AsType[x509.HostnameError](err); ok {
		return fmt.Sprintf("The server's certificate is that of %s: write that name into the url of the state if it is the server's, or give the server "+
			"a certificate of the name that the url has. Another machine may be answering in the server's place", names(wrong.Certificate))
	}
	if wrong, ok := errors.AsType[x509.CertificateInvalidError](err); ok && wrong.Reason == x509.Expired {
		return fmt.Sprintf("The server's certificate is valid from %s to %s: it must be renewed on the server, unless the clock of this machine is wrong",
			wrong.Cert.NotBefore.UTC().Format(time.RFC3339), wrong.Cert.NotAfter.UTC().Format(time.RFC3339))
	}
	if refused, ok := errors.AsType[*net.OpError](err); ok && refused.Op == "remote error" {
		return "The server does not accept the certificate that sslcert names in the url of the state"
	}
	// The driver has no name for this one. Where it was let in to be refused for another reason, TLS
	// was not asked for.
	if code(err) == "" && strings.Contains(err.Error(), "server refused TLS connection") {
		return "The server has TLS switched off, and sslmode in the url of the state asks for it: set ssl = on in its postgresql.conf, " +
			"with ssl_cert_file and ssl_key_file"
	}
	if missing, ok := errors.AsType[*net.DNSError](err); ok {
		return fmt.Sprintf("The host %s has no address that is known here: correct the host in the url of the state", missing.Name)
	}
	if syserror.IsNotListening(err) || errors.Is(err, fs.ErrNotExist) { // a socket
		return "No server listens there: start it, or correct host and port in the url of the state"
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "Nothing answers there: have the network let this machine through to it, or correct host and port in the url of the state"
	}
	switch code(err) {
	case codeNoAuthorization:
		return "Its pg_hba.conf says who comes in from where, with TLS or without, and with what: a certificate of the user's own is named by " +
			"sslcert and sslkey in the url of the state"
	case codeNotYet:
		return "The server is starting, stopping or recovering: try again in a moment"
	case codeTooMany:
		return "The server has no connection left, and remit needs four, or five where several runners carry out a run: raise its max_connections, or find out who has the others"
	case codeWrongPassword:
		return "The password comes from the url of the state, PGPASSWORD, or the file that passfile or PGPASSFILE names"
	}
	return ""
}

// aboutPrivileges adds to an error of a role that may do too little the statements that grant it
// enough.
func (s *Store) aboutPrivileges(err error) error {
	schema := s.quotedSchema()
	switch {
	case code(err) != codeNoPrivilege && !errors.Is(err, errNoUsage):
		return err
	case s.readOnly:
		return retold{err, fmt.Sprintf("%v. The role in the url of the state has to be let in by the one that owns the schema: "+
			"GRANT USAGE ON SCHEMA %s TO the role, and GRANT SELECT ON ALL TABLES IN SCHEMA %[2]s TO the role", err, schema)}
	}
	return retold{err, fmt.Sprintf("%v. Writing needs the role that owns the schema %s and its tables: name that role in the url of the state. "+
		"For init, have a superuser CREATE SCHEMA %[2]s AUTHORIZATION the role", err, schema)}
}

// aboutCertificate adds to an error of a connection that ended while it was made the possible mistakes
// in the certificate that the url names. With TLS 1.3 a server refuses it after the client is done, and
// its reason can come too late to be read.
func (s *Store) aboutCertificate(err error) error {
	_, isConnecting := errors.AsType[*pgconn.ConnectError](err)
	config := s.pool.ConnConfig.TLSConfig
	isCut := syserror.IsCut(err) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	if !isConnecting || !isCut || config == nil || len(config.Certificates) == 0 {
		return err
	}
	advice := "The server may not accept the certificate that sslcert names in the url of the state"
	leaf := config.Certificates[0].Leaf
	if now := s.now(); leaf != nil && (now.After(leaf.NotAfter) || now.Before(leaf.NotBefore)) {
		advice = fmt.Sprintf("The certificate that sslcert names in the url of the state is valid from %s to %s: renew it, unless the clock of this machine is wrong",
			leaf.NotBefore.UTC().Format(time.RFC3339), leaf.NotAfter.UTC().Format(time.RFC3339))
	}
	return retold{err, err.Error() + ". " + advice}
}

// names are those that a certificate is for.
func names(c *x509.Certificate) string {
	list := slices.Clone(c.DNSNames)
	for _, ip := range c.IPAddresses {
		list = append(list, ip.String())
	}
	if len(list) == 0 {
		return "no host at all"
	}
	return strings.Join(list, ", ")
}

// unreadable says why a URL could not be taken apart, without a word of it but the name of a
// file.
func unreadable(text string, err error) error {
	if missing, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("the url of the state, or the environment, names a file that can't be read: %w", missing)
	}
	if u, err := url.Parse(text); err == nil && u.Query().Has("sslcert") != u.Query().Has("sslkey") {
		return errors.New("the url of the state has one of sslcert and sslkey: a certificate needs its key, and a key its certificate")
	}
	if err := fits(text); err != nil {
		return err
	}
	return errors.New("the url of the state can't be read, or names a file that has no certificate or no key in it. " +
		"It is postgres://user@host:port/database?sslmode=verify-full; what is no letter or digit in a user or a password is written as %, " +
		"and two hexadecimal digits")
}

// fits is an error where a URL names a certificate and a key, and the key is of another certificate.
func fits(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Query().Has("sslpassword") { // the key is encrypted, so that only the driver can tell
		return nil
	}
	certificate, errCertificate := confined.ReadAnywhere(u.Query().Get("sslcert"), filesMax)
	key, errKey := confined.ReadAnywhere(u.Query().Get("sslkey"), filesMax)
	if errCertificate != nil || errKey != nil {
		return nil
	}
	if _, err := tls.X509KeyPair(certificate, key); err != nil {
		return fmt.Errorf("the files that sslcert and sslkey name in the url of the state are no certificate with its key: %w. "+
			"Where they are being renewed, try again when both are new", err)
	}
	return nil
}
