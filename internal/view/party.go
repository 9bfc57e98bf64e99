package view

import (
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

// party is one end of a transfer: its profile, then its identity and its account.
type party struct{ profile, identity, account string }

func sender(r transfer.Request) party {
	return party{r.FromProfileID, r.FromIdentityID, r.FromAccountID}
}

func destination(r transfer.Request) party {
	return party{r.ToProfileID, r.ToIdentityID, r.ToAccountID}
}

// show writes the IDs in one shape, with the profile's name where the address book has one.
// A name never stands alone: what is paid is the ID.
func (p party) show(s shape, names map[string]string) string {
	if p == (party{}) { // of what was imported, the records need not have both
		return "unknown"
	}
	var parts []string
	if name := names[p.profile]; name != "" {
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
