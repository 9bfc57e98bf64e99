package config

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/internal/text/confusable"
	"remit/internal/text/lazyregexp"
	"remit/internal/transfer"
)

// addressBook has the names under which readers see the declared profiles: their display_names, and the labels of those that have none. Its
// one invariant: a destination that is shown under a name that can be taken for one of them has the profile_id of that profile.
type addressBook struct {
	entries  map[string][]bookEntry // by the skeletons of the name, in declaration order
	contents string                 // all of it, so that two can be compared
	skeleton []byte                 // of the last name, to be written over
}

// bookEntry is one name of one profile.
type bookEntry struct {
	name    string
	isLabel bool // which readers see where a profile has no display_name
	isID    bool // the profile_id, or its short form, which readers see where a destination has no name
	profile *eval.Node
	id      transfer.Request // the profile_id, as a sender's
}

// isOf reports whether a destination is the profile. Its accounts and its identities are its own.
func (e *bookEntry) isOf(toProfileID string) bool {
	both := e.id
	both.ToProfileID = toProfileID
	return both.GoesToItself()
}

// newAddressBook reads the profiles, and refuses those that are shown under a name of another one.
func newAddressBook(scope *eval.Scope) (*addressBook, hcl.Diagnostics) {
	b := &addressBook{entries: map[string][]bookEntry{}}
	var diags hcl.Diagnostics
	var contents strings.Builder
	var shown []bookEntry
	for _, n := range scope.InOrder {
		if n.Root != "profile" || !n.IsPlain() {
			continue
		}
		text := func(attribute string) string {
			if value := n.Value.GetAttr(attribute); !value.IsNull() {
				return value.AsString()
			}
			return ""
		}
		e := bookEntry{name: text("display_name"), profile: n, id: transfer.Request{FromProfileID: text("profile_id")}}
		if e.name == "" {
			e.name, e.isLabel = n.Name, true
			b.add(e)
		} else {
			shown = append(shown, e)
		}
		b.addID(e)
		fmt.Fprintf(&contents, "%q %q %q\n", n.Name, e.name, e.id.FromProfileID)
	}
	b.contents = contents.String()
	for _, e := range shown {
		if other := b.posing(e.name, e.id.FromProfileID); other != nil {
			diags = append(diags, mistake.New(displayNameOf(e.profile), nameOfAnother, "%s", other.mistakeOf(e.name, e.profile.Address()+" has another profile_id")))
		}
	}
	for _, e := range shown {
		b.add(e)
	}
	return b, diags
}

// add enters a name, by each of its readings once.
func (b *addressBook) add(e bookEntry) {
	letters := string(confusable.AppendSkeleton(nil, e.name, confusable.ByLetters))
	shapes := string(confusable.AppendSkeleton(nil, e.name, confusable.ByShapes))
	if letters == "" { // it has signs alone
		return
	}
	b.entries[letters] = append(b.entries[letters], e)
	if shapes != letters {
		b.entries[shapes] = append(b.entries[shapes], e)
	}
}

// idMin is the length, in bytes, of the shortest ID that nobody would give as a name.
const idMin = 16

// addID enters the profile_id as a name, and its short form: a reviewer takes either for the destination itself.
func (b *addressBook) addID(e bookEntry) {
	id := e.id.FromProfileID
	isASCII := !strings.ContainsFunc(id, func(r rune) bool { return r >= utf8.RuneSelf })
	if len(id) < idMin || !isASCII || !strings.ContainsAny(id, "0123456789") {
		return
	}
	e.isLabel, e.isID = false, true
	for _, name := range []string{id, id[:8] + id[len(id)-4:]} {
		e.name = name
		b.add(e)
	}
}

// posing is the profile for which a destination that is shown under a name would be taken; nil where there is none, or where one
// of that name is the destination.
func (b *addressBook) posing(name, toProfileID string) *bookEntry {
	if name == "" {
		return nil
	}
	var other *bookEntry
	for reading := confusable.ByLetters; reading <= confusable.ByShapes && len(b.entries) > 0; reading++ {
		b.skeleton = confusable.AppendSkeleton(b.skeleton[:0], name, reading)
		found := b.entries[string(b.skeleton)]
		for i := range found {
			if found[i].isOf(toProfileID) {
				return nil
			}
			if other == nil {
				other = &found[i]
			}
		}
		if !confusable.HasTwoReadings(name) {
			break
		}
	}
	if other == nil && isForeignID(name, toProfileID) {
		return &bookEntry{name: name, isID: true}
	}
	return other
}

var (
	uuidIn  = lazyregexp.New(`(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}`)
	shortOf = lazyregexp.New(`(?i)^([0-9a-f]{8})\.{2,3}([0-9a-f]{4})$`)
)

// isForeignID reports whether a name has the form of a UUID, or of the short form in which readers see one, and is not that of the destination.
func isForeignID(name, toProfileID string) bool {
	bare := func(id string) string { return strings.ToLower(strings.ReplaceAll(id, "-", "")) }
	if len(name) >= len("37867177f88c45ccb9b5d786e7079609") {
		id := uuidIn.FindString(name)
		return id != "" && bare(id) != bare(toProfileID)
	}
	const short = len("37867177..9609")
	if len(name) < short || len(name) > short+1 {
		return false
	}
	parts, own := shortOf.FindStringSubmatch(name), bare(toProfileID)
	return parts != nil && (!strings.HasPrefix(own, strings.ToLower(parts[1])) || !strings.HasSuffix(own, strings.ToLower(parts[2])))
}

const nameOfAnother = "Name of another destination"

// mistakeOf says that a name can be taken for that of e, where something else is true of who has it.
func (e *bookEntry) mistakeOf(name, but string) string {
	as, what := "can be taken for", "name"
	if name == e.name {
		as = "is"
	}
	if e.isID {
		what = "profile_id"
	}
	remedy := "If that profile is meant, write its profile_id. If not, write another display_name"
	if e.profile == nil {
		return fmt.Sprintf("display_name %q has the form of a profile_id, and %s. A reviewer of the plan would take it for the destination. %s.", name, but, remedy)
	}
	if e.isLabel {
		remedy += fmt.Sprintf(", or give %s a display_name, which readers then see in place of its label.", e.profile.Address())
	} else if e.isID {
		remedy += "."
	} else { // profiles may share a display_name
		remedy += ", or declare a profile with its IDs, which may have the same display_name."
	}
	return fmt.Sprintf("display_name %q %s the %s of %s, declared at %s, and %s. A reviewer of the plan would take one for the other. %s",
		name, as, what, e.profile.Address(), mistake.At(e.profile.At), but, remedy)
}

// displayNameOf is the place of the display_name of a profile that has one.
func displayNameOf(profile *eval.Node) hcl.Range {
	for _, a := range profile.Arguments {
		if a.Name == "display_name" {
			return a.Expr.Range()
		}
	}
	return profile.At
}
