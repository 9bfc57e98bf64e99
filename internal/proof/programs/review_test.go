package programs_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/webauthn"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/google/go-cmp/cmp"

	"remit/internal/approval"
	"remit/internal/approval/ask"
	"remit/internal/proof/scripts"
	"remit/internal/proof/suite"
	"remit/internal/view"
)

// TestTwoPeopleApproveInTheBrowser registers two people, has an author sign a plan, has both approve on the page, and sends
// it: with passkeys of each algorithm.
func TestTwoPeopleApproveInTheBrowser(t *testing.T) {
	t.Parallel()
	r := newReviewer(t)
	const es256, edDSA, rs256 = -7, -8, -257
	for name, algorithms := range map[string][2]int{"ES256 and RS256": {es256, rs256}, "EdDSA and ES256": {edDSA, es256}, "RS256 and EdDSA": {rs256, edDSA}} {
		t.Run(name, func(t *testing.T) {
			r := r.in(t)
			ada, bob := r.authenticator(algorithms[0]), r.authenticator(algorithms[1])
			ada.register("ada@example.com")
			bob.register("bob@example.com")
			r.configure("")
			r.plan()
			code, out := ada.review(nil, "2", "8510.50", "Approved by ada@example.com")
			if code != 0 || !strings.Contains(out, "Could still approve: bob@example.com") {
				t.Errorf("ada's review ends with %d:\n%s", code, out)
			}
			refused := r.remit(5, "apply", "november.plan", "--sandbox", "--practice-approvals")
			for _, what := range []string{"it has 1 of the 2 approvers", "remit review november.plan"} {
				if !strings.Contains(refused, what) {
					t.Errorf("apply after one approval does not say %q:\n%s", what, refused)
				}
			}
			if code, out = bob.review(nil, "2", "8,510.50", "Approved by bob@example.com"); code != 0 || !strings.Contains(out, "remit apply november.plan") {
				t.Errorf("bob's review ends with %d:\n%s", code, out)
			}
			r.remit(0, "apply", "november.plan", "--sandbox", "--practice-approvals")
			run := r.remit(0, "show", "--run=latest", "--sandbox")
			for _, what := range []string{"ada@example.com", "bob@example.com", "recorded 2 USD 8,510.50"} {
				if !strings.Contains(run, what) {
					t.Errorf("the run does not say %q:\n%s", what, run)
				}
			}
			ledger := r.remit(0, "sandbox", "export")
			for _, what := range []string{"rent-2026-11", "8200.00", "cleaning-2026-11", "310.50"} {
				if !strings.Contains(ledger, what) {
					t.Errorf("the ledger of the sandbox has no %s:\n%s", what, ledger)
				}
			}
			r.verifyPack()
		})
	}
}

// verifyPack verifies the evidence of the run, with remit and by hand.
func (r *reviewer) verifyPack() {
	r.Helper()
	r.remit(0, "audit", "export", "--run=latest", "--sandbox", "--out=pack")
	if out := r.remit(0, "audit", "verify", "pack"); !strings.Contains(out, "whole") {
		r.Errorf("audit verify:\n%s", out)
	}
	out := r.remit(0, "audit", "verify", "pack", "--allowed-signers=allowed_signers", "--allowed-passkeys=allowed_passkeys")
	if strings.Contains(out, "nothing shows whose they are") {
		r.Errorf("audit verify with the files of keys:\n%s", out)
	}
	if out := r.remit(0, "audit", "verify", "pack", "--allowed-signers=allowed_signers"); !strings.Contains(out, "nothing shows whose they are") {
		r.Errorf("audit verify without the file of passkeys:\n%s", out)
	}
	r.write("others", strings.ReplaceAll(r.read("allowed_passkeys"), "bob@", "eve@"))
	if out := r.remit(1, "audit", "verify", "pack", "--allowed-passkeys=others"); !strings.Contains(out, "allowed_passkeys has its key for somebody else") {
		r.Errorf("audit verify with the passkeys of others:\n%s", out)
	}
	r.verifyByHand()
}

// TestThePageRefuses has somebody answer the page in ways that must not count. Each is named on the page, and leaves no approval.
func TestThePageRefuses(t *testing.T) {
	t.Parallel()
	r := newReviewer(t)
	hook := func(change string) string {
		return `(() => { const get = navigator.credentials.get.bind(navigator.credentials);
			navigator.credentials.get = (o) => { ` + change + `; return get(o); } })()`
	}
	unverified := func(o *webauthn.VirtualAuthenticatorOptions) { o.IsUserVerified = false }
	backedUp := func(o *webauthn.VirtualAuthenticatorOptions) {
		o.DefaultBackupEligibility, o.DefaultBackupState = true, true
	}
	for name, c := range map[string]struct {
		rule         string
		device       func(*webauthn.VirtualAuthenticatorOptions) // when it approves
		before       string                                      // script in the page
		count, total string
		want         string
	}{
		"a wrong number":             {count: "3", want: "The plan does not move \"3\" transfers; nothing was signed"},
		"no number":                  {count: "two", want: "The plan does not move \"two\" transfers; nothing was signed"},
		"a wrong total":              {total: "8510.51", want: "The plan does not move \"8510.51\" of USD in all"},
		"the total of another asset": {before: `document.getElementById("total").dataset.asset = "EUR"`, want: "The plan moves no EUR"},
		"the total of no asset":      {before: `document.getElementById("total").dataset.asset = ""`, want: "has no total"},
		"a decimal comma":            {total: "8510,50", want: "with a point before the decimals"},
		"another plan's challenge": {
			before: `document.getElementById("ask").dataset.challenge = "` + strings.Repeat("A", 43) + `"`, want: "it is not over the bytes of this plan",
		},
		"another RP ID":               {before: hook(`o.publicKey.rpId = "example.com"`), want: "Nothing was approved: "},
		"a wrong PIN":                 {device: unverified, want: "The passkey was not confirmed"},
		"without verifying a person":  {device: unverified, before: hook(`o.publicKey.userVerification = "discouraged"`), want: "did not verify who touched it"},
		"a changed signature":         {before: changedAnswer("signature"), want: "it is no signature by that passkey"},
		"a changed authenticator":     {before: changedAnswer("authenticator_data"), want: "its authenticator answered for another RP ID"},
		"another credential":          {before: changedAnswer("credential_id"), want: "allowed_passkeys does not have the credential"},
		"changed client data":         {before: changedAnswer("client_data_json"), want: "nothing was approved"},
		"a backed-up key, where none": {rule: "device_bound = true", device: backedUp, want: "its authenticator says that the passkey is backed up"},
	} {
		t.Run(name, func(t *testing.T) {
			r := r.in(t)
			ada := r.authenticator(-8)
			if c.rule != "" { // it says so from the beginning
				c.device(ada.options)
			}
			if line := ada.register("ada@example.com"); strings.Contains(line, `backup="yes"`) != (c.rule != "") {
				t.Errorf("its line is %s", line)
			}
			r.configure(c.rule)
			r.plan()
			if c.device != nil {
				c.device(ada.options)
			}
			if c.count == "" {
				c.count = "2"
			}
			if c.total == "" {
				c.total = "8510.50"
			}
			ada.review(func() { r.script(c.before) }, c.count, c.total, c.want)
			if files, _ := filepath.Glob(filepath.Join(r.dir, "*.passkey")); len(files) > 0 {
				t.Errorf("there is %v", files)
			}
			if out := r.remit(5, "apply", "november.plan", "--sandbox", "--practice-approvals"); !strings.Contains(out, "it has 0 of the 2 approvers") {
				t.Errorf("apply:\n%s", out)
			}
		})
	}
}

// changedAnswer changes a byte of a field of what the page sends.
func changedAnswer(field string) string {
	return `(() => { const send = window.fetch; window.fetch = (to, o) => {
		const answer = JSON.parse(o.body), text = answer["` + field + `"], at = text.length >> 1;
		answer["` + field + `"] = text.slice(0, at) + (text[at] === "A" ? "B" : "A") + text.slice(at + 1);
		return send(to, { ...o, body: JSON.stringify(answer) }); } })()`
}

// TestAFileThatIsNoApproval puts files beside a plan that must not count: apply names each, and sends nothing.
func TestAFileThatIsNoApproval(t *testing.T) {
	t.Parallel()
	r := newReviewer(t)
	const file = "november.plan.ada.passkey"
	for name, c := range map[string]struct {
		lines string // of allowed_passkeys, where ADA is the line of ada's passkey; "" for that alone
		rule  string
		block string // more of the passkeys block
		make  func(r *reviewer, ada *passkeyHolder)
		want  string
	}{
		"asked by another page of this machine": {make: func(r *reviewer, ada *passkeyHolder) {
			r.write(file, ada.answer(suite.Port(r.T), "november.plan", "localhost", "required"))
		}, want: "its passkey was asked at \"http://localhost:"},
		"for another RP ID": {make: func(r *reviewer, ada *passkeyHolder) {
			r.write(file, ada.answerOf("pay.localhost", r.port, "november.plan", "pay.localhost", "required"))
		}, want: "allowed_passkeys does not have the credential"},
		"without verifying a person": {make: func(r *reviewer, ada *passkeyHolder) {
			ada.options.IsUserVerified = false
			r.write(file, ada.answer(r.port, "november.plan", "localhost", "discouraged"))
		}, want: "did not verify who touched it"},
		"of another plan": {make: func(r *reviewer, ada *passkeyHolder) {
			r.remit(0, "plan", "--sandbox", "--practice-approvals", "--out=other.plan")
			r.write(file, ada.answer(r.port, "other.plan", "localhost", "required"))
		}, want: "it is not over the bytes of this plan"},
		"of the same transfers, planned again": {make: func(r *reviewer, ada *passkeyHolder) {
			ada.review(nil, "2", "8510.50", "Approved by ada@example.com")
			r.remove("november.plan") // remit keeps a plan that was approved
			r.plan()
		}, want: "it is not over the bytes of this plan"},
		"with one byte changed": {make: func(r *reviewer, ada *passkeyHolder) {
			text := r.read(ada.approved())
			at := strings.Index(text, `"signature": "`) + 20
			r.write(file, text[:at]+map[bool]string{true: "B", false: "A"}[text[at] == 'A']+text[at+1:])
			r.remove("november.plan.ada@example.com.passkey")
		}, want: "it is no signature by that passkey"},
		"of the author": {lines: "AUTHOR", make: func(r *reviewer, ada *passkeyHolder) {
			served := r.page("review", "november.plan", "--sandbox", "--practice-approvals")
			if out := served.text(); !strings.Contains(out, "No passkey of the file allowed_passkeys would count") {
				r.Errorf("the author's page:\n%s", out)
			}
			served.stop()
			r.write(file, ada.answer(r.port, "november.plan", "localhost", "required"))
		}, want: "author@example.com is the plan's author, who cannot approve it"},
		"by the same person twice": {make: func(r *reviewer, ada *passkeyHolder) {
			r.write("november.plan.again.passkey", r.read(ada.approved()))
		}, want: "is the same person as in"},
		"by a second passkey of the same person": {lines: "ADA\nSECOND", make: func(r *reviewer, ada *passkeyHolder) {
			ada.approved()
			r.write("november.plan.second.passkey", r.second.answer(r.port, "november.plan", "localhost", "required"))
		}, want: "ada@example.com is the same person as in"},
		"by a passkey and an SSH key of the same person": {make: func(r *reviewer, ada *passkeyHolder) {
			ada.approved()
			r.sign("ada")
		}, want: "ada@example.com is the same person as in"},
		"backed up, where a rule wants none": {rule: "device_bound = true", make: func(r *reviewer, ada *passkeyHolder) {
			ada.keys[0].BackupEligibility, ada.keys[0].BackupState = true, true
			r.write(file, ada.answer(r.port, "november.plan", "localhost", "required"))
		}, want: "its authenticator says that the passkey is backed up"},
		"expired": {lines: `ADA,valid-before="20200101Z"`, make: func(r *reviewer, ada *passkeyHolder) {
			r.write(file, ada.answer(r.port, "november.plan", "localhost", "required"))
		}, want: "expired"},
		"not valid yet": {lines: `ADA,valid-after="21000101Z"`, make: func(r *reviewer, ada *passkeyHolder) {
			r.write(file, ada.answer(r.port, "november.plan", "localhost", "required"))
		}, want: "as valid after 2100-01-01"},
		"revoked": {block: `revoked = "revoked_passkeys"`, make: func(r *reviewer, ada *passkeyHolder) {
			r.write(file, ada.answer(r.port, "november.plan", "localhost", "required"))
		}, want: "revoked_passkeys line 1 has the passkey"},
	} {
		t.Run(name, func(t *testing.T) {
			r := r.in(t)
			ada := r.authenticator(-7)
			line := ada.register("ada@example.com")
			if strings.Contains(c.lines, "SECOND") {
				r.second = r.authenticator(-8)
				c.lines = strings.ReplaceAll(c.lines, "SECOND", r.second.register("ada@example.com"))
			}
			if c.lines != "" {
				c.lines = strings.ReplaceAll(c.lines, "AUTHOR", strings.Replace(line, "ada@", "author@", 1))
				r.write("allowed_passkeys", strings.ReplaceAll(c.lines, "ADA", line)+"\n")
			}
			if c.block != "" {
				r.write("revoked_passkeys", strings.Join(strings.Fields(line)[1:3], " ")+"\n")
			}
			r.configureAll(c.rule, c.block)
			r.plan()
			c.make(r, ada)
			out := r.remit(5, "apply", "november.plan", "--sandbox", "--practice-approvals")
			if !strings.Contains(out, "does not count: ") || !strings.Contains(out, c.want) {
				t.Errorf("apply does not say %q:\n%s", c.want, out)
			}
		})
	}
}

// TestAChangedPlanIsNotReviewed changes one byte of a plan that was approved.
func TestAChangedPlanIsNotReviewed(t *testing.T) {
	t.Parallel()
	r := newReviewer(t).in(t)
	ada := r.authenticator(-7)
	ada.register("ada@example.com")
	r.configure("")
	r.plan()
	ada.approved()
	r.write("november.plan", strings.Replace(r.read("november.plan"), "8200", "8201", 1))
	for _, command := range []string{"review", "apply"} {
		if out := r.remit(1, command, "november.plan", "--sandbox", "--practice-approvals"); !strings.Contains(out, "the file is not as it was saved") {
			t.Errorf("%s of a changed plan:\n%s", command, out)
		}
	}
}

// approved has the holder approve the plan on the page, and returns the name of the file.
func (h *passkeyHolder) approved() string {
	h.Helper()
	h.review(nil, "2", "8510.50", "Approved by ada@example.com")
	return "november.plan.ada@example.com.passkey"
}

// answer is the file of an answer that a page of localhost gets for the challenge of a plan: no page of remit.
func (h *passkeyHolder) answer(port int, plan, rpID, verification string) string {
	h.Helper()
	return h.answerOf("localhost", port, plan, rpID, verification)
}

func (h *passkeyHolder) answerOf(host string, port int, plan, rpID, verification string) string {
	h.Helper()
	defer h.plugIn()()
	h.open(host, port, "")
	digest := approval.NewDigest()
	_, _ = digest.Write([]byte(h.read(plan))) // it never fails
	var known [][]byte
	for _, key := range h.keys {
		known = append(known, key.CredentialID)
	}
	ids, err := json.Marshal(known)
	if err != nil {
		h.Fatal(err)
	}
	text, err := chromedp.Run(h.browser, chromedp.Evaluate[string](fmt.Sprintf(`(async () => {
		const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)));
		const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
		const challenge = bytes(%q), rpId = %q;
		let ids = %s.map(bytes);
		if (rpId !== "localhost") ids = [(await navigator.credentials.create({ publicKey: { challenge, rp: { id: rpId, name: "x" }, user: { id: challenge, name: "x", displayName: "x" },
			pubKeyCredParams: [{ type: "public-key", alg: -7 }] } })).rawId];
		const given = await navigator.credentials.get({ publicKey: { challenge, rpId, userVerification: %q, allowCredentials: ids.map((id) => ({ type: "public-key", id })) } });
		return JSON.stringify({ id: text(given.rawId), client: text(given.response.clientDataJSON), device: text(given.response.authenticatorData), signature: text(given.response.signature) });
	})()`, base64.StdEncoding.EncodeToString(digest.Challenge()), rpID, ids, verification), chromedp.EvalAwaitPromise))
	if err != nil {
		h.Fatal(err)
	}
	var given struct {
		ID        []byte `json:"id"`
		Client    []byte `json:"client"`
		Device    []byte `json:"device"`
		Signature []byte `json:"signature"`
	}
	if err := json.Unmarshal([]byte(text), &given); err != nil {
		h.Fatal(err)
	}
	made, err := approval.NewAssertion(rpID, given.ID, given.Client, given.Device, given.Signature)
	if err != nil {
		h.Fatal(err)
	}
	return string(made.Text())
}

// open opens a page of somebody else's server at a port of this machine.
func (r *reviewer) open(host string, port int, html string) {
	r.Helper()
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		r.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte("<!doctype html><title>another page</title>" + html)) // to the browser
	})}
	go func() { _ = server.Serve(l) }() // it ends by Close
	r.Cleanup(func() { _ = server.Close() })
	if err := chromedp.Do(r.browser, chromedp.Navigate(fmt.Sprintf("http://%s:%d/", host, port)), chromedp.WaitReady("body")); err != nil {
		r.Fatal(err)
	}
	if html == "" { // the port is needed again
		_ = server.Close()
	}
}

// TestASecondImplementationOfWebAuthnAgrees has @simplewebauthn/server verify registrations and approvals of the pages, and refuse them
// with any byte changed. It needs the directory that REMIT_WEBAUTHN names: .ci/passkeys installs it, and runs this.
func TestASecondImplementationOfWebAuthnAgrees(t *testing.T) {
	r := newReviewer(t)
	tool := os.Getenv("REMIT_WEBAUTHN")
	if tool == "" {
		t.Skip("REMIT_WEBAUTHN names no directory with @simplewebauthn/server: .ci/run passkeys installs it")
	}
	for name, algorithm := range map[string]int{"ES256": -7, "EdDSA": -8, "RS256": -257} {
		t.Run(name, func(t *testing.T) {
			r := r.in(t)
			ada := r.authenticator(algorithm)
			if line := ada.register("ada@example.com"); strings.Fields(line)[3] != name {
				t.Errorf("its line is %s", line)
			}
			r.configure("")
			r.plan()
			given := map[string]any{
				"approval": r.read(ada.approved()), "plan": []byte(r.read("november.plan")),
				"origin": fmt.Sprintf("http://localhost:%d", r.port), "algorithm": name,
			}
			if err := json.Unmarshal([]byte(ada.made), &given); err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(given)
			if err != nil {
				t.Fatal(err)
			}
			judge := exec.CommandContext(t.Context(), "node", "judge.mjs")
			judge.Dir, judge.Stdin = tool, strings.NewReader(string(text))
			out, err := judge.CombinedOutput()
			if err != nil {
				t.Errorf("the judge: %v\n%s", err, out)
			}
			t.Logf("%s", out)
		})
	}
}

// TestAnotherSiteCannotUseThePage has a page of another origin, which knows the address with its token, do what a browser lets it.
func TestAnotherSiteCannotUseThePage(t *testing.T) {
	t.Parallel()
	r := newReviewer(t).in(t)
	ada := r.authenticator(-7)
	ada.register("ada@example.com")
	r.configure("")
	r.plan()
	defer ada.plugIn()()
	r.heard.forget()
	served := r.page("review", "november.plan", "--sandbox", "--practice-approvals")
	r.checkQuiet(served.address)
	r.open("evil.localhost", suite.Port(t), fmt.Sprintf(`<body><iframe src=%q></iframe>`, served.address))
	if said := r.heard.waitFor("frame"); !strings.Contains(said, "frame-ancestors") {
		t.Errorf("of the page in a frame the browser says %q", said)
	}
	for name, script := range map[string]string{
		"reads the page":           `fetch(%q).then((r) => r.text())`,
		"answers it":               `fetch(%q + "answer", { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" }).then((r) => r.text())`,
		"answers it without CORS":  `fetch(%q + "answer", { method: "POST", mode: "no-cors", body: "{}" }).then((r) => r.text())`,
		"loads its script":         `new Promise((yes, no) => { const s = document.createElement("script"); s.src = %q + "ask.js"; s.onload = () => yes("loaded"); s.onerror = no; document.body.append(s); })`,
		"reads it without CORS":    `fetch(%q, { mode: "no-cors" }).then((r) => r.text())`,
		"asks for a passkey of it": `navigator.credentials.get({ publicKey: { challenge: new Uint8Array(32), rpId: "localhost" } }).then(() => "got " + %q)`,
	} {
		got, err := chromedp.Run(r.browser, chromedp.Evaluate[string](`Promise.race([`+fmt.Sprintf(script, served.address)+`]).then((t) => t || "", () => "")`, chromedp.EvalAwaitPromise))
		if err != nil || got != "" {
			t.Errorf("another page %s: %q, %v", name, got, err)
		}
	}
	if files, _ := filepath.Glob(filepath.Join(r.dir, "*.passkey")); len(files) > 0 {
		t.Errorf("there is %v", files)
	}
}

// TestAPageIsOverOnceItWasAnswered goes back to a page after its answer, and to it in a second tab.
func TestAPageIsOverOnceItWasAnswered(t *testing.T) {
	t.Parallel()
	r := newReviewer(t).in(t)
	ada := r.authenticator(-7)
	ada.register("ada@example.com")
	r.configure("")
	r.plan()
	defer ada.plugIn()()
	served := r.page("review", "november.plan", "--sandbox", "--practice-approvals")
	if out := r.remit(1, "review", "november.plan", "--sandbox", "--practice-approvals"); !strings.Contains(out, "another program listens there; nothing was approved") {
		t.Errorf("a second review at the same port:\n%s", out)
	}
	second := *r
	var cancel context.CancelFunc
	second.browser, cancel = chromedp.NewContext(r.browser)
	defer cancel()
	ownDevice := *ada // virtual authenticators are a tab's
	ownDevice.reviewer = &second
	second.enable()
	defer ownDevice.plugIn()()
	tab := &servedPage{reviewer: &second, address: served.address}
	if err := chromedp.Do(second.browser, chromedp.Navigate(served.address), chromedp.SendKeys("#count", "2"), chromedp.SendKeys("#total", "8510.50")); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Do(r.browser, chromedp.SendKeys("#count", "2"), chromedp.SendKeys("#total", "8510.50")); err != nil {
		t.Fatal(err)
	}
	if said := served.said(); !strings.Contains(said, "Approved by ada@example.com") {
		t.Fatalf("the page says %q", said)
	}
	if code, out := served.stop(); code != 0 {
		t.Errorf("review ends with %d:\n%s", code, out)
	}
	if said := tab.said(); !strings.Contains(said, "remit does not serve this page any more") {
		t.Errorf("the second tab says %q", said)
	}
	if err := chromedp.Do(r.browser, chromedp.Navigate("about:blank"), chromedp.Evaluate[chromedp.Void]("void setTimeout(() => history.back())")); err != nil {
		t.Fatal(err)
	}
	const shows = `document.readyState !== "complete" || location.href === "about:blank" ? "" : document.getElementById("ask") ? "a page that asks" : "none"`
	shown := ""
	for shown == "" && t.Context().Err() == nil {
		if text, err := chromedp.Run(r.browser, chromedp.Evaluate[string](shows)); err == nil { // a script ends with the page that it looks at
			shown = text
		} else if r.browser.Err() != nil {
			t.Fatal(err)
		}
	}
	if shown != "none" {
		t.Errorf("the button back leads to %s", shown)
	}
}

// TestTheServedPagesAreAccessible needs axe-core, at the path that REMIT_AXE names: .ci/run tests installs it.
func TestTheServedPagesAreAccessible(t *testing.T) {
	r := newReviewer(t).in(t)
	path := os.Getenv("REMIT_AXE")
	if path == "" {
		t.Skip("REMIT_AXE does not name axe-core's axe.min.js: .ci/run tests installs it")
	}
	axe, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	ada := r.authenticator(-7)
	ada.register("ada@example.com")
	r.plan()
	const violations = `axe.run().then(found => found.violations.map(v => v.id + ": " + v.help + " at " + v.nodes.slice(0, 3).map(n => n.html.slice(0, 150)).join(" | ")).join("\n"))`
	const landmarks = `["header", "main", "footer", "main section[aria-labelledby]"].filter((where) => !document.querySelector(where)).join(" ")`
	for name, args := range map[string][]string{
		"review":   {"review", "november.plan", "--sandbox", "--practice-approvals"},
		"register": {"approve", "--register", "--person=ada@example.com", fmt.Sprintf("--port=%d", r.port)},
	} {
		for width, scheme := range map[int64]string{1280: "light", 390: "dark"} {
			t.Run(name+" in "+scheme, func(t *testing.T) {
				r := *r
				r.T = t
				call(&r, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: width, Height: 900, DeviceScaleFactor: 1})
				call(&r, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
					Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
				})
				served := r.page(args...)
				defer served.stop()
				if missing := served.eval(landmarks); missing != "" {
					t.Errorf("the page has no %s", missing)
				}
				if wide := served.eval(`String(document.documentElement.scrollWidth)`); wide != fmt.Sprint(width) {
					t.Errorf("the page is %s wide, the window %d", wide, width)
				}
				served.eval(string(axe) + `; ""`)
				for _, state := range []string{"good", "bad", "dim"} {
					served.eval(`(() => { const said = document.getElementById("said"); said.className = "` + state + `"; said.textContent = "It is said."; return ""; })()`)
					if found := served.eval(violations); found != "" {
						t.Errorf("with a message that is %s:\n%s", state, found)
					}
				}
			})
		}
	}
}

// TestAPlanIsApprovedByKeyboard goes through the page with Tab, and has Enter ask and Escape give up.
func TestAPlanIsApprovedByKeyboard(t *testing.T) {
	t.Parallel()
	r := newReviewer(t).in(t)
	ada := r.authenticator(-7)
	ada.register("ada@example.com")
	r.plan()
	ada.options.AutomaticPresenceSimulation = false
	defer ada.plugIn()()
	served := r.page("review", "november.plan", "--sandbox", "--practice-approvals")
	press := func(keys string) {
		t.Helper()
		if err := chromedp.Do(r.browser, chromedp.KeyEvent(keys)); err != nil {
			t.Fatal(err)
		}
	}
	var order []string
	for range 5 {
		press(kb.Tab)
		order = append(order, served.eval(`document.activeElement.id || document.activeElement.textContent`))
	}
	if diff := cmp.Diff([]string{"its transfers", "count", "total", "Approve with passkey", "text"}, order); diff != "" {
		t.Errorf("what Tab leads to (-want +got):\n%s", diff)
	}
	focused := func(want string) {
		t.Helper()
		if is := served.eval(`document.activeElement.id || document.activeElement.textContent`); is != want {
			t.Errorf("the focus is on %q, want %q", is, want)
		}
	}
	served.eval(`document.getElementById("count").focus(); ""`)
	press(kb.Enter) // both fields are empty
	focused("count")
	press("2" + kb.Tab + "8.510,50" + kb.Enter) // no passkey is asked for
	served.wait("bad", "Write the total of USD with a point before the decimals")
	focused("total")
	press("8510.50" + kb.Tab + kb.Enter) // in its place
	served.wait("dim", "Confirm with your passkey")
	focused("Approve with passkey")
	press(kb.Escape)
	served.wait("bad", "The passkey was not confirmed. Nothing was approved; try again.")
	focused("Approve with passkey")
	call(r, webauthn.SetAutomaticPresenceSimulation, webauthn.SetAutomaticPresenceSimulationParams{AuthenticatorID: ada.id, Enabled: true})
	press(kb.Enter)
	served.wait("good", "Approved by ada@example.com")
	focused("said")
	served.answered = true
	if code, out := served.stop(); code != 0 {
		t.Errorf("review ends with %d:\n%s", code, out)
	}
}

// TestTheTutorialInABrowser types the commands of the tutorial's last chapter, and does on the pages as it says.
func TestTheTutorialInABrowser(t *testing.T) {
	r := newReviewer(t).in(t)
	text, err := os.ReadFile(suite.InRoot("docs", "tutorial.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, chapter, hasChapter := strings.Cut(string(text), "\n## A controller approves in a browser\n")
	block := regexp.MustCompile("(?s)```hcl\n(.*?)```").FindStringSubmatch(chapter)
	if !hasChapter || block == nil {
		t.Fatal("the tutorial has no such chapter, or no block in it")
	}
	port := fmt.Sprintf(" --port=%d", r.port) // that of the tutorial may be taken
	r.write("approval.hcl", strings.Replace(block[1], "passkeys {", fmt.Sprintf("passkeys {\n    port = %d", r.port), 1))
	r.write("main.hcl", `locals {
  salaries = { E-017 = "4120.35", E-018 = "3988.00", E-019 = "4507.10" }
}
transfer "internal" "payroll" {
  for_each        = local.salaries
  ref_id          = "payroll-2026-11-${each.key}"
  from_profile_id = "payroll"
  to_profile_id   = each.key
  amount          = each.value
  asset           = "USD"
}
`)
	r.shell("mkdir .remit && mv author alice && mv ada bob && sed -e s/author@example.com/alice/ -e s/ada@example.com/bob/ -i allowed_signers")
	carol := r.authenticator(-7)
	defer carol.plugIn()()
	commands := regexp.MustCompile(`(?m)^    (\S.*)$`).FindAllStringSubmatch(strings.Replace(chapter, block[0], "", 1), -1)
	if len(commands) != 6 {
		t.Fatalf("the chapter has the commands %q", commands)
	}
	for _, command := range commands {
		switch line := command[1]; {
		case strings.Contains(line, "--register"):
			register := r.pageOf(strings.Replace(line, " --register", " --register"+port, 1))
			register.press("Make a passkey")
			register.wait("good", "Your passkey is made.")
			register.answered = true
			register.stop()
		case strings.HasPrefix(line, "remit review "):
			review := r.pageOf(line)
			if err := chromedp.Do(r.browser, chromedp.SendKeys("#count", "3"), chromedp.SendKeys("#total", "12615.45")); err != nil {
				t.Fatal(err)
			}
			review.press("Approve with passkey")
			review.wait("good", "Approved by carol ")
			review.answered = true
			if code, out := review.stop(); code != 0 || !strings.Contains(out, "remit apply again.plan") {
				t.Errorf("review ends with %d:\n%s", code, out)
			}
		default:
			r.shell(line)
		}
	}
}

// shell has a shell run a line with this program as remit.
func (r *reviewer) shell(line string) {
	r.Helper()
	if out, err := r.shellCommand(line).CombinedOutput(); err != nil {
		r.Fatalf("%s: %v\n%s", line, err, out)
	}
}

func (r *reviewer) shellCommand(line string) *exec.Cmd {
	r.Helper()
	bin, home := filepath.Dir(scripts.Program.Build(r)), r.TempDir()
	command := exec.CommandContext(r.Context(), "sh", "-c", line)
	command.Dir, command.Env = r.dir, []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + home, "LC_ALL=C.UTF-8"}
	return command
}

// pageOf opens the page that a command line serves.
func (r *reviewer) pageOf(line string) *servedPage {
	r.Helper()
	out := &suite.Output{Told: make(chan struct{}, 1)}
	command := r.shellCommand(line)
	command.Stdout, command.Stderr = out, out
	if err := command.Start(); err != nil {
		r.Fatal(err)
	}
	ended := make(chan int, 1)
	go func() {
		_ = command.Wait() // its exit code says how
		ended <- command.ProcessState.ExitCode()
	}()
	return r.openServed(out, ended, func() { _ = command.Process.Kill() }) // where the test fails
}

// press presses a button by its text.
func (p *servedPage) press(button string) {
	p.Helper()
	if err := chromedp.Do(p.browser, chromedp.Click(fmt.Sprintf(`//button[text()=%q]`, button))); err != nil {
		p.Fatal(err)
	}
}

// TestWithoutPasskeysThereIsNoPage has blocks without passkeys, and one without SSH keys, where the next command is the page.
func TestWithoutPasskeysThereIsNoPage(t *testing.T) {
	t.Parallel()
	r := newReviewer(t).in(t)
	ada := r.authenticator(-7)
	ada.register("ada@example.com")
	r.write("approval.hcl", fmt.Sprintf("approval {\n  passkeys {\n    file = \"allowed_passkeys\"\n    port = %d\n  }\n  rule {\n    approvers = 1\n  }\n}\n", r.port))
	for _, command := range []string{"plan", "apply"} {
		args, code := []string{"plan", "--sandbox", "--practice-approvals", "--out=november.plan"}, 0
		if command == "apply" {
			args, code = []string{"apply", "november.plan", "--sandbox", "--practice-approvals"}, 5
		}
		if out := r.remit(code, args...); !strings.Contains(out, "remit review november.plan") {
			t.Errorf("remit %v names no page:\n%s", args, out)
		}
	}
	r.write("approval.hcl", "approval {\n  allowed_signers = \"allowed_signers\"\n  rule {\n    approvers = 2\n  }\n}\n")
	r.plan()
	if out := r.remit(1, "review", "november.plan", "--sandbox", "--practice-approvals"); !strings.Contains(out, "has a passkeys block") {
		t.Errorf("review without passkeys:\n%s", out)
	}
	if conn, err := net.Dial("tcp", fmt.Sprintf("localhost:%d", r.port)); err == nil {
		_ = conn.Close()
		t.Error("somebody listens")
	}
	for _, port := range []string{"0", "-1", "80", "65536"} {
		for _, args := range [][]string{{"review", "november.plan"}, {"approve", "--register", "--person=ada"}} {
			if out := r.remit(1, append(args, "--port="+port)...); !strings.Contains(out, "is no port from 1024 to 65535") {
				t.Errorf("remit %v with port %s:\n%s", args, port, out)
			}
		}
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
	page, err := os.ReadFile(suite.InRoot("docs", "evidence.md"))
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

// TestAFileLeadsTheBrowserToThePage opens the file that remit gives to xdg-open: it leads to the page, which can answer, and once.
func TestAFileLeadsTheBrowserToThePage(t *testing.T) {
	t.Parallel()
	r := newReviewer(t)
	told, ended := make(chan [2]string, 1), make(chan error, 1)
	page := &ask.Page{
		Port: r.port, Wait: time.Hour,
		Write: func(w io.Writer) error {
			_, err := io.WriteString(w, "<!doctype html><title>the page</title>")
			return err
		},
		Answer: func(context.Context, []byte) (ask.Taken, error) { return ask.Taken{Said: "taken"}, nil },
		Tell:   func(address, once string) { told <- [2]string{address, once} },
	}
	go func() { ended <- page.Serve(t.Context()) }()
	addresses := <-told
	file := filepath.Join(t.TempDir(), "remit.html")
	if err := os.WriteFile(file, view.LeadHTML(addresses[1]), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Do(r.browser, chromedp.Navigate("file://"+file)); err != nil {
		t.Fatal(err)
	}
	for at := ""; at != "the page at "+addresses[0]; { // until the browser has gone on, a script may lose the document that it is in
		if strings.HasPrefix(at, " at http") {
			t.Fatalf("the file leads to%s", at)
		}
		at, _ = chromedp.Run(r.browser, chromedp.Evaluate[string](`document.readyState === "complete" ? document.title + " at " + location.href : ""`))
	}
	answer := `fetch("answer", { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" }).then((r) => r.text())`
	if said := (&servedPage{reviewer: r}).eval(answer); !strings.Contains(said, "taken") {
		t.Errorf("the page that a file leads to answers, and hears %q", said)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
