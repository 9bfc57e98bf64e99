package functions

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"

	"remit/config/meter"
)

// templateSizeMax bounds the source of a template, because the parser recurses: most of
// what nests takes several bytes a level, and brackets and signs have nestingMax.
const templateSizeMax = 1 << 20

// templateFunctions call those of table from within a template.
func templateFunctions(f files, table map[string]function.Function, m *meter.Meter) map[string]entry {
	return map[string]entry{
		"templatefile": {templateFunction("path", table, m, func(name string) (string, string, error) {
			source, err := f.read(name)
			return name, string(source), err
		}), "The text of a template file of the directory, with its variables from an object. A template calls no other template."},
		"templatestring": {templateFunction("template", table, m, func(source string) (string, string, error) {
			return "template", source, nil
		}), "The text of a template string, with its variables from an object. A template calls no other template."},
	}
}

// templateFunction renders what load returns for its first argument: a name for messages,
// and the source.
func templateFunction(param string, table map[string]function.Function, m *meter.Meter, load func(string) (string, string, error)) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{parameter(param, cty.String), parameter("vars", cty.DynamicPseudoType)},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if ty := args[1].Type(); !ty.IsObjectType() && !ty.IsMapType() {
				return cty.NilVal, function.NewArgErrorf(1, "an object or a map is needed, not %s", ty.FriendlyName())
			}
			name, source, err := load(args[0].AsString())
			if err != nil {
				return cty.NilVal, function.NewArgError(0, err)
			}
			template, err := parseTemplate(name, source)
			if err != nil {
				return cty.NilVal, function.NewArgError(0, err)
			}
			m.Wrap(template, false)
			return render(template, args[1].AsValueMap(), table)
		},
	})
}

func parseTemplate(name, source string) (hclsyntax.Expression, error) {
	switch {
	case len(source) > templateSizeMax:
		return nil, fmt.Errorf("%q is larger than %d MiB", name, templateSizeMax>>20)
	case !utf8.ValidString(source):
		return nil, fmt.Errorf("%q is not UTF-8 text", name)
	}
	if nestsTooDeep(source) {
		return nil, fmt.Errorf("%q has brackets or signs that are nested more than %d deep", name, nestingMax)
	}
	template, diags := hclsyntax.ParseTemplate([]byte(source), name, hcl.InitialPos)
	return template, diagnosed(diags)
}

// nestsTooDeep counts open brackets and the signs in a row: before a term of a template, or
// dashes of YAML lists within lists. Those in quotes count as well: it errs on the side that
// keeps the stack whole.
func nestsTooDeep(source string) bool {
	brackets, signs := 0, 0
	for i := range len(source) {
		switch source[i] {
		case '(', '[', '{':
			brackets++
		case ')', ']', '}':
			brackets--
		case '!', '-':
			signs++
			continue
		case ' ', '\t', '\r', '\n':
			continue
		}
		if brackets > nestingMax || signs > nestingMax {
			return true
		}
		signs = 0
	}
	return signs > nestingMax
}

func render(template hclsyntax.Expression, vars map[string]cty.Value, table map[string]function.Function) (cty.Value, error) {
	for name := range vars {
		if !hclsyntax.ValidIdentifier(name) {
			return cty.NilVal, function.NewArgErrorf(1, "%s cannot be the name of a variable", clip(name))
		}
	}
	for _, traversal := range template.Variables() {
		if _, ok := vars[traversal.RootName()]; !ok {
			at := traversal.SourceRange()
			return cty.NilVal, function.NewArgErrorf(1, "there is no %q in it, which the template uses at %s:%d,%d; it has %s",
				traversal.RootName(), at.Filename, at.Start.Line, at.Start.Column, listed(vars))
		}
	}
	value, diags := template.Value(&hcl.EvalContext{Variables: vars, Functions: table})
	if err := diagnosed(diags); err != nil {
		return cty.NilVal, function.NewArgError(0, err)
	}
	value, err := convert.Convert(value, cty.String)
	if plain, _ := value.Unmark(); err != nil || plain.IsNull() {
		return cty.NilVal, function.NewArgErrorf(0, "the template is no text")
	}
	return value, nil
}

func listed(vars map[string]cty.Value) string {
	if len(vars) == 0 {
		return "nothing"
	}
	return strings.Join(slices.Sorted(maps.Keys(vars)), ", ")
}

// diagnosed is the error of diagnostics, each on a line with its place in the template.
func diagnosed(diags hcl.Diagnostics) error {
	var errs []error
	for _, diag := range diags {
		if diag.Severity != hcl.DiagError {
			continue
		}
		place := ""
		if diag.Subject != nil {
			place = fmt.Sprintf("%s:%d,%d: ", diag.Subject.Filename, diag.Subject.Start.Line, diag.Subject.Start.Column)
		}
		errs = append(errs, fmt.Errorf("%s%s: %s", place, diag.Summary, diag.Detail))
	}
	return errors.Join(errs...)
}
