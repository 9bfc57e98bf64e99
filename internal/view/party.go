package view

import (
	"cmp"
	"strings"

	"remit/internal/transfer"
	"remit/planner"
)

// shape is how much of an ID is shown. All IDs of a page have one shape, in which no two of
// them look alike.
type shape int

const (
	shapeHead  shape = iota // 0acfa5a6…
	shapeEnds               // 0acfa5a6…7ffd
	shapeWhole              // the whole ID
)

// idWidthShort is the most characters of an ID that is never shortened.
const idWidthShort = 13

func (s shape) show(id string) string {
	id = Visible(id)
	if displayWidth(id) <= idWidthShort {
		return id
	}
	switch s {
	case shapeHead:
		return takeStart(id, 8) + cutMark
	case shapeEnds:
		return takeStart(id, 8) + cutMark + takeEnd(id, 4)
	case shapeWhole:
	}
	return id
}

// shapeFor is the shortest shape, from the given one on, that tells all IDs of the changes
// apart.
func shapeFor(changes []planner.Change, from shape) shape {
	ids := make(map[string]bool)
	for i := range changes {
		for f := range transfer.FieldCount {
			if f.Side() != transfer.NoSide {
				ids[changes[i].Request.Text(f)] = true
			}
		}
	}
	return shapeOf(ids, from)
}

// shapeOf is the shortest shape, from the given one on, that tells IDs apart.
func shapeOf(ids map[string]bool, from shape) shape {
	for s := from; s < shapeWhole; s++ {
		shown := make(map[string]bool, len(ids))
		for id := range ids {
			shown[s.show(id)] = true
		}
		if len(shown) == len(ids) {
			return s
		}
	}
	return shapeWhole
}

// party is one end of a transfer: its profile, then its identity and its account; and what the author of
// a file calls it.
type party struct{ profile, identity, account, name string }

func sender(r transfer.Request) party {
	return party{profile: r.FromProfileID, identity: r.FromIdentityID, account: r.FromAccountID}
}

func destination(r transfer.Request) party {
	return party{profile: r.ToProfileID, identity: r.ToIdentityID, account: r.ToAccountID}
}

// payee is the destination of a request that moves the money of a change, with its display name. A doubt
// of which the declaration pays somebody else has none.
func payee(c *planner.Change, r transfer.Request) party {
	p := destination(r)
	if p == destination(c.Request) {
		p.name = c.DisplayName
	}
	return p
}

// called is the name of a party: what its transfer says, or else the address book.
func (p party) called(names map[string]string) string { return cmp.Or(p.name, names[p.profile]) }

// namesNote says how much the names of a plan are worth.
const namesNote = "Names of destinations are as the files say. The service checks none of them."

// show writes the IDs in one shape, with the name that its transfer or the address book gives it.
// A name is never alone: remit pays the ID.
func (p party) show(s shape, names map[string]string) string {
	if p == (party{}) { // the records of an import need not have both
		return "unknown"
	}
	var parts []string
	if name := p.called(names); name != "" {
		parts = append(parts, cutEnd(Visible(name), 20))
	}
	parts = append(parts, s.show(p.profile))
	if p.identity != "" {
		parts = append(parts, "identity "+s.show(p.identity))
	}
	if p.account != "" {
		parts = append(parts, "account "+s.show(p.account))
	}
	return strings.Join(parts, " ")
}
