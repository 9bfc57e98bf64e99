package cli

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"

	"remit/internal/approval"
	"remit/internal/approval/ask"
	"remit/internal/transfer"
	"remit/internal/view"
)

// registering is remit approve --register: it makes a passkey, and prints the line with which it counts.
type registering struct {
	wanted bool
	person string
	port   int
	asking asking
}

// portDefault is where pages are, and what the passkeys block allows unless it says another port.
const portDefault = 7468

func (r *registering) check(hasPlan bool) error {
	switch {
	case hasPlan:
		return errors.New("--register makes a passkey and approves nothing: leave the plan out")
	case r.person == "":
		return errors.New("--register needs --person=NAME: the name by which allowed_passkeys calls you, such as an address")
	}
	return transfer.CheckText(r.person)
}

func (r *registering) run(ctx context.Context, p *process) error {
	challenge, user := make([]byte, 32), make([]byte, 32)
	_, _ = rand.Read(challenge) // neither fails
	_, _ = rand.Read(user)
	origin := ask.Origin(r.port)
	asked := view.Passkeys{RPID: localhost, Challenge: base64.RawURLEncoding.EncodeToString(challenge)}
	var line, fingerprint string
	page := &ask.Page{
		Port: r.port,
		Write: func(to io.Writer) error {
			return view.RegisterHTML(to, p.streams.Screen(p.streams.Out), r.person, base64.RawURLEncoding.EncodeToString(user), asked)
		},
		Answer: func(_ context.Context, answer []byte) (ask.Taken, error) {
			passkey, isBackedUp, err := approval.Register(answer, challenge, localhost, []string{origin})
			if err != nil {
				return ask.Taken{}, err
			}
			line = approval.PasskeyLine(r.person, passkey, p.host.Now(), isBackedUp)
			if _, mistakes := approval.ParsePasskeys([]byte(line), nil); len(mistakes) > 0 {
				return ask.Taken{}, fmt.Errorf("allowed_passkeys could not have it: %s", mistakes[0].Text)
			}
			fingerprint = approval.PasskeyKey(passkey).Fingerprint()
			return ask.Taken{Said: "Your passkey is made. Its key is " + fingerprint + ". Compare it with the key that remit names, and give the line below that to the owner of allowed_passkeys."}, nil
		},
	}
	if err := r.asking.serve(ctx, p, page, "Make your passkey at", "no passkey was registered"); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(p.streams.Err, "Compare the key with the one that the page names: %s\nThe owner of allowed_passkeys adds this line:\n", fingerprint); err != nil {
		return err
	}
	_, err := fmt.Fprintln(p.streams.Out, line)
	return err
}
