package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"golang.org/x/crypto/ssh"

	"remit/config"
	"remit/internal/approval"
	"remit/internal/approval/sshkey"
	"remit/internal/cli/host"
	"remit/internal/files/wholefile"
	"remit/internal/text/shell"
	"remit/internal/view"
	"remit/planner"
)

// signByAgent is what --sign without a file says.
const signByAgent = "ssh-agent"

// signing is what plan is told about the author's signature. The zero signing signs nothing.
type signing struct {
	key    string // a file, or signByAgent; "" for no signature
	opened *sshkey.Key
}

// open finds the author's key before anything is planned: the plan itself names it.
func (s *signing) open(ctx context.Context, w *opened, out string) error {
	if s.key == "" {
		return nil
	}
	if out == "" {
		return errors.New("--sign signs a saved plan: say where to save it with --out=FILE")
	}
	name := s.key
	if name == signByAgent {
		name = ""
	}
	key, err := newKeyring(w, "--sign").Open(ctx, name, func(key ssh.PublicKey) bool { return unknownAuthor(w.host, w.config, key) == nil })
	if err != nil {
		return err
	}
	if err := unknownAuthor(w.host, w.config, key.Public); err != nil {
		return fmt.Errorf("signing with the key %s would not say who the author is: %w", key.Fingerprint(), err)
	}
	s.opened = key
	return nil
}

// flag is --sign as it was typed, for a command to type; "" where it was not.
func (s *signing) flag() string {
	switch s.key {
	case "":
		return ""
	case signByAgent:
		return " --sign"
	}
	return flagWords("sign", []string{s.key})
}

// author is the key that signs; nil for none.
func (s *signing) author() *approval.Key {
	if s.opened == nil {
		return nil
	}
	key := approval.SSHKey(s.opened.Public)
	return &key
}

// unknownAuthor says why a signature by a key names nobody in any approval block; nil where it
// does in one, or where there is no block.
func unknownAuthor(h *host.Host, loaded *config.Configuration, key ssh.PublicKey) error {
	var first error
	for _, block := range approvalBlocks(loaded) {
		use := block.Signers.Use(approval.SSHKey(key), block.Revoked, h.Now())
		if use.Why == "" {
			return nil
		}
		if first == nil {
			first = errors.New(use.Detail)
		}
	}
	return first
}

// save saves the plan, and the author's signature beside it, and says what to type next.
func (s *signing) save(ctx context.Context, w *opened, o *planning, plan *planner.Plan, name string) error {
	if s.opened == nil {
		if err := savePlan(ctx, w, plan, name, io.Discard); err != nil || w.streams.AsJSON || !plan.Applicable() {
			return err
		}
		return o.saySaved(w, plan, name, "Saved to "+view.Visible(name)+".")
	}
	plan.Header.AuthorKey = s.opened.Fingerprint()
	file := w.dir.Within(name) + authorSuffix
	replaceable, err := isReplaceable(file, approval.ArmorStart)
	if err != nil {
		return fmt.Errorf("sign the plan: %w", err)
	}
	if !replaceable {
		return fmt.Errorf("sign the plan: %s is there already and is no signature, so it is not replaced; move it away", name+authorSuffix)
	}
	digest := approval.NewDigest()
	if err := savePlan(ctx, w, plan, name, digest); err != nil {
		return err
	}
	text, err := s.opened.Sign(ctx, w.dir.Within(name), digest)
	if err == nil {
		err = wholefile.Replace(file, 0o644, func(to io.Writer) error {
			_, err := to.Write(text)
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("%s is saved, and not signed by its author: %w", name, err)
	}
	if w.streams.AsJSON {
		return nil
	}
	saved := fmt.Sprintf("Saved to %s, and signed by its author with %s.", view.Visible(name), s.opened.Fingerprint())
	return o.saySaved(w, plan, name, saved)
}

// saySaved says that a plan was saved, and the next command, where there is one: where a rule wants
// approvers, apply would be refused.
func (o *planning) saySaved(w *opened, plan *planner.Plan, name, saved string) error {
	switch {
	case !plan.Applicable():
		_, err := fmt.Fprintf(w.streams.Out, "\n%s\n", w.streams.Sentences(saved))
		return err
	case plan.Empty():
		_, err := fmt.Fprintf(w.streams.Out, "\n%s\n", w.streams.Sentences(saved+" It is empty."))
		return err
	}
	next, command := "To send exactly this:", "apply "
	if len(o.approvals) > 0 && w.dir.WaitsForApprovals() {
		next, command = "Approvers run:", approveCommand(w.config, o.approvals)
	}
	_, err := fmt.Fprintf(w.streams.Out, "\n%s\n\n    %s\n", w.streams.Sentences(saved+" "+next), view.Command(w.dir.CommandWithPractice(command+shell.File(name))))
	return err
}
