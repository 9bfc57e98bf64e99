package config

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/config/syntax"
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
	c.warnOfTwin(b)
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

// warnOfTwin warns of a profile that has all IDs of another one of its file, as where a block was copied.
func (c *checker) warnOfTwin(b *eval.Block) {
	var ids []string
	for _, name := range []string{"profile_id", "identity_id", "account_id"} {
		a := b.Arguments[name]
		if a == nil {
			ids = append(ids, "")
			continue
		}
		value, isText := syntax.LiteralText(a.Expr)
		if !isText {
			return
		}
		ids = append(ids, strings.ToLower(transfer.PartySpelled(value.AsString())))
	}
	key := b.At.Filename + "\n" + strings.Join(ids, "\n")
	first := c.profiles[key]
	if first == nil {
		c.profiles[key] = b
		return
	}
	if at := b.Arguments["profile_id"]; at != nil {
		c.report(mistake.Warning(at.Expr.Range(), "Two profiles are one",
			"profile.%s at %s has the same ID. Correct the one that was copied, or name one profile in the place of both.", first.Label(0), mistake.At(first.At)))
	}
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
