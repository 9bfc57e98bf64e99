package service

import (
	"context"
	"errors"
	"net/http"
	"time"

	"remit/executor"
)

// answerMax bounds the bytes of an answer to a request (docs/states.md).
const answerMax = 1 << 20

// Submit posts body to path, below the base URL, once, and classifies the answer. It begins to be
// written within [executor.StartMax] of the call or not at all. Where the service answers 401,
// Submit renews the token for the next request.
func (c *Client) Submit(ctx context.Context, path string, body []byte) executor.Answer {
	target, err := c.target(path)
	if err != nil {
		return executor.Answer{Kind: executor.Unwritten, Stop: true, Reason: "Nothing was sent: the recorded " + c.wording.clean(err.Error()) + "."}
	}
	began := c.watches.start()
	have, err := c.tokens.get(ctx, c.startMax)
	if err != nil {
		return withoutToken(err)
	}
	left := func() time.Duration { return max(c.startMax-began.passed(), 1) }
	what := call{method: http.MethodPost, target: target, body: body, answerMax: answerMax, refIDs: c.witness.refIDOf(body), asked: began}
	if what.signature, err = c.signature(ctx, what, left()); err != nil {
		return executor.Answer{
			Kind: executor.Unwritten, Stop: !errors.Is(err, errUnsigned),
			Reason: "Nothing was sent, because the request could not be signed: " + c.wording.clean(err.Error()) + ".",
		}
	}
	what.startMax = left()
	a := c.classifyCoded(target.Path, c.do(ctx, what, have))
	if a.Kind != executor.TokenRefused {
		return a
	}
	a.TokenUse = have.uses.of(target.Path)
	if _, err := c.tokens.replace(ctx, have); err != nil {
		a.Kind, a.Stop = executor.NotProcessed, isRefusal(err)
		a.Reason += " There is no other token: " + err.Error() + "."
	}
	return a
}

func withoutToken(err error) executor.Answer {
	return executor.Answer{
		Kind: executor.Unwritten, Stop: isRefusal(err),
		Reason: "Nothing was sent, because there is no token: " + err.Error() + ".",
	}
}

func isRefusal(err error) bool {
	failure, ok := errors.AsType[*tokenError](err)
	return ok && failure.refused
}
