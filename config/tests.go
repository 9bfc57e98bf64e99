package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"remit/config/eval"
	"remit/config/functions"
	"remit/config/meter"
	"remit/config/mistake"
	"remit/config/syntax"
	"remit/internal/files/confined"
	"remit/internal/text/terraform"
)

// testsMax bounds the files of tests that are read together.
const testsMax = 10_000

// Tests are the files of tests of one configuration.
type Tests struct {
	Files   []TestFile // in order of their names
	sources *sourceFiles
}

// TestFile is one file of tests.
type TestFile struct {
	Name string // relative to the configuration's directory
	Runs []TestRun
}

// TestRun is one run block: the input of a plan, and the claims about it.
type TestRun struct {
	Name  string
	At    hcl.Range // its header
	Apply bool      // command = apply
	Now   time.Time // zero where the run says none
	// Assignments and DataFiles are for the [Options] of a Load: those of the file, then those
	// of the run.
	Assignments []Assignment
	DataFiles   []DataFile
	expected    []expectation
	asserts     []assertion
}

// expectation is an entry of expect_failures.
type expectation struct {
	address string
	at      hcl.Range
}

// assertion is an assert block.
type assertion struct {
	condition, message *eval.Argument
}

// LoadTests reads the files of tests in dir, and in its directory below where there is one,
// and reports every mistake in them. It evaluates what they set, and nothing that they assert.
// It is never nil.
func LoadTests(dir, below string) (*Tests, hcl.Diagnostics) {
	t := &Tests{sources: &sourceFiles{whole: true, files: map[string]*hcl.File{}}}
	root, err := confined.OpenDirectory(dir, nil)
	if err != nil {
		return t, hcl.Diagnostics{mistake.Placeless("Directory cannot be read", "%s", mistake.Sentence(err))}
	}
	t.sources.root = root
	if below != "" && !filepath.IsLocal(below) {
		return t, hcl.Diagnostics{mistake.Placeless("Directory of tests is outside", "The directory of tests %q must be in the directory of the configuration.", below)}
	}
	names, err := testNames(root, filepath.ToSlash(below))
	if err != nil {
		return t, hcl.Diagnostics{mistake.Placeless("Directory cannot be read", "%s", mistake.Sentence(err))}
	}
	if len(names) > testsMax {
		return t, hcl.Diagnostics{mistake.Placeless("Too many files of tests", "There are %d files of tests; at most %d are read together.", len(names), testsMax)}
	}
	var all mistake.Set
	for _, name := range names {
		file, diags := t.read(name)
		all.Add(diags)
		t.Files = append(t.Files, file)
	}
	return t, all.Diagnostics()
}

// Sources are the files of tests by the names that diagnostics use.
func (t *Tests) Sources() map[string]*hcl.File { return t.sources.files }

// testNames are the paths of the files of tests. A directory below that is not there has none.
func testNames(root *confined.Directory, below string) ([]string, error) {
	var names []string
	for _, dir := range []string{".", below} {
		if dir == "" {
			continue
		}
		entries, err := root.Names(dir)
		if dir == below && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for _, name := range entries {
			if IsTest(name) {
				names = append(names, path.Join(dir, name))
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// testKinds are the blocks of a file of tests.
func testKinds() []eval.Kind {
	variables := eval.Kind{Name: "variables", Free: true}
	override := eval.Kind{Name: "override_data", Required: []string{"target", "file"}}
	return []eval.Kind{
		{
			Name: "run", Labels: []string{"name"}, Optional: []string{"command", "now", "expect_failures"},
			Nested: []eval.Kind{variables, override, {Name: "assert", Required: []string{"condition", "error_message"}}},
		}, variables, override,
	}
}

// TestLanguage lists the blocks of files of tests, as [Language] does those of configurations.
func TestLanguage() []BlockKind { return described(testKinds()) }

// testReader reads one file of tests.
type testReader struct {
	*checker
	file TestFile
}

func (t *Tests) read(name string) (TestFile, hcl.Diagnostics) {
	file := TestFile{Name: name}
	parsed := parseFile(t.sources.root, name, name, t.sources.split, nil)
	if parsed.file != nil {
		t.sources.files[name] = parsed.file
	}
	if parsed.diags.HasErrors() {
		return file, parsed.diags
	}
	m := meter.New(nil)
	scope := eval.NewScope(functions.TableOf(functions.Directory{Root: t.sources.root}, m), m, attributes(), dataTypes())
	r := &testReader{checker: newChecker(scope), file: file}
	r.read(parsed.file.Body)
	return r.file, r.diags
}

func (r *testReader) read(body hcl.Body) {
	openers := map[string]*eval.Opener{}
	schema := &hcl.BodySchema{}
	for _, kind := range testKinds() {
		openers[kind.Name] = eval.NewOpener(kind, r.scope.Meter)
		schema.Blocks = append(schema.Blocks, hcl.BlockHeaderSchema{Type: kind.Name, LabelNames: kind.Labels})
	}
	content, diags := body.Content(schema)
	for _, d := range diags {
		r.report(inTestsOfTerraform(d))
	}
	var blocks []*eval.Block
	for _, from := range content.Blocks {
		b, diags := openers[from.Type].Open(from)
		r.report(diags...)
		blocks = append(blocks, b)
	}
	ofKind := func(kind string) []*eval.Block {
		return slices.DeleteFunc(slices.Clone(blocks), func(b *eval.Block) bool { return b.Kind != kind })
	}
	shared := r.settings(ofKind("variables"), ofKind("override_data"))
	for _, a := range shared.Assignments { // which the runs may refer to
		r.scope.Add(&eval.Node{Root: "var", Name: a.Name, At: a.At, Progress: eval.Known, Value: a.Value})
	}
	for _, b := range ofKind("run") {
		r.run(b, shared)
	}
	if len(ofKind("run")) == 0 && !diags.HasErrors() {
		r.report(mistake.Placeless("File without tests", "%s has no run block, and so tests nothing. Was it cut off? Mend it, or remove it.", r.file.Name))
	}
}

// inTestsOfTerraform answers a block of a file of Terraform's tests that there is not here.
func inTestsOfTerraform(d *hcl.Diagnostic) *hcl.Diagnostic {
	kind, isUnknown := strings.CutPrefix(d.Detail, `Blocks of type "`)
	kind, _, _ = strings.Cut(kind, `"`)
	if why, isTerraform := terraform.Block(kind); isUnknown && isTerraform {
		return mistake.New(*d.Subject, d.Summary, "There is no %s block in a file of tests. %s", kind, why)
	}
	return d
}

// settings reads what a file or a run sets.
func (r *testReader) settings(variables, overrides []*eval.Block) TestRun {
	var set TestRun
	for _, b := range variables {
		for _, a := range b.InOrder {
			if a.Broken || !r.declare("variables."+a.Name, a.NameAt) {
				continue
			}
			r.resolveArgument(a, eval.NarrowReach(), false)
			value, ok, diags := r.scope.Value(a)
			r.report(diags...)
			if ok {
				set.Assignments = append(set.Assignments, Assignment{Name: a.Name, Value: value, At: a.Expr.Range()})
			}
		}
	}
	for _, b := range overrides {
		if b.Incomplete {
			continue
		}
		target := b.Arguments["target"]
		delete(b.Arguments, "target") // is a reference, and no value
		steps := addressOf(target.Raw)
		if len(steps) != 3 || steps[0] != "data" {
			r.report(mistake.New(target.Expr.Range(), "Not a data source", "target names a data source: data.TYPE.NAME."))
			continue
		}
		r.resolveArgument(b.Arguments["file"], eval.NarrowReach(), false)
		read := eval.Reader{Scope: r.scope, Block: b}
		file, _ := read.Required("file")
		r.report(read.Diags...)
		address := strings.Join(steps, ".")
		if file != "" && r.declare("override_data of "+address, b.At) {
			set.DataFiles = append(set.DataFiles, DataFile{Address: address, File: file, At: target.Expr.Range()})
		}
	}
	return set
}

// addressOf is a reference such as data.csv.payroll, step by step; nil for anything else.
func addressOf(expr hcl.Expression) []string {
	t, diags := hcl.AbsTraversalForExpr(expr)
	if diags.HasErrors() {
		return nil
	}
	steps := []string{t.RootName()}
	for _, step := range t[1:] {
		name, ok := eval.StepName(step, true)
		if !ok {
			return nil
		}
		steps = append(steps, name)
	}
	return steps
}

func (r *testReader) run(b *eval.Block, shared TestRun) {
	name := b.Label(0)
	if name != "" && r.checkIdentifier(name, b.LabelAt[0]) {
		r.declare("run."+name, b.At)
	}
	names := r.names
	r.names = map[string]hcl.Range{} // each run sets what it likes
	defer func() { r.names = names }()
	run := r.settings(b.NestedOf("variables"), b.NestedOf("override_data"))
	run.Name, run.At = name, b.At
	run.Assignments = slices.Concat(shared.Assignments, run.Assignments)
	run.DataFiles = slices.Concat(shared.DataFiles, run.DataFiles)
	if a, ok := b.Arguments["command"]; ok {
		switch hcl.ExprAsKeyword(a.Raw) {
		case "plan":
		case "apply":
			run.Apply = true
		default:
			r.report(mistake.New(a.Expr.Range(), "Unknown command", "command is plan or apply, without quotation marks."))
		}
	}
	if a, ok := b.Arguments["now"]; ok {
		r.resolveArgument(a, eval.NarrowReach(), false)
		read := eval.Reader{Scope: r.scope, Block: b}
		run.Now = read.Time("now")
		r.report(read.Diags...)
	}
	r.expectations(b, &run)
	for _, inner := range b.NestedOf("assert") {
		if !inner.Incomplete {
			run.asserts = append(run.asserts, assertion{inner.Arguments["condition"], inner.Arguments["error_message"]})
		}
	}
	r.file.Runs = append(r.file.Runs, run)
}

func (r *testReader) expectations(b *eval.Block, run *TestRun) {
	a, ok := b.Arguments["expect_failures"]
	if !ok {
		return
	}
	const what = "expect_failures is a list of blocks whose checks fail, such as [var.period, transfer.internal.payroll, data.csv.payroll]."
	items, diags := hcl.ExprList(a.Raw)
	if diags.HasErrors() {
		r.report(mistake.New(a.Expr.Range(), "Not a list of references", what))
		return
	}
	for _, item := range items {
		steps := addressOf(item)
		if len(steps) < 2 {
			r.report(mistake.New(item.Range(), "Not a reference", what))
			continue
		}
		run.expected = append(run.expected, expectation{strings.Join(steps, "."), item.Range()})
	}
}

// Wants reports which attributes of a root, such as plan, the asserts of the run look into.
func (r *TestRun) Wants(root string) func(attribute string) bool {
	wanted, all := map[string]bool{}, false
	for _, a := range r.asserts {
		for _, t := range slices.Concat(a.condition.Expr.Variables(), a.message.Expr.Variables()) {
			if t.RootName() != root {
				continue
			}
			name, ok := "", false
			if len(t) > 1 {
				name, ok = eval.StepName(t[1], true)
			}
			wanted[name], all = true, all || !ok
		}
	}
	return func(attribute string) bool { return all || wanted[attribute] }
}

// Asserts reports whether the run asserts anything.
func (r *TestRun) Asserts() bool { return len(r.asserts) > 0 }

// Check evaluates the asserts of the run over the configuration and over
// given values by name, such as plan. An assert that does not hold is a failure; one that could
// not be evaluated is a mistake.
func (r *TestRun) Check(c *Configuration, given map[string]cty.Value) (failures, mistakes hcl.Diagnostics) {
	within := eval.WideReach()
	within.Given = given
	for _, a := range r.asserts {
		value, ctx, isSecret, ok, diags := c.scope.EvaluateOver(a.condition, within)
		mistakes = append(mistakes, explainAbsent(diags, a.condition.Expr, given["plan"])...)
		switch {
		case !ok:
		case value.IsNull() || value.Type() != cty.Bool:
			mistakes = append(mistakes, mistake.New(a.condition.Expr.Range(), "Not true or false", "The condition of an assert must be true or false."))
		case !value.True():
			failed := mistake.New(a.condition.Expr.Range(), "Assert does not hold", "")
			if !isSecret {
				failed.Expression, failed.EvalContext = a.condition.Expr, ctx
			}
			message, _, isSecret, ok, diags := c.scope.EvaluateOver(a.message, within)
			mistakes = append(mistakes, diags...)
			switch {
			case !ok:
			case isSecret:
				mistakes = append(mistakes, mistake.New(a.message.Expr.Range(), "Message may not show a secret",
					"error_message uses a sensitive value, and is shown."))
			case !syntax.IsText(message):
				mistakes = append(mistakes, mistake.New(a.message.Expr.Range(), "Not text", "error_message must be a string."))
			default:
				failed.Detail = message.AsString() + textAndNumber(a.condition.Expr)
			}
			failures = append(failures, failed)
		}
	}
	return failures, mistakes
}

// explainAbsent explains an assert that reads a key which the plan does not have.
func explainAbsent(diags hcl.Diagnostics, expr hclsyntax.Expression, plan cty.Value) hcl.Diagnostics {
	for _, d := range diags {
		isOfKey := slices.Contains([]string{"Missing map element", "Invalid index", "Unsupported attribute"}, d.Summary)
		if why := ""; isOfKey && plan != cty.NilVal {
			if why = absentKey(expr, ScopePlan, plan); why != "" {
				d.Summary, d.Detail = "Unknown key", why
			}
		}
	}
	return diags
}

// textAndNumber says that a comparison with a written number never holds where the plan has a text, as it has for
// amounts; "" for any other condition.
func textAndNumber(condition hclsyntax.Expression) string {
	found := ""
	_ = hclsyntax.VisitAll(condition, func(node hclsyntax.Node) hcl.Diagnostics {
		comparison, ok := node.(*hclsyntax.BinaryOpExpr)
		if !ok || comparison.Op != hclsyntax.OpEqual {
			return nil
		}
		path := syntax.Traversal(comparison.LHS)
		number, isLiteral := syntax.Unwrap(comparison.RHS).(*hclsyntax.LiteralValueExpr)
		if isLiteral && number.Val.Type() == cty.Number && len(path) > 1 {
			if second, ok := eval.StepName(path[1], true); ok && path.RootName() == "plan" && (second == "totals" || second == "hash_total") {
				found = fmt.Sprintf("\n\nAn amount is a text, and no number is equal to one. Write it in quotation marks, such as:\n\n  %q", number.Val.AsBigFloat().Text('f', 2))
			}
		}
		return nil
	})
	return found
}

// Judge returns diags without the errors of checks that the run expects to fail, and an error
// for each expected one that is not among them.
func (r *TestRun) Judge(diags hcl.Diagnostics) (unexpected, missing hcl.Diagnostics) {
	failed := map[string]bool{}
	unexpected = slices.DeleteFunc(slices.Clone(diags), func(d *hcl.Diagnostic) bool {
		address := mistake.FailedCheck(d)
		isExpected := d.Severity == hcl.DiagError &&
			slices.ContainsFunc(r.expected, func(e expectation) bool { return e.address == address })
		failed[address] = failed[address] || isExpected
		return isExpected
	})
	for _, e := range r.expected {
		if !failed[e.address] {
			missing = append(missing, mistake.New(e.at, "Expected failure is missing",
				"No check of %s failed, and the run expects that one does.", e.address))
		}
	}
	return unexpected, missing
}
