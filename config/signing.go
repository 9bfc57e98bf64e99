package config

import (
	"remit/config/eval"
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

func signingKind() eval.Kind {
	return eval.Kind{Name: signingName, Required: []string{"key_id"}, Optional: []string{"header", "key_file"}}
}

// checkSigning refuses a second block, each of which would say which key signs, and a header that
// can't be one, as far as it has a value: whoever signs reads the rest.
func (l *loader) checkSigning() {
	for i, b := range l.service.NestedOf(signingName) {
		if i > 0 {
			l.report(mistake.New(b.At, "Requests are signed twice", "The service has more than one signing block."))
		}
		if l.config.options.Need == NeedState {
			continue
		}
		r := &eval.Reader{Scope: l.config.scope, Block: b, Secret: true}
		if text, a := r.Text("header"); text != "" {
			if err := jws.CheckHeader(text); err != nil {
				l.report(mistake.New(a.Expr.Range(), "Invalid header", "header %s.", err))
			}
		}
	}
}

// signing evaluates the signing block; nil where there is none. What the environment names is
// started for each request, so that no configuration can have a program started.
func (c *Configuration) signing(r *eval.Reader) *Signing {
	blocks := c.service.NestedOf(signingName)
	if len(blocks) == 0 {
		return nil
	}
	b := blocks[0]
	inner := &eval.Reader{Scope: r.Scope, Block: b, Secret: true}
	s := &Signing{Header: headerDefault, Command: c.options.Getenv(environmentSignCommand)}
	s.KeyID, _ = inner.Required("key_id")
	if text, _ := inner.Text("header"); text != "" {
		s.Header = text // it was checked
	}
	s.KeyFile, _ = inner.Text("key_file")
	unset := false
	for _, name := range []string{"key_id", "header", "key_file"} {
		unset = c.reportUnset(inner, b.Arguments[name]) || unset
	}
	switch {
	case unset || inner.Diags.HasErrors():
	case s.KeyFile == "" && s.Command == "":
		inner.Refuse(b.At, "Nothing signs requests", "A signature needs a key: write key_file in the signing block, or set %s to a command that signs.", environmentSignCommand)
	case s.KeyFile != "" && s.Command != "":
		inner.Refuse(b.Arguments["key_file"].Expr.Range(), "Requests are signed twice", "Both key_file and %s are set; which of them signs must be clear.", environmentSignCommand)
	}
	r.Diags = append(r.Diags, inner.Diags...)
	return s
}

// certificate evaluates both files of the client's certificate; "" where there is none.
func (c *Configuration) certificate(r *eval.Reader) (certificate, key string) {
	certificate, a := r.Text("client_certificate_file")
	key, b := r.Text("client_key_file")
	switch {
	case c.reportUnset(r, a) || c.reportUnset(r, b):
	case certificate != "" && key == "":
		r.Refuse(a.Expr.Range(), "Half a client certificate", "client_certificate_file needs client_key_file beside it.")
	case certificate == "" && key != "":
		r.Refuse(b.Expr.Range(), "Half a client certificate", "client_key_file needs client_certificate_file beside it.")
	}
	return certificate, key
}
