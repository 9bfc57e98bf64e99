package config

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/internal/files/access"
	"remit/internal/files/confined"
	"remit/internal/service/operator"
	"remit/internal/text/english"
	"remit/internal/text/lazyregexp"
)

// Credentials evaluates what a connection needs: token_url, client_id, client_secret and scopes
// of the service block, the files of its client certificate, and how requests are signed. It is evaluated now and not before, so that a plan needs none of
// it. REMIT_CLIENT_ID, REMIT_CLIENT_SECRET and REMIT_CLIENT_SECRET_FILE (the path of a file,
// whose last line break is left out) replace arguments that the block does not have.
func (c *Configuration) Credentials() (Credentials, hcl.Diagnostics) {
	if c.service == nil {
		return Credentials{}, c.RequireService()
	}
	r := &eval.Reader{Scope: c.scope, Block: c.service.Block, Secret: true}
	var out Credentials
	none := func(*eval.Reader) string { return "" }
	if text := c.credential(r, "token_url", "", "", none); text != "" {
		out.TokenURL = c.tokenURL(r, text)
	}
	out.ClientID = c.clientID(r, "")
	out.ClientSecret = c.credential(r, "client_secret", "", otherCredentials(c.options.Getenv), func(r *eval.Reader) string {
		if beside := c.options.Getenv(environmentClientID); beside != out.ClientID {
			out.BesideID = beside
		}
		return c.secretFromEnvironment(r)
	})
	if out.Scopes = r.Texts("scopes"); out.Scopes == nil {
		reportUnset(r, c.service.Arguments["scopes"])
	}
	c.warnOfScopes(r, out.Scopes)
	out.CertificateFile, out.KeyFile = c.certificate(r)
	out.Signing = c.signing(r)
	return out, r.Diags
}

// warnOfScopes warns where the scopes asked for lack what the operator is known to want for lookups, or
// for making any transfer. Without scopes the token endpoint decides.
func (c *Configuration) warnOfScopes(r *eval.Reader, scopes []string) {
	if len(scopes) == 0 {
		return
	}
	lacks := func(what string, oneOf ...string) {
		isThere := func(scope string) bool { return scope == "" || slices.Contains(scopes, scope) }
		if len(oneOf) > 0 && !slices.ContainsFunc(oneOf, isThere) {
			r.Diags = append(r.Diags, mistake.Warning(c.service.Arguments["scopes"].Expr.Range(), "A scope may be missing",
				"The operator %q asks for the scope %s %s. Add it to scopes.", c.Service.Operator, strings.Join(oneOf, " or "), what))
		}
	}
	contract := operator.Of(c.Service.Operator)
	lacks("to make transfers", slices.Sorted(maps.Values(contract.ScopeCreate))...)
	if c.Service.LookupPath != "" {
		lacks("to look transfers up", contract.ScopeLookup)
	}
	if c.Service.BalancePath != "" {
		lacks("to read balances", contract.ScopeBalance)
	}
}

// credential is an argument, or else what the environment says, or else a mistake. why names the block that needs it;
// "" for a token.
func (c *Configuration) credential(r *eval.Reader, name, why, hint string, otherwise func(*eval.Reader) string) string {
	r.Unset = nil
	text, a, found := r.Find(name)
	if found == eval.Present {
		return text
	}
	if found == eval.Wrong && len(r.Unset) == 0 {
		return "" // reported
	}
	before := len(r.Diags)
	if text := otherwise(r); text != "" || len(r.Diags) > before {
		return text
	}
	if !reportUnset(r, a) {
		if why == "" {
			why = "A token needs " + name
		}
		how := "write it in the service block"
		if name == "client_secret" { // which everybody would read there
			how = "set " + environmentClientSecretFile + " to the name of a file that has it, or " + environmentClientSecret + " to the secret itself"
		}
		why += emptyInEnvironment(c.options, name)
		r.Refuse(c.service.At, "Credentials are missing", "%s: %s%s.", why, how, hint)
	}
	return ""
}

// emptyInEnvironment says which variables of the environment for an argument are set to nothing, as where a secret of a pipeline
// is not there; "" for none.
func emptyInEnvironment(options Options, argument string) string {
	if options.Environ == nil {
		return ""
	}
	environ, empty := options.Environ(), []string(nil)
	for _, name := range map[string][]string{"client_id": {environmentClientID}, "client_secret": {environmentClientSecret, environmentClientSecretFile}}[argument] {
		if slices.Contains(environ, name+"=") {
			empty = append(empty, name)
		}
	}
	if empty == nil {
		return ""
	}
	return ", and " + english.List(empty) + " is set and empty, as where a secret of a pipeline is missing"
}

// reportUnset reports the variable without a value that an argument needs, if there is one.
func reportUnset(r *eval.Reader, a *eval.Argument) bool {
	if a == nil || a.Refs == nil {
		return false
	}
	for _, n := range a.Refs.Nodes {
		if len(n.Missing) > 0 {
			r.Diags = append(r.Diags, missingValue(n.Missing[0]))
			return true
		}
	}
	return false
}

func (c *Configuration) secretFromEnvironment(r *eval.Reader) string {
	const secretBytesMax = 64 << 10
	if secret := c.options.Getenv(environmentClientSecret); secret != "" {
		checkCredential(r, environmentClientSecret, secret)
		return secret
	}
	path := c.options.Getenv(environmentClientSecretFile)
	if path == "" {
		return ""
	}
	content, err := confined.ReadAnywhere(path, secretBytesMax)
	if err == nil {
		warnOfReaders(r, path)
	}
	refuse := func(why string) string {
		r.Diags = append(r.Diags, mistake.Placeless("Secret cannot be read", "%s: %s", environmentClientSecretFile, why))
		return ""
	}
	if err != nil { // the value is not shown: it may be the secret
		return refuse(mistake.Sentence(err) + " It takes the name of a file; the secret itself belongs in " + environmentClientSecret + ".")
	}
	secret := strings.TrimRight(string(content), "\r\n")
	switch {
	case secret == "":
		return refuse("the file is empty. Write the secret into it, and nothing else.")
	case strings.ContainsAny(secret, "\r\n"):
		return refuse("the file has several lines. Write the secret into it, and nothing else.")
	case namedSecret.MatchString(secret):
		return refuse("the file has a name and a sign before the secret, as a file .env has. Write the secret into it, and nothing else.")
	}
	return secret
}

// namedSecret is the beginning of a line that assigns the secret to a name.
var namedSecret = lazyregexp.New(`(?i)^\s*(?:export\s+)?"?[a-z_]*(?:secret|password|token)[a-z_]*"?\s*[=:]\s*\S`)

// warnOfReaders warns where others of this machine can read the secret.
func warnOfReaders(r *eval.Reader, path string) {
	if why := access.Exposed(path); why != "" {
		warning := mistake.Placeless("A secret is readable by others", "%s: %s %s; make it yours alone: %s", environmentClientSecretFile, path, why, access.Closing(path))
		warning.Severity = hcl.DiagWarning
		r.Diags = append(r.Diags, warning)
	}
}

// tokenURL normalises the address of a token, or reports its mistake.
func (c *Configuration) tokenURL(r *eval.Reader, text string) string {
	normal, err := serviceURL(text)
	if err != nil {
		a := c.service.Arguments["token_url"]
		r.Diags = append(r.Diags, invalidTokenURL(a, text, err))
	}
	return normal
}

// Client is which client of the service the configuration is for, and where its tokens come
// from. Neither is a secret.
type Client struct {
	ID       string
	TokenURL string // normalised as BaseURL is; "" where there is none
}

// Client evaluates client_id, or REMIT_CLIENT_ID, and token_url, which may be left out, alone.
func (c *Configuration) Client() (Client, hcl.Diagnostics) {
	if c.service == nil {
		return Client{}, c.RequireService()
	}
	r := &eval.Reader{Scope: c.scope, Block: c.service.Block, Secret: true}
	out := Client{ID: c.clientID(r, "A state belongs to one client of the service, which client_id names. No secret is needed here, only client_id")}
	text, a, found := r.Find("token_url")
	switch found {
	case eval.Present:
		out.TokenURL = c.tokenURL(r, text)
	case eval.Wrong:
		reportUnset(r, a)
	case eval.Absent:
	}
	return out, r.Diags
}

// Named is Client as far as the service block says it now. A field is "" if the block leaves it to the
// environment, has a mistake in it, or names a variable without a value.
func (c *Configuration) Named() Client {
	if c.service == nil {
		return Client{}
	}
	r := &eval.Reader{Scope: c.scope, Block: c.service.Block, Secret: true}
	var out Client
	out.ID, _ = r.Text("client_id")
	if text, _ := r.Text("token_url"); text != "" {
		out.TokenURL, _ = serviceURL(text) // "" where it is no address
	}
	return out
}

// Sensitive reports whether an argument of the service block is made of a sensitive value, so that
// no output may have it.
func (c *Configuration) Sensitive(argument string) bool {
	if c.service == nil {
		return false
	}
	a := c.service.Arguments[argument]
	return a != nil && a.Refs != nil && a.Refs.Sensitive()
}

func (c *Configuration) clientID(r *eval.Reader, why string) string {
	return c.credential(r, "client_id", why, ", or set "+environmentClientID+otherCredentials(c.options.Getenv),
		func(r *eval.Reader) string {
			text := c.options.Getenv(environmentClientID)
			checkCredential(r, environmentClientID, text)
			return text
		})
}

// checkCredential refuses a credential of the environment with what a file or a shell left at its ends.
func checkCredential(r *eval.Reader, name, text string) {
	what := ""
	switch {
	case strings.ContainsAny(text, "\r\n"):
		what = "has the end of a line in it, as from a file"
	case strings.TrimSpace(text) != text:
		what = "begins or ends with a space"
	case unwrapped(text) != text:
		what = "has quotation marks around it, as from a file .env"
	default:
		return
	}
	r.Diags = append(r.Diags, mistake.Placeless("Credential has marks around it", "%s %s, which the service would take for a part of it. Set it without.", name, what))
}

// otherCredentials says which variables of the environment are set that only seem to be read, in place of one that
// is missing; "" for none.
func otherCredentials(getenv func(string) string) string {
	var set []string
	for _, name := range []string{
		"REMIT_CLIENTID", "REMIT_CLIENTSECRET", "REMIT_ID", "REMIT_SECRET", "REMIT_CLIENT", "REMIT_CLIENT_KEY", "REMIT_KEY", "REMIT_API_KEY", "REMIT_TOKEN", "REMIT_PASSWORD",
		"REMIT_CLIENT_SECRET_PATH", "CLIENT_ID", "CLIENT_SECRET",
	} {
		if getenv(name) != "" {
			set = append(set, name)
		}
	}
	if len(set) == 0 {
		return ""
	}
	is := " is"
	if len(set) > 1 {
		is = " are"
	}
	return ". " + english.List(set) + is + " set, and remit does not read such a name"
}

// signing evaluates the signing block; nil where there is none. A program that the environment
// names is started for each request, so that no configuration can have a program started.
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
		unset = reportUnset(inner, b.Arguments[name]) || unset
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
	case reportUnset(r, a) || reportUnset(r, b):
	case certificate != "" && key == "":
		r.Refuse(a.Expr.Range(), "Half a client certificate", "client_certificate_file needs client_key_file beside it.")
	case certificate == "" && key != "":
		r.Refuse(b.Expr.Range(), "Half a client certificate", "client_key_file needs client_certificate_file beside it.")
	}
	return certificate, key
}
