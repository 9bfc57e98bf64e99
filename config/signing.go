package config

import (
	"remit/config/eval"
	"remit/config/mistake"
	"remit/internal/service/jws"
)

const (
	signingName   = "signing"
	headerDefault = "X-JWS-Signature"
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
// can't be one, as far as it has a value: the signer reads the rest.
func checkSigning(c *checker, service *eval.Block, need Need) {
	for i, b := range service.NestedOf(signingName) {
		if i > 0 {
			c.report(mistake.New(b.At, "Requests are signed twice", "The service has more than one signing block."))
		}
		if need == NeedState {
			continue
		}
		r := &eval.Reader{Scope: c.scope, Block: b, Secret: true}
		if text, a := r.Text("header"); text != "" {
			if err := jws.CheckHeader(text); err != nil {
				c.report(mistake.New(a.Expr.Range(), "Invalid header", "header %s.", err))
			}
		}
	}
}
