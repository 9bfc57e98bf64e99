package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"remit/config"
)

func TestSigning(t *testing.T) {
	command := map[string]string{"REMIT_SIGN_COMMAND": "sign --key=7"}
	for sentence, c := range map[string]struct {
		text string
		env  map[string]string
		want config.Credentials
		fail string
	}{
		"nothing is signed": {text: ""},
		"a key": {
			text: `signing { key_id = "k", key_file = "k.pem" }`,
			want: config.Credentials{Signing: &config.Signing{Header: "X-JWS-Signature", KeyID: "k", KeyFile: "k.pem"}},
		},
		"a command": {
			text: `signing { key_id = "k", header = "x-proof" }`, env: command,
			want: config.Credentials{Signing: &config.Signing{Header: "x-proof", KeyID: "k", Command: "sign --key=7"}},
		},
		"a command where nothing is signed": {env: command},
		"a certificate": {
			text: `client_certificate_file = "c.pem", client_key_file = "k.pem"`,
			want: config.Credentials{CertificateFile: "c.pem", KeyFile: "k.pem"},
		},
		"neither a key nor a command":    {text: `signing { key_id = "k" }`, fail: "Nothing signs requests"},
		"a key and a command":            {text: `signing { key_id = "k", key_file = "k.pem" }`, env: command, fail: "Requests are signed twice"},
		"a null key_id":                  {text: `signing { key_id = null, key_file = "k.pem" }`, fail: "Required argument is null"},
		"a key that has no value":        {text: `signing { key_id = "k", key_file = var.later }`, fail: "Variable has no value"},
		"a key_id that has no value":     {text: `signing { key_id = var.later, key_file = "k.pem" }`, fail: "Variable has no value"},
		"the header of the token":        {text: `signing { key_id = "k", key_file = "k.pem", header = "authorization" }`, fail: "Invalid header"},
		"one that is sent a second time": {text: `signing { key_id = "k", key_file = "k.pem", header = "Idempotency-Key" }`, fail: "Invalid header"},
		"a certificate without a key":    {text: `client_certificate_file = "c.pem"`, fail: "Half a client certificate"},
		"a key without a certificate":    {text: `client_key_file = "k.pem"`, fail: "Half a client certificate"},
		"a certificate without a value":  {text: `client_certificate_file = var.later, client_key_file = "k.pem"`, fail: "Variable has no value"},
	} {
		t.Run(sentence, func(t *testing.T) {
			text := strings.NewReplacer(", ", "\n", "{ ", "{\n", " }", "\n}").Replace(c.text)
			later := ""
			if strings.Contains(text, "var.later") {
				later = `variable "later" {}`
			}
			loaded, diags := load(t, map[string]string{"main.hcl": fmt.Sprintf(`%s
service {
  base_url      = "http://localhost:8080"
  token_url     = "https://api.example.com/token"
  client_id     = "c"
  client_secret = "s"
  %s
}`, later, text)}, config.Options{Getenv: environment(c.env)})
			var got config.Credentials
			if !diags.HasErrors() { // a header is looked at when the files are read
				got, diags = loaded.Credentials()
			}
			if c.fail != "" {
				if said := fmt.Sprint(diags.Errs()); len(diags) != 1 || !strings.Contains(said, c.fail) {
					t.Errorf("got %v, want %q", said, c.fail)
				}
				return
			}
			c.want.TokenURL, c.want.ClientID, c.want.ClientSecret = "https://api.example.com/token", "c", "s"
			if diff := cmp.Diff(c.want, got); diff != "" || len(diags) > 0 {
				t.Error(diff, diags)
			}
		})
	}
}

func TestTwoSigningBlocks(t *testing.T) {
	_, diags := load(t, map[string]string{"main.hcl": `service {
  base_url = "https://api.example.com"
  signing { key_id = "a" }
  signing { key_id = "b" }
}`}, config.Options{})
	if len(diags) != 1 || diags[0].Summary != "Requests are signed twice" || diags[0].Subject.Start.Line != 4 {
		t.Error(diags)
	}
}
