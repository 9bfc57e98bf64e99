package service

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"remit/internal/text/redact"
	"remit/internal/transfer"
)

// wordsMax bounds the characters of a foreign text that a reason repeats.
const wordsMax = 300

// wording puts into words what others said, without secrets.
type wording struct {
	secrets *redact.Set // some services repeat a request in their errors
	timeout time.Duration
}

// clean makes a foreign text fit for a reason: no secret, no character that a person could
// not see, not endless.
func (w wording) clean(text string) string { return visible(w.secrets.ScrubText(text)) }

func (w wording) quote(text string) string { return fmt.Sprintf("%q", w.clean(text)) }

func visible(text string) string {
	if utf8.RuneCountInString(text) > wordsMax {
		text = string([]rune(text)[:wordsMax]) + "…"
	}
	return strings.Map(func(r rune) rune {
		if transfer.Hidden(r) {
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(text, string(utf8.RuneError)))
}

// statusWords returns a status as people know it: "503 Service Unavailable".
func statusWords(status int) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", status, http.StatusText(status)))
}

// describe returns a failure of the network in words, without a secret.
func (w wording) describe(err error) string {
	var timeout net.Error
	var certificate *tls.CertificateVerificationError
	var unknownHost *net.DNSError
	var noTLS tls.RecordHeaderError
	var late *noConnectionError
	if operation, ok := errors.AsType[*net.OpError](err); ok {
		switch operation.Op {
		case "proxyconnect":
			return "the proxy that HTTPS_PROXY names cannot be reached: " + w.describe(operation.Err)
		case "remote error": // an alert of TLS
			return "it refused the TLS connection with the alert " + strconv.Quote(w.clean(operation.Err.Error())) +
				"; where it asks for a client certificate, client_certificate_file names one"
		}
	}
	switch {
	case errors.As(err, &noTLS), errors.Is(err, http.ErrSchemeMismatch):
		return "it does not speak TLS (https) at this port"
	case errors.As(err, &late):
		return late.Error()
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("no whole answer within %s", w.timeout)
	case errors.Is(err, context.Canceled):
		return "the attempt was interrupted"
	case errors.As(err, &certificate):
		return w.certificateWords(certificate.Err)
	case errors.As(err, &unknownHost):
		return "its name cannot be resolved: " + w.clean(unknownHost.Error())
	case errors.As(err, &timeout) && timeout.Timeout():
		return "the network timed out: " + w.clean(err.Error())
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was closed"
	}
	return w.clean(err.Error())
}

// certificateWords says why a certificate is not believed, and who can mend that.
func (w wording) certificateWords(err error) string {
	words := "its certificate is not trusted: " + w.clean(err.Error())
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok && invalid.Reason == x509.Expired {
		return "its certificate has expired or is not valid yet: " + w.clean(invalid.Detail) +
			". Where the clock of this machine is right, whoever runs that server has to renew the certificate"
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return words + ". Where it is one of your own company, ca_file names the certificate of its authority"
	}
	return words
}
