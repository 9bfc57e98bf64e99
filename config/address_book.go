package config

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/internal/text/confusable"
	"remit/internal/transfer"
)

// addressBook has the names by which people know the declared profiles: their labels, and what they are shown as. Its one invariant: who is
// shown under a name that can be taken for one of them is that profile.
type addressBook struct {
	entries  map[string][]bookEntry // by the skeletons of the name, in declaration order
	contents string                 // all of it, so that two can be compared
	skeleton []byte                 // of the last name, to be written over
}

// bookEntry is one name of one profile.
type bookEntry struct {
	name    string
	profile *eval.Node
	ids     transfer.Request // the IDs of the profile, as a sender's
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
		e := bookEntry{name: n.Name, profile: n}
		e.ids.FromProfileID, e.ids.FromIdentityID, e.ids.FromAccountID = text("profile_id"), text("identity_id"), text("account_id")
		b.add(e)
		if e.name = text("display_name"); e.name != "" {
			shown = append(shown, e)
		}
		fmt.Fprintf(&contents, "%q %q %q\n", n.Name, e.name, []string{e.ids.FromProfileID, e.ids.FromIdentityID, e.ids.FromAccountID})
	}
	b.contents = contents.String()
	for _, e := range shown {
		own := e.ids.Back()
		if other := b.posing(e.name, &own); other != nil {
			diags = append(diags, mistake.New(displayNameOf(e.profile), nameOfAnother, "%s", other.mistakeOf(e.name, e.profile.Address()+" has other IDs")))
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

// posing is the profile for which a destination that is shown under a name would be taken; nil where there is none, or where one
// of that name is the destination.
func (b *addressBook) posing(name string, to *transfer.Request) *bookEntry {
	if name == "" || len(b.entries) == 0 {
		return nil
	}
	var other *bookEntry
	for reading := confusable.ByLetters; reading <= confusable.ByShapes; reading++ {
		b.skeleton = confusable.AppendSkeleton(b.skeleton[:0], name, reading)
		found := b.entries[string(b.skeleton)]
		for i := range found {
			both := found[i].ids
			both.ToProfileID, both.ToIdentityID, both.ToAccountID = to.ToProfileID, to.ToIdentityID, to.ToAccountID
			if both.GoesToItself() {
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
	return other
}

const nameOfAnother = "Name of another destination"

// mistakeOf says that a name can be taken for that of e, where something else is true of who has it.
func (e *bookEntry) mistakeOf(name, but string) string {
	as := "can be taken for"
	if name == e.name {
		as = "is"
	}
	otherwise := "write another display_name"
	if e.name != e.profile.Name { // profiles may share a display_name, and no label
		otherwise += ", or declare a profile with its IDs, which may have the same display_name"
	}
	return fmt.Sprintf("display_name %q %s the name of %s, declared at %s, and %s. A reviewer of the plan would take one for the other. If that profile is meant, write its IDs. If not, %s.",
		name, as, e.profile.Address(), mistake.At(e.profile.At), but, otherwise)
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
