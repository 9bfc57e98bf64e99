package service

import (
	"context"
	"errors"
	"net/http"

	"remit/executor"
)

// answerMax bounds the bytes of an answer to a request (design section 3).
const answerMax = 1 << 20

// Submit posts body to path, below the base URL, and classifies what comes back. It writes
// the request once; where the service answers 401, it renews the token and writes it once
// more. A request begins to be written within [executor.StartMax] of the call or not at all.
func (c *Client) Submit(ctx context.Context, path string, body []byte) executor.Answer {
	target, err := c.target(path)
	if err != nil {
		return executor.Answer{Kind: executor.Unwritten, Stop: true, Reason: "Nothing was sent: the recorded " + c.clean(err.Error()) + "."}
	}
	start, cancel := context.WithTimeout(ctx, executor.StartMax)
	defer cancel()
	have, err := c.tokens.get(start)
	if err != nil {
		return withoutToken(err)
	}
	what := call{http.MethodPost, target, body, answerMax}
	ex := c.do(ctx, start, what, have)
	if !ex.unauthorized() {
		return c.classify(ex)
	}
	renewed, err := c.tokens.replace(start, have)
	if err != nil || start.Err() != nil {
		// The 401 said that nothing was made, so the attempt is free to be made again.
		return executor.Answer{
			Kind: executor.NotProcessed, HTTPStatus: ex.status, Problem: keepProblem(ex.body), Stop: isRefusal(err),
			Reason: "The service refused the token and made nothing; the request was not sent again" + because(err) + ".",
		}
	}
	return c.classify(c.do(ctx, start, what, renewed))
}

// unauthorized reports whether the answer is a whole 401 that says nothing of the ref_id.
func (ex exchange) unauthorized() bool {
	if ex.status != http.StatusUnauthorized || ex.err != nil {
		return false
	}
	p, _ := parseProblem(ex.body)
	return !p.alreadyExists()
}

func withoutToken(err error) executor.Answer {
	return executor.Answer{
		Kind: executor.Unwritten, Stop: isRefusal(err),
		Reason: "Nothing was sent, because there is no token" + because(err) + ".",
	}
}

func because(err error) string {
	if err == nil {
		return ", because it is too late to begin"
	}
	return ": " + err.Error()
}

func isRefusal(err error) bool {
	failure, ok := errors.AsType[*tokenError](err)
	return ok && failure.refused
}
