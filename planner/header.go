package planner

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"remit/config"
	"remit/internal/text/english"
	"remit/state"
)

// ErrExpired says that the plan's time is over.
var ErrExpired = errors.New("the plan has expired; make a new one")

// ErrEndless says that a plan has no time after which it is over, which every saved plan has.
var ErrEndless = errors.New("the plan does not say until when it may be applied, which every saved plan does: the file was changed; make a new one")

// OtherError says that a plan was made for something else than it is to be applied to.
type OtherError struct {
	What    string // "environment", "service", "lineage" or "serial"
	Planned string
	Now     string
}

// Error names both.
func (e *OtherError) Error() string {
	return fmt.Sprintf("the plan was made for another %s: planned %s, now %s; make a new one", e.What, e.Planned, e.Now)
}

// ControlsError says that a plan was made under other controls than those of now.
type ControlsError struct{ Changes []ControlChange }

// ControlChange is one control that is not what it was.
type ControlChange struct {
	config.ControlDigest        // as it is now; as it was, where it is gone
	What                 string // "is another", "differs in its line ends only", "is new" or "is gone"
}

// Error names each of them.
func (e *ControlsError) Error() string {
	var texts, kept []string
	for _, c := range e.Changes {
		text := c.Name
		if c.Place != "" {
			text += " at " + c.Place
		}
		texts = append(texts, text+" "+c.What)
		if line := attributeOf(c); c.What == hasOtherEnds && !slices.Contains(kept, line) {
			kept = append(kept, line)
		}
	}
	said := "the plan was made under other controls: " + strings.Join(texts, ", ")
	if len(kept) == 0 {
		return said + "; make a new one"
	}
	lines, files := "line", "file"
	if len(kept) > 1 {
		lines, files = "lines", "files"
	}
	return fmt.Sprintf("%s. git may write other line ends into each checkout. Write the %s %s into .gitattributes, so that it keeps those that were committed, "+
		"check the %s out anew, and make a new plan", said, lines, english.List(kept), files)
}

// attributeOf is the line of .gitattributes by which git leaves the line ends of a file alone, in whichever directory that is.
func attributeOf(c ControlChange) string {
	name := strings.ReplaceAll(path.Base(strings.TrimPrefix(c.Name, "file ")), " ", "?") // a space would end the pattern
	return strconv.Quote(name + " -text")
}

// lackOf says what a state lacks.
func lackOf(meta state.Meta) string {
	switch {
	case meta.LacksAll():
		return "the transfers of the state in whose place it was made"
	case meta.Lacks > 0:
		return fmt.Sprintf("event %d, and the transfers of that time (its newest is event %d)", meta.Lacks, meta.Serial)
	case meta.Restored:
		return fmt.Sprintf("the transfers after its dump (its newest is event %d)", meta.Serial)
	}
	return ""
}

// Lacks reports whether a control is gone.
func (e *ControlsError) Lacks() bool {
	return slices.ContainsFunc(e.Changes, func(c ControlChange) bool { return c.What == isGone })
}

const (
	isGone       = "is gone"
	hasOtherEnds = "differs in its line ends only"
)

// compareControls returns which controls differ between a list, in order of name, and those of now. Several
// may have one name: the configuration and each policy directory may have an approval block. Of
// these, equal ones are left out first, and then the closest ones are compared.
func compareControls(planned []config.ControlDigest, controls config.Controls) []ControlChange {
	planned, now := slices.Clone(planned), controls.List()
	var changes []ControlChange
	for _, isSame := range []func(then, now config.ControlDigest) bool{
		func(a, b config.ControlDigest) bool { return a.SHA256 == b.SHA256 },
		func(a, b config.ControlDigest) bool { return controls.DifferInEnds(a.SHA256, b.SHA256) },
		func(a, b config.ControlDigest) bool { return a.Place == b.Place },
		func(a, b config.ControlDigest) bool { return fileOf(a.Place) == fileOf(b.Place) },
		func(config.ControlDigest, config.ControlDigest) bool { return true },
	} {
		now = slices.DeleteFunc(now, func(b config.ControlDigest) bool {
			i := slices.IndexFunc(planned, func(a config.ControlDigest) bool { return a.Name == b.Name && isSame(a, b) })
			if i < 0 {
				return false
			}
			switch {
			case controls.DifferInEnds(planned[i].SHA256, b.SHA256):
				changes = append(changes, ControlChange{b, hasOtherEnds})
			case planned[i].SHA256 != b.SHA256:
				changes = append(changes, ControlChange{b, "is another"})
			}
			planned = slices.Delete(planned, i, i+1)
			return true
		})
	}
	for _, control := range planned {
		changes = append(changes, ControlChange{control, isGone})
	}
	for _, control := range now {
		changes = append(changes, ControlChange{control, "is new"})
	}
	slices.SortStableFunc(changes, func(a, b ControlChange) int { return cmp.Compare(a.Name, b.Name) })
	return changes
}

// fileOf is the file of a place, which is file:line.
func fileOf(place string) string { return place[:max(strings.LastIndexByte(place, ':'), 0)] }

// CheckHeader is what of Recheck needs nothing of the state but what it is: whether the plan is
// applicable, was made for it and under these controls, and has not expired.
func (p *Plan) CheckHeader(meta state.Meta, controls config.Controls, now time.Time) error {
	if !p.Applicable() {
		return &ObstacleError{p.Obstacles}
	}
	if err := p.checkHeader(meta, controls, now); err != nil {
		return err
	}
	return p.CheckTime(now)
}

// CheckTime says whether the time of a plan is over: [ErrExpired], or [ErrEndless] of a file that does not say
// until when it is.
func (p *Plan) CheckTime(now time.Time) error {
	switch expires := p.Header.Expires; {
	case expires.IsZero() && p.SHA256 != "":
		return ErrEndless
	case !expires.IsZero() && !now.Before(expires):
		return ErrExpired
	}
	return nil
}

func (p *Plan) checkHeader(meta state.Meta, controls config.Controls, now time.Time) error {
	h := p.Header
	planned := h.Service
	if planned.CustomerID == "" {
		planned.CustomerID = meta.Service.CustomerID // the first record was not there yet
	}
	switch {
	case h.Environment != meta.Environment:
		return &OtherError{"environment", h.Environment, meta.Environment}
	case planned != meta.Service:
		return &OtherError{"service", identity(planned), identity(meta.Service)}
	case h.Lineage != meta.Lineage:
		return &OtherError{"lineage", h.Lineage, meta.Lineage}
	case h.Serial > meta.Serial:
		return &OtherError{"serial", fmt.Sprint(h.Serial), fmt.Sprintf("%d, an older state", meta.Serial)}
	case h.Controls != controls.Digest():
		return &ControlsError{compareControls(h.ControlList, controls)}
	case h.Created.After(now.Add(clockSlack)):
		return &OtherError{"time", h.Created.Format(time.RFC3339), now.Format(time.RFC3339)}
	}
	return nil
}

func identity(i state.Identity) string {
	words := []string{i.BaseURL, i.Operator, i.ClientID, i.CustomerID}
	if i.TokenURL != "" {
		words = append(words, "tokens from "+i.TokenURL)
	}
	return strings.Join(words, " ")
}
