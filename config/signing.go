package config

import (
	"remit/config/mistake"
	"remit/internal/service/jws"
)

const (
	signingName   = "signing"
	headerDefault = "X-JWS-Signature"

	environmentSignCommand = "REMIT_SIGN_COMMAND"
)

// Signing is how requests to create are signed.
type Signing struct {
	Header  string
	KeyID   string // how the service knows the key
	KeyFile string // relative to Dir unless absolute; "" where Command signs
	Command string // of REMIT_SIGN_COMMAND; "" where KeyFile signs
}

func signingKind() blockKind {
	return blockKind{name: signingName, required: []string{"key_id"}, optional: []string{"header", "key_file"}}
}

// checkSigning refuses a second block, each of which would say which key signs, and a header that
// can't be one, as far as it has a value: whoever signs reads the rest.
func (l *loader) checkSigning() {
	for i, b := range l.service.nestedOf(signingName) {
		if i > 0 {
			l.report(mistake.New(b.at, "Requests are signed twice", "The service has more than one signing block."))
		}
		if l.config.options.Need == NeedState {
			continue
		}
		r := &reader{scope: l.config.scope, block: b, secret: true}
		if text, a := r.text("header"); text != "" {
			if err := jws.CheckHeader(text); err != nil {
				l.report(mistake.New(a.expr.Range(), "Invalid header", "header %s.", err))
			}
		}
	}
}

// signing evaluates the signing block; nil where there is none. What the environment names is
// started for each request, so that no configuration can have a program started.
func (c *Configuration) signing(r *reader) *Signing {
	blocks := c.service.nestedOf(signingName)
	if len(blocks) == 0 {
		return nil
	}
	b := blocks[0]
	inner := &reader{scope: r.scope, block: b, secret: true}
	s := &Signing{Header: headerDefault, Command: c.options.Getenv(environmentSignCommand)}
	s.KeyID, _ = inner.required("key_id")
	if text, _ := inner.text("header"); text != "" {
		s.Header = text // it was checked
	}
	s.KeyFile, _ = inner.text("key_file")
	unset := false
	for _, name := range []string{"key_id", "header", "key_file"} {
		unset = c.reportUnset(inner, b.arguments[name]) || unset
	}
	switch {
	case unset || inner.diags.HasErrors():
	case s.KeyFile == "" && s.Command == "":
		inner.refuse(b.at, "Nothing signs requests", "A signature needs a key: write key_file in the signing block, or set %s to a command that signs.", environmentSignCommand)
	case s.KeyFile != "" && s.Command != "":
		inner.refuse(b.arguments["key_file"].expr.Range(), "Requests are signed twice", "Both key_file and %s are set; which of them signs must be clear.", environmentSignCommand)
	}
	r.diags = append(r.diags, inner.diags...)
	return s
}

// certificate evaluates both files of the client's certificate; "" where there is none.
func (c *Configuration) certificate(r *reader) (certificate, key string) {
	certificate, a := r.text("client_certificate_file")
	key, b := r.text("client_key_file")
	switch {
	case c.reportUnset(r, a) || c.reportUnset(r, b):
	case certificate != "" && key == "":
		r.refuse(a.expr.Range(), "Half a client certificate", "client_certificate_file needs client_key_file beside it.")
	case certificate == "" && key != "":
		r.refuse(b.expr.Range(), "Half a client certificate", "client_key_file needs client_certificate_file beside it.")
	}
	return certificate, key
}
