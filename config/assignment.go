package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
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
// in the order of their names, the chosen environment block, and then the command line from left to right.
func (vs *variables) assign(opts Options, dir string, sources *sourceFiles, environments []*eval.Block, chosen *eval.Block) {
	set := make(map[*variable]cty.Value) // by the environment
	for _, v := range vs.all {
		if text := opts.Getenv(environmentPrefix + v.Name); text != "" {
			vs.assignText(v, text, "the environment variable "+environmentPrefix+v.Name)
			set[v] = v.Value
		}
	}
	vs.warnOfEnvironment(opts)
	vs.warnOfNames(opts)
	for _, name := range vs.files(sources.root, opts) {
		content, err := sources.root.Read(name, sourceBytesMax)
		vs.assignFile(name, content, err)
	}
	vs.assignEnvironment(environments, chosen, sources.files)
	for _, a := range opts.Assignments {
		if a.Name != "" {
			vs.assignValue(a)
			continue
		}
		if a.File == "" {
			vs.assignOption(a)
			continue
		}
		content, err := readOutside(dir, a.File, sourceBytesMax)
		if errors.Is(err, fs.ErrNotExist) {
			err = missingFile(dir, a.File, otherVariableFiles(sources.root), err)
		}
		vs.assignFile(a.File, content, err)
	}
	for _, v := range vs.all {
		vs.warnOfTerraform(v, opts)
		vs.finish(v)
	}
	vs.warnOfEmpty(opts)
	warnOfOverruled(vs, set, opts)
	if names := vs.unread(opts); len(names) > 0 && opts.Need == NeedAll && !opts.ElsewhereToo {
		vs.report(NotDeclared(names, vs.variableNames()))
	}
}

// warnOfOverruled warns where a file or a block gives a variable another value than the environment, which is set for this
// run: a schedule that names the month there would go on with that of the file. The command line is of this run as well.
func warnOfOverruled(vs *variables, set map[*variable]cty.Value, opts Options) {
	for _, v := range vs.all {
		of, isSet := set[v]
		isTyped := slices.ContainsFunc(opts.Assignments, func(a Assignment) bool { return a.File != "" && a.File == v.assignedAt.Filename })
		if !isSet || isTyped || of == cty.NilVal || v.assignedAt == (hcl.Range{}) || v.Value.RawEquals(of) {
			continue
		}
		d := placelessWarning("Variable of the environment is overruled",
			"%s%s is set, and %s gives var.%[2]s another value, which counts. To give one for a single run, say --var=%[2]s=VALUE.", environmentPrefix, v.Name, v.assignedAt.Filename)
		if !v.Sensitive { // else its line would be shown
			d.Subject = v.assignedAt.Ptr()
		}
		vs.report(d)
	}
}

// missingFile says which file of variables may be meant where there is none of the given name.
func missingFile(dir, name string, others []string, err error) error {
	for _, ending := range variableEndings {
		if _, other := readOutside(dir, name+ending, sourceBytesMax); other == nil {
			return fmt.Errorf("%w. There is %s:\n\n  --var-file=%[2]s", err, name+ending)
		}
	}
	meant, isNear := strings.CutPrefix(mistake.DidYouMean(name, others), " Did you mean \"")
	switch {
	case strings.ContainsAny(name, "*?["):
		return fmt.Errorf("%w. --var-file names one file and has no wildcards. Name each file by a flag of its own, such as:\n\n  --var-file=%s", err, append(others, "november.hclvars")[0])
	case isNear:
		return fmt.Errorf("%w. Did you mean:\n\n  --var-file=%s", err, strings.TrimSuffix(meant, "\"?"))
	case len(others) > 0:
		return fmt.Errorf("%w. There are: %s", err, mistake.Listed(others, 5))
	}
	return err
}

// otherVariableFiles are the files of variables in a directory that are read only where somebody names them.
func otherVariableFiles(root *confined.Directory) []string {
	var others []string
	names, _ := root.Names(".") // an error of which is told where the files are read
	for _, name := range names {
		stem, isOne := strings.CutSuffix(strings.TrimSuffix(name, ".json"), variableEndings[0])
		if isOne && stem != "remit" && !strings.HasSuffix(stem, ".auto") {
			others = append(others, name)
		}
	}
	return others
}

// variableEndings are those of the names of files of variables.
var variableEndings = []string{".hclvars", ".hclvars.json"}

// unread are the variables of the environment that name a variable which is not declared, in order, without those of which warnOfTerraform
// tells.
func (vs *variables) unread(opts Options) []string {
	if opts.Environ == nil {
		return nil
	}
	var names []string
	for _, pair := range opts.Environ() {
		whole, value, _ := strings.Cut(pair, "=")
		name, isOurs := strings.CutPrefix(whole, environmentPrefix)
		if isOurs && name != "" && value != "" && vs.named(name) == nil && !slices.ContainsFunc(vs.all, func(v *variable) bool { return v.misspelt(name) }) {
			names = append(names, whole)
		}
	}
	slices.Sort(names)
	return names
}

// NotDeclared warns of variables of the environment that set nothing, where variables of these names are declared.
func NotDeclared(names, declared []string) *hcl.Diagnostic {
	if len(names) == 1 {
		name := strings.TrimPrefix(names[0], environmentPrefix)
		return placelessWarning("Variable of the environment is not read",
			"%s is set, and no variable %q is declared, so its value is not used.%s", names[0], name, mistake.DidYouMean(name, declared))
	}
	return placelessWarning("Variable of the environment is not read",
		"%s are set, and no variables of these names are declared, so their values are not used.", mistake.Listed(names, 10))
}

// files are the files that are read without being asked for, in their order.
func (vs *variables) files(root *confined.Directory, opts Options) []string {
	entries, err := root.Names(".")
	if err != nil {
		vs.report(mistake.Placeless("Directory cannot be read", "%s", mistake.Sentence(err)))
		return nil
	}
	var names, automatic, all []string
	for _, name := range entries { // in order
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
	vs.warnOfFiles(root, all, opts)
	vs.warnOfUnnamed(root, all, opts)
	return append(names, automatic...)
}

func (vs *variables) named(name string) *variable {
	i := slices.IndexFunc(vs.all, func(v *variable) bool { return v.Name == name })
	if i < 0 {
		return nil
	}
	return vs.all[i]
}

func (vs *variables) variableNames() []string {
	var names []string
	for _, v := range vs.all {
		names = append(names, v.Name)
	}
	return names
}

// assignFile takes a file of assignments in. A name that is not declared is a warning, as
// one file may serve several configurations.
func (vs *variables) assignFile(name string, content []byte, err error) {
	if variable, _, isAssignment := strings.Cut(name, "="); err != nil && isAssignment && hclsyntax.ValidIdentifier(variable) {
		vs.report(mistake.Placeless("File of variables cannot be read", "--var-file=%s=… names no file that is there. A value, which may be a secret and is not shown, is given by the other flag:\n\n  --var=%s=VALUE", variable, variable))
		return
	}
	if err != nil {
		vs.report(mistake.Placeless("File of variables cannot be read", "%s: %s", name, mistake.Sentence(err)))
		return
	}
	parse := syntax.Parse
	if strings.HasSuffix(name, ".json") {
		parse = syntax.ParseJSON
	}
	file, diags := parse(content, name)
	diags = syntax.Explain(content, name, diags, false)
	vs.report(diags...)
	if diags.HasErrors() {
		return
	}
	attributes, diags := file.Body.JustAttributes()
	for _, d := range diags {
		d.Summary, d.Detail = "Block in a file of variables", "A file of variables has values alone. Move the block to a file of the configuration, whose name ends in .hcl, such as main.hcl."
	}
	vs.report(diags...)
	for _, key := range slices.Sorted(maps.Keys(attributes)) {
		attribute := attributes[key]
		v := vs.named(key)
		if v == nil {
			vs.report(mistake.Warning(attribute.NameRange, "Variable is not declared",
				"No variable %q is declared, so this value is not used.%s", key, mistake.DidYouMean(key, vs.variableNames())))
			continue
		}
		expr, diags := literalTree(attribute.Expr)
		vs.report(diags...)
		if diags.HasErrors() {
			v.Progress = eval.Failed
			continue
		}
		value, diags := expr.Value(nil)
		if d := vs.checkWritten(v, expr, content); d != nil && len(expr.Variables()) == 0 {
			diags = hcl.Diagnostics{d}
		}
		vs.report(explainLiteral(diags, "A value of a file of variables is a text in quotation marks, a number, a list or a map, such as", key+" = \"2026-11\"")...)
		if diags.HasErrors() {
			v.Progress = eval.Failed
			continue
		}
		vs.set(v, value, attribute.Expr.Range())
	}
}

// literalTree is native without templates in JSON: a value of a variable is no template.
func literalTree(expr hcl.Expression) (hcl.Expression, hcl.Diagnostics) {
	if tree, ok := expr.(hclsyntax.Expression); ok {
		return tree, syntax.CheckNumbers(tree)
	}
	return expr, nil
}

// assignValue takes a value of a test in. Where it is of a sensitive variable, no message shows its
// place.
func (vs *variables) assignValue(a Assignment) {
	v := vs.named(a.Name)
	if v == nil {
		vs.report(mistake.New(a.At, "Variable is not declared", "No variable %q is declared.%s", a.Name, mistake.DidYouMean(a.Name, vs.variableNames())))
		return
	}
	if v.Sensitive {
		a.At = hcl.Range{}
	}
	vs.set(v, a.Value, a.At)
}

// assignOption takes --var NAME=VALUE in.
func (vs *variables) assignOption(a Assignment) {
	name, value, ok := strings.Cut(a.Var, "=")
	typed := name
	name = strings.TrimSpace(name)
	if !ok || name == "" {
		vs.report(vs.invalidOption(a.Var))
		return
	}
	if name != typed {
		vs.report(vs.strayName(name, value))
		return
	}
	v := vs.named(name)
	if v == nil && a.IfDeclared {
		vs.unassigned = append(vs.unassigned, name)
		return
	}
	if v == nil {
		vs.report(mistake.Placeless("Variable is not declared", "--var names %q, which no variable block declares.%s",
			name, vs.meantVariable(name)))
		return
	}
	if value == "" && v.literal && (v.typ == cty.String || v.typ == cty.DynamicPseudoType) {
		vs.report(placelessWarning("Value is empty", "--var gives var.%s an empty text. Is a variable of the shell not set?", name))
	}
	vs.assignText(v, value, optionVar)
}

// assignText takes text of the command line or the environment: the value itself for a
// variable of a primitive type or of none, else an expression. The text is never shown: it
// may be a secret.
func (vs *variables) assignText(v *variable, text, source string) {
	if d := vs.strayMarks(v, text, source); d != nil {
		v.Progress = eval.Failed
		vs.report(d)
		return
	}
	if v.literal {
		vs.set(v, cty.StringVal(text), hcl.Range{})
		return
	}
	refuse := func() {
		v.Progress = eval.Failed
		vs.report(mistake.New(v.At, "Value is not an expression",
			"The value that %s gives to var.%s is not an expression of HCL without references.%s", source, v.Name, v.exampleOf(text, source)))
	}
	if syntax.CheckNesting([]byte(text), "", hcl.InitialPos, hclsyntax.LexExpression).HasErrors() {
		refuse()
		return
	}
	expr, diags := hclsyntax.ParseExpression([]byte(text), "", hcl.InitialPos)
	if diags.HasErrors() || len(expr.Variables()) > 0 {
		refuse()
		return
	}
	if d := vs.checkWritten(v, expr, []byte(text)); d != nil { // before the numbers: it knows a date
		v.Progress, d.Subject = eval.Failed, v.At.Ptr()
		vs.report(d)
		return
	}
	if syntax.CheckNumbers(expr).HasErrors() {
		refuse()
		return
	}
	value, diags := expr.Value(nil)
	if diags.HasErrors() {
		refuse()
		return
	}
	vs.set(v, value, hcl.Range{})
}

func (vs *variables) set(v *variable, value cty.Value, at hcl.Range) {
	if value, ok := vs.converted(v, value, at); ok {
		v.Value, v.assigned, v.assignedAt = value, true, at
	}
}

// require reports variables without a value. It passes over those that only blocks use which
// nobody needs, and over those whose value may come later: for a token, or for a service that the
// sandbox replaces.
func (vs *variables) require(need Need) {
	isAll := need == NeedAll
	for _, n := range vs.scope.InOrder {
		if isAll && (n.Root == "profile" || n.Root == "batch" || n.Root == "data") {
			vs.use(n, false)
		}
	}
	for _, v := range vs.all {
		isUsed := vs.usedNow[v.Node] || isAll && !vs.usedLater[v.Node]
		if len(v.Missing) > 0 && v.Progress != eval.Failed && isUsed {
			vs.report(missingValue(v.Node))
		}
	}
}

func missingValue(n *eval.Node) *hcl.Diagnostic {
	return mistake.New(n.At, "Variable has no value",
		"var.%s has no default and was not set. Set it by --var=%s=VALUE, %s%s, or a line in remit.hclvars.",
		n.Name, n.Name, environmentPrefix, n.Name)
}
