package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"remit/config"
	"remit/config/functions"
	"remit/config/rows"
	"remit/executor"
	"remit/internal/cli"
	"remit/internal/proof/suite"
	"remit/internal/sandbox"
	"remit/internal/service/contract"
	"remit/planner"
	"remit/state"
)

// document is one page of docs, cut at its headings.
type document struct {
	text     string
	headings []string            // without their #
	sections map[string]string   // by heading, up to the next heading
	under    map[string][]string // by heading of level two, the headings below it, itself among them
}

func readDocument(t *testing.T, name string) document {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
	if err != nil {
		t.Fatal(err)
	}
	d := document{text: string(content), sections: map[string]string{}, under: map[string][]string{}}
	heading, chapter, fenced := "", "", false
	for line := range strings.Lines(d.text) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		level := len(line) - len(strings.TrimLeft(line, "#"))
		if level == 0 || fenced {
			d.sections[heading] += line
			continue
		}
		heading = strings.TrimSpace(line[level:])
		if level == 2 {
			chapter = heading
		}
		if _, twice := d.sections[heading]; twice {
			t.Errorf("%s has two headings %q", name, heading)
		}
		d.headings = append(d.headings, heading)
		d.sections[heading] = ""
		d.under[chapter] = append(d.under[chapter], heading)
	}
	return d
}

// tableRows are the cells of the tables of a section, without their headers.
func tableRows(section string) [][]string {
	var list [][]string
	for _, table := range suite.Tables(section) {
		list = append(list, table.Rows...)
	}
	return list
}

// quoted is text as code.
func quoted(text string) string { return "`" + text + "`" }

// TestDocsBlocks holds the blocks and arguments of docs/language against those of the language,
// and of files of tests.
func TestDocsBlocks(t *testing.T) {
	doc := readPages(t, "language")
	tests := blockHeadings(doc.under["tests.md"])
	declared := slices.DeleteFunc(blockHeadings(doc.headings), func(h string) bool {
		return slices.Contains(tests, h) || slices.Contains(doc.under["plan-value.md"], h)
	})
	for _, of := range []struct {
		headings []string
		kinds    []config.BlockKind
	}{{declared, config.Language()}, {tests, config.TestLanguage()}} {
		got := map[string][]string{}
		for _, heading := range of.headings {
			got[heading] = []string{}
			for _, row := range tableRows(doc.sections[heading]) {
				got[heading] = append(got[heading], row[0]+map[bool]string{true: " required"}[row[2] == "required"])
			}
			slices.Sort(got[heading])
		}
		if diff := cmp.Diff(blocks(of.kinds), got); diff != "" {
			t.Errorf("docs/language and the language have other blocks or arguments (-language +docs):\n%s", diff)
		}
	}
}

// TestDocsTypesOfData asks docs/language/data.md for each type of data, with a link to its page.
func TestDocsTypesOfData(t *testing.T) {
	page := readDocument(t, "language/data.md").text
	for _, name := range config.LabelWords("data", 0) {
		link := regexp.MustCompile("`\"" + name + "\"` \\(\\[[^]]+\\]\\(([a-z0-9]+\\.md)\\)\\)").FindStringSubmatch(page)
		if link == nil {
			t.Errorf("docs/language/data.md does not say what the type %[1]s is, such as: `\"%[1]s\"` ([%[1]s files](%[1]s.md))", name)
			continue
		}
		if text := readDocument(t, "language/"+link[1]).text; !strings.Contains(text, `data "`+name+`"`) {
			t.Errorf("docs/language/%s has no example of a block data %q", link[1], name)
		}
	}
}

// blockHeadings are the headings that name a block.
func blockHeadings(headings []string) []string {
	return slices.DeleteFunc(slices.Clone(headings), func(h string) bool { return !strings.HasPrefix(h, "`") })
}

// blocks are the arguments of blocks by the headings that these have. A block that may stand
// in others and at the top of a file has one.
func blocks(kinds []config.BlockKind) map[string][]string {
	list := map[string][]string{}
	for _, kind := range kinds {
		heading := kind.Name
		for _, label := range kind.Labels {
			heading += " " + strings.ToUpper(label)
		}
		list[quoted(heading)] = arguments(kind)
		for _, nested := range kind.Blocks {
			if !slices.ContainsFunc(kinds, func(k config.BlockKind) bool { return k.Name == nested.Name }) {
				list[quoted(nested.Name)+" in "+quoted(kind.Name)] = arguments(nested)
			}
		}
	}
	return list
}

// TestDocsArguments holds each argument of docs/language to a type, a default, a meaning, and
// an example that is an expression of the language.
func TestDocsArguments(t *testing.T) {
	doc := readPages(t, "language")
	for _, heading := range blockHeadings(doc.headings) {
		if slices.Contains(doc.under["plan-value.md"], heading) {
			continue // TestDocsValues holds these
		}
		for _, table := range suite.Tables(doc.sections[heading]) {
			checkTable(t, heading, table, "argument", "type", "default", "example", "meaning")
			for _, row := range table.Rows {
				checkExpression(t, heading, row[0], row[3])
			}
		}
	}
}

// checkExpression fails where the example of something is no expression in code.
func checkExpression(t *testing.T, heading, of, example string) {
	t.Helper()
	code := strings.TrimSuffix(strings.TrimPrefix(example, "`"), "`")
	if len(code) != len(example)-2 {
		t.Errorf("%s, %s: the example %s is not one piece of code", heading, of, example)
	}
	if _, diags := hclsyntax.ParseExpression([]byte(code), "example", hcl.InitialPos); diags.HasErrors() {
		t.Errorf("%s, %s: the example %s is no expression: %v", heading, of, example, diags)
	}
}

// TestDocsValues holds the attributes of docs/language, with their types, against those of the
// values that expressions see.
func TestDocsValues(t *testing.T) {
	plan, err := (&planner.Plan{}).Value(nil)
	if err != nil {
		t.Fatal(err)
	}
	doc := readPages(t, "language")
	for heading, value := range map[string]cty.Type{
		"`plan`":                   plan.Type(),
		"`plan.transfers[REF_ID]`": plan.Type().AttributeType("transfers").ElementType(),
		"`outcomes`":               (&executor.Summary{}).Value().Type(),
	} {
		want, got := map[string]string{}, map[string]string{}
		for name, of := range value.AttributeTypes() {
			want[quoted(name)] = of.FriendlyName()
		}
		for _, table := range suite.Tables(doc.sections[heading]) {
			checkTable(t, heading, table, "attribute", "type", "example", "meaning")
			for _, row := range table.Rows {
				got[row[0]] = row[1]
				checkExpression(t, heading, row[0], row[2])
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("docs/language has other attributes of %s (-value +docs):\n%s", heading, diff)
		}
	}
}

// checkTable fails where a table has other columns, or a row without one of them.
func checkTable(t *testing.T, heading string, table suite.Table, columns ...string) {
	t.Helper()
	if diff := cmp.Diff(columns, table.Header); diff != "" {
		t.Fatalf("%s: the table has other columns (-want +got):\n%s", heading, diff)
	}
	for _, row := range table.Rows {
		if len(row) != len(columns) || slices.Contains(row, "") {
			t.Fatalf("%s: the row of %s lacks one of its columns %s: %q", heading, row[0], columns, row)
		}
	}
}

// TestDocsShown holds that some whole configuration of docs/language has each block.
func TestDocsShown(t *testing.T) {
	shown := map[string]bool{}
	for _, example := range readPages(t, "language").fences() {
		if example.language != "hcl" || example.kind != "complete" {
			continue
		}
		file, diags := hclsyntax.ParseConfig([]byte(example.text), "example", hcl.InitialPos)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		for _, block := range file.Body.(*hclsyntax.Body).Blocks {
			shown[block.Type] = true
			for _, nested := range block.Body.Blocks {
				shown[block.Type+"."+nested.Type] = true
			}
		}
	}
	for _, kind := range config.Language() {
		if !shown[kind.Name] {
			t.Errorf("no whole configuration of docs/language has a %q block", kind.Name)
		}
		for _, nested := range kind.Blocks {
			if !shown[kind.Name+"."+nested.Name] {
				t.Errorf("no whole configuration of docs/language has a %q block in a %q block", nested.Name, kind.Name)
			}
		}
	}
}

func arguments(kind config.BlockKind) []string {
	list := []string{}
	for _, name := range kind.Required {
		list = append(list, quoted(name)+" required")
	}
	for _, name := range kind.Optional {
		list = append(list, quoted(name))
	}
	slices.Sort(list)
	return list
}

// TestDocsFunctions holds the functions of docs/language against their table, word by word: each
// has a type for each of its parameters and for its result, and an example that is true.
func TestDocsFunctions(t *testing.T) {
	got := map[string]string{}
	doc := readPages(t, "language")
	var examples strings.Builder
	types := map[string]string{}
	for _, heading := range doc.headings {
		for _, table := range suite.Tables(doc.sections[heading]) {
			if table.Header[0] != "function" {
				continue
			}
			checkTable(t, heading, table, "function", "types", "example", "result")
			for _, row := range table.Rows {
				got[row[0]], types[row[0]] = row[3], row[1]
				examples.WriteString(strings.Trim(row[2], "`") + "\n")
				if name, _, _ := strings.Cut(strings.Trim(row[0], "`"), "("); !strings.Contains(row[2], name+"(") {
					t.Errorf("%s: the example %s does not use it", row[0], row[2])
				}
			}
		}
	}
	dir := t.TempDir()
	for _, example := range doc.fences() {
		if example.kind == "payroll.csv" {
			writeFile(t, filepath.Join(dir, example.kind), example.text)
		}
	}
	checkExample(t, dir, "true", examples.String())
	want := map[string]string{}
	for name, f := range functions.Table(nil) {
		var params []string
		for _, p := range f.Params() {
			params = append(params, p.Name)
		}
		if variadic := f.VarParam(); variadic != nil {
			params = append(params, variadic.Name+"...")
		}
		heading := quoted(name + "(" + strings.Join(params, ", ") + ")")
		want[heading] = f.Description()
		if before, after, _ := strings.Cut(types[heading], " → "); strings.Count(before, ", ")+1 != len(params) || after == "" {
			t.Errorf("%s has %d parameters and a result; their types are not %q", heading, len(params), types[heading])
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/language and the functions disagree (-functions +docs):\n%s", diff)
	}
}

// fence is one block of code that [TestDocsExamples] loads.
type fence struct{ language, kind, text string }

func (d document) fences() []fence {
	var list []fence
	for _, m := range regexp.MustCompile("(?ms)^```(csv|text|hcl|json|xml) (\\S+)\n(.*?)^```$").FindAllStringSubmatch(d.text, -1) {
		list = append(list, fence{m[1], m[2], m[3]})
	}
	return list
}

// TestDocsExamples loads what the documents show: a fenced block "hcl complete" is a whole
// configuration without a mistake, "hcl mistake" is one with a mistake, each line of "hcl
// true" is an expression that is true, "hcl tests" are tests that the first whole
// configuration passes, and "csv NAME", "text NAME", "json NAME" or "xml NAME" is a file beside
// all of them.
func TestDocsExamples(t *testing.T) {
	for _, doc := range []document{
		readPages(t, "language"), readDocument(t, "operations.md"), readDocument(t, "nights.md"),
		readDocument(t, "approvals.md"), readDocument(t, "terraform.md"),
	} {
		dir := t.TempDir()
		examples := doc.fences()
		for _, example := range examples {
			if example.language != "hcl" {
				writeFile(t, filepath.Join(dir, example.kind), example.text)
			}
		}
		first := slices.IndexFunc(examples, func(f fence) bool { return f.kind == "complete" })
		for _, example := range examples {
			switch {
			case example.kind == "tests":
				writeFile(t, filepath.Join(dir, "main.hcl"), examples[first].text)
				writeFile(t, filepath.Join(dir, "shown.remittest.hcl"), example.text)
				run(t, 0, "test", "--chdir="+dir)
				run(t, 0, "fmt", "--check", "--chdir="+dir)
			case example.language == "hcl":
				checkExample(t, dir, example.kind, example.text)
			}
		}
	}
}

func checkExample(t *testing.T, dir, kind, text string) {
	t.Helper()
	source := text
	if kind == "true" {
		source = "locals {}\n"
	}
	writeFile(t, filepath.Join(dir, "main.hcl"), source)
	options := config.Options{Version: "0.1.0"}
	if environments, _ := config.Environments(dir, config.Options{}); len(environments) > 0 {
		options.Environment = environments[0].Name // the others are like it
	}
	loaded, diags := config.Load(dir, options)
	if !diags.HasErrors() {
		for _, more := range loaded.Transfers(context.Background()) {
			diags = append(diags, more...)
		}
	}
	switch kind {
	case "complete":
		if len(diags) > 0 {
			t.Errorf("a complete configuration has mistakes: %v\n%s", diags, text)
		}
		if formatted, _ := config.Format([]byte(text), "main.hcl"); string(formatted) != text {
			t.Errorf("remit fmt would change this to:\n%s", formatted)
		}
	case "mistake":
		if !diags.HasErrors() {
			t.Errorf("this configuration has no mistake:\n%s", text)
		}
	case "true":
		for line := range strings.Lines(text) {
			if value, diags := loaded.Eval(line); diags.HasErrors() || !value.RawEquals(cty.True) {
				t.Errorf("%s is not true: %v", strings.TrimSpace(line), diags)
			}
		}
	default:
		t.Errorf("a block is marked %q, which means nothing:\n%s", kind, text)
	}
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestDocsCommands holds the commands, flags and defaults of docs/commands against those of the
// command line.
func TestDocsCommands(t *testing.T) {
	const everywhere = "Flags of most commands"
	doc := readPages(t, "commands")
	flags := func(heading string) map[string]string {
		found := map[string]string{}
		for _, row := range tableRows(doc.sections[heading]) {
			if name, _, ok := strings.Cut(strings.TrimPrefix(strings.Trim(row[0], "`"), "--"), "="); ok || strings.HasPrefix(row[0], "`--") {
				found[name] = strings.Trim(row[1], "`")
			}
		}
		return found
	}
	got := map[string]map[string]string{}
	for _, heading := range doc.headings {
		if !strings.HasPrefix(heading, "`remit ") {
			continue
		}
		got[heading] = flags(heading)
		if strings.Contains(doc.sections[heading], "["+everywhere+"]") {
			maps.Copy(got[heading], flags(everywhere))
		}
	}
	want := map[string]map[string]string{}
	for _, command := range cli.Commands() {
		list := map[string]string{}
		heading := quoted("remit " + command.Usage)
		rows := tableRows(doc.sections[heading])
		if strings.Contains(doc.sections[heading], "["+everywhere+"]") {
			rows = append(rows, tableRows(doc.sections[everywhere])...)
		}
		page := doc.pageOf("docs/commands", heading)
		for _, flag := range command.Flags {
			list[flag.Name] = flag.Default
			checkFlag(t, page, rows, flag)
		}
		want[quoted("remit "+command.Usage)] = list
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/commands and the command line disagree; a page is named after the command (-command line +docs):\n%s", diff)
	}
}

// checkFlag fails where the table of a command has no row of a flag, which it shows, or where the row lacks one of the
// words that --format takes.
func checkFlag(t *testing.T, page string, rows [][]string, flag cli.Flag) {
	t.Helper()
	written := "--" + flag.Name
	if flag.Value != "" {
		written += "=" + strings.ToUpper(flag.Value)
	}
	row := -1
	for i, cells := range rows {
		if name := strings.Trim(cells[0], "`"); name == "--"+flag.Name || strings.HasPrefix(name, "--"+flag.Name+"=") {
			row = i
		}
	}
	if row < 0 {
		standard := ""
		if flag.Default != "" {
			standard = quoted(flag.Default)
		}
		t.Errorf("%s lacks the line\n| %s | %s | %s |", page, quoted(written), standard, flag.Usage)
		return
	}
	if flag.Name != "format" {
		return
	}
	_, list, hasColon := strings.Cut(flag.Usage, ": ")
	if !hasColon {
		list = flag.Usage
	}
	for word := range strings.FieldsFuncSeq(strings.ReplaceAll(list, " or ", ","), func(r rune) bool { return r == ',' || r == ' ' }) {
		if !strings.Contains(rows[row][2], quoted(word)) {
			t.Errorf("%s: the row of --format does not say `%s`", page, word)
		}
	}
}

// TestDocsFaults holds the faults of docs/commands against those that the sandbox has.
func TestDocsFaults(t *testing.T) {
	var got, want []string
	for _, row := range tableRows(readPages(t, "commands").sections["Faults of the sandbox"]) {
		for kind := range strings.SplitSeq(row[0], ", ") {
			got = append(got, strings.Trim(kind, "`"))
		}
	}
	for _, kind := range sandbox.FaultKinds() {
		want = append(want, string(kind))
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/commands and the sandbox have other faults (-sandbox +docs):\n%s", diff)
	}
}

// TestDocsContract holds the rows of contract.md against those that certify tries.
func TestDocsContract(t *testing.T) {
	doc := readDocument(t, "contract.md")
	for _, part := range contract.Parts() {
		var want, got []string
		for _, row := range contract.Rows() {
			if row.Part == part {
				want = append(want, fmt.Sprintf("- `%s`: %s\n  Otherwise: %s\n", row.Name, row.Needs, row.Otherwise))
			}
		}
		got = regexp.MustCompile("(?m)^- `.*\n.*\n").FindAllString(doc.sections[string(part)], -1)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("contract.md, %q, and certify disagree (-certify +contract.md):\n%s", part, diff)
		}
	}
	if diff := cmp.Diff(contract.Parts(), partsOf(doc)); diff != "" {
		t.Errorf("contract.md has other parts (-certify +contract.md):\n%s", diff)
	}
}

// partsOf are the sections of contract.md that have rows.
func partsOf(doc document) []contract.Part {
	var parts []contract.Part
	for _, heading := range doc.under["Row by row"] {
		if heading != "Row by row" {
			parts = append(parts, contract.Part(heading))
		}
	}
	return parts
}

// TestDocsLines holds the lines that commands write with --json against those that
// docs/commands/json.md and json-records.md list: none has a type or a field that is not there.
func TestDocsLines(t *testing.T) {
	listed := map[string]map[string]bool{}
	doc := readPages(t, "commands")
	for _, heading := range slices.Concat(doc.under["json.md"], doc.under["json-records.md"]) {
		fields := map[string]bool{"type": true}
		for _, field := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(doc.sections[heading], -1) {
			fields[field[1]] = true
		}
		listed[strings.Trim(heading, "`")] = fields
	}
	dir := t.TempDir()
	copyExample(t, "../../examples/quickstart", dir)
	in := "--chdir=" + dir
	var out bytes.Buffer
	out.WriteString(run(t, 0, "validate", "--json", in))
	out.WriteString(run(t, 0, "plan", "--sandbox", "--json", in))
	out.WriteString(run(t, 0, "apply", "--sandbox", "--auto-approve", "--json", in))
	out.WriteString(run(t, 0, "show", "--sandbox", "--json", in))
	out.WriteString(run(t, 0, "show", "--run=latest", "--sandbox", "--json", in))
	out.WriteString(run(t, 0, "state", "list", "--sandbox", "--json", in))
	out.WriteString(run(t, 0, "state", "show", "rent-2026-11", "--sandbox", "--json", in))
	out.WriteString(run(t, 0, "audit", "log", "--sandbox", "--json", in))
	out.WriteString(run(t, 0, "export", "--format=jsonl", "--sandbox", in))
	writeFile(t, filepath.Join(dir, "some.remittest.hcl"), "run \"fails\" {\n  expect_failures = [var.x]\n}\n")
	out.WriteString(run(t, 1, "test", "--json", in))
	out.WriteString(run(t, 0, "audit", "verify", "--sandbox", "--json", in))
	out.WriteString(run(t, 0, "audit", "export", "--run=latest", "--out=pack", "--sandbox", "--json", in))
	out.WriteString(run(t, 0, "audit", "verify", "pack", "--json", in))
	writeFile(t, filepath.Join(dir, "pack", "more"), "")
	out.WriteString(run(t, 1, "audit", "verify", "pack", "--json", in))
	edited := strings.Replace(readFile(t, filepath.Join(dir, "main.hcl")), "8200.00", "8300.00", 1)
	writeFile(t, filepath.Join(dir, "main.hcl"), edited)
	out.WriteString(run(t, 4, "plan", "--sandbox", "--json", in))
	out.WriteString(run(t, 1, "apply", "--sandbox", "--json", in)) // nobody can be asked
	writeFile(t, filepath.Join(dir, "main.hcl"), edited+"\nnonsense {}\n")
	out.WriteString(run(t, 1, "validate", "--json", in))

	for line := range strings.Lines(out.String()) {
		var object map[string]json.RawMessage
		if err := json.Unmarshal([]byte(line), &object); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		kind := strings.Trim(string(object["type"]), `"`)
		for field := range object {
			if !listed[kind][field] {
				t.Errorf("docs/commands lists no field %q of the lines %q", field, kind)
			}
		}

	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// TestDocsEdges holds the diagram and the table of edges.md against every edge of the life
// of a transfer.
func TestDocsEdges(t *testing.T) {
	doc := readDocument(t, "edges.md")
	for heading, want := range map[string]string{"The diagram": diagram(), "Every edge and its cause": edgeTable()} {
		if !strings.Contains(doc.sections[heading], want) {
			t.Errorf("edges.md, %q, must have:\n%s", heading, want)
		}
	}
}

// edgeName is how the diagram calls a status.
func edgeName(s state.Status) string {
	if s == 0 {
		return "[*]"
	}
	word, _ := s.MarshalText()
	return string(word)
}

// by says who causes an edge.
func by(e state.Edge) string {
	switch e.Source {
	case state.SourceAnswer, state.SourceLookup, state.SourceImport:
		return string(e.Source)
	case state.SourcePerson:
		return "a person"
	}
	return "intent"
}

// grouped gathers what of says of the edges with one key, each once, both in their order.
func grouped(key, of func(state.Edge) string) (keys []string, groups map[string][]string) {
	groups = map[string][]string{}
	for _, e := range state.Edges() {
		k := key(e)
		if _, ok := groups[k]; !ok {
			keys = append(keys, k)
		}
		if !slices.Contains(groups[k], of(e)) {
			groups[k] = append(groups[k], of(e))
		}
	}
	return keys, groups
}

func diagram() string {
	b := strings.Builder{}
	b.WriteString("```mermaid\nstateDiagram-v2\n  state \"in doubt\" as in_doubt\n")
	keys, causes := grouped(func(e state.Edge) string { return edgeName(e.From) + " --> " + edgeName(e.To) }, by)
	for _, key := range keys {
		fmt.Fprintf(&b, "  %s: %s\n", key, strings.Join(causes[key], ", "))
	}
	return b.String() + "```\n"
}

func edgeTable() string {
	word := func(s state.Status) string {
		if s == 0 {
			return "never intended"
		}
		return s.String()
	}
	b := strings.Builder{}
	b.WriteString("| from | to | by | cause |\n|---|---|---|---|\n")
	keys, causes := grouped(func(e state.Edge) string {
		return "| " + word(e.From) + " | " + word(e.To) + " | " + by(e) + " | "
	}, func(e state.Edge) string { return e.Cause })
	for _, key := range keys {
		for _, cause := range causes[key] {
			fmt.Fprintf(&b, "%s%s |\n", key, cause)
		}
	}
	return b.String()
}

// TestDocsPain001 holds the columns of pain.001 files in docs/language against those that there
// are.
func TestDocsPain001(t *testing.T) {
	var got []string
	for _, row := range tableRows(readPages(t, "language").sections["pain.001 files"]) {
		got = append(got, strings.Trim(row[0], "`"))
	}
	if diff := cmp.Diff(rows.Pain001Columns(), got); diff != "" {
		t.Errorf("docs/language and the language have other columns (-language +docs):\n%s", diff)
	}
}
