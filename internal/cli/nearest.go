package cli

import (
	"strings"

	"github.com/agext/levenshtein"
)

// nearestMax is how many letters of two ref_ids may differ so that one is taken for the other.
const nearestMax = 2

// nearest finds the ref_id that somebody meant. It keeps no other.
type nearest struct {
	wanted   string
	far      *levenshtein.Params
	refID    string // "" before one is near
	distance int
}

func newNearest(wanted string) *nearest {
	return &nearest{wanted: wanted, far: levenshtein.NewParams().MaxCost(nearestMax)}
}

// try takes a ref_id that is nearer than the ones before: its address, then the same in other letters, then
// a few letters, then one of which it is a part. Of equal ones the first stays.
func (n *nearest) try(refID, address string) {
	distance := 0
	switch {
	case address == n.wanted, strings.HasPrefix(address, n.wanted+"["), strings.EqualFold(refID, n.wanted):
	case levenshtein.Distance(refID, n.wanted, n.far) <= nearestMax && len(n.wanted) > nearestMax:
		distance = levenshtein.Distance(refID, n.wanted, n.far)
	case len(n.wanted) > nearestMax && strings.Contains(strings.ToLower(refID), strings.ToLower(n.wanted)):
		distance = nearestMax + 1
	default:
		return
	}
	if n.refID == "" || distance < n.distance {
		n.refID, n.distance = strings.Clone(refID), distance
	}
}
