package service

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"remit/executor"
	"remit/internal/doubt"
	"remit/internal/text/lazyregexp"
	"remit/internal/transfer"
)

// retryAfterMax bounds what a service may ask for: a longer wait is another run's.
const retryAfterMax = time.Hour

// pauseBusy is how long requests pause after a 503 that does not say for how long.
const pauseBusy = 500 * time.Millisecond

const mayBeMade = "the transfer may or may not have been made"

// classify says what an exchange at a path means for its own attempt: the table in docs/contract.md.
func (c *Client) classify(path string, ex exchange) executor.Answer {
	a := c.classifyStatus(ex)
	if a.Record != nil {
		a.Record.AnsweredAt = c.time.answeredAt(ex.header)
	}
	_, isRight := c.answering.Load(path)
	switch {
	case a.Kind == executor.Answered:
		if !isRight {
			c.answering.Store(path, true)
		}
	case a.Kind == executor.Rejected && isRight && saysWrongPath(ex.status) && !hasProblem(ex.body):
		a = unclear(ex, "the same address had answered with transfer records, so that a server in between may have written this answer, and "+mayBeMade)
		a.Problem, a.Stop = keep(ex.body, false), true
	}
	return a
}

// saysWrongPath reports whether a status says that there is no such operation.
func saysWrongPath(status int) bool {
	return status == http.StatusNotFound || status == http.StatusMethodNotAllowed
}

// isBlockPage reports whether an answer is that of a firewall for the web, which reads answers as well as requests: it may
// have let the request pass.
func isBlockPage(ex exchange) bool {
	isRefusal := ex.status == http.StatusForbidden || ex.status == http.StatusNotAcceptable
	return isRefusal && (isWebPage(ex.body) || blockID.Match(ex.body) && !saysWhy(ex.body))
}

// blockID finds the number by which a firewall wants to be asked about what it blocked, in a text or in JSON.
var blockID = lazyregexp.New(`(?i)\b(support|incident|ray|attack|block|waf)[ _-]?id\b"?\s*(is)?\s*[:=]\s*"?[\w-]*\d`)

// saysWhy reports whether a body in JSON has an error in words, as a service writes it that refuses.
func saysWhy(body []byte) bool {
	fields, err := transfer.ObjectFields(body)
	return err == nil && slices.ContainsFunc([]string{"error", "errors", "code", "message", "title", "detail"}, func(name string) bool { return fields[name] != nil })
}

func (c *Client) classifyStatus(ex exchange) executor.Answer {
	switch {
	case ex.status == 0 && !ex.begun:
		return executor.Answer{
			Kind: executor.Unwritten, Reason: "Nothing was sent: " + c.wording.describe(ex.err) + ".",
		}
	case ex.status == 0:
		return executor.Answer{
			Kind: executor.Unclear, Reason: "No answer was read, so " + mayBeMade + ": " + c.wording.describe(ex.err) + ".",
		}
	case ex.status >= 300 && ex.status < 400:
		a := unclear(ex, "a redirect is never followed, because it would hand the token to another address; "+mayBeMade)
		a.Stop = true
		return a
	case errors.Is(ex.err, errOutOfStep):
		return unclear(ex, "another answer followed, so that this one may be to an earlier request, and "+mayBeMade)
	case ex.err != nil:
		return unclear(ex, "but the answer could not be read whole, so "+mayBeMade+": "+c.wording.describe(ex.err))
	case ex.status >= 200 && ex.status < 300:
		return answered(ex)
	case ex.status >= 400 && ex.status < 500:
		return c.classifyRefusal(ex)
	}
	a := unclear(ex, mayBeMade)
	if ex.status == http.StatusServiceUnavailable { // by which nginx says that requests come too fast, and others that they are busy
		a.RetryAfter = max(c.retryAfter(ex.header), pauseBusy)
	}
	return a
}

func answered(ex exchange) executor.Answer {
	if isEmpty(ex.body) {
		return unclear(ex, "its body is empty, so "+mayBeMade)
	}
	record, err := transfer.ParseRecord(ex.body)
	if err != nil {
		a := unclear(ex, "but no transfer record could be read from it, so "+mayBeMade+": "+visible(err.Error()))
		if isWebPage(ex.body) {
			a = unclear(ex, "but no transfer record could be read from it, so "+mayBeMade+": it is a page, as a proxy or another server answers. Check base_url")
		}
		a.Problem = keep(ex.body, false)
		return a
	}
	return executor.Answer{
		Kind: executor.Answered, Record: &record, HTTPStatus: ex.status,
		Reason: "The service answered with a transfer record.",
	}
}

// classifyRefusal is classify for a whole answer with a status from 400 to 499.
func (c *Client) classifyRefusal(ex exchange) executor.Answer {
	p, isProblem := parseProblem(ex.body)
	a := executor.Answer{HTTPStatus: ex.status, Problem: keep(ex.body, isProblem)}
	existing := cmp.Or(p.existing(), recordIn(ex.body))
	said, words := "", p.words()
	if !isProblem && existing == nil {
		words = textWords(ex.body)
	}
	if words != "" {
		said = " (" + words + ")"
	}
	switch {
	case ex.status == http.StatusConflict, p.alreadyExists():
		a.Kind, a.Record = executor.Exists, existing
		a.Reason = "The service knows this ref_id already" + said + "."
	case doubt.IsCut(ex.status):
		return unclear(ex, mayBeMade)
	case isCutOff(ex):
		ex.body = withoutCut(ex.body)
		return unclear(ex, "but its body ends in the middle of its JSON, so that it was not read whole, and "+mayBeMade)
	case existing != nil: // whatever the status says, something was made, now or earlier
		a.Kind, a.Record = executor.Exists, existing
		a.Reason = "The service answered " + statusWords(ex.status) + " with a transfer record."
	case ex.status == http.StatusTooEarly, ex.status == http.StatusTooManyRequests:
		a.Kind, a.RetryAfter = executor.NotProcessed, c.retryAfter(ex.header)
		a.Reason = "The service answered " + statusWords(ex.status) + ": nothing was made, the request may come again later" + said + "."
	case ex.status == http.StatusUnauthorized:
		a.Kind = executor.TokenRefused
		a.Reason = "The service refused the token" + said + ": nothing was made."
	case ex.status == http.StatusNotFound && !isProblem, ex.status == http.StatusMethodNotAllowed:
		a.Kind, a.Stop = executor.Rejected, true
		a.Reason = "The service answered " + statusWords(ex.status) + ": there is no such operation at this address; check base_url and operator."
	case ex.status == http.StatusProxyAuthRequired:
		a.Kind, a.Stop = executor.Rejected, true
		a.Reason = "A proxy answered " + statusWords(ex.status) + ", and nothing reached the service. Write the user and the password of the proxy into HTTPS_PROXY."
	case isBlockPage(ex):
		lacking := c.lackingWords()
		what := "a text"
		if isWebPage(ex.body) {
			what = "a page"
		}
		a = unclear(ex, "it is "+what+said+", as a firewall writes it that reads requests and answers, so that "+mayBeMade+lacking)
		a.Problem, a.Stop = keep(ex.body, false), lacking != "" // others would get it as well
	case ex.status == http.StatusForbidden:
		lacking := c.lackingWords()
		if lacking == "" && strings.Contains(strings.ToLower(words), "scope") {
			lacking = "; add the scope to scopes in the service block, or ask the operator for it"
		}
		a.Kind, a.Stop = executor.Rejected, lacking != "" // others would be refused for it as well
		if lacking == "" && len(c.tokens.config.Scopes) == 0 {
			lacking = "; the service block asks for no scopes, which may be why"
		}
		a.Reason = "The service refused with " + statusWords(ex.status) + said + lacking + "."
	case ex.status == http.StatusNotFound:
		a.Kind = executor.Rejected
		a.Reason = "The service refused with " + statusWords(ex.status) + said + "; if it refuses every transfer so, base_url or operator is wrong."
	default:
		a.Kind = executor.Rejected
		a.Reason = "The service refused with " + statusWords(ex.status) + said + "."
	}
	return a
}

func unclear(ex exchange, why string) executor.Answer {
	said := ""
	if p, isProblem := parseProblem(ex.body); isProblem && ex.status >= 300 {
		said = " (" + p.words() + ")"
	}
	return executor.Answer{
		Kind: executor.Unclear, HTTPStatus: ex.status, Problem: keepProblem(ex.body),
		Reason: "The service answered " + statusWords(ex.status) + said + "; " + why + ".",
	}
}

// isEmpty reports whether an answer has no body.
func isEmpty(body []byte) bool { return len(bytes.TrimSpace(body)) == 0 }

func keepProblem(body []byte) json.RawMessage { return keep(body, hasProblem(body)) }

// retryAfter reads a number of seconds or an HTTP date (RFC 9110, section 10.2.3), counted
// on the clock of the answer where it has one. 0 means that nothing useful was said.
func (c *Client) retryAfter(h http.Header) time.Duration {
	text := strings.TrimSpace(h.Get("Retry-After"))
	seconds, err := strconv.ParseUint(text, 10, 32)
	if err == nil || errors.Is(err, strconv.ErrRange) { // which gives the largest
		return min(time.Duration(seconds)*time.Second, retryAfterMax)
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	now := dateOf(h)
	if now.IsZero() {
		now = c.now()
	}
	return min(max(at.Sub(now), 0), retryAfterMax)
}
