//go:build unix

package history

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"golang.org/x/crypto/ssh"

	"remit/config"
	"remit/internal/approval"
	"remit/planner"
)

// authorOfPlans makes every plan of a history.
const authorOfPlans = "ada"

// signer is a key that signs plans, and whose it is.
type signer struct {
	person string
	until  time.Time // when it ends to count; zero for never
	key    ssh.Signer
}

// signers are the keys of a history's people. Bob has two, and one of dan ends to count.
func signers() []signer {
	var list []signer
	for i, s := range []signer{
		{person: authorOfPlans}, {person: "bob"}, {person: "bob"}, {person: "carol"}, {person: "dan", until: epoch().Add(30 * time.Hour)},
	} {
		seed := bytes.Repeat([]byte{byte(i + 1)}, ed25519.SeedSize)
		key, err := ssh.NewSignerFromKey(ed25519.NewKeyFromSeed(seed))
		if err != nil {
			panic(err) // a good key
		}
		s.key = key
		list = append(list, s)
	}
	return list
}

// people are those who sign plans, and how approval knows them.
type people struct {
	signers []signer
	allowed *approval.Signers
}

func newPeople() people {
	list := signers()
	var text bytes.Buffer
	for _, s := range list {
		options := ""
		if !s.until.IsZero() {
			options = fmt.Sprintf("valid-before=%q ", s.until.Format("20060102150405Z"))
		}
		fmt.Fprintf(&text, "%s %s%s", s.person, options, ssh.MarshalAuthorizedKey(s.key.PublicKey()))
	}
	parsed, mistakes := approval.ParseSigners(text.Bytes(), time.UTC)
	if len(mistakes) > 0 {
		panic(mistakes[0].Text)
	}
	return people{list, parsed}
}

// drawApprovers is how many people must approve a plan; 0 for none: in some of every fourth history,
// so that the others stay as they are. Where somebody must, plans are saved.
func drawApprovers(seed uint64, t *traits) int {
	r := rand.New(rand.NewPCG(seed, 0x617070726f7665))
	if seed%4 != 3 || r.Float64() >= 0.6 {
		return 0
	}
	t.saved = 0.8
	return 1 + r.IntN(2)
}

// approvalBlocks are those of the controls with a name.
func (a *author) approvalBlocks(name string) []config.Approval {
	n := a.world.traits.rules.approvers
	if n == 0 || name == limitsNone {
		return nil
	}
	return []config.Approval{{
		Place: config.Place{File: "approval.hcl", Line: 1}, Signers: a.people.allowed,
		Rules: []approval.Rule{{Place: "approval.hcl:2", Approvers: n}},
	}}
}

// signature is a file beside a plan, and what nobody but the simulation knows of it.
type signature struct {
	file approval.File
	by   signer
	over []byte // the plan that was signed
}

// approve has some people sign a plan, each the bytes that it has now.
func (w *world) approve(file *savedPlan) {
	if w.traits.rules.approvers == 0 {
		return
	}
	digest := approval.NewDigest()
	_, _ = digest.Write(file.text) // it never fails
	for i, s := range w.author.people.signers {
		if !w.kernel.chance(0.3) {
			continue
		}
		content, err := approval.Sign(digest, s.key)
		if err != nil {
			panic(err) // a good key
		}
		name := fmt.Sprintf("plan.%d-%d.sig", len(file.signatures), i)
		file.signatures = append(file.signatures, signature{approval.File{Name: name, Content: content}, s, file.text})
		w.log("%s signs the plan of %d bytes", s.person, len(file.text))
	}
}

// keep keeps a saved plan: in a file of its own, or over an earlier one, whose signatures stay beside it.
func (w *world) keep(file *savedPlan) {
	if w.traits.rules.approvers > 0 && len(w.plans) > 0 && w.kernel.chance(0.4) {
		i := w.kernel.random.IntN(len(w.plans))
		file.signatures = slices.Clone(w.plans[i].signatures)
		w.plans[i] = file
		w.log("the plan is saved over another one")
		return
	}
	w.plans = append(w.plans, file)
}

// approves reports whether the plan of a process, which is whole, may be sent as far as people decide.
func (p *process) approves(whole *planner.Plan) bool {
	for _, block := range p.world.author.approvalBlocks(p.controls) {
		need, applies := approval.Needed(block.Rules, whole.Sent())
		if !applies {
			continue
		}
		if p.file == nil {
			return false // nobody can have signed it
		}
		c := approval.Case{Need: need, Signers: block.Signers, Plan: approval.NewDigest(), AuthorKey: whole.Header.AuthorKey, Now: p.Now()}
		_, _ = c.Plan.Write(p.file.text) // it never fails
		for _, s := range p.file.signatures {
			c.Files = append(c.Files, s.file)
		}
		isEnough := func(c approval.Case) bool {
			v := approval.Decide(c)
			return v.Enough()
		}
		if p.world.client.Approve != nil {
			isEnough = func(c approval.Case) bool { return p.world.client.Approve(c, p) }
		}
		if !isEnough(c) {
			return false
		}
		p.world.count("approved plan")
	}
	return true
}

// Signed implements [View].
func (p *process) Signed() [][]byte {
	if p.file == nil {
		return nil
	}
	var plans [][]byte
	for _, s := range p.file.signatures {
		plans = append(plans, s.over)
	}
	return plans
}

// unapproved says what the plan of a process lacks; "" where enough people other than its author signed
// exactly its bytes, each with a key that counted when the process looked.
func (o *oracle) unapproved(p *process) string {
	needed := o.world.traits.rules.approvers
	if needed == 0 || p.controls == limitsNone {
		return ""
	}
	if p.file == nil {
		return "a plan that is in no file cannot have been approved"
	}
	approvers := make(map[string]bool)
	for _, s := range p.file.signatures {
		counts := s.by.until.IsZero() || !p.plannedAt.After(s.by.until)
		if s.by.person != authorOfPlans && counts && bytes.Equal(s.over, p.file.text) {
			approvers[s.by.person] = true
		}
	}
	if len(approvers) < needed {
		return fmt.Sprintf("its plan has %d approvers of %d", len(approvers), needed)
	}
	return ""
}

// expired says that the time of a saved plan was over when a process took it; "" where it was not.
func (p *process) expired() string {
	if p.file == nil || p.plannedAt.Before(p.file.expires.Add(time.Second)) {
		return ""
	}
	return fmt.Sprintf("its plan expired %v before it was applied", p.plannedAt.Sub(p.file.expires))
}
