package config

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
	"remit/config/mistake"
)

// emptyBlocks refuses a block in a file of JSON that is null or an empty list. HCL passes over it, so that a control would be there for a reader of the
// file, and for nobody else.
func emptyBlocks(sources []sourceFile, kinds []eval.Kind) (diags hcl.Diagnostics) {
	for _, source := range sources {
		if isJSON(source.name) {
			diags = append(diags, emptyBlocksOf(source.file.Body, kinds)...)
		}
	}
	return diags
}

func emptyBlocksOf(body hcl.Body, kinds []eval.Kind) (diags hcl.Diagnostics) {
	attributes, _ := body.JustAttributes() // mistakes are those of the blocks
	for _, kind := range kinds {
		a := attributes[kind.Name]
		if a == nil {
			continue
		}
		if value, wrong := a.Expr.Value(nil); !wrong.HasErrors() {
			for _, name := range emptyIn(nil, kind, len(kind.Labels), value, kind.Name) {
				diags = append(diags, mistake.New(a.NameRange, "Block without a body",
					"%s is null or an empty list, so there is no such block. Give it its arguments, or remove it.", name))
			}
		}
	}
	return diags
}

// emptyIn appends the names of the blocks of a kind that a value has without a body, where so many labels are still to come.
func emptyIn(all []string, kind eval.Kind, labels int, value cty.Value, name string) []string {
	ty := value.Type()
	switch {
	case value.IsNull(), ty.IsTupleType() && value.LengthInt() == 0:
		return append(all, name)
	case ty.IsTupleType():
		for _, item := range value.Elements() {
			all = emptyIn(all, kind, labels, item, name)
		}
	case !ty.IsObjectType():
	case labels > 0:
		for key, item := range value.Elements() {
			if label := key.AsString(); label != "//" { // a comment
				all = emptyIn(all, kind, labels-1, item, fmt.Sprintf("%s %q", name, label))
			}
		}
	default:
		for _, nested := range kind.Nested {
			if ty.HasAttribute(nested.Name) {
				all = emptyIn(all, nested, len(nested.Labels), value.GetAttr(nested.Name), nested.Name+" in "+name)
			}
		}
	}
	return all
}
