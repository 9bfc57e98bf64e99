package service

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"remit/executor"
)

// signatureMax bounds the bytes of a signature's header, as servers do.
const signatureMax = 8 << 10

// signature returns the header of one attempt; nil if requests are not signed. Without a signature
// within the given time there is no attempt.
func (c *Client) signature(ctx context.Context, what call, within time.Duration) (header http.Header, err error) {
	if c.sign == nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, within, errUnsigned)
	defer cancel()
	value, err := c.sign(ctx, ToSign{Method: what.method, URL: what.target.String(), Body: what.body})
	switch {
	case errors.Is(context.Cause(ctx), errUnsigned):
		return nil, errUnsigned
	case err != nil:
		return nil, err
	}
	if err := checkSignature(value); err != nil {
		return nil, err
	}
	return http.Header{c.signed: {value}}, nil
}

var errUnsigned = fmt.Errorf("there was no signature within %s", executor.StartMax)

func checkSignature(value string) error {
	switch {
	case value == "":
		return errors.New("the signature is empty")
	case len(value) > signatureMax:
		return fmt.Errorf("the signature is longer than %d bytes", signatureMax)
	}
	for _, b := range []byte(value) {
		if b < ' ' || b >= 0x7f {
			return errors.New("the signature has a character that cannot stand in a header")
		}
	}
	return nil
}
