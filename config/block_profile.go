package config

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/internal/text/confusable"
)

func profileKind() eval.Kind {
	return eval.Kind{
		Name: "profile", Labels: []string{"name"},
		Required: []string{"profile_id"}, Optional: []string{"identity_id", "account_id", "description"},
		Policy: true,
	}
}

// profileAttributes are what a profile has as a value.
func profileAttributes() []string {
	return []string{"name", "description", "profile_id", "identity_id", "account_id"}
}

func (l *loader) readProfile(b *eval.Block) {
	name := b.Label(0)
	if !l.declareNamed(b, "profile."+name) {
		return
	}
	if confusable.Mixed(name) {
		l.report(mistake.Warning(b.At, "Name that may pass for another",
			"Letters of the profile's name %q are of another script than its other letters, or look like Latin ones. Plans show each of them as an escape. Make sure that this name is meant.", name))
	}
	scope := l.config.scope
	n := &eval.Node{
		Root: "profile", Name: name, At: b.At, Arguments: b.InOrder, Policy: b.Policy != nil,
		Compute: func() (cty.Value, hcl.Diagnostics) {
			r := eval.Reader{Scope: scope, Block: b}
			values := map[string]cty.Value{"name": cty.StringVal(name)}
			for _, attribute := range profileAttributes()[1:] {
				get := r.Text
				if attribute == "profile_id" {
					get = r.Required
				}
				values[attribute] = cty.NullVal(cty.String)
				if text, _ := get(attribute); text != "" {
					values[attribute] = cty.StringVal(text)
				}
			}
			return cty.ObjectVal(values), r.Diags
		},
	}
	if b.Incomplete {
		n.Progress = eval.Failed
	}
	scope.Add(n)
}

// ProfileNames are the names of the address book by profile_id. Of two profiles with one
// profile_id neither is listed: the ID alone would not say which is meant.
func (c *Configuration) ProfileNames() map[string]string {
	names := make(map[string]string)
	ambiguous := make(map[string]bool)
	for _, n := range c.scope.InOrder {
		if n.Root != "profile" || n.Progress != eval.Known {
			continue
		}
		id := n.Value.GetAttr("profile_id")
		if id.IsNull() {
			continue
		}
		if _, taken := names[id.AsString()]; taken {
			ambiguous[id.AsString()] = true
		}
		names[id.AsString()] = n.Name
	}
	for id := range ambiguous {
		delete(names, id)
	}
	return names
}
