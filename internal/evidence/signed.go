package evidence

import (
	"context"
	"fmt"

	"remit/internal/approval"
	"remit/planner"
	"remit/state"
)

// Namespace is what signatures of a manifest are made for: ssh-keygen -Y sign -n remit-evidence.
const Namespace = "remit-evidence"

// checkApprovals verifies each signature again: over the plan's bytes, with the key that the
// journal has and, where the caller knows whose key is whose, that it is that person's.
func (v *verifier) checkApprovals(plan *approval.Digest, p *part, m *made) {
	for i, a := range m.approvals {
		name := approvalFile(i, a)
		if sumOf([]byte(a.Signature)) != a.SHA256 {
			v.found(name, "its SHA-256 is not that which the journal says")
		}
		if isPasskey(a) {
			v.checkPasskey(plan, p, name, a)
			continue
		}
		sig, err := approval.ParseSignature([]byte(a.Signature))
		if err != nil {
			v.found(name, "%v", err)
			continue
		}
		if err := verifyFor(sig, plan, approval.Namespace); err != nil {
			v.found(name, "it is no signature of %s: %v", PlanFile, err)
		}
		key := approval.SSHKey(sig.Key())
		if key.Text() != a.Key || key.Fingerprint() != a.Fingerprint {
			v.found(name, "it was made with the key %s, and the journal says %s", key.Fingerprint(), a.Fingerprint)
		}
		v.checkOwner(name, a, key, p)
	}
}

// isPasskey reports whether somebody approved with a passkey.
func isPasskey(a state.Approval) bool {
	key, err := approval.ParseKey(a.Key)
	return err == nil && key.Passkey() != nil
}

// checkPasskey verifies an approval by a passkey again. Where pages may ask for it, only the approval block of then
// said: here the origin must be one of the passkey's RP ID.
func (v *verifier) checkPasskey(plan *approval.Digest, p *part, name string, a state.Approval) {
	key, err := approval.ParseKey(a.Key)
	if err != nil {
		v.found(name, "the journal's key of it cannot be read: %v", err)
		return
	}
	assertion, err := approval.ParseAssertion([]byte(a.Signature))
	if err != nil {
		v.found(name, "%v", err)
		return
	}
	if err := assertion.Verify(key.Passkey(), plan); err != nil {
		v.found(name, "it is no approval of %s: %v", PlanFile, err)
	}
	if key.Fingerprint() != a.Fingerprint {
		v.found(name, "it was made with the key %s, and the journal says %s", key.Fingerprint(), a.Fingerprint)
	}
	v.checkOwner(name, a, key, p)
}

// verifyFor verifies a signature that was made for one use.
func verifyFor(sig *approval.Signature, over *approval.Digest, namespace string) error {
	if sig.Namespace() != namespace {
		return fmt.Errorf("it is for the namespace %q, not %q", sig.Namespace(), namespace)
	}
	return sig.Verify(over)
}

// checkOwner holds a key against what the caller knows of keys, at the time of the run.
func (v *verifier) checkOwner(name string, a state.Approval, key approval.Key, p *part) {
	signers := v.options.Signers
	if signers == nil || !signers.Covers(key) {
		return // nobody said whose keys of this kind are whose
	}
	if use := signers.Use(key, v.options.Revoked, p.run.BegunAt); use.Why != "" {
		v.foundKey(name, key, use.Why, "the signature of %q does not count: %s", a.Principal, use.Detail)
		return
	}
	if !signers.Has(a.Principal, key) {
		file := SignersFile
		if key.Passkey() != nil {
			file = PasskeysFile
		}
		v.foundKey(name, key, approval.OtherPerson, "the journal says that it is of %q, and %s has its key for somebody else", a.Principal, file)
	}
}

// checkManifestSignature verifies the signature of the manifest, where there is one.
func (v *verifier) checkManifestSignature(text []byte) {
	if !v.there[ManifestSignature] {
		return
	}
	raw, err := readAtMost(v.path(ManifestSignature), approval.SignatureBytesMax)
	if err != nil {
		v.found(ManifestSignature, "it cannot be read: %v", err)
		return
	}
	sig, err := approval.ParseSignature(raw)
	if err != nil {
		v.found(ManifestSignature, "%v", err)
		return
	}
	digest := approval.NewDigest()
	_, _ = digest.Write(text) // never fails
	if err := verifyFor(sig, digest, Namespace); err != nil {
		v.found(ManifestSignature, "it is no signature of %s: %v", ManifestFile, err)
		return
	}
	key := approval.SSHKey(sig.Key())
	v.report.SignedBy = key.Fingerprint()
	if signers := v.options.Signers; signers != nil {
		person, ok := signers.Owner(key)
		if !ok {
			v.foundKey(ManifestSignature, key, approval.UnknownKey, "allowed_signers does not have its key %s", v.report.SignedBy)
			return
		}
		if !signers.Allows(key, Namespace) {
			v.foundKey(ManifestSignature, key, approval.OtherUse, "allowed_signers has its key, of %q, for other namespaces than %q", signers.Name(person), Namespace)
			return
		}
		v.report.SignedBy = signers.Name(person)
	}
}

// checkRequests holds each request that the run wrote down against the plan.
func (v *verifier) checkRequests(ctx context.Context, p *part, plan *planner.Plan) error {
	planned := make(map[string]int, plan.Changes.Len())
	for i, c := range plan.Changes.All() {
		planned[c.RefID] = i
	}
	for e, err := range p.Events(ctx, p.journal.Begun, "") {
		if err != nil {
			return err
		}
		if e.Kind != state.KindIntent || e.RunID != p.run.Begun.RunID {
			continue
		}
		entry, err := e.Entry()
		if err != nil {
			return err // readPart has read it
		}
		intent := entry.(state.Intent)
		i, ok := planned[e.RefID]
		if !ok {
			v.add(Finding{File: JournalFile, Event: e.Seq, Text: fmt.Sprintf("the run wrote down a request of %q, which is not in %s", e.RefID, PlanFile)})
			continue
		}
		if c := plan.Changes.At(i); !isPlanned(&c, intent) {
			v.add(Finding{File: JournalFile, Event: e.Seq, Text: fmt.Sprintf("the run wrote down another request of %q than is in %s", e.RefID, PlanFile)})
		}
	}
	return nil
}

// isPlanned reports whether an intent is of the request that a line of a plan would send.
func isPlanned(c *planner.Change, intent state.Intent) bool {
	switch c.Action {
	case planner.Submit:
		return c.Request.Operation == intent.Operation && string(c.Request.Body()) == intent.Body
	case planner.Resolve:
		return c.Recorded != nil && c.Recorded.Operation == intent.Operation &&
			c.Recorded.Path == intent.Path && c.Recorded.Body == intent.Body
	case planner.None, planner.Wait, planner.Expired, planner.Conflict, planner.Failed, planner.Undeclared:
	}
	return false
}
