package planner

import (
	"fmt"
	"strings"

	"remit/config"
)

// checkPolicies checks the submitted transfers against the policies. Nothing overrides one. A transfer
// in doubt was submitted already and is not held up by them, and where the plan submits
// nothing, they have nothing to say.
func (p *Plan) checkPolicies(policies []*config.Policy) ([]Obstacle, error) {
	if p.Count(Submit) == 0 || len(policies) == 0 {
		return nil, nil
	}
	failures := make([]policyFailures, len(policies))
	hasTransfers := false
	for i, policy := range policies {
		failures[i].policy = policy
		hasTransfers = hasTransfers || policy.Scope == config.ScopeTransfer
	}
	if hasTransfers {
		for _, c := range p.Changes.All() {
			if c.Action != Submit {
				continue
			}
			for i := range failures {
				failures[i].check(c)
			}
		}
	}
	var obstacles []Obstacle
	for i := range failures {
		f := &failures[i]
		if f.policy.Scope == config.ScopePlan {
			holds, why, err := p.meets(f.policy)
			if err != nil {
				return nil, err
			}
			if !holds {
				f.Kind, f.Address, f.Detail = ObstaclePolicy, f.policy.Address(), f.said()+" "+why
				obstacles = append(obstacles, f.Obstacle)
			}
		} else if f.Count > 0 {
			f.Kind, f.Address, f.Detail = ObstaclePolicy, f.policy.Address(), f.said()+" "+f.told()
			obstacles = append(obstacles, f.Obstacle)
		}
	}
	return obstacles, nil
}

// asRead says of which spelling a policy does not hold.
const asRead = " That is so with the asset in capitals and UUIDs in one form, as a service reads them; of the texts as they are declared the policy holds."

// meets holds the plan against a policy that looks at it, and where a transfer is declared in another spelling than one, in that as well.
func (p *Plan) meets(policy *config.Policy) (holds bool, why string, err error) {
	value, err := p.value(policy.Names, false)
	if err != nil {
		return false, "", err
	}
	if holds, why = policy.Holds(value); !holds {
		return false, why, nil
	}
	isSpelled := true
	if policy.Names("transfers") {
		if isSpelled, err = p.isSpelled(); err != nil {
			return false, "", err
		}
	}
	if isSpelled && policy.Spelled() == policy {
		return true, "", nil
	}
	if value, err = p.value(policy.Names, true); err != nil {
		return false, "", err
	}
	if holds, why = policy.Spelled().Holds(value); !holds {
		why += asRead
	}
	return holds, why, nil
}

// policyFailures are the transfers of which a policy does not hold.
type policyFailures struct {
	policy *config.Policy
	Obstacle
	places   []string // of the first of them
	messages []string
}

func (f *policyFailures) said() string {
	return fmt.Sprintf("%s at %s does not hold.", f.policy.Address(), f.policy.Place)
}

// check holds one transfer against the policy.
func (f *policyFailures) check(c *Change) {
	if f.policy.Scope != config.ScopeTransfer {
		return
	}
	holds, why := f.holds(c)
	if holds {
		return
	}
	f.add(c.RefID)
	if len(f.places) < refIDsMax {
		f.places = append(f.places, fmt.Sprintf("%q at %s", c.RefID, c.Place))
		f.messages = append(f.messages, why)
	}
}

func (f *policyFailures) holds(c *Change) (bool, string) {
	r := &c.Request
	if f.policy.Profiles == nil {
		holds, why := f.policy.Holds(c.valueOf(r, f.policy.Names))
		if !holds || r.IsSpelled() && f.policy.Spelled() == f.policy {
			return holds, why
		}
		one := r.OneSpelling()
		if holds, why = f.policy.Spelled().Holds(c.valueOf(&one, f.policy.Names)); !holds {
			why += asRead
		}
		return holds, why
	}
	to := config.Party{ProfileID: r.ToProfileID, IdentityID: r.ToIdentityID, AccountID: r.ToAccountID}
	return f.policy.Profiles[to], "Money goes to " + f.policy.Payees() + " only, and " + partyText(to.ProfileID, to.IdentityID, to.AccountID) + " is none of them."
}

// told lists the first failing transfers by place; a message that all of them have is said
// once.
func (f *policyFailures) told() string {
	same := true
	for _, message := range f.messages {
		same = same && message == f.messages[0]
	}
	var texts []string
	for i, place := range f.places {
		if !same {
			place += ": " + strings.TrimSuffix(f.messages[i], ".")
		}
		texts = append(texts, place)
	}
	text := strings.Join(texts, "; ")
	if more := f.Count - len(f.places); more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	if same {
		return f.messages[0] + " It fails for " + text + "."
	}
	return text + "."
}
