package lsp

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"

	"remit/config"
	"remit/config/functions"
	"remit/internal/transfer"
)

// The kinds of completions that the protocol numbers.
const (
	itemFunction = 3
	itemField    = 5
	itemVariable = 6
	itemModule   = 9
	itemProperty = 10
	itemValue    = 12
	itemEnum     = 13
	itemFile     = 17
	itemKeyword  = 14
)

type completionItem struct {
	Label         string    `json:"label"`
	Kind          int       `json:"kind"`
	Detail        string    `json:"detail,omitempty"`
	Documentation *markup   `json:"documentation,omitempty"`
	SortText      string    `json:"sortText,omitempty"`
	FilterText    string    `json:"filterText,omitempty"`
	TextEdit      *textEdit `json:"textEdit,omitempty"`

	overDot bool // its text takes the place of the dot before it as well
}

type completionList struct {
	IsIncomplete bool             `json:"isIncomplete"`
	Items        []completionItem `json:"items"`
}

// completionsMax bounds an answer; an editor asks again when more is typed.
const completionsMax = 1000

// completer gathers the completions of a place.
type completer struct {
	sources *sources
	doc     *document
	at      cursor
	items   []completionItem
}

// completion offers the words that may be written at a place.
type completion struct{ sources *sources }

func (f completion) list(ctx context.Context, p *placeParams) (any, error) {
	d := f.sources.native(p.TextDocument.URI)
	if d == nil {
		return completionList{Items: []completionItem{}}, nil
	}
	c := &completer{sources: f.sources, doc: d, at: cursorAt(f.sources.outline(d), d.offset(p.Position))}
	c.complete(ctx)
	list := completionList{Items: []completionItem{}}
	begun := strings.ToLower(c.at.begun)
	for _, item := range c.items {
		if !strings.HasPrefix(strings.ToLower(item.Label), begun) && !strings.Contains(strings.ToLower(item.Label), begun) {
			continue
		}
		if len(list.Items) == completionsMax {
			list.IsIncomplete = true
			break
		}
		text := item.Label
		if item.TextEdit != nil {
			text = item.TextEdit.NewText
		}
		from := c.at.from
		if item.overDot {
			from--
			item.FilterText = "." + item.Label // an editor compares it with what the text takes the place of
		}
		item.TextEdit = &textEdit{span{d.position(from), p.Position}, text}
		list.Items = append(list.Items, item)
	}
	return list, nil
}

func (c *completer) complete(ctx context.Context) {
	switch at := &c.at; {
	case at.inComment:
	case at.isLabel:
		c.labels()
	case at.attribute == "" && len(at.path) == 0 && !at.inText:
		c.arguments()
	case at.inText:
		c.texts()
	default:
		c.references(ctx)
	}
}

func (c *completer) add(kind int, detail string, labels ...string) {
	for _, label := range labels {
		c.items = append(c.items, completionItem{Label: label, Kind: kind, Detail: detail})
	}
}

// kindAt is the kind of the innermost block; false where there is none.
func kindAt(path []string) (config.BlockKind, bool) {
	kind, found := config.BlockKind{Blocks: config.Language()}, len(path) > 0
	for _, name := range path {
		i := slices.IndexFunc(kind.Blocks, func(k config.BlockKind) bool { return k.Name == name })
		if i < 0 {
			return config.BlockKind{}, false
		}
		kind = kind.Blocks[i]
	}
	return kind, found
}

// arguments are those of the block, and the blocks in it; at the top of a file the blocks.
func (c *completer) arguments() {
	path := c.at.kinds()
	kind, ok := kindAt(path)
	if len(path) == 0 {
		kind, ok = config.BlockKind{Blocks: config.Language()}, true
	}
	if !ok {
		return
	}
	written := c.written()
	if len(path) == 1 && path[0] == "transfer" && c.label(0) == string(transfer.Internal) {
		written["recipient_metadata"] = true // platform transfers alone have it
	}
	manual := manualOnce()
	for i, name := range slices.Concat(kind.Required, kind.Optional) {
		if written[name] || path[0] == "data" && len(path) == 1 && !slices.Contains(config.DataArguments(c.label(0)), name) && c.label(0) != "" {
			continue
		}
		e, _ := manual.argument(path, name)
		item := completionItem{Label: name, Kind: itemProperty, Detail: e.types, Documentation: e.markdown(name), SortText: fmt.Sprintf("0%03d", i)}
		if rest := strings.TrimLeft(c.at.rest, " \t"); !strings.HasPrefix(rest, "=") {
			item.TextEdit = &textEdit{NewText: name + " = "}
		}
		c.items = append(c.items, item)
	}
	for i, nested := range kind.Blocks {
		if len(path) == 0 && c.isThere(nested) {
			continue
		}
		about := manual.blocks[strings.Join(append(slices.Clone(path), nested.Name), ".")]
		text := nested.Name
		for range nested.Labels {
			text += ` ""`
		}
		item := completionItem{Label: nested.Name, Kind: itemModule, Detail: "block", SortText: fmt.Sprintf("1%03d", i), Documentation: &markup{"markdown", about}}
		if strings.TrimSpace(c.at.rest) == "" {
			item.TextEdit = &textEdit{NewText: text + " {\n" + strings.Repeat("  ", len(path)) + "}"}
		}
		c.items = append(c.items, item)
	}
}

// isThere reports whether the directory has a block of which it may have no other.
func (c *completer) isThere(kind config.BlockKind) bool {
	if !kind.Single {
		return false
	}
	return slices.ContainsFunc(c.sources.of(c.doc.path), func(of source) bool {
		return filepath.Dir(of.path) == filepath.Dir(c.doc.path) && slices.ContainsFunc(of.outline.chunks, func(p chunk) bool {
			return slices.ContainsFunc(p.tree.body.Blocks, func(b *hclsyntax.Block) bool {
				isSelf := of.path == c.doc.path && p.start+b.TypeRange.Start.Byte == c.at.from
				return b.Type == kind.Name && !isSelf
			})
		})
	})
}

// label is the i-th label of the innermost block; "" where there is none.
func (c *completer) label(i int) string {
	if n := len(c.at.blocks); n > 0 && i < len(c.at.blocks[n-1].labels) {
		return c.at.blocks[n-1].labels[i]
	}
	return ""
}

// written are the arguments that the innermost block has, but for the one that is being written.
func (c *completer) written() map[string]bool {
	names := map[string]bool{}
	o := c.sources.outline(c.doc)
	piece := o.at(c.at.from)
	for _, b := range enclosing(piece.tree.body, c.at.from-piece.start) {
		clear(names)
		for name, a := range b.Body.Attributes {
			if a.NameRange.Start.Byte != c.at.from-piece.start {
				names[name] = true
			}
		}
	}
	return names
}

// labels are words that a label may be.
func (c *completer) labels() {
	if len(c.at.header) == 0 { // a text where a block should begin
		return
	}
	c.add(itemEnum, "", config.LabelWords(c.at.header[0], len(c.at.header)-1)...)
	if !c.at.inText {
		for i := range c.items {
			c.items[i].TextEdit = &textEdit{NewText: `"` + c.items[i].Label + `"`}
		}
	}
}

// texts are the values that quotation marks may have.
func (c *completer) texts() {
	path := c.at.kinds()
	if len(path) == 0 {
		return
	}
	if len(c.at.path) > 0 {
		c.indices()
		return
	}
	kind := path[len(path)-1]
	c.add(itemEnum, "", config.Words(kind, c.at.attribute)...)
	switch c.at.attribute {
	case "asset":
		c.add(itemEnum, "asset", c.sources.assets(c.doc)...)
	case "key":
		if kind == "data" {
			c.add(itemField, "column", c.columnsOf("data."+c.label(0)+"."+c.label(1))...)
		}
	case "file":
		c.add(itemFile, "file of the directory", c.sources.files(c.doc, kind)...)
	case "reverses", "accept_duplicate_of":
		c.add(itemValue, "ref_id", c.sources.refIDs(c.doc)...)
	}
}

// indices are the names that may stand in the brackets behind a name: columns.
func (c *completer) indices() {
	if c.at.path[0] != "each" && c.at.path[0] != "row" {
		return
	}
	c.references(context.Background())
	for i := range c.items {
		text := quoted(c.items[i].Label)
		c.items[i].overDot, c.items[i].TextEdit = false, &textEdit{NewText: text[1 : len(text)-1]}
	}
}

// addColumns adds names of columns. One that is no name of the language stands in brackets.
func (c *completer) addColumns(detail string, columns []string) {
	for _, column := range columns {
		item := completionItem{Label: column, Kind: itemField, Detail: detail}
		if !hclsyntax.ValidIdentifier(column) {
			item.overDot, item.TextEdit = true, &textEdit{NewText: "[" + quoted(column) + "]"}
		}
		c.items = append(c.items, item)
	}
}

// columnsOf are the columns of a data source, by its address.
func (c *completer) columnsOf(address string) []string {
	snapshot, _ := c.sources.checks.snapshotOf(c.doc.path)
	if snapshot == nil {
		return nil
	}
	return snapshot.data[address].Columns
}

// references are names that a value may refer to, and functions.
func (c *completer) references(context.Context) {
	if len(c.at.path) == 0 {
		c.roots()
		return
	}
	root := c.at.path[0]
	switch names := slices.DeleteFunc(c.sources.names(c.doc), c.isSelf); {
	case root == "each":
		c.each()
	case root == "row" && len(c.at.path) == 1:
		c.addColumns("column", c.columnsOf("data."+c.label(0)+"."+c.label(1)))
	case root == "self" || root == "plan":
		scope := config.ScopeTransfer
		if root == "plan" {
			scope = config.ScopePlan
		}
		if len(c.at.path) == 1 && slices.Contains(c.at.kinds(), "policy") {
			c.add(itemField, "", scope.Attributes()...)
		}
	case root == "data" || root == "transfer":
		c.dotted(names, root)
	case len(c.at.path) == 1:
		for _, d := range names {
			if d.root == root {
				c.add(itemVariable, d.about(), d.name)
			}
		}
	case len(c.at.path) == 2:
		c.add(itemField, "", config.ValueAttributes(root)...)
	}
}

// isSelf reports whether a declaration is the one that is being written.
func (c *completer) isSelf(d declaration) bool {
	if d.source.path != c.doc.path || len(c.at.blocks) == 0 {
		return false
	}
	outer := c.at.blocks[0]
	if d.root == "local" {
		return outer.kind == "locals" && d.name == c.at.attribute
	}
	return d.block.Type == outer.kind && slices.Equal(d.block.Labels, outer.labels)
}

// dotted are data sources and transfers, whose names have two parts.
func (c *completer) dotted(names []declaration, root string) {
	seen := map[string]bool{}
	for _, d := range names {
		first, second, _ := strings.Cut(d.name, ".")
		switch {
		case d.root != root:
		case len(c.at.path) == 1 && !seen[first]:
			seen[first] = true
			c.add(itemModule, "", first)
		case len(c.at.path) == 2 && c.at.path[1] == first:
			c.add(itemVariable, d.about(), second)
		}
	}
	if len(c.at.path) == 3 {
		c.add(itemField, "", config.ValueAttributes(root)...)
	}
}

// each is each.key and each.value, and what each.value has.
func (c *completer) each() {
	source, isData, isThere := c.forEach()
	if !isThere {
		return
	}
	switch {
	case len(c.at.path) == 1:
		c.add(itemField, "the key of the element", "key")
		c.add(itemField, "the element", "value")
	case len(c.at.path) == 2 && c.at.path[1] == "value" && isData:
		c.addColumns("column of "+source, c.columnsOf(source))
	case len(c.at.path) == 2 && c.at.path[1] == "value" && strings.HasPrefix(source, "schedule."):
		c.add(itemField, "", "date", "adjusted_date", "due_at")
	}
}

// forEach is what the transfer makes its elements of, such as data.csv.payroll, and whether it has for_each at all. The arguments in
// which there is no each have none.
func (c *completer) forEach() (source string, isData, isThere bool) {
	if c.at.attribute == "for_each" || c.at.attribute == "depends_on" || len(c.at.blocks) == 0 || c.at.blocks[0].kind != "transfer" {
		return "", false, false
	}
	o := c.sources.outline(c.doc)
	piece := o.at(c.at.from)
	for _, b := range piece.tree.body.Blocks {
		a := b.Body.Attributes["for_each"]
		if a == nil || b.Range().Start.Byte > c.at.from-piece.start {
			continue
		}
		isThere = true
		for _, t := range a.Expr.Variables() {
			root, name, _ := addressOf(t)
			if root == "data" || root == "schedule" {
				source, isData = root+"."+name, root == "data"
			}
		}
	}
	if !isThere && piece.tree.body != nil && !piece.tree.whole { // a piece that cannot be read is looked at as a text
		isThere = strings.Contains(o.text[piece.start:c.at.from], "for_each")
	}
	return source, isData, isThere
}

// narrowKinds are the blocks whose values may refer to variables and locals alone.
var narrowKinds = []string{"remit", "state", "service", "limit", "control", "environment"}

// roots are what a reference may begin with, words, and functions.
func (c *completer) roots() {
	path := c.at.kinds()
	if len(path) == 0 {
		return
	}
	if c.at.attribute == "depends_on" {
		c.add(itemKeyword, "", "transfer", "batch")
		return
	}
	switch isNarrow := slices.ContainsFunc(path, func(kind string) bool { return slices.Contains(narrowKinds, kind) }); {
	case path[len(path)-1] == "environment" && c.at.attribute == "variables": // values that are written out
		c.add(itemKeyword, "", "true", "false", "null")
		return
	case path[0] == "variable":
		c.add(itemKeyword, "", "var")
		if c.at.attribute == "type" {
			c.add(itemKeyword, "type", "string", "number", "bool", "list", "set", "map", "object", "any")
		}
	case isNarrow:
		c.add(itemKeyword, "", "var", "local")
	case path[0] == "policy" || path[0] == "approval":
		c.add(itemKeyword, "", "var", "local", "profile", "self", "plan")
	default:
		c.add(itemKeyword, "", "var", "local", "profile", "batch", "schedule", "calendar", "window", "data")
	}
	if _, _, isThere := c.forEach(); isThere {
		c.add(itemKeyword, "", "each")
	}
	if c.at.attribute == "where" {
		c.add(itemKeyword, "the row of the file", "row")
	}
	c.add(itemKeyword, "", "true", "false", "null")
	manual, table := manualOnce(), functions.Table(nil)
	for _, name := range slices.Sorted(maps.Keys(table)) {
		e := manual.functions[name]
		item := completionItem{Label: name, Kind: itemFunction, Detail: signatureOf(name, table[name]), Documentation: &markup{"markdown", e.functionText()}, SortText: "2" + name}
		if !strings.HasPrefix(c.at.rest, "(") {
			item.TextEdit = &textEdit{NewText: name + "("}
		}
		c.items = append(c.items, item)
	}
}
