package service

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"remit/internal/transfer"
)

// twins are ref_ids by what they have in common with those that a service may take for the same:
// one that keeps them in capitals, or pads them, answers a lookup with another text than was asked
// for, and its record is no word of absence.
type twins map[string][]string

func newTwins(refIDs []string) twins {
	t := make(twins, len(refIDs))
	for _, refID := range refIDs {
		key := twinKey(refID)
		t[key] = append(t[key], refID)
	}
	return t
}

// twinKey is equal for texts that differ in nothing but the case of letters, white space around
// them, their Unicode normal form, or characters that cannot be seen.
func twinKey(text string) string {
	return strings.Map(foldCase, norm.NFKC.String(strings.TrimFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || transfer.Hidden(r)
	})))
}

// foldCase maps all letters that Unicode folds into one (as [strings.EqualFold] has it) to the
// least of them, and drops invisible characters.
func foldCase(r rune) rune {
	if transfer.Hidden(r) {
		return -1
	}
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	return least
}

// holdTwins says of ref_ids that were asked for that they can't be read where the service listed
// a twin. It is left alone where both are listed and were asked for: then the service tells them
// apart.
func (s *search) holdTwins(asked []string) {
	of := newTwins(asked)
	for _, listed := range slices.Sorted(maps.Keys(s.listed)) {
		for _, refID := range of[twinKey(listed)] {
			if refID == listed || s.listed[refID] && slices.Contains(asked, listed) || s.unreadable[refID] != "" {
				continue
			}
			s.unreadable[refID] = fmt.Sprintf("its ref_id is %q, which differs from %q only in capitals, in spaces around it or in how its characters are encoded", listed, refID)
		}
	}
}
