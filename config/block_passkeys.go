package config

import (
	"fmt"
	"maps"
	"net/url"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/internal/approval"
)

// passkeysPortMin is the least port: a browser leaves the one of http out of an origin, and those below are the system's.
const passkeysPortMin = 1024

// passkeysPort is where remit review listens unless the block says another port.
const passkeysPort = 7468

// passkeysLocal is the RP ID of a page on the approver's own machine.
const passkeysLocal = "localhost"

// passkeysKind is the kind of passkeys blocks, in an approval block.
func passkeysKind() eval.Kind {
	return eval.Kind{Name: "passkeys", Required: []string{"file"}, Optional: []string{"revoked", "origins", "port"}}
}

// passkeys reads the passkeys block of an approval block, and joins its people with those of allowed_signers.
func (k *controlReader) passkeys(r *eval.Reader, a *Approval) {
	blocks := r.Block.NestedOf("passkeys")
	_, hasSigners := r.Block.Arguments["allowed_signers"]
	switch {
	case len(blocks) == 0 && !hasSigners && !r.Block.Incomplete:
		r.Refuse(r.Block.At, "Nobody may approve",
			"An approval block names who may approve: allowed_signers = \"allowed_signers\" for SSH keys, a passkeys block for passkeys, or both.")
		return
	case len(blocks) == 0:
		return
	case len(blocks) > 1:
		r.Refuse(blocks[1].At, "Second passkeys block", "The first one is at %s.", placeOf(blocks[0].At))
	}
	if blocks[0].Incomplete {
		return
	}
	inner := &eval.Reader{Scope: k.scope, Block: blocks[0]}
	if file := k.keysFileOf(inner, r.Block, "file"); file != nil {
		passkeys, mistakes := approval.ParsePasskeys(file.content, k.zone)
		refuseLines(inner, file, mistakes)
		a.Signers = approval.Join(a.Signers, passkeys)
	}
	if file := k.keysFileOf(inner, r.Block, "revoked"); file != nil {
		revoked, mistakes := approval.ParseRevokedPasskeys(file.content)
		refuseLines(inner, file, mistakes)
		a.Revoked = approval.JoinRevoked(a.Revoked, revoked)
	}
	a.Port = inner.Whole("port", passkeysPortMin, 65535, passkeysPort)
	a.Origins = k.origins(inner, a.Port)
	k.broken = k.broken || len(inner.Unset) > 0
	r.Diags = append(r.Diags, inner.Diags...)
	k.warnOfUnusable(r, a, blocks[0].At)
}

// origins reads at which origins a page may ask for passkeys, by RP ID.
func (k *controlReader) origins(r *eval.Reader, port int) map[string][]string {
	v, a, found := r.Value("origins")
	if found != eval.Present {
		return map[string][]string{passkeysLocal: {fmt.Sprintf("http://%s:%d", passkeysLocal, port)}}
	}
	if !v.Type().IsObjectType() && !v.Type().IsMapType() || v.LengthInt() == 0 {
		r.Refuse(a.Expr.Range(), "Not origins by RP ID", "origins must be lists of origins by RP ID, such as { localhost = [\"http://localhost:%d\"] }.", passkeysPort)
		return nil
	}
	origins := map[string][]string{}
	values := v.AsValueMap()
	for _, id := range slices.Sorted(maps.Keys(values)) {
		list, ok := eval.TextsOf(values[id])
		if !ok || len(list) == 0 {
			r.Refuse(a.Expr.Range(), "Not origins by RP ID", "The origins of %q must be a list of at least one, such as [\"http://localhost:%d\"].", id, passkeysPort)
			continue
		}
		if err := approval.CheckRPID(id); err != nil {
			r.Refuse(a.Expr.Range(), "Invalid RP ID", "In origins, %s", mistake.Sentence(err))
			continue
		}
		for _, origin := range list {
			if err := checkOrigin(id, origin); err != nil {
				r.Refuse(a.Expr.Range(), "Invalid origin", "In origins, %s", mistake.Sentence(err))
			}
		}
		origins[id] = list
	}
	return origins
}

// checkOrigin refuses what no browser would send as the origin of a page of an RP ID.
func checkOrigin(id, origin string) error {
	u, err := url.Parse(origin)
	switch {
	case err != nil || u.Host == "" || u.Scheme+"://"+u.Host != origin:
		return fmt.Errorf("%q is no origin: it has a scheme, a host and perhaps a port, such as https://pay.example.com, and nothing else", origin)
	case u.Scheme != "https" && (u.Scheme != "http" || u.Hostname() != passkeysLocal):
		return fmt.Errorf("%q must begin with https://: a browser has passkeys without it at localhost alone", origin)
	case u.Hostname() != id && !isBelow(u.Hostname(), id):
		return fmt.Errorf("%q is neither the RP ID %s nor a host below it, so no browser would ask for its passkeys there", origin, id)
	}
	return nil
}

func isBelow(host, domain string) bool {
	return len(host) > len(domain) && host[len(host)-len(domain)-1:] == "."+domain
}

// warnOfUnusable tells of passkeys of an RP ID that the block does not have: none of them counts.
func (k *controlReader) warnOfUnusable(r *eval.Reader, a *Approval, at hcl.Range) {
	seen := map[string]bool{}
	for _, p := range a.Signers.Passkeys() {
		if _, ok := a.Origins[p.RPID]; ok || seen[p.RPID] || r.Diags.HasErrors() {
			continue
		}
		seen[p.RPID] = true
		r.Diags = append(r.Diags, mistake.Warning(at, "Passkeys of another RP ID",
			"The file has passkeys of the RP ID %q, which origins does not have, so they don't count.", p.RPID))
	}
}
