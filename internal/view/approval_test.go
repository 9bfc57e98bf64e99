package view_test

import (
	"crypto/ed25519"

	"golang.org/x/crypto/ssh"

	"remit/internal/approval"
	"remit/internal/view"
	"remit/state"
)

// publicKey is a key that is always the same.
func publicKey() ssh.PublicKey {
	private := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	key, err := ssh.NewPublicKey(private.Public())
	if err != nil {
		panic(err)
	}
	return key
}

// counted is a signature that counts.
func counted(principal, file string) approval.Counted {
	return approval.Counted{Principal: principal, Key: approval.SSHKey(publicKey()), File: approval.File{Name: file}}
}

// wanted is what a rule wants of a plan that is not saved.
func wanted() view.Approval {
	return view.Approval{Verdict: approval.Verdict{Need: approval.Need{
		Rule: approval.Rule{Place: "approval.hcl:4"}, Because: "above 100000 USD", Approvers: 2,
	}, Could: []string{"alice", "bob"}}}
}

// signed is what a rule wants of a saved plan, signed by an author where author is not "", and
// by so many others.
func signed(author string, others ...string) view.Approval {
	a := wanted()
	a.Saved = true
	if author != "" {
		c := counted(author, "november.plan.author.sig")
		a.Author = &c
	}
	for _, other := range others {
		a.Approvers = append(a.Approvers, counted(other, "november.plan."+other+".sig"))
	}
	a.Discounted = []approval.Discounted{{
		File: "november.plan.sig", Principal: "dora", Why: approval.ExpiredKey,
		Detail: "allowed_signers line 4 had the key as valid before 2026-01-01 00:00:00 UTC",
	}}
	return a
}

// hostileApproval has text in every field that takes any.
func hostileApproval(text string) view.Approval {
	a := signed("author", text)
	a.Author.Principal = text
	a.Need.Rule.Place, a.Need.Because, a.Could = text, text, []string{text}
	a.Author.File.Name, a.Approvers[0].File.Name = text, text
	a.Discounted = []approval.Discounted{{File: text, Principal: text, Why: approval.Why(text), Detail: text}}
	return a
}

// approvedBy are the approvals of a run, with text in every field that takes any.
func approvedBy(text string) []state.Approval {
	a := state.Approval{
		Role: state.RoleApprover, Principal: text, Fingerprint: text, Key: text, File: text, SHA256: text, Signature: text,
	}
	author := a
	author.Role = state.RoleAuthor
	return []state.Approval{author, a}
}
