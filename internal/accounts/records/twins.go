package records

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"remit/internal/transfer"
)

// Twin is a ref_id of a file that a service may have written in the place of another one
// ([transfer.FoldRefID]).
type Twin struct {
	RefID string
	Place string // file:line, the first one
}

// Bounds of a ref_id that can't be declared, in bytes: what is kept of it, and where it is no twin of any
// that can.
const (
	outsideKept = 4 * transfer.TextLengthMax
	outsideMax  = 40 * transfer.TextLengthMax
)

// outside is a ref_id that can't be declared, of a record that is left out.
type outside struct {
	refID      string
	fold       uint64
	line, file int32
}

// fold says under which hash of a [transfer.FoldRefID] a ref_id is.
type fold struct {
	hash uint64
	at   int // in refIDs, and after these in outside
}

// leaveOut keeps the ref_id of a record that is not kept.
func (s *Spool) leaveOut(r Record) {
	folded := transfer.FoldRefID(r.RefID)
	if folded == "" || len(folded) > outsideMax {
		return
	}
	refID := r.RefID
	if len(refID) > outsideKept {
		refID = folded[:min(len(folded), outsideKept)]
	}
	s.outside = append(s.outside, outside{strings.Clone(refID), maphash.String(s.seed, folded), int32(r.Line), int32(len(s.names) - 1)})
}

// fold sorts the ref_ids by what they have in common with their twins.
func (s *Spool) fold() {
	s.folds = make([]fold, 0, len(s.refIDs)+len(s.outside))
	for i, refID := range s.refIDs {
		s.folds = append(s.folds, fold{s.Fold(refID), i})
	}
	for i, o := range s.outside {
		s.folds = append(s.folds, fold{o.fold, len(s.refIDs) + i})
	}
	slices.SortFunc(s.folds, func(a, b fold) int { return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.at, b.at)) })
}

// Fold is a hash that is equal for twins.
func (s *Spool) Fold(refID string) uint64 {
	return maphash.String(s.seed, transfer.FoldRefID(refID))
}

// Twins returns the ref_ids of a sealed spool that are not refID and that a service may have written in its
// place: those of its records, and then those of records that were left out, each once.
func (s *Spool) Twins(refID string) []Twin {
	hash := s.Fold(refID)
	first, _ := slices.BinarySearchFunc(s.folds, hash, func(f fold, hash uint64) int { return cmp.Compare(f.hash, hash) })
	var twins []Twin
	for _, f := range s.folds[first:] {
		if f.hash != hash {
			break
		}
		twin := s.twinAt(f.at)
		if twin.RefID != refID && !slices.ContainsFunc(twins, func(t Twin) bool { return t.RefID == twin.RefID }) {
			twins = append(twins, twin)
		}
	}
	return twins
}

func (s *Spool) twinAt(at int) Twin {
	if at >= len(s.refIDs) {
		o := s.outside[at-len(s.refIDs)]
		return Twin{o.refID, fmt.Sprintf("%s:%d", s.names[o.file], o.line)}
	}
	refID := s.refIDs[at]
	return Twin{refID, s.place(s.under(refID)[0])}
}
