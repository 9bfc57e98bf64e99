package cli_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"
	"golang.org/x/crypto/ssh"

	"remit/internal/cli"
	"remit/internal/proof/suite"
)

// reviewer is a directory with a plan that two people must approve, and a browser in which they do.
type reviewer struct {
	*testing.T
	dir     string
	port    int
	browser context.Context
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

// TestTwoPeopleApproveInTheBrowser registers two people, has an author sign a plan, has both approve on the page, and sends
// it: with a passkey of each algorithm.
func TestTwoPeopleApproveInTheBrowser(t *testing.T) {
	r := newReviewer(t)
	r.configure("")
	ada, bob := r.authenticator(-7), r.authenticator(-257)
	ada.register("ada@example.com")
	bob.register("bob@example.com")
	r.configure("")
	r.plan()

	ada.review(nil, "2", "8510.50", "Approved by ada@example.com")
	if out := r.remit(5, "apply", "november.plan", "--sandbox", "--practice-approvals"); !strings.Contains(out, "it has 1 of the 2 approvers") {
		t.Errorf("apply after one approval:\n%s", out)
	}
	bob.review(nil, "2", "8,510.50", "Approved by bob@example.com")
	r.remit(0, "apply", "november.plan", "--sandbox", "--practice-approvals")
	out := r.remit(0, "show", "--run=latest", "--sandbox")
	for _, what := range []string{"ada@example.com", "bob@example.com", "recorded 2 USD 8,510.50"} {
		if !strings.Contains(out, what) {
			t.Errorf("the run does not say %q:\n%s", what, out)
		}
	}
	r.remit(0, "audit", "export", "--run=latest", "--sandbox", "--out=pack")
	if out := r.remit(0, "audit", "verify", "pack"); !strings.Contains(out, "whole") {
		t.Errorf("audit verify:\n%s", out)
	}
	out = r.remit(0, "audit", "verify", "pack", "--allowed-signers=allowed_signers", "--allowed-passkeys=allowed_passkeys")
	if strings.Contains(out, "nothing shows whose they are") {
		t.Errorf("audit verify with the files of keys:\n%s", out)
	}
	if out := r.remit(0, "audit", "verify", "pack", "--allowed-signers=allowed_signers"); !strings.Contains(out, "nothing shows whose they are") {
		t.Errorf("audit verify without the file of passkeys:\n%s", out)
	}
	r.write("others", strings.ReplaceAll(r.read("allowed_passkeys"), "bob@", "eve@"))
	if out := r.remit(1, "audit", "verify", "pack", "--allowed-passkeys=others"); !strings.Contains(out, "allowed_passkeys has its key for somebody else") {
		t.Errorf("audit verify with the passkeys of others:\n%s", out)
	}
	r.verifyByHand()
}

// TestThePageRefuses has people approve in ways that must not count.
func TestThePageRefuses(t *testing.T) {
	r := newReviewer(t)
	r.configure("")
	ada := r.authenticator(-8)
	line := ada.register("ada@example.com")
	r.plan()
	for name, c := range map[string]struct {
		before       string // script in the page
		count, total string
		want         string
	}{
		"a wrong number": {"", "3", "8510.50", "the number of transfers that the plan moves is 2"},
		"a wrong total":  {"", "2", "8510.51", "the plan moves 8,510.50 of USD in all"},
		"another plan's challenge": {
			`document.getElementById("ask").dataset.challenge = "` + strings.Repeat("A", 43) + `"`, "2", "8510.50", "it is not over the bytes of this plan",
		},
		"without verifying the person": {
			`(() => { const get = navigator.credentials.get.bind(navigator.credentials);
			  navigator.credentials.get = (o) => { o.publicKey.userVerification = "discouraged"; return get(o); } })()`,
			"2", "8510.50", "did not verify who touched it",
		},
	} {
		t.Run(name, func(t *testing.T) {
			one := *r
			one.T = t
			a := *ada
			a.reviewer = &one
			if strings.Contains(name, "verifying") {
				a.verified(false)
				defer a.verified(true)
			}
			a.review(func() { one.script(c.before) }, c.count, c.total, c.want)
			if files, _ := filepath.Glob(filepath.Join(r.dir, "*.passkey")); len(files) > 0 {
				t.Errorf("there is %v", files)
			}
		})
	}
	// The same person under another name in capitals is the same person, and the author's passkey is the author's.
	ada.review(nil, "2", "8510.50", "Approved by ada@example.com")
	if out := r.remit(5, "apply", "november.plan", "--sandbox", "--practice-approvals"); !strings.Contains(out, "it has 1 of the 2 approvers") {
		t.Errorf("apply after one approval:\n%s", out)
	}
	r.write("allowed_passkeys", strings.Replace(line, "ada@example.com", "author@example.com", 1))
	r.plan()
	if out := r.page("review", "november.plan", "--sandbox", "--practice-approvals").text(); !strings.Contains(out, "No passkey of the file allowed_passkeys would count") {
		t.Errorf("the author's page:\n%s", out)
	}
	r.write("november.plan", strings.Replace(r.read("november.plan"), "8200", "8201", 1))
	if out := r.remit(1, "review", "november.plan", "--sandbox", "--practice-approvals"); !strings.Contains(out, "the file is not as it was saved") {
		t.Errorf("review of a changed plan:\n%s", out)
	}
}

// TestADeviceBoundRuleRefusesABackedUpPasskey has a passkey that its authenticator calls backed up.
func TestADeviceBoundRuleRefusesABackedUpPasskey(t *testing.T) {
	r := newReviewer(t)
	r.configure("device_bound = true")
	ada := r.authenticator(-7, func(o *webauthn.VirtualAuthenticatorOptions) {
		o.DefaultBackupEligibility, o.DefaultBackupState = true, true
	})
	if line := ada.register("ada@example.com"); !strings.Contains(line, `backup="yes"`) {
		t.Errorf("its line is %s", line)
	}
	r.plan()
	ada.review(nil, "2", "8510.50", "its authenticator says that the passkey is backed up")
}

// TestNobodyElseReachesThePage asks a page as other programs and pages may.
func TestNobodyElseReachesThePage(t *testing.T) {
	r := newReviewer(t)
	r.configure("")
	ada := r.authenticator(-7)
	ada.register("ada@example.com")
	r.plan()
	page := r.page("review", "november.plan", "--sandbox", "--practice-approvals")
	type answer struct {
		status int
		header http.Header
	}
	ask := func(method, address string, change func(*http.Request)) answer {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		if change != nil {
			change(request)
		}
		client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		response, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		return answer{response.StatusCode, response.Header}
	}
	root := fmt.Sprintf("http://localhost:%d/", r.port)
	byNumber := strings.Replace(page.address, "localhost", "127.0.0.1", 1)
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	origin := func(from string) func(*http.Request) {
		return func(r *http.Request) {
			r.Header.Set("Origin", from)
			r.Header.Set("Content-Type", "application/json")
		}
	}
	for name, c := range map[string]struct {
		got  answer
		want int
	}{
		"without the token":          {ask("GET", root, nil), 404},
		"with another token":         {ask("GET", root+"x/", nil), 404},
		"by the machine's address":   {ask("GET", byNumber, nil), 308},
		"under another name":         {ask("GET", page.address, host("evil.example")), 421},
		"under another port":         {ask("GET", page.address, host("localhost:1")), 421},
		"an answer by GET":           {ask("GET", page.address+"answer", nil), 405},
		"an answer of no page":       {ask("POST", page.address+"answer", nil), 403},
		"an answer of another page":  {ask("POST", page.address+"answer", origin("http://evil.example")), 403},
		"an answer of another port":  {ask("POST", page.address+"answer", origin("http://localhost:1")), 403},
		"an answer of nothing":       {ask("POST", page.address+"answer", origin(fmt.Sprintf("http://localhost:%d", r.port))), 422},
		"a change of the page":       {ask("POST", page.address, origin(fmt.Sprintf("http://localhost:%d", r.port))), 405},
		"a file of the directory":    {ask("GET", page.address+"../november.plan", nil), 404},
		"an address with a question": {ask("GET", page.address+"?x=1", nil), 404},
		"a part of it":               {ask("GET", page.address+"page.js", nil), 200},
	} {
		if c.got.status != c.want {
			t.Errorf("%s: %d, want %d", name, c.got.status, c.want)
		}
		for _, header := range []string{"Content-Security-Policy", "X-Frame-Options", "Cross-Origin-Opener-Policy"} {
			if c.got.header.Get(header) == "" {
				t.Errorf("%s: the answer has no %s", name, header)
			}
		}
		if policy := c.got.header.Get("Content-Security-Policy"); strings.Contains(policy, "unsafe") {
			t.Errorf("%s: the policy is %s", name, policy)
		}
	}
	page.stop()
	if conn, err := net.Dial("tcp", fmt.Sprintf("localhost:%d", r.port)); err == nil {
		_ = conn.Close()
		t.Error("somebody listens still")
	}
	// Where nobody has an SSH key, the next command is the page.
	r.write("approval.hcl", fmt.Sprintf("approval {\n  passkeys {\n    file = \"allowed_passkeys\"\n    port = %d\n  }\n  rule {\n    approvers = 1\n  }\n}\n", r.port))
	for code, command := range map[int][]string{
		0: {"plan", "--sandbox", "--practice-approvals", "--out=november.plan"},
		5: {"apply", "november.plan", "--sandbox", "--practice-approvals"},
	} {
		if code == 5 {
			r.remit(0, "plan", "--sandbox", "--practice-approvals", "--out=november.plan")
		}
		if out := r.remit(code, command...); !strings.Contains(out, "remit review november.plan") {
			t.Errorf("remit %v names no page:\n%s", command, out)
		}
	}
	// Without a passkeys block there is no page.
	r.write("approval.hcl", "approval {\n  allowed_signers = \"allowed_signers\"\n  rule {\n    approvers = 2\n  }\n}\n")
	r.plan()
	if out := r.remit(1, "review", "november.plan", "--sandbox", "--practice-approvals"); !strings.Contains(out, "has a passkeys block") {
		t.Errorf("review without passkeys:\n%s", out)
	}
}

// verifyByHand runs the commands of docs/evidence.md, with openssl and sha256sum alone.
func (r *reviewer) verifyByHand() {
	r.Helper()
	for _, program := range []string{"openssl", "sha256sum"} {
		if _, err := exec.LookPath(program); err != nil {
			r.Skip(program + " is not installed here (Debian: apt-get install openssl coreutils)")
		}
	}
	page, err := os.ReadFile("../../docs/evidence.md")
	if err != nil {
		r.Fatal(err)
	}
	script := regexp.MustCompile("(?s)<!-- passkeys.sh -->\n```sh\n(.*?)```").FindSubmatch(page)
	if script == nil {
		r.Fatal("docs/evidence.md has no passkeys.sh")
	}
	r.write("pack/passkeys.sh", string(script[1]))
	for _, want := range []string{"", "changed"} {
		if want != "" {
			r.write("pack/plan.jsonl", r.read("pack/plan.jsonl")+" ")
		}
		command := exec.CommandContext(r.Context(), "sh", "-eu", "passkeys.sh")
		command.Dir = filepath.Join(r.dir, "pack")
		out, err := command.CombinedOutput()
		if (err == nil) != (want == "") {
			r.Errorf("passkeys.sh: %v\n%s", err, out)
		}
	}
}

func newReviewer(t *testing.T) *reviewer {
	t.Helper()
	suite.Slow(t)
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed here (Debian: apt-get install chromium)")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-component-update", true))
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	r := &reviewer{T: t, dir: t.TempDir(), port: freePort(t)}
	r.browser, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if _, err := chromedp.Call(r.browser, webauthn.Enable, webauthn.EnableParams{}); err != nil {
		t.Fatal(err)
	}
	r.write("main.hcl", reviewDeclaration)
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "author")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.dir, "author"), pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	key, err := ssh.NewPublicKey(private.Public())
	if err != nil {
		t.Fatal(err)
	}
	r.write("allowed_signers", "author@example.com "+string(ssh.MarshalAuthorizedKey(key)))
	return r
}

// freePort is a port of localhost that nobody has. The page is at a fixed one, as the approval block names it.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }() // nothing was said
	return l.Addr().(*net.TCPAddr).Port
}

func (r *reviewer) write(name, text string) { writeFile(r.T, filepath.Join(r.dir, name), text) }

func (r *reviewer) read(name string) string {
	r.Helper()
	text, err := os.ReadFile(filepath.Join(r.dir, name))
	if err != nil {
		r.Fatal(err)
	}
	return string(text)
}

// configure writes the approval block: two approvers, by passkeys; the rule says more.
func (r *reviewer) configure(rule string) {
	r.write("approval.hcl", fmt.Sprintf(`approval {
  allowed_signers = "allowed_signers"
  passkeys {
    file = "allowed_passkeys"
    port = %d
  }
  rule {
    approvers = 2
    %s
  }
}
`, r.port, rule))
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
	address string
	stop    func() (code int, out string) // interrupts the command, or waits for its end
}

// page starts a command that serves a page, and opens that.
func (r *reviewer) page(args ...string) *servedPage {
	r.Helper()
	ctx, cancel := context.WithCancel(r.Context())
	out := &lockedBuffer{told: make(chan struct{}, 1)}
	ended := make(chan int, 1)
	go func() {
		ended <- cli.Run(ctx, append(args, "--chdir="+r.dir), strings.NewReader(""), out, out, func(string) (string, bool) { return "", false })
	}()
	p := &servedPage{reviewer: r}
	p.stop = sync.OnceValues(func() (int, string) {
		select {
		case code := <-ended:
			cancel()
			return code, out.String()
		case <-time.After(time.Second): // nobody answered
			cancel()
			return <-ended, out.String()
		}
	})
	r.Cleanup(func() { p.stop() })
	address := regexp.MustCompile(`http://localhost:\d+/\S+`)
	for p.address == "" {
		select {
		case <-out.told:
			p.address = address.FindString(out.String())
		case code := <-ended:
			r.Fatalf("remit %s ends with %d:\n%s", strings.Join(args, " "), code, out.String())
		}
	}
	if err := chromedp.Do(r.browser, chromedp.Navigate(p.address), chromedp.WaitReady("body")); err != nil {
		r.Fatal(err)
	}
	return p
}

func (p *servedPage) text() string {
	p.Helper()
	text, err := chromedp.Run(p.browser, chromedp.Evaluate[string]("document.body.innerText"))
	if err != nil {
		p.Fatal(err)
	}
	return text
}

// said submits the form, and returns what the page says then.
func (p *servedPage) said() string {
	p.Helper()
	waiting := `(() => { const said = document.getElementById("said"); return said.className === "good" || said.className === "bad" ? said.textContent : ""; })()`
	if err := chromedp.Do(p.browser, chromedp.Click("#ask button")); err != nil {
		p.Fatal(err)
	}
	text, err := chromedp.Run(p.browser, chromedp.Poll[string](waiting))
	if err != nil {
		p.Fatalf("the page says nothing: %v\n%s", err, p.text())
	}
	return text
}

// passkeyHolder is somebody with an authenticator of their own.
type passkeyHolder struct {
	*reviewer
	algorithm int
	id        webauthn.AuthenticatorID
	options   *webauthn.VirtualAuthenticatorOptions
}

// authenticator is one that makes keys of an algorithm. Only that of whose turn it is, is at hand.
func (r *reviewer) authenticator(algorithm int, change ...func(*webauthn.VirtualAuthenticatorOptions)) *passkeyHolder {
	r.Helper()
	o := &webauthn.VirtualAuthenticatorOptions{
		Protocol: "ctap2", Transport: "usb", HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true, HasResidentKey: true,
	}
	for _, f := range change {
		f(o)
	}
	made, err := chromedp.Call(r.browser, webauthn.AddVirtualAuthenticator, webauthn.AddVirtualAuthenticatorParams{Options: o})
	if err != nil {
		r.Fatal(err)
	}
	return &passkeyHolder{reviewer: r, algorithm: algorithm, id: made.AuthenticatorID, options: o}
}

func (h *passkeyHolder) verified(is bool) {
	h.Helper()
	if _, err := chromedp.Call(h.browser, webauthn.SetUserVerified, webauthn.SetUserVerifiedParams{AuthenticatorID: h.id, IsUserVerified: is}); err != nil {
		h.Fatal(err)
	}
}

// presence says whether the holder touches the authenticator when it is asked.
func (h *passkeyHolder) presence(is bool) {
	h.Helper()
	if _, err := chromedp.Call(h.browser, webauthn.SetAutomaticPresenceSimulation, webauthn.SetAutomaticPresenceSimulationParams{AuthenticatorID: h.id, Enabled: is}); err != nil {
		h.Fatal(err)
	}
}

// register makes a passkey on the page, and adds its line.
func (h *passkeyHolder) register(person string) string {
	h.Helper()
	page := h.page("approve", "--register", "--person="+person, fmt.Sprintf("--port=%d", h.port))
	h.script(fmt.Sprintf(`(() => { const create = navigator.credentials.create.bind(navigator.credentials);
		navigator.credentials.create = (o) => { o.publicKey.pubKeyCredParams = [{ type: "public-key", alg: %d }]; return create(o); } })()`, h.algorithm))
	if said := page.said(); !strings.Contains(said, "Your passkey is made") {
		h.Fatalf("the page says %q", said)
	}
	code, out := page.stop()
	line := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(person) + ` .*$`).FindString(out)
	if code != 0 || line == "" {
		h.Fatalf("approve --register ends with %d:\n%s", code, out)
	}
	before, _ := os.ReadFile(filepath.Join(h.dir, "allowed_passkeys")) // none at first
	h.write("allowed_passkeys", string(before)+line+"\n")
	h.presence(false) // until its turn comes again
	return line
}

// review types what the plan moves and confirms; want is a part of what the page then says.
func (h *passkeyHolder) review(before func(), count, total, want string) {
	h.Helper()
	h.presence(true)
	defer h.presence(false)
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
	page.stop()
}

// lockedBuffer is written by a command and read by a test.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
	told chan struct{}
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case b.told <- struct{}{}:
	default:
	}
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
