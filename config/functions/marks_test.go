package functions_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"remit/config/functions"
)

// keeping are calls of the functions that return an argument, elements of one, or a collection of them: each with the marked parts of its
// result. The value o has the attributes date and due, of which due is marked; d is a marked text.
var keeping = map[string]string{
	`chunklist([o, o], 1)`:                         "[0][0].due [1][0].due",
	`coalesce(o)`:                                  ".due",
	`coalesce(null, o)`:                            ".due",
	`coalesce("", o.date, d)`:                      "",
	`coalesce(none, o.date)`:                       "whole", // by a mark on a value that it passes over
	`coalescelist([], [o])`:                        "[0].due",
	`compact([o.date, d])`:                         "[1]",
	`compact([o.date, empty])`:                     "whole",
	`concat([o], ["x"])`:                           "[0].due",
	`distinct([o, p])`:                             "[0].due [1].due",
	`distinct([o.date, "x"])`:                      "",
	`distinct([o, q])`:                             "whole", // they differ in their marked parts alone
	`element([o, p], 3)`:                           ".due",
	`flatten([[o], [[p]]])`:                        "[0].due [1].due",
	`keys({a = o})`:                                "",
	`length([o])`:                                  "",
	`lookup({a = o}, "a")`:                         ".due",
	`lookup({a = o}, "a", null)`:                   ".due",
	`lookup(tomap({a = o}), "a")`:                  ".due",
	`lookup({a = o}, "b", p)`:                      ".due",
	`lookup({a = "x"}, o.date, "y")`:               "",
	`lookup(tomap({a = "x"}), d, "y")`:             "whole",
	`lookup({a = "x"}, d, "y")`:                    "whole",
	`matchkeys([o, p], ["a", "b"], ["a"])`:         "[0].due",
	`matchkeys(["x", "y"], [d, "b"], ["b"])`:       "whole",
	`merge({a = o}, {b = "x"})`:                    ".a.due",
	`merge(o, {b = "x"})`:                          ".due",
	`one([o])`:                                     ".due",
	`one([d])`:                                     "whole",
	`one(toset([o]))`:                              "whole", // marks of a set are on all of it
	`one([])`:                                      "",
	`reverse([o, "x"])`:                            "[1].due",
	`setproduct([o.date], [o, p])`:                 "[0][1].due [1][1].due",
	`slice([o, p], 1, 2)`:                          "[0].due",
	`tolist([o, p])`:                               "[0].due [1].due",
	`tomap({a = o})`:                               `["a"].due`,
	`try(o)`:                                       ".due",
	`try(o.other, p)`:                              ".due",
	`values({a = o})`:                              "[0].due",
	`zipmap(["a"], [o])`:                           ".a.due",
	`[for e in [o] : e][0]`:                        ".due",
	`[o][*].due`:                                   "[0]",
	`[o][0]`:                                       ".due",
	`{ for e in [o] : e.date => e }["2026-11-25"]`: ".due",
	`true ? o : p`:                                 ".due",
	`{ for e in [o, p] : e.date => e... }`:         ".2026-11-25[0].due .2026-12-25[0].due",
}

// making are the functions whose result is made of the texts of their arguments: a mark on a part is one on all of it.
const making = `
	abs allocate alltrue anytrue base64decode base64encode base64sha256 base64sha512 basename can ceil chomp contains csvdecode decimal_add
	decimal_cmp decimal_div decimal_mul decimal_round decimal_sub decimal_sum dirname endswith file filebase64 filebase64sha256
	filebase64sha512 fileexists filemd5 fileset filesha1 filesha256 filesha512 floor format formatdate formatlist indent index issensitive
	join jsondecode jsonencode log lower max md5 min parseint pow range regex regexall replace sensitive setintersection setsubtract setunion
	sha1 sha256 sha512 signum sort split startswith strcontains strrev substr sum templatefile templatestring textdecodebase64
	textencodebase64 timeadd timecmp title tobool tonumber toset tostring transpose trim trimprefix trimspace trimsuffix upper urlencode
	uuidv5 yamldecode yamlencode`

// TestAnElementThatIsReturnedKeepsItsMarks says that an attribute of an occurrence that a holiday moves leaves the others as they are.
func TestAnElementThatIsReturnedKeepsItsMarks(t *testing.T) {
	mark := functions.Mark("moved")
	of := func(date, due string) cty.Value {
		return cty.ObjectVal(map[string]cty.Value{"date": cty.StringVal(date), "due": cty.StringVal(due).Mark(mark)})
	}
	for expression, want := range keeping {
		t.Run(expression, func(t *testing.T) {
			parsed, diags := hclsyntax.ParseExpression([]byte(expression), "test", hcl.InitialPos)
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			value, diags := parsed.Value(&hcl.EvalContext{
				Functions: functions.Table(nil),
				Variables: map[string]cty.Value{
					"o":     of("2026-11-25", "2026-11-25T09:00:00Z"),
					"p":     of("2026-12-25", "2026-12-24T09:00:00Z"),
					"q":     of("2026-11-25", "2026-11-26T09:00:00Z"),
					"d":     cty.StringVal("x").Mark(mark),
					"empty": cty.StringVal("").Mark(mark),
					"none":  cty.NullVal(cty.String).Mark(mark),
				},
			})
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			_, marked := value.UnmarkDeepWithPaths()
			var paths []string
			for _, at := range marked {
				paths = append(paths, pathText(at.Path))
			}
			slices.Sort(paths)
			if diff := cmp.Diff(want, strings.Join(paths, " ")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// pathText is a path as HCL writes it; "whole" for none.
func pathText(path cty.Path) string {
	if len(path) == 0 {
		return "whole"
	}
	text := ""
	for _, step := range path {
		switch step := step.(type) {
		case cty.GetAttrStep:
			text += "." + step.Name
		case cty.IndexStep:
			if step.Key.Type() == cty.String {
				text += fmt.Sprintf("[%q]", step.Key.AsString())
			} else {
				text += fmt.Sprintf("[%s]", step.Key.AsBigFloat().String())
			}
		}
	}
	return text
}

// TestEachFunctionIsSaidToKeepMarksOrNot holds both tables above to the functions that there are.
func TestEachFunctionIsSaidToKeepMarksOrNot(t *testing.T) {
	said := map[string]bool{}
	for _, name := range strings.Fields(making) {
		said[name] = true
	}
	for expression := range keeping {
		if name, _, isCall := strings.Cut(expression, "("); isCall && hclsyntax.ValidIdentifier(name) {
			if said[name] = true; slices.Contains(strings.Fields(making), name) {
				t.Errorf("%s is in both tables", name)
			}
		}
	}
	for name := range functions.Table(nil) {
		if !said[name] {
			t.Errorf("%s is neither in keeping nor in making", name)
		}
		delete(said, name)
	}
	for name := range maps.Keys(said) {
		t.Errorf("%s is no function", name)
	}
}
