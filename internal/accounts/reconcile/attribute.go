package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The kinds of entries of this file's sorters, by their first byte.
const (
	tagOwner  byte = iota // a ref_id of the state, to which the group_id belongs
	tagSide               // a side that belongs to no ref_id of the state by its own ref_id
	tagShared             // the other ref_ids of one of the ref_id's group_ids
	tagTwin               // why nobody can tell whether a record is of the ref_id
)

// sharedMax is how many of the other ref_ids of a group_id are named.
const sharedMax = 3

// attribute finds, for records whose ref_id the state does not know, or that have none, whose they
// are by their group_id. A record that belongs to a ref_id goes to attributed, under it; one that
// belongs to none goes to strangers, under its group_id.
func (r *Reconciliation) attribute(ctx context.Context, archive Archive, attributed, strangers *sorter) error {
	groups := newSorter(r.options.TempDir, r.options.MemoryMax)
	defer groups.close()
	twins := twinning{Reconciliation: r, sorter: newSorter(r.options.TempDir, r.options.MemoryMax/2)}
	defer twins.sorter.close()
	if err := r.group(ctx, archive, groups, &twins); err != nil {
		return err
	}
	at, err := groups.read()
	if err != nil {
		return err
	}
	for !at.done {
		if err := attributeGroup(at, attributed, strangers, &twins); err != nil {
			return err
		}
	}
	return twins.attribute(attributed)
}

// group goes through the records and the state, both in the order of ref_ids, and puts into
// groups, by group_id, the ref_ids of the state and the records that are of none of them.
func (r *Reconciliation) group(ctx context.Context, archive Archive, groups *sorter, twins *twinning) error {
	at, err := r.records.read()
	if err != nil {
		return err
	}
	g := grouping{groups: groups}
	for row, err := range archive.Transfers(ctx) {
		if err != nil {
			return err
		}
		for !at.done && string(at.key) < row.RefID {
			if err := g.addStray(at); err != nil {
				return err
			}
		}
		if err := g.addOwner(row.GroupID, row.RefID); err != nil {
			return err
		}
		if !at.is(row.RefID) {
			if err := twins.addRow(&row); err != nil {
				return err
			}
		}
		for last := row.GroupID; at.is(row.RefID); {
			if groupID := groupOf(at.value); string(groupID) != last {
				last = string(groupID)
				if err := g.addOwner(last, row.RefID); err != nil {
					return err
				}
			}
			if err := at.next(); err != nil {
				return err
			}
		}
	}
	for !at.done {
		if err := g.addStray(at); err != nil {
			return err
		}
	}
	return nil
}

// grouping puts what has a group_id into the order of group_ids.
type grouping struct {
	groups *sorter
	value  []byte // of the entry that was added last
}

// addOwner says that a ref_id of the state has the group_id.
func (g *grouping) addOwner(groupID, refID string) error {
	if groupID == "" {
		return nil
	}
	g.value = append(append(g.value[:0], tagOwner), refID...)
	return g.groups.add(groupKey(groupID), g.value)
}

// addStray adds a record of no ref_id of the state, and goes on to the next one.
func (g *grouping) addStray(at *cursor) error {
	side := readSide(at.value)
	g.value = append(append(g.value[:0], tagSide), at.value...)
	if err := g.groups.add(strayKey(&side), g.value); err != nil {
		return err
	}
	return at.next()
}

// groupKey keeps group_ids apart from other keys.
func groupKey(groupID string) string { return "group\x00" + groupID }

// strayKey is under what a record is sorted that belongs to no ref_id of the state: with its
// other side.
func strayKey(s *Side) string {
	switch {
	case s.GroupID != "":
		return groupKey(s.GroupID)
	case s.RefID != "":
		return "ref\x00" + s.RefID
	}
	return "id\x00" + s.ID
}

// attributeGroup takes the entries of one key and says whose the records are: of the one
// ref_id that has this group_id. Where several have it, nothing says of which.
func attributeGroup(at *cursor, attributed, strangers *sorter, twins *twinning) error {
	key := string(at.key)
	var owners []string
	var sides [][]byte
	for at.is(key) {
		if len(at.value) == 0 {
			return errDamaged
		}
		if at.value[0] == tagSide {
			sides = append(sides, slices.Clone(at.value[1:]))
		} else if owner := string(at.value[1:]); len(owners) == 0 || owners[len(owners)-1] != owner { // they come in order
			owners = append(owners, owner)
		}
		if err := at.next(); err != nil {
			return err
		}
	}
	for _, side := range sides {
		var err error
		if len(owners) == 1 {
			err = attributed.add(owners[0], append([]byte{tagSide}, side...))
		} else {
			err = errors.Join(
				strangers.add(key, append([]byte{byte(min(len(owners), 1))}, side...)), // 1: it has too many owners
				twins.addStranger(side))
		}
		if err != nil {
			return err
		}
	}
	if len(owners) < 2 {
		return nil
	}
	for _, owner := range owners {
		others := slices.DeleteFunc(slices.Clone(owners[:min(len(owners), sharedMax+1)]), func(other string) bool { return other == owner })
		others = others[:min(len(others), sharedMax)]
		text := fmt.Sprintf("%s\x00%d", strings.Join(others, "\x00"), len(owners)-1)
		if err := attributed.add(owner, append([]byte{tagShared}, text...)); err != nil {
			return err
		}
	}
	return nil
}
