package tree

// Next is the command with which a person goes on from a plan, for its own directory; "" where nothing is to be
// done. A step for a person goes before one that an apply does by itself.
func (b *Brief) Next() string {
	for _, g := range b.Groups {
		if g.Group.NeedsPerson() && g.Next != "" {
			return g.Next
		}
	}
	switch {
	case b.needsPerson(), !b.Applicable:
		return "remit plan"
	case b.Empty:
		return ""
	case len(b.Approvals) > 0:
		return "remit plan --out=remit.plan"
	}
	return "remit apply"
}

func (b *Brief) needsPerson() bool {
	for _, g := range b.Groups {
		if g.Group.NeedsPerson() {
			return true
		}
	}
	return false
}
