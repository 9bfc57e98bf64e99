package syntax

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"remit/config/mistake"
)

// checkKeys refuses an object that has a literal key twice. HCL keeps the last one without a word:
// a payment that an author wrote down would be lost.
func checkKeys(tree hclsyntax.Expression) hcl.Diagnostics {
	return hclsyntax.VisitAll(tree, func(n hclsyntax.Node) hcl.Diagnostics {
		object, ok := n.(*hclsyntax.ObjectConsExpr)
		if !ok {
			return nil
		}
		return checkKeysOfObject(object)
	})
}

// checkKeysOfObject is checkKeys for one object.
func checkKeysOfObject(object *hclsyntax.ObjectConsExpr) hcl.Diagnostics {
	if len(object.Items) < 2 {
		return nil
	}
	var diags hcl.Diagnostics
	first := make(map[string]hcl.Range, len(object.Items))
	for _, item := range object.Items {
		name, isWritten := LiteralKey(item.KeyExpr)
		if !isWritten {
			key, wrong := item.KeyExpr.Value(nil)
			key, err := convert.Convert(key, cty.String)
			if wrong.HasErrors() || err != nil || !IsText(key) {
				continue // it hangs on names, and is not written out
			}
			name = cty.NormalizeString(key.AsString())
		}
		if before, twice := first[name]; twice {
			diags = append(diags, mistake.New(item.KeyExpr.Range(), "Key stands twice",
				"The key %q stands at %s already: of the two values only the last would count.", name, mistake.At(before)))
			continue
		}
		first[name] = item.KeyExpr.Range()
	}
	return diags
}
