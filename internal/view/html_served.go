package view

import (
	_ "embed" // the style and the script of pages that ask
	"fmt"
	"html"
	"io"
	"strings"

	"remit/planner"
)

//go:embed ask.js
var askScript string

//go:embed ask.css
var askStyle string

// ServedFile is a part of a page that a server has beside it.
type ServedFile struct {
	Type    string // of its content
	Content string
}

// ServedFiles are the parts that [ReviewHTML] and [RegisterHTML] load, by their names.
func ServedFiles() map[string]ServedFile {
	return map[string]ServedFile{
		"page.css": {"text/css; charset=utf-8", pageStyle},
		"page.js":  {"text/javascript; charset=utf-8", pageScript},
		"ask.css":  {"text/css; charset=utf-8", askStyle},
		"ask.js":   {"text/javascript; charset=utf-8", askScript},
	}
}

// LeadHTML is a page, for a file, from which a browser goes on to an address at once.
func LeadHTML(address string) []byte {
	to := html.EscapeString(address)
	return []byte(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=` + to + `">
<title>remit</title>
</head>
<body>
<p><a href="` + to + `">The page of remit</a></p>
</body>
</html>
`)
}

// beginServed opens a page whose server says what it may load.
func (h htmlPage) beginServed(kind, title string) {
	_, _ = h.WriteString(`<!doctype html>
<html lang="en" data-remit="` + kind + `">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
`)
	h.put("<title>%</title>\n", title)
	_, _ = h.WriteString("<link rel=\"stylesheet\" href=\"page.css\">\n<link rel=\"stylesheet\" href=\"ask.css\">\n</head>\n<body>\n")
}

// endServed is [htmlPage.end] of such a page.
func (h htmlPage) endServed(footer string) error {
	h.put("</main>\n<footer><p>%</p></footer>\n", footer)
	_, _ = h.WriteString("<script src=\"page.js\"></script>\n<script src=\"ask.js\"></script>\n</body>\n</html>\n")
	return h.Flush()
}

// Passkeys says what a page asks an authenticator.
type Passkeys struct {
	RPID      string
	Challenge string   // base64url
	IDs       []string // of the passkeys that may answer, or of those that are there already; base64url
}

// ReviewHTML writes a saved plan as [PlanHTML] does, with a form in which an approver types the number of transfers and
// the total of each asset, and confirms with a passkey. It returns only errors of w.
func ReviewHTML(w io.Writer, p *planner.Plan, o PlanOptions, ask Passkeys) error {
	o.Scales = p.Header.Scales
	h := newPlanPage(w, p, o)
	h.isServed = true
	h.beginServed("plan", "Approve plan "+h.digest()+" for "+h.environment())
	h.head(h.pageHead())
	h.askApproval(ask)
	h.sections()
	if len(ask.IDs) > 0 {
		h.put("<p class=\"back\"><a href=\"#ask-title\">Back to the approval</a></p>\n")
	}
	return h.endServed(h.ending())
}

// askApproval writes the form. It asks for the totals in the order of remit approve.
func (h *htmlPlan) askApproval(ask Passkeys) {
	h.put("<section class=\"ask panel\" aria-labelledby=\"ask-title\">\n<h2 id=\"ask-title\">Approve this plan</h2>\n")
	if len(ask.IDs) == 0 {
		h.put("<p class=\"bad\">No passkey of the file allowed_passkeys would count for this plan now. The section Approval says who could approve.</p>\n</section>\n")
		return
	}
	h.put("<p id=\"ask-intro\">Read <a href=\"#transfers\">its transfers</a> below. Then type what the plan moves, as proof that you read it, and confirm with your passkey. Your approval is for exactly these bytes.</p>\n")
	h.put("<form id=\"ask\" data-ask=\"get\" data-rp-id=\"%\" data-challenge=\"%\" data-ids=\"%\">\n", ask.RPID, ask.Challenge, strings.Join(ask.IDs, " "))
	h.put("<p><label for=\"count\">Number of transfers</label> <input id=\"count\" name=\"count\" inputmode=\"numeric\" autocomplete=\"off\" required></p>\n")
	for i, asset := range AssetsToType(h.plan, h.options.Approvals) {
		id := "total"
		if i > 0 {
			id += fmt.Sprintf("-%d", i+1)
		}
		h.put("<p><label for=\"%\">Total of %</label> <input id=\"%\" data-asset=\"%\" inputmode=\"decimal\" autocomplete=\"off\" required></p>\n", id, asset, id, asset)
	}
	h.put("<p><button type=\"submit\">Approve with passkey</button></p>\n</form>\n")
	h.put("<p id=\"said\" role=\"status\" aria-live=\"polite\"></p>\n<noscript><p class=\"bad\">This page needs its script to ask for a passkey. `remit approve` signs without a browser.</p></noscript>\n</section>\n")
}

// RegisterHTML writes the page on which a person makes a passkey. It returns only errors of w.
func RegisterHTML(w io.Writer, s Screen, person, userID string, ask Passkeys) error {
	h := newHTMLPage(w, s)
	h.beginServed("register", "Register a passkey")
	h.put("<header>\n<h1>Register a passkey</h1>\n<p class=\"lead\">For %, to approve plans of transfers on this machine.</p>\n</header>\n<main>\n", person)
	h.put("<section class=\"ask panel\" aria-labelledby=\"ask-title\">\n<h2 id=\"ask-title\">Your passkey</h2>\n")
	h.put("<p>Your browser asks for a fingerprint, a face, a PIN or a security key. Nothing is sent anywhere: remit prints a line, which the owner of allowed_passkeys adds.</p>\n")
	h.put("<form id=\"ask\" data-ask=\"create\" data-rp-id=\"%\" data-challenge=\"%\" data-ids=\"%\" data-person=\"%\" data-user=\"%\">\n", ask.RPID, ask.Challenge, strings.Join(ask.IDs, " "), person, userID)
	h.put("<p><button type=\"submit\">Make a passkey</button></p>\n</form>\n<p id=\"said\" role=\"status\" aria-live=\"polite\"></p>\n")
	h.put("<noscript><p class=\"bad\">This page needs its script to ask for a passkey.</p></noscript>\n</section>\n")
	return h.endServed("remit never adds the line itself: somebody who may say who approves does.")
}
