package programs_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"
	"golang.org/x/crypto/ssh"

	"remit/internal/approval"
	"remit/internal/cli"
	"remit/internal/proof/suite"
)

// reviewer is a directory with a plan that two people must approve, and a browser in which they do.
type reviewer struct {
	*testing.T
	dir     string
	port    int
	browser context.Context
	heard   *heard
	second  *passkeyHolder // a second authenticator of somebody
}

// heard is what the browser did and said.
type heard struct {
	mu         sync.Mutex
	requests   []*network.EventRequestWillBeSent
	complaints []string // a violation of the page's policy, too
}

func (h *heard) hear(event any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		h.requests = append(h.requests, e)
	case *log.EventEntryAdded:
		h.complaints = append(h.complaints, e.Entry.Text)
	case *runtime.EventExceptionThrown:
		h.complaints = append(h.complaints, e.ExceptionDetails.Text)
	}
}

func (h *heard) forget() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.requests, h.complaints = nil, nil
}

// waitFor waits for a complaint with a word.
func (h *heard) waitFor(word string) string {
	for {
		h.mu.Lock()
		for _, text := range h.complaints {
			if strings.Contains(text, word) {
				h.mu.Unlock()
				return text
			}
		}
		h.mu.Unlock()
		time.Sleep(10 * time.Millisecond)
	}
}

// checkQuiet fails where the browser asked for more than the page and its parts, told anybody where it is, or complained.
func (r *reviewer) checkQuiet(address string) {
	r.Helper()
	r.heard.mu.Lock()
	defer r.heard.mu.Unlock()
	for _, e := range r.heard.requests {
		if !strings.HasPrefix(e.Request.URL, address[:strings.LastIndexByte(strings.TrimSuffix(address, "/"), '/')+1]) {
			r.Errorf("the page asks for %s", e.Request.URL)
		}
		if from := e.Request.Headers["Referer"]; from != nil && from != "" {
			r.Errorf("the page tells %s that it is at %v", e.Request.URL, from)
		}
	}
	if len(r.heard.requests) < 5 || len(r.heard.complaints) > 0 {
		r.Errorf("of %d requests the browser says %q", len(r.heard.requests), r.heard.complaints)
	}
}

const reviewDeclaration = `
transfer "internal" "rent-2026-11" {
  from_profile_id = "treasury"
  to_profile_id   = "landlord"
  amount          = "8200.00"
  asset           = "USD"
}
transfer "internal" "cleaning-2026-11" {
  from_profile_id = "treasury"
  to_profile_id   = "cleaner"
  amount          = "310.50"
  asset           = "USD"
}
`

func newReviewer(t *testing.T) *reviewer {
	t.Helper()
	suite.Slow(t)
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed here (Debian: apt-get install chromium)")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-component-update", true), chromedp.WSURLReadTimeout(15*time.Minute))
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	r := &reviewer{T: t, port: suite.Port(t), heard: &heard{}}
	r.browser, cancel = chromedp.NewContext(ctx, chromedp.WithListener(r.heard.hear))
	t.Cleanup(cancel)
	r.enable()
	return r
}

// enable has the browser's tab have virtual authenticators, and tell what it does.
func (r *reviewer) enable() {
	r.Helper()
	call(r, webauthn.Enable, webauthn.EnableParams{})
	call(r, network.Enable, network.EnableParams{})
	call(r, log.Enable, cdp.Empty{})
}

func call[P, R any](r *reviewer, command cdp.Command[P, R], params P) R {
	r.Helper()
	result, err := chromedp.Call(r.browser, command, params)
	if err != nil {
		r.Fatal(err)
	}
	return result
}

// in is the reviewer with a directory of a test's own, in which an author and ada have SSH keys.
func (r *reviewer) in(t *testing.T) *reviewer {
	t.Helper()
	one := *r
	one.T, one.dir = t, t.TempDir()
	one.write("main.hcl", reviewDeclaration)
	one.configure("")
	var signers string
	for _, name := range []string{"author", "ada"} {
		_, private, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		block, err := ssh.MarshalPrivateKey(private, name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(one.dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
		key, err := ssh.NewPublicKey(private.Public())
		if err != nil {
			t.Fatal(err)
		}
		signers += name + "@example.com " + string(ssh.MarshalAuthorizedKey(key))
	}
	one.write("allowed_signers", signers)
	return &one
}

// sign signs the plan with an SSH key.
func (r *reviewer) sign(name string) {
	r.Helper()
	key, err := ssh.ParsePrivateKey([]byte(r.read(name)))
	if err != nil {
		r.Fatal(err)
	}
	digest := approval.NewDigest()
	_, _ = digest.Write([]byte(r.read("november.plan"))) // it never fails
	text, err := approval.Sign(digest, key)
	if err != nil {
		r.Fatal(err)
	}
	r.write("november.plan."+name+".sig", string(text))
}

func (r *reviewer) remove(name string) {
	r.Helper()
	if err := os.Remove(filepath.Join(r.dir, name)); err != nil {
		r.Fatal(err)
	}
}

func (r *reviewer) write(name, text string) {
	r.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o644); err != nil {
		r.Fatal(err)
	}
}

func (r *reviewer) read(name string) string {
	r.Helper()
	text, err := os.ReadFile(filepath.Join(r.dir, name))
	if err != nil {
		r.Fatal(err)
	}
	return string(text)
}

// configure writes the approval block: two approvers, by passkeys; the rule says more.
func (r *reviewer) configure(rule string) { r.configureAll(rule, "") }

func (r *reviewer) configureAll(rule, passkeys string) {
	r.write("approval.hcl", fmt.Sprintf(`approval {
  allowed_signers = "allowed_signers"
  passkeys {
    file = "allowed_passkeys"
    port = %d
    %s
  }
  rule {
    approvers = 2
    %s
  }
}
`, r.port, passkeys, rule))
}

func (r *reviewer) plan() {
	r.Helper()
	r.remit(0, "plan", "--sandbox", "--practice-approvals", "--out=november.plan", "--sign=author")
}

func (r *reviewer) remit(want int, args ...string) string {
	r.Helper()
	var out bytes.Buffer
	code := cli.Run(r.Context(), append(args, "--chdir="+r.dir), strings.NewReader(""), &out, &out, func(string) (string, bool) { return "", false })
	if code != want {
		r.Fatalf("remit %s ends with %d, want %d:\n%s", strings.Join(args, " "), code, want, out.String())
	}
	return strings.Join(strings.Fields(out.String()), " ") // lines are wrapped
}

func (r *reviewer) script(text string) {
	r.Helper()
	if text == "" {
		return
	}
	if err := chromedp.Do(r.browser, chromedp.Evaluate[chromedp.Void](text)); err != nil {
		r.Fatal(err)
	}
}

// servedPage is a page that a command serves.
type servedPage struct {
	*reviewer
	address  string
	answered bool
	stop     func() (code int, out string) // interrupts the command, or waits for its end where it took an answer
}

// page starts a command that serves a page, and opens that.
func (r *reviewer) page(args ...string) *servedPage {
	r.Helper()
	ctx, cancel := context.WithCancel(r.Context())
	out := &suite.Output{Told: make(chan struct{}, 1)}
	ended := make(chan int, 1)
	go func() {
		ended <- cli.Run(ctx, append(args, "--chdir="+r.dir), strings.NewReader(""), out, out, func(string) (string, bool) { return "", false })
	}()
	return r.openServed(out, ended, cancel)
}

// openServed opens the page whose address a command prints.
func (r *reviewer) openServed(out *suite.Output, ended chan int, cancel func()) *servedPage {
	r.Helper()
	p := &servedPage{reviewer: r}
	p.stop = sync.OnceValues(func() (int, string) {
		defer cancel()
		if !p.answered {
			cancel()
		}
		return <-ended, out.String()
	})
	r.Cleanup(func() { p.stop() })
	address := regexp.MustCompile(`http://localhost:\d+/\S+`)
	for p.address == "" {
		select {
		case <-out.Told:
			p.address = address.FindString(out.String())
		case code := <-ended:
			r.Fatalf("the command ends with %d:\n%s", code, out.String())
		}
	}
	if err := chromedp.Do(r.browser, chromedp.Navigate(p.address), chromedp.WaitReady("body")); err != nil {
		r.Fatal(err)
	}
	return p
}

func (p *servedPage) text() string {
	p.Helper()
	return p.eval("document.body.innerText")
}

// eval evaluates an expression in the page, or what it promises.
func (p *servedPage) eval(expression string) string {
	p.Helper()
	text, err := chromedp.Run(p.browser, chromedp.Evaluate[string](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.Fatal(err)
	}
	return text
}

// patiently has a poll wait longer than any machine is busy.
var patiently = chromedp.WithPollingTimeout(5 * time.Minute)

// wait waits until the page says something in a tone.
func (p *servedPage) wait(tone, want string) {
	p.Helper()
	text, err := chromedp.Run(p.browser, chromedp.Poll[string](fmt.Sprintf(`(() => { const said = document.getElementById("said"); return said.className === %q && said.textContent; })()`, tone), patiently))
	if err != nil || !strings.Contains(text, want) {
		p.Fatalf("the page says %q, want %q, %v", text, want, err)
	}
}

// said submits the form, and returns what the page says then.
func (p *servedPage) said() string {
	p.Helper()
	waiting := `(() => { const said = document.getElementById("said"); return said.className === "good" || said.className === "bad" ? said.textContent : ""; })()`
	if err := chromedp.Do(p.browser, chromedp.Click("#ask button")); err != nil {
		p.Fatal(err)
	}
	text, err := chromedp.Run(p.browser, chromedp.Poll[string](waiting, patiently))
	if err != nil {
		p.Fatalf("the page says nothing: %v\n%s", err, p.text())
	}
	p.answered = strings.Contains(text, "You can close this page")
	return text
}

// passkeyHolder is somebody with an authenticator of their own.
type passkeyHolder struct {
	*reviewer
	algorithm int
	options   *webauthn.VirtualAuthenticatorOptions
	keys      []*webauthn.Credential // while it is not plugged in
	made      string                 // what the page sent when it registered, and the challenge, as JSON
	id        webauthn.AuthenticatorID
}

// authenticator is one that makes keys of an algorithm. It is plugged in where its holder acts: a browser asks all that are, and takes
// the first answer.
func (r *reviewer) authenticator(algorithm int, change ...func(*webauthn.VirtualAuthenticatorOptions)) *passkeyHolder {
	o := &webauthn.VirtualAuthenticatorOptions{
		Protocol: "ctap2", Transport: "usb", HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true, HasResidentKey: true,
	}
	for _, f := range change {
		f(o)
	}
	return &passkeyHolder{reviewer: r, algorithm: algorithm, options: o}
}

// addCredential is webauthn.AddCredential without fields of which this Chromium has the authenticator refuse even the zero value.
var addCredential = cdp.Command[addCredentialParams, cdp.Empty]{Method: webauthn.CommandAddCredential}

type addCredentialParams struct {
	AuthenticatorID webauthn.AuthenticatorID `json:"authenticatorId"`
	Credential      keptKey                  `json:"credential"`
}

type keptKey struct {
	ID          []byte  `json:"credentialId"`
	IsResident  bool    `json:"isResidentCredential"`
	RPID        string  `json:"rpId"`
	PrivateKey  []byte  `json:"privateKey"`
	UserHandle  []byte  `json:"userHandle,omitempty"`
	SignCount   float64 `json:"signCount"`
	Eligibility bool    `json:"backupEligibility"`
	BackedUp    bool    `json:"backupState"`
}

// plugIn has the authenticator be the one of the browser; the result unplugs it.
func (h *passkeyHolder) plugIn() (unplug func()) {
	h.Helper()
	made, err := chromedp.Call(h.browser, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{Options: h.options})
	if err != nil {
		h.Fatal(err)
	}
	h.id = made.AuthenticatorID
	for _, key := range h.keys {
		call(h.reviewer, addCredential, addCredentialParams{h.id, keptKey{
			key.CredentialID, key.IsResidentCredential, key.RpID, key.PrivateKey, key.UserHandle, key.SignCount, key.BackupEligibility, key.BackupState,
		}})
	}
	return func() {
		h.Helper()
		kept, err := chromedp.Call(h.browser, webauthn.GetCredentials, webauthn.GetCredentialsParams{AuthenticatorID: h.id})
		if err != nil {
			h.Fatal(err)
		}
		h.keys = kept.Credentials
		if _, err := chromedp.Call(h.browser, webauthn.RemoveVirtualAuthenticator, webauthn.RemoveVirtualAuthenticatorParams{AuthenticatorID: h.id}); err != nil {
			h.Fatal(err)
		}
	}
}

// register makes a passkey on the page, and adds its line.
func (h *passkeyHolder) register(person string) string {
	h.Helper()
	defer h.plugIn()()
	page := h.page("approve", "--register", "--person="+person, fmt.Sprintf("--port=%d", h.port))
	h.script(fmt.Sprintf(`(() => { const create = navigator.credentials.create.bind(navigator.credentials);
		navigator.credentials.create = (o) => { o.publicKey.pubKeyCredParams = [{ type: "public-key", alg: %d }]; return create(o); };
		const send = window.fetch, challenge = document.getElementById("ask").dataset.challenge;
		window.fetch = (to, o) => { window.made = JSON.stringify({ registration: JSON.parse(o.body), challenge }); return send(to, o); } })()`, h.algorithm))
	said := page.said()
	key := regexp.MustCompile(`SHA256:[A-Za-z0-9+/]{43}\b`).FindString(said)
	if !strings.Contains(said, "Your passkey is made") || key == "" {
		h.Fatalf("the page says %q", said)
	}
	made, err := chromedp.Run(h.browser, chromedp.Evaluate[string]("window.made"))
	if err != nil {
		h.Fatal(err)
	}
	h.made = made
	code, out := page.stop()
	line := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(person) + ` .*$`).FindString(out)
	if code != 0 || line == "" || !strings.Contains(out, "Compare the key with the one that the page names: "+key+"\n") {
		h.Fatalf("approve --register ends with %d:\n%s", code, out)
	}
	before, _ := os.ReadFile(filepath.Join(h.dir, "allowed_passkeys")) // none at first
	h.write("allowed_passkeys", string(before)+line+"\n")
	return line
}

// review types what the plan moves and confirms; want is a part of what the page then says. Its result is how the command ends.
func (h *passkeyHolder) review(before func(), count, total, want string) (code int, out string) {
	h.Helper()
	defer h.plugIn()()
	page := h.page("review", "november.plan", "--sandbox", "--practice-approvals")
	if before != nil {
		before()
	}
	if err := chromedp.Do(h.browser, chromedp.SendKeys("#count", count), chromedp.SendKeys("#total", total)); err != nil {
		h.Fatal(err)
	}
	if said := page.said(); !strings.Contains(said, want) {
		h.Errorf("the page says %q, want %q", said, want)
	}
	return page.stop()
}
