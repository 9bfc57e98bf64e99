package view

import (
	"slices"

	"remit/internal/transfer"
	"remit/planner"
)

// sharing is what the lines of a group have in common, gathered a line at a time: it holds no more for
// more lines.
type sharing struct {
	count     int
	from      *party // the sender of all; nil where they differ
	file      string // in which all are declared; "" where nothing says so
	place     string // the one place at which all are declared
	to        transfer.Destination
	isOneTo   bool            // all pay to it
	allFirst  bool            // each pays a destination that is new
	isOneKind bool            // all are of one operation
	notes     map[string]bool // that all lines of one action have
	heads     []span          // of notes, as the heading has them
	metadata  []metadataItem  // that all have
	actions   []sharedNotes   // in order of appearance
	operation transfer.Operation
}

// sharedNotes are the notes that all lines of an action have had so far.
type sharedNotes struct {
	action planner.Action
	count  int
	notes  []span
}

// add takes a line in.
func (s *sharing) add(c *planner.Change) {
	from := sender(c.Request)
	if s.count++; s.count == 1 {
		s.from, s.file, s.place, s.operation, s.metadata = &from, fileOf(c.Place), c.Place, c.Request.Operation, metadataItems(moved(c))
		s.allFirst, s.isOneKind, s.isOneTo, s.to = true, true, true, moved(c).Destination()
	}
	s.isOneTo = s.isOneTo && moved(c).Destination() == s.to
	if s.from != nil && from != *s.from {
		s.from = nil
	}
	if c.Place != s.place {
		s.place = ""
	}
	if fileOf(c.Place) != s.file {
		s.file = ""
	}
	s.isOneKind = s.isOneKind && c.Request.Operation == s.operation
	s.allFirst = s.allFirst && slices.ContainsFunc(c.Signals, isFirst)
	s.addNotes(c)
	if len(s.metadata) > 0 && s.count > 1 {
		own := metadataItems(moved(c))
		s.metadata = slices.DeleteFunc(s.metadata, func(item metadataItem) bool { return !slices.Contains(own, item) })
	}
}

// addNotes keeps the notes that a line has as well. A note for the reviewer stays with its line.
func (s *sharing) addNotes(c *planner.Change) {
	at := slices.IndexFunc(s.actions, func(of sharedNotes) bool { return of.action == c.Action })
	if at < 0 {
		notes := slices.DeleteFunc(changeNotes(c), func(note span) bool { return note.tone != toneDim })
		s.actions = append(s.actions, sharedNotes{c.Action, 1, notes})
		return
	}
	of := &s.actions[at]
	of.count++
	if len(of.notes) == 0 {
		return
	}
	own := changeNotes(c)
	of.notes = slices.DeleteFunc(of.notes, func(note span) bool { return !slices.Contains(own, note) })
}

// finish says what all have in common, after the last line. One line alone shares nothing.
func (s *sharing) finish() {
	s.notes = make(map[string]bool)
	if s.count == 1 {
		*s = sharing{count: 1, notes: s.notes}
		return
	}
	for _, of := range s.actions {
		if of.count < 2 {
			continue
		}
		for _, note := range of.notes {
			s.notes[string(of.action)+" "+note.text] = true
			if len(s.actions) > 1 {
				note.text = of.action.Symbol() + " " + note.text
			}
			s.heads = append(s.heads, note)
		}
	}
}

// ownMetadata is what of the metadata of a request not all have.
func (s *sharing) ownMetadata(r transfer.Request) []metadataItem {
	return slices.DeleteFunc(metadataItems(r), func(item metadataItem) bool { return slices.Contains(s.metadata, item) })
}
