package config

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"remit/config/mistake"
	"remit/internal/text/lazyregexp"
	"remit/internal/text/shell"
)

// quotes are the quotation marks that a shell, a file of an environment or a text processor can leave around a
// value.
var quotes = []string{`""`, "''", "“”", "‘’", "„“", "«»"}

// unwrapped is a text without the spaces and the quotation marks around it.
func unwrapped(text string) string {
	text = strings.TrimSpace(text)
	for _, pair := range quotes {
		marks := []rune(pair)
		inner, opens := strings.CutPrefix(text, string(marks[0]))
		if inner, closes := strings.CutSuffix(inner, string(marks[1])); opens && closes {
			return strings.TrimSpace(inner)
		}
	}
	return text
}

// strayMarks reports text for a variable of text whose marks the shell was to take away: they would become part of
// the value, and of each ref_id that is made from it, which is another payment then. Spaces alone are a value.
func (vs *variables) strayMarks(v *variable, text, source string) *hcl.Diagnostic {
	isText := v.typ == cty.String || v.typ == cty.DynamicPseudoType
	inner := unwrapped(text)
	if !v.literal || !isText || inner == text || strings.TrimSpace(text) == "" {
		return nil
	}
	what := "begins or ends with a space"
	switch {
	case inner != strings.TrimSpace(text):
		what = "has quotation marks around it"
	case strings.TrimRight(text, "\r\n") == inner && strings.Contains(text, "\r"):
		what = "ends with a carriage return, as the lines of a file from Windows do"
	case strings.Trim(text, "\r\n") == inner:
		what = "begins or ends with a line break"
	case strings.Trim(text, "\t") == inner:
		what = "begins or ends with a tab"
	}
	correct := "the value without them"
	if !v.Sensitive { // else the text may be a secret
		correct = shell.Word(inner)
		if source == optionVar {
			correct = "--var=" + shell.Word(v.Name+"="+inner)
		}
	}
	return mistake.Placeless("Value with marks around it",
		"The value that %s gives to var.%s %s, which would be part of the value. Write %s. Where they belong to the value, write it in a file of variables.",
		source, v.Name, what, correct)
}

// exampleOf shows how a list or a map is given as text; "" for any other type.
func (v *variable) exampleOf(text, source string) string {
	example := ""
	switch t := v.typ; {
	case t.IsListType() || t.IsSetType() || t.IsTupleType():
		items := []string{"a", "b"}
		if !v.Sensitive && plainItems.MatchString(text) {
			items = strings.Split(strings.NewReplacer(" ", "", "[", "", "]", "").Replace(text), ",")
		}
		example = "[" + strings.Join(mistake.QuotedAll(items), ", ") + "]"
	case t.IsMapType() || t.IsObjectType():
		example = `{ a = "1", b = "2" }`
	default:
		return ""
	}
	if source == optionVar {
		return " It is written so:\n\n  --var=" + shell.Word(v.Name+"="+example)
	}
	return " It is written so:\n\n  " + shell.Word(example)
}

// plainItems are words with commas between them, which people write for a list.
var plainItems = lazyregexp.New(`^\[?[\w.-]+( ?, ?[\w.-]+)*\]?$`)

// optionVar is what messages call a value of the command line.
const optionVar = "--var"

// strayName reports a name with space around it: NAME = VALUE, as a file has it.
func (vs *variables) strayName(name, value string) *hcl.Diagnostic {
	correct := "--var=" + name + "=VALUE"
	if v := vs.named(name); v != nil && !v.Sensitive {
		correct = "--var=" + shell.Word(name+"="+unwrapped(value))
	}
	return mistake.Placeless("Invalid --var", "--var has a space around the name %q. Write %s.", name, correct)
}

// meantVariable is a sentence about a name that no variable has: which one is meant, or which there are.
func (vs *variables) meantVariable(name string) string {
	names := vs.variableNames()
	if hint := mistake.DidYouMean(name, names); hint != "" {
		return hint
	}
	if len(names) == 0 {
		return " The configuration declares no variable: leave it out."
	}
	return " There are: " + mistake.Listed(names, 10) + "."
}

// invalidOption reports a --var that is no NAME=VALUE. It shows a text only where that is the name of a variable: any
// other may be a secret.
func (vs *variables) invalidOption(text string) *hcl.Diagnostic {
	name, _, hasSign := strings.Cut(text, "=")
	name = strings.TrimSpace(name)
	example := "NAME=VALUE"
	if names := vs.variableNames(); len(names) > 0 {
		example = names[0] + "=VALUE"
	}
	detail := "--var has no equals sign between a name and a value. Write, such as:"
	before, _, _ := strings.Cut(name, ":")
	switch {
	case strings.TrimSpace(text) == "":
		detail = "--var is empty. Is a variable of the shell not set? Write, such as:"
	case hasSign:
		detail = "--var has no name before the equals sign. Is a variable of the shell not set? Write, such as:"
	case vs.named(name) != nil:
		detail, example = fmt.Sprintf("--var=%s has no value. Write it behind an equals sign:", name), name+"=VALUE"
	case vs.named(before) != nil:
		detail, example = fmt.Sprintf("--var has a colon behind %s. Write an equals sign:", before), before+"=VALUE"
	}
	if len(vs.all) == 0 {
		return mistake.Placeless("Invalid --var", "%s and the configuration declares no variable. Leave it out.", strings.TrimRight(strings.SplitAfter(detail, ". ")[0], ". ")+",")
	}
	return mistake.Placeless("Invalid --var", "%s\n\n  --var=%s", detail, example)
}

// checkWritten refuses what computes a value where a value is written out: 2026-11 is 2015. Content is the file.
func (vs *variables) checkWritten(v *variable, expr hcl.Expression, content []byte) *hcl.Diagnostic {
	tree, ok := expr.(hclsyntax.Expression)
	if !ok || !computes(tree) {
		return nil
	}
	line := v.Name + " = \"2026-11\""
	_, isWhole := tree.(*hclsyntax.BinaryOpExpr) // and no list with one of them
	if text := string(expr.Range().SliceBytes(content)); isWhole && !v.Sensitive && !strings.ContainsAny(text, "\"\n") {
		line = v.Name + " = \"" + text + "\""
	}
	return mistake.New(expr.Range(), "Value is computed",
		"The value of var.%s must be written out, and is not computed: 2026-11 without quotation marks would be the number 2015. Write text in quotation marks, as in:\n\n  %s", v.Name, line)
}

// computes reports whether a tree has more than literals, templates and collections of them. A reference is
// another mistake.
func computes(tree hclsyntax.Expression) bool {
	found := false
	_ = hclsyntax.VisitAll(tree, func(node hclsyntax.Node) hcl.Diagnostics {
		switch n := node.(type) {
		case *hclsyntax.BinaryOpExpr, *hclsyntax.ConditionalExpr, *hclsyntax.ForExpr, *hclsyntax.IndexExpr, *hclsyntax.SplatExpr:
			found = true
		case *hclsyntax.UnaryOpExpr:
			_, isLiteral := n.Val.(*hclsyntax.LiteralValueExpr)
			found = found || n.Op != hclsyntax.OpNegate || !isLiteral
		}
		return nil
	})
	return found
}
