package config

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/internal/text/confusable"
	"remit/internal/transfer"
)

func profileKind() eval.Kind {
	return eval.Kind{
		Name: "profile", Labels: []string{"name"},
		Required: []string{"profile_id"}, Optional: []string{"identity_id", "account_id", "description", "display_name"},
		Policy: true, Shared: true,
	}
}

// profileAttributes are what a profile has as a value.
func profileAttributes() []string {
	return []string{"name", "description", "profile_id", "identity_id", "account_id", "display_name"}
}

func readProfile(c *checker, b *eval.Block) {
	name := b.Label(0)
	if !c.declareNamed(b, "profile."+name) {
		return
	}
	if confusable.Mixed(name) {
		c.report(mistake.Warning(b.At, "Name that may pass for another",
			"Letters of the profile's name %q are of another script than its other letters, or look like Latin ones. Plans show each of them as an escape. Make sure that this name is meant.", name))
	}
	scope := c.scope
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
				text, at := get(attribute)
				if attribute == "display_name" && text != "" {
					r.Diags = append(r.Diags, checkDisplayName(text, at.Expr.Range())...)
				}
				if text != "" {
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

// checkDisplayName says why a text can't be shown as a name, and warns of one that may pass for another.
func checkDisplayName(text string, at hcl.Range) hcl.Diagnostics {
	if err := transfer.CheckDisplayName(text); err != nil {
		return hcl.Diagnostics{mistake.New(at, displayNameInvalid, "display_name %s", mistake.Sentence(err))}
	}
	if confusable.Mixed(text) {
		return hcl.Diagnostics{mistake.Warning(at, "Name that may pass for another",
			"Letters of the display name %q are of another script than its other letters, or look like Latin ones. Plans show each of them as an escape. Make sure that this name is meant.", text)}
	}
	return nil
}

const displayNameInvalid = "Invalid display name"
