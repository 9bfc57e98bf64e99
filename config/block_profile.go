package config

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"remit/config/mistake"
	"remit/internal/text/confusable"
)

func profileKind() blockKind {
	return blockKind{
		name: "profile", labels: []string{"name"},
		required: []string{"profile_id"}, optional: []string{"identity_id", "account_id", "description"},
		policy: true, read: (*loader).readProfile,
	}
}

// profileAttributes are what a profile has as a value.
func profileAttributes() []string {
	return []string{"name", "description", "profile_id", "identity_id", "account_id"}
}

func (l *loader) readProfile(b *block) {
	name := b.label(0)
	if !l.declareNamed(b, "profile."+name) {
		return
	}
	if confusable.Mixed(name) {
		l.report(mistake.Warning(b.at, "Name that may pass for another",
			"Letters of the profile's name %q are of another script than its other letters, or look like Latin ones. Plans show each of them as an escape. Make sure that this name is meant.", name))
	}
	scope := l.config.scope
	n := &node{
		root: "profile", name: name, at: b.at, arguments: b.inOrder, policy: b.policy != nil,
		compute: func() (cty.Value, hcl.Diagnostics) {
			r := reader{scope: scope, block: b}
			values := map[string]cty.Value{"name": cty.StringVal(name)}
			for _, attribute := range profileAttributes()[1:] {
				get := r.text
				if attribute == "profile_id" {
					get = r.required
				}
				values[attribute] = cty.NullVal(cty.String)
				if text, _ := get(attribute); text != "" {
					values[attribute] = cty.StringVal(text)
				}
			}
			return cty.ObjectVal(values), r.diags
		},
	}
	if b.incomplete {
		n.progress = failed
	}
	scope.add(n)
}

// ProfileNames are the names of the address book by profile_id. Of two profiles with one
// profile_id neither is listed: the ID alone would not say which is meant.
func (c *Configuration) ProfileNames() map[string]string {
	names := make(map[string]string)
	ambiguous := make(map[string]bool)
	for _, n := range c.scope.inOrder {
		if n.root != "profile" || n.progress != known {
			continue
		}
		id := n.value.GetAttr("profile_id")
		if id.IsNull() {
			continue
		}
		if _, taken := names[id.AsString()]; taken {
			ambiguous[id.AsString()] = true
		}
		names[id.AsString()] = n.name
	}
	for id := range ambiguous {
		delete(names, id)
	}
	return names
}
