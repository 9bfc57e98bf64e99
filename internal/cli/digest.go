package cli

import (
	"errors"
	"fmt"
	"strings"

	"remit/internal/cli/exit"
	"remit/planner"
)

// A digest of --plan-digest is one that plan shows, in hexadecimal digits: the 32 of its text, or all 64. Fewer name no
// plan, as an author can make two plans that begin with the same few.
const (
	digestMin = 32
	digestMax = 64
)

// checkDigest refuses text that is no digest, and a digest beside a saved plan.
func (a *applying) checkDigest() error {
	if a.digest == "" {
		return nil
	}
	a.digest = strings.ToLower(a.digest)
	if len(a.digest) < digestMin || len(a.digest) > digestMax || strings.Trim(a.digest, "0123456789abcdef") != "" {
		return fmt.Errorf("--plan-digest=%s is no digest; it takes %d to %d hexadecimal digits, as plan shows them", a.digest, digestMin, digestMax)
	}
	if a.file != "" {
		return errors.New("--plan-digest stands in place of a saved plan, which is checked whole: say one of them")
	}
	return nil
}

// approved reports whether a flag replaces a person's yes.
func (a *applying) approved() bool { return a.autoApprove || a.digest != "" }

// same is the same apply as a command to type where nothing was sent; without its approval.
func same(a *applying) string {
	words := a.again() + a.planning.accepted() + flagWords("accept-shortfall", a.acceptShortfall)
	if a.retryRefused {
		words += " --retry-refused"
	}
	return words
}

// approval is that flag, for a command to type.
func (a *applying) approval() string {
	if a.digest != "" {
		return "--plan-digest=" + a.digest
	}
	return "--auto-approve"
}

// otherDigest refuses a plan that is not the one which was approved by its digest.
func (a *applying) otherDigest(plan *planner.Plan) error {
	if strings.HasPrefix(plan.Digest, a.digest) {
		return nil
	}
	return exit.WithHint(fmt.Errorf("nothing was sent: the plan's digest is %s now, and --plan-digest=%s approved another plan. The files, the state or what is accepted changed",
		plan.Digest[:max(digestMin, len(a.digest))], a.digest), a.planning.dir.Command("plan"+a.planning.typed()))
}
