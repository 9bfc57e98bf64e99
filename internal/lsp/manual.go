package lsp

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/zclconf/go-cty/cty/function"

	"remit/docs/language"
	"remit/internal/text/lazyregexp"
)

// manual is what the pages of the language say of arguments, blocks and functions.
type manual struct {
	arguments map[string]entry // by block and name, such as transfer.amount and batch.control.count
	blocks    map[string]string
	functions map[string]entry
}

// entry is a row of a table of the pages.
type entry struct {
	types, otherwise, example, meaning, page string
}

// manualOnce reads the pages once a process: they are in the program, and never change.
var manualOnce = sync.OnceValue(readManual)

var (
	headingForm = lazyregexp.New("^#+ `([a-z_0-9]+)[^`]*`(?: in `([a-z_0-9]+)[^`]*`)?")
	rowForm     = lazyregexp.New(`^\| ` + "`")
	linkForm    = lazyregexp.New(`\[([^\]]*)\]\([^)]*\)`)
)

func readManual() manual {
	m := manual{map[string]entry{}, map[string]string{}, map[string]entry{}}
	pages := language.Pages()
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		m.readPage(name, pages[name])
	}
	return m
}

// readPage reads the tables of a page, each of the block that the heading above it names, and the first sentence below a heading.
func (m manual) readPage(name, text string) {
	block, inCode, isFunctions := "", false, false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch heading := headingForm.FindStringSubmatch(line); {
		case strings.HasPrefix(line, "```"):
			inCode = !inCode
		case inCode:
		case heading != nil:
			block = heading[1]
			if heading[2] != "" {
				block = heading[2] + "." + heading[1]
			}
		case strings.HasPrefix(line, "#"):
			if !strings.HasPrefix(line, "###") {
				block = strings.TrimSuffix(name, ".md")
			}
		case strings.HasPrefix(line, "| argument"), strings.HasPrefix(line, "| function"):
			isFunctions = strings.HasPrefix(line, "| function")
		case rowForm.MatchString(line):
			m.readRow(name, block, line, isFunctions)
		case line != "" && line[0] != '|' && m.blocks[block] == "":
			sentence, _, _ := strings.Cut(line, ". ")
			m.blocks[block] = plainMarkdown(strings.TrimSuffix(sentence, ".") + ".")
		}
	}
}

func (m manual) readRow(page, block, line string, isFunctions bool) {
	cells := cellsOf(line)
	names := regexp.MustCompile("`([a-z_0-9]+)").FindAllStringSubmatch(cells[0], -1)
	for _, name := range names {
		switch {
		case isFunctions && len(cells) >= 4:
			m.functions[name[1]] = entry{types: cells[1], example: strings.Trim(cells[2], "`"), meaning: plainMarkdown(cells[3]), page: page}
		case !isFunctions && len(cells) >= 5:
			m.arguments[block+"."+name[1]] = entry{types: cells[1], otherwise: cells[2], example: strings.Trim(cells[3], "`"), meaning: plainMarkdown(cells[4]), page: page}
		}
	}
}

// cellsOf are the cells of a row of a table.
func cellsOf(line string) []string {
	const bar = "\x00"
	line = strings.Trim(strings.ReplaceAll(line, `\|`, bar), "| ")
	var cells []string
	for cell := range strings.SplitSeq(line, " | ") {
		cells = append(cells, strings.ReplaceAll(strings.TrimSpace(cell), bar, "|"))
	}
	return cells
}

// plainMarkdown is a text without links, which lead from the page and not from an editor.
func plainMarkdown(text string) string { return linkForm.ReplaceAllString(text, "$1") }

// argument is what the pages say of an argument. The arguments of a block that stands in two kinds are those of the page that has it.
func (m manual) argument(path []string, name string) (entry, bool) {
	if len(path) == 0 {
		return entry{}, false
	}
	for from := range path {
		if e, ok := m.arguments[strings.Join(path[from:], ".")+"."+name]; ok {
			return e, true
		}
	}
	return entry{}, false
}

// markdown is an argument's row of the manual.
func (e entry) markdown(name string) *markup {
	if e.meaning == "" {
		return nil
	}
	text := fmt.Sprintf("`%s`: %s", name, e.types)
	if e.otherwise != "" {
		text += ", default " + e.otherwise
		if e.otherwise == "required" {
			text = fmt.Sprintf("`%s`: %s, required", name, e.types)
		}
	}
	return &markup{"markdown", text + "\n\n" + strings.ToUpper(e.meaning[:1]) + e.meaning[1:] + "\n\n```hcl\n" + name + " = " + e.example + "\n```"}
}

func (e entry) functionText() string {
	if e.meaning == "" {
		return ""
	}
	return e.meaning + "\n\n```hcl\n" + e.example + "\n```"
}

// signatureOf is a function with its parameters and their types.
func signatureOf(name string, f function.Function) string {
	return name + "(" + strings.Join(parametersOf(f), ", ") + ")"
}

func parametersOf(f function.Function) []string {
	var all []string
	for _, p := range f.Params() {
		all = append(all, p.Name+" "+p.Type.FriendlyNameForConstraint())
	}
	if p := f.VarParam(); p != nil {
		all = append(all, p.Name+" "+p.Type.FriendlyNameForConstraint()+"...")
	}
	return all
}
