package config

import (
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
	"remit/config/mistake"
	"remit/config/syntax"
	"remit/internal/files/confined"
)

// environmentPrefix is before the name of a variable in the environment.
const environmentPrefix = "REMIT_VAR_"

// assign gives every variable its value, in Terraform's order of precedence: its default,
// the environment, remit.hclvars, remit.hclvars.json, *.auto.hclvars and *.auto.hclvars.json
// in the order of their names, and then the command line from left to right.
func (l *loader) assign() {
	for _, v := range l.variables {
		if text := l.config.options.Getenv(environmentPrefix + v.Name); text != "" {
			l.assignText(v, text, "the environment variable "+environmentPrefix+v.Name)
		}
	}
	for _, name := range l.variableFiles() {
		content, err := confined.Read(l.config.sources.root, name, sourceBytesMax)
		l.assignFile(name, content, err)
	}
	for _, a := range l.config.options.Assignments {
		if a.Name != "" {
			l.assignValue(a)
			continue
		}
		if a.File == "" {
			l.assignOption(a.Var)
			continue
		}
		content, err := readNamed(l.config.Dir, a.File, sourceBytesMax)
		l.assignFile(a.File, content, err)
	}
	for _, v := range l.variables {
		l.warnOfTerraform(v)
		l.finish(v)
	}
}

// readNamed reads a file that somebody named on the command line.
func readNamed(dir, name string, limit int64) ([]byte, error) {
	file, err := confined.OpenNamed(dir, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // only read
	content, err := confined.ReadAtMost(file, limit)
	return content, confined.Plain(err)
}

// variableFiles are the files that are read without being asked for, in their order.
func (l *loader) variableFiles() []string {
	entries, err := os.ReadDir(l.config.Dir)
	if err != nil {
		l.report(mistake.Placeless("Directory cannot be read", "%s", mistake.Sentence(err)))
		return nil
	}
	var names, automatic, all []string
	for _, entry := range entries { // sorted by name
		name := entry.Name()
		if strings.HasPrefix(name, ".") {
			continue
		}
		all = append(all, name)
		if strings.HasSuffix(name, ".auto.hclvars") || strings.HasSuffix(name, ".auto.hclvars.json") {
			automatic = append(automatic, name)
		}
		if name == "remit.hclvars" || name == "remit.hclvars.json" {
			names = append(names, name)
		}
	}
	l.warnOfVariableFiles(all)
	return append(names, automatic...)
}

func (l *loader) variable(name string) *variable {
	i := slices.IndexFunc(l.variables, func(v *variable) bool { return v.Name == name })
	if i < 0 {
		return nil
	}
	return l.variables[i]
}

func (l *loader) variableNames() []string {
	var names []string
	for _, v := range l.variables {
		names = append(names, v.Name)
	}
	return names
}

// assignFile takes a file of assignments in. A name that is not declared is a warning, as
// one file may serve several configurations.
func (l *loader) assignFile(name string, content []byte, err error) {
	if err != nil {
		l.report(mistake.Placeless("File of variables cannot be read", "%s: %s", name, mistake.Sentence(err)))
		return
	}
	parse := syntax.Parse
	if strings.HasSuffix(name, ".json") {
		parse = syntax.ParseJSON
	}
	file, diags := parse(content, name)
	l.report(diags...)
	if diags.HasErrors() {
		return
	}
	attributes, diags := file.Body.JustAttributes()
	l.report(diags...)
	for _, key := range slices.Sorted(maps.Keys(attributes)) {
		attribute := attributes[key]
		v := l.variable(key)
		if v == nil {
			l.report(mistake.Warning(attribute.NameRange, "Variable is not declared",
				"No variable %q is declared, so this value is not used.%s", key, mistake.DidYouMean(key, l.variableNames())))
			continue
		}
		expr, diags := literalTree(attribute.Expr)
		l.report(diags...)
		if diags.HasErrors() {
			v.Progress = eval.Failed
			continue
		}
		value, diags := expr.Value(nil)
		l.report(diags...)
		if diags.HasErrors() {
			v.Progress = eval.Failed
			continue
		}
		l.set(v, value, attribute.Expr.Range())
	}
}

// literalTree is native without templates in JSON: a value of a variable is no template.
func literalTree(expr hcl.Expression) (hcl.Expression, hcl.Diagnostics) {
	if tree, ok := expr.(hclsyntax.Expression); ok {
		return tree, syntax.CheckNumbers(tree)
	}
	return expr, nil
}

// assignValue takes a value of a test in. Where it is of a sensitive variable, no message
// shows where it stands.
func (l *loader) assignValue(a Assignment) {
	v := l.variable(a.Name)
	if v == nil {
		l.report(mistake.New(a.At, "Variable is not declared", "No variable %q is declared.%s", a.Name, mistake.DidYouMean(a.Name, l.variableNames())))
		return
	}
	if v.Sensitive {
		a.At = hcl.Range{}
	}
	l.set(v, a.Value, a.At)
}

// assignOption takes --var NAME=VALUE in.
func (l *loader) assignOption(text string) {
	name, value, ok := strings.Cut(text, "=")
	name = strings.TrimSpace(name)
	if !ok || name == "" {
		l.report(mistake.Placeless("Invalid --var", "--var needs NAME=VALUE."))
		return
	}
	v := l.variable(name)
	if v == nil {
		l.report(mistake.Placeless("Variable is not declared", "--var names %q, which no variable block declares.%s",
			name, mistake.DidYouMean(name, l.variableNames())))
		return
	}
	l.assignText(v, value, "--var")
}

// assignText takes text of the command line or the environment: the value itself for a
// variable of a primitive type or of none, else an expression. The text is never shown: it
// may be a secret.
func (l *loader) assignText(v *variable, text, source string) {
	if v.literal {
		l.set(v, cty.StringVal(text), hcl.Range{})
		return
	}
	refuse := func() {
		v.Progress = eval.Failed
		l.report(mistake.New(v.At, "Value is not an expression",
			"The value that %s gives to var.%s is not an expression of HCL without references.", source, v.Name))
	}
	if syntax.CheckNesting([]byte(text), "", hcl.InitialPos, hclsyntax.LexExpression).HasErrors() {
		refuse()
		return
	}
	expr, diags := hclsyntax.ParseExpression([]byte(text), "", hcl.InitialPos)
	if diags.HasErrors() || syntax.CheckNumbers(expr).HasErrors() {
		refuse()
		return
	}
	value, diags := expr.Value(nil)
	if diags.HasErrors() {
		refuse()
		return
	}
	l.set(v, value, hcl.Range{})
}

func (l *loader) set(v *variable, value cty.Value, at hcl.Range) {
	if value, ok := l.converted(v, value, at); ok {
		v.Value, v.assigned, v.assignedAt = value, true, at
	}
}

// requireVariables reports variables without a value, but for those that are used only
// where a value may come later (for a token, or for a service that the sandbox replaces) or
// by what is not needed.
func (l *loader) requireVariables() {
	isAll := l.config.options.Need == NeedAll
	for _, n := range l.config.scope.InOrder {
		if isAll && (n.Root == "profile" || n.Root == "batch" || n.Root == "data") {
			l.use(n, false)
		}
	}
	for _, v := range l.variables {
		isUsed := l.usedNow[v.Node] || isAll && !l.usedLater[v.Node]
		if len(v.Missing) > 0 && v.Progress != eval.Failed && isUsed {
			l.report(missingValue(v.Node))
		}
	}
}

// use notes which variables without a value n needs, now or not before a token is needed.
func (l *loader) use(n *eval.Node, later bool) {
	for _, missing := range n.Missing {
		if later {
			l.usedLater[missing] = true
		} else {
			l.usedNow[missing] = true
		}
	}
}

func missingValue(n *eval.Node) *hcl.Diagnostic {
	return mistake.New(n.At, "Variable has no value",
		"var.%s has no default and was not set. Set it by --var=%s=VALUE, %s%s, or a line in remit.hclvars.",
		n.Name, n.Name, environmentPrefix, n.Name)
}
